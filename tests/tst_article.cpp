#include "tests/world/world.h"

#include "worker/faults/faultsocket.h"
#include "worker/types.h"

#include <QtTest>

using namespace sendonce;
using namespace sendonce::world;
using namespace Qt::StringLiterals;

/// The rows of spec.md's table on the true programs: `sendoncectl local` with its queue, database and mailbox, and
/// workers beside it that are killed where the row says so. The first five are the article's checks.
class Article : public QObject
{
    Q_OBJECT

    static Ended untilEmpty(const World &world) { return world.ctl({u"worker"_s, u"--until-empty"_s}); }
    static Ended send(const World &world, const QStringList &more) { return world.ctl(QStringList{u"send"_s} + more); }
    static void failNextMails(const World &world, int times, int code)
    {
        FaultSocket faults(world.controlSocket());
        QSignalSpy armed(&faults, &FaultSocket::armedChanged);
        faults.open();
        FaultRule refusal;
        refusal.code = code;
        refusal.times = times;
        faults.arm(refusal);
        QTRY_VERIFY(!armed.isEmpty() && armed.last().at(0).value<FaultRules>().size() == 1);
    }

private Q_SLOTS:
    void normalPath()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        QCOMPARE(send(world, {u"--event-id"_s, u"E"_s}).exitCode, 0);
        const Ended worker = untilEmpty(world);
        QCOMPARE(worker.lastLine(), u"sent 1, skipped 0, failed 0, in doubt 0"_s);
        QCOMPARE(worker.exitCode, 0);
        QVERIFY2(worker.logged(u"INFO"_s, u"Emailed user 5 about application 3: reviewing -> interview (event E)"_s),
                 qPrintable(worker.err));
        const auto mails = world.mails();
        QCOMPARE(mails.size(), 1);
        QCOMPARE(mails[0].value("eventId"_L1).toString(), u"E"_s);
        QVERIFY(mails[0].value("to"_L1).toString().contains(u"sam"_s, Qt::CaseInsensitive));
        QCOMPARE(world.events().size(), 1);
        QCOMPARE(world.events()[0].value("result"_L1).toString(), u"mailed"_s);
    }

    void theSameEventTwice()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        const Ended sent = send(world, {u"--event-id"_s, u"E"_s, u"--copies"_s, u"2"_s, u"--json"_s});
        const auto ids = QJsonDocument::fromJson(sent.out.toUtf8()).object().value("messageIds"_L1).toArray();
        QCOMPARE(ids.size(), 2);
        QVERIFY(ids[0] != ids[1]);
        const Ended worker = untilEmpty(world);
        QCOMPARE(worker.lastLine(), u"sent 1, skipped 1, failed 0, in doubt 0"_s);
        QVERIFY2(worker.logged(u"INFO"_s, u"Event E already processed; skipping duplicate"_s), qPrintable(worker.err));
        QCOMPARE(world.mailsOf(u"E"_s), 1);
    }

    void crashAfterSendingAndBeforeDeleting()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        send(world, {u"--event-id"_s, u"E"_s});
        QVERIFY(world.ctl({u"worker"_s, u"--crash-at"_s, u"committed"_s}).killed);
        const Ended worker = untilEmpty(world);
        QCOMPARE(worker.lastLine(), u"sent 0, skipped 1, failed 0, in doubt 0"_s);
        QCOMPARE(world.mailsOf(u"E"_s), 1);
    }

    void aFailedMailReleasesTheClaimAndTheRetrySends()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        failNextMails(world, 1, 451);
        send(world, {u"--event-id"_s, u"E"_s});
        const Ended first = world.ctl({u"worker"_s, u"--max-messages"_s, u"1"_s});
        QCOMPARE(first.lastLine(), u"sent 0, skipped 0, failed 1, in doubt 0"_s);
        QVERIFY2(first.logged(u"ERROR"_s, u"(event E): 451 4.3.0"_s), qPrintable(first.err));
        QVERIFY(world.events().isEmpty());
        QCOMPARE(world.mailsOf(u"E"_s), 0);
        const Ended second = untilEmpty(world);
        QCOMPARE(second.lastLine(), u"sent 1, skipped 0, failed 0, in doubt 0"_s);
        QCOMPARE(world.mailsOf(u"E"_s), 1);
    }

    void nothingElseBroke()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        for (int i = 0; i < 5; ++i)
            send(world, {u"--copies"_s, u"2"_s});
        const Ended worker = untilEmpty(world);
        QCOMPARE(worker.lastLine(), u"sent 5, skipped 5, failed 0, in doubt 0"_s);
        QVERIFY2(!worker.logged(u"ERROR"_s, {}) && !worker.logged(u"WARNING"_s, {}), qPrintable(worker.err));
        QVERIFY(world.deadLetters().isEmpty());
    }

    void aGoneApplicationIsClaimedAndSkipped()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        send(world, {u"--event-id"_s, u"test-missing"_s, u"--application"_s, u"99"_s, u"--copies"_s, u"2"_s});
        const Ended worker = untilEmpty(world);
        QCOMPARE(worker.lastLine(), u"sent 0, skipped 2, failed 0, in doubt 0"_s);
        QVERIFY2(worker.logged(u"WARNING"_s, u"Application 99 no longer exists; skipping (event test-missing)"_s),
                 qPrintable(worker.err));
        QVERIFY(worker.logged(u"INFO"_s, u"already processed"_s));
        QVERIFY(world.mails().isEmpty());
        QCOMPARE(world.events()[0].value("result"_L1).toString(), u"application gone"_s);
    }

    void aMailThatKeepsFailingDiesWithItsReasonAndAReplaySendsIt()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        failNextMails(world, 3, 550);
        send(world, {u"--event-id"_s, u"E"_s});
        const Ended worker = untilEmpty(world);
        QCOMPARE(worker.exitCode, 0);
        QCOMPARE(worker.lastLine(), u"sent 0, skipped 0, failed 3, in doubt 0"_s);
        const auto dead = world.deadLetters();
        QCOMPARE(dead.size(), 1);
        QCOMPARE(dead[0].value("eventId"_L1).toString(), u"E"_s);
        QCOMPARE(dead[0].value("verdict"_L1).toString(), u"not handled"_s);
        QVERIFY2(dead[0].value("reason"_L1).toString().contains(u"550"_s),
                 qPrintable(dead[0].value("reason"_L1).toString()));
        QVERIFY(dead[0].value("reason"_L1).toString().contains(u"permanent"_s));

        const Ended replay = world.ctl({u"dlq"_s, u"replay"_s, u"--all"_s, u"--json"_s});
        QCOMPARE(replay.exitCode, 0);
        QCOMPARE(QJsonDocument::fromJson(replay.out.toUtf8()).object().value("outcome"_L1).toString(),
                 u"still waiting"_s);
        QCOMPARE(untilEmpty(world).lastLine(), u"sent 1, skipped 0, failed 0, in doubt 0"_s);
        QCOMPARE(world.mailsOf(u"E"_s), 1);
        QVERIFY(world.deadLetters().isEmpty());
    }

    void aReplayOfAHandledEventIsSkipped()
    {
        World world;
        QVERIFY2(world.start(1, 1), qPrintable(world.why()));
        // The worker dies between COMMIT and delete, and the message is not received in time again: dead although
        // handled.
        send(world, {u"--event-id"_s, u"E"_s});
        QVERIFY(world.ctl({u"worker"_s, u"--crash-at"_s, u"committed"_s}).killed);
        untilEmpty(world);
        const auto dead = world.deadLetters();
        QCOMPARE(dead.size(), 1);
        QCOMPARE(dead[0].value("verdict"_L1).toString(), u"handled"_s);
        const auto worker = world.spawn({u"worker"_s});
        const Ended replay =
            world.ctl({u"dlq"_s, u"replay"_s, u"--event-id"_s, u"E"_s, u"--wait"_s, u"20s"_s, u"--json"_s});
        worker->terminate();
        QCOMPARE(World::wait(*worker).exitCode, 0);
        QCOMPARE(QJsonDocument::fromJson(replay.out.toUtf8()).object().value("outcome"_L1).toString(), u"skipped"_s);
        QCOMPARE(world.mailsOf(u"E"_s), 1);
    }

    void badMessagesDieWithAReasonThatNamesTheFieldAndHarmNoOther()
    {
        const QList<std::pair<QByteArray, QString>> bad = {
            {"hello", u"JSON"_s},
            {R"({"type":"application.status_changed","application_id":3,"old_status":"a","new_status":"b"})",
             u"event_id"_s},
            {R"({"type":"application.status_changed","event_id":"E","event_id":"F","application_id":3,"old_status":"a","new_status":"b"})",
             u"event_id"_s},
            {R"({"type":"application.status_changed","event_id":"E","application_id":3.0,"old_status":"a","new_status":"b"})",
             u"application_id"_s},
            {R"({"type":"application.archived","event_id":"E","application_id":3})", u"application.archived"_s}};
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        for (const auto &[body, named] : bad) {
            QTemporaryFile file;
            QVERIFY(file.open());
            file.write(body);
            file.close();
            QCOMPARE(send(world, {u"--body"_s, file.fileName()}).exitCode, 0);
        }
        send(world, {u"--event-id"_s, u"good"_s});
        const Ended worker = untilEmpty(world);
        QCOMPARE(worker.lastLine(), u"sent 1, skipped 0, failed 15, in doubt 0"_s);
        QCOMPARE(world.mailsOf(u"good"_s), 1);
        const auto dead = world.deadLetters();
        QCOMPARE(dead.size(), bad.size());
        for (const auto &[body, named] : bad) {
            QVERIFY2(std::any_of(dead.cbegin(), dead.cend(),
                                 [name = named](const QJsonObject &letter) {
                                     return letter.value("verdict"_L1).toString() == "invalid"_L1
                                         && letter.value("reason"_L1).toString().contains(name)
                                         && !letter.value("diedAt"_L1).toString().isEmpty();
                                 }),
                     body.constData());
        }
    }

    void unknownExtraFieldsAreAllowed()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        QTemporaryFile file;
        QVERIFY(file.open());
        file.write(
            R"({"type":"application.status_changed","event_id":"E","application_id":3,"old_status":"a","new_status":"b","more":{"x":[1,2]}})");
        file.close();
        send(world, {u"--body"_s, file.fileName()});
        QCOMPARE(untilEmpty(world).lastLine(), u"sent 1, skipped 0, failed 0, in doubt 0"_s);
    }

    void twoWorkersRaceOnTheSameEvents()
    {
        World world;
        QVERIFY2(world.start(10), qPrintable(world.why()));
        constexpr int Events = 12;
        for (int i = 0; i < Events; ++i)
            send(world, {u"--event-id"_s, u"E%1"_s.arg(i), u"--copies"_s, u"3"_s});
        const auto one = world.spawn({u"worker"_s, u"--until-empty"_s});
        const auto two = world.spawn({u"worker"_s, u"--until-empty"_s});
        const Ended first = World::wait(*one);
        const Ended second = World::wait(*two);
        QCOMPARE(first.exitCode, 0);
        QCOMPARE(second.exitCode, 0);
        QCOMPARE(world.mails().size(), Events);
        for (int i = 0; i < Events; ++i)
            QCOMPARE(world.mailsOf(u"E%1"_s.arg(i)), 1);
        static const QRegularExpression Numbers(u"sent (\\d+), skipped (\\d+), failed (\\d+)"_s);
        const auto a = Numbers.match(first.lastLine());
        const auto b = Numbers.match(second.lastLine());
        QCOMPARE(a.captured(1).toInt() + b.captured(1).toInt(), Events);
        QCOMPARE(a.captured(2).toInt() + b.captured(2).toInt(), 2 * Events);
        QCOMPARE(a.captured(3).toInt() + b.captured(3).toInt(), 0);
    }

    void everythingAcknowledgedSurvivesAKilledService()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        for (int round = 0; round < 3; ++round) {
            QCOMPARE(send(world, {u"--event-id"_s, u"E%1"_s.arg(round)}).exitCode, 0);
            world.killServices();
            QVERIFY2(world.start(), qPrintable(world.why()));
        }
        QCOMPARE(untilEmpty(world).lastLine(), u"sent 3, skipped 0, failed 0, in doubt 0"_s);
        QCOMPARE(world.mails().size(), 3);
    }
};

QTEST_GUILESS_MAIN(Article)
#include "tst_article.moc"
