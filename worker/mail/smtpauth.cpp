#include "worker/mail/smtpauth.h"

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr qsizetype MaxCommand = 512; ///< RFC 5321, 4.5.3.1.4, with CRLF

QString nameOf(SmtpMechanism mechanism)
{
    switch (mechanism) {
    case SmtpMechanism::Plain:
        return u"PLAIN"_s;
    case SmtpMechanism::Login:
        return u"LOGIN"_s;
    case SmtpMechanism::XOAuth2:
        return u"XOAUTH2"_s;
    case SmtpMechanism::Any:
        break;
    }
    return u"PLAIN or LOGIN"_s;
}

} // namespace

SmtpAuth::SmtpAuth(const SmtpCredentials &credentials, SmtpMechanism mechanism) : m_mechanism(mechanism)
{
    const QByteArray user = credentials.user.toUtf8();
    const QByteArray password = credentials.password.toUtf8();
    switch (mechanism) {
    case SmtpMechanism::Plain:
    case SmtpMechanism::Any:
        m_answers = {QByteArray('\0' + user + '\0' + password).toBase64()}; // RFC 4616
        break;
    case SmtpMechanism::Login:
        m_answers = {user.toBase64(), password.toBase64()};
        break;
    case SmtpMechanism::XOAuth2:
        // A refusal comes as a 334 with the reason in JSON, which an empty line answers; only then the 535.
        m_answers = {QByteArray("user=" + user + "\1auth=Bearer " + password + "\1\1").toBase64(), QByteArray()};
        break;
    }
    for (const QByteArray &answer : std::as_const(m_answers)) {
        if (!answer.isEmpty() && answer != user.toBase64())
            m_secrets.append(QString::fromLatin1(answer));
    }
    m_secrets.append(credentials.password); // last: a short one may be a part of the others
}

Result<SmtpAuth> SmtpAuth::choose(const SmtpCredentials &credentials, const QStringList &offered)
{
    QList<SmtpMechanism> wanted{credentials.mechanism};
    if (credentials.mechanism == SmtpMechanism::Any)
        wanted = {SmtpMechanism::Plain, SmtpMechanism::Login};
    for (const SmtpMechanism mechanism : std::as_const(wanted)) {
        if (offered.contains(nameOf(mechanism), Qt::CaseInsensitive))
            return SmtpAuth(credentials, mechanism);
    }
    return Error{ErrorKind::Refused,
                 offered.isEmpty() ? u"The mail server offers no log-in, but the mail URL names a user."_s
                                   : u"The mail server offers the log-ins %1, but not %2."_s.arg(
                                       offered.join(u", "_s), nameOf(credentials.mechanism)),
                 {}};
}

QByteArray SmtpAuth::command()
{
    const QByteArray begin = "AUTH " + nameOf(m_mechanism).toLatin1();
    if (m_mechanism == SmtpMechanism::Login) // never standardized: its user name comes behind a question everywhere
        return begin + "\r\n";
    const QByteArray whole = begin + ' ' + m_answers.constFirst() + "\r\n";
    if (whole.size() > MaxCommand) // RFC 4954, section 4
        return begin + "\r\n";
    m_answers.removeFirst();
    return whole;
}

std::optional<QByteArray> SmtpAuth::answer()
{
    if (m_answers.isEmpty())
        return std::nullopt;
    return m_answers.takeFirst() + "\r\n";
}

QString SmtpAuth::mechanism() const
{
    return nameOf(m_mechanism);
}

QString SmtpAuth::redacted(QString text) const
{
    for (const QString &secret : m_secrets)
        text.replace(secret, u"…"_s);
    return text;
}

} // namespace sendonce
