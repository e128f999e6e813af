#include "app/ctl/commands.h"
#include "app/ctl/listing.h"
#include "app/ctl/terminal.h"
#include "app/process/stopsignals.h"
#include "worker/scenario/scenarioreport.h"
#include "worker/scenario/scenarios.h"

#include <QCoreApplication>
#include <QDir>
#include <QJsonArray>
#include <QJsonObject>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QThread>

#include <algorithm>
#include <csignal>
#include <memory>
#include <unistd.h>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

const CommandOption ScenarioDir{u"scenario-dir"_s, u"DIR"_s, u"the configuration folder's scenarios"_s,
                                u"your own scenario files (*.json)"_s};

QString scenarioDirOf(const CommandLine &line)
{
    return line.value(u"scenario-dir"_s,
                      QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation)
                          + u"/sendonce/scenarios"_s);
}

ScenarioList listOf(Scenarios &scenarios)
{
    ScenarioList found;
    const auto connection = QObject::connect(&scenarios, &Scenarios::listed, &scenarios,
                                             [&found](const ScenarioList &list) { found = list; });
    scenarios.list();
    QObject::disconnect(connection);
    return found;
}

void complainOf(const QStringList &problems)
{
    for (const QString &problem : problems)
        complain(inert(problem));
}

/// Runs scenarios and prints a line for each; knows the exit code.
class ScenarioCommand : public QObject
{
public:
    ScenarioCommand(Scenarios &scenarios, const CommandLine &line)
        : m_scenarios(scenarios)
        , m_isJson(line.has(u"json"_s))
        , m_shows(line.has(u"slow"_s) && !m_isJson)
    {
        for (const QString &flag : {u"junit"_s, u"html"_s}) {
            if (line.has(flag))
                m_files.append(line.value(flag));
        }
        connect(&scenarios, &Scenarios::runChanged, this, &ScenarioCommand::changed);
        connect(&scenarios, &Scenarios::runsFinished, this, &ScenarioCommand::finish);
        connect(&scenarios, &Scenarios::actFailed, this, [this](const QString &, const QString &text) {
            complain(inert(text));
            m_hasFailed = true;
        });
        connect(&m_signals, &StopSignals::asked, this, [this](int signal) {
            if (m_interrupted && signal == SIGINT) // Ctrl+C again: at once
                ::_exit(128 + signal);
            m_interrupted = true;
            m_scenarios.stop();
        });
    }

private:
    void changed(const ScenarioRun &run)
    {
        if (m_shows)
            showSteps(run);
        if (run.state == ScenarioRun::State::Running)
            return;
        ++(run.state == ScenarioRun::State::Passed ? m_passed : m_failed);
        m_isBroken = m_isBroken || run.isGuaranteeBroken;
        if (m_isJson)
            sayJson(toJson(run));
        else
            say(run);
    }

    void say(const ScenarioRun &run)
    {
        static const QMap<ScenarioRun::State, QString> Verdicts = {{ScenarioRun::State::Passed, u"passed"_s},
                                                                   {ScenarioRun::State::Failed, u"FAILED"_s},
                                                                   {ScenarioRun::State::Stopped, u"stopped"_s}};
        sendonce::say(u"%1  %2  %3 (%4 s)"_s.arg(Verdicts.value(run.state), -7)
                          .arg(run.scenario, -26)
                          .arg(inert(run.title), QString::number(double(run.msec) / 1000, 'f', 1)));
        for (const QString &fault : faultsOf(run))
            sendonce::say(u"         "_s + inert(fault));
    }

    /// Each step as it ends: slowly, for an audience.
    void showSteps(const ScenarioRun &run)
    {
        if (m_shown.first != run.id) {
            m_shown = {run.id, 0};
            sendonce::say(inert(run.title));
        }
        for (; m_shown.second < run.steps.size(); ++m_shown.second) {
            const ScenarioLine &step = run.steps[m_shown.second];
            if (step.state != ScenarioLine::State::Done && step.state != ScenarioLine::State::Failed)
                return;
            sendonce::say(
                u"  %1%2"_s.arg(inert(step.text), step.seen.isEmpty() ? QString() : u" · "_s + inert(step.seen)));
        }
    }

    void finish()
    {
        for (const QString &file : std::as_const(m_files))
            m_scenarios.exportRuns(file);
        if (!m_isJson)
            sendonce::say(u"%1 passed, %2 failed"_s.arg(m_passed).arg(m_failed));
        QCoreApplication::exit(m_interrupted                     ? Interrupted
                                   : m_isBroken                  ? GuaranteeBroken
                                   : m_failed > 0 || m_hasFailed ? Failed
                                                                 : Done);
    }

    Scenarios &m_scenarios;
    StopSignals m_signals;
    const bool m_isJson;
    const bool m_shows;
    QStringList m_files;
    std::pair<qint64, qsizetype> m_shown{0, 0}; ///< the run, and how many of its steps
    int m_passed = 0;
    int m_failed = 0; ///< stopped ones too
    bool m_isBroken = false;
    bool m_hasFailed = false;
    bool m_interrupted = false;
};

