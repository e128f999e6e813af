#pragma once

#include "worker/local/receivedmessage.h"

namespace sendonce::local {

/// The query protocol's answers (sqs.md, sections 3 and 6.2). Pure. Lists have no element of their own around them. A
/// CR is written as a character reference: a parser would make an LF of it, and the MD5 would no longer match. What
/// XML cannot say (in the caller's words that an error repeats) becomes U+FFFD.

/// \param origin before the account in queue URLs, "http://127.0.0.1:9324". Not for ReceivedMessages.
QByteArray toSqsXml(const QByteArray &action, const SqsResult &result, const QString &origin,
                    const QByteArray &requestId);
/// ReceiveMessage's.
QByteArray toSqsXml(const QList<ReceivedMessage> &messages, const QByteArray &requestId);
QByteArray toSqsXml(const SqsError &error, const QByteArray &requestId);

} // namespace sendonce::local
