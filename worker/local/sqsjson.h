#pragma once

#include "worker/local/receivedmessage.h"

namespace sendonce::local {

/// Reads an AWS JSON 1.0 request (sqs.md, section 2). Pure; what the rules of SQS say to it is LocalQueues' business.
/// \param operation what follows "AmazonSQS." in X-Amz-Target
/// \param pathQueue the queue's name when the request came to a queue's own path, else empty; QueueUrl beats it
/// \param traceHeader X-Amzn-Trace-Id, which stands in for the system attribute AWSTraceHeader
std::variant<SqsRequest, SqsError> readSqsJson(const QByteArray &operation, const QByteArray &body,
                                               const QString &pathQueue, const QString &traceHeader);

/// The answer's body. Members without a value are left out. Not for ReceivedMessages.
/// \param origin before the account in queue URLs, "http://127.0.0.1:9324"
QByteArray toSqsJson(const SqsResult &result, const QString &origin);
QByteArray toSqsJson(const QList<ReceivedMessage> &messages);
QByteArray toSqsJson(const SqsError &error);

/// The queue that a QueueUrl names: its last path segment, whatever comes before, or all of a bare name. Empty: none.
QString queueNameOf(const QString &queueUrl);

} // namespace sendonce::local
