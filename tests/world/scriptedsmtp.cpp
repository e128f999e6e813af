#include "tests/world/scriptedsmtp.h"

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

    /// More bytes into `buffer`; false: the client has closed, or the end.
    bool readMore(int socket, QByteArray *buffer)
    {
        char bytes[16 * 1024];
        if (!wait(socket, POLLIN))
            return false;
        const ssize_t count = ::recv(socket, bytes, sizeof(bytes), 0);
        if (count <= 0)
            return false;
        buffer->append(bytes, count);
        return true;
    }

    bool send(int socket, const Step &step)
    {
        for (qsizetype i = 0; i < step.bytes.size(); i += step.number) {
            const QByteArray piece = step.bytes.mid(i, step.number);
            if (::send(socket, piece.constData(), size_t(piece.size()), MSG_NOSIGNAL) != piece.size())
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

    bool expect(int socket, const Step &step, QByteArray *buffer)
    {
        while (!buffer->contains("\r\n")) {
            if (!readMore(socket, buffer))
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

    bool readMail(int socket, QByteArray *buffer)
    {
        while (!buffer->contains("\r\n.\r\n")) {
            if (!readMore(socket, buffer))
                return false;
        }
        const qsizetype end = buffer->indexOf("\r\n.\r\n") + 2;
        const std::lock_guard guard(mutex);
        mails.append(buffer->first(end));
        *buffer = buffer->sliced(end + 3);
        return true;
    }

    bool readBytes(int socket, qsizetype count, QByteArray *buffer)
    {
        while (buffer->size() < count) {
            if (!readMore(socket, buffer))
                return false;
        }
        *buffer = buffer->sliced(count);
        return true;
    }

    /// One step; false: the connection is at its end.
    bool carryOut(int socket, const Step &step, QByteArray *buffer)
    {
        switch (step.kind) {
        case Step::Kind::Expect:
            return expect(socket, step, buffer);
        case Step::Kind::Send:
            return send(socket, step);
        case Step::Kind::ReadMail:
            return readMail(socket, buffer);
        case Step::Kind::ReadBytes:
            return readBytes(socket, step.number, buffer);
        case Step::Kind::Pause:
            return pause(step.time);
        case Step::Kind::Call:
            step.function();
            return true;
        case Step::Kind::Close:
            return false;
        case Step::Kind::Reset: {
            const linger hard = {1, 0};
            ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
            return false;
        }
        case Step::Kind::Hold:
            wait(socket, POLLRDHUP);
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
            QByteArray buffer;
            if (i < scripts.size()) {
                for (const Step &step : scripts[i].m_steps) {
                    if (!carryOut(socket, step, &buffer))
                        break;
                }
            }
            ::close(socket);
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
