#include "worker/consume/consumermachine.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sendonce {

using namespace std::chrono_literals;
using Kind = ConsumerCommand::Kind;

namespace {

constexpr std::chrono::milliseconds RestartTime{500}; ///< of a lane that has crashed
constexpr int LargestReceive = 10; // ReceiveMessage takes no more
constexpr int MostReceives = 3; // one long poll, and two that only fetch what is known to be there
/// Until a lane that got no connection tries again: nobody else can work, or others do.
constexpr auto TryAlone = 250ms;
constexpr auto TryAgain = 2s;
/// Where even the quickest of some deliveries takes longer than this, they wait for others rather than for a processor:
/// more lanes are of use. (On a machine that is busy most deliveries take long, but now and then one does not.)
/// Elsewhere further lanes only cost: each connection is a process of the database's that plans everything anew.
constexpr auto WorthMoreLanes = 60ms;
constexpr auto SlowMail = 10ms; ///< the same, of the mail server's part
constexpr int DeliveriesWatched = 8;
constexpr auto WatchedFor = 500ms; ///< at least: while connections are opened everything is slow
constexpr double PaceWeight = 0.1; // of the newest delivery, or receive
constexpr int MostAhead = LargestReceive / 2; // should all lanes come to a halt, these are too many

ConsumerCommand command(Kind kind)
{
    ConsumerCommand result;
    result.kind = kind;
    return result;
}

} // namespace

ConsumerMachine::ConsumerMachine(int lanes, std::chrono::milliseconds visibility, MailPace pace, qint64 limit,
                                 int atFirst)
    : m_lanes(lanes)
    , m_visibility(visibility)
    , m_mailPace(pace)
    , m_limit(limit)
    , m_allowed(atFirst > 0 ? std::min(atFirst, lanes) : lanes)
    , m_tokens(std::max(1.0, pace.perSecond))
{
    for (int lane = lanes; lane >= 1; --lane)
        m_free.append(lane);
}

int ConsumerMachine::allowedToWait() const
{
    if (m_pace <= 0)
        return 0;
    double perSecond = m_allowed * 1e9 / m_pace;
    if (m_mailPace.perSecond > 0)
        perSecond = std::min(perSecond, m_mailPace.perSecond);
    return int(std::min<double>(LargestReceive, perSecond * double(m_visibility.count()) / 4000));
}

int ConsumerMachine::soonStarted() const
{
    if (!m_lastWasFull || m_pace <= 0 || m_mailPace.perSecond > 0 || m_limit > 0 || startable() > 0)
        return 0;
    return std::min(MostAhead, int(m_fetch * m_allowed / m_pace));
}

int ConsumerMachine::tellAt() const
{
    if (m_receives == 0)
        return soonStarted();
    return m_lastWasFull && startable() + allowedToWait() - m_asked >= LargestReceive ? 0 : -1;
}

void ConsumerMachine::learnPace(std::chrono::nanoseconds took)
{
    const double newest = std::max(1.0, double(took.count()));
    m_pace = m_pace > 0 ? m_pace + PaceWeight * (newest - m_pace) : newest;
}

void ConsumerMachine::learnFetch(std::chrono::nanoseconds took)
{
    m_fetch = m_fetch > 0 ? m_fetch + PaceWeight * (double(took.count()) - m_fetch) : double(took.count());
}

void ConsumerMachine::watch(Moment took, Moment mail, Moment now)
{
    if (m_watched == 0)
        m_watchedSince = now;
    m_quickest = m_watched == 0 ? took : std::min(m_quickest, took);
    m_quickestMail = m_watched == 0 ? mail : std::min(m_quickestMail, mail);
    ++m_watched;
    if (m_watched < DeliveriesWatched || now - m_watchedSince < WatchedFor)
        return;
    m_watched = 0;
    if (m_quickest > WorthMoreLanes || m_quickestMail > SlowMail)
        m_allowed = std::min(m_lanes, m_allowed * 2);
}

std::optional<int> ConsumerMachine::sleepingLane() const
{
    if (!m_running || m_databaseAway || inHand() > 0 || m_free.isEmpty())
        return std::nullopt;
    return m_free.last();
}

int ConsumerMachine::startable() const
{
    return std::max(0, std::min(int(m_free.size()), m_allowed - int(m_busy.size())));
}

int ConsumerMachine::room() const
{
    int startable = this->startable() + allowedToWait();
    if (m_mailPace.perSecond > 0)
        startable = std::min(startable, std::max(1, int(m_mailPace.perSecond * double(m_visibility.count()) / 4000)));
    if (m_limit > 0)
        startable = int(std::min<qint64>(startable, m_limit - m_started));
    return startable - int(m_waiting.size());
}

