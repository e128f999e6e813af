#include "worker/local/httpconnection.h"

#include <QTcpSocket>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

// What Qt takes from the kernel ahead of us; bounds what a client can make us hold while it waits for a reply.
constexpr qint64 ReadAheadBytes = 64 * 1024;

} // namespace

HttpConnection::HttpConnection(QTcpSocket *socket, Timeouts timeouts, QObject *parent)
    : QObject(parent)
    , m_socket(socket)
    , m_timeouts(timeouts)
    , m_deadline(timeouts.idle)
{
    m_socket->setParent(this);
    m_socket->setReadBufferSize(ReadAheadBytes);
    m_socket->setSocketOption(QAbstractSocket::LowDelayOption, 1);
    connect(m_socket, &QTcpSocket::readyRead, this, &HttpConnection::read);
    connect(m_socket, &QTcpSocket::bytesWritten, this, &HttpConnection::hangUpWhenWritten);
    connect(m_socket, &QTcpSocket::disconnected, this, &HttpConnection::end);
}

void HttpConnection::read()
{
    switch (m_state) {
    case State::Reading:
        if (m_bytes.isEmpty() && m_socket->bytesAvailable() > 0)
            m_deadline.setRemainingTime(m_timeouts.request);
        m_bytes += m_socket->readAll();
        acknowledgeAtOnce();
        parse();
        break;
    case State::Draining:
        m_socket->skip(m_socket->bytesAvailable());
        break;
    case State::AwaitingReply: // stays in the socket until the reply is out
    case State::Closed:
        break;
    }
}

/// A client that sends a body in pieces without TCP_NODELAY (Qt's does, from 16 KiB on) waits for our ACK between them,
/// and we delay it: 44 ms a request, measured. Linux forgets this option by itself, so it is set after each read.
void HttpConnection::acknowledgeAtOnce()
{
    const int on = 1;
    ::setsockopt(int(m_socket->socketDescriptor()), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

void HttpConnection::parse()
{
    if (m_bytes.isEmpty() || m_bytes.size() < m_needed)
        return;
    HttpParse result = parseHttpRequest(m_bytes);
    switch (result.status) {
    case HttpParse::Status::Incomplete:
        m_needed = result.needed;
        if (result.awaitsContinue) // once, for the next look is at the whole request
            m_socket->write("HTTP/1.1 100 Continue\r\n\r\n"_ba);
        break;
    case HttpParse::Status::Refused:
        send(textReply(result.refusal, "Bad request: " + result.reason + '.', true));
        break;
    case HttpParse::Status::Complete:
        m_bytes.remove(0, result.used);
        m_needed = 0;
        m_request = std::move(result.request);
        m_state = State::AwaitingReply;
        Q_EMIT requestReady();
        break;
    }
}

void HttpConnection::reply(const HttpReply &reply)
{
    if (m_state != State::AwaitingReply)
        return;
    HttpReply last = reply;
    if (!m_request.keepsAlive())
        last.close = true;
    else if (m_request.minorVersion == 0) // it would take silence for the end of the connection
        last.headers += {"Connection"_ba, "keep-alive"_ba};
    m_request = {};
    send(last);
    if (m_state == State::Reading && (!m_bytes.isEmpty() || m_socket->bytesAvailable() > 0)) // pipelined
        QMetaObject::invokeMethod(this, &HttpConnection::read, Qt::QueuedConnection);
}

void HttpConnection::send(const HttpReply &reply)
{
    m_socket->write(toBytes(reply, httpDate()));
    m_state = reply.close ? State::Draining : State::Reading;
    m_deadline.setRemainingTime(m_timeouts.idle);
    m_socket->flush(); // now, not after another round of the event loop
    if (m_state == State::Draining) {
        m_bytes.clear();
        read();
        hangUpWhenWritten();
    }
}

void HttpConnection::hangUpWhenWritten()
{
    if (m_state != State::Draining || m_socket->bytesToWrite() > 0)
        return;
    // A full close with unread bytes would make the kernel send a reset, and the client lose the reply. So only our
    // half is closed, and the client hangs up.
    m_deadline.setRemainingTime(m_timeouts.drain);
    ::shutdown(int(m_socket->socketDescriptor()), SHUT_WR);
}

bool HttpConnection::isGone() const
{
    if (m_socket->state() != QAbstractSocket::ConnectedState)
        return true;
    char byte;
    const ssize_t got = ::recv(int(m_socket->socketDescriptor()), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void HttpConnection::checkDeadline()
{
    if (m_state == State::AwaitingReply || m_state == State::Closed || !m_deadline.hasExpired())
        return;
    if (m_state == State::Reading && !m_bytes.isEmpty() && m_socket->bytesToWrite() == 0) {
        send(textReply(408, "The request took too long.", true));
        return;
    }
    m_socket->abort();
    end();
}

void HttpConnection::close()
{
    if (m_state == State::Closed)
        return;
    m_socket->flush();
    m_socket->disconnectFromHost();
    end();
}

void HttpConnection::end()
{
    if (std::exchange(m_state, State::Closed) != State::Closed)
        Q_EMIT closed();
}

} // namespace sendonce::local
