#include "ui/celldelegate.h"
#include "ui/emptystate.h"
#include "ui/mainwindow.h"
#include "ui/plainlabel.h"
#include "ui/rowtable.h"
#include "ui/scenariodetails.h"
#include "ui/scenariolinesmodel.h"
#include "ui/scenariorunsmodel.h"
#include "ui/scenariosmodel.h"
#include "ui/scenariospanel.h"
#include "ui/scenariowords.h"
#include "ui/searchfield.h"
#include "ui/windowactions.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabBar>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

using RunState = ScenarioRun::State;
using LineState = ScenarioLine::State;

const QDateTime Noon = QDateTime::fromString(u"2026-03-01T12:00:00Z"_s, Qt::ISODate);

ScenarioInfo info(const QString &name)
{
    ScenarioInfo info;
    info.name = name;
    info.title = u"Title of "_s + name;
    info.explanation = {u"What "_s + name, u"is about."_s};
    info.steps = {u"send event A"_s, u"wait until the queue is empty"_s};
    info.expectations = {u"1 e-mail for A"_s};
    return info;
}

ScenarioRun run(qint64 id, const QString &name, RunState state, int stepsDone = 2)
{
    ScenarioRun run;
    run.id = id;
    run.scenario = name;
    run.title = info(name).title;
    run.state = state;
    run.startedAt = Noon.addSecs(id);
    run.msec = 1240;
    run.folder = u"/data/scenarios/"_s + name;
    for (const QString &text : info(name).steps) {
        const qsizetype at = run.steps.size();
        run.steps.append({text,
                          at < stepsDone        ? LineState::Done
                              : at == stepsDone ? LineState::Running
                                                : LineState::Waiting,
                          {},
                          at < stepsDone ? 20 : -1});
    }
    const bool over = state == RunState::Passed || state == RunState::Failed;
    run.expectations.append({info(name).expectations.first(),
                             !over                           ? LineState::Waiting
                                 : state == RunState::Passed ? LineState::Done
                                                             : LineState::Failed,
                             state == RunState::Failed ? u"2 e-mails"_s : QString(), -1});
    run.log = {u"w1 INFO Emailed user 5"_s};
    return run;
}

/// The panel as a person has it, with three scenarios.
struct Shown
{
    ScenariosPanel panel;

    Shown()
    {
        panel.resize(1000, 620);
        panel.show();
        panel.setReady();
        panel.showList({{info(u"first"_s), info(u"second"_s), info(u"third"_s)}, {}});
    }
    QPushButton *button(const char *name) const { return panel.findChild<QPushButton *>(QLatin1StringView(name)); }
    QString label(const char *name) const { return panel.findChild<PlainLabel *>(QLatin1StringView(name))->text(); }
    QString cell(int row, int column) const { return panel.table()->model()->index(row, column).data().toString(); }
    QString line(int row, int column, int role = Qt::DisplayRole) const
    {
        return panel.details()->lines()->index(row, column).data(role).toString();
    }
    QTabBar *lists() const
    {
        const auto bars = panel.findChildren<QTabBar *>();
        return *std::find_if(bars.cbegin(), bars.cend(),
                             [](const QTabBar *bar) { return bar->accessibleName() == "Catalogue and runs"_L1; });
    }
};

void click(QAbstractButton *button)
{
    QVERIFY(button && button->isVisible() && button->isEnabled());
    QTest::mouseClick(button, Qt::LeftButton);
}

} // namespace

