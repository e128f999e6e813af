#pragma once

#include "worker/types.h"

#include <QString>

namespace sendonce {

/// One delivery in words, as a line of an event's story: "received 2 · lane 1 · 451 4.3.0 busy → rolled back". Pure.
/// The most receives that the queue allows are not known here, so there is no "of 3".
QString storyText(const DeliveryReport &report);

} // namespace sendonce
