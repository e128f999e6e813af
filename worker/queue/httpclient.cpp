#include "worker/queue/httpclient.h"

#include <QSslError>
#include <QSslSocket>
#include <QTimer>

#include <algorithm>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

/// Whether the peer has closed, asked of the kernel: the event loop may not have told yet.
bool isClosedByPeer(QTcpSocket *socket)
{
#ifdef POLLRDHUP // sees the end behind bytes that are still to be read, such as the farewell of TLS
    pollfd end{int(socket->socketDescriptor()), POLLRDHUP, 0};
    if (::poll(&end, 1, 0) > 0)
        return true;
#endif
    char byte = 0;
    return ::recv(int(socket->socketDescriptor()), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

HttpExchange::Failure failureOf(QAbstractSocket::SocketError error)
{
    switch (error) {
    case QAbstractSocket::ConnectionRefusedError:
        return HttpExchange::Failure::Refused;
    case QAbstractSocket::HostNotFoundError:
        return HttpExchange::Failure::NoSuchHost;
    case QAbstractSocket::RemoteHostClosedError:
        return HttpExchange::Failure::Closed;
    case QAbstractSocket::SslHandshakeFailedError:
    case QAbstractSocket::SslInternalError:
    case QAbstractSocket::SslInvalidUserDataError:
        return HttpExchange::Failure::Tls;
    default:
        return HttpExchange::Failure::Other;
    }
}

QByteArray hostOf(const QUrl &url)
{
    QString host = url.host(QUrl::FullyEncoded);
    if (host.contains(u':'))
        host = u'[' + host + u']';
    return (url.port() < 0 ? host : host + u':' + QString::number(url.port())).toLatin1();
}

/// Header values are ours; a line end in one would be a header of somebody else's.
bool isPlain(QByteArrayView text)
{
    return std::none_of(text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

} // namespace

HttpExchange::HttpExchange(HttpClient *client, QUrl url, QByteArray request, qint64 maxReplyBytes, QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_url(std::move(url))
    , m_origin(HttpClient::originOf(m_url))
    , m_request(std::move(request))
    , m_reader(maxReplyBytes)
{ }

HttpExchange::~HttpExchange()
{
    abort();
}

void HttpExchange::abort()
{
    m_ended = true;
    if (!m_socket)
        return;
    QTcpSocket *socket = m_socket.data();
    m_socket.clear();
    socket->disconnect(this);
    if (m_client)
        m_client->drop(socket);
}

void HttpExchange::run(QTcpSocket *socket)
{
    m_socket = socket;
    connect(socket, &QIODevice::readyRead, this, &HttpExchange::answering, Qt::SingleShotConnection);
    connect(socket, &QIODevice::readyRead, this, &HttpExchange::read);
    connect(socket, &QAbstractSocket::errorOccurred, this, &HttpExchange::lost);
    if (socket->state() == QAbstractSocket::ConnectedState) {
        write();
        return;
    }
    if (auto *tls = qobject_cast<QSslSocket *>(socket)) {
        connect(tls, &QSslSocket::sslErrors, this, [this](const QList<QSslError> &errors) {
            end(Failure::Tls, errors.isEmpty() ? m_socket->errorString() : errors.first().errorString());
        });
        connect(tls, &QSslSocket::encrypted, this, &HttpExchange::begin);
        tls->connectToHostEncrypted(m_url.host(), quint16(m_url.port(443)));
    } else {
        connect(socket, &QAbstractSocket::connected, this, &HttpExchange::begin);
        socket->connectToHost(m_url.host(), quint16(m_url.port(80)));
    }
}

void HttpExchange::begin()
{
    if (m_ended)
        return;
    m_socket->setSocketOption(QAbstractSocket::LowDelayOption, 1);
    write();
}

void HttpExchange::write()
{
    m_socket->write(std::exchange(m_request, {}));
    m_socket->flush();
}

void HttpExchange::read()
{
    if (m_ended)
        return;
    const auto state = m_reader.feed(m_socket->readAll());
    switch (state) {
    case HttpResponseReader::State::Reading:
        return;
    case HttpResponseReader::State::Done:
        return end(Failure::None);
    case HttpResponseReader::State::NotHttp:
        return end(Failure::NotHttp);
    case HttpResponseReader::State::TooLarge:
        return end(Failure::TooLarge);
    }
}

void HttpExchange::lost()
{
    if (m_ended)
        return;
    const auto error = m_socket->error();
    const QString text = m_socket->errorString();
    if (m_socket->bytesAvailable() > 0)
        read(); // the answer may have come with the end of the connection
    if (m_ended)
        return;
    if (error == QAbstractSocket::RemoteHostClosedError && m_reader.closed() == HttpResponseReader::State::Done)
        return end(Failure::None);
    // A reset (error "network") behind a request is a closed connection too.
    const bool written = m_request.isEmpty();
    end(error == QAbstractSocket::NetworkError && written ? Failure::Closed : failureOf(error), text);
}

void HttpExchange::end(Failure failure, const QString &text)
{
    if (m_ended)
        return;
    m_ended = true;
    m_failure = failure;
    m_errorText = text;
    QTcpSocket *socket = m_socket.data();
    m_socket.clear();
    socket->disconnect(this);
    const bool reusable = failure == Failure::None && m_request.isEmpty() && m_reader.isReusable()
        && socket->state() == QAbstractSocket::ConnectedState;
    if (m_client && reusable)
        m_client->keep(m_origin, socket);
    else if (m_client)
        m_client->drop(socket);
    // Queued: whoever hears it may delete this and the client, and their socket's signal is still under way.
    QMetaObject::invokeMethod(this, &HttpExchange::finished, Qt::QueuedConnection);
}

HttpClient::HttpClient(int maxConnections, QObject *parent) : QObject(parent), m_maxConnections(maxConnections) { }

HttpClient::~HttpClient() = default; // the sockets are children; exchanges see that we are gone

HttpExchange *HttpClient::post(const QUrl &url, const Headers &headers, const QByteArray &body, qint64 maxReplyBytes,
                               QObject *parent)
{
    QByteArray request;
    request.reserve(1024 + body.size());
    request += "POST "_ba + (url.path(QUrl::FullyEncoded).isEmpty() ? "/"_ba : url.path(QUrl::FullyEncoded).toLatin1())
        + " HTTP/1.1\r\n"_ba;
    bool hasHost = false;
    for (const auto &[name, value] : headers) {
        if (!isPlain(name) || !isPlain(value))
            continue;
        hasHost = hasHost || name.compare("Host", Qt::CaseInsensitive) == 0;
        request += name + ": "_ba + value + "\r\n"_ba;
    }
    if (!hasHost)
        request += "Host: "_ba + hostOf(url) + "\r\n"_ba;
    request += "Content-Length: "_ba + QByteArray::number(body.size()) + "\r\n\r\n"_ba + body;

    auto *exchange = new HttpExchange(this, url, request, maxReplyBytes, parent);
    m_waiting.append(exchange);
    startWaiting();
    return exchange;
}

void HttpClient::startWaiting()
{
    m_waiting.removeIf([](const QPointer<HttpExchange> &exchange) { return !exchange || exchange->m_ended; });
    while (!m_waiting.isEmpty() && start(m_waiting.first()))
        m_waiting.removeFirst();
}

bool HttpClient::start(HttpExchange *exchange)
{
    QTcpSocket *socket = takeKept(exchange->m_origin);
    if (!socket) {
        if (m_open >= m_maxConnections) {
            if (m_kept.empty())
                return false;
            drop(std::exchange(m_kept.front().socket, nullptr)); // of another origin, and the oldest
            m_kept.erase(m_kept.begin());
        }
        socket = exchange->m_url.scheme() == "https"_L1 ? new QSslSocket(this) : new QTcpSocket(this);
        ++m_open;
    }
    exchange->run(socket);
    return true;
}

QTcpSocket *HttpClient::takeKept(const QString &origin)
{
    // From the newest on: of connections that a server closes when idle it is the one with the most time left.
    for (size_t i = m_kept.size(); i > 0; --i) {
        if (m_kept[i - 1].origin != origin)
            continue;
        QTcpSocket *socket = m_kept[i - 1].socket;
        m_kept.erase(m_kept.begin() + std::ptrdiff_t(i - 1));
        socket->disconnect(this);
        if (socket->state() == QAbstractSocket::ConnectedState && socket->bytesAvailable() == 0
            && !isClosedByPeer(socket))
            return socket;
        drop(socket);
    }
    return nullptr;
}

void HttpClient::keep(const QString &origin, QTcpSocket *socket)
{
    const auto forget = [this, socket] {
        const auto kept =
            std::find_if(m_kept.begin(), m_kept.end(), [socket](const Kept &k) { return k.socket == socket; });
        if (kept == m_kept.end())
            return;
        m_kept.erase(kept);
        drop(socket);
    };
    // Closed by the server, or bytes that nobody asked for: of no use any more.
    connect(socket, &QAbstractSocket::disconnected, this, forget);
    connect(socket, &QIODevice::readyRead, this, forget);
    m_kept.push_back({origin, socket});
    startWaiting();
}

void HttpClient::drop(QTcpSocket *socket)
{
    --m_open;
    socket->disconnect();
    socket->abort();
    socket->deleteLater();
    if (!m_waiting.isEmpty())
        QMetaObject::invokeMethod(this, &HttpClient::startWaiting, Qt::QueuedConnection);
}

QString HttpClient::originOf(const QUrl &url)
{
    return url.scheme() + u"://"_s + url.host() + u':'
        + QString::number(url.port(url.scheme() == "https"_L1 ? 443 : 80));
}

} // namespace sendonce
