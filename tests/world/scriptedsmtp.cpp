#include "tests/world/scriptedsmtp.h"

#include <QFile>
#include <QSslCertificate>
#include <QSslConfiguration>
#include <QSslKey>
#include <QSslSocket>

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace Qt::StringLiterals;

namespace sendonce::world {

namespace {

constexpr int GiveUpMsec = 10'000; ///< no test waits that long; it only keeps a broken one from hanging
constexpr int SliceMsec = 10; ///< under TLS, how often the end is looked for

/// One connection: a descriptor, and TLS over it once it was asked for.
struct Channel
{
    explicit Channel(int descriptor) : socket(descriptor) { }
    ~Channel()
    {
        if (tls)
            tls->abort(); // closes the descriptor
        else
            ::close(socket);
    }
    Q_DISABLE_COPY_MOVE(Channel)

    const int socket;
    std::unique_ptr<QSslSocket> tls;
};

} // namespace

SmtpScript &SmtpScript::expect(const QByteArray &begin)
{
    m_steps.append({Step::Kind::Expect, begin, 0, {}, {}});
    return *this;
}

SmtpScript &SmtpScript::send(const QByteArray &bytes)
{
    return sendSlowly(bytes, bytes.size(), {});
}

SmtpScript &SmtpScript::sendSlowly(const QByteArray &bytes, qsizetype size, std::chrono::milliseconds pause)
{
    m_steps.append({Step::Kind::Send, bytes, size, pause, {}});
    return *this;
}

SmtpScript &SmtpScript::readMail()
{
    m_steps.append({Step::Kind::ReadMail, {}, 0, {}, {}});
    return *this;
}

SmtpScript &SmtpScript::readBytes(qsizetype count)
{
    m_steps.append({Step::Kind::ReadBytes, {}, count, {}, {}});
    return *this;
}

SmtpScript &SmtpScript::pause(std::chrono::milliseconds time)
{
    m_steps.append({Step::Kind::Pause, {}, 0, time, {}});
    return *this;
}

SmtpScript &SmtpScript::call(std::function<void()> function)
{
    m_steps.append({Step::Kind::Call, {}, 0, {}, std::move(function)});
    return *this;
}

SmtpScript &SmtpScript::waitFor(const std::atomic_bool &flag)
{
    m_steps.append({Step::Kind::WaitFor, {}, 0, {}, {}, {}, &flag});
    return *this;
}

SmtpScript &SmtpScript::startTls(const Identity &identity)
{
    m_steps.append({Step::Kind::StartTls, {}, 0, {}, {}, identity});
    return *this;
}

SmtpScript &SmtpScript::sendInClear(const QByteArray &bytes)
{
    m_steps.append({Step::Kind::SendInClear, bytes, 0, {}, {}});
    return *this;
}

SmtpScript &SmtpScript::close()
{
    m_steps.append({Step::Kind::Close, {}, 0, {}, {}});
    return *this;
}

SmtpScript &SmtpScript::reset()
{
    m_steps.append({Step::Kind::Reset, {}, 0, {}, {}});
    return *this;
}

SmtpScript &SmtpScript::hold()
{
    m_steps.append({Step::Kind::Hold, {}, 0, {}, {}});
    return *this;
}

SmtpScript SmtpScript::hello(const QByteArrayList &extensions)
{
    QByteArray reply;
    for (const QByteArray &extension : extensions)
        reply += "250-" + extension + "\r\n";
    SmtpScript script;
    script.send("220 scripted.example ESMTP\r\n")
        .expect("EHLO ")
        .send("250-scripted.example\r\n" + reply + "250 HELP\r\n");
    return script;
}

SmtpScript &SmtpScript::envelope()
{
    return expect("MAIL FROM:<").send("250 2.1.0 Ok\r\n").expect("RCPT TO:<").send("250 2.1.5 Ok\r\n");
}

SmtpScript &SmtpScript::upTo354()
{
    return envelope().expect("DATA").send("354 go on\r\n");
}

struct ScriptedSmtp::Private
{
    using Step = SmtpScript::Step;

