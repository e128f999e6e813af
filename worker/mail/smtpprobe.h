#pragma once

#include "worker/mail/smtpsettings.h"
#include "worker/result.h"

#include <QString>
#include <QStringList>

#include <atomic>

namespace sendonce {

/// What a mail server says before any mail.
struct SmtpGreeting
{
    QString greeting; ///< "220 mail.example ESMTP"
    QStringList extensions; ///< as EHLO names them, "SIZE 10240000"; empty for a server that knows HELO alone

    bool operator==(const SmtpGreeting &) const = default;
};

/// Everything that comes before a mail: connects, EHLO (HELO where that is not known), TLS and log-in where they are
/// configured, and QUIT; never MAIL. Blocks for at most `settings.timeout`; `stop` ends it sooner. Unreachable: no
/// connection, or no answer in time; Refused: a refusal, or a certificate that is not the right one; Protocol: what
/// answers is no mail server; Invalid: a setting; Aborted: told to stop. RFC 5321, 3.1, 3.2.
Result<SmtpGreeting> probeMailServer(const SmtpSettings &settings, const std::atomic_bool &stop);

} // namespace sendonce
