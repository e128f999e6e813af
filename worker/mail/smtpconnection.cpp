#include "worker/mail/smtpconnection.h"

#include <QSslConfiguration>

using namespace Qt::StringLiterals;

namespace sendonce {

using Kind = SmtpConversation::Step::Kind;

namespace {

constexpr std::chrono::milliseconds QuitTime(200);

Error because(const QString &what, const Error &error)
{
    return {error.kind, u"%1: %2"_s.arg(what, error.text), error.code};
}

} // namespace

SmtpConnection::SmtpConnection(const SmtpSettings &settings)
    : m_settings(settings)
    , m_socket(settings.security != SmtpSecurity::Clear)
{ }

Result<std::unique_ptr<SmtpConnection>> SmtpConnection::open(const SmtpSettings &settings, const Patience &patience)
{
    std::unique_ptr<SmtpConnection> connection(new SmtpConnection(settings));
    if (!settings.user.isEmpty()) {
        const Result<QString> password = settings.password
            ? settings.password->get([&patience] { return !patience.over(); })
            : Error{ErrorKind::Invalid, u"none was given"_s, {}};
        if (!password)
            return because(u"no password"_s, password.error());
        connection->m_terms.login = SmtpCredentials{settings.user, password.value(), settings.mechanism};
    }
    if (const Result<void> reached = connection->reach(patience); !reached)
        return reached.error();
    return connection;
}

Result<void> SmtpConnection::reach(const Patience &patience)
{
    if (const Result<void> opened = m_socket.open(m_settings.host, m_settings.port, patience); !opened)
        return because(u"no connection"_s, opened.error());
    const bool staysHere = m_socket.staysHere();
    // A name like localhost may lead elsewhere: what counts is where it led.
    if (m_settings.security == SmtpSecurity::Clear && !m_settings.allowPlain && !staysHere)
        return Error{ErrorKind::Invalid, u"it is another computer, and mails would go there in clear"_s, {}};
    if (m_settings.security == SmtpSecurity::Tls) {
        if (const Result<void> encrypted = encrypt(patience); !encrypted)
            return encrypted;
    }
    m_terms.startTls = m_settings.security == SmtpSecurity::StartTls;
    m_terms.confidential = m_settings.security == SmtpSecurity::Tls || staysHere;
    m_conversation.emplace(m_settings.heloName, m_terms);
    return {};
}

Result<void> SmtpConnection::encrypt(const Patience &patience)
{
    QSslConfiguration configuration = QSslConfiguration::defaultConfiguration();
    if (!m_settings.authorities.isEmpty())
        configuration.addCaCertificates(m_settings.authorities);
    const Result<void> encrypted = m_socket.encrypt(m_settings.host, configuration, patience);
    return encrypted ? encrypted : because(u"no TLS"_s, encrypted.error());
}

void SmtpConnection::greet(const Patience &patience)
{
    m_fault.reset();
    Step step = m_conversation->greet();
    while (step.kind == Kind::Read || step.kind == Kind::Encrypt)
        step = carryOut(step, patience);
    tellRefusedPassword();
}

SmtpConnection::End SmtpConnection::send(const MimeMessage &message, const SendHooks &hooks, const Patience &patience,
                                         std::chrono::milliseconds finalTimeout)
{
    m_fault.reset();
    Step step = m_conversation->begin(message);
    while (step.kind != Kind::Done && step.kind != Kind::Reopen)
        step = step.kind == Kind::Body ? body(message.bytes, hooks, patience, finalTimeout) : carryOut(step, patience);
    tellRefusedPassword();
    return step.kind == Kind::Done ? End::Done : End::Reopen;
}

SmtpConnection::Step SmtpConnection::carryOut(Step step, const Patience &patience)
{
    if (step.kind == Kind::Read)
        return ask(step.bytes, patience);
    const Result<void> encrypted = encrypt(patience);
    return encrypted ? m_conversation->encrypted() : giveUp(encrypted.error(), patience);
}

SmtpConnection::Step SmtpConnection::giveUp(const Error &error, const Patience &patience)
{
    m_fault = error;
    return error.kind == ErrorKind::Unreachable ? m_conversation->lost(error.text)
                                                : m_conversation->giveUp(error.text, patience.stopped());
}

SmtpConnection::Step SmtpConnection::readReply(const Patience &patience)
{
    const Result<SmtpReply> reply = m_socket.readReply(patience);
    return reply ? m_conversation->reply(reply.value()) : giveUp(reply.error(), patience);
}

SmtpConnection::Step SmtpConnection::ask(const QByteArray &bytes, const Patience &patience)
{
    const Result<void> written = m_socket.write(bytes, patience);
    return written ? readReply(patience) : giveUp(written.error(), patience);
}

SmtpConnection::Step SmtpConnection::body(const QByteArray &message, const SendHooks &hooks, const Patience &patience,
                                          std::chrono::milliseconds finalTimeout)
{
    const Result<void> written = m_socket.write(SmtpConversation::dotStuffed(message), patience, true);
    if (!written)
        return giveUp(written.error(), patience);
    if (m_socket.hasNews()) // nobody asked it: it refuses, or it has closed
        return readReply(patience);
    if (patience.over())
        return giveUp(patience.ended(), patience);
    if (hooks.beforeDot && !hooks.beforeDot())
        return m_conversation->giveUp(u"abandoned"_s, patience.stopped());
    if (m_socket.hasNews())
        return readReply(patience);
    if (patience.over())
        return giveUp(patience.ended(), patience);

    // The line that cannot be taken back. The state changes first, and nobody can stop us behind it.
    const Step end = m_conversation->handOver();
    const Patience finalPatience{QDeadlineTimer(finalTimeout), nullptr};
    const Result<void> ended = m_socket.write(end.bytes, finalPatience);
    if (!ended)
        return giveUp(ended.error(), finalPatience);
    if (hooks.afterDot)
        hooks.afterDot();
    return readReply(finalPatience);
}

void SmtpConnection::tellRefusedPassword() const
{
    if (m_conversation->logInRefused())
        m_settings.password->refused(m_terms.login->password);
}

void SmtpConnection::quit()
{
    if (m_socket.hasNews())
        return;
    const Patience patience{QDeadlineTimer(QuitTime), nullptr};
    if (m_socket.write("QUIT\r\n", patience))
        (void)m_socket.readReply(patience);
}

} // namespace sendonce
