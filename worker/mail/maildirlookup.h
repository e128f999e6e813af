#pragma once

#include "worker/result.h"

#include <QString>

namespace sendonce {

/// Whether a Maildir holds a mail with this Message-ID (without its angle brackets): reads the heads of the files in
/// `new` and `cur`, newest first. Io when it is no Maildir that can be read. Takes as long as there are mails.
Result<bool> maildirHas(const QString &maildir, const QString &messageId);

} // namespace sendonce
