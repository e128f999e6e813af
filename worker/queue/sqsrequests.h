#pragma once

#include "worker/types.h"

#include <QByteArray>
#include <QDateTime>
#include <QString>
#include <QUrl>

#include <chrono>
#include <optional>

/// What is asked of a queue, and what becomes of a batch: the values that SqsClient takes and gives.
namespace sendonce {

struct ReceiveRequest
{
    QUrl queueUrl;
    int maxMessages = 10; ///< 1…10
    std::chrono::seconds wait{20}; ///< long poll, 0…20
    std::optional<std::chrono::seconds> visibilityTimeout; ///< absent: the queue's own
};

/// One entry of a batch and what became of it. A batch is HTTP 200 even when entries failed: always walk the list.
struct BatchEntryResult
{
    QString id;
    bool ok = false;
    QString messageId; ///< for sends
    QString code, text; ///< when not ok
    bool senderFault = false; ///< true: sending the same again is useless

    bool operator==(const BatchEntryResult &) const = default;
};

struct SendEntry
{
    QString id; ///< 1…80 of A-Za-z0-9_-, unique in the batch
    QByteArray body; ///< UTF-8
    MessageAttributes attributes;
    QString traceHeader; ///< AWSTraceHeader, the one system attribute that can be sent; empty: none
    int delaySeconds = -1; ///< -1: the queue's own
    QString groupId = {}; ///< MessageGroupId, the tenant of a fair queue; empty: none
};
struct DeleteEntry
{
    QString id;
    QString receiptHandle;
};
struct VisibilityEntry
{
    QString id;
    QString receiptHandle;
    std::chrono::seconds timeout{0};
};

/// A message move task to start: everything in a dead letter queue, the oldest first.
struct MoveRequest
{
    QString sourceArn; ///< of the dead letter queue
    QString destinationArn; ///< empty: each message to the queue that it came from
    int perSecond = 0; ///< 1…500; 0: as the service sees fit
};

/// One that is under way or over. Every message that it moves becomes a new one, with another MessageId.
struct MoveTask
{
    enum class State { Unknown, Running, Completed, Failed, Cancelling, Cancelled };
    State state = State::Unknown;
    QString handle; ///< to cancel it with; only while it runs
    QString sourceArn;
    QString destinationArn; ///< if one was asked for
    int perSecond = 0; ///< if asked for
    qint64 moved = 0; ///< approximately
    qint64 toMove = -1; ///< at its start, approximately; -1: not known
    QDateTime startedAt; ///< UTC; invalid: not told
    QString failureReason; ///< a code, "AWS.SimpleQueueService.NonExistentQueue"; only when failed

    bool operator==(const MoveTask &) const = default;
};

} // namespace sendonce
