#include "ui/figuretile.h"

#include "ui/displaytext.h"
#include "ui/figures.h"

#include <QPainter>

using namespace Qt::StringLiterals;

namespace sendonce {

FigureTile::FigureTile(const QString &caption, Tone tone, bool leads, QWidget *parent)
    : QAbstractButton(parent)
    , m_caption(caption)
    , m_tone(tone)
    , m_leads(leads)
{
    setFocusPolicy(leads ? Qt::StrongFocus : Qt::NoFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    if (leads)
        setCursor(Qt::PointingHandCursor);
    setFigure(-1);
}

void FigureTile::setFigure(qint64 figure)
{
    const QString text = countText(figure);
    m_positive = figure > 0;
    setAccessibleName(figure < 0 ? tr("%1: not known").arg(m_caption) : tr("%1 %2").arg(text, m_caption));
    if (text == m_text)
        return;
    m_text = text;
    update();
}

QSize FigureTile::sizeHint() const
{
    const QFontMetrics figure(figureFont());
    const QFontMetrics caption(captionFont());
    return QSize(std::max(figuresWidth(figure, m_text), caption.horizontalAdvance(m_caption) + 4),
                 figure.height() + caption.height() - 2);
}

void FigureTile::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const Tokens &tokens = tokensOf(this);
    painter.setFont(figureFont());
    const int top = painter.fontMetrics().height();
    painter.setPen(m_positive ? tokens.of(m_tone) : tokens.text);
    drawFigures(&painter, QRect(0, 0, width(), top), Qt::AlignLeft | Qt::AlignVCenter, m_text);
    QFont caption = captionFont();
    caption.setUnderline(m_leads && underMouse());
    painter.setFont(caption);
    painter.setPen(m_leads && underMouse() ? tokens.text : tokens.muted);
    painter.drawText(QRect(0, top - 2, width(), height() - top + 2), int(Qt::AlignLeft | Qt::AlignVCenter), m_caption);
    if (hasFocus()) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(tokens.accent);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    }
}

void FigureTile::enterEvent(QEnterEvent *event)
{
    QAbstractButton::enterEvent(event);
    update();
}

void FigureTile::leaveEvent(QEvent *event)
{
    QAbstractButton::leaveEvent(event);
    update();
}

} // namespace sendonce