/// The endings say which form a file gets.
std::optional<QString> wrongEnding(const CommandLine &line)
{
    if (line.has(u"junit"_s) && !line.value(u"junit"_s).endsWith(".xml"_L1))
        return u"--junit is “%1”; accepted: a file that ends in .xml"_s.arg(line.value(u"junit"_s));
    if (line.has(u"html"_s) && !line.value(u"html"_s).endsWith(".html"_L1))
        return u"--html is “%1”; accepted: a file that ends in .html"_s.arg(line.value(u"html"_s));
    return std::nullopt;
}

} // namespace

int runScenarioList(const QStringList &words)
{
    CommandLine line(u"sendoncectl scenario list"_s, u"lists the scenarios, your own behind the program's"_s, {},
                     {{u"json"_s, {}, {}, u"JSON lines, with steps and expectations"_s}, ScenarioDir});
    if (const auto ended = answered(line, words))
        return *ended;
    Scenarios scenarios({}, scenarioDirOf(line));
    const ScenarioList list = listOf(scenarios);
    const bool json = line.has(u"json"_s);
    Listing listing({u"name"_s, u"title"_s}, json);
    for (const ScenarioInfo &info : list.scenarios) {
        Listing::Row row{{u"name"_s, info.name}, {u"title"_s, info.title}};
        if (json) {
            row += {{u"explanation"_s, QJsonArray::fromStringList(info.explanation)},
                    {u"steps"_s, QJsonArray::fromStringList(info.steps)},
                    {u"expectations"_s, QJsonArray::fromStringList(info.expectations)},
                    {u"file"_s, info.file}};
        }
        listing.add(row);
    }
    listing.print(u"there are no scenarios"_s);
    complainOf(list.problems);
    return list.problems.isEmpty() ? Done : Failed;
}

int runScenarioRun(const QStringList &words)
{
    CommandLine line(
        u"sendoncectl scenario run"_s,
        u"runs scenarios, each on embedded services of its own; 0 when all passed, 3 when an event got too many or too "
        "few e-mails, else 1"_s,
        {},
        {{u"all"_s, {}, {}, u"all that scenario list names"_s},
         {u"junit"_s, u"FILE"_s, {}, u"write a report for CI (.xml)"_s},
         {u"html"_s, u"FILE"_s, {}, u"write a report for people (.html), one self-contained file"_s},
         {u"json"_s, {}, {}, u"a JSON line for each run"_s},
         {u"slow"_s, {}, {}, u"one after the other, with pauses, for an audience"_s},
         {u"at-once"_s, u"N"_s, u"twice the processors, at most 8"_s, u"runs at a time: 1 to 32"_s},
         {u"keep"_s, u"DIR"_s, {}, u"keep each run's journal, log and e-mails there"_s},
         ScenarioDir},
        {u"sendoncectl scenario run duplicate exact-instant --html report.html"_s,
         u"sendoncectl scenario run --all --junit out.xml"_s});
    line.takeNames(u"NAME…"_s);
    if (const auto ended = answered(line, words))
        return *ended;
    if (line.names().isEmpty() != line.has(u"all"_s)) {
        complain(u"name the scenarios, or say --all; sendoncectl scenario list names them"_s);
        return Usage;
    }
    if (const auto wrong = wrongEnding(line)) {
        complain(*wrong);
        return Usage;
    }
    const int processors = std::clamp(2 * QThread::idealThreadCount(), 1, 8);
    bool isNumber = true;
    const int atOnce = line.has(u"at-once"_s) ? line.value(u"at-once"_s).toInt(&isNumber) : processors;
    if (!isNumber || atOnce < 1 || atOnce > 32) {
        complain(u"--at-once is “%1”; accepted: a number from 1 to 32"_s.arg(line.value(u"at-once"_s)));
        return Usage;
    }
    QTemporaryDir temporary;
    const QString workDir =
        line.has(u"keep"_s) ? QDir(line.value(u"keep"_s)).absolutePath() : temporary.filePath(u"runs"_s);
    Scenarios scenarios(workDir, scenarioDirOf(line));
    const ScenarioList list = listOf(scenarios);
    complainOf(list.problems);
    for (const QString &name : line.names()) {
        const auto isIt = [&name](const ScenarioInfo &info) { return info.name == name; };
        if (std::none_of(list.scenarios.cbegin(), list.scenarios.cend(), isIt)) {
            complain(u"there is no scenario “%1”; sendoncectl scenario list names them"_s.arg(inert(name)));
            return Usage;
        }
    }
    ScenarioCommand command(scenarios, line);
    scenarios.setAtOnce(line.has(u"slow"_s) ? 1 : atOnce);
    scenarios.run(line.names(), line.has(u"slow"_s));
    const int code = QCoreApplication::exec();
    return code == Done && !list.problems.isEmpty() ? Failed : code;
}

} // namespace sendonce
