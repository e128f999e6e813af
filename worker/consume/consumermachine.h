#pragma once

#include "worker/result.h"
#include "worker/types.h"

#include <QHash>
#include <QList>
#include <QSet>

#include <chrono>
#include <optional>

namespace sendonce {

/// What the consumer does next; several may come from one step, in order.
struct ConsumerCommand
{
    enum class Kind {
        Receive, ///< ask for at most `count` messages; `longPoll` or not
        AbortReceives, ///< those under way end now
        Hold, ///< `message` waits here for a lane: its visibility is ours to extend from now on
        Dispatch, ///< `message` to `lane`
        Taken, ///< `lane` has begun with `message` by itself
        NewerHandle, ///< `message` came again while it is held: only its receipt handle counts from now on
        GiveBack, ///< `message` is not started: make it visible again
        Wait, ///< call timerFired() after `wait`
        WaitForRate, ///< call rateTimerFired() after `wait`
        Stopped, ///< nothing is in hand any more
    };
    Kind kind = Kind::Stopped;
    int count = 0;
    bool longPoll = true;
    int lane = 0;
    Message message;
    std::chrono::nanoseconds receivedAt{0}; ///< of `message`
    std::chrono::milliseconds wait{0};

    bool operator==(const ConsumerCommand &) const = default;
};
using ConsumerCommands = QList<ConsumerCommand>;

/// How fast mails may leave, for all lanes together.
struct MailPace
{
    double perSecond = 0; ///< 0: no limit
};

/// Who receives what, when. Takes what a lane can start now and, so that no lane waits for the network, a few messages
/// more: never more than the lanes will start within V/4 at their present pace, ten at most (a message waiting here
/// burns its visibility and its receive count). What they will have started by the time an answer is there does not
/// count. Backs off while the queue fails or the mail server throttles, stops at once when idle. No I/O, no clock:
/// `now` is monotonic, from any origin.
class ConsumerMachine
{
public:
    using Moment = std::chrono::nanoseconds;

    /// How a lane's delivery ended, as far as it matters here.
    enum class Ended {
        Mailed, ///< the mail server took part: it is what a rate limit counts
        NoMail, ///< skipped, or failed before a mail
        GivenBack, ///< could not be started: somebody else is busy with it, or the database is away
        Throttled, ///< the mail server asked for patience
        Crashed, ///< as if its process had died: the lane begins anew, after a while
        NoConnection, ///< not begun: the database has no connection left for this lane; others may have theirs
    };

    /// \param limit of deliveries to be started; 0: none
    /// \param atFirst so many lanes work at once until deliveries turn out to take long; 0: all from the beginning
    explicit ConsumerMachine(int lanes, std::chrono::milliseconds visibility = std::chrono::seconds(30),
                             MailPace pace = {}, qint64 limit = 0, int atFirst = 0);

    ConsumerCommands start(Moment now);
    /// Nothing new is received or started; Stopped comes when the last lane is free.
    ConsumerCommands stop();
    /// \param asked the `count` of its Receive
    ConsumerCommands received(const QList<Message> &messages, int asked, Moment now);
    /// \param random 0…1, for the jitter of the back-off: 1 s, doubling up to 30 s, reset by a success
    ConsumerCommands receiveFailed(const Error &error, int asked, double random, Moment now);
    ConsumerCommands timerFired(Moment now);
    ConsumerCommands rateTimerFired(Moment now);
    /// The database is away: nothing is received or started until it is back, or everything in the queue would be
    /// received for nothing, up to its maxReceiveCount.
    ConsumerCommands databaseLost();
    ConsumerCommands databaseBack(Moment now);
    /// The queue refuses our keys: nothing is received until resume(); what is in hand goes on.
    void pause() { m_paused = true; }
    /// At most one receive follows at once.
    ConsumerCommands resume(Moment now);
    /// A receive ended with that.
    ConsumerCommands receiveRefused(int asked);
    /// Started, there is room for a message, and nothing is being received.
    bool hasRoom() const { return m_running && m_receives == 0 && room() > 0; }
    /// \param mail how long the mail server took, as part of it
    ConsumerCommands laneFree(int lane, Ended ended, Moment now, Moment mail = Moment(0));

