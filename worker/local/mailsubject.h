#pragma once

#include "worker/faults/fault.h"

#include <QByteArray>

namespace sendonce {

/// Whom a fault would strike with this mail: its event (X-Sendonce-Event), and as key what makes two mails copies of
/// one another for receivers that suppress them: Message-ID and Date. Empty where it has no such header. Looks at the
/// headers alone (RFC 5322, 2.2; folded values are unfolded).
FaultSubject mailSubject(const QByteArray &mail);

} // namespace sendonce
