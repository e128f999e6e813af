#include "ui/plainlabel.h"

#include "ui/displaytext.h"
#include "ui/figures.h"

#include <QApplication>
#include <QEvent>
#include <QPainter>

namespace sendonce {

PlainLabel::PlainLabel(const QString &text, Role role, QWidget *parent) : QLabel(parent), m_role(role)
{
    setTextFormat(Qt::PlainText);
    setTextInteractionFlags(Qt::NoTextInteraction);
    setForegroundRole(QPalette::WindowText); // a tool bar would lend its own
    if (role == Role::Heading || role == Role::Caption || role == Role::Small)
        m_tone = Tone::Muted;
    follow();
    setPlain(text);
}

void PlainLabel::setPlain(const QString &text)
{
    const QString shown = shownText(text);
    if (shown == QLabel::text())
        return;
    setText(shown);
    updateElision();
}

void PlainLabel::setPlainLines(const QString &text)
{
    const QString shown = shownLines(text, 4000);
    if (shown != QLabel::text())
        setText(shown);
}

void PlainLabel::setTone(Tone tone)
{
    if (m_tone == tone)
        return;
    m_tone = tone;
    follow();
}

void PlainLabel::setTabular(bool on)
{
    m_tabular = on;
    updateGeometry();
    update();
}

void PlainLabel::setElided(Qt::TextElideMode mode)
{
    m_elide = mode;
    updateGeometry();
    updateElision();
}

QSize PlainLabel::sizeHint() const
{
    if (!m_tabular && m_elide == Qt::ElideNone)
        return QLabel::sizeHint();
    const int width = m_tabular ? figuresWidth(fontMetrics(), text()) : fontMetrics().horizontalAdvance(text());
    return QSize(width + 1, fontMetrics().height());
}

QSize PlainLabel::minimumSizeHint() const
{
    if (m_elide != Qt::ElideNone)
        return QSize(fontMetrics().horizontalAdvance(u'…') * 3, fontMetrics().height());
    return m_tabular ? sizeHint() : QLabel::minimumSizeHint();
}

void PlainLabel::changeEvent(QEvent *event)
{
    QLabel::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange)
        follow();
}

void PlainLabel::paintEvent(QPaintEvent *event)
{
    if (!m_tabular && m_elide == Qt::ElideNone) {
        QLabel::paintEvent(event);
        return;
    }
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    const Qt::Alignment where = alignment();
    const bool cut = m_elide != Qt::ElideNone && sizeHint().width() > width();
    const QString shown = cut ? fontMetrics().elidedText(text(), m_elide, width()) : text();
    if (m_tabular && !cut)
        drawFigures(&painter, rect(), where, shown);
    else
        painter.drawText(rect(), int(where) | int(Qt::TextSingleLine), shown);
}

void PlainLabel::resizeEvent(QResizeEvent *event)
{
    QLabel::resizeEvent(event);
    updateElision();
}

/// Font and colour from the application's; called again whenever those change.
void PlainLabel::follow()
{
    if (m_following)
        return;
    m_following = true;
    switch (m_role) {
    case Role::Body:
        setFont(QApplication::font());
        break;
    case Role::Caption:
        setFont(captionFont());
        break;
    case Role::Small:
        setFont(smallFont());
        break;
    case Role::Heading:
        setFont(headingFont());
        break;
    case Role::Strong:
        setFont(strongFont());
        break;
    case Role::Monospace:
        setFont(monospaceFont());
        break;
    }
    QPalette colours;
    if (m_tone != Tone::Text)
        colours.setColor(QPalette::WindowText, tokensOf(static_cast<QWidget *>(nullptr)).of(m_tone));
    setPalette(colours);
    m_following = false;
}

void PlainLabel::updateElision()
{
    if (m_elide == Qt::ElideNone)
        return;
    const bool cut = sizeHint().width() > width();
    if (cut || m_ownToolTip)
        setToolTip(cut ? toolTipText(text()) : QString());
    m_ownToolTip = cut;
}

} // namespace sendonce
