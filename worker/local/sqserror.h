#pragma once

#include <QString>

namespace sendonce::local {

/// An error of the SQS API, in the words of both protocols (sqs.md, 6.3): the coat that writes it down picks the names.
struct SqsError
{
    QString shape; ///< JSON: what `__type` ends in, "QueueDoesNotExist"
    QString queryCode; ///< query protocol, and the first part of x-amzn-query-error:
                       ///< "AWS.SimpleQueueService.NonExistentQueue"
    int httpStatus = 400;
    QString message;
    bool senderFault = true;

    bool operator==(const SqsError &) const = default;
};

// The errors this endpoint can answer; each text is what Amazon's service was recorded to say (sqs.md, 6.4), where it
// was.
SqsError queueDoesNotExist();
SqsError queueNameExists(const QString &attribute);
SqsError queueDeletedRecently();
SqsError purgeQueueInProgress(const QString &queue);
SqsError receiptHandleIsInvalid(const QString &handle);
SqsError overLimit(const QString &message);
SqsError batchEntryIdsNotDistinct(const QString &id);
SqsError emptyBatchRequest(const QString &entryType);
SqsError invalidBatchEntryId();
SqsError tooManyEntries(qsizetype sent);
SqsError batchRequestTooLong(qint64 sentBytes);
SqsError unsupportedOperation(const QString &message);
SqsError invalidMessageContents(const QString &message);
SqsError unknownAttribute(const QString &name);
SqsError invalidAttributeValue(const QString &name, const QString &reason = QString());
SqsError invalidParameter(const QString &message);
SqsError invalidParameterValue(const QString &parameter, const QString &value, const QString &reason);
SqsError missingParameter(const QString &parameter);
SqsError resourceNotFound(const QString &message);
SqsError invalidAction(const QString &action);
SqsError invalidAddress(const QString &address);
SqsError serialization(const QString &message);
SqsError internalFailure();
// Those of a fault that was armed; their texts say so.
SqsError armedFailure(); ///< of a whole request: InternalFailure
SqsError armedEntryFailure(); ///< of one entry of a batch: InternalError
SqsError armedThrottling(); ///< ThrottlingException

} // namespace sendonce::local
