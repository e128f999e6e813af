#pragma once

#include "worker/local/localqueue.h"
#include "worker/local/queuechange.h"

#include <QHash>

#include <functional>
#include <memory>
#include <vector>

namespace sendonce::local {

/// All queues of an embedded endpoint and the rules of the SQS API for standard queues (sqs.md, sections 4 to 12): a
/// pure state machine. Clock and chance are handed in; nothing is read or written; one thread.
///
/// Its owner works in turns: advance() to the present, apply() any number of requests, write changes() down in one
/// transaction, then commit(), or rollback() when that failed, which undoes the whole turn. What apply() answered
/// counts only after commit().
class LocalQueues
{
public:
    /// At most this many messages of a queue are in flight.
    static constexpr qint64 InFlightLimit = 120000;

    /// \param random 64 random bits a call, for MessageIds and receipts.
    explicit LocalQueues(std::function<quint64()> random);

    // At the start: advance(), then every queue, then every message in the order of rows.
    void restore(const StoredQueue &queue);
    /// False when it belongs to no queue: its row can be thrown away. What is left of its hiding is never more than was
    /// asked.
    bool restore(const StoredMessage &message);
    /// Then every move task; one that was running goes on.
    void restore(const MoveTask &task);

    /// Sets the clock (it never goes back), makes visible what is due, lets expired messages vanish. Not amid a turn.
    void advance(QueueTime now);
    /// Carries one operation out. A receive that finds nothing answers with no messages, whatever its wait.
    SqsReply apply(const SqsRequest &request);

    /// Lets the move tasks move what is due, a few messages each.
    void moveMessages();
    /// When moveMessages() has something to do (steady); nothing when no task runs.
    std::optional<qint64> nextMoveAt() const;

    const std::vector<QueueChange> &changes() const { return m_changes; }
    /// Whether the changes must have reached the disk before anything is answered. Receives and visibility need not:
    /// after a power cut they at most come again.
    bool mustBeDurable() const { return m_durable; }
    void commit();
    void rollback();
    /// Rows whose messages are gone for good: content to be thrown away at leisure.
    QList<qint64> takeGarbage() { return std::exchange(m_garbage, {}); }

    /// How long a receive may wait; its own value beats the queue's.
    seconds receiveWait(const ReceiveMessageRequest &request) const;
    /// Whether a receive would have something to look at, or an error to answer with.
    bool isWorthReceiving(const QString &queue) const;
    /// For faults: hides a message of this queue for so long, whatever its receive asked for. Its handle stays good.
    void hide(const QString &queue, qint64 row, std::chrono::milliseconds timeout);
    /// For faults: as if the server that keeps a copy of this message had missed its receive. It is visible, whoever
    /// has a handle can delete it no more, and comes by another one when it is received again.
    void forgetReceive(const QString &queue, qint64 row);
    /// When the next message of this queue becomes visible by itself (steady); nothing when none will.
    std::optional<qint64> nextVisibleAt(const QString &queue) const;
    /// Nothing when there is no such queue.
    const LocalQueue *find(const QString &name) const;

private:
    using Reply = SqsReply;
    Reply run(const CreateQueueRequest &request);
    Reply run(const GetQueueUrlRequest &request);
    Reply run(const ListQueuesRequest &request);
    Reply run(const GetQueueAttributesRequest &request);
    Reply run(const SetQueueAttributesRequest &request);
    Reply run(const DeleteQueueRequest &request);
    Reply run(const PurgeQueueRequest &request);
    Reply run(const SendMessageRequest &request);
    Reply run(const SendMessageBatchRequest &request);
    Reply run(const ReceiveMessageRequest &request);
    Reply run(const DeleteMessageRequest &request);
    Reply run(const DeleteMessageBatchRequest &request);
    Reply run(const ChangeMessageVisibilityRequest &request);
    Reply run(const ChangeMessageVisibilityBatchRequest &request);
    Reply run(const ListDeadLetterSourceQueuesRequest &request);
    Reply run(const StartMessageMoveTaskRequest &request);
    Reply run(const ListMessageMoveTasksRequest &request);
    Reply run(const CancelMessageMoveTaskRequest &request);

    std::optional<SqsError> checkOutgoing(const LocalQueue &queue, const OutgoingMessage &message, qint64 sizeBytes,
                                          bool inBatch) const;
    std::optional<SqsError> checkRedrive(const QString &queue, const QueueSettings &settings,
                                         const QString &text) const;
    SentMessage send(LocalQueue &queue, const OutgoingMessage &message, const QByteArray &body);
    HandedOut handOut(LocalQueue &queue, QueuedMessage message, seconds timeout);
    void moveToDeadLetters(LocalQueue &from, LocalQueue &to, qint64 row);
    std::optional<SqsError> remove(LocalQueue &queue, const QString &receiptHandle);
    std::optional<SqsError> changeVisibility(LocalQueue &queue, const VisibilityEntry &change);
    void hide(LocalQueue &queue, QueuedMessage message, qint64 timeoutMsec);
    quint64 newReceipt();

    struct Move
    {
        MoveTask task;
        MovePace pace;
        qint64 cursor; ///< row of the newest message that was looked at
    };
    using Moves = std::map<qint64, Move>;
    void step(Move &move);
    void renew(LocalQueue &from, LocalQueue &to, qint64 row);
    void forgetMove(qint64 number);

    QUuid newId();
    LocalQueue *queueNamed(const QString &name) const;
    StoredMessage stored(const LocalQueue &queue, const QueuedMessage &message) const;
    StoredQueue stored(const LocalQueue &queue) const;
    qint32 indexOfName(const QString &name);
    void onUndo(std::function<void()> undo) { m_undo.push_back(std::move(undo)); }
    void onCommit(std::function<void()> act) { m_onCommit.push_back(std::move(act)); }

    std::function<quint64()> m_random;
    QueueTime m_now;
    std::map<QString, std::shared_ptr<LocalQueue>> m_queues; // by name, as they are listed
    QHash<qint64, LocalQueue *> m_restoring; // by bucket; while the store is read
    QHash<QString, qint64> m_deletedAt; // steady
    Moves m_moves; // by number: in the order in which they began
    qint64 m_lastTask = 0;
    QStringList m_names; // what QueuedMessage::source means
    qint64 m_lastRow = 0;
    qint64 m_lastBucket = 0;
    quint32 m_lastNumber = 0;
    qint64 m_lastSentSteady = 0;

    // The turn.
    std::vector<QueueChange> m_changes;
    std::vector<std::function<void()>> m_undo;
    std::vector<std::function<void()>> m_onCommit;
    bool m_durable = false;
    QList<qint64> m_garbage;
};

} // namespace sendonce::local
