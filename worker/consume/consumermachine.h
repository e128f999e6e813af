#pragma once

#include "worker/result.h"
#include "worker/types.h"

#include <QHash>
#include <QList>
#include <QSet>

#include <chrono>

namespace sendonce {

/// What the consumer does next; several may come from one step, in order.
struct ConsumerCommand
{
    enum class Kind {
        Receive, ///< ask for at most `count` messages, long poll
        AbortReceive, ///< the receive under way ends now
        Dispatch, ///< `message` to `lane`
        NewerHandle, ///< `message` came again while it is held: only its receipt handle counts from now on
        GiveBack, ///< `message` was not started: make it visible again
        Wait, ///< call timerFired() after `wait`
        Stopped, ///< nothing is in hand any more
    };
    Kind kind = Kind::Stopped;
    int count = 0;
    int lane = 0;
    Message message;
    std::chrono::milliseconds wait{0};

    bool operator==(const ConsumerCommand &) const = default;
};
using ConsumerCommands = QList<ConsumerCommand>;

/// Who receives what, when: takes only what a lane can start now (a message waiting in a list of ours burns its
/// visibility and its receive count), backs off while the queue fails, stops at once when idle. No I/O, no clock.
class ConsumerMachine
{
public:
    explicit ConsumerMachine(int lanes);

    ConsumerCommands start();
    /// Nothing new is received or started; Stopped comes when the last lane is free.
    ConsumerCommands stop();
    ConsumerCommands received(const QList<Message> &messages);
    /// \param random 0…1, for the jitter of the back-off: 1 s, doubling up to 30 s, reset by a success
    ConsumerCommands receiveFailed(const Error &error, double random);
    ConsumerCommands timerFired();
    /// The database is away: nothing is received or started until it is back, or everything in the queue would be
    /// received for nothing, up to its maxReceiveCount.
    ConsumerCommands databaseLost();
    ConsumerCommands databaseBack();
    /// The queue refuses our keys: nothing is received until resume(); what is in hand goes on.
    void pause() { m_paused = true; }
    ConsumerCommands resume();
    /// A receive ended with that.
    ConsumerCommands receiveRefused();
    /// Started, and a lane is free that nothing is being received for.
    bool hasRoom() const { return m_running && !m_receiving && !m_free.isEmpty(); }
    ConsumerCommands laneFree(int lane);

    bool running() const { return m_running; }
    int inHand() const { return int(m_busy.size()); }
    int failures() const { return m_failures; } ///< receives that failed in a row

private:
    void receiveIfRoom(ConsumerCommands &commands);
    void stoppedIfIdle(ConsumerCommands &commands);

    bool m_running = false;
    bool m_stopping = false;
    bool m_receiving = false;
    bool m_waiting = false; ///< backing off
    bool m_paused = false;
    bool m_databaseAway = false;
    int m_failures = 0;
    QList<int> m_free;
    QHash<int, QString> m_busy; ///< lane -> MessageId
};

} // namespace sendonce
