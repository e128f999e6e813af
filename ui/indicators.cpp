#include "ui/indicators.h"

#include "ui/icons.h"
#include "ui/theme.h"

#include <QPainter>
#include <QStyleOption>

using namespace Qt::StringLiterals;

namespace sendonce {

void drawIndicator(const QStyleOption *option, QPainter *painter, bool round)
{
    const Tokens &tokens = tokensOf(option->palette);
    const bool isOn = option->state & QStyle::State_On;
    const bool isEnabled = option->state & QStyle::State_Enabled;
    const bool isFocused =
        (option->state & QStyle::State_HasFocus) && (option->state & QStyle::State_KeyboardFocusChange);
    const QColor accent = isEnabled ? tokens.accent : mixed(tokens.accent, tokens.window, 0.6);
    const QColor outline = isOn || isFocused ? accent : mixed(tokens.muted, tokens.window, isEnabled ? 0.25 : 0.6);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5);
    painter->setPen(outline);
    painter->setBrush(isOn ? accent : tokens.panel);
    const qreal radius = round ? box.width() / 2 : 3;
    painter->drawRoundedRect(box, radius, radius);
    if (isOn && round) {
        const qreal inset = box.width() * 0.3;
        painter->setPen(Qt::NoPen);
        painter->setBrush(tokens.onAccent);
        painter->drawEllipse(box.adjusted(inset, inset, -inset, -inset));
    } else if (isOn) {
        drawIcon(painter, option->rect, u"check"_s, tokens.onAccent, option->rect.width() - 2);
    }
    painter->restore();
}

} // namespace sendonce
