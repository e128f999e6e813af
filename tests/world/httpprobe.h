#pragma once

#include <QJsonDocument>
#include <QJsonObject>
#include <QTcpSocket>
#include <QTest>
#include <QTimer>

/// A client that writes what it is told, byte by byte if need be, and reads replies.
class HttpProbe
{
public:
    /// As QTest::qWaitFor, which looks only every 10 ms: much for a test of a hundred requests.
    template <typename Condition>
    static bool waitFor(Condition condition, int timeoutMsec = 5000)
    {
        QTimer wakeUp;
        wakeUp.start(20);
        const QDeadlineTimer deadline(timeoutMsec);
        while (!condition()) {
            if (deadline.hasExpired())
                return false;
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
            QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        }
        return true;
    }

    struct Reply
    {
        int status = 0;
        QMap<QByteArray, QByteArray> headers; ///< names in lower case
        QByteArray body;

        QJsonObject json() const { return QJsonDocument::fromJson(body).object(); }
    };

    explicit HttpProbe(quint16 port) : m_port(port)
    {
        m_socket.connectToHost(QHostAddress(QHostAddress::LocalHost), port);
    }

    QTcpSocket &socket() { return m_socket; }
    bool isClosed() { return m_socket.state() == QAbstractSocket::UnconnectedState; }
    QByteArray host() const { return "127.0.0.1:" + QByteArray::number(m_port); }

    void write(const QByteArray &bytes)
    {
        if (waitFor([this] { return m_socket.state() == QAbstractSocket::ConnectedState || isClosed(); }))
            m_socket.write(bytes);
        m_socket.flush();
    }
    QByteArray request(const QByteArray &operation, const QByteArray &json, const QByteArray &headers = {},
                       const QByteArray &path = "/") const
    {
        return "POST " + path + " HTTP/1.1\r\nHost: " + host()
            + "\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: AmazonSQS." + operation
            + "\r\nContent-Length: " + QByteArray::number(json.size()) + "\r\n" + headers + "\r\n" + json;
    }
    /// A request of the query protocol.
    QByteArray form(const QByteArray &form, const QByteArray &headers = {}, const QByteArray &path = "/") const
    {
        return "POST " + path + " HTTP/1.1\r\nHost: " + host()
            + "\r\nContent-Type: application/x-www-form-urlencoded; charset=utf-8\r\nContent-Length: "
            + QByteArray::number(form.size()) + "\r\n" + headers + "\r\n" + form;
    }
    /// Sends an operation without waiting for its reply.
    void ask(const QByteArray &operation, const QByteArray &json, const QByteArray &headers = {})
    {
        write(request(operation, json, headers));
    }
    Reply call(const QByteArray &operation, const QByteArray &json, const QByteArray &headers = {})
    {
        ask(operation, json, headers);
        return reply();
    }
    /// Whether a whole reply is here.
    bool hasReply()
    {
        m_bytes += m_socket.readAll();
        return replySize() > 0;
    }
    /// The next reply; status 0 when none came within the time.
    Reply reply(int timeoutMsec = 5000)
    {
        Reply reply;
        if (!waitFor([this] { return hasReply(); }, timeoutMsec))
            return reply;
        const qsizetype size = replySize();
        const qsizetype head = m_bytes.indexOf("\r\n\r\n");
        const QList<QByteArray> lines = m_bytes.first(head).split('\n');
        reply.status = lines.constFirst().split(' ').value(1).toInt();
        for (const QByteArray &line : lines.sliced(1))
            reply.headers.insert(line.left(line.indexOf(':')).toLower(), line.mid(line.indexOf(':') + 1).trimmed());
        reply.body = m_bytes.sliced(head + 4, size - head - 4);
        m_bytes.remove(0, size);
        return reply;
    }
    QByteArray unread()
    {
        m_bytes += m_socket.readAll();
        return m_bytes;
    }

private:
    /// 0: not all there.
    qsizetype replySize() const
    {
        const qsizetype head = m_bytes.indexOf("\r\n\r\n");
        if (head < 0)
            return 0;
        const qsizetype at = m_bytes.indexOf("Content-Length: ");
        if (at < 0 || at > head)
            return head + 4; // 100 Continue
        const qsizetype length = m_bytes.sliced(at + 16, m_bytes.indexOf('\r', at) - at - 16).toLongLong();
        return m_bytes.size() >= head + 4 + length ? head + 4 + length : 0;
    }

    quint16 m_port;
    QTcpSocket m_socket;
    QByteArray m_bytes;
};