    /// Waits for the client or for the end; false: the end, or nothing came for too long.
    bool wait(int socket, short events, int msec = GiveUpMsec)
    {
        pollfd both[] = {{socket, events, 0}, {stopEvent, POLLIN, 0}};
        return ::poll(both, 2, msec) > 0 && both[1].revents == 0;
    }

    /// Goes on until `done`; false: the client has closed, the end came, or nothing happened for too long.
    bool waitTls(QSslSocket *tls, const std::function<bool()> &done)
    {
        for (int waited = 0; waited < GiveUpMsec && pause(std::chrono::milliseconds(0)); waited += SliceMsec) {
            if (done())
                return true;
            if (tls->state() != QAbstractSocket::ConnectedState)
                return false;
            tls->waitForReadyRead(SliceMsec);
        }
        return false;
    }

    bool startTls(Channel &channel, const Identity &identity)
    {
        QFile certificates(identity.certificate);
        QFile key(identity.key);
        if (!certificates.open(QIODevice::ReadOnly) || !key.open(QIODevice::ReadOnly))
            return false;
        QSslConfiguration configuration;
        configuration.setLocalCertificateChain(QSslCertificate::fromData(certificates.readAll()));
        configuration.setPrivateKey(QSslKey(key.readAll(), QSsl::Ec));
        channel.tls = std::make_unique<QSslSocket>();
        QSslSocket *tls = channel.tls.get();
        tls->setSslConfiguration(configuration);
        tls->setSocketDescriptor(channel.socket);
        tls->startServerEncryption();
        return waitTls(tls, [tls] { return tls->isEncrypted(); });
    }

    /// More bytes into `buffer`; false: the client has closed, or the end.
    bool readMore(Channel &channel, QByteArray *buffer)
    {
        if (QSslSocket *tls = channel.tls.get()) {
            const bool more = waitTls(tls, [tls] { return tls->bytesAvailable() > 0; });
            buffer->append(tls->readAll());
            return more;
        }
        char bytes[16 * 1024];
        if (!wait(channel.socket, POLLIN))
            return false;
        const ssize_t count = ::recv(channel.socket, bytes, sizeof(bytes), 0);
        if (count <= 0)
            return false;
        buffer->append(bytes, count);
        return true;
    }

    bool sendBytes(Channel &channel, const QByteArray &bytes)
    {
        QSslSocket *tls = channel.tls.get();
        if (!tls)
            return ::send(channel.socket, bytes.constData(), size_t(bytes.size()), MSG_NOSIGNAL) == bytes.size();
        tls->write(bytes);
        while (tls->bytesToWrite() + tls->encryptedBytesToWrite() > 0) {
            if (!tls->waitForBytesWritten(GiveUpMsec))
                return false;
        }
        return true;
    }

    bool send(Channel &channel, const Step &step)
    {
        for (qsizetype i = 0; i < step.bytes.size(); i += step.number) {
            if (!sendBytes(channel, step.bytes.mid(i, step.number)))
                return false;
            if (step.time.count() > 0 && !pause(step.time))
                return false;
        }
        return true;
    }

    /// False: the end came first.
    bool pause(std::chrono::milliseconds time)
    {
        pollfd end = {stopEvent, POLLIN, 0};
        return ::poll(&end, 1, int(time.count())) == 0;
    }

    bool expect(Channel &channel, const Step &step, QByteArray *buffer)
    {
        while (!buffer->contains("\r\n")) {
            if (!readMore(channel, buffer))
                return false; // the client may go whenever it likes; what it got to say is in lines()
        }
        const QByteArray line = buffer->first(buffer->indexOf("\r\n"));
        *buffer = buffer->sliced(line.size() + 2);
        const std::lock_guard guard(mutex);
        lines.append(line);
        if (line.startsWith(step.bytes))
            return true;
        problem = u"expected “%1”, got “%2”"_s.arg(QString::fromUtf8(step.bytes), QString::fromUtf8(line));
        return false;
    }

