#pragma once

#include "worker/events/eventtype.h"
#include "worker/types.h"

#include <memory>

namespace sendonce {

/// Whether SQS takes this body, and a worker with these types would call it a valid event. Pure.
BodyCheck checkBody(const QByteArray &body, const EventTypes &types);

/// What a form needs to know of the types; its check holds on to them.
EventRules rulesOf(const std::shared_ptr<const EventTypes> &types);

} // namespace sendonce
