#pragma once

#include "worker/config.h"
#include "worker/mail/mailpassword.h"
#include "worker/mail/smtpauth.h"
#include "worker/result.h"

#include <QList>
#include <QSslCertificate>
#include <QString>
#include <QUrl>

#include <chrono>
#include <memory>

namespace sendonce {

/// Clear: as it is; StartTls: TLS from STARTTLS on, or no mail; Tls: from the first byte. RFC 3207, RFC 8314.
enum class SmtpSecurity { Clear, StartTls, Tls };

struct SmtpSettings
{
    QString host;
    quint16 port = 25;
    QString heloName = QStringLiteral("sendonce.local");
    std::chrono::milliseconds timeout{10'000}; ///< before the final dot, for the whole dialogue
    std::chrono::milliseconds finalTimeout{60'000}; ///< after it
    SmtpSecurity security = SmtpSecurity::Clear;
    bool allowPlain = false; ///< Clear, and to another computer; a password never goes that way
    QString user = {}; ///< empty: no log-in
    SmtpMechanism mechanism = SmtpMechanism::Any;
    std::shared_ptr<MailPassword> password = {};
    QList<QSslCertificate> authorities = {}; ///< trusted beside the system's

    /// smtp://, smtp+starttls:// (or smtp+tls://) and smtps:// (or smtp+ssl://), [user[:password]@]host[:port], and
    /// ?auth=plain, login or xoauth2. Invalid in words, without what the URL holds: it may be a secret.
    static Result<SmtpSettings> fromUrl(const QUrl &url);
    /// The whole of a configuration. Invalid also when mails would go to another computer in clear without leave, or a
    /// user has no password. Reads the file of mailCaFile.
    static Result<SmtpSettings> fromConfig(const Config &config);
};

} // namespace sendonce
