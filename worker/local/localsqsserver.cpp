#include "worker/local/localsqsserver.h"

#include <QDateTime>
#include <QLoggingCategory>
#include <QRandomGenerator>
#include <QTcpSocket>

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <climits>

using namespace Qt::StringLiterals;

namespace sendonce::local {

Q_LOGGING_CATEGORY(lcQueue, "sendonce.local.queue")

namespace {

// A purged million is thrown away in a minute, and nobody's request waits longer than a few milliseconds for it.
constexpr qsizetype DisposalRows = 200;
constexpr std::chrono::milliseconds DisposalInterval{10};
constexpr qintptr SpareDescriptors = 8;
constexpr std::chrono::milliseconds SweepInterval{1000};
constexpr std::chrono::milliseconds RetryInterval{1000};
constexpr std::chrono::milliseconds ExpiryInterval{60000}; // without traffic; every turn looks as well

qintptr lastDescriptor()
{
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? qintptr(std::min<rlim_t>(limit.rlim_cur, INT_MAX)) : INT_MAX;
}

qint64 steadyMsec()
{
#ifdef CLOCK_BOOTTIME
    constexpr clockid_t clock = CLOCK_BOOTTIME; // goes on while the machine sleeps
#else
    constexpr clockid_t clock = CLOCK_MONOTONIC;
#endif
    timespec now{};
    ::clock_gettime(clock, &now);
    return qint64(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

} // namespace

std::function<QueueTime()> systemQueueClock()
{
    const qint64 offset = QDateTime::currentMSecsSinceEpoch() - steadyMsec();
    return [offset] { return QueueTime{steadyMsec() + offset, QDateTime::currentMSecsSinceEpoch()}; };
}

LocalSqsServer::LocalSqsServer(const QString &id, QObject *parent)
    : QObject(parent)
    , m_clock(systemQueueClock())
    , m_queues([random = QRandomGenerator64::securelySeeded()]() mutable { return random.generate(); })
{
    m_identity.id = id;
    m_wakeUp.setSingleShot(true);
    m_wakeUp.setTimerType(Qt::PreciseTimer);
    m_disposal.setSingleShot(true);
    connect(&m_server, &QTcpServer::newConnection, this, &LocalSqsServer::accept);
    // The server has stopped accepting and would never begin again by itself.
    connect(&m_server, &QTcpServer::acceptError, this,
            [this] { QTimer::singleShot(SweepInterval, this, [this] { m_server.resumeAccepting(); }); });
    connect(&m_wakeUp, &QTimer::timeout, this, &LocalSqsServer::turn);
    connect(&m_disposal, &QTimer::timeout, this, &LocalSqsServer::throwAway);
    connect(&m_sweep, &QTimer::timeout, this, [this] {
        for (HttpConnection *connection : QList(m_connections))
            connection->checkDeadline();
    });
    connect(&m_expiry, &QTimer::timeout, this, &LocalSqsServer::queueTurn);
}

Result<void> LocalSqsServer::open(const QString &file)
{
    if (auto opened = m_store.open(file); !opened)
        return opened;
    m_queues.advance(m_clock());
    auto loaded = m_store.load([this](const StoredQueue &queue) { m_queues.restore(queue); },
                               [this](const StoredMessage &message) {
                                   if (!m_queues.restore(message))
                                       m_garbage += message.row;
                               },
                               [this](const MoveTask &task) { m_queues.restore(task); });
    if (!loaded) {
        m_store.close();
        return loaded;
    }
    if (!m_store.warning().isEmpty())
        qCWarning(lcQueue, "%ls", qUtf16Printable(m_store.warning()));
    m_open = true;
    m_sweep.start(std::min(SweepInterval, m_limits.timeouts.idle / 4));
    m_expiry.start(ExpiryInterval);
    queueTurn();
    return {};
}

Result<quint16> LocalSqsServer::listen(quint16 port)
{
    if (!m_server.listen(QHostAddress::LocalHost, port))
        return Error{
            ErrorKind::Unreachable, u"cannot listen on 127.0.0.1:%1: %2"_s.arg(port).arg(m_server.errorString()), {}};
    m_identity.port = m_server.serverPort();
    return m_identity.port;
}

void LocalSqsServer::close()
{
    if (!m_open)
        return;
    m_server.close();
    for (const LongPoll &poll : std::exchange(m_longPolls, {}))
        poll.connection->reply(replyTo(poll.caller, SqsResult(ReceivedMessages{})));
    for (HttpConnection *connection : QList(m_connections))
        connection->close();
    m_wakeUp.stop();
    m_sweep.stop();
    m_expiry.stop();
    m_disposal.stop();
    m_store.close();
    m_open = false;
}

// ---- connections ------------------------------------------------------------------------------------------

void LocalSqsServer::accept()
{
    while (QTcpSocket *socket = m_server.nextPendingConnection()) {
        auto *connection = new HttpConnection(socket, m_limits.timeouts, this);
        if (m_connections.size() - qsizetype(m_longPolls.size()) >= m_limits.connections) {
            socket->write(toBytes(textReply(503, "Too many connections.", true), httpDate()));
            connection->close();
            connection->deleteLater();
            continue;
        }
        if (socket->socketDescriptor() >= lastDescriptor() - SpareDescriptors) {
            // Without a descriptor left, QTcpServer (6.4) would try to accept again and again, at full speed.
            m_server.pauseAccepting();
            m_paused = true;
        }
        m_connections += connection;
        connect(connection, &HttpConnection::closed, this, [this, connection] { drop(connection); });
        connect(connection, &HttpConnection::requestReady, this, [this, connection] {
            m_ready += connection;
            queueTurn();
        });
    }
}

void LocalSqsServer::drop(HttpConnection *connection)
{
    m_connections.removeOne(connection);
    if (std::exchange(m_paused, false))
        m_server.resumeAccepting();
    m_ready.removeOne(connection);
    std::erase_if(m_longPolls, [connection](const LongPoll &poll) { return poll.connection == connection; });
    connection->deleteLater();
}

// ---- turns ------------------------------------------------------------------------------------------------

void LocalSqsServer::queueTurn()
{
    if (std::exchange(m_turnQueued, true))
        return;
    // Behind the socket notifications of this round of the event loop: what came in with them shares the transaction.
    QMetaObject::invokeMethod(this, &LocalSqsServer::turn, Qt::QueuedConnection);
}

void LocalSqsServer::turn()
{
    m_turnQueued = false;
    if (!m_open)
        return;
    const QueueTime now = m_clock();
    m_queues.advance(now);
    std::vector<Answer> answers;
    for (HttpConnection *connection : std::exchange(m_ready, {}))
        takeUp(connection, now.steady, &answers);
    if (now.steady >= m_movesFrom)
        m_queues.moveMessages();
    serveLongPolls(now.steady, &answers);
    const bool written = writeDown();
    for (const Answer &each : answers)
        answer(each, written);
    m_garbage += m_queues.takeGarbage();
    if (!m_garbage.isEmpty() && !m_disposal.isActive())
        m_disposal.start(DisposalInterval);
    setWakeUp();
}

void LocalSqsServer::takeUp(HttpConnection *connection, qint64 now, std::vector<Answer> *answers)
{
    // A client that has gone gets nothing: a message handed to it would be hidden for nobody.
    if (connection->isGone()) {
        connection->close();
        return;
    }
    const HttpRequest &request = connection->request();
    if (const auto refusal = refuseStrangers(request, m_identity)) {
        connection->reply(*refusal);
        return;
    }
    const auto call = readCall(request, m_identity);
    if (const auto *reply = std::get_if<HttpReply>(&call)) {
        connection->reply(*reply);
        return;
    }
    const auto &[operation, caller] = std::get<SqsCall>(call);
    if (const auto fault = m_faults.atRequest()) {
        strike(connection, caller, *fault);
        return;
    }
    auto [reply, atOnce] = m_faults.apply(operation);
    if (const auto *receive = std::get_if<ReceiveMessageRequest>(&operation)) {
        const auto *result = std::get_if<SqsResult>(&reply);
        const qint64 waitMsec = std::chrono::milliseconds(m_queues.receiveWait(*receive)).count();
        if (result && std::get<ReceivedMessages>(*result).messages.isEmpty() && waitMsec > 0 && !atOnce
            && longPollCount() < m_limits.longPolls) {
            m_longPolls.push_back({connection, caller, *receive, now + waitMsec, m_faults.asksForReceives()});
            return;
        }
    }
    answers->push_back({connection, caller, std::move(reply)});
}

void LocalSqsServer::strike(HttpConnection *connection, const SqsCaller &caller, FaultEffect fault)
{
    if (fault == FaultEffect::Close)
        connection->close();
    else
        connection->reply(replyTo(caller, fault == FaultEffect::Throttle ? armedThrottling() : armedFailure()));
}

void LocalSqsServer::serveLongPolls(qint64 now, std::vector<Answer> *answers)
{
    // A receive may move messages to a dead-letter queue, and wake who waits there: until nothing moves any more.
    for (bool moved = true; std::exchange(moved, false);) {
        for (auto it = m_longPolls.begin(); it != m_longPolls.end();) {
            const bool overdue = it->until <= now;
            if (!overdue && !m_queues.isWorthReceiving(it->request.queue)) {
                ++it;
                continue;
            }
            if (HttpConnection *connection = it->connection; connection->isGone()) {
                it = m_longPolls.erase(it);
                connection->close();
                continue;
            }
            // What was armed while it waited strikes it too.
            const bool isAsked = std::exchange(it->isAsked, it->isAsked || m_faults.asksForReceives());
            if (const auto fault = isAsked ? std::nullopt : m_faults.atRequest()) {
                const LongPoll poll = std::move(*it);
                it = m_longPolls.erase(it);
                strike(poll.connection, poll.caller, *fault);
                continue;
            }
            const size_t changesBefore = m_queues.changes().size();
            auto [reply, atOnce] = m_faults.receive(it->request, !isAsked);
            moved = moved || m_queues.changes().size() > changesBefore;
            const auto *result = std::get_if<SqsResult>(&reply);
            if (!overdue && !atOnce && result && std::get<ReceivedMessages>(*result).messages.isEmpty()) {
                ++it;
                continue;
            }
            answers->push_back({it->connection, it->caller, std::move(reply)});
            it = m_longPolls.erase(it);
        }
    }
}

bool LocalSqsServer::writeDown()
{
    if (m_queues.changes().empty()) {
        m_queues.commit();
        return true;
    }
    const auto durability = m_queues.mustBeDurable() ? QueueStore::Durability::Synced : QueueStore::Durability::Written;
    const auto written = m_store.apply(m_queues.changes(), durability);
    // Said once, however many clients try again.
    if (!written && !m_failing)
        qCCritical(lcQueue, "cannot write queue.db: %ls", qUtf16Printable(written.error().text));
    if (written && m_failing)
        qCInfo(lcQueue, "queue.db can be written again");
    m_failing = !written;
    // A move that cannot be written is not tried again at once, and does not make other requests of its turn fail.
    m_movesFrom = written ? 0 : m_clock().steady + RetryInterval.count();
    if (!written) {
        m_queues.rollback();
        return false;
    }
    m_queues.commit();
    return true;
}

void LocalSqsServer::answer(const Answer &answer, bool written)
{
    if (!written) {
        answer.connection->reply(replyTo(answer.caller, internalFailure()));
        return;
    }
    QList<ReceivedMessage> messages;
    if (const auto *result = std::get_if<SqsResult>(&answer.reply)) {
        if (const auto *received = std::get_if<ReceivedMessages>(result)) {
            for (const HandedOut &handedOut : received->messages) {
                const auto content = m_store.content(handedOut.row);
                if (!content) {
                    qCCritical(lcQueue, "cannot read queue.db: %ls", qUtf16Printable(content.error().text));
                    answer.connection->reply(replyTo(answer.caller, internalFailure()));
                    return;
                }
                messages += assemble(handedOut, content.value(), *received);
            }
        }
    }
    answer.connection->reply(replyTo(answer.caller, answer.reply, messages));
}

SqsReply LocalSqsServer::execute(const SqsRequest &request)
{
    m_queues.advance(m_clock());
    SqsReply reply = m_queues.apply(request);
    return writeDown() ? reply : SqsReply(internalFailure());
}

void LocalSqsServer::setWakeUp()
{
    std::optional<qint64> next = m_queues.nextMoveAt();
    if (next)
        next = std::max(*next, m_movesFrom);
    for (const LongPoll &poll : m_longPolls) {
        next = std::min(next.value_or(poll.until), poll.until);
        if (const auto visible = m_queues.nextVisibleAt(poll.request.queue))
            next = std::min(*next, *visible);
    }
    if (!next) {
        m_wakeUp.stop();
        return;
    }
    m_wakeUp.start(std::chrono::milliseconds(std::max<qint64>(0, *next - m_clock().steady)));
}

void LocalSqsServer::throwAway()
{
    const QList<qint64> rows = m_garbage.first(std::min(DisposalRows, m_garbage.size()));
    if (const auto done = m_store.discard(rows); !done) {
        qCWarning(lcQueue, "cannot tidy queue.db: %ls", qUtf16Printable(done.error().text));
        m_disposal.start(std::chrono::seconds(60));
        return;
    }
    m_garbage.remove(0, rows.size());
    if (!m_garbage.isEmpty())
        m_disposal.start(DisposalInterval);
}

} // namespace sendonce::local
