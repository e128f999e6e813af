#include "worker/consume/consumermachine.h"

#include <algorithm>

namespace sendonce {

using Kind = ConsumerCommand::Kind;

namespace {

ConsumerCommand command(Kind kind)
{
    ConsumerCommand result;
    result.kind = kind;
    return result;
}

} // namespace

ConsumerMachine::ConsumerMachine(int lanes)
{
    for (int lane = 1; lane <= lanes; ++lane)
        m_free.append(lane);
}

void ConsumerMachine::receiveIfRoom(ConsumerCommands &commands)
{
    if (!hasRoom() || m_waiting || m_paused || m_databaseAway)
        return;
    m_receiving = true;
    ConsumerCommand receive = command(Kind::Receive);
    receive.count = std::min(10, int(m_free.size()));
    commands.append(receive);
}

void ConsumerMachine::stoppedIfIdle(ConsumerCommands &commands)
{
    if (!m_stopping || m_receiving || !m_busy.isEmpty())
        return;
    m_stopping = false;
    commands.append(command(Kind::Stopped));
}

ConsumerCommands ConsumerMachine::start()
{
    ConsumerCommands commands;
    m_running = true;
    m_stopping = false;
    m_databaseAway = false; // the first delivery will see
    receiveIfRoom(commands);
    return commands;
}

ConsumerCommands ConsumerMachine::stop()
{
    ConsumerCommands commands;
    m_running = false;
    m_stopping = true;
    m_waiting = false;
    m_failures = 0;
    if (m_receiving)
        commands.append(command(Kind::AbortReceive));
    stoppedIfIdle(commands);
    return commands;
}

ConsumerCommands ConsumerMachine::received(const QList<Message> &messages)
{
    ConsumerCommands commands;
    m_receiving = false;
    m_failures = 0;
    for (const Message &message : messages) {
        ConsumerCommand next;
        next.message = message;
        if (std::find(m_busy.cbegin(), m_busy.cend(), message.messageId) != m_busy.cend()) {
            // Its visibility ran out while a lane has it, or the queue handed it out twice: one delivery is enough.
            next.kind = Kind::NewerHandle;
        } else if (!m_running || m_databaseAway || m_free.isEmpty()) {
            next.kind = Kind::GiveBack;
        } else {
            next.kind = Kind::Dispatch;
            next.lane = m_free.takeFirst();
            m_busy.insert(next.lane, message.messageId);
        }
        commands.append(next);
    }
    receiveIfRoom(commands);
    stoppedIfIdle(commands);
    return commands;
}

ConsumerCommands ConsumerMachine::receiveFailed(const Error &error, double random)
{
    ConsumerCommands commands;
    m_receiving = false;
    if (m_running && error.kind != ErrorKind::Aborted) {
        using namespace std::chrono_literals;
        const auto ceiling = std::min<std::chrono::milliseconds>(30s, 1s * (1 << std::min(m_failures, 5)));
        ++m_failures;
        m_waiting = true;
        ConsumerCommand wait = command(Kind::Wait);
        // Between half and the whole of it: jitter without ever turning into a tight loop.
        wait.wait =
            std::chrono::milliseconds(qint64(double(ceiling.count()) * (0.5 + 0.5 * std::clamp(random, 0.0, 1.0))));
        commands.append(wait);
    } else {
        receiveIfRoom(commands);
    }
    stoppedIfIdle(commands);
    return commands;
}

ConsumerCommands ConsumerMachine::timerFired()
{
    ConsumerCommands commands;
    m_waiting = false;
    receiveIfRoom(commands);
    return commands;
}

ConsumerCommands ConsumerMachine::databaseLost()
{
    ConsumerCommands commands;
    m_databaseAway = true;
    if (m_receiving)
        commands.append(command(Kind::AbortReceive));
    return commands;
}

ConsumerCommands ConsumerMachine::databaseBack()
{
    ConsumerCommands commands;
    m_databaseAway = false;
    receiveIfRoom(commands);
    return commands;
}

ConsumerCommands ConsumerMachine::resume()
{
    ConsumerCommands commands;
    m_paused = false;
    m_waiting = false;
    receiveIfRoom(commands);
    return commands;
}

ConsumerCommands ConsumerMachine::receiveRefused()
{
    ConsumerCommands commands;
    m_receiving = false;
    m_paused = true;
    m_failures = 0;
    stoppedIfIdle(commands);
    return commands;
}

ConsumerCommands ConsumerMachine::laneFree(int lane)
{
    ConsumerCommands commands;
    m_busy.remove(lane);
    if (!m_free.contains(lane)) {
        m_free.append(lane);
        std::sort(m_free.begin(), m_free.end());
    }
    receiveIfRoom(commands);
    stoppedIfIdle(commands);
    return commands;
}

} // namespace sendonce
