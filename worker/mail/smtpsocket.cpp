#include "worker/mail/smtpsocket.h"

#include "worker/mail/certificates.h"
#include "worker/mail/hostlookup.h"
#include "worker/wait/waiting.h"

#include <QHostAddress>
#include <QNetworkProxy>
#include <QSslSocket>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr int SliceMsec = 50;
constexpr qsizetype Chunk = 64 * 1024;
constexpr qint64 MaxUnread = 64 * 1024;

Error systemError(int number)
{
    return {ErrorKind::Unreachable, QString::fromLocal8Bit(std::strerror(number)), {}};
}

socklen_t fill(sockaddr_storage *storage, const QHostAddress &address, quint16 port)
{
    std::memset(storage, 0, sizeof(*storage));
    if (address.protocol() == QAbstractSocket::IPv4Protocol) {
        sockaddr_in v4 = {};
        v4.sin_family = AF_INET;
        v4.sin_port = htons(port);
        v4.sin_addr.s_addr = htonl(address.toIPv4Address());
        std::memcpy(storage, &v4, sizeof(v4));
        return sizeof(v4);
    }
    sockaddr_in6 v6 = {};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_scope_id = address.scopeId().toUInt();
    const Q_IPV6ADDR bytes = address.toIPv6Address();
    std::memcpy(&v6.sin6_addr, &bytes, sizeof(bytes));
    std::memcpy(storage, &v6, sizeof(v6));
    return sizeof(v6);
}

/// A connected descriptor. QTcpSocket cannot do this in slices: a waitForConnected() that runs out ends the attempt.
Result<int> connectTo(const QHostAddress &address, quint16 port, const Patience &patience)
{
    sockaddr_storage storage;
    const socklen_t size = fill(&storage, address, port);
    const int descriptor = ::socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return systemError(errno);

    int error = ::connect(descriptor, reinterpret_cast<const sockaddr *>(&storage), size) == 0 ? 0 : errno;
    if (error == EINPROGRESS || error == EINTR) {
        short came = 0;
        while (!patience.over() && came == 0)
            came = awaitDescriptor(descriptor, POLLOUT, patience.sliceMsec());
        if (came == 0) {
            ::close(descriptor);
            return patience.ended();
        }
        socklen_t length = sizeof(error);
        ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
    }
    if (error != 0) {
        ::close(descriptor);
        return systemError(error);
    }
    return descriptor;
}

} // namespace

int Patience::sliceMsec() const
{
    return int(std::clamp<qint64>(deadline.remainingTime(), 0, SliceMsec));
}

Error Patience::ended() const
{
    return {ErrorKind::Aborted, stopped() ? u"told to stop"_s : u"no answer in time"_s, {}};
}

SmtpSocket::SmtpSocket(bool mayEncrypt)
{
    if (!mayEncrypt)
        return;
    m_tls = std::make_unique<QSslSocket>();
    QObject::connect(
        m_tls.get(), &QAbstractSocket::errorOccurred, m_tls.get(), [this](QAbstractSocket::SocketError error) {
            if (error == QAbstractSocket::SslInternalError || error == QAbstractSocket::SslInvalidUserDataError)
                m_tlsFault = m_tls->errorString();
        });
    m_tls->setProxy(QNetworkProxy::NoProxy);
    m_tls->setReadBufferSize(MaxUnread);
}

SmtpSocket::~SmtpSocket()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

bool SmtpSocket::isOpen() const
{
    return m_tls ? m_tls->state() == QAbstractSocket::ConnectedState && m_tlsFault.isEmpty()
                 : m_descriptor >= 0 && !m_closed;
}

