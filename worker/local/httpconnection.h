#pragma once

#include "worker/local/httpreply.h"
#include "worker/local/httprequest.h"

#include <QDeadlineTimer>
#include <QObject>

#include <chrono>

class QTcpSocket;

namespace sendonce::local {

/// One HTTP connection of the embedded endpoint: hands requests out one at a time, the next one only after the reply to
/// the last (so pipelined requests are answered in order). Owned by LocalSqsServer, in its thread.
class HttpConnection : public QObject
{
    Q_OBJECT
public:
    struct Timeouts
    {
        std::chrono::milliseconds idle{30000}; ///< without a byte of a next request
        std::chrono::milliseconds request{30000}; ///< from a request's first byte to its last, and for reading a reply
        std::chrono::milliseconds drain{2000}; ///< after a refusal: reading on, so that the client can read the reply
    };

    /// Takes the socket over.
    HttpConnection(QTcpSocket *socket, Timeouts timeouts, QObject *parent);

    /// The request that waits for reply(); only after requestReady().
    const HttpRequest &request() const { return m_request; }
    bool isAwaitingReply() const { return m_state == State::AwaitingReply; }
    void reply(const HttpReply &reply);
    /// Whether the client has hung up, also when this was not signalled yet (asks the kernel).
    bool isGone() const;
    /// Hangs up if it was too slow. Called every now and then.
    void checkDeadline();
    /// Says what was written and hangs up.
    void close();

Q_SIGNALS:
    /// request() is complete. Not emitted again before reply().
    void requestReady();
    /// The end; emitted once.
    void closed();

private:
    enum class State { Reading, AwaitingReply, Draining, Closed };

    void read();
    void acknowledgeAtOnce();
    void parse();
    void send(const HttpReply &reply);
    void hangUpWhenWritten();
    void end();

    QTcpSocket *m_socket;
    Timeouts m_timeouts;
    State m_state = State::Reading;
    QByteArray m_bytes; ///< received, not used yet
    qsizetype m_needed = 0; ///< parsing again is useless before there are this many
    HttpRequest m_request;
    QDeadlineTimer m_deadline;
};

} // namespace sendonce::local
