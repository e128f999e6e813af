#pragma once

#include "worker/result.h"

#include <QString>
#include <QStringList>

#include <functional>

namespace sendonce {

/// What a command says on stderr: goes to ours, or its last line is the error when it fails.
enum class PasswordComplaint { Passes, IsTheError };

/// Runs the user's command that prints a password, without a shell, and gives the first line of what it prints.
/// Blocks, as long as `goOn` says true; then the command is killed. The errors complete
/// "no password: "; none holds what was printed.
Result<QString> runPasswordCommand(const QStringList &words, const std::function<bool()> &goOn,
                                   PasswordComplaint complaint = PasswordComplaint::Passes);

} // namespace sendonce
