#pragma once

#include "worker/config.h"
#include "worker/result.h"

#include <QString>

namespace sendonce {

/// A line that nobody sees: from the terminal without echo, else from stdin. \param prompt on the terminal
Result<QString> readSecret(const QString &prompt);

/// Where only the keychain can have the mail password: asks it, and when it has none the person at the terminal, each
/// time anew. An error without either; it names the remedy.
Result<void> askForMailPassword(Config &config);

} // namespace sendonce
