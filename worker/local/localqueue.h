#pragma once

#include "worker/local/queuesettings.h"

#include <QUuid>

#include <map>
#include <optional>
#include <utility>

namespace sendonce::local {

/// Two clocks, read at one instant. Everything that is waited for goes by `steady`, which never runs backwards and
/// counts suspension; what people see (SentTimestamp …) goes by `wall`. Both in msec since the epoch; equal when the
/// process starts.
struct QueueTime
{
    qint64 steady = 0;
    qint64 wall = 0;
};

/// What is remembered of one message; its content lies in the store under `row`.
struct QueuedMessage
{
    qint64 row = 0; ///< grows with every send, over all queues
    QUuid id;
    qint64 sentWall = 0;
    qint64 sentSteady = 0; ///< retention runs from here; grows with the row
    qint64 firstReceivedWall = 0; ///< 0: never received
    qint64 receivedSteady = 0; ///< of the newest receive
    qint64 visibleAt = 0; ///< steady; hidden until then
    qint64 hiddenForMsec = 0; ///< the delay or time-out that was asked for: the most that is left of it after a restart
    quint64 receipt = 0; ///< of the newest receive in this queue; 0: none
    quint32 receiveCount = 0; ///< over all queues, as ApproximateReceiveCount tells it
    quint32 countAtArrival = 0; ///< receiveCount when it came into this queue; maxReceiveCount counts from here
    qint32 source = -1; ///< the queue it was dead-lettered from: index into LocalQueues' names; -1: none

    quint32 receivesHere() const { return receiveCount - countAtArrival; }
};

/// One queue: its settings and its messages, sorted for what is asked of them. Pure data structure: no clock, no I/O,
/// no rules of the API (those are LocalQueues'). Every operation is O(log n) or better.
///
/// A message is *visible* (in a list, in the order of becoming visible), *in flight* (hidden, with a receipt) or
/// *delayed* (hidden, without one). Addresses of messages stay good until they are taken out.
class LocalQueue
{
    struct Slot
    {
        QueuedMessage message;
        // The list of visible messages runs through the slots themselves: 16 bytes a message, nothing to allocate.
        Slot *previous = nullptr;
        Slot *next = nullptr;
        bool visible = false;
    };
    using Slots = std::map<qint64, Slot>;

public:
    /// A message between two queues, or on its way out; can be put back.
    using Node = Slots::node_type;

    LocalQueue() = default;
    LocalQueue(const LocalQueue &) = delete;
    LocalQueue &operator=(const LocalQueue &) = delete;

    QString name;
    quint32 number = 0; ///< in receipt handles; for the queue's life
    qint64 bucket = 0; ///< under which the store keeps the messages; a purge takes a new one
    qint64 createdWall = 0;
    qint64 modifiedWall = 0;
    qint64 purgedSteady = 0; ///< 0: never, or before this process
    QueueSettings settings;

    /// Puts a message in; it becomes visible when `visibleAt` <= now.
    void insert(const QueuedMessage &message, qint64 now);
    void insert(Node node, qint64 now);
    /// Nothing when there is no such row.
    const QueuedMessage *find(qint64 row) const;
    /// Replaces what is remembered under message.row, which must be here.
    void update(const QueuedMessage &message, qint64 now);
    /// Takes a message out, which must be here.
    Node take(qint64 row);
    static const QueuedMessage &messageOf(const Node &node) { return node.mapped().message; }
    static QueuedMessage &messageOf(Node &node) { return node.mapped().message; }

    /// The one that has been visible longest; nothing when none is.
    const QueuedMessage *firstVisible() const { return m_firstVisible ? &m_firstVisible->message : nullptr; }
    /// The oldest visible one with a row above `after` and not above `last`; nothing when there is none.
    const QueuedMessage *nextVisible(qint64 after, qint64 last) const;
    /// The newest visible one with a row below `before`; nothing when there is none.
    const QueuedMessage *newestVisible(qint64 before) const;
    /// Makes visible what was hidden until now or before.
    void advance(qint64 now);
    /// Takes out what was sent longer ago than the retention; the rows.
    QList<qint64> expire(qint64 now);
    /// Takes everything out; the rows.
    QList<qint64> clear();
    /// Exchanges the messages, and only them, with those of another queue.
    void swapMessages(LocalQueue &other);

    qint64 count() const { return qint64(m_slots.size()); }
    qint64 visibleCount() const { return count() - qint64(m_hidden.size()); }
    qint64 delayedCount() const { return m_delayedCount; }
    qint64 inFlightCount() const { return qint64(m_hidden.size()) - m_delayedCount; }
    /// When the next hidden message becomes visible (steady); nothing when none is hidden.
    std::optional<qint64> nextVisibleAt() const;

private:
    void place(Slot &slot, qint64 now);
    void unplace(Slot &slot);
    void append(Slot &slot);

    Slots m_slots; // by row, which is by age
    std::map<std::pair<qint64, qint64>, Slot *> m_hidden; // by visibleAt and row
    qint64 m_delayedCount = 0;
    Slot *m_firstVisible = nullptr;
    Slot *m_lastVisible = nullptr;
};

} // namespace sendonce::local
