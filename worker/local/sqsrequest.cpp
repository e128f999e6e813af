#include "worker/local/sqsrequest.h"

#include <QUrl>

#include <algorithm>
#include <array>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

OutgoingMessage readOutgoing(SqsMembers &members)
{
    OutgoingMessage message;
    message.id = members.text("Id"_L1);
    message.body = members.text("MessageBody"_L1);
    message.delaySeconds = members.integer("DelaySeconds"_L1);
    message.attributes = members.attributes("MessageAttributes"_L1);
    message.systemAttributes = members.attributes("MessageSystemAttributes"_L1);
    message.groupId = members.optionalText("MessageGroupId"_L1);
    message.deduplicationId = members.optionalText("MessageDeduplicationId"_L1);
    return message;
}

DeleteEntry readDelete(SqsMembers &members)
{
    return {members.text("Id"_L1), members.text("ReceiptHandle"_L1)};
}

VisibilityEntry readVisibility(SqsMembers &members)
{
    return {members.text("Id"_L1), members.text("ReceiptHandle"_L1), members.integer("VisibilityTimeout"_L1)};
}

template <typename Entry>
QList<Entry> readEntries(SqsMembers &members, Entry (*read)(SqsMembers &))
{
    QList<Entry> entries;
    members.forEachEntry([&](SqsMembers &entry) { entries += read(entry); });
    return entries;
}

/// The queue that is meant: the member QueueUrl, else the path's.
QString readQueue(SqsMembers &members, const QString &pathQueue)
{
    const QString url = members.text("QueueUrl"_L1);
    if (url.isEmpty()) {
        if (pathQueue.isEmpty())
            members.refuse(missingParameter(u"QueueUrl"_s));
        return pathQueue;
    }
    const QString name = queueNameOf(url);
    if (name.isEmpty())
        members.refuse(invalidAddress(url));
    return name;
}

/// A header stands in where the message itself brings no trace header.
void addTraceHeader(OutgoingMessage &message, const QString &traceHeader)
{
    const QString name = u"AWSTraceHeader"_s;
    if (!traceHeader.isEmpty() && !message.systemAttributes.contains(name))
        message.systemAttributes.insert(name, {u"String"_s, traceHeader, {}});
}

/// What a reader is given: the members, the path's queue, the trace header.
using Reader = SqsRequest (*)(SqsMembers &, const QString &, const QString &);

SqsRequest readCreateQueue(SqsMembers &members, const QString &, const QString &)
{
    return CreateQueueRequest{members.text("QueueName"_L1), members.textMap("Attributes"_L1),
                              members.textMap("tags"_L1)};
}

SqsRequest readGetQueueUrl(SqsMembers &members, const QString &, const QString &)
{
    return GetQueueUrlRequest{members.text("QueueName"_L1), members.text("QueueOwnerAWSAccountId"_L1)};
}

SqsRequest readListQueues(SqsMembers &members, const QString &, const QString &)
{
    return ListQueuesRequest{members.text("QueueNamePrefix"_L1), members.integer("MaxResults"_L1),
                             members.text("NextToken"_L1)};
}

SqsRequest readGetQueueAttributes(SqsMembers &members, const QString &pathQueue, const QString &)
{
    return GetQueueAttributesRequest{readQueue(members, pathQueue), members.texts("AttributeNames"_L1)};
}

SqsRequest readSetQueueAttributes(SqsMembers &members, const QString &pathQueue, const QString &)
{
    return SetQueueAttributesRequest{readQueue(members, pathQueue), members.textMap("Attributes"_L1)};
}

SqsRequest readDeleteQueue(SqsMembers &members, const QString &pathQueue, const QString &)
{
    return DeleteQueueRequest{readQueue(members, pathQueue)};
}

SqsRequest readPurgeQueue(SqsMembers &members, const QString &pathQueue, const QString &)
{
    return PurgeQueueRequest{readQueue(members, pathQueue)};
}

SqsRequest readSendMessage(SqsMembers &members, const QString &pathQueue, const QString &traceHeader)
{
    SendMessageRequest request{readQueue(members, pathQueue), readOutgoing(members)};
    request.message.id.clear(); // Id is a batch entry's
    addTraceHeader(request.message, traceHeader);
    return request;
}

SqsRequest readSendMessageBatch(SqsMembers &members, const QString &pathQueue, const QString &traceHeader)
{
    SendMessageBatchRequest request{readQueue(members, pathQueue), readEntries(members, &readOutgoing)};
    for (OutgoingMessage &entry : request.entries)
        addTraceHeader(entry, traceHeader);
    return request;
}

SqsRequest readReceiveMessage(SqsMembers &members, const QString &pathQueue, const QString &)
{
    ReceiveMessageRequest request;
    request.queue = readQueue(members, pathQueue);
    request.maxNumberOfMessages = members.integer("MaxNumberOfMessages"_L1);
    request.visibilityTimeout = members.integer("VisibilityTimeout"_L1);
    request.waitTimeSeconds = members.integer("WaitTimeSeconds"_L1);
    request.systemAttributeNames = members.texts("AttributeNames"_L1) + members.texts("MessageSystemAttributeNames"_L1);
    request.messageAttributeNames = members.texts("MessageAttributeNames"_L1);
    request.attemptId = members.optionalText("ReceiveRequestAttemptId"_L1);
    return request;
}

