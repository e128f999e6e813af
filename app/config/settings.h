#pragma once

#include "worker/config.h"
#include "worker/local/localservices.h"
#include "worker/result.h"

#include <QMap>
#include <QProcessEnvironment>
#include <QString>
#include <QStringList>

#include <optional>

namespace sendonce {

/// One setting: a flag, its environment names, and what --help says. The one table that both programs, their help and
/// the errors are made of.
struct Setting
{
    QString flag; ///< without dashes
    QStringList environment; ///< first that is set counts
    QString value; ///< placeholder; empty: a switch
    QString fallback; ///< the default, as help shows it
    QString help;
};

const QList<Setting> &allSettings();
QStringList allFlags();

/// What flags and environment name, raw.
struct GivenSettings
{
    QMap<QString, QString> values; ///< by flag; only what was given
    QMap<QString, QString> sources; ///< by flag: "--queue-url" or "SENDONCE_QUEUE_URL", for errors

    bool has(const QString &flag) const { return values.contains(flag); }
    /// True when queue, database or mail was named: the console shows it as the profile Environment.
    bool namesServices() const;
};

/// \param flags by name, only what was on the command line
GivenSettings gather(const QMap<QString, QString> &flags, const QProcessEnvironment &environment);

/// What is wrong with a password on the command line, for a warning; empty: there is none. \param flags as for gather()
QString visiblePassword(const QMap<QString, QString> &flags);

/// The data folder that counts: flag, environment, or the platform's data location.
QString dataDirOf(const GivenSettings &given);

/// Flags, environment and defaults -> Config; pure but for AWS's files. \param local the folder's embedded services,
/// when they run. An unusable value is Invalid: one line that names the setting, the value (never a secret) and what is
/// accepted.
Result<Config> resolve(const GivenSettings &given, const QProcessEnvironment &environment, const QString &dataDir,
                       const std::optional<LocalAddresses> &local);

/// "10", "10s" or "500ms"; nothing else.
std::optional<std::chrono::milliseconds> parseDuration(const QString &text);

} // namespace sendonce
