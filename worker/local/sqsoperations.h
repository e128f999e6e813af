#pragma once

#include "worker/local/sqserror.h"
#include "worker/types.h"

#include <chrono>
#include <optional>
#include <variant>

/// The operations of the SQS API as values: what a coat (AWS JSON, query/XML) makes of a request, what
/// LocalQueues answers, and what the coat writes down again. Queues go by name here; URLs are the coat's business.
namespace sendonce::local {

using std::chrono::seconds;

// ---- requests ---------------------------------------------------------------------------------------------
// What is `struck` comes from no wire: an armed fault (QueueFaults) has decided how it ends.

struct CreateQueueRequest
{
    QString name;
    QMap<QString, QString> attributes;
    QMap<QString, QString> tags;
};
struct GetQueueUrlRequest
{
    QString name;
    QString ownerAccountId; ///< empty: not given
};
struct ListQueuesRequest
{
    QString prefix;
    std::optional<int> maxResults;
    QString nextToken;
};
struct GetQueueAttributesRequest
{
    QString queue;
    QStringList names;
};
struct SetQueueAttributesRequest
{
    QString queue;
    QMap<QString, QString> attributes;
};
struct DeleteQueueRequest
{
    QString queue;
};
struct PurgeQueueRequest
{
    QString queue;
};

/// What SendMessage carries, and one entry of SendMessageBatch.
struct OutgoingMessage
{
    QString id; ///< of the batch entry; empty in SendMessage
    QString body;
    std::optional<int> delaySeconds;
    MessageAttributes attributes;
    MessageAttributes systemAttributes;
    std::optional<QString> groupId;
    std::optional<QString> deduplicationId;
    std::optional<SqsError> struck = {};
};
struct SendMessageRequest
{
    QString queue;
    OutgoingMessage message;
};
struct SendMessageBatchRequest
{
    QString queue;
    QList<OutgoingMessage> entries;
};
struct ReceiveMessageRequest
{
    QString queue;
    std::optional<int> maxNumberOfMessages; ///< 1…10, 1 when absent
    std::optional<int> visibilityTimeout; ///< seconds; absent: the queue's
    std::optional<int> waitTimeSeconds; ///< absent: the queue's
    QStringList systemAttributeNames; ///< union of AttributeNames and MessageSystemAttributeNames
    QStringList messageAttributeNames;
    std::optional<QString> attemptId;
    bool newestFirst = false; ///< struck
};
struct DeleteMessageRequest
{
    QString queue;
    QString receiptHandle;
    std::optional<SqsError> struck = {};
};
struct VisibilityEntry
{
    QString id; ///< empty in ChangeMessageVisibility
    QString receiptHandle;
    std::optional<int> visibilityTimeout; ///< seconds
};
struct DeleteEntry
{
    QString id;
    QString receiptHandle;
    std::optional<SqsError> struck = {};
};
struct DeleteMessageBatchRequest
{
    QString queue;
    QList<DeleteEntry> entries;
};
struct ChangeMessageVisibilityRequest
{
    QString queue;
    VisibilityEntry change;
};
struct ChangeMessageVisibilityBatchRequest
{
    QString queue;
    QList<VisibilityEntry> entries;
};

struct ListDeadLetterSourceQueuesRequest
{
    QString queue;
    std::optional<int> maxResults;
    QString nextToken;
};
struct StartMessageMoveTaskRequest
{
    QString sourceArn;
    QString destinationArn; ///< empty: every message back to where it came from
    std::optional<int> messagesPerSecond; ///< 1…500; absent: as fast as it goes
};
struct ListMessageMoveTasksRequest
{
    QString sourceArn;
    std::optional<int> maxResults; ///< 1…10, 1 when absent
};
struct CancelMessageMoveTaskRequest
{
    QString taskHandle;
};

using SqsRequest =
    std::variant<CreateQueueRequest, GetQueueUrlRequest, ListQueuesRequest, GetQueueAttributesRequest,
                 SetQueueAttributesRequest, DeleteQueueRequest, PurgeQueueRequest, SendMessageRequest,
                 SendMessageBatchRequest, ReceiveMessageRequest, DeleteMessageRequest, DeleteMessageBatchRequest,
                 ChangeMessageVisibilityRequest, ChangeMessageVisibilityBatchRequest, ListDeadLetterSourceQueuesRequest,
                 StartMessageMoveTaskRequest, ListMessageMoveTasksRequest, CancelMessageMoveTaskRequest>;

// ---- results ----------------------------------------------------------------------------------------------

/// What a message holds and the queue does not remember; kept by the store under the message's row.
struct MessageContent
{
    QByteArray body; ///< UTF-8
    QByteArray bodyMd5; ///< lower-case hex
    MessageAttributes attributes;
    QString groupId;
    QString traceHeader; ///< AWSTraceHeader

    bool operator==(const MessageContent &) const = default;
};

struct Nothing
{ };
struct QueueNamed
{
    QString name;
};
struct QueueList
{
    QStringList names;
    QString nextToken;
};
/// ListDeadLetterSourceQueues', whose member has a name of its own in JSON.
struct SourceQueueList
{
    QueueList list;
};
struct QueueAttributes
{
    QMap<QString, QString> attributes;
};
struct SentMessage
{
    QString id; ///< of the batch entry
    QString messageId;
    QByteArray bodyMd5;
    QByteArray attributesMd5; ///< empty: there are none
    QByteArray systemAttributesMd5;
};
/// A message handed out; its content is read from the store by row.
struct HandedOut
{
    qint64 row = 0;
    QString messageId;
    QString receiptHandle;
    qint64 sentMsec = 0;
    qint64 firstReceivedMsec = 0;
    quint32 receiveCount = 0;
    QString deadLetterSourceArn; ///< empty: it was never moved
};
struct ReceivedMessages
{
    QList<HandedOut> messages;
    QStringList systemAttributeNames; ///< what was asked for, for the coat
    QStringList messageAttributeNames;
};
struct BatchFailure
{
    QString id;
    SqsError error;
};
struct SentBatch
{
    QList<SentMessage> successful;
    QList<BatchFailure> failed;
};
struct DoneBatch
{
    QStringList successful; ///< entry ids
    QList<BatchFailure> failed;
};

struct MoveTaskStarted
{
    QString taskHandle;
};
/// One task of ListMessageMoveTasks, in its words.
struct MoveTaskReport
{
    QString taskHandle; ///< only of a running one
    QString status;
    QString sourceArn;
    QString destinationArn; ///< empty: none was given
    int messagesPerSecond = 0; ///< 0: none was given
    qint64 moved = 0;
    qint64 toMove = 0;
    QString failureReason; ///< only of a failed one
    qint64 startedMsec = 0;
};
struct MoveTaskList
{
    QList<MoveTaskReport> tasks; ///< the newest first
};
struct MoveTaskCancelled
{
    qint64 moved = 0;
};

using SqsResult = std::variant<Nothing, QueueNamed, QueueList, SourceQueueList, QueueAttributes, SentMessage, SentBatch,
                               ReceivedMessages, DoneBatch, MoveTaskStarted, MoveTaskList, MoveTaskCancelled>;

/// An operation's end: its result, or the error it is answered with.
using SqsReply = std::variant<SqsResult, SqsError>;

} // namespace sendonce::local
