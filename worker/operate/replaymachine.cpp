#include "worker/operate/replaymachine.h"

#include <algorithm>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr int BatchSize = 10; // sqs.md, 7: entries of a batch, and their sum
constexpr qint64 BatchBytes = 1'048'576;
constexpr int MaxSeeks = 3;

using State = ReplayItem::State;
using Kind = ReplayCommand::Kind;

} // namespace

ReplayMachine::ReplayMachine(Settings settings, QList<Row> rows)
    : m_settings(settings)
    , m_rows(std::move(rows))
    , m_seeks(m_rows.size(), 0)
{
    for (int row = 0; row < m_rows.size(); ++row) {
        const Row &each = m_rows[row];
        const bool isOpen = each.state == State::Sending || each.state == State::CopyLeft;
        const bool isSought = isOpen && !each.canBeSent;
        m_steps.append(!isOpen ? Step::Over : isSought ? Step::ToSeek : Step::Waiting);
        if (isSought)
            m_toSeek.append(row);
    }
    if (!m_settings.canary)
        return;
    // The best canary is one that is expected to send.
    for (int row = 0; row < m_rows.size() && m_canary < 0; ++row) {
        if (m_rows[row].state == State::Sending && m_rows[row].verdict == Verdict::NotHandled)
            m_canary = row;
    }
    for (int row = 0; row < m_rows.size() && m_canary < 0; ++row) {
        if (m_rows[row].state == State::Sending)
            m_canary = row;
    }
}

ReplayCommands ReplayMachine::start(std::chrono::milliseconds now)
{
    ReplayCommands commands;
    seekMore(commands);
    next(commands, now);
    finishIfDone(commands);
    return commands;
}

void ReplayMachine::next(ReplayCommands &commands, std::chrono::milliseconds now)
{
    while (m_state == RunState::Running && m_underWay < m_settings.batches) {
        if (m_settings.perSecond > 0 && m_nextAt > now) {
            if (!m_timerArmed) {
                m_timerArmed = true;
                const auto wait = std::chrono::ceil<std::chrono::milliseconds>(m_nextAt - now);
                commands.append({Kind::Wait, {}, wait});
            }
            return;
        }
        const bool isCanary = m_canary >= 0;
        qsizetype most = BatchSize;
        if (m_settings.perSecond > 0)
            most = std::clamp<qsizetype>(qsizetype(m_settings.perSecond / 4), 1, BatchSize); // no bursts
        QList<int> batch;
        qint64 bytes = 0;
        const auto fits = [&](int row) {
            return batch.isEmpty()
                || (batch.size() < most && bytes + m_rows[row].bytes <= BatchBytes
                    && m_rows[row].state == m_rows[batch.first()].state);
        };
        const auto take = [&](int row) {
            batch.append(row);
            bytes += m_rows[row].bytes;
            m_steps[row] = Step::UnderWay;
        };
        if (isCanary) {
            if (m_steps[m_canary] != Step::Waiting)
                return;
            m_again.removeAll(m_canary);
            take(m_canary);
        }
        while (!isCanary && !m_again.isEmpty() && fits(m_again.first()))
            take(m_again.takeFirst());
        while (!isCanary && m_again.isEmpty() && m_next < m_rows.size()) {
            if (m_steps[m_next] == Step::Waiting) {
                if (!fits(m_next))
                    break;
                take(m_next);
            }
            ++m_next;
        }
        if (batch.isEmpty())
            return;
        ++m_underWay;
        if (m_settings.perSecond > 0) {
            m_nextAt = std::max<decltype(m_nextAt)>(m_nextAt, now)
                + std::chrono::duration<double, std::milli>(1000.0 * double(batch.size()) / m_settings.perSecond);
        }
        commands.append({Kind::Lock, batch, {}});
        if (isCanary)
            setState(commands, RunState::AwaitingCanary);
    }
}

void ReplayMachine::tell(ReplayCommands &commands, const QList<int> &rows, State state, const QString &text)
{
    if (rows.isEmpty())
        return;
    for (const int row : rows) {
        m_rows[row].state = state;
        m_rows[row].text = text;
    }
    commands.append({Kind::Tell, rows, {}});
}

void ReplayMachine::fail(ReplayCommands &commands, int row, const QString &text)
{
    m_steps[row] = Step::Over;
    tell(commands, {row}, State::Failed, text);
    countFailure(commands);
    if (row == m_canary)
        halt(commands, u"the first one could not be replayed: %1"_s.arg(text));
}