void ConsumerMachine::wakeLater(ConsumerCommands &commands, std::chrono::milliseconds wait)
{
    if (m_rateTimer)
        return;
    m_rateTimer = true;
    ConsumerCommand later = command(Kind::WaitForRate);
    later.wait = wait;
    commands.append(later);
}

void ConsumerMachine::receiveIfRoom(ConsumerCommands &commands, Moment now)
{
    if (m_paused || m_databaseAway)
        return;
    if (m_running && now < m_pausedUntil)
        return wakeLater(commands, std::chrono::ceil<std::chrono::milliseconds>(m_pausedUntil - now));
    while (m_running && !m_backingOff && m_receives < MostReceives) {
        const int ahead = m_receives == 0 ? std::min(soonStarted(), int(m_waiting.size())) : 0;
        const int room = this->room() + ahead - m_asked;
        const bool aLaneWaits = m_waiting.isEmpty() && startable() > 0;
        // Whole batches, for each receive costs the same; but a lane that has nothing to do does not wait for one. A
        // second receive only where the last one found more than it could take.
        const bool worthIt = m_receives == 0 ? room > 0 && (aLaneWaits || room >= LargestReceive)
                                             : room >= LargestReceive && m_lastWasFull;
        if (!worthIt)
            return;
        ConsumerCommand receive = command(Kind::Receive);
        receive.count = std::min(LargestReceive, room);
        receive.longPoll = m_receives == 0;
        if (m_receives == 0) {
            m_receivingSince = now;
            m_ahead = ahead;
        }
        ++m_receives;
        m_asked += receive.count;
        commands.append(receive);
    }
}

void ConsumerMachine::stoppedIfIdle(ConsumerCommands &commands)
{
    if (!m_stopping || m_receives > 0 || !m_busy.isEmpty())
        return;
    m_stopping = false;
    commands.append(command(Kind::Stopped));
}

void ConsumerMachine::giveBackWaiting(ConsumerCommands &commands)
{
    for (const Waiting &waiting : std::as_const(m_waiting)) {
        ConsumerCommand back = command(Kind::GiveBack);
        back.message = waiting.message;
        commands.append(back);
    }
    m_waiting.clear();
}

ConsumerCommands ConsumerMachine::start(Moment now)
{
    ConsumerCommands commands;
    m_running = true;
    m_stopping = false;
    m_tokensAt = now;
    m_databaseAway = false; // the first delivery will see
    for (const CrowdedOut &each : std::exchange(m_crowdedOut, {}))
        m_free.prepend(each.lane);
    receiveIfRoom(commands, now);
    return commands;
}

ConsumerCommands ConsumerMachine::stop()
{
    ConsumerCommands commands;
    m_running = false;
    m_stopping = true;
    m_backingOff = false;
    m_failures = 0;
    m_lastWasFull = false;
    if (m_receives > 0)
        commands.append(command(Kind::AbortReceives));
    giveBackWaiting(commands);
    stoppedIfIdle(commands);
    return commands;
}

bool ConsumerMachine::isHeld(const QString &messageId) const
{
    return std::any_of(m_busy.cbegin(), m_busy.cend(),
                       [&](const Busy &busy) { return busy.with.message.messageId == messageId; })
        || std::any_of(m_reserved.cbegin(), m_reserved.cend(),
                       [&](const Waiting &next) { return next.message.messageId == messageId; })
        || std::any_of(m_waiting.cbegin(), m_waiting.cend(),
                       [&](const Waiting &waiting) { return waiting.message.messageId == messageId; });
}

ConsumerCommands ConsumerMachine::received(const QList<Message> &messages, int asked, Moment now)
{
    ConsumerCommands commands;
    --m_receives;
    m_asked -= asked;
    m_failures = 0;
    const bool isFull = messages.size() >= asked;
    if (m_receives == 0 && m_lastWasFull && isFull) // neither had anything to wait for
        learnFetch(now - m_receivingSince);
    m_lastWasFull = isFull;
    for (const Message &message : messages) {
        ConsumerCommand next;
        next.message = message;
        if (isHeld(message.messageId)) {
            // Its visibility ran out while a lane has it, or the queue handed it out twice: one delivery is enough.
            next.kind = Kind::NewerHandle;
            const auto waiting = std::find_if(m_waiting.begin(), m_waiting.end(), [&](const Waiting &each) {
                return each.message.messageId == message.messageId;
            });
            if (waiting != m_waiting.end())
                waiting->message.receiptHandle = message.receiptHandle;
        } else if (!m_running || m_databaseAway || room() + m_ahead <= 0) {
            next.kind = Kind::GiveBack;
        } else {
            next.kind = Kind::Hold;
            m_waiting.append({message, now});
        }
        commands.append(next);
    }
    if (m_receives == 0)
        m_ahead = 0;
    dispatch(commands, now);
    receiveIfRoom(commands, now);
    stoppedIfIdle(commands);
    return commands;
}

