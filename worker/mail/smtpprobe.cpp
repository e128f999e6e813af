#include "worker/mail/smtpprobe.h"

#include "worker/mail/smtpsocket.h"

#include <chrono>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr std::chrono::milliseconds QuitTime(200);

/// A patience that ran out by itself means a server that does not answer; only a stop is Aborted to the caller.
Error told(const Error &error, const Patience &patience, const QString &doing)
{
    const bool silent = error.kind == ErrorKind::Aborted && !patience.stopped();
    return {silent ? ErrorKind::Unreachable : error.kind, u"%1: %2"_s.arg(doing, error.text), error.code};
}

Result<SmtpReply> ask(SmtpSocket &socket, const QByteArray &command, const Patience &patience)
{
    if (const Result<void> written = socket.write(command, patience); !written)
        return written.error();
    return socket.readReply(patience);
}

} // namespace

Result<SmtpGreeting> probeMailServer(const SmtpSettings &settings, const std::atomic_bool &stop)
{
    const Patience patience{QDeadlineTimer(settings.timeout), &stop};
    SmtpSocket socket;
    if (const Result<void> opened = socket.open(settings.host, settings.port, patience); !opened)
        return told(opened.error(), patience, u"no connection"_s);

    const Result<SmtpReply> greeting = socket.readReply(patience);
    if (!greeting)
        return told(greeting.error(), patience, u"no greeting"_s);
    if (!greeting->isPositive())
        return Error{ErrorKind::Refused, u"it greets with “%1”"_s.arg(greeting->text()), {}};

    const QByteArray name = settings.heloName.toLatin1();
    Result<SmtpReply> hello = ask(socket, "EHLO " + name + "\r\n", patience);
    const bool extended = hello && hello->isPositive();
    if (hello && hello->isPermanent()) // RFC 5321, 3.2: a server without extensions
        hello = ask(socket, "HELO " + name + "\r\n", patience);
    if (!hello)
        return told(hello.error(), patience, u"no answer to EHLO"_s);
    if (!hello->isPositive())
        return Error{ErrorKind::Refused, u"it answers EHLO with “%1”"_s.arg(hello->text()), {}};

    (void)ask(socket, "QUIT\r\n", {QDeadlineTimer(QuitTime), &stop});
    return SmtpGreeting{greeting->text(), extended ? hello->lines.mid(1) : QStringList()};
}

} // namespace sendonce
