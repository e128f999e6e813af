#include "tests/world/world.h"

#include "worker/faults/faultsocket.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QSignalSpy>
#include <QTest>

#include <csignal>

using namespace sendonce;
using namespace sendonce::world;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

/// `sendoncectl fault` by the true program, on services that run in a process of their own.
class TestCtlFault : public QObject
{
    Q_OBJECT

    World m_world;

    Ended fault(const QStringList &words) const { return m_world.ctl(QStringList{u"fault"_s} + words); }
    QList<FaultRule> armed() const
    {
        QList<FaultRule> rules;
        const Ended listed = fault({u"list"_s, u"--json"_s});
        for (const QString &line : listed.out.split(u'\n', Qt::SkipEmptyParts)) {
            const auto rule = faultRule(QJsonDocument::fromJson(line.toUtf8()).object());
            rules.append(rule ? rule.value() : FaultRule());
        }
        return rules;
    }

private Q_SLOTS:
    void initTestCase()
    {
        QTest::failOnWarning(QRegularExpression(u".*"_s));
        QVERIFY2(m_world.start(), qPrintable(m_world.why()));
    }
    void cleanup() { QCOMPARE(fault({u"disarm"_s, u"--all"_s}).exitCode, 0); }

    void pointsAreListedWithTheirEffects()
    {
        const Ended points = fault({u"points"_s});
        QCOMPARE(points.exitCode, 0);
        const QStringList lines = points.out.trimmed().split(u'\n');
        QCOMPARE(lines.size(), 1 + FaultPointCount);
        QVERIFY2(lines[1].startsWith("mail.connect "_L1) && lines[1].contains(u"reply, delay, close"_s),
                 qPrintable(lines[1]));
        const QStringList json = fault({u"points"_s, u"--json"_s}).out.trimmed().split(u'\n');
        QCOMPARE(json.size(), FaultPointCount);
        for (int i = 0; i < FaultPointCount; ++i) {
            const QJsonObject point = QJsonDocument::fromJson(json[i].toUtf8()).object();
            QCOMPARE(point.value("where"_L1).toString(), faultPointName(FaultPoint(i)));
            QCOMPARE(point.value("what"_L1).toArray().size(), faultEffectsAt(FaultPoint(i)).size());
        }
    }

    void armsListsAndDisarms()
    {
        QCOMPARE(fault({u"list"_s}).out, u"nothing is armed\n"_s);
        const Ended one = fault({u"arm"_s, u"mail.rcpt"_s, u"reply"_s, u"--code"_s, u"550"_s, u"--text"_s,
                                 u"5.1.1 no such user"_s, u"--times"_s, u"3"_s, u"--recipient"_s, u"sam@*"_s});
        QVERIFY2(one.exitCode == 0, qPrintable(one.err));
        const QString id = one.out.section(u' ', 1, 1).chopped(1);
        QCOMPARE(one.out, u"armed %1: mail.rcpt: reply 550, next 3, recipient sam@*\n"_s.arg(id));
        const Ended two = fault({u"arm"_s, u"worker.claimed"_s, u"slow"_s, u"--delay"_s, u"1500ms"_s, u"--every"_s,
                                 u"--one-in"_s, u"4"_s, u"--seed"_s, u"7"_s, u"--event"_s, u"demo-*"_s, u"--type"_s,
                                 u"application.*"_s, u"--for"_s, u"60s"_s, u"--json"_s});
        QVERIFY2(two.exitCode == 0, qPrintable(two.err));
        const auto second = faultRule(QJsonDocument::fromJson(two.out.toUtf8()).object());
        QVERIFY(second);
        QVERIFY(second->id > id.toInt());
        const Ended three = fault(
            {u"arm"_s, u"mail.mail"_s, u"rate-limit"_s, u"--count"_s, u"5"_s, u"--window"_s, u"10s"_s, u"--every"_s});
        QVERIFY2(three.exitCode == 0, qPrintable(three.err));

        const auto rules = armed();
        QCOMPARE(rules.size(), 3);
        QCOMPARE(rules[0].id, id.toInt());
        QCOMPARE(rules[0].text, u"5.1.1 no such user"_s);
        QCOMPARE(rules[1].delay, 1500ms);
        QCOMPARE(rules[1].times, 0);
        QCOMPARE(rules[1].oneIn, 4);
        QCOMPARE(rules[1].seed, 7u);
        QCOMPARE(rules[1].event, u"demo-*"_s);
        QCOMPARE(rules[1].type, u"application.*"_s);
        QCOMPARE(rules[1].lasts, 60s);
        QVERIFY(rules[1].left > 0s && rules[1].left <= 60s);
        QCOMPARE(rules[2].count, 5);
        QCOMPARE(rules[2].window, 10s);
        const QStringList lines = fault({u"list"_s}).out.trimmed().split(u'\n');
        QCOMPARE(lines.size(), 4);
        QVERIFY2(lines[0].startsWith("id "_L1), qPrintable(lines[0]));
        QVERIFY2(lines[1].contains(u"mail.rcpt: reply 550, next 3, recipient sam@*"_s), qPrintable(lines[1]));

        const Ended some = fault({u"disarm"_s, id, QString::number(rules[2].id)});
        QVERIFY2(some.exitCode == 0, qPrintable(some.err));
        QCOMPARE(some.out, u"disarmed %1\ndisarmed %2\n"_s.arg(id).arg(rules[2].id));
        QCOMPARE(armed().size(), 1);
        const Ended again = fault({u"disarm"_s, id});
        QCOMPARE(again.exitCode, 1);
        QVERIFY2(again.err.contains(u"no fault with the id %1"_s.arg(id)), qPrintable(again.err));
        QCOMPARE(fault({u"disarm"_s, u"--all"_s}).out, u"disarmed all\n"_s);
        QVERIFY(armed().isEmpty());
    }