/// Its message is taken by a lane that has a connection. Only where that lasts for too long others get it.
void ConsumerMachine::crowdOut(ConsumerCommands &commands, int lane, const Waiting &with, Moment now)
{
    --m_started;
    m_free.removeOne(lane);
    const std::chrono::milliseconds pause = m_busy.isEmpty() && m_free.isEmpty() ? TryAlone : TryAgain;
    m_crowdedOut.append({lane, now + pause});
    wakeLater(commands, pause);
    if (m_running && !m_databaseAway && now - with.receivedAt < m_visibility * 8 / 10) {
        m_waiting.prepend(with);
        return;
    }
    ConsumerCommand back = command(Kind::GiveBack);
    back.message = with.message;
    commands.append(back);
}

void ConsumerMachine::restart(ConsumerCommands &commands, int lane, Moment now)
{
    m_free.removeOne(lane);
    m_warm.remove(lane);
    m_restarting.append({lane, now + RestartTime});
    wakeLater(commands, RestartTime);
}

void ConsumerMachine::letBackIn(Moment now)
{
    while (!m_restarting.isEmpty() && m_restarting.first().until <= now)
        m_free.append(m_restarting.takeFirst().lane);
    while (!m_crowdedOut.isEmpty() && (m_crowdedOut.first().until <= now || (m_free.isEmpty() && m_busy.isEmpty())))
        m_free.prepend(m_crowdedOut.takeFirst().lane); // the last one that is asked
}

void ConsumerMachine::dispatch(ConsumerCommands &commands, Moment now)
{
    while (m_running && !m_databaseAway && startable() > 0 && !m_waiting.isEmpty()) {
        if (const auto wait = waitForRate(now))
            return wakeLater(commands, *wait);
        const Waiting waiting = m_waiting.takeFirst();
        ConsumerCommand next = command(Kind::Dispatch);
        next.message = waiting.message;
        next.receivedAt = waiting.receivedAt;
        next.lane = m_free.takeLast(); // the one that worked last: its connections are open
        m_busy.insert(next.lane, {waiting, now});
        ++m_started;
        commands.append(next);
    }
}

std::optional<std::chrono::milliseconds> ConsumerMachine::waitForRate(Moment now)
{
    using std::chrono::ceil;
    using std::chrono::milliseconds;
    if (now < m_pausedUntil)
        return ceil<milliseconds>(m_pausedUntil - now);
    if (m_mailPace.perSecond <= 0)
        return std::nullopt;
    const double seconds = double((now - m_tokensAt).count()) / 1e9;
    m_tokensAt = now;
    // What was not used in a second is gone: no burst beyond that.
    m_tokens = std::min(std::max(1.0, m_mailPace.perSecond), m_tokens + seconds * m_mailPace.perSecond);
    if (m_tokens < 1)
        return std::max(1ms, milliseconds(qint64(std::ceil(1000 * (1 - m_tokens) / m_mailPace.perSecond))));
    m_tokens -= 1;
    return std::nullopt;
}

ConsumerCommands ConsumerMachine::receiveFailed(const Error &error, int asked, double random, Moment now)
{
    ConsumerCommands commands;
    --m_receives;
    m_asked -= asked;
    m_lastWasFull = false;
    if (m_running && error.kind != ErrorKind::Aborted) {
        if (!m_backingOff) {
            const auto ceiling = std::min<std::chrono::milliseconds>(30s, 1s * (1 << std::min(m_failures, 5)));
            ++m_failures;
            m_backingOff = true;
            ConsumerCommand wait = command(Kind::Wait);
            // Between half and the whole of it: jitter without ever turning into a tight loop.
            wait.wait =
                std::chrono::milliseconds(qint64(double(ceiling.count()) * (0.5 + 0.5 * std::clamp(random, 0.0, 1.0))));
            commands.append(wait);
        }
    } else {
        dispatch(commands, now);
        receiveIfRoom(commands, now);
    }
    stoppedIfIdle(commands);
    return commands;
}

ConsumerCommands ConsumerMachine::goOn(Moment now)
{
    ConsumerCommands commands;
    letBackIn(now);
    if (m_running && !m_restarting.isEmpty())
        wakeLater(commands, std::chrono::ceil<std::chrono::milliseconds>(m_restarting.first().until - now));
    if (m_running && !m_crowdedOut.isEmpty())
        wakeLater(commands, TryAgain);
    dispatch(commands, now);
    receiveIfRoom(commands, now);
    return commands;
}

ConsumerCommands ConsumerMachine::timerFired(Moment now)
{
    m_backingOff = false;
    return goOn(now);
}

