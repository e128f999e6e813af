#include "worker/scenario/scenariofile.h"
#include "worker/scenario/scenariorunner.h"
#include "worker/scenario/scenarios.h"

#include <QtTest>

#include <QTemporaryDir>

#include <map>

using namespace sendonce;
using namespace Qt::StringLiterals;
using Kind = ScenarioCheck::Kind;

/// Every scenario of the catalogue passes, and each of its expectations can fail. To run some of them and see their
/// logs: SENDONCE_SCENARIO=duplicate,storm.
class ScenariosTest : public QObject
{
    Q_OBJECT

    static constexpr int AtOnce = 8;
    using Runs = std::map<QString, std::unique_ptr<ScenarioRunner>>; ///< by name

    QTemporaryDir m_dir;
    Catalogue m_catalogue;
    Runs m_runs; ///< of the whole catalogue

    /// Runs them, several at a time, to their ends.
    Runs runAll(const QList<Scenario> &scenarios, const QString &folder, const QList<BoardStatement> &sabotage = {})
    {
        Runs runs;
        QList<Scenario> waiting = scenarios;
        int running = 0;
        while (!waiting.isEmpty() || running > 0) {
            while (running < AtOnce && !waiting.isEmpty()) {
                const Scenario scenario = waiting.takeFirst();
                const QString path = m_dir.filePath(folder + u'/' + scenario.name);
                auto runner = std::make_unique<ScenarioRunner>(scenario, ScenarioRunSettings{0, path, false, sabotage});
                connect(runner.get(), &ScenarioRunner::finished, this, [&running] { --running; });
                ++running;
                runner->start();
                runs[scenario.name] = std::move(runner);
            }
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        }
        return runs;
    }

    QList<Scenario> named(const QStringList &names) const
    {
        QList<Scenario> scenarios;
        for (const Scenario &scenario : m_catalogue.scenarios) {
            if (names.contains(scenario.name))
                scenarios.append(scenario);
        }
        return scenarios;
    }

    static QString everythingOf(const ScenarioRun &run)
    {
        static const QStringList States = {u"-"_s, u"…"_s, u"ok"_s, u"FAILED"_s};
        QStringList lines{run.error};
        for (const auto *list : {&run.steps, &run.expectations}) {
            for (const ScenarioLine &line : *list)
                lines.append(u"%1 | %2 | %3 | %4 ms"_s.arg(States.value(int(line.state)), line.text, line.seen,
                                                           QString::number(line.msec)));
        }
        return (lines + run.log).join(u'\n');
    }

    /// The same, expecting something else.
    static ScenarioCheck flipped(ScenarioCheck check)
    {
        switch (check.kind) {
        case Kind::Outcomes:
            check.texts.append(u"sent"_s);
            break;
        case Kind::OutcomeCounts:
            ++check.counts[check.counts.firstKey()];
            break;
        case Kind::LogText:
            check.subject += u" (not so)"_s;
            break;
        case Kind::Announced:
            check.texts = check.texts.isEmpty() ? QStringList{u"A"_s} : QStringList();
            break;
        case Kind::Verdict:
        case Kind::Replay:
            check.texts = QStringList{u"something else"_s};
            break;
        default:
            ++check.count;
            break;
        }
        return check;
    }

private Q_SLOTS:
    void initTestCase()
    {
        m_catalogue = loadCatalogue({});
        QCOMPARE(m_catalogue.problems, QStringList());
        const QString only = qEnvironmentVariable("SENDONCE_SCENARIO");
        QList<Scenario> scenarios = only.isEmpty() ? m_catalogue.scenarios : named(only.split(u','));
        // Those that wait longest first: the others run beside them.
        std::stable_partition(scenarios.begin(), scenarios.end(), [](const Scenario &scenario) {
            return scenario.world.strategy == Strategy::ClaimSendMark;
        });
        m_runs = runAll(scenarios, u"catalogue"_s);
    }

