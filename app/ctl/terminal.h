#pragma once

#include "app/config/commandline.h"
#include "app/config/settings.h"
#include "worker/result.h"

#include <QJsonObject>
#include <QString>

#include <optional>

namespace sendonce {

/// Exit codes of `sendoncectl` (spec.md, "Programs").
enum ExitCode { Done = 0, Failed = 1, Usage = 2, GuaranteeBroken = 3, Unreachable = 4, Interrupted = 130 };

/// What an Error ends a program with.
int exitCodeOf(const Error &error);

/// Parses a subcommand's words and answers --help and wrong usage; the exit code when that was all, else nothing.
std::optional<int> answered(CommandLine &line, const QStringList &words);
/// One line on stderr: "sendoncectl: text".
void complain(const QString &text);
/// A warning for a password in --mail-url on the command line, which everybody can read with ps.
void warnOfVisiblePassword(const QMap<QString, QString> &flags);
/// Prints to stdout, flushed: other programs wait for these lines.
void say(const QString &line);

/// One JSON object on a line of its own.
void sayJson(const QJsonObject &object);

/// Data folder, the folder's running services, environment and flags -> Config; complaints printed. The exit code on
/// failure.
struct Prepared
{
    Config config;
    std::optional<LocalAddresses> local;
};
Result<Prepared> prepare(const CommandLine &line);

} // namespace sendonce
