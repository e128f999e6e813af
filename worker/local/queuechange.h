#pragma once

#include "worker/local/movetask.h"
#include "worker/local/sqsoperations.h"

#include <QUuid>

/// What the queues tell their store, and what it tells them at the start. Times are msec since the epoch by the wall
/// clock: the steady clock of a process means nothing to the next one.
namespace sendonce::local {

struct StoredQueue
{
    quint32 number = 0;
    qint64 bucket = 0;
    QString name;
    qint64 created = 0;
    qint64 modified = 0;
    QMap<QString, QString> attributes;

    bool operator==(const StoredQueue &) const = default;
};

struct StoredMessage
{
    qint64 row = 0;
    qint64 bucket = 0; ///< messages whose bucket no queue has are gone: purged, or deleted with their queue
    QUuid id;
    qint64 sent = 0;
    qint64 visible = 0; ///< hidden until then
    qint64 hiddenForMsec = 0;
    qint64 firstReceived = 0;
    qint64 received = 0;
    quint64 receipt = 0;
    quint32 receiveCount = 0;
    quint32 countAtArrival = 0;
    QString source; ///< name of the queue it was dead-lettered from; empty: none

    bool operator==(const StoredMessage &) const = default;
};

struct PutQueue
{
    StoredQueue queue;
};
struct RemoveQueue
{
    quint32 number = 0;
};
struct InsertMessage
{
    StoredMessage message;
    MessageContent content;
};
struct UpdateMessage
{
    StoredMessage message;
};
struct RemoveMessage
{
    qint64 row = 0;
};
/// A message moved by a task: a new message with the content of the one that was under `oldRow`, which is gone.
struct RenewMessage
{
    qint64 oldRow = 0;
    StoredMessage message;
};
struct PutMoveTask
{
    MoveTask task;
};
struct RemoveMoveTask
{
    qint64 number = 0;
};
using QueueChange = std::variant<PutQueue, RemoveQueue, InsertMessage, UpdateMessage, RemoveMessage, RenewMessage,
                                 PutMoveTask, RemoveMoveTask>;

} // namespace sendonce::local
