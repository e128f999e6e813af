#include "tests/world/scriptedhttp.h"

#include <QTcpSocket>

#include <sys/socket.h>

using namespace Qt::StringLiterals;

QByteArray ScriptedHttp::Request::header(const QByteArray &name) const
{
    for (const auto &[known, value] : headers) {
        if (known.compare(name, Qt::CaseInsensitive) == 0)
            return value;
    }
    return {};
}

ScriptedHttp::ScriptedHttp(QObject *parent) : QObject(parent)
{
    connect(&m_server, &QTcpServer::newConnection, this, &ScriptedHttp::accept);
    if (!m_server.listen(QHostAddress::LocalHost))
        qFatal("no port for a test server: %s", qPrintable(m_server.errorString()));
}

ScriptedHttp::~ScriptedHttp()
{
    // Their ends are of no interest any more.
    const QList<QTcpSocket *> sockets = m_pending.keys();
    for (QTcpSocket *socket : sockets)
        socket->disconnect(this);
}

void ScriptedHttp::closeAll()
{
    const QList<QTcpSocket *> sockets = m_pending.keys();
    for (QTcpSocket *socket : sockets)
        socket->disconnectFromHost();
}

QUrl ScriptedHttp::url(const QByteArray &path) const
{
    QUrl url;
    url.setScheme(u"http"_s);
    url.setHost(u"127.0.0.1"_s);
    url.setPort(m_server.serverPort());
    url.setPath(QString::fromUtf8(path));
    return url;
}

ScriptedHttp::Step ScriptedHttp::reply(int status, const QByteArray &body,
                                       const QList<QPair<QByteArray, QByteArray>> &headers, After after)
{
    QByteArray bytes = "HTTP/1.1 " + QByteArray::number(status) + " X\r\nContent-Type: application/x-amz-json-1.0\r\n"
        + "Content-Length: " + QByteArray::number(body.size()) + "\r\n";
    for (const auto &[name, value] : headers)
        bytes += name + ": " + value + "\r\n";
    return {bytes + "\r\n" + body, after};
}

void ScriptedHttp::accept()
{
    while (QTcpSocket *socket = m_server.nextPendingConnection()) {
        m_pending.insert(socket, {});
        m_numbers.insert(socket, ++m_connectionCount);
        connect(socket, &QTcpSocket::readyRead, this, [this, socket] { read(socket); });
        connect(socket, &QTcpSocket::disconnected, this, [this, socket] {
            m_pending.remove(socket);
            m_numbers.remove(socket);
            socket->deleteLater();
        });
    }
}

void ScriptedHttp::read(QTcpSocket *socket)
{
    m_pending[socket] += socket->readAll();
    while (m_pending.contains(socket)) {
        QByteArray &pending = m_pending[socket];
        const qsizetype end = pending.indexOf("\r\n\r\n");
        if (end < 0)
            return;
        QList<QByteArray> lines = pending.left(end).split('\n');
        Request request;
        request.connection = m_numbers.value(socket);
        const QList<QByteArray> words = lines.takeFirst().trimmed().split(' ');
        request.method = words.value(0);
        request.target = words.value(1);
        for (const QByteArray &line : std::as_const(lines)) {
            const qsizetype colon = line.indexOf(':');
            request.headers.append({line.left(colon), line.mid(colon + 1).trimmed()});
        }
        const qsizetype length = request.header("Content-Length"_ba).toLongLong();
        if (pending.size() < end + 4 + length)
            return;
        request.body = pending.mid(end + 4, length);
        pending.remove(0, end + 4 + length);
        m_requests.append(request);
        if (!m_steps.isEmpty())
            play(socket, m_steps.takeFirst());
        else
            play(socket, m_answer ? m_answer(request) : reply(200, "{}"_ba));
    }
}

void ScriptedHttp::play(QTcpSocket *socket, const Step &step)
{
    socket->write(step.bytes);
    if (step.endless)
        connect(socket, &QTcpSocket::bytesWritten, this, [socket, step] {
            if (socket->bytesToWrite() < step.bytes.size())
                socket->write(step.bytes);
        });
    switch (step.after) {
    case After::Keep:
        break;
    case After::Close:
        socket->disconnectFromHost();
        break;
    case After::Reset: {
        socket->flush();
        const linger now{1, 0};
        ::setsockopt(int(socket->socketDescriptor()), SOL_SOCKET, SO_LINGER, &now, sizeof now);
        socket->abort();
        break;
    }
    }
}
