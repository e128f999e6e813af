#include "worker/scenario/scenariofile.h"

#include <QtTest>

#include <QTemporaryDir>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using Kind = ScenarioCheck::Kind;

/// What a scenario's file says, what is wrong with one, and what its expectations mean.
class ScenarioFileTest : public QObject
{
    Q_OBJECT

    /// A file whose third line are its steps and whose fourth is what is expected.
    static QByteArray file(const QByteArray &steps, const QByteArray &expect, const QByteArray &more = {})
    {
        return "{\"name\": \"mine\",\n\"title\": \"Mine\"," + more + "\n\"steps\": " + steps
            + ",\n\"expect\": " + expect + "}";
    }
    static QByteArray withSteps(const QByteArray &steps)
    {
        return file("[{\"send\": {\"event\": \"A\"}}, " + steps + "]", "{\"queue\": 0}");
    }
    static QByteArray withExpectation(const QByteArray &expect)
    {
        return file("[{\"send\": {\"event\": \"A\"}}]", expect);
    }
    static QByteArray withWorld(const QByteArray &world)
    {
        return file("[{\"start\": \"all\"}]", "{\"queue\": 0}", "\n\"world\": " + world + ",");
    }

    static ScenarioSight sight()
    {
        ScenarioSight sight;
        sight.mails = {{u"A"_s, 2}};
        sight.recipients = {{u"sam@example.com"_s, 2}};
        sight.claims = {{u"A"_s, 1}};
        sight.queue = 3;
        sight.deadLetters = 1;
        sight.outcomes = {{u"A"_s, {u"in-doubt"_s, u"sent"_s, u"duplicate"_s}}};
        sight.levels = {{u"warning"_s, 2}};
        sight.log = QStringList{u"one line"_s, u"another line"_s};
        sight.announced = {u"A"_s};
        sight.verdicts = {{u"A"_s, u"handled"_s}};
        sight.replays = {{u"A"_s, u"skipped"_s}};
        sight.crashes = 1;
        sight.armed = 2;
        sight.idleFaults = QStringList{u"mail.end: reply 451, next 1"_s};
        return sight;
    }
    static ScenarioCheck check(Kind kind, const QString &subject, int count = 0, const QStringList &texts = {},
                               const QMap<QString, int> &counts = {})
    {
        return {kind, subject, count, texts, counts, 0};
    }

private Q_SLOTS:
    void everythingThatAFileCanSayIsRead()
    {
        QFile file(QStringLiteral(SENDONCE_SOURCE_DIR "/tests/data/scenario/everything.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const auto read = readScenario(file.readAll(), u"everything.json"_s);
        QVERIFY2(read, read ? "" : qPrintable(read.error().text));
        const Scenario &scenario = read.value();
        QCOMPARE(scenario.name, u"mine"_s);
        QCOMPARE(scenario.explanation, (QStringList{u"one"_s, u"two"_s}));
        WorldSettings world;
        world.workers = 2;
        world.visibility = 3s;
        world.maxReceiveCount = 5;
        world.strategy = Strategy::ClaimSendMark;
        world.inDoubt = DoubtPolicy::Ask;
        world.heartbeat = false;
        world.mailTimeout = 700ms;
        world.mailFinalTimeout = 800ms;
        world.mailRate = 9;
        QVERIFY(scenario.world == world);
        QCOMPARE(scenario.labels(), (QStringList{u"A"_s, u"B"_s, u"P"_s}));

        SendStep send;
        send.events = QStringList{u"A"_s, u"B"_s};
        send.copies = 2;
        send.application = 7;
        send.oldStatus = u"x"_s;
        send.newStatus = u"y"_s;
        send.delaySeconds = 1;
        send.wrapping = SendStep::Wrapping::Sns;
        QVERIFY(std::get<SendStep>(scenario.steps[0].act) == send);
        QCOMPARE(std::get<SendStep>(scenario.steps[1].act).body, u"{\"event_id\":\"{{event}}\"}"_s);
        const FaultRule rule = std::get<ArmStep>(scenario.steps[2].act).rule;
        QCOMPARE(rule.code, 550);
        QCOMPARE(rule.event, u"A"_s);
        QCOMPARE(scenario.steps[2].line, 10);
        QCOMPARE(std::get<StartStep>(scenario.steps[4].act).worker, 0);
        QCOMPARE(std::get<StartStep>(scenario.steps[5].act).worker, 2);
        QCOMPARE(std::get<StopStep>(scenario.steps[6].act).worker, 1);
        QCOMPARE(std::get<WaitStep>(scenario.steps[7].act).until.size(), 2);
        QCOMPARE(scenario.steps[7].timeout, 500ms);
        QVERIFY(std::get<ReplayStep>(scenario.steps[9].act) == ReplayStep());
        const ReplayStep replay{{u"A"_s}, u"because"_s, true, 4};
        QVERIFY(std::get<ReplayStep>(scenario.steps[10].act) == replay);
        QCOMPARE(std::get<BoardStep>(scenario.steps[13].act).what, BoardStep::What::DeleteCompany);
        QCOMPARE(std::get<CleanUpStep>(scenario.steps[15].act).afterDays, 60);

        QList<Kind> kinds;
        for (const ScenarioCheck &each : scenario.expectations)
            kinds.append(each.kind);
        QCOMPARE(kinds,
                 (QList{Kind::Mails, Kind::Recipient, Kind::Claims, Kind::Queue, Kind::DeadLetters, Kind::Outcomes,
                        Kind::OutcomeCounts, Kind::LogLevel, Kind::LogText, Kind::LogText, Kind::Announced,
                        Kind::Verdict, Kind::Replay, Kind::Crashes, Kind::Armed, Kind::Struck}));
        const ScenarioInfo info = infoOf(scenario);
        QCOMPARE(info.steps.size(), scenario.steps.size());
        QCOMPARE(info.steps[0],
                 u"send A, B, 2 messages of each about application 7: x -> y, wrapped by SNS, delayed by 1 s"_s);
        QCOMPARE(info.expectations[0], u"A: 1 e-mail"_s);
    }

    void aFaultNamesFileLineFieldAndWhatIsAccepted_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QString>("error");
        const auto row = [](const char *name, const QByteArray &json, const QString &error) {
            QTest::newRow(name) << json << u"f.json, "_s + error;
        };
        row("no JSON", "{\n\"name\": nope}", u"line 2, column 9: "_s);
        row("no object", "[]", u"line 1: a scenario is an array; an object is accepted"_s);
        row("an unknown member", file("[{\"start\": \"all\"}]", "{\"queue\": 0}", "\n\"wrold\": {},"),
            u"line 3: “wrold” is not known here; known are name, title, explain, world, steps, expect"_s);
        row("no name", "{\n\"title\": \"t\", \"steps\": [{\"start\": \"all\"}], \"expect\": {\"queue\": 0}}",
            u"line 1: name is missing; a text such as my-scenario is accepted"_s);
        row("a bad name", "{\n\"name\": \"My Scenario\", \"title\": \"t\", \"steps\": [], \"expect\": {}}",
            u"line 2: name is a text (“My Scenario”); a text of 1 to 60 small letters, digits and - is accepted"_s);
        row("no steps", file("[]", "{\"queue\": 0}"),
            u"line 3: steps is an array; a list of one step at least is accepted"_s);
        row("an empty expectation", withExpectation("{}"), u"line 4: expect is empty; one of mails, "_s);
        row("an unknown step", withSteps("\n{\"sned\": {}}"),
            u"line 4: steps[1].“sned” is not known here; known are send, arm"_s);
        row("no step", withSteps("{}"), u"line 3: steps[1] holds none; exactly one of send, arm"_s);
        row("two in one", withSteps("{\"start\": \"all\", \"stop\": \"all\"}"),
            u"line 3: steps[1] holds start and stop; exactly one of"_s);
        row("a time-out where nobody waits", withSteps("{\"start\": \"all\", \"timeoutMs\": 5}"),
            u"line 3: steps[1].timeoutMs stands beside start; it is accepted beside wait"_s);
        row("copies", withSteps("{\"send\": {\"event\": \"A\",\n\"copies\": \"3\"}}"),
            u"line 4: steps[1].send.copies is a text (“3”); a number from 1 to 10000 is accepted"_s);
        row("copies, too many", withSteps("{\"send\": {\"event\": \"A\", \"copies\": 10001}}"),
            u"line 3: steps[1].send.copies is a number (10001); a number from 1 to 10000 is accepted"_s);
        row("no event", withSteps("{\"send\": {}}"), u"line 3: steps[1].send.event is missing; a label such as A"_s);
        row("a bad label", withSteps("{\"send\": {\"event\": \"1 2\"}}"),
            u"line 3: steps[1].send.event is a text (“1 2”); a label of"_s);
        row("a body and its parts", withSteps("{\"send\": {\"event\": \"A\", \"body\": \"x\", \"new\": \"y\"}}"),
            u"line 3: steps[1].send.new is given beside a body; the body alone is accepted"_s);
        row("a wrapping", withSteps("{\"send\": {\"event\": \"A\", \"wrap\": \"mqtt\"}}"),
            u"line 3: steps[1].send.wrap is a text (“mqtt”); one of sns, eventbridge is accepted"_s);
        row("a fault at no point", withSteps("{\"arm\": {\"where\": \"mail.nowhere\", \"what\": \"reply\"}}"),
            u"line 3: steps[1].arm: "_s);
        row("a fault that cannot be there", withSteps("{\"arm\": {\"where\": \"mail.end\", \"what\": \"crash\"}}"),
            u"line 3: steps[1].arm: "_s);
        row("a fault that is none", withSteps("{\"arm\": \"mail.end\"}"),
            u"line 3: steps[1].arm is a text (“mail.end”); an object that says where and what is accepted"_s);
        row("a worker that is not there", withSteps("{\"start\": 2}"),
            u"line 3: steps[1].start is a number (2); “all” or a worker from 1 to 1 is accepted"_s);
        row("disarm one", withSteps("{\"disarm\": 1}"),
            u"line 3: steps[1].disarm is a number (1); one of all is accepted"_s);
        row("a replay", withSteps("{\"replay\": true}"), u"line 3: steps[1].replay is true; “all”, or an object"_s);
        row("a replay of what was not sent", withSteps("{\"replay\": {\"events\": \"B\"}}"),
            u"line 3: steps[1].replay.events names the event “B”, which no step before has sent; A is accepted"_s);
        row("a wait for what was not sent", withSteps("{\"wait\": {\"mails\": {\"B\": 1}}}"),
            u"line 3: steps[1].wait.mails.B names the event “B”, which no step before has sent; A is accepted"_s);
        row("a user without address", withSteps("{\"changeUser\": {\"id\": 5}}"),
            u"line 3: steps[1].changeUser.email is missing; a text"_s);
        row("a clean-up", withSteps("{\"cleanUp\": true}"),
            u"line 3: steps[1].cleanUp is true; an object is accepted"_s);
        row("an unknown expectation", withExpectation("{\n\"mials\": {}}"),
            u"line 5: expect.“mials” is not known here; known are mails, "_s);
        row("mails of a stranger", withExpectation("{\"mails\": {\"B\": 1}}"),
            u"line 4: expect.mails.B names the event “B”"_s);
        row("mails, how many", withExpectation("{\"mails\": {\"A\": true}}"),
            u"line 4: expect.mails.A is true; a number from 0 to 10000 is accepted"_s);
        row("mails, of whom", withExpectation("{\"mails\": 1}"),
            u"line 4: expect.mails is a number (1); an object is accepted"_s);
        row("an outcome", withExpectation("{\"outcomes\": {\"A\": [\"sent\",\n\"skipped\"]}}"),
            u"line 5: expect.outcomes.A[1] is a text (“skipped”); one of sent, duplicate, gone, failed, in-doubt, given-back is accepted"_s);
        row("outcomes, how many", withExpectation("{\"outcomes\": {\"A\": {\"skipped\": 1}}}"),
            u"line 4: expect.outcomes.A.“skipped” is not known here; known are sent"_s);
        row("a log level", withExpectation("{\"log\": {\"fatal\": 1}}"),
            u"line 4: expect.log.“fatal” is not known here"_s);
        row("a verdict", withExpectation("{\"verdicts\": {\"A\": \"fine\"}}"),
            u"line 4: expect.verdicts.A is a text (“fine”); one of not-handled, handled"_s);
        row("a verdict that nobody gives", withExpectation("{\"verdicts\": {\"A\": \"handled\"}}"),
            u"line 1: expect.verdicts needs a browse"_s);
        row("a replay that nobody starts", withExpectation("{\"replays\": {\"A\": \"mailed\"}}"),
            u"line 1: expect.replays needs a replay"_s);
        row("no world", withWorld("[]"), u"line 3: world is an array; an object is accepted"_s);
        row("a world's member", withWorld("{\"lanes\": 4}"), u"line 3: world.“lanes” is not known here"_s);
        row("a strategy", withWorld("{\"strategy\": \"redis\"}"),
            u"line 3: world.strategy is a text (“redis”); one of transaction, claim-send-mark is accepted"_s);
        row("a heartbeat", withWorld("{\"heartbeat\": 1}"),
            u"line 3: world.heartbeat is a number (1); true or false is accepted"_s);
        row("workers", withWorld("{\"workers\": 9}"),
            u"line 3: world.workers is a number (9); a number from 1 to 8 is accepted"_s);
    }
    void aFaultNamesFileLineFieldAndWhatIsAccepted()
    {
        QFETCH(QByteArray, json);
        QFETCH(QString, error);
        const auto read = readScenario(json, u"f.json"_s);
        QVERIFY(!read);
        QCOMPARE(read.error().kind, ErrorKind::Invalid);
        QVERIFY2(read.error().text.startsWith(error), qPrintable(read.error().text + u"\n"_s + error));
    }

    void theUsersFilesComeBehindTheCatalogueAndTakeNoNameOfIt()
    {
        QTemporaryDir dir;
        const auto write = [&dir](const QString &name, const QByteArray &content) {
            QFile out(dir.filePath(name));
            return out.open(QIODevice::WriteOnly) && out.write(content) == content.size();
        };
        QByteArray taken = withSteps("{\"start\": \"all\"}");
        taken.replace("mine", "duplicate");
        QVERIFY(write(u"a.json"_s, taken));
        QVERIFY(write(u"b.json"_s, withSteps("{\"start\": \"all\"}")));
        QVERIFY(write(u"c.json"_s, "{"));
        QVERIFY(write(u"d.txt"_s, "no scenario"));
        const Catalogue own = loadCatalogue({});
        const Catalogue all = loadCatalogue(dir.path());
        QVERIFY(own.scenarios.size() >= 20);
        QCOMPARE(own.problems, QStringList());
        QCOMPARE(all.scenarios.size(), own.scenarios.size() + 1);
        QCOMPARE(all.scenarios.last().name, u"mine"_s);
        QCOMPARE(all.scenarios.last().file, dir.filePath(u"b.json"_s));
        QCOMPARE(all.problems.size(), 2);
        QVERIFY2(all.problems[0].contains(u"name is “duplicate”, which the catalogue has already"_s),
                 qPrintable(all.problems[0]));
        QVERIFY2(all.problems[1].startsWith(dir.filePath(u"c.json"_s) + u", line 1, column "_s),
                 qPrintable(all.problems[1]));
        QCOMPARE(loadCatalogue(dir.filePath(u"nowhere"_s)).problems, QStringList());
    }

    void aCheckHoldsOrSaysWhatThereIs_data()
    {
        QTest::addColumn<ScenarioCheck>("wanted");
        QTest::addColumn<bool>("exactly");
        QTest::addColumn<bool>("atLeast");
        QTest::addColumn<QString>("seen");
        const auto row = [](const char *name, const ScenarioCheck &wanted, bool exactly, bool atLeast,
                            const QString &seen) { QTest::newRow(name) << wanted << exactly << atLeast << seen; };
        row("mails", check(Kind::Mails, u"A"_s, 2), true, true, u"2 e-mails"_s);
        row("more mails", check(Kind::Mails, u"A"_s, 1), false, true, u"2 e-mails"_s);
        row("fewer mails", check(Kind::Mails, u"A"_s, 3), false, false, u"2 e-mails"_s);
        row("no mails", check(Kind::Mails, u"B"_s, 0), true, true, u"no e-mails"_s);
        row("a recipient", check(Kind::Recipient, u"sam@example.com"_s, 2), true, true, u"2 e-mails"_s);
        row("a claim", check(Kind::Claims, u"A"_s, 1), true, true, u"1 claim"_s);
        row("no claim", check(Kind::Claims, u"A"_s, 0), false, true, u"1 claim"_s);
        row("queue", check(Kind::Queue, {}, 3), true, true, u"3 messages"_s);
        row("queue, more", check(Kind::Queue, {}, 2), false, false, u"3 messages"_s);
        row("dlq", check(Kind::DeadLetters, {}, 1), true, true, u"1 dead letter"_s);
        row("outcomes", check(Kind::Outcomes, u"A"_s, 0, {u"in-doubt"_s, u"sent"_s, u"duplicate"_s}), true, true,
            u"in-doubt, sent, duplicate"_s);
        row("outcomes so far", check(Kind::Outcomes, u"A"_s, 0, {u"in-doubt"_s, u"sent"_s}), false, true,
            u"in-doubt, sent, duplicate"_s);
        row("another order", check(Kind::Outcomes, u"A"_s, 0, {u"sent"_s, u"in-doubt"_s}), false, false,
            u"in-doubt, sent, duplicate"_s);
        row("counts",
            check(Kind::OutcomeCounts, u"A"_s, 0, {}, {{u"sent"_s, 1}, {u"duplicate"_s, 1}, {u"in-doubt"_s, 1}}), true,
            true, u"1 × duplicate, 1 × in-doubt, 1 × sent"_s);
        row("counts so far", check(Kind::OutcomeCounts, u"A"_s, 0, {}, {{u"sent"_s, 1}}), false, true,
            u"1 × duplicate, 1 × in-doubt, 1 × sent"_s);
        row("too few", check(Kind::OutcomeCounts, u"A"_s, 0, {}, {{u"sent"_s, 2}}), false, false,
            u"1 × duplicate, 1 × in-doubt, 1 × sent"_s);
        row("a level", check(Kind::LogLevel, u"warning"_s, 2), true, true, u"2 lines"_s);
        row("a level, fewer", check(Kind::LogLevel, u"warning"_s, 0), false, true, u"2 lines"_s);
        row("a line", check(Kind::LogText, u"another"_s), true, true, u"another line"_s);
        row("no such line", check(Kind::LogText, u"a third"_s), false, false, u"no such line"_s);
        row("announced", check(Kind::Announced, {}, 0, {u"A"_s}), true, true, u"A"_s);
        row("nothing announced", check(Kind::Announced, {}), false, true, u"A"_s);
        row("more announced", check(Kind::Announced, {}, 0, {u"A"_s, u"B"_s}), false, false, u"A"_s);
        row("a verdict", check(Kind::Verdict, u"A"_s, 0, {u"handled"_s}), true, true, u"handled"_s);
        row("another verdict", check(Kind::Verdict, u"A"_s, 0, {u"unknown"_s}), false, false, u"handled"_s);
        row("no verdict", check(Kind::Verdict, u"B"_s, 0, {u"handled"_s}), false, false, u"nothing"_s);
        row("a replay", check(Kind::Replay, u"A"_s, 0, {u"skipped"_s}), true, true, u"skipped"_s);
        row("crashes", check(Kind::Crashes, {}, 1), true, true, u"1 crash"_s);
        row("no crashes", check(Kind::Crashes, {}, 0), false, true, u"1 crash"_s);
        row("armed", check(Kind::Armed, {}, 2), true, true, u"2 armed faults"_s);
        row("not armed", check(Kind::Armed, {}, 0), false, false, u"2 armed faults"_s);
        row("struck", check(Kind::Struck, {}), false, false, u"never: mail.end: reply 451, next 1"_s);
    }
    void aCheckHoldsOrSaysWhatThereIs()
    {
        QFETCH(ScenarioCheck, wanted);
        QFETCH(bool, exactly);
        QFETCH(bool, atLeast);
        QFETCH(QString, seen);
        QCOMPARE(judge(wanted, sight(), CheckMode::Exactly).holds, exactly);
        QCOMPARE(judge(wanted, sight(), CheckMode::AtLeast).holds, atLeast);
        QCOMPARE(judge(wanted, sight(), CheckMode::Exactly).seen, seen);
        QVERIFY(!describe(wanted).isEmpty());
    }

    void slowMotionStretchesTimeAndLeavesTheFaultsAlone()
    {
        const auto read = readScenario(
            withSteps(
                "{\"arm\": {\"where\": \"worker.claimed\", \"what\": \"slow\", \"delayMs\": 100, \"lastsMs\": 50}}, "
                "{\"wait\": {\"queue\": 0}, \"timeoutMs\": 1000}"),
            u"f.json"_s);
        QVERIFY(read);
        const Scenario slow = slowedDown(read.value(), 3);
        const FaultRule rule = std::get<ArmStep>(slow.steps[1].act).rule;
        QCOMPARE(rule.delay, 300ms);
        QCOMPARE(rule.lasts, 150ms);
        QCOMPARE(slow.steps[2].timeout, 3s);
        QCOMPARE(slow.world.visibility, 3s);
        QCOMPARE(slow.world.mailTimeout, read->world.mailTimeout * 3);
        QCOMPARE(slow.expectations, read->expectations);
        for (const FaultRule &stage : slowStages(slow)) {
            QCOMPARE(stage.what, FaultEffect::Slow);
            QVERIFY(stage.where != FaultPoint::WorkerClaimed); // the scenario's own would never strike
        }
        QVERIFY(slowStages(slow).size() >= 4);
    }
};

QTEST_GUILESS_MAIN(ScenarioFileTest)
#include "tst_scenariofile.moc"
