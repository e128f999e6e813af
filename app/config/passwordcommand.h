#pragma once

#include "worker/result.h"

#include <QString>
#include <QStringList>

#include <functional>

namespace sendonce {

/// Runs the user's command that prints a password, without a shell, and gives the first line of what it prints. What it
/// says on stderr goes to ours. Blocks, as long as `goOn` says true; then the command is killed. The errors complete
/// "no password: "; none holds what was printed.
Result<QString> runPasswordCommand(const QStringList &words, const std::function<bool()> &goOn);

} // namespace sendonce
