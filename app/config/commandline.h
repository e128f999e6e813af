#pragma once

#include "app/config/settings.h"
#include "worker/result.h"

#include <QMap>
#include <QString>
#include <QStringList>

namespace sendonce {

/// An option of a program or subcommand, beside the settings.
struct CommandOption
{
    QString flag;
    QString value; ///< placeholder; empty: a switch
    QString fallback;
    QString help;
};

/// A program's (or subcommand's) words: parses them, and writes --help from the same table.
class CommandLine
{
public:
    /// \param name "sendoncectl dlq replay"; \param settings flags of allSettings() that it takes
    CommandLine(QString name, QString summary, QStringList settings, QList<CommandOption> options,
                QStringList examples = {});

    /// Words that are no options are accepted too, and are names(). \param placeholder "NAME…", for help
    void takeNames(const QString &placeholder) { m_namesPlaceholder = placeholder; }

    /// Invalid with one line for unknown options, a missing value, or words left over.
    Result<void> parse(const QStringList &words);

    bool helpAsked() const { return m_values.contains(QStringLiteral("help")); }
    QString help() const;
    bool has(const QString &flag) const { return m_values.contains(flag); }
    QString value(const QString &flag, const QString &fallback = {}) const { return m_values.value(flag, fallback); }
    QStringList values(const QString &flag) const { return m_all.value(flag); } ///< of an option given several times
    QStringList names() const { return m_names; } ///< in their order
    /// Only the flags that are settings.
    QMap<QString, QString> settingFlags() const;

private:
    QString m_name, m_summary;
    QStringList m_settings;
    QList<CommandOption> m_options;
    QStringList m_examples;
    QString m_namesPlaceholder; ///< empty: none are accepted
    QStringList m_names;
    QMap<QString, QString> m_values;
    QMap<QString, QStringList> m_all;
};

} // namespace sendonce
