#pragma once

class QPainter;
class QStyleOption;

namespace sendonce {

/// The box of a check box, or the ring of a radio button: an outline that is seen on every surface, filled with the
/// accent when it is on.
void drawIndicator(const QStyleOption *option, QPainter *painter, bool round);

} // namespace sendonce
