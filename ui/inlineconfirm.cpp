#include "ui/inlineconfirm.h"

#include "ui/consolestyle.h"
#include "ui/icons.h"
#include "ui/plainlabel.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>

using namespace Qt::StringLiterals;

namespace sendonce {

InlineConfirm::InlineConfirm(QWidget *parent)
    : QWidget(parent)
    , m_text(new PlainLabel)
    , m_field(new QLineEdit)
    , m_yes(new QPushButton)
    , m_no(new QPushButton(tr("Cancel")))
{
    m_text->setWordWrap(true);
    m_yes->setObjectName(u"confirmYes"_s);
    m_no->setObjectName(u"confirmNo"_s);
    setLook(m_yes, Look::Primary);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(3 * SpacingUnit + 18, SpacingUnit, SpacingUnit + 4, SpacingUnit);
    m_field->setObjectName(u"confirmField"_s);
    m_field->setMaxLength(80);
    m_field->hide();
    layout->addWidget(m_text, 1);
    layout->addWidget(m_field, 0, Qt::AlignVCenter);
    layout->addWidget(m_no, 0, Qt::AlignVCenter);
    layout->addWidget(m_yes, 0, Qt::AlignVCenter);
    connect(m_yes, &QPushButton::clicked, this, [this] {
        hide();
        Q_EMIT confirmed();
    });
    connect(m_field, &QLineEdit::textChanged, this, &InlineConfirm::updateYes);
    connect(m_no, &QPushButton::clicked, this, &InlineConfirm::dismiss);
    hide();
}

void InlineConfirm::ask(const QString &text, const QString &yes)
{
    m_field->hide();
    open(text, yes);
    m_yes->setFocus();
}

void InlineConfirm::askForWord(const QString &text, const QString &word, const QString &yes)
{
    askForText(text, tr("Type: %1").arg(word), yes);
    m_word = word;
    updateYes();
}

void InlineConfirm::askForText(const QString &text, const QString &fieldName, const QString &yes)
{
    m_field->setPlaceholderText(fieldName);
    m_field->setAccessibleName(fieldName);
    m_field->clear();
    m_field->show();
    open(text, yes);
    m_field->setFocus();
}

QString InlineConfirm::typed() const
{
    return m_field->text().trimmed();
}

void InlineConfirm::open(const QString &text, const QString &yes)
{
    m_word.clear();
    m_text->setPlainLines(text);
    m_yes->setText(yes);
    updateYes();
    show();
}

void InlineConfirm::updateYes()
{
    const bool asks = !m_field->isHidden();
    m_yes->setEnabled(!asks
                      || (m_word.isEmpty() ? !typed().isEmpty() : typed().compare(m_word, Qt::CaseInsensitive) == 0));
}

void InlineConfirm::dismiss()
{
    if (isHidden())
        return;
    hide();
    Q_EMIT dismissed();
}

QString InlineConfirm::text() const
{
    return m_text->text();
}

void InlineConfirm::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape)
        dismiss();
    else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        (m_no->hasFocus() ? m_no : m_yes)->click();
    else
        QWidget::keyPressEvent(event);
}

void InlineConfirm::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const Tokens &tokens = tokensOf(this);
    painter.fillRect(rect(), mixed(tokens.panel, tokens.inDoubt, 0.09));
    painter.fillRect(QRect(0, height() - 1, width(), 1), tokens.line);
    drawIcon(&painter, QRect(2 * SpacingUnit, 0, 18, height()), u"warning"_s, tokens.inDoubt, 18);
}

} // namespace sendonce
