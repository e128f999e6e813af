#pragma once

#include "worker/result.h"

#include <QString>

namespace sendonce::keychain {

/// The system's keychain (Secret Service, KWallet), service "sendonce". Main thread only; each call runs the event loop
/// until there is an answer, a minute at most, so nothing else may be going on: that is why it has a process of its
/// own. Errors: NotFound (no such entry), Unreachable (no keychain, or it does not answer), Refused. All name the
/// remedy.

Result<QString> read(const QString &account);
Result<void> store(const QString &account, const QString &secret);
Result<void> forget(const QString &account);

} // namespace sendonce::keychain
