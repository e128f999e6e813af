#pragma once

#include "worker/mail/smtpclient.h"
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

/// Connects, reads the greeting, says EHLO (HELO where that is not known) and QUIT; never MAIL. Blocks for at most
/// `settings.timeout`; `stop` ends it sooner. Unreachable: no connection, or no answer in time; Refused: it answers
/// with a refusal, given in the text; Protocol: what answers is no mail server; Aborted: told to stop. RFC 5321, 3.1,
/// 3.2.
Result<SmtpGreeting> probeMailServer(const SmtpSettings &settings, const std::atomic_bool &stop);

} // namespace sendonce