void ReplayMachine::countFailure(ReplayCommands &commands)
{
    ++m_failures;
    if (m_settings.stopAfter > 0 && m_failures >= m_settings.stopAfter
        && (m_state == RunState::Running || m_state == RunState::AwaitingCanary))
        halt(commands, u"stopped after %1 failures"_s.arg(m_failures));
}

void ReplayMachine::halt(ReplayCommands &commands, const QString &text)
{
    if (m_state == RunState::Running || m_state == RunState::AwaitingCanary || m_state == RunState::Paused)
        setState(commands, RunState::Halted, text);
}

void ReplayMachine::setState(ReplayCommands &commands, RunState state, const QString &text)
{
    m_state = state;
    m_text = text;
    commands.append({Kind::StateChanged, {}, {}});
}

ReplayCommands ReplayMachine::pause()
{
    ReplayCommands commands;
    if (m_state == RunState::Running || m_state == RunState::AwaitingCanary)
        setState(commands, RunState::Paused);
    return commands;
}

ReplayCommands ReplayMachine::resume(std::chrono::milliseconds now)
{
    ReplayCommands commands;
    if (m_state != RunState::Paused && m_state != RunState::Halted)
        return commands;
    m_failures = 0;
    // A canary that failed has been seen by the person who goes on; one still under way is waited for.
    if (m_canary >= 0 && (m_steps[m_canary] == Step::Over || m_state == RunState::Halted)
        && m_rows[m_canary].state != State::Sending)
        m_canary = -1;
    const bool awaits = m_canary >= 0 && m_steps[m_canary] != Step::Waiting && m_steps[m_canary] != Step::ToSeek;
    setState(commands, awaits ? RunState::AwaitingCanary : RunState::Running);
    seekMore(commands);
    next(commands, now);
    finishIfDone(commands);
    return commands;
}

ReplayCommands ReplayMachine::cancel()
{
    ReplayCommands commands;
    if (m_state == RunState::Finished || m_state == RunState::Cancelled)
        return commands;
    QList<int> left;
    for (int row = 0; row < m_rows.size(); ++row) {
        if (m_steps[row] != Step::Waiting && m_steps[row] != Step::ToSeek)
            continue; // over, or its answer is awaited
        m_steps[row] = Step::Over;
        if (m_rows[row].state == State::Sending)
            left.append(row);
    }
    m_again.clear();
    m_toSeek.clear();
    tell(commands, left, State::Left, u"not replayed: the run was cancelled"_s);
    setState(commands, RunState::Cancelled);
    return commands;
}

ReplayCommands ReplayMachine::waited(std::chrono::milliseconds now)
{
    m_timerArmed = false;
    ReplayCommands commands;
    next(commands, now);
    return commands;
}

void ReplayMachine::seekMore(ReplayCommands &commands)
{
    if (m_seeking || m_toSeek.isEmpty() || (m_state != RunState::Running && m_state != RunState::AwaitingCanary))
        return;
    m_seeking = true;
    for (const int row : std::as_const(m_toSeek))
        m_steps[row] = Step::Seeking;
    commands.append({Kind::Seek, std::exchange(m_toSeek, {}), {}});
}

void ReplayMachine::batchOver(ReplayCommands &commands, std::chrono::milliseconds now)
{
    --m_underWay;
    seekMore(commands);
    next(commands, now);
    finishIfDone(commands);
}

void ReplayMachine::finishIfDone(ReplayCommands &commands)
{
    if (m_state != RunState::Running && m_state != RunState::AwaitingCanary)
        return;
    const bool isDone = std::all_of(m_steps.cbegin(), m_steps.cend(), [](Step step) { return step == Step::Over; });
    if (isDone && isIdle())
        setState(commands, RunState::Finished);
}

