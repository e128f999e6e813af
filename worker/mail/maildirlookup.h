#pragma once

#include "worker/result.h"

#include <QSet>
#include <QString>

namespace sendonce {

/// Which of these Message-IDs (without angle brackets) a Maildir holds mails of: reads the heads of the files in `new`
/// and `cur`, newest first, once for all of them. Io when it is no Maildir that can be read. Takes as long as there are
/// mails.
Result<QSet<QString>> maildirHolds(const QString &maildir, const QSet<QString> &messageIds);
/// The same for one.
Result<bool> maildirHas(const QString &maildir, const QString &messageId);

} // namespace sendonce