    struct Waiting
    {
        Message message;
        Moment receivedAt{0};
    };
    /// What lanes may take by themselves, in that order, when they have ended as Mailed or NoMail. Whoever offers that
    /// withdraws it before the next step, and first tells wentOn() and reserved() for each that was taken.
    QList<Waiting> offerable(Moment now) const;
    /// A lane that was busy has ended so and taken one of offerable(), at `at`. caughtUp() follows the last of these.
    ConsumerCommand wentOn(int lane, Ended ended, const QString &messageId, Moment at, Moment mail = Moment(0));
    /// A busy lane has taken one of offerable() to begin with it next: it goes on with that, or laneFree() gives it
    /// back.
    void reserved(int lane, const QString &messageId);
    ConsumerCommands caughtUp(Moment now);
    /// When only so many of offerable() are left more can be asked for; less than none: there is no need to be told.
    int tellAt() const;

    bool running() const { return m_running; }
    /// The lane that a message would wake; none while others are in hand.
    std::optional<int> sleepingLane() const;
    int inHand() const { return int(m_busy.size() + m_reserved.size() + m_waiting.size()); }
    int failures() const { return m_failures; } ///< receives that failed in a row

private:
    struct Busy
    {
        Waiting with;
        Moment since{0};
    };
    struct CrowdedOut
    {
        int lane = 0;
        Moment until{0};
    };

    int startable() const; ///< lanes that may take a message now
    int room() const; ///< for further messages, those asked for already not counted
    void receiveIfRoom(ConsumerCommands &commands, Moment now);
    void wakeLater(ConsumerCommands &commands, std::chrono::milliseconds wait);
    void dispatch(ConsumerCommands &commands, Moment now);
    ConsumerCommands goOn(Moment now); ///< with whatever is possible again
    void giveBackWaiting(ConsumerCommands &commands);
    void restart(ConsumerCommands &commands, int lane, Moment now);
    void crowdOut(ConsumerCommands &commands, int lane, const Waiting &with, Moment now);
    void letBackIn(Moment now);
    void learn(int lane, const Busy &busy, Ended ended, Moment at, Moment mail);
    void learnPace(std::chrono::nanoseconds took);
    void learnFetch(std::chrono::nanoseconds took);
    void watch(Moment took, Moment mail, Moment now);
    int allowedToWait() const;
    int soonStarted() const; ///< of what waits, before a receive that is begun now brings more
    bool isHeld(const QString &messageId) const;
    std::optional<Waiting> takeWaiting(const QString &messageId);
    /// Takes the right to one more mail, or says when there will be one.
    std::optional<std::chrono::milliseconds> waitForRate(Moment now);
    void stoppedIfIdle(ConsumerCommands &commands);

    const int m_lanes;
    const std::chrono::milliseconds m_visibility;
    const MailPace m_mailPace;
    const qint64 m_limit;
    int m_allowed; ///< lanes that may work at once

    bool m_running = false;
    bool m_stopping = false;
    bool m_backingOff = false; ///< from the queue
    bool m_paused = false;
    bool m_databaseAway = false;
    bool m_lastWasFull = false; ///< the newest receive brought all that was asked for: there is more
    bool m_rateTimer = false; ///< under way
    int m_receives = 0; ///< under way
    int m_asked = 0; ///< by them
    int m_ahead = 0; ///< the part of it that had no room when it was asked for
    Moment m_receivingSince{0};
    double m_fetch = 0; ///< nanoseconds of a receive that had nothing to wait for, smoothed; 0: not known
    qint64 m_started = 0; ///< deliveries
    int m_failures = 0;
    int m_throttled = 0; ///< deliveries in a row that the mail server put off
    int m_watched = 0; ///< deliveries with a mail since the last decision about more lanes
    Moment m_watchedSince{0}, m_quickest{0}, m_quickestMail{0}; ///< among them
    double m_pace = 0; ///< nanoseconds of a delivery, smoothed; 0: not known
    double m_tokens = 0; ///< mails that may leave now
    Moment m_tokensAt{0};
    Moment m_pausedUntil{0};
    QList<int> m_free;
    QHash<int, Busy> m_busy; ///< by lane
    QHash<int, Waiting> m_reserved; ///< by lane, which is busy
    QSet<int> m_warm; ///< lanes that have worked: their first delivery also opens connections
    QList<CrowdedOut> m_restarting; ///< lanes that have crashed, the longest first
    QList<CrowdedOut> m_crowdedOut; ///< lanes without a connection to the database, the longest first
    QList<Waiting> m_waiting; ///< oldest first
};

} // namespace sendonce
