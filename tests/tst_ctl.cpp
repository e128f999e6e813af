#include "tests/world/world.h"

#include <QtTest>

#include <QTcpServer>

using namespace sendonce::world;
using namespace Qt::StringLiterals;

/// What people and scripts see of `sendoncectl` beside the work itself: usage, exit codes, JSON lines, signals.
class Ctl : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void helpOfEveryCommandFitsAndExitsZero_data()
    {
        QTest::addColumn<QStringList>("words");
        for (const char *name :
             {"",           "demo",       "local",      "worker",     "send",       "events list", "mail list",
              "dlq list",   "dlq show",   "dlq replay", "dlq runs",   "dlq delete", "dlq kept",    "dlq put-back",
              "dlq export", "dlq import", "dlq purge",  "dlq forget", "dlq audit",  "doubt list",  "doubt settle"})
            QTest::newRow(*name ? name : "overview") << QString::fromLatin1(name).split(u' ', Qt::SkipEmptyParts);
    }

    void helpOfEveryCommandFitsAndExitsZero()
    {
        QFETCH(QStringList, words);
        World world;
        const Ended help = world.ctl(words + QStringList{u"--help"_s});
        QCOMPARE(help.exitCode, 0);
        QVERIFY(help.err.isEmpty());
        QVERIFY(help.out.startsWith(u"sendoncectl"_s));
        for (const QString &line : help.out.split(u'\n'))
            QVERIFY2(line.size() <= 110 && !line.endsWith(u' '), qPrintable(line));
    }

    void wrongUsageIsOneLineAndExitsTwo_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("named");
        QTest::newRow("unknown command") << QStringList{u"fly"_s} << u"fly"_s;
        QTest::newRow("unknown option") << QStringList{u"send"_s, u"--colour"_s, u"red"_s} << u"--colour"_s;
        QTest::newRow("missing value") << QStringList{u"send"_s, u"--event-id"_s} << u"--event-id"_s;
        QTest::newRow("a word too many") << QStringList{u"send"_s, u"please"_s} << u"please"_s;
        QTest::newRow("bad number") << QStringList{u"send"_s, u"--copies"_s, u"11"_s} << u"1 to 10"_s;
        QTest::newRow("bad port") << QStringList{u"local"_s, u"--sqs-port"_s, u"70000"_s} << u"65535"_s;
        QTest::newRow("bad crash point") << QStringList{u"worker"_s, u"--crash-at"_s, u"lunch"_s} << u"received"_s;
        QTest::newRow("crash without embedded services")
            << QStringList{u"worker"_s, u"--crash-at"_s, u"received"_s} << u"embedded"_s;
        QTest::newRow("replay of what") << QStringList{u"dlq"_s, u"replay"_s} << u"--all"_s;
        QTest::newRow("settle what") << QStringList{u"doubt"_s, u"settle"_s, u"--arrived"_s} << u"--event-id"_s;
        QTest::newRow("settle how") << QStringList{u"doubt"_s, u"settle"_s, u"--event-id"_s, u"e"_s} << u"--arrived"_s;
        QTest::newRow("settle two ways") << QStringList{u"doubt"_s, u"settle"_s, u"--event-id"_s,
                                                        u"e"_s,     u"--ask"_s,  u"--send-again"_s}
                                         << u"one of"_s;
        QTest::newRow("unusable setting")
            << QStringList{u"worker"_s, u"--lanes"_s, u"none"_s} << u"--lanes is “none”"_s;
    }

    void wrongUsageIsOneLineAndExitsTwo()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, named);
        World world;
        const Ended ended = world.ctl(words);
        QCOMPARE(ended.exitCode, 2);
        QCOMPARE(ended.err.count(u'\n'), 1);
        QVERIFY2(ended.err.contains(named), qPrintable(ended.err));
    }

    void anUnreachableQueueExitsFour()
    {
        World world;
        const Ended ended = world.ctl({u"send"_s, u"--queue-url"_s, u"http://127.0.0.1:1/000000000000/q"_s});
        QCOMPARE(ended.exitCode, 4);
        QCOMPARE(ended.err.count(u'\n'), 1);
        QVERIFY2(ended.err.contains(u"127.0.0.1:1"_s), qPrintable(ended.err));
    }

    void anExplicitPortThatIsTakenExitsFour()
    {
        QTcpServer taken;
        QVERIFY(taken.listen(QHostAddress::LocalHost));
        World world;
        const Ended ended =
            world.ctl({u"local"_s, u"--sqs-port"_s, QString::number(taken.serverPort()), u"--smtp-port"_s, u"0"_s});
        QCOMPARE(ended.exitCode, 4);
        QVERIFY2(ended.err.contains(QString::number(taken.serverPort())), qPrintable(ended.err));
    }

    void theDemoShowsOneMailAndOneSkip()
    {
        World world;
        const Ended demo = world.ctl({u"demo"_s});
        QCOMPARE(demo.exitCode, 0);
        QVERIFY2(demo.lastLine().contains(u"1 e-mail, 1 skip"_s), qPrintable(demo.out));
        QVERIFY(demo.out.contains(u"already processed; skipping duplicate"_s));
    }

    void secondServicesOfAFolderAreRefusedAndNameTheProcess()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        const Ended second = world.ctl({u"local"_s, u"--sqs-port"_s, u"0"_s, u"--smtp-port"_s, u"0"_s});
        QCOMPARE(second.exitCode, 2);
        QVERIFY2(second.err.contains(u"process"_s), qPrintable(second.err));
    }

    void sigtermEndsAWorkerWithZeroAndItsSums()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        QCOMPARE(world.ctl({u"send"_s}).exitCode, 0);
        const auto worker = world.spawn({u"worker"_s, u"--json"_s});
        QString out;
        while (!out.contains(u"\"sent\""_s) && worker->waitForReadyRead(20'000))
            out += QString::fromUtf8(worker->readAllStandardOutput());
        worker->terminate();
        const Ended ended = World::wait(*worker);
        QVERIFY(!ended.killed);
        QCOMPARE(ended.exitCode, 0);
        QCOMPARE(QJsonDocument::fromJson(ended.lastLine().toUtf8()).object().value("sent"_L1).toInt(), 1);
    }

    void runForAndMaxMessagesBoundAWorker()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        QCOMPARE(world.ctl({u"worker"_s, u"--run-for"_s, u"200ms"_s}).lastLine(),
                 u"sent 0, skipped 0, failed 0, in doubt 0"_s);
        for (int i = 0; i < 3; ++i)
            world.ctl({u"send"_s});
        QCOMPARE(world.ctl({u"worker"_s, u"--max-messages"_s, u"2"_s}).lastLine(),
                 u"sent 2, skipped 0, failed 0, in doubt 0"_s);
    }

    void listsOfNothingSaySo()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        QCOMPARE(world.ctl({u"mail"_s, u"list"_s}).out.trimmed(), u"the mailbox is empty"_s);
        QCOMPARE(world.ctl({u"events"_s, u"list"_s}).out.trimmed(), u"no events were processed yet"_s);
        QCOMPARE(world.ctl({u"dlq"_s, u"list"_s}).out.trimmed(), u"the dead letter queue is empty"_s);
        QVERIFY(world.mails().isEmpty());
    }

    void textOfStrangersDoesNotCommandTheTerminal()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        const Ended sent = world.ctl({u"send"_s, u"--event-id"_s, u"x\u001b[31m"_s});
        QVERIFY(!sent.out.contains(QChar(0x1b)) || sent.exitCode != 0);
        const Ended worker = world.ctl({u"worker"_s, u"--max-messages"_s, u"1"_s});
        QVERIFY(!worker.err.contains(QChar(0x1b)));
    }
};

QTEST_GUILESS_MAIN(Ctl)
#include "tst_ctl.moc"
