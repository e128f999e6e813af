#pragma once

#include "worker/local/receivedmessage.h"

namespace sendonce::local {

/// The AWS JSON 1.0 protocol (sqs.md, section 2). Pure.

/// Reads a request; see readSqsRequest().
/// \param operation what follows "AmazonSQS." in X-Amz-Target
std::variant<SqsRequest, SqsError> readSqsJson(const QByteArray &operation, const QByteArray &body,
                                               const QString &pathQueue, const QString &traceHeader);

/// The answer's body. Members without a value are left out. Not for ReceivedMessages.
/// \param origin before the account in queue URLs, "http://127.0.0.1:9324"
QByteArray toSqsJson(const SqsResult &result, const QString &origin);
QByteArray toSqsJson(const QList<ReceivedMessage> &messages);
QByteArray toSqsJson(const SqsError &error);

} // namespace sendonce::local
