#pragma once

#include "worker/mail/smtpreply.h"
#include "worker/result.h"

#include <QByteArray>
#include <QString>
#include <QStringList>

#include <optional>

namespace sendonce {

/// How a password is handed over (RFC 4954). Any: PLAIN where it is offered, else LOGIN.
enum class SmtpMechanism { Any, Plain, Login, XOAuth2 };

struct SmtpCredentials
{
    QString user;
    QString password; ///< with XOAuth2 the access token
    SmtpMechanism mechanism = SmtpMechanism::Any;

    bool operator==(const SmtpCredentials &) const = default;
};

/// The client's side of one AUTH, pure. Everything it writes is a secret: for the socket alone.
class SmtpAuth
{
public:
    /// \param offered as EHLO names them. Refused when none of them is ours; the text says what is offered.
    static Result<SmtpAuth> choose(const SmtpCredentials &credentials, const QStringList &offered);

    /// The line that begins it, with an initial answer where that fits into a command's 512 octets.
    QByteArray command();
    /// What a 334 wants; nothing: more was asked than the mechanism has answers.
    std::optional<QByteArray> answer();

    QString mechanism() const; ///< "PLAIN"
    /// `text` without what we said, for a server that repeats it.
    QString redacted(QString text) const;

private:
    SmtpAuth(const SmtpCredentials &credentials, SmtpMechanism mechanism);

    SmtpMechanism m_mechanism;
    QList<QByteArray> m_answers; ///< base64; still to be given
    QStringList m_secrets;
};

} // namespace sendonce
