#pragma once

#include "worker/types.h"

#include <QByteArray>

namespace sendonce::sqsmd5 {

/// Lower-case hex MD5, as in MD5OfBody.
QByteArray ofBody(const QByteArray &body);

/// Lower-case hex MD5, as in MD5OfMessageAttributes; empty when there are none, for then the member is left out. SQS
/// Developer Guide, "Message metadata": name, data type with its label, kind of value, value, in the order of the
/// names.
QByteArray ofAttributes(const MessageAttributes &attributes);

} // namespace sendonce::sqsmd5
