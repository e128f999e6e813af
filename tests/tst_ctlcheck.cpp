#include "tests/world/world.h"

#include <QtTest>

#include <QJsonDocument>

using namespace sendonce::world;
using namespace Qt::StringLiterals;

/// `sendoncectl check` as people and scripts see it: its lines and its exit codes.
class CtlCheck : public QObject
{
    Q_OBJECT

    static QMap<QString, QJsonObject> byId(const QString &out)
    {
        QMap<QString, QJsonObject> lines;
        for (const QString &line : out.split(u'\n', Qt::SkipEmptyParts)) {
            const QJsonObject object = QJsonDocument::fromJson(line.toUtf8()).object();
            lines.insert(object.value("id"_L1).toString(), object);
        }
        return lines;
    }

private Q_SLOTS:
    void healthyServicesExitZero()
    {
        World world;
        QVERIFY2(world.start(30), qPrintable(world.why()));
        const Ended check = world.ctl({u"check"_s});
        QVERIFY2(check.exitCode == 0, qPrintable(check.out + check.err));
        QVERIFY(check.err.isEmpty());
        for (const QString &line : check.out.split(u'\n', Qt::SkipEmptyParts))
            QVERIFY2(line.startsWith(u"ok       "_s), qPrintable(line));
        QVERIFY(check.out.contains(u"jobs_processedevent.event_id is unique"_s));
    }

    void aWarningExitsZeroWithItsRemedyBelow()
    {
        World world;
        QVERIFY2(world.start(30), qPrintable(world.why()));
        const Ended check = world.ctl({u"check"_s, u"--no-heartbeat"_s});
        QCOMPARE(check.exitCode, 0);
        const QStringList lines = check.out.split(u'\n');
        const qsizetype at = lines.indexOf(QRegularExpression(u"^warning  there is no heartbeat.*"_s));
        QVERIFY2(at >= 0, qPrintable(check.out));
        QVERIFY(lines.at(at + 1).startsWith(u"         leave --no-heartbeat out"_s));
    }

    void jsonLinesHaveIdLevelTextAndRemedy()
    {
        World world;
        QVERIFY2(world.start(30, 2), qPrintable(world.why()));
        const Ended check = world.ctl({u"check"_s, u"--json"_s});
        QCOMPARE(check.exitCode, 0);
        const auto lines = byId(check.out);
        QCOMPARE(lines.value(u"queue.reachable"_s).value("level"_L1).toString(), u"ok"_s);
        const QJsonObject receives = lines.value(u"queue.receives"_s);
        QCOMPARE(receives.value("level"_L1).toString(), u"warning"_s);
        QVERIFY(receives.value("text"_L1).toString().contains(u"maxReceiveCount is 2"_s));
        QVERIFY(!receives.value("remedy"_L1).toString().isEmpty());
    }

    void anErrorExitsOne()
    {
        World world;
        QVERIFY2(world.start(30), qPrintable(world.why()));
        const Ended missing =
            world.ctl({u"check"_s, u"--json"_s, u"--queue-url"_s, world.variable(u"SENDONCE_QUEUE_URL"_s) + u"x"_s});
        QCOMPARE(missing.exitCode, 1);
        QCOMPARE(byId(missing.out).value(u"queue.reachable"_s).value("level"_L1).toString(), u"error"_s);
        const Ended noPolicy =
            world.ctl({u"check"_s, u"--json"_s, u"--queue-url"_s, world.variable(u"SENDONCE_DLQ_URL"_s)});
        QCOMPARE(noPolicy.exitCode, 1);
        QCOMPARE(byId(noPolicy.out).value(u"queue.redrive"_s).value("level"_L1).toString(), u"error"_s);
    }

    void aServiceThatCannotBeReachedExitsFour_data()
    {
        QTest::addColumn<QString>("flag");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("id");
        QTest::newRow("queue") << u"--endpoint-url"_s << u"http://127.0.0.1:1"_s << u"queue.reachable"_s;
        QTest::newRow("database") << u"--database-url"_s << u"sqlite:////nowhere/none.db"_s << u"database.open"_s;
        QTest::newRow("mail") << u"--mail-url"_s << u"smtp://127.0.0.1:1"_s << u"mail.server"_s;
    }

    void aServiceThatCannotBeReachedExitsFour()
    {
        QFETCH(QString, flag);
        QFETCH(QString, value);
        QFETCH(QString, id);
        World world;
        QVERIFY2(world.start(30), qPrintable(world.why()));
        const Ended check = world.ctl({u"check"_s, u"--json"_s, flag, value});
        QCOMPARE(check.exitCode, 4);
        QCOMPARE(byId(check.out).value(id).value("level"_L1).toString(), u"error"_s);
    }

    void wrongUsageIsOneLineAndExitsTwo()
    {
        World world;
        const Ended ended = world.ctl({u"check"_s, u"--everything"_s});
        QCOMPARE(ended.exitCode, 2);
        QCOMPARE(ended.err.count(u'\n'), 1);
    }

    void helpFitsAndExitsZero()
    {
        World world;
        const Ended help = world.ctl({u"check"_s, u"--help"_s});
        QCOMPARE(help.exitCode, 0);
        for (const QString &line : help.out.split(u'\n'))
            QVERIFY2(line.size() <= 110 && !line.endsWith(u' '), qPrintable(line));
        QVERIFY(world.ctl({u"--help"_s}).out.contains(u"  check "_s));
    }
};

QTEST_GUILESS_MAIN(CtlCheck)
#include "tst_ctlcheck.moc"