class TestScenariosPanel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u"^(?!This plugin does not support)"_s)); }

    void theCatalogueIsReadAndItsFirstScenarioTold()
    {
        ScenariosPanel panel;
        QAbstractItemModelTester tester(panel.model());
        QSignalSpy asked(&panel, &ScenariosPanel::listQueried);
        panel.refresh();
        QCOMPARE(asked.size(), 0); // nobody is there who could answer
        panel.setReady();
        QCOMPARE(asked.size(), 1);
        QVERIFY(panel.table()->emptyState()->title().startsWith(u"Reading"_s));
        panel.showList({{info(u"first"_s), info(u"second"_s)}, {}});
        QCOMPARE(panel.table()->model()->rowCount(), 2);
        QCOMPARE(panel.findChild<PlainLabel *>(u"scenarioTitle"_s)->text(), u"Title of first"_s);
        QCOMPARE(panel.findChild<PlainLabel *>(u"scenarioExplanation"_s)->text(), u"What first is about."_s);
        QCOMPARE(panel.findChild<PlainLabel *>(u"scenarioVerdict"_s)->text(), u"not run yet"_s);
        QCOMPARE(panel.details()->lines()->rowCount(), 5); // two headings, two steps, one expectation
        QVERIFY(!panel.findChild<QPushButton *>(u"copyEvidence"_s)->isEnabled());
        panel.table()->selectRow(1);
        QCOMPARE(panel.findChild<PlainLabel *>(u"scenarioTitle"_s)->text(), u"Title of second"_s);
        panel.refresh();
        QCOMPARE(asked.size(), 2);
    }

    void aFileThatCannotBeReadIsNamed()
    {
        Shown stage;
        auto *problems = stage.panel.findChild<PlainLabel *>(u"scenarioProblems"_s);
        QVERIFY(!problems->isVisible());
        stage.panel.showList({{info(u"first"_s)}, {u"/home/sam/mine.json: line 7: steps: must be a list"_s}});
        QVERIFY(problems->isVisible());
        QCOMPARE(problems->text(), u"/home/sam/mine.json: line 7: steps: must be a list"_s);
    }

    void theChosenOnesAreRunAndTickedOffWhileTheyGoOn()
    {
        Shown stage;
        QAbstractItemModelTester tester(stage.panel.details()->lines());
        QSignalSpy ran(&stage.panel, &ScenariosPanel::runRequested);
        QSignalSpy stopped(&stage.panel, &ScenariosPanel::stopRequested);
        QVERIFY(!stage.button("stopScenarios")->isEnabled());
        stage.panel.table()->selectRow(1);
        click(stage.button("runChosen"));
        QCOMPARE(ran.size(), 1);
        QCOMPARE(ran.first().at(0).toStringList(), QStringList(u"second"_s));
        QCOMPARE(ran.first().at(1).toBool(), false);

        stage.panel.takeRun(run(1, u"second"_s, RunState::Running, 1));
        QTRY_COMPARE(stage.cell(1, ScenariosModel::Verdict), u"step 2 of 2"_s);
        QCOMPARE(stage.line(1, ScenarioLinesModel::Text, GlyphRole), u"check"_s);
        QCOMPARE(stage.line(1, ScenarioLinesModel::Seen), u"done"_s);
        QCOMPARE(stage.line(2, ScenarioLinesModel::Text, GlyphRole), u"play"_s);
        QCOMPARE(stage.line(2, ScenarioLinesModel::Seen), u"now"_s);
        QCOMPARE(stage.line(4, ScenarioLinesModel::Text, GlyphRole), u"dash"_s);
        QCOMPARE(stage.label("scenarioWords"), u"1 to go"_s);

        stage.panel.takeRun(run(1, u"second"_s, RunState::Passed));
        stage.panel.showFinished();
        QCOMPARE(stage.cell(1, ScenariosModel::Verdict), u"passed"_s);
        QCOMPARE(stage.cell(1, ScenariosModel::Time), u"1.2 s"_s);
        QCOMPARE(stage.label("scenarioVerdict"), u"passed · 1.2 s"_s);
        QCOMPARE(stage.label("scenarioWords"), u"passed 1"_s);
        QCOMPARE(stage.label("scenarioFolder"), u"Evidence: /data/scenarios/second"_s);
        click(stage.button("copyEvidence"));
        QCOMPARE(QGuiApplication::clipboard()->text(), u"/data/scenarios/second"_s);
        QVERIFY(!stage.button("stopScenarios")->isEnabled());
        QCOMPARE(stopped.size(), 0);
    }

    void aFailedOneSaysWhatWasSeenInstead()
    {
        Shown stage;
        stage.panel.table()->selectRow(0);
        ScenarioRun failed = run(1, u"first"_s, RunState::Failed);
        stage.panel.takeRun(failed);
        QTRY_COMPARE(stage.cell(0, ScenariosModel::Verdict), u"failed"_s);
        QCOMPARE(stage.line(4, ScenarioLinesModel::Seen), u"2 e-mails"_s);
        QCOMPARE(stage.line(4, ScenarioLinesModel::Text, GlyphRole), u"cross"_s);
        failed.isGuaranteeBroken = true;
        stage.panel.takeRun(failed);
        QTRY_COMPARE(stage.cell(0, ScenariosModel::Verdict), u"guarantee broken"_s);
        failed.error = u"no free port"_s;
        stage.panel.takeRun(failed);
        QTRY_COMPARE(stage.label("scenarioVerdict"), u"not run to its end · 1.2 s: no free port"_s);
    }

    void runAllIsFollowedUntilSomebodyChooses()
    {
        Shown stage;
        QSignalSpy ran(&stage.panel, &ScenariosPanel::runRequested);
        auto *slow = stage.panel.findChild<QCheckBox *>(u"slowMotion"_s);
        click(slow);
        click(stage.button("runAllScenarios"));
        QCOMPARE(ran.first().at(0).toStringList(), QStringList());
        QCOMPARE(ran.first().at(1).toBool(), true);
        QCOMPARE(stage.label("scenarioWords"), u"3 to go"_s);
        stage.panel.takeRun(run(1, u"first"_s, RunState::Running, 0));
        QTRY_COMPARE(stage.label("scenarioTitle"), u"Title of first"_s);
        stage.panel.takeRun(run(1, u"first"_s, RunState::Passed));
        stage.panel.takeRun(run(2, u"second"_s, RunState::Running, 0));
        QTRY_COMPARE(stage.label("scenarioTitle"), u"Title of second"_s);
        QCOMPARE(stage.panel.table()->currentIndex().row(), 1);
        QCOMPARE(stage.label("scenarioWords"), u"passed 1 · 2 to go"_s);
        stage.panel.table()->selectRow(0);
        stage.panel.takeRun(run(2, u"second"_s, RunState::Failed));
        stage.panel.takeRun(run(3, u"third"_s, RunState::Running, 0));
        QTRY_COMPARE(stage.label("scenarioWords"), u"passed 1 · failed 1 · 1 to go"_s);
        QCOMPARE(stage.label("scenarioTitle"), u"Title of first"_s);

        QSignalSpy stopped(&stage.panel, &ScenariosPanel::stopRequested);
        click(stage.button("stopScenarios"));
        QCOMPARE(stopped.size(), 1);
        QVERIFY(!stage.button("stopScenarios")->isEnabled());
        QVERIFY(stage.label("scenarioWords").startsWith(u"stopping…"_s));
        stage.panel.takeRun(run(3, u"third"_s, RunState::Stopped, 0));
        stage.panel.showFinished();
        QCOMPARE(stage.label("scenarioWords"), u"passed 1 · failed 1 · stopped 1"_s);
    }

    void historyKeepsEachRunWithItsTicks()
    {
        Shown stage;
        QAbstractItemModelTester tester(stage.panel.runs());
        stage.panel.takeRun(run(1, u"first"_s, RunState::Failed));
        stage.panel.takeRun(run(2, u"first"_s, RunState::Passed));
        QTRY_COMPARE(stage.panel.runs()->rowCount(), 2);
        QCOMPARE(stage.cell(0, ScenariosModel::Verdict), u"passed"_s); // the newest
        QCOMPARE(stage.lists()->tabText(1), u"Runs · 2"_s);
        stage.lists()->setCurrentIndex(1);
        RowTable *history = nullptr;
        for (RowTable *table : stage.panel.findChildren<RowTable *>()) {
            if (table->model() == stage.panel.runs())
                history = table;
        }
        QVERIFY(history);
        history->selectRow(1);
        QCOMPARE(stage.label("scenarioVerdict"), u"failed · 1.2 s"_s);
        history->selectRow(0);
        QCOMPARE(stage.label("scenarioVerdict"), u"passed · 1.2 s"_s);
        stage.lists()->setCurrentIndex(0);
        QCOMPARE(stage.label("scenarioTitle"), u"Title of first"_s);
        // An older state of an older run does not come before the newest one.
        stage.panel.takeRun(run(1, u"first"_s, RunState::Failed));
        QTest::qWait(60); // one round of coalesced updates
        QCOMPARE(stage.cell(0, ScenariosModel::Verdict), u"passed"_s);
        for (int id = 3; id < 3 + ScenarioRunsModel::Bound; ++id)
            stage.panel.takeRun(run(id, u"second"_s, RunState::Passed));
        QTRY_COMPARE(stage.panel.runs()->rowCount(), int(ScenarioRunsModel::Bound));
    }

    void burstsAreCoalesced()
    {
        Shown stage;
        QSignalSpy changed(stage.panel.runs(), &QAbstractItemModel::dataChanged);
        stage.panel.takeRun(run(1, u"first"_s, RunState::Running, 0));
        for (int i = 0; i < 1000; ++i) {
            ScenarioRun next = run(1, u"first"_s, RunState::Running, 1);
            next.msec = i;
            stage.panel.takeRun(next);
        }
        QTRY_COMPARE(stage.panel.runs()->rowCount(), 1);
        QVERIFY2(changed.size() <= 2, qPrintable(QString::number(changed.size())));
        QCOMPARE(stage.panel.runs()->run(0).msec, 999);
    }

    void theReportIsWrittenAndTheOutcomeSaid()
    {
        Shown stage;
        QSignalSpy wanted(&stage.panel, &ScenariosPanel::exportRequested);
        QVERIFY(!stage.button("reportScenarios")->isEnabled()); // nothing was run
        stage.panel.takeRun(run(1, u"first"_s, RunState::Passed));
        QTRY_VERIFY(stage.button("reportScenarios")->isEnabled());
        click(stage.button("reportScenarios"));
        auto *dialog = stage.panel.findChild<QFileDialog *>(u"reportFile"_s);
        QVERIFY(dialog);
        Q_EMIT dialog->fileSelected(u"/tmp/out.xml"_s);
        QCOMPARE(wanted.size(), 1);
        QCOMPARE(wanted.first().first().toString(), u"/tmp/out.xml"_s);
        stage.panel.showExported(u"/tmp/another.html"_s); // the matrix's
        QCOMPARE(stage.label("scenarioWords"), u"Writing the report…"_s);
        stage.panel.showExported(u"/tmp/out.xml"_s);
        QCOMPARE(stage.label("scenarioWords"), u"Report written: /tmp/out.xml"_s);
        dialog->close();
        Q_EMIT dialog->fileSelected(u"/tmp/out.html"_s);
        stage.panel.showActFailed(u"export"_s, u"the disk is full"_s);
        QCOMPARE(stage.label("scenarioWords"), u"the disk is full"_s);
        QVERIFY(stage.button("reportScenarios")->isEnabled());
    }

    void theSearchNarrowsTheCatalogue()
    {
        Shown stage;
        stage.panel.searchField()->search(u"SECOND"_s);
        QCOMPARE(stage.panel.table()->model()->rowCount(), 1);
        QSignalSpy ran(&stage.panel, &ScenariosPanel::runRequested);
        stage.panel.table()->selectRow(0);
        click(stage.button("runChosen"));
        QCOMPARE(ran.first().first().toStringList(), QStringList(u"second"_s));
        stage.panel.searchField()->search(u"no such"_s);
        QCOMPARE(stage.panel.table()->model()->rowCount(), 0);
        QVERIFY(stage.panel.table()->emptyState()->title().startsWith(u"No scenario"_s));
        QVERIFY(!stage.button("runChosen")->isEnabled());
    }

    void elsewhereNothingIsRunAndItIsSaidWhy()
    {
        WindowSetup somebodys;
        somebodys.embedded = false;
        MainWindow window(somebodys);
        window.show();
        ScenariosPanel *panel = window.scenariosPanel();
        panel->setReady();
        panel->showList({{info(u"first"_s)}, {}});
        window.bringForward(panel);
        QVERIFY(!panel->findChild<QPushButton *>(u"runAllScenarios"_s)->isEnabled());
        QVERIFY(!panel->acts().first()->isEnabled());
        QVERIFY(!panel->findChild<PlainLabel *>(u"scenarioWords"_s)->text().isEmpty());
        window.showProfile({});
        QVERIFY(panel->findChild<QPushButton *>(u"runAllScenarios"_s)->isEnabled());
    }

    void itsActsAreInTheMenu()
    {
        MainWindow window;
        for (const QAction *act : window.scenariosPanel()->acts())
            QVERIFY2(window.actions().test->actions().contains(const_cast<QAction *>(act)), qPrintable(act->text()));
    }

    void textOfStrangersDoesNotAct()
    {
        Shown stage;
        ScenarioInfo hostile = info(u"own"_s);
        hostile.title = hostile.file = u"<b>x</b>\n\u202Ey"_s;
        hostile.steps = hostile.explanation = {hostile.title};
        stage.panel.showList({{hostile}, {hostile.title}});
        stage.panel.table()->selectRow(0);
        QVERIFY(!stage.cell(0, ScenariosModel::Title).contains(u'\n'));
        QVERIFY(!stage.line(1, ScenarioLinesModel::Text).contains(QChar(0x202e)));
        for (const PlainLabel *label : stage.panel.findChildren<PlainLabel *>()) {
            QCOMPARE(label->textFormat(), Qt::PlainText);
            QVERIFY(!label->text().contains(QChar(0x202e)));
        }
    }
};

QTEST_MAIN(TestScenariosPanel)
#include "tst_scenariospanel.moc"
