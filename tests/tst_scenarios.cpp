#include "worker/scenario/scenariofile.h"
#include "worker/scenario/scenariorunner.h"

#include <QtTest>

#include <QTemporaryDir>

using namespace sendonce;
using namespace Qt::StringLiterals;

/// Every scenario of the catalogue passes, and each of its expectations can fail.
class ScenariosTest : public QObject
{
    Q_OBJECT

    static constexpr int AtOnce = 4;

    QTemporaryDir m_dir;
    std::map<QString, std::unique_ptr<ScenarioRunner>> m_runs; ///< over, by name

    /// Runs them, several at a time.
    void runAll(const QList<Scenario> &scenarios)
    {
        QList<Scenario> waiting = scenarios;
        int running = 0;
        while (!waiting.isEmpty() || running > 0) {
            while (running < AtOnce && !waiting.isEmpty()) {
                const Scenario scenario = waiting.takeFirst();
                auto runner = std::make_unique<ScenarioRunner>(
                    scenario, ScenarioRunSettings{0, m_dir.filePath(scenario.name), false, {}});
                connect(runner.get(), &ScenarioRunner::finished, this, [&running] { --running; });
                runner->start();
                ++running;
                m_runs[scenario.name] = std::move(runner);
            }
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        }
    }

    static QString whatFailed(const ScenarioRun &run)
    {
        QStringList lines{run.error};
        for (const auto *list : {&run.steps, &run.expectations}) {
            for (const ScenarioLine &line : *list)
                lines.append(u"%1 | %2 | %3 | %4 ms"_s.arg(QString::number(int(line.state)), line.text, line.seen,
                                                           QString::number(line.msec)));
        }
        return (lines + run.log).join(u'\n');
    }

private Q_SLOTS:
    void initTestCase()
    {
        const Catalogue catalogue = loadCatalogue({});
        QCOMPARE(catalogue.problems, QStringList());
        const QString only = qEnvironmentVariable("SENDONCE_SCENARIO");
        QList<Scenario> scenarios;
        for (const Scenario &scenario : catalogue.scenarios) {
            if (only.isEmpty() || only.split(u',').contains(scenario.name))
                scenarios.append(scenario);
        }
        runAll(scenarios);
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
        QVERIFY2(run.state == ScenarioRun::State::Passed, qPrintable(whatFailed(run)));
        if (qEnvironmentVariableIsSet("SENDONCE_SCENARIO"))
            qInfo().noquote() << whatFailed(run);
        qInfo("%lld ms", run.msec);
    }
};

QTEST_GUILESS_MAIN(ScenariosTest)
#include "tst_scenarios.moc"
