#pragma once

#include "worker/local/httpconnection.h"
#include "worker/local/localqueues.h"
#include "worker/local/queuefaults.h"
#include "worker/local/queuestore.h"
#include "worker/local/sqsendpoint.h"
#include "worker/result.h"

#include <QTcpServer>
#include <QTimer>

#include <functional>
#include <list>

namespace sendonce::local {

/// The clocks of the embedded queue: steady counts suspension where the system can, and starts at the wall's time.
std::function<QueueTime()> systemQueueClock();

/// The embedded SQS endpoint on 127.0.0.1: HTTP in front of LocalQueues, with QueueStore behind. Lives in one thread
/// with an event loop, which a turn blocks for its fsync.
///
/// It works in turns. All requests that came in meanwhile are carried out and written in one transaction, and only then
/// is any of them answered: a 200 means durable, and many clients share one fsync.
class LocalSqsServer : public QObject
{
    Q_OBJECT
public:
    struct Limits
    {
        int connections = 64; ///< beyond long polls
        int longPolls = 1000; ///< a receive beyond is answered without waiting
        HttpConnection::Timeouts timeouts;
    };

    /// \param id answered by GET /_sendonce/id
    explicit LocalSqsServer(const QString &id, QObject *parent = nullptr);
    ~LocalSqsServer() override { close(); }

    /// What strikes its operations; not owned, must live longer.
    void setFaults(FaultBoard *board) { m_faults.setBoard(board); }

    // Before open(): for tests.
    void setClock(std::function<QueueTime()> clock) { m_clock = std::move(clock); }
    void setLimits(const Limits &limits) { m_limits = limits; }

    /// Opens the store and takes up what it holds.
    Result<void> open(const QString &file);
    /// Listens on 127.0.0.1 only; the port in use. Port 0: any free one. A taken port is Unreachable.
    Result<quint16> listen(quint16 port);
    /// Answers every long poll with nothing, hangs up, closes the store. Twice is fine.
    void close();

    /// Carries one operation out and writes it, without the network. Not for receives.
    SqsReply execute(const SqsRequest &request);
    /// What open() had to say besides success: a damaged file that was set aside.
    QString warning() const { return m_store.warning(); }
    int connectionCount() const { return int(m_connections.size()); }
    int longPollCount() const { return int(m_longPolls.size()); }

private:
    struct LongPoll
    {
        HttpConnection *connection;
        SqsCaller caller;
        ReceiveMessageRequest request;
        qint64 until; ///< steady
        bool isAsked; ///< the board was asked what strikes it as a whole
    };
    /// An operation that was carried out in this turn and waits for the commit.
    struct Answer
    {
        HttpConnection *connection;
        SqsCaller caller;
        SqsReply reply;
    };

    void accept();
    void drop(HttpConnection *connection);
    void queueTurn();
    void turn();
    void takeUp(HttpConnection *connection, qint64 now, std::vector<Answer> *answers);
    void strike(HttpConnection *connection, const SqsCaller &caller, FaultEffect fault);
    void serveLongPolls(qint64 now, std::vector<Answer> *answers);
    bool writeDown();
    void answer(const Answer &answer, bool written);
    void setWakeUp();
    void throwAway();

    EndpointIdentity m_identity;
    std::function<QueueTime()> m_clock;
    Limits m_limits;
    LocalQueues m_queues;
    QueueStore m_store;
    QueueFaults m_faults{m_queues, m_store};
    QTcpServer m_server;
    QList<HttpConnection *> m_connections;
    QList<HttpConnection *> m_ready; ///< with a request that nobody looked at yet, in the order of arrival
    std::list<LongPoll> m_longPolls; ///< first come, first served
    bool m_paused = false; ///< not accepting, for want of file descriptors
    bool m_turnQueued = false;
    bool m_open = false;
    bool m_failing = false; ///< the last write failed
    qint64 m_movesFrom = 0; ///< steady; no message is moved before
    QTimer m_wakeUp; ///< the next instant at which a long poll or a move task has something to expect
    QTimer m_sweep; ///< hangs up on slow clients
    QTimer m_expiry; ///< lets expired messages vanish when nothing else happens
    QTimer m_disposal; ///< throws garbage away, a little at a time
    QList<qint64> m_garbage;
};

} // namespace sendonce::local
