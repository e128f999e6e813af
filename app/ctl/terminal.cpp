#include "app/ctl/terminal.h"

#include "app/process/privacy.h"

#include <QJsonDocument>

#include <cstdio>

namespace sendonce {

using namespace Qt::StringLiterals;

int exitCodeOf(const Error &error)
{
    switch (error.kind) {
    case ErrorKind::Invalid:
    case ErrorKind::Refused:
        return Usage;
    case ErrorKind::Unreachable:
        return Unreachable;
    default:
        return Failed;
    }
}

std::optional<int> answered(CommandLine &line, const QStringList &words)
{
    const auto parsed = line.parse(words);
    if (!parsed) {
        complain(parsed.error().text);
        return Usage;
    }
    if (line.helpAsked()) {
        say(line.help().trimmed());
        return Done;
    }
    return std::nullopt;
}

void complain(const QString &text)
{
    std::fprintf(stderr, "sendoncectl: %s\n", text.toUtf8().constData());
}

void warnOfVisiblePassword(const QMap<QString, QString> &flags)
{
    if (const QString warning = visiblePassword(flags); !warning.isEmpty())
        complain(u"warning: "_s + warning);
}

void say(const QString &line)
{
    std::fputs((line + u'\n').toUtf8().constData(), stdout);
    std::fflush(stdout);
}

void sayJson(const QJsonObject &object)
{
    say(QString::fromUtf8(QJsonDocument(object).toJson(QJsonDocument::Compact)));
}

Result<Prepared> prepare(const CommandLine &line)
{
    const QMap<QString, QString> flags = line.settingFlags();
    warnOfVisiblePassword(flags);
    const QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    const GivenSettings given = gather(flags, environment);
    const auto dataDir = prepareDataDir(dataDirOf(given));
    if (!dataDir)
        return dataDir.error();
    Prepared prepared;
    auto local = LocalServices::find(dataDir.value());
    if (local)
        prepared.local = local.take();
    auto config = resolve(given, environment, dataDir.value(), prepared.local);
    if (!config)
        return config.error();
    prepared.config = config.take();
    return prepared;
}

} // namespace sendonce
