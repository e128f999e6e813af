#include "app/ctl/commands.h"
#include "app/ctl/listing.h"
#include "app/ctl/terminal.h"
#include "worker/operate/preflightrun.h"

#include <QCoreApplication>
#include <QJsonObject>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

QString nameOf(CheckLine::Level level)
{
    switch (level) {
    case CheckLine::Level::Ok:
        return u"ok"_s;
    case CheckLine::Level::Warning:
        return u"warning"_s;
    case CheckLine::Level::Error:
        return u"error"_s;
    }
    return {};
}

void print(const CheckLine &line, bool json)
{
    if (json) {
        sayJson(QJsonObject{
            {u"id"_s, line.id}, {u"level"_s, nameOf(line.level)}, {u"text"_s, line.text}, {u"remedy"_s, line.remedy}});
        return;
    }
    say(u"%1  %2"_s.arg(nameOf(line.level), -7).arg(inert(line.text)));
    if (!line.remedy.isEmpty())
        say(u"         "_s + inert(line.remedy));
}

int exitCodeOf(const QList<CheckLine> &lines)
{
    if (std::any_of(lines.cbegin(), lines.cend(), [](const CheckLine &line) { return line.unreachable; }))
        return Unreachable;
    const auto isError = [](const CheckLine &line) { return line.level == CheckLine::Level::Error; };
    return std::any_of(lines.cbegin(), lines.cend(), isError) ? Failed : Done;
}

} // namespace

int runCheck(const QStringList &words)
{
    CommandLine line(u"sendoncectl check"_s, u"checks queue, database and mail server, and says what to put right"_s,
                     allFlags(), {{u"json"_s, {}, {}, u"JSON lines"_s}},
                     {u"sendoncectl check"_s, u"sendoncectl check --json"_s});
    if (const auto ended = answered(line, words))
        return *ended;
    const auto prepared = prepare(line);
    if (!prepared) {
        complain(prepared.error().text);
        return exitCodeOf(prepared.error());
    }
    // Nothing is open that a signal could damage: Ctrl+C just ends it.
    const std::atomic_bool never = false;
    PreflightRun run(prepared->config, never);
    QList<CheckLine> lines;
    const bool json = line.has(u"json"_s);
    QObject::connect(&run, &PreflightRun::line, qApp, [&](const CheckLine &each) {
        lines.append(each);
        print(each, json);
    });
    QObject::connect(&run, &PreflightRun::finished, qApp, &QCoreApplication::quit, Qt::QueuedConnection);
    run.start();
    QCoreApplication::exec();
    return exitCodeOf(lines);
}

} // namespace sendonce