    void wrongUsageIsTwoAndSaysWhatIsAccepted_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QStringList>("said");
        const auto row = [](const QString &words, const QStringList &said) {
            QTest::newRow(qPrintable(words)) << words.split(u' ') << said;
        };
        row(u"arm"_s, {u"WHERE WHAT"_s, u"fault points"_s});
        row(u"arm mail.end"_s, {u"WHERE WHAT"_s});
        row(u"arm mail.end reply now"_s, {u"WHERE WHAT"_s});
        row(u"arm mail reply"_s, {u"where is \"mail\""_s, u"mail.connect"_s});
        row(u"arm mail.end crash"_s, {u"what is \"crash\""_s, u"store-then-close"_s});
        row(u"arm mail.end reply --code 200"_s, {u"--code must be a whole number from 400 to 599, not 200"_s});
        row(u"arm mail.end reply --code x"_s, {u"--code must be a whole number from 400 to 599, not \"x\""_s});
        row(u"arm mail.end reply --times 0"_s, {u"--times is “0”"_s, u"--every"_s});
        row(u"arm mail.end reply --times 1.5"_s, {u"--times must be a whole number"_s, u"\"1.5\""_s});
        row(u"arm mail.end reply --times 2 --every"_s, {u"--every and --times"_s});
        row(u"arm mail.end reply --one-in 0"_s, {u"--one-in must be a whole number from 1 to 1000000, not 0"_s});
        row(u"arm mail.end reply --seed 1"_s, {u"--seed is for --one-in"_s});
        row(u"arm mail.end reply --delay 2s"_s, {u"--delay is not for \"reply\""_s});
        row(u"arm mail.end delay"_s, {u"\"delay\" needs --delay"_s});
        row(u"arm mail.end delay --delay soon"_s, {u"--delay is “soon”"_s, u"1500ms"_s});
        row(u"arm mail.end delay --delay 90000s"_s, {u"--delay is “90000s”"_s, u"24 hours"_s});
        row(u"arm mail.end close --text no"_s, {u"--code and --text are for \"reply\", not for \"close\""_s});
        row(u"arm mail.mail rate-limit --count 2"_s, {u"\"rate-limit\" needs --count and --window"_s});
        row(u"arm mail.end reply --for x"_s, {u"--for is “x”"_s});
        row(u"arm mail.end reply --whom x"_s, {u"--whom"_s});
        row(u"disarm"_s, {u"ID"_s, u"--all"_s});
        row(u"disarm 1 --all"_s, {u"ID"_s, u"--all"_s});
        row(u"disarm all"_s, {u"“all”"_s, u"numbers"_s});
        row(u"disarm 0"_s, {u"“0”"_s, u"numbers"_s});
        row(u"list more"_s, {u"“more”"_s});
        row(u"points --data-dir x"_s, {u"--data-dir"_s});
    }

    void wrongUsageIsTwoAndSaysWhatIsAccepted()
    {
        QFETCH(QStringList, words);
        QFETCH(QStringList, said);
        const Ended ended = fault(words);
        QCOMPARE(ended.exitCode, 2);
        QCOMPARE(ended.err.count(u'\n'), 1);
        for (const QString &text : said)
            QVERIFY2(ended.err.contains(text), qPrintable(ended.err));
        QVERIFY(armed().isEmpty());
    }

    void helpIsThere()
    {
        for (const QStringList &words : {QStringList{u"arm"_s, u"--help"_s},
                                         {u"disarm"_s, u"-h"_s},
                                         {u"list"_s, u"--help"_s},
                                         {u"points"_s, u"--help"_s}}) {
            const Ended help = fault(words);
            QCOMPARE(help.exitCode, 0);
            QVERIFY(help.out.startsWith(u"sendoncectl fault "_s + words.first()));
        }
    }

    void anythingButTheEmbeddedServicesIsRefused_data()
    {
        QTest::addColumn<QString>("variable");
        QTest::addColumn<QString>("value");
        QTest::newRow("queue") << u"AWS_ENDPOINT_URL_SQS"_s << u"http://127.0.0.1:1"_s;
        QTest::newRow("database") << u"DATABASE_URL"_s << u"postgresql://127.0.0.1/jobs"_s;
        QTest::newRow("mail") << u"SENDONCE_MAIL_URL"_s << u"smtp://127.0.0.1:1"_s;
        QTest::newRow("read-only") << u"SENDONCE_READ_ONLY"_s << u"1"_s;
    }

    void anythingButTheEmbeddedServicesIsRefused()
    {
        QFETCH(QString, variable);
        QFETCH(QString, value);
        const QString before = m_world.variable(variable);
        m_world.setVariable(variable, value);
        const Ended ended = fault({u"arm"_s, u"mail.end"_s, u"reply"_s});
        const Ended listed = fault({u"list"_s});
        const Ended points = fault({u"points"_s});
        m_world.setVariable(variable, before);
        QCOMPARE(ended.exitCode, 2);
        const bool readOnly = variable == "SENDONCE_READ_ONLY"_L1;
        QVERIFY2(ended.err.contains(readOnly ? u"read-only"_s : u"embedded services only"_s), qPrintable(ended.err));
        QCOMPARE(listed.exitCode, readOnly ? 0 : 2);
        QCOMPARE(points.exitCode, 0);
        QVERIFY(armed().isEmpty());
    }

    void withoutServicesItIsFour()
    {
        World nobody;
        for (const QStringList &words :
             {QStringList{u"list"_s}, {u"arm"_s, u"mail.end"_s, u"reply"_s}, {u"disarm"_s, u"--all"_s}}) {
            const Ended ended = nobody.ctl(QStringList{u"fault"_s} + words);
            QCOMPARE(ended.exitCode, 4);
            QVERIFY2(ended.err.contains(u"no embedded services run in "_s), qPrintable(ended.err));
        }
        QCOMPARE(nobody.ctl({u"fault"_s, u"points"_s}).exitCode, 0);
    }

    void servicesThatHangAreFour()
    {
        World world;
        QVERIFY2(world.start(), qPrintable(world.why()));
        const auto pid = world.servicesPid();
        ::kill(pid_t(pid), SIGSTOP);
        const Ended ended = world.ctl({u"fault"_s, u"list"_s});
        ::kill(pid_t(pid), SIGCONT);
        QCOMPARE(ended.exitCode, 4);
        QCOMPARE(ended.err.count(u'\n'), 1);
    }

    void whoWatchesHearsOfIt()
    {
        FaultSocket panel(m_world.controlSocket());
        QSignalSpy heard(&panel, &FaultSocket::armedChanged);
        panel.open();
        QTRY_COMPARE(heard.size(), 1);
        QVERIFY(heard.last().at(0).value<FaultRules>().isEmpty());
        QCOMPARE(fault({u"arm"_s, u"mail.end"_s, u"reply"_s, u"--event"_s, u"E-*"_s}).exitCode, 0);
        QTRY_COMPARE(heard.size(), 2);
        const auto rules = heard.last().at(0).value<FaultRules>();
        QCOMPARE(rules.size(), 1);
        QCOMPARE(rules[0].event, u"E-*"_s);
        QCOMPARE(fault({u"disarm"_s, u"--all"_s}).exitCode, 0);
        QTRY_COMPARE(heard.size(), 3);
        QVERIFY(heard.last().at(0).value<FaultRules>().isEmpty());
    }

    void aRunningWorkerDiesWhereItIsArmed()
    {
        const auto worker = m_world.spawn({u"worker"_s});
        QVERIFY(worker->waitForStarted());
        QByteArray said;
        QTRY_VERIFY_WITH_TIMEOUT((said += worker->readAllStandardError()).contains("Worker started"), 20'000);
        QCOMPARE(m_world.ctl({u"send"_s, u"--event-id"_s, u"other"_s}).exitCode, 0);
        QTRY_COMPARE_WITH_TIMEOUT(m_world.mailsOf(u"other"_s), 1, 20'000);
        QCOMPARE(fault({u"arm"_s, u"worker.claimed"_s, u"crash"_s, u"--event"_s, u"doomed"_s}).exitCode, 0);
        QCOMPARE(m_world.ctl({u"send"_s, u"--event-id"_s, u"another"_s}).exitCode, 0);
        QTRY_COMPARE_WITH_TIMEOUT(m_world.mailsOf(u"another"_s), 1, 20'000);
        QCOMPARE(worker->state(), QProcess::Running);
        QCOMPARE(m_world.ctl({u"send"_s, u"--event-id"_s, u"doomed"_s}).exitCode, 0);
        const Ended ended = World::wait(*worker, 20'000);
        QVERIFY2(ended.killed, qPrintable(ended.err));
        QCOMPARE(ended.exitCode, SIGKILL);
        QCOMPARE(m_world.mailsOf(u"doomed"_s), 0);
        QVERIFY(armed().isEmpty()); // used up: the next worker lives

        const Ended next = m_world.ctl({u"worker"_s, u"--until-empty"_s});
        QCOMPARE(next.exitCode, 0);
        QCOMPARE(next.lastLine(), u"sent 1, skipped 0, failed 0, in doubt 0"_s);
        QCOMPARE(m_world.mailsOf(u"doomed"_s), 1);
    }

    void aWorkerThatBeginsNowFindsWhatIsArmedAlready()
    {
        QCOMPARE(fault({u"arm"_s, u"worker.received"_s, u"crash"_s}).exitCode, 0);
        QCOMPARE(m_world.ctl({u"send"_s, u"--event-id"_s, u"at-once"_s}).exitCode, 0);
        const Ended first = m_world.ctl({u"worker"_s, u"--until-empty"_s});
        QVERIFY2(first.killed, qPrintable(first.err));
        QCOMPARE(m_world.ctl({u"worker"_s, u"--until-empty"_s}).exitCode, 0);
        QCOMPARE(m_world.mailsOf(u"at-once"_s), 1);
    }

    void theMailboxRefusesWhatIsArmed()
    {
        QCOMPARE(
            fault({u"arm"_s, u"mail.end"_s, u"reply"_s, u"--code"_s, u"452"_s, u"--text"_s, u"4.2.2 mailbox full"_s})
                .exitCode,
            0);
        QCOMPARE(m_world.ctl({u"send"_s, u"--event-id"_s, u"refused-once"_s}).exitCode, 0);
        const Ended worker = m_world.ctl({u"worker"_s, u"--until-empty"_s});
        QCOMPARE(worker.lastLine(), u"sent 1, skipped 0, failed 1, in doubt 0"_s);
        QVERIFY2(worker.logged(u"ERROR"_s, u"452 4.2.2 mailbox full"_s), qPrintable(worker.err));
    }
};

QTEST_GUILESS_MAIN(TestCtlFault)
#include "tst_ctlfault.moc"