    void passes_data()
    {
        QTest::addColumn<QString>("name");
        for (const auto &[name, runner] : m_runs)
            QTest::newRow(qPrintable(name)) << name;
    }
    void passes()
    {
        QFETCH(QString, name);
        const ScenarioRun &run = m_runs.at(name)->run();
        if (qEnvironmentVariableIsSet("SENDONCE_SCENARIO"))
            qInfo().noquote() << everythingOf(run);
        QVERIFY2(run.state == ScenarioRun::State::Passed, qPrintable(everythingOf(run)));
        QVERIFY(!run.isGuaranteeBroken);
        for (const QString &evidence :
             {u"journal.db"_s, u"log.txt"_s, u"mailbox/new"_s, u"run.json"_s, u"report.html"_s})
            QVERIFY2(QFileInfo::exists(run.folder + u'/' + evidence), qPrintable(evidence));
    }

    void expectingSomethingElseFails_data() { passes_data(); }
    void expectingSomethingElseFails()
    {
        QFETCH(QString, name);
        const ScenarioSight &sight = m_runs.at(name)->sight();
        const Scenario scenario = named({name}).constFirst();
        for (const ScenarioCheck &check : scenario.expectations) {
            if (check.kind == Kind::Struck)
                continue; // see aFaultThatNeverStrikesFails()
            QVERIFY2(judge(check, sight, CheckMode::Exactly).holds, qPrintable(describe(check)));
            QVERIFY2(!judge(flipped(check), sight, CheckMode::Exactly).holds, qPrintable(describe(flipped(check))));
        }
    }

    /// A worker without a memory: each claim is gone as soon as it is made.
    void aDesignThatForgetsIsSeenToMailTwice()
    {
        const QStringList names = {u"duplicate"_s,           u"crash-after-commit"_s,    u"two-workers"_s,
                                   u"same-key-other-body"_s, u"wrapped-by-sns"_s,        u"expired-handle"_s,
                                   u"false-dead-letter"_s,   u"slow-mail-no-heartbeat"_s};
        const Runs runs = runAll(named(names), u"forgetting"_s,
                                 {{u"CREATE TRIGGER forget AFTER INSERT ON jobs_processedevent "
                                   "BEGIN DELETE FROM jobs_processedevent WHERE id = NEW.id; END"_s}});
        QCOMPARE(qsizetype(runs.size()), names.size());
        for (const auto &[name, runner] : runs) {
            QVERIFY2(runner->run().state == ScenarioRun::State::Failed, qPrintable(name));
            QVERIFY2(runner->run().isGuaranteeBroken, qPrintable(name + u'\n' + everythingOf(runner->run())));
            QVERIFY2(runner->sight().mails.value(u"A"_s) > 1, qPrintable(name));
        }
    }

    /// A worker that finds nobody to write to, whatever the event.
    void aDesignThatSendsNothingIsSeenToLose()
    {
        const QStringList names = {u"first-delivery"_s, u"send-fails-then-succeeds"_s, u"crash-before-mail"_s,
                                   u"commit-fails"_s, u"database-restart"_s};
        const Runs runs = runAll(named(names), u"losing"_s, {{u"DELETE FROM jobs_application"_s}});
        QCOMPARE(qsizetype(runs.size()), names.size());
        for (const auto &[name, runner] : runs) {
            QVERIFY2(runner->run().state == ScenarioRun::State::Failed, qPrintable(name));
            QVERIFY2(runner->run().isGuaranteeBroken, qPrintable(name));
        }
    }

    void aFaultThatNeverStrikesFails()
    {
        Scenario scenario = named({u"send-fails-then-succeeds"_s}).constFirst();
        scenario.name = u"idle-fault"_s;
        for (ScenarioStep &step : scenario.steps) {
            if (auto *arm = std::get_if<ArmStep>(&step.act))
                arm->rule.recipient = u"nobody@*"_s;
        }
        const Runs runs = runAll({scenario}, u"idle"_s);
        const ScenarioRun &run = runs.at(scenario.name)->run();
        QCOMPARE(run.state, ScenarioRun::State::Failed);
        QCOMPARE(run.expectations.last().state, ScenarioLine::State::Failed);
        QVERIFY2(run.expectations.last().seen.contains(u"recipient nobody@*"_s),
                 qPrintable(run.expectations.last().seen));
        QVERIFY(!run.isGuaranteeBroken);
    }

