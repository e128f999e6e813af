#pragma once

#include "worker/types.h"

namespace sendonce::local {

/// Lower-case hex MD5 of a body (UTF-8).
QByteArray md5OfBody(const QByteArray &body);

/// MD5OfMessageAttributes (SQS Developer Guide, "Calculating the MD5 message digest for message attributes"); empty
/// when there are no attributes, for then the member is left out.
QByteArray md5OfAttributes(const MessageAttributes &attributes);

} // namespace sendonce::local
