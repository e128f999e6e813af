#include "worker/mail/smtpclient.h"

#include "worker/mail/smtpconversation.h"
#include "worker/mail/smtpsocket.h"

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {

using Step = SmtpConversation::Step;

namespace {

constexpr quint16 DefaultPort = 25;
constexpr qsizetype MaxLine = 998; ///< RFC 5322, 2.1.1, without CRLF
constexpr std::chrono::milliseconds QuitTime(200);

/// Why these bytes must not go behind DATA; empty: they may.
QString refusedBytes(const QByteArray &bytes)
{
    if (bytes.isEmpty())
        return u"The mail is empty."_s;
    if (bytes.contains('\0'))
        return u"The mail holds a NUL."_s;
    if (bytes.count('\r') != bytes.count("\r\n") || bytes.count('\n') != bytes.count("\r\n"))
        return u"The mail holds a CR or LF alone."_s; // what SMTP smuggling lives on
    for (qsizetype begin = 0; begin < bytes.size();) {
        const qsizetype found = bytes.indexOf("\r\n", begin);
        const qsizetype end = found < 0 ? bytes.size() : found;
        if (end - begin > MaxLine)
            return u"A line of the mail has more than %1 octets."_s.arg(MaxLine);
        begin = end + 2;
    }
    return {};
}

/// What would break out of a command, or be refused anyway: found before anything is sent.
QString refusedMail(const MimeMessage &message, const SmtpSettings &settings)
{
    const QString &name = settings.heloName;
    if (name.isEmpty() || !std::all_of(name.cbegin(), name.cend(), [](QChar c) { return c > u' ' && c <= u'~'; }))
        return u"The name for EHLO must be printable ASCII without blanks."_s;
    if (!message.sender.isEmpty()) { // empty: <>, to which nobody answers
        if (const Result<MailAddress> sender = MailAddress::fromAddress(message.sender); !sender)
            return sender.error().text;
    }
    if (const Result<MailAddress> recipient = MailAddress::fromAddress(message.recipient); !recipient)
        return recipient.error().text;
    return refusedBytes(message.bytes);
}

SendResult notSent(const QString &text, bool permanent, bool aborted = false)
{
    return {SendResult::Status::NotSent, {}, text, permanent, aborted};
}

} // namespace

struct SmtpClient::Connection
{
    explicit Connection(const QString &heloName) : conversation(heloName) { }

    Step giveUp(const Error &error, const Patience &patience)
    {
        return error.kind == ErrorKind::Unreachable ? conversation.lost(error.text)
                                                    : conversation.giveUp(error.text, patience.stopped());
    }

    Step readReply(const Patience &patience)
    {
        const Result<SmtpReply> reply = socket.readReply(patience);
        return reply ? conversation.reply(reply.value()) : giveUp(reply.error(), patience);
    }

    Step ask(const QByteArray &bytes, const Patience &patience)
    {
        const Result<void> written = socket.write(bytes, patience);
        return written ? readReply(patience) : giveUp(written.error(), patience);
    }

    Step body(const QByteArray &message, const SendHooks &hooks, const Patience &patience,
              std::chrono::milliseconds finalTimeout)
    {
        const Result<void> written = socket.write(SmtpConversation::dotStuffed(message), patience, true);
        if (!written)
            return giveUp(written.error(), patience);
        if (socket.hasNews()) // nobody asked it: it refuses, or it has closed
            return readReply(patience);
        if (patience.over())
            return giveUp(patience.ended(), patience);
        if (hooks.beforeDot && !hooks.beforeDot())
            return conversation.giveUp(u"abandoned"_s, patience.stopped());
        if (socket.hasNews())
            return readReply(patience);
        if (patience.over())
            return giveUp(patience.ended(), patience);

        // The line that cannot be taken back. The state changes first, and nobody can stop us behind it.
        const Step end = conversation.handOver();
        const Patience finalPatience{QDeadlineTimer(finalTimeout), nullptr};
        const Result<void> ended = socket.write(end.bytes, finalPatience);
        if (!ended)
            return giveUp(ended.error(), finalPatience);
        if (hooks.afterDot)
            hooks.afterDot();
        return readReply(finalPatience);
    }

    SmtpSocket socket;
    SmtpConversation conversation;
};

Result<SmtpSettings> SmtpSettings::fromUrl(const QUrl &url)
{
    const auto invalid = [](const QString &text) { return Error{ErrorKind::Invalid, text, {}}; };
    const QString form = u"smtp://host[:port] is accepted"_s;
    if (url.isEmpty() || !url.isValid())
        return invalid(u"that is no mail URL; "_s + form);
    if (url.scheme() == "smtps"_L1 || url.scheme() == "smtp+starttls"_L1)
        return invalid(u"mail over %1 is not in this version yet; "_s.arg(url.scheme()) + form);
    if (url.scheme() != "smtp"_L1)
        return invalid(u"the scheme “%1” is not known; "_s.arg(url.scheme()) + form);
    if (!url.userInfo().isEmpty())
        return invalid(u"user and password are not in this version yet; "_s + form);
    if (url.host().isEmpty())
        return invalid(u"the mail URL names no host; "_s + form);
    if (url.port(DefaultPort) < 1)
        return invalid(u"the port of the mail URL must be 1 to 65535; "_s + form);
    if ((!url.path().isEmpty() && url.path() != "/"_L1) || url.hasQuery() || url.hasFragment())
        return invalid(u"nothing may stand behind host and port of the mail URL; "_s + form);
    SmtpSettings settings;
    settings.host = QString::fromLatin1(QUrl::toAce(url.host()));
    if (settings.host.isEmpty())
        settings.host = url.host();
    settings.port = quint16(url.port(DefaultPort));
    return settings;
}

SmtpClient::SmtpClient(SmtpSettings settings) : m_settings(std::move(settings)) { }

SmtpClient::~SmtpClient() = default;

SendResult SmtpClient::send(const MimeMessage &message, const SendHooks &hooks, const std::atomic_bool &stop)
{
    if (const QString refused = refusedMail(message, m_settings); !refused.isEmpty())
        return notSent(refused, true);
    const Patience patience{QDeadlineTimer(m_settings.timeout), &stop};
    if (stop)
        return notSent(patience.ended().text, false, true);

    // What a server says or does between two mails is that it closes.
    if (m_connection && m_connection->socket.hasNews())
        m_connection.reset();
    for (;;) {
        if (!m_connection) {
            m_connection = std::make_unique<Connection>(m_settings.heloName);
            const Result<void> opened = m_connection->socket.open(m_settings.host, m_settings.port, patience);
            if (!opened) {
                m_connection.reset();
                return notSent(u"The mail server %1:%2 cannot be reached: %3"_s.arg(m_settings.host)
                                   .arg(m_settings.port)
                                   .arg(opened.error().text),
                               false, patience.stopped());
            }
        }
        Step step = m_connection->conversation.begin(message);
        while (step.kind == Step::Kind::Read || step.kind == Step::Kind::Body)
            step = step.kind == Step::Kind::Read
                ? m_connection->ask(step.bytes, patience)
                : m_connection->body(message.bytes, hooks, patience, m_settings.finalTimeout);

        const SendResult outcome = m_connection->conversation.outcome();
        if (!m_connection->conversation.isUsable())
            m_connection.reset();
        if (step.kind == Step::Kind::Done)
            return outcome;
        // Reopen: a new connection never asks for it, so this happens once.
    }
}

void SmtpClient::close()
{
    if (m_connection && !m_connection->socket.hasNews()) {
        const Patience patience{QDeadlineTimer(QuitTime), nullptr};
        if (m_connection->socket.write("QUIT\r\n", patience))
            (void)m_connection->socket.readReply(patience);
    }
    m_connection.reset();
}

} // namespace sendonce