    void aWaitThatIsInVainEndsAndIsJudged()
    {
        const auto read =
            readScenario("{\"name\": \"vain\", \"title\": \"t\", \"steps\": [{\"send\": {\"event\": \"A\"}}, "
                         "{\"wait\": {\"queue\": 0}, \"timeoutMs\": 300}, {\"start\": \"all\"}], "
                         "\"expect\": {\"queue\": 1}}",
                         u"vain.json"_s);
        QVERIFY(read);
        const Runs runs = runAll({read.value()}, u"vain"_s);
        const ScenarioRun &run = runs.at(u"vain"_s)->run();
        QCOMPARE(run.state, ScenarioRun::State::Failed);
        QCOMPARE(run.steps[1].state, ScenarioLine::State::Failed);
        QCOMPARE(run.steps[1].seen, u"after 0.3 s: 1 message (wanted: queue: no messages)"_s);
        QCOMPARE(run.steps[2].state, ScenarioLine::State::Waiting);
        QCOMPARE(run.expectations[0].state, ScenarioLine::State::Done);
    }

    void theFaceListsRunsAndExports()
    {
        Scenarios scenarios(m_dir.filePath(u"face"_s), {});
        QSignalSpy listed(&scenarios, &Scenarios::listed);
        scenarios.list();
        QCOMPARE(listed.size(), 1);
        QCOMPARE(listed[0][0].value<ScenarioList>().scenarios.size(), m_catalogue.scenarios.size());
        QSignalSpy changes(&scenarios, &Scenarios::runChanged);
        QSignalSpy failures(&scenarios, &Scenarios::actFailed);
        QSignalSpy finished(&scenarios, &Scenarios::runsFinished);
        scenarios.run({u"duplicate"_s, u"no-such"_s, u"first-delivery"_s}, false);
        QTRY_COMPARE_WITH_TIMEOUT(finished.size(), 1, 30'000);
        QCOMPARE(failures.size(), 1);
        QVERIFY(failures[0][1].toString().contains(u"no-such"_s));
        QStringList over; // one after the other, in the order asked for
        for (const auto &change : changes) {
            const auto run = change[0].value<ScenarioRun>();
            if (run.state != ScenarioRun::State::Running)
                over.append(run.scenario);
        }
        QCOMPARE(over, (QStringList{u"duplicate"_s, u"first-delivery"_s}));
        QSignalSpy exported(&scenarios, &Scenarios::exported);
        scenarios.exportRuns(m_dir.filePath(u"runs.html"_s));
        QCOMPARE(exported.size(), 1);
        QVERIFY(QFileInfo(m_dir.filePath(u"runs.html"_s)).size() > 2000);
        scenarios.exportRuns(m_dir.filePath(u"runs.doc"_s));
        QCOMPARE(failures.size(), 2);
    }

    void stoppedRunsEndAndThoseBehindThemDoNotBegin()
    {
        Scenarios scenarios(m_dir.filePath(u"stopped"_s), {});
        QSignalSpy changes(&scenarios, &Scenarios::runChanged);
        QSignalSpy finished(&scenarios, &Scenarios::runsFinished);
        const auto last = [&changes] { return changes.last()[0].value<ScenarioRun>(); };
        scenarios.run({u"dead-then-replayed"_s, u"duplicate"_s}, false);
        QTRY_VERIFY_WITH_TIMEOUT(!changes.isEmpty() && last().steps[3].state == ScenarioLine::State::Running, 20'000);
        scenarios.stop();
        QTRY_COMPARE_WITH_TIMEOUT(finished.size(), 1, 20'000);
        QCOMPARE(last().scenario, u"dead-then-replayed"_s);
        QCOMPARE(last().state, ScenarioRun::State::Stopped);
    }

    void slowMotionPassesToo()
    {
        Scenarios scenarios(m_dir.filePath(u"slow"_s), {});
        QSignalSpy changes(&scenarios, &Scenarios::runChanged);
        QSignalSpy finished(&scenarios, &Scenarios::runsFinished);
        scenarios.run({u"duplicate"_s}, true);
        QTRY_COMPARE_WITH_TIMEOUT(finished.size(), 1, 60'000);
        const auto run = changes.last()[0].value<ScenarioRun>();
        QVERIFY2(run.state == ScenarioRun::State::Passed, qPrintable(everythingOf(run)));
        QVERIFY(run.msec > 4000); // three pauses between steps, and some at stages
    }
};

QTEST_GUILESS_MAIN(ScenariosTest)
#include "tst_scenarios.moc"