ReplayCommands ReplayMachine::locked(const Entries &entries, std::chrono::milliseconds now)
{
    ReplayCommands commands;
    QList<int> locked, copies, kept, left;
    for (const Entry &entry : entries) {
        if (entry.ok) {
            if (m_rows[entry.row].state == State::CopyLeft)
                copies.append(entry.row);
            else if (m_state == RunState::Cancelled)
                left.append(entry.row);
            else if (m_settings.act == Act::Delete)
                kept.append(entry.row);
            else
                locked.append(entry.row);
        } else if (m_seeks[entry.row] >= MaxSeeks) {
            fail(commands, entry.row, u"could not be locked, nothing was sent: %1; browse again"_s.arg(entry.text));
        } else if (m_state == RunState::Cancelled) {
            left.append(entry.row);
        } else {
            m_steps[entry.row] = Step::ToSeek;
            m_toSeek.append(entry.row);
        }
    }
    if (!left.isEmpty()) {
        for (const int row : left)
            m_steps[row] = Step::Over;
        commands.append({Kind::Unlock, left, {}});
        tell(commands, left, State::Left, u"not replayed: the run was cancelled"_s);
    }
    if (!copies.isEmpty())
        commands.append({Kind::Delete, copies, {}});
    else if (!kept.isEmpty())
        commands.append({Kind::Note, kept, {}});
    else if (!locked.isEmpty())
        commands.append({Kind::Send, locked, {}});
    else
        batchOver(commands, now);
    seekMore(commands);
    return commands;
}

ReplayCommands ReplayMachine::lockFailed(const QList<int> &rows, const QString &error)
{
    ReplayCommands commands;
    for (const int row : rows)
        m_steps[row] = Step::Waiting;
    m_again = rows + m_again;
    --m_underWay;
    if (m_state == RunState::Cancelled) {
        for (const int row : rows)
            m_steps[row] = Step::Over;
        m_again.clear();
        tell(commands, rows, State::Left, u"not replayed: the run was cancelled"_s);
        return commands;
    }
    halt(commands, u"the dead letter queue fails, nothing was sent of these: %1"_s.arg(error));
    return commands;
}

ReplayCommands ReplayMachine::sendFailed(const QList<int> &rows, const QString &error)
{
    ReplayCommands commands;
    commands.append({Kind::Unlock, rows, {}});
    const ReplayCommands more = lockFailed(rows, error);
    commands += more;
    if (m_state == RunState::Halted)
        m_text =
            u"the source queue fails, the letters stay where they are (perhaps some were sent: then the claim absorbs the second one): %1"_s
                .arg(error);
    return commands;
}

ReplayCommands ReplayMachine::sent(const Entries &entries, std::chrono::milliseconds now)
{
    ReplayCommands commands;
    QList<int> sent, refused;
    for (const Entry &entry : entries) {
        if (entry.ok) {
            sent.append(entry.row);
            continue;
        }
        refused.append(entry.row);
        fail(commands, entry.row, u"could not be sent, it stays a dead letter: %1"_s.arg(entry.text));
    }
    if (!refused.isEmpty())
        commands.append({Kind::Unlock, refused, {}});
    if (sent.isEmpty())
        batchOver(commands, now);
    else
        commands.append({Kind::Note, sent, {}});
    return commands;
}

ReplayCommands ReplayMachine::noted(const QList<int> &rows, const QString &error, std::chrono::milliseconds now)
{
    ReplayCommands commands;
    if (error.isEmpty()) {
        commands.append({Kind::Delete, rows, {}});
        return commands;
    }
    for (const int row : rows)
        m_steps[row] = Step::Over;
    if (m_settings.act == Act::Delete) {
        commands.append({Kind::Unlock, rows, {}});
        tell(commands, rows, State::Failed, u"not deleted, for its copy could not be kept: %1"_s.arg(error));
    } else {
        commands.append({Kind::Unlock, rows, {}});
        tell(commands, rows, State::CopyLeft, u"replayed, but not noted, so its dead copy was left: %1"_s.arg(error));
    }
    halt(commands, error);
    batchOver(commands, now);
    return commands;
}

ReplayCommands ReplayMachine::deleted(const Entries &entries, std::chrono::milliseconds now)
{
    ReplayCommands commands;
    QList<int> gone, stay;
    for (const Entry &entry : entries) {
        m_steps[entry.row] = Step::Over;
        if (entry.ok) {
            gone.append(entry.row);
            continue;
        }
        stay.append(entry.row);
        if (m_settings.act == Act::Delete) {
            fail(commands, entry.row, u"not deleted: %1"_s.arg(entry.text));
        } else {
            tell(commands, {entry.row}, State::CopyLeft,
                 u"replayed, but the dead copy could not be deleted: %1"_s.arg(entry.text));
            countFailure(commands);
        }
    }
    if (!stay.isEmpty())
        commands.append({Kind::Unlock, stay, {}});
    if (m_settings.act == Act::Delete)
        tell(commands, gone, State::Deleted, u"deleted, a copy is kept"_s);
    else
        tell(commands, gone, State::Replayed, u"replayed, waiting for its outcome"_s);
    batchOver(commands, now);
    return commands;
}