    bool readMail(Channel &channel, QByteArray *buffer)
    {
        while (!buffer->contains("\r\n.\r\n")) {
            if (!readMore(channel, buffer))
                return false;
        }
        const qsizetype end = buffer->indexOf("\r\n.\r\n") + 2;
        const std::lock_guard guard(mutex);
        mails.append(buffer->first(end));
        *buffer = buffer->sliced(end + 3);
        return true;
    }

    bool readBytes(Channel &channel, qsizetype count, QByteArray *buffer)
    {
        while (buffer->size() < count) {
            if (!readMore(channel, buffer))
                return false;
        }
        *buffer = buffer->sliced(count);
        return true;
    }

    /// One step; false: the connection is at its end.
    bool carryOut(Channel &channel, const Step &step, QByteArray *buffer)
    {
        switch (step.kind) {
        case Step::Kind::Expect:
            return expect(channel, step, buffer);
        case Step::Kind::Send:
            return send(channel, step);
        case Step::Kind::ReadMail:
            return readMail(channel, buffer);
        case Step::Kind::ReadBytes:
            return readBytes(channel, step.number, buffer);
        case Step::Kind::Pause:
            return pause(step.time);
        case Step::Kind::Call:
            step.function();
            return true;
        case Step::Kind::WaitFor:
            while (!*step.flag) {
                if (!pause(std::chrono::milliseconds(1)))
                    return false;
            }
            return true;
        case Step::Kind::StartTls:
            return startTls(channel, step.identity);
        case Step::Kind::SendInClear:
            return ::send(channel.socket, step.bytes.constData(), size_t(step.bytes.size()), MSG_NOSIGNAL) > 0;
        case Step::Kind::Close:
            return false;
        case Step::Kind::Reset: {
            const linger hard = {1, 0};
            ::setsockopt(channel.socket, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
            return false;
        }
        case Step::Kind::Hold:
            if (channel.tls)
                waitTls(channel.tls.get(), [] { return false; });
            else
                wait(channel.socket, POLLRDHUP);
            return false;
        }
        return false;
    }

    void run(const QList<SmtpScript> &scripts)
    {
        for (qsizetype i = 0; wait(listener, POLLIN, -1); ++i) {
            const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket < 0)
                return;
            ++connections;
            const int one = 1;
            ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
            Channel channel(socket);
            QByteArray buffer;
            if (i < scripts.size()) {
                for (const Step &step : scripts[i].m_steps) {
                    if (!carryOut(channel, step, &buffer))
                        break;
                }
            }
        }
    }

    int listener = -1;
    int stopEvent = -1;
    quint16 port = 0;
    std::atomic_int connections = 0;
    mutable std::mutex mutex;
    QByteArrayList lines;
    QByteArrayList mails;
    QString problem;
    std::thread thread;
};

ScriptedSmtp::ScriptedSmtp(const QList<SmtpScript> &scripts) : d(std::make_unique<Private>())
{
    d->stopEvent = ::eventfd(0, EFD_CLOEXEC);
    d->listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int small = 16 * 1024; // what nobody reads must soon be felt by the client
    ::setsockopt(d->listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto *any = reinterpret_cast<sockaddr *>(&address);
    const bool listening = ::bind(d->listener, any, size) == 0 && ::listen(d->listener, 16) == 0
        && ::getsockname(d->listener, any, &size) == 0;
    if (!listening)
        qFatal("the scripted mail server cannot listen");
    d->port = ntohs(address.sin_port);
    d->thread = std::thread([this, scripts] { d->run(scripts); });
}

ScriptedSmtp::~ScriptedSmtp()
{
    ::eventfd_write(d->stopEvent, 1);
    d->thread.join();
    ::close(d->listener);
    ::close(d->stopEvent);
}

quint16 ScriptedSmtp::port() const
{
    return d->port;
}

int ScriptedSmtp::connections() const
{
    return d->connections;
}

QByteArrayList ScriptedSmtp::lines() const
{
    const std::lock_guard guard(d->mutex);
    return d->lines;
}

QByteArrayList ScriptedSmtp::mails() const
{
    const std::lock_guard guard(d->mutex);
    return d->mails;
}

QString ScriptedSmtp::problem() const
{
    const std::lock_guard guard(d->mutex);
    return d->problem;
}

} // namespace sendonce::world
