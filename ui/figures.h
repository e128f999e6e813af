#pragma once

#include <QFontMetrics>
#include <QRect>
#include <QString>

class QPainter;

/// Tabular figures: every digit as wide as the widest, so that numbers that change do not move what stands beside them.
/// Qt 6.4 cannot switch on a font's own "tnum" feature.
namespace sendonce {

int figuresWidth(const QFontMetrics &metrics, const QString &text);
void drawFigures(QPainter *painter, const QRect &rect, Qt::Alignment alignment, const QString &text);

} // namespace sendonce
