#include "worker/mail/smtpclient.h"

#include "worker/mail/smtpconnection.h"

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr qsizetype MaxLine = 998; ///< RFC 5322, 2.1.1, without CRLF

/// Why these bytes must not go behind DATA; empty: they may.
QString refusedBytes(const QByteArray &bytes)
{
    if (bytes.isEmpty())
        return u"The mail is empty."_s;
    if (bytes.contains('\0'))
        return u"The mail holds a NUL."_s;
    for (qsizetype begin = 0; begin < bytes.size();) {
        const qsizetype cr = bytes.indexOf('\r', begin);
        const qsizetype end = cr < 0 ? bytes.size() : cr;
        const bool isCrAlone = cr >= 0 && (cr + 1 == bytes.size() || bytes[cr + 1] != '\n');
        if (isCrAlone || QByteArrayView(bytes).sliced(begin, end - begin).contains('\n'))
            return u"The mail holds a CR or LF alone."_s; // what SMTP smuggling lives on
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
    if (m_connection && m_connection->hasNews())
        m_connection.reset();
    for (;;) {
        if (!m_connection) {
            Result<std::unique_ptr<SmtpConnection>> opened = SmtpConnection::open(m_settings, patience);
            if (!opened)
                return notSent(
                    u"Mail server %1:%2: %3"_s.arg(m_settings.host).arg(m_settings.port).arg(opened.error().text),
                    false, patience.stopped());
            m_connection = opened.take();
        }
        const SmtpConnection::End end = m_connection->send(message, hooks, patience, m_settings.finalTimeout);
        const SendResult outcome = m_connection->outcome();
        if (!m_connection->isUsable())
            m_connection.reset();
        if (end == SmtpConnection::End::Done)
            return outcome;
        // Reopen: a new connection never asks for it, so this happens once.
    }
}

void SmtpClient::close()
{
    if (m_connection)
        m_connection->quit();
    m_connection.reset();
}

} // namespace sendonce