Result<void> SmtpSocket::open(const QString &host, quint16 port, const Patience &patience)
{
    if (patience.over())
        return patience.ended();
    const Result<QList<QHostAddress>> addresses =
        lookUpHost(host, std::chrono::milliseconds(SliceMsec), [&] { return !patience.over(); });
    if (!addresses)
        return addresses.error().kind == ErrorKind::Aborted ? patience.ended() : addresses.error();

    Error last = systemError(EADDRNOTAVAIL);
    for (const QHostAddress &address : addresses.value()) {
        const Result<int> descriptor = connectTo(address, port, patience);
        if (descriptor) {
            const int on = 1;
            ::setsockopt(descriptor.value(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
            if (m_tls)
                m_tls->setSocketDescriptor(descriptor.value());
            else
                m_descriptor = descriptor.value();
            return {};
        }
        last = descriptor.error();
        if (last.kind == ErrorKind::Aborted)
            break;
    }
    return last;
}

Result<void> SmtpSocket::encrypt(const QString &host, const QSslConfiguration &configuration, const Patience &patience)
{
    if (!QSslSocket::supportsSsl())
        return Error{ErrorKind::Io, u"this computer's Qt cannot do TLS: its OpenSSL plugin is missing"_s, {}};
    if (!m_replies.isEmpty() || m_tls->bytesAvailable() > 0)
        return Error{ErrorKind::Protocol,
                     u"the mail server said more in clear behind its answer to STARTTLS; somebody may be on the way"_s,
                     {}};
    m_tls->setSslConfiguration(configuration);
    m_tls->setPeerVerifyName(host); // we connect by address, so nothing else knows it
    m_tls->startClientEncryption();
    while (!m_tls->isEncrypted()) {
        if (!m_tls->sslHandshakeErrors().isEmpty())
            return Error{ErrorKind::Refused, certificateProblem(m_tls->sslHandshakeErrors(), host), {}};
        if (!isOpen())
            return lost();
        if (patience.over())
            return patience.ended();
        m_tls->waitForEncrypted(patience.sliceMsec());
    }
    return {};
}

bool SmtpSocket::staysHere() const
{
    if (m_tls)
        return m_tls->peerAddress().isLoopback();
    sockaddr_storage peer = {};
    socklen_t length = sizeof(peer);
    return ::getpeername(m_descriptor, reinterpret_cast<sockaddr *>(&peer), &length) == 0
        && QHostAddress(reinterpret_cast<const sockaddr *>(&peer)).isLoopback();
}

/// What the kernel does not have yet. Under TLS it waits in two places.
qint64 SmtpSocket::unwritten() const
{
    return m_tls->bytesToWrite() + (m_tls->isEncrypted() ? m_tls->encryptedBytesToWrite() : 0);
}

Result<void> SmtpSocket::write(const QByteArray &bytes, const Patience &patience, bool isBody)
{
    return m_tls ? writeTls(bytes, patience, isBody) : writeClear(bytes, patience, isBody);
}

Result<void> SmtpSocket::writeTls(const QByteArray &bytes, const Patience &patience, bool isBody)
{
    for (qsizetype position = 0; position < bytes.size(); position += Chunk) {
        if (!isOpen())
            return lost();
        m_tls->write(bytes.constData() + position, std::min(Chunk, bytes.size() - position));
        m_tls->flush(); // nearly always the kernel takes it at once, and nothing is waited for
        while (unwritten() > 0) {
            if (patience.over())
                return patience.ended();
            m_tls->waitForBytesWritten(patience.sliceMsec());
            if (!isOpen())
                return lost();
            if (isBody && (m_tls->bytesAvailable() > 0 || !m_replies.isEmpty()))
                return {};
        }
    }
    return {};
}

Result<void> SmtpSocket::writeClear(QByteArrayView bytes, const Patience &patience, bool isBody)
{
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (isBody ? MSG_MORE : 0);
    while (!bytes.isEmpty()) {
        if (!isOpen())
            return lost();
        const auto sent = ::send(m_descriptor, bytes.data(), size_t(bytes.size()), flags);
        if (sent >= 0) {
            bytes = bytes.sliced(sent);
            continue;
        }
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) {
            m_error = errno;
            if (isBody && (!m_replies.isEmpty() || takeWhatCame()))
                return {}; // it said why before it closed
            m_closed = true;
            return lost();
        }
        if (isBody && !m_replies.isEmpty())
            return {};
        if (patience.over())
            return patience.ended();
        const short came = awaitDescriptor(m_descriptor, isBody ? POLLOUT | POLLIN : POLLOUT, patience.sliceMsec());
        if (isBody && (came & POLLIN))
            return {};
    }
    return {};
}

bool SmtpSocket::takeWhatCame()
{
    if (m_tls) {
        if (m_tls->bytesAvailable() == 0)
            return false;
        m_replies.feed(m_tls->readAll());
        return true;
    }
    if (!isOpen())
        return false;
    char bytes[4096];
    for (;;) {
        const auto got = ::recv(m_descriptor, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (got > 0) {
            m_replies.feed(QByteArrayView(bytes, got));
            return true;
        }
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) {
            m_error = got == 0 ? 0 : errno;
            m_closed = true;
        }
        return false;
    }
}

bool SmtpSocket::waitForMore(const Patience &patience)
{
    if (m_tls)
        return m_tls->waitForReadyRead(patience.sliceMsec());
    return awaitDescriptor(m_descriptor, POLLIN, patience.sliceMsec()) != 0;
}

Result<SmtpReply> SmtpSocket::readReply(const Patience &patience)
{
    for (;;) {
        if (std::optional<Result<SmtpReply>> reply = m_replies.next())
            return *reply;
        // In clear the wait comes first: right behind a question nothing can be there.
        if ((m_tls || patience.over()) && takeWhatCame())
            continue;
        if (!isOpen())
            return lost();
        if (patience.over()) {
            Error error = patience.ended();
            if (!m_replies.isEmpty())
                error.text += u", only a part of one: %1"_s.arg(m_replies.partial());
            return error;
        }
        if (waitForMore(patience) && !m_tls)
            takeWhatCame();
    }
}

/// Bytes, or the end of the connection.
bool SmtpSocket::kernelHasNews() const
{
    char byte = 0;
    const int descriptor = m_tls ? int(m_tls->socketDescriptor()) : m_descriptor;
    return ::recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

bool SmtpSocket::hasNews()
{
    if (!isOpen() || !m_replies.isEmpty())
        return true;
    if (!m_tls)
        return kernelHasNews();
    // The kernel is asked first: that nothing came is the usual case, and Qt makes an error of it.
    if (m_tls->bytesAvailable() == 0 && kernelHasNews())
        m_tls->waitForReadyRead(0);
    return m_tls->bytesAvailable() > 0 || !isOpen();
}

Error SmtpSocket::lost() const
{
    const bool closed = m_tls ? m_tls->error() == QAbstractSocket::RemoteHostClosedError : m_error == 0;
    QString text = u"the connection was closed by the mail server"_s;
    if (!closed) {
        const QString why = !m_tls ? systemError(m_error).text
            : m_tlsFault.isEmpty() ? m_tls->errorString()
                                   : m_tlsFault;
        text = u"the connection broke: %1"_s.arg(why);
    }
    if (!m_replies.isEmpty())
        text += u" after a part of a reply: %1"_s.arg(m_replies.partial());
    return {ErrorKind::Unreachable, text, {}};
}

} // namespace sendonce
