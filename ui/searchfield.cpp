#include "ui/searchfield.h"

#include "ui/icons.h"

#include <QKeyEvent>

#include <chrono>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {

SearchField::SearchField(const QString &placeholder, QWidget *parent) : QLineEdit(parent)
{
    setPlaceholderText(placeholder);
    setAccessibleName(placeholder);
    setClearButtonEnabled(true);
    setMaxLength(200);
    addAction(icon(u"search"_s), LeadingPosition);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_rest.setSingleShot(true);
    m_rest.setInterval(200ms);
    connect(this, &QLineEdit::textChanged, this, [this] { m_rest.start(); });
    connect(this, &QLineEdit::returnPressed, this, &SearchField::tell);
    connect(&m_rest, &QTimer::timeout, this, &SearchField::tell);
}

void SearchField::search(const QString &text)
{
    setText(text);
    tell();
}

QSize SearchField::sizeHint() const
{
    // Wide enough for its placeholder with the icons at both ends.
    const int words = fontMetrics().horizontalAdvance(placeholderText()) + 72;
    return QSize(std::max(words, fontMetrics().averageCharWidth() * 36), QLineEdit::sizeHint().height());
}

void SearchField::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape) {
        if (text().isEmpty())
            Q_EMIT left();
        else
            search({});
        return;
    }
    QLineEdit::keyPressEvent(event);
}

void SearchField::tell()
{
    m_rest.stop();
    const QString wanted = text().trimmed();
    if (wanted == m_told)
        return;
    m_told = wanted;
    Q_EMIT searched(wanted);
}

} // namespace sendonce
