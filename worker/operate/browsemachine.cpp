#include "worker/operate/browsemachine.h"

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr int BatchSize = 10;
constexpr int FailuresAtTheEnd = 3;
// SQS asks all its servers in a long poll, yet may still answer with nothing: one empty answer is no proof.
constexpr int EmptyAtTheEnd = 2;

} // namespace

BrowseMachine::BrowseMachine(Limits limits, QSet<QString> wanted) : m_limits(limits), m_wanted(std::move(wanted)) { }

BrowseCommands BrowseMachine::start()
{
    BrowseCommands commands;
    receiveMore(commands);
    return commands;
}

void BrowseMachine::receiveMore(BrowseCommands &commands)
{
    while (!m_ending && !m_asking && m_waiting == 0 && m_receiving.size() < m_limits.receives) {
        const qsizetype room = m_limits.held - m_held.size() - m_asked;
        const int count = int(std::min<qsizetype>(BatchSize, room));
        if (count <= 0) {
            if (m_receiving.isEmpty()) {
                m_full = m_ending = true;
                break;
            }
            return; // an answer makes room, or shows that there is none
        }
        m_receiving.insert(++m_started, count);
        m_asked += count;
        commands.append({BrowseCommand::Kind::Receive, m_started, count, {}, {}});
    }
    endIfIdle(commands);
}

BrowseCommands BrowseMachine::received(quint64 receive, const QList<Seen> &messages, std::chrono::milliseconds now,
                                       QList<qsizetype> *fresh)
{
    BrowseCommands commands;
    m_asked -= m_receiving.take(receive);
    m_failures = 0;
    for (qsizetype i = 0; i < messages.size(); ++i) {
        const Seen &seen = messages[i];
        const auto known = m_places.constFind(seen.messageId);
        if (known != m_places.cend()) {
            m_held[known.value()].handle = seen.receiptHandle.toLatin1();
            m_held[known.value()].hiddenSince = now;
            continue;
        }
        const bool isWanted = m_wanted.contains(seen.messageId);
        m_found += isWanted ? 1 : 0;
        m_places.insert(seen.messageId, m_held.size());
        m_held.append({seen.receiptHandle.toLatin1(), now, isWanted});
        if (fresh)
            fresh->append(i);
    }
    if (!messages.isEmpty()) {
        m_lastFull = m_started;
        m_empty = 0;
    } else if (receive > m_lastFull) {
        ++m_empty;
    }
    if (!m_wanted.isEmpty() && m_found == m_wanted.size())
        m_ending = true;
    if (!m_ending && m_empty >= EmptyAtTheEnd) {
        if (m_wanted.isEmpty()) {
            m_ending = true;
        } else if (!m_asking) {
            m_asking = true;
            commands.append({BrowseCommand::Kind::Missing, 0, 0, {}, {}});
            return commands;
        }
    }
    receiveMore(commands);
    return commands;
}

BrowseCommands BrowseMachine::receiveFailed(quint64 receive, const Error &error)
{
    BrowseCommands commands;
    m_asked -= m_receiving.take(receive);
    if (error.kind == ErrorKind::Unreachable)
        ++m_lost;
    const bool isPassing = error.kind == ErrorKind::Unreachable || error.kind == ErrorKind::Throttled;
    ++m_failures;
    if (!m_ending && (!isPassing || m_failures >= FailuresAtTheEnd)) {
        m_error = error.text;
        m_ending = true;
    }
    if (!m_ending) {
        ++m_waiting;
        commands.append({BrowseCommand::Kind::Wait, 0, 0, {}, 500ms * m_failures});
    }
    endIfIdle(commands);
    return commands;
}

BrowseCommands BrowseMachine::waited()
{
    BrowseCommands commands;
    --m_waiting;
    receiveMore(commands);
    return commands;
}

BrowseCommands BrowseMachine::tick(std::chrono::milliseconds now)
{
    BrowseCommands commands;
    if (m_finished || m_releasing)
        return commands;
    QList<qsizetype> due;
    const auto add = [&] {
        if (due.isEmpty())
            return;
        ++m_renewing;
        commands.append({BrowseCommand::Kind::Renew, 0, 0, due, {}});
        due.clear();
    };
    for (qsizetype place = 0; place < m_held.size() && m_renewing < m_limits.batches; ++place) {
        Held &held = m_held[place];
        if (now - held.hiddenSince < m_limits.visibility / 2)
            continue;
        held.hiddenSince = now; // refused: somebody else has it now, and it is seen again when they let go
        due.append(place);
        if (due.size() == BatchSize)
            add();
    }
    add();
    return commands;
}

BrowseCommands BrowseMachine::renewed()
{
    --m_renewing;
    BrowseCommands commands;
    endIfIdle(commands);
    return commands;
}

BrowseCommands BrowseMachine::cancel()
{
    m_cancelled = true;
    return end();
}

BrowseCommands BrowseMachine::goOn()
{
    m_asking = false;
    m_empty = 0;
    BrowseCommands commands;
    receiveMore(commands);
    return commands;
}

BrowseCommands BrowseMachine::end()
{
    m_asking = false;
    m_ending = true;
    BrowseCommands commands;
    endIfIdle(commands);
    return commands;
}

void BrowseMachine::endIfIdle(BrowseCommands &commands)
{
    // A receive under way is waited for: aborted, it could hide what nobody then knows of.
    if (!m_ending || !m_receiving.isEmpty() || m_renewing > 0 || m_releasing || m_finished)
        return;
    m_releasing = true;
    for (qsizetype place = 0; place < m_held.size(); ++place) {
        if (!m_held[place].isWanted)
            m_toRelease.append(place);
    }
    releaseMore(commands);
}

void BrowseMachine::releaseMore(BrowseCommands &commands)
{
    while (m_nextRelease < m_toRelease.size() && m_releasingBatches < m_limits.batches) {
        const QList<qsizetype> batch = m_toRelease.mid(m_nextRelease, BatchSize);
        m_nextRelease += batch.size();
        ++m_releasingBatches;
        commands.append({BrowseCommand::Kind::Release, 0, 0, batch, {}});
    }
    if (m_nextRelease == m_toRelease.size() && m_releasingBatches == 0 && !m_finished) {
        m_finished = true;
        commands.append({BrowseCommand::Kind::Finished, 0, 0, {}, {}});
    }
}

BrowseCommands BrowseMachine::released(qsizetype refused)
{
    --m_releasingBatches;
    m_stillHidden += refused;
    BrowseCommands commands;
    releaseMore(commands);
    return commands;
}

QStringList BrowseMachine::missing() const
{
    QStringList ids;
    for (const QString &id : m_wanted) {
        if (!m_places.contains(id))
            ids.append(id);
    }
    return ids;
}

} // namespace sendonce
