#pragma once

#include "worker/events/strictjson.h"
#include "worker/result.h"

#include <QByteArray>

namespace sendonce {

/// How a body carries its event.
enum class Wrapping {
    Plain, ///< it is the event; always so when it has an event_id at the top
    Sns, ///< an SNS notification without raw delivery: the event is JSON text in Message
    SnsConfirmation, ///< SNS asking to confirm or telling the end of a subscription: no event
    EventBridge, ///< the event is the object detail
};
Wrapping wrappingOf(const JsonValue &body);

/// The event inside a body, wrappings within one another included (EventBridge through SNS). Pure. Invalid: the JSON
/// error with the place where it is ("in the SNS Message: line 1, …"), or what is missing in the wrapping.
Result<JsonValue> unwrap(const QByteArray &body);

/// The same as far as it can be read; for looking only.
JsonValue unwrapPrefix(const QByteArray &body);

} // namespace sendonce