ReplayCommands ReplayMachine::sought(const QList<Sought> &rows, const QString &error, std::chrono::milliseconds now)
{
    ReplayCommands commands;
    m_seeking = false;
    QList<int> again;
    for (const Sought &sought : rows) {
        const int row = sought.row;
        ++m_seeks[row];
        const bool wasSent = m_rows[row].state == State::CopyLeft;
        if (sought.where == Sought::Where::Here) {
            m_rows[row].canBeSent = true;
            m_rows[row].bytes = std::max(m_rows[row].bytes, sought.bytes);
            if (m_state == RunState::Cancelled && !wasSent) {
                m_steps[row] = Step::Over;
                commands.append({Kind::Unlock, {row}, {}});
                tell(commands, {row}, State::Left, u"not replayed: the run was cancelled"_s);
                continue;
            }
            m_steps[row] = Step::Waiting;
            again.append(row);
        } else if (!error.isEmpty()) {
            if (m_state == RunState::Cancelled) {
                m_steps[row] = Step::Over;
                if (!wasSent)
                    tell(commands, {row}, State::Left, u"not replayed: the run was cancelled"_s);
                continue;
            }
            m_steps[row] = Step::ToSeek; // nothing is known of it
            m_toSeek.append(row);
        } else if (wasSent) {
            m_steps[row] = Step::Over;
            tell(commands, {row}, State::Replayed, u"replayed, waiting for its outcome"_s);
        } else if (sought.where == Sought::Where::Replayed) {
            m_steps[row] = Step::Over;
            tell(commands, {row}, State::Replayed, sought.text);
        } else {
            fail(commands, row, sought.text);
        }
    }
    m_again = again + m_again;
    if (!error.isEmpty())
        halt(commands, u"the dead letter queue could not be looked through: %1"_s.arg(error));
    seekMore(commands);
    next(commands, now);
    finishIfDone(commands);
    return commands;
}

bool ReplayMachine::isExpected(int row) const
{
    const State state = m_rows[row].state;
    switch (m_rows[row].verdict) {
    case Verdict::NotHandled:
        return state == State::Mailed;
    case Verdict::Handled:
        return state == State::Skipped;
    case Verdict::InDoubt:
    case Verdict::Unknown:
        return state == State::Mailed || state == State::Skipped;
    case Verdict::Invalid:
        return state == State::DeadAgain;
    }
    return false;
}

ReplayCommands ReplayMachine::outcome(int row, State state, const QString &text, std::chrono::milliseconds now)
{
    ReplayCommands commands;
    tell(commands, {row}, state, text);
    if (state == State::DeadAgain)
        countFailure(commands);
    if (row != m_canary)
        return commands;
    const bool expected = isExpected(row);
    m_canary = -1;
    if (!expected) {
        halt(commands, u"the first one ended otherwise than expected: %1"_s.arg(text));
        return commands;
    }
    if (m_state == RunState::AwaitingCanary)
        setState(commands, RunState::Running);
    next(commands, now);
    finishIfDone(commands);
    return commands;
}

ReplayCommands ReplayMachine::canaryTimedOut(const QString &text)
{
    ReplayCommands commands;
    if (m_state == RunState::AwaitingCanary)
        halt(commands, text);
    return commands;
}

ReplayProgress ReplayMachine::progress() const
{
    ReplayProgress progress;
    progress.state = m_state;
    progress.text = m_text;
    progress.total = m_rows.size();
    for (const Row &row : m_rows) {
        switch (row.state) {
        case State::Sending:
        case State::Left:
            ++progress.left;
            break;
        case State::Failed:
            ++progress.failed;
            break;
        case State::Mailed:
            ++progress.mailed;
            ++progress.done;
            break;
        case State::Skipped:
            ++progress.skipped;
            ++progress.done;
            break;
        case State::DeadAgain:
            ++progress.deadAgain;
            ++progress.done;
            break;
        case State::Replayed:
        case State::CopyLeft:
            ++progress.waiting;
            ++progress.done;
            break;
        case State::Deleted:
            ++progress.done;
            break;
        }
    }
    return progress;
}

} // namespace sendonce
