#include "worker/mail/smtpprobe.h"

#include "worker/mail/smtpconnection.h"

namespace sendonce {

Result<SmtpGreeting> probeMailServer(const SmtpSettings &settings, const std::atomic_bool &stop)
{
    const Patience patience{QDeadlineTimer(settings.timeout), &stop};
    /// A patience that ran out by itself means a server that does not answer; only a stop is Aborted to the caller.
    const auto told = [&patience](const Error &error, const QString &text) {
        const bool silent = error.kind == ErrorKind::Aborted && !patience.stopped();
        return Error{silent ? ErrorKind::Unreachable : error.kind, text, error.code};
    };

    Result<std::unique_ptr<SmtpConnection>> opened = SmtpConnection::open(settings, patience);
    if (!opened)
        return told(opened.error(), opened.error().text);
    SmtpConnection &connection = *opened.value();
    connection.greet(patience);
    if (!connection.isUsable()) {
        const QString text = connection.outcome().text;
        return connection.fault() ? told(*connection.fault(), text) : Error{ErrorKind::Refused, text, {}};
    }
    connection.quit();
    return SmtpGreeting{connection.greeting(), connection.extensions()};
}

} // namespace sendonce
