#pragma once

#include "ui/theme.h"

#include <QIcon>
#include <QPixmap>
#include <QString>

namespace sendonce {

/// An icon of the one set in resources/icons, in the colour of its tone. It is drawn when it is painted, in the palette
/// the application has then: nothing has to be made anew when the theme changes.
/// \param name file name without ".svg"
QIcon icon(const QString &name, Tone tone = Tone::Muted);

/// The drawing in one colour. Null when there is no such icon or Qt's SVG plugin is not installed.
/// \param pixels edge length in device pixels
QPixmap tintedPixmap(const QString &name, const QColor &colour, int pixels, qreal devicePixelRatio = 1.0);

/// Draws an icon centred in rect, `edge` logical pixels wide.
void drawIcon(QPainter *painter, const QRect &rect, const QString &name, const QColor &colour, int edge);

QIcon applicationIcon();

} // namespace sendonce
