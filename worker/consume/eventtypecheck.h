#pragma once

#include "worker/events/eventtype.h"
#include "worker/result.h"

namespace sendonce {

/// What only store and mail can say of event types, before the first event needs them: the look-up SQL is one read-only
/// SELECT whose parameters every event of the type has, every template is well formed. Pure. The error names the file,
/// the line and the member.
Result<void> checkEventTypes(const EventTypes &types);

} // namespace sendonce