SqsRequest readDeleteMessage(SqsMembers &members, const QString &pathQueue, const QString &)
{
    return DeleteMessageRequest{readQueue(members, pathQueue), members.text("ReceiptHandle"_L1)};
}

SqsRequest readDeleteMessageBatch(SqsMembers &members, const QString &pathQueue, const QString &)
{
    return DeleteMessageBatchRequest{readQueue(members, pathQueue), readEntries(members, &readDelete)};
}

SqsRequest readChangeMessageVisibility(SqsMembers &members, const QString &pathQueue, const QString &)
{
    return ChangeMessageVisibilityRequest{readQueue(members, pathQueue), readVisibility(members)};
}

SqsRequest readChangeMessageVisibilityBatch(SqsMembers &members, const QString &pathQueue, const QString &)
{
    return ChangeMessageVisibilityBatchRequest{readQueue(members, pathQueue), readEntries(members, &readVisibility)};
}

SqsRequest readListDeadLetterSourceQueues(SqsMembers &members, const QString &pathQueue, const QString &)
{
    return ListDeadLetterSourceQueuesRequest{readQueue(members, pathQueue), members.integer("MaxResults"_L1),
                                             members.text("NextToken"_L1)};
}

SqsRequest readStartMessageMoveTask(SqsMembers &members, const QString &, const QString &)
{
    return StartMessageMoveTaskRequest{members.text("SourceArn"_L1), members.text("DestinationArn"_L1),
                                       members.integer("MaxNumberOfMessagesPerSecond"_L1)};
}

SqsRequest readListMessageMoveTasks(SqsMembers &members, const QString &, const QString &)
{
    return ListMessageMoveTasksRequest{members.text("SourceArn"_L1), members.integer("MaxResults"_L1)};
}

SqsRequest readCancelMessageMoveTask(SqsMembers &members, const QString &, const QString &)
{
    return CancelMessageMoveTaskRequest{members.text("TaskHandle"_L1)};
}

struct Operation
{
    const char *name;
    Reader read; ///< null: SQS has it, this endpoint does not
};

constexpr std::array Operations{
    Operation{"SendMessage", &readSendMessage},
    Operation{"SendMessageBatch", &readSendMessageBatch},
    Operation{"ReceiveMessage", &readReceiveMessage},
    Operation{"DeleteMessage", &readDeleteMessage},
    Operation{"DeleteMessageBatch", &readDeleteMessageBatch},
    Operation{"ChangeMessageVisibility", &readChangeMessageVisibility},
    Operation{"ChangeMessageVisibilityBatch", &readChangeMessageVisibilityBatch},
    Operation{"CreateQueue", &readCreateQueue},
    Operation{"GetQueueUrl", &readGetQueueUrl},
    Operation{"ListQueues", &readListQueues},
    Operation{"GetQueueAttributes", &readGetQueueAttributes},
    Operation{"SetQueueAttributes", &readSetQueueAttributes},
    Operation{"DeleteQueue", &readDeleteQueue},
    Operation{"PurgeQueue", &readPurgeQueue},
    Operation{"ListDeadLetterSourceQueues", &readListDeadLetterSourceQueues},
    Operation{"StartMessageMoveTask", &readStartMessageMoveTask},
    Operation{"ListMessageMoveTasks", &readListMessageMoveTasks},
    Operation{"CancelMessageMoveTask", &readCancelMessageMoveTask},
    Operation{"TagQueue", nullptr},
    Operation{"UntagQueue", nullptr},
    Operation{"ListQueueTags", nullptr},
    Operation{"AddPermission", nullptr},
    Operation{"RemovePermission", nullptr},
};

const Operation *findOperation(const QByteArray &name)
{
    const auto it = std::find_if(Operations.cbegin(), Operations.cend(),
                                 [&name](const Operation &operation) { return name == operation.name; });
    return it == Operations.cend() ? nullptr : it;
}

} // namespace

std::optional<SqsError> checkOperation(const QByteArray &operation, const QString &pathQueue)
{
    const QString name = QString::fromLatin1(operation);
    const Operation *found = findOperation(operation);
    if (!found)
        return invalidAction(name);
    if (!found->read)
        return unsupportedOperation(u"%1 is not supported by this endpoint."_s.arg(name));
    if (!pathQueue.isEmpty() && (operation == "CreateQueue"_ba || operation == "ListQueues"_ba))
        return invalidAction(name);
    return {};
}

SqsRequest readSqsRequest(const QByteArray &operation, SqsMembers &members, const QString &pathQueue,
                          const QString &traceHeader)
{
    const Operation *found = findOperation(operation);
    Q_ASSERT(found && found->read);
    return found->read(members, pathQueue, traceHeader);
}

QString queueNameOf(const QString &queueUrl)
{
    const QString path = queueUrl.section(u'?', 0, 0);
    return QUrl::fromPercentEncoding(path.mid(path.lastIndexOf(u'/') + 1).toUtf8());
}

QString queueUrlOf(const QString &origin, const QString &name)
{
    return origin + u"/000000000000/"_s + name;
}

} // namespace sendonce::local