ConsumerCommands ConsumerMachine::rateTimerFired(Moment now)
{
    m_rateTimer = false;
    return goOn(now);
}

ConsumerCommands ConsumerMachine::databaseLost()
{
    ConsumerCommands commands;
    m_databaseAway = true;
    if (m_receives > 0)
        commands.append(command(Kind::AbortReceives));
    giveBackWaiting(commands);
    return commands;
}

ConsumerCommands ConsumerMachine::databaseBack(Moment now)
{
    m_databaseAway = false;
    return goOn(now);
}

ConsumerCommands ConsumerMachine::resume(Moment now)
{
    ConsumerCommands commands;
    m_paused = false;
    m_backingOff = false;
    m_lastWasFull = false;
    receiveIfRoom(commands, now);
    return commands;
}

ConsumerCommands ConsumerMachine::receiveRefused(int asked)
{
    ConsumerCommands commands;
    --m_receives;
    m_asked -= asked;
    m_paused = true;
    m_failures = 0;
    stoppedIfIdle(commands);
    return commands;
}

void ConsumerMachine::learn(int lane, const Busy &busy, Ended ended, Moment at, Moment mail)
{
    m_throttled = 0;
    learnPace(at - busy.since);
    if (ended == Ended::Mailed && m_warm.contains(lane))
        watch(at - busy.since, mail, at);
    m_warm.insert(lane);
}

QList<ConsumerMachine::Waiting> ConsumerMachine::offerable(Moment now) const
{
    // Each mail under a rate limit needs a token, which is dispatch()'s to give.
    const bool isPaced = m_mailPace.perSecond > 0 || now < m_pausedUntil;
    if (!m_running || m_databaseAway || isPaced || m_busy.size() > m_allowed)
        return {};
    qsizetype count = m_waiting.size();
    if (m_limit > 0)
        count = qsizetype(std::min<qint64>(count, m_limit - m_started - m_reserved.size()));
    return m_waiting.first(std::max<qsizetype>(0, count));
}

ConsumerCommand ConsumerMachine::wentOn(int lane, Ended ended, const QString &messageId, Moment at, Moment mail)
{
    Busy &busy = m_busy[lane];
    learn(lane, busy, ended, at, mail);
    auto next = m_reserved.contains(lane) ? std::optional(m_reserved.take(lane)) : takeWaiting(messageId);
    Q_ASSERT(next && next->message.messageId == messageId);
    busy = {std::move(*next), at};
    ++m_started;
    ConsumerCommand begun = command(Kind::Taken);
    begun.lane = lane;
    begun.message = busy.with.message;
    return begun;
}

void ConsumerMachine::reserved(int lane, const QString &messageId)
{
    if (auto next = takeWaiting(messageId))
        m_reserved.insert(lane, std::move(*next));
}

std::optional<ConsumerMachine::Waiting> ConsumerMachine::takeWaiting(const QString &messageId)
{
    for (qsizetype i = 0; i < m_waiting.size(); ++i) {
        if (m_waiting[i].message.messageId == messageId)
            return m_waiting.takeAt(i);
    }
    return std::nullopt;
}

ConsumerCommands ConsumerMachine::caughtUp(Moment now)
{
    ConsumerCommands commands;
    dispatch(commands, now);
    receiveIfRoom(commands, now);
    return commands;
}

ConsumerCommands ConsumerMachine::laneFree(int lane, Ended ended, Moment now, Moment mail)
{
    ConsumerCommands commands;
    const Busy busy = m_busy.take(lane);
    if (m_reserved.contains(lane))
        m_waiting.prepend(m_reserved.take(lane));
    if (!m_running || m_databaseAway)
        giveBackWaiting(commands);
    if (!m_free.contains(lane))
        m_free.append(lane);
    switch (ended) {
    case Ended::NoConnection:
        if (m_mailPace.perSecond > 0)
            m_tokens += 1;
        crowdOut(commands, lane, busy.with, now);
        break;
    case Ended::Crashed:
        restart(commands, lane, now);
        break;
    case Ended::NoMail:
        if (m_mailPace.perSecond > 0)
            m_tokens += 1; // it was taken for a mail
        [[fallthrough]];
    case Ended::Mailed:
        learn(lane, busy, ended, now, mail);
        break;
    case Ended::Throttled:
        m_pausedUntil = now + std::min<std::chrono::milliseconds>(60s, 1s * (1 << std::min(m_throttled, 6)));
        ++m_throttled;
        [[fallthrough]];
    case Ended::GivenBack:
        // Whoever waits here would wait for long: others may have it.
        m_pace = 0;
        giveBackWaiting(commands);
        break;
    }
    dispatch(commands, now);
    receiveIfRoom(commands, now);
    stoppedIfIdle(commands);
    return commands;
}

} // namespace sendonce
