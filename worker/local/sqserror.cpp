#include "worker/local/sqserror.h"

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

SqsError prefixed(const QString &shape, int httpStatus, const QString &message)
{
    return {shape, u"AWS.SimpleQueueService."_s + shape, httpStatus, message, true};
}

} // namespace

SqsError queueDoesNotExist()
{
    return {u"QueueDoesNotExist"_s, u"AWS.SimpleQueueService.NonExistentQueue"_s, 400,
            u"The specified queue does not exist."_s, true};
}

SqsError queueNameExists(const QString &attribute)
{
    return {u"QueueNameExists"_s, u"QueueAlreadyExists"_s, 400,
            u"A queue already exists with the same name and a different value for attribute %1"_s.arg(attribute), true};
}

SqsError queueDeletedRecently()
{
    return prefixed(
        u"QueueDeletedRecently"_s, 400,
        u"You must wait 60 seconds after deleting a queue before you can create another with the same name."_s);
}

SqsError purgeQueueInProgress(const QString &queue)
{
    return prefixed(u"PurgeQueueInProgress"_s, 403,
                    u"Only one PurgeQueue operation on %1 is allowed every 60 seconds."_s.arg(queue));
}

SqsError receiptHandleIsInvalid(const QString &handle)
{
    return {u"ReceiptHandleIsInvalid"_s, u"ReceiptHandleIsInvalid"_s, 404,
            u"The input receipt handle \"%1\" is not a valid receipt handle."_s.arg(handle), true};
}

SqsError overLimit(const QString &message)
{
    return {u"OverLimit"_s, u"OverLimit"_s, 403, message, true};
}

SqsError batchEntryIdsNotDistinct(const QString &id)
{
    return prefixed(u"BatchEntryIdsNotDistinct"_s, 400, u"Id %1 repeated."_s.arg(id));
}

SqsError emptyBatchRequest(const QString &entryType)
{
    return prefixed(u"EmptyBatchRequest"_s, 400, u"There should be at least one %1 in the request."_s.arg(entryType));
}

SqsError invalidBatchEntryId()
{
    return prefixed(
        u"InvalidBatchEntryId"_s, 400,
        u"A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 "
        "letters long."_s);
}

SqsError tooManyEntries(qsizetype sent)
{
    return prefixed(u"TooManyEntriesInBatchRequest"_s, 400,
                    u"Maximum number of entries per request are 10. You have sent %1."_s.arg(sent));
}

SqsError batchRequestTooLong(qint64 sentBytes)
{
    return prefixed(u"BatchRequestTooLong"_s, 400,
                    u"Batch requests cannot be longer than 1048576 bytes. You have sent %1 bytes."_s.arg(sentBytes));
}

SqsError unsupportedOperation(const QString &message)
{
    return prefixed(u"UnsupportedOperation"_s, 400, message);
}

SqsError invalidMessageContents(const QString &message)
{
    return {u"InvalidMessageContents"_s, u"InvalidMessageContents"_s, 400, message, true};
}

SqsError unknownAttribute(const QString &name)
{
    return {u"InvalidAttributeName"_s, u"InvalidAttributeName"_s, 400, u"Unknown Attribute %1."_s.arg(name), true};
}

SqsError invalidAttributeValue(const QString &name, const QString &reason)
{
    QString message = u"Invalid value for the parameter %1."_s.arg(name);
    if (!reason.isEmpty())
        message += u" Reason: "_s + reason;
    return {u"InvalidAttributeValue"_s, u"InvalidAttributeValue"_s, 400, message, true};
}

SqsError invalidParameter(const QString &message)
{
    return {u"InvalidParameterValueException"_s, u"InvalidParameterValue"_s, 400, message, true};
}

SqsError invalidParameterValue(const QString &parameter, const QString &value, const QString &reason)
{
    return invalidParameter(u"Value %1 for parameter %2 is invalid. Reason: %3"_s.arg(value, parameter, reason));
}

SqsError missingParameter(const QString &parameter)
{
    return {u"MissingRequiredParameterException"_s, u"MissingParameter"_s, 400,
            u"The request must contain the parameter %1."_s.arg(parameter), true};
}

SqsError resourceNotFound(const QString &message)
{
    return {u"ResourceNotFoundException"_s, u"ResourceNotFoundException"_s, 404, message, true};
}

SqsError invalidAction(const QString &action)
{
    return {u"InvalidAction"_s, u"InvalidAction"_s, 400, u"The action %1 is not valid for this endpoint."_s.arg(action),
            true};
}

SqsError invalidAddress(const QString &address)
{
    return {u"InvalidAddress"_s, u"InvalidAddress"_s, 404,
            u"The address %1 is not valid for this endpoint."_s.arg(address), true};
}

SqsError serialization(const QString &message)
{
    return {u"SerializationException"_s, u"MalformedInput"_s, 400, message, true};
}

SqsError internalFailure()
{
    return {u"InternalFailure"_s, u"InternalFailure"_s, 500,
            u"The queue's store failed; nothing of this request was done."_s, false};
}

SqsError armedFailure()
{
    SqsError error = internalFailure();
    error.message = u"Something went wrong, and nothing of it was done (armed fault)."_s;
    return error;
}

SqsError armedEntryFailure()
{
    return {u"InternalError"_s, u"InternalError"_s, 500, armedFailure().message, false};
}

SqsError armedThrottling()
{
    return {u"ThrottlingException"_s, u"ThrottlingException"_s, 400, u"Rate exceeded (armed fault)"_s, true};
}

} // namespace sendonce::local
