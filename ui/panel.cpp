#include "ui/panel.h"

#include "ui/rowtable.h"
#include "ui/theme.h"

#include <QHBoxLayout>
#include <QPainter>

namespace sendonce {

void Panel::highlightEvent(const QString &eventId)
{
    if (table())
        table()->highlightEvent(eventId);
}

bool Panel::revealEvent(const QString &eventId)
{
    return table() && table()->revealEvent(eventId);
}

void Panel::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), tokensOf(this).panel);
}

PanelBar::PanelBar(QWidget *parent) : QWidget(parent)
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(SpacingUnit + 4, SpacingUnit, SpacingUnit + 4, SpacingUnit + 1);
    layout->setSpacing(SpacingUnit);
}

void PanelBar::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(QRect(0, height() - 1, width(), 1), tokensOf(this).line);
}

} // namespace sendonce
