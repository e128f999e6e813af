#include "tests/world/world.h"

#include <QFile>
#include <QJsonDocument>
#include <QRandomGenerator>
#include <QtTest>

using namespace sendonce::world;
using namespace Qt::StringLiterals;

/// `sendoncectl dlq replay` as a process that is killed, or is not alone: each event is mailed once, none is lost.
/// SENDONCE_DLQ_KILLS: how often it is killed (20), SENDONCE_DLQ_SEED: of the moments.
class DlqReplayTest : public QObject
{
    Q_OBJECT

    static QString event(int number) { return u"event-%1"_s.arg(number, 4, 10, QChar(u'0')); }

    static void fill(const World &world, int count)
    {
        QFile file(world.dataDir() + u"/letters.jsonl"_s);
        QVERIFY(file.open(QIODevice::WriteOnly));
        for (int i = 0; i < count; ++i) {
            const QJsonObject body{{u"type"_s, u"application.status_changed"_s},
                                   {u"event_id"_s, event(i)},
                                   {u"application_id"_s, 3},
                                   {u"old_status"_s, u"reviewing"_s},
                                   {u"new_status"_s, u"interview"_s}};
            const QJsonObject line{{u"body"_s, QString::fromUtf8(QJsonDocument(body).toJson(QJsonDocument::Compact))}};
            file.write(QJsonDocument(line).toJson(QJsonDocument::Compact) + '\n');
        }
        file.close();
        const Ended imported = world.ctl({u"dlq"_s, u"import"_s, u"--from"_s, file.fileName()});
        QVERIFY2(imported.exitCode == 0, qPrintable(imported.err));
    }

    /// Each event has exactly one mail; nothing is left in either queue.
    static void verify(const World &world, int count)
    {
        const Ended worker = world.ctl({u"worker"_s, u"--until-empty"_s}, 120'000);
        QVERIFY2(worker.exitCode == 0, qPrintable(worker.err.right(500)));
        QHash<QString, int> mails;
        for (const QJsonObject &mail : world.mails())
            ++mails[mail.value("eventId"_L1).toString()];
        for (int i = 0; i < count; ++i)
            QVERIFY2(mails.value(event(i)) == 1,
                     qPrintable(u"%1 was mailed %2 times"_s.arg(event(i), QString::number(mails.value(event(i))))));
        QCOMPARE(mails.size(), count);
        QVERIFY(world.deadLetters().isEmpty());
    }

private Q_SLOTS:
    void killedAgainAndAgainItMailsEachEventOnce()
    {
        const int kills = qEnvironmentVariableIntValue("SENDONCE_DLQ_KILLS") > 0
            ? qEnvironmentVariableIntValue("SENDONCE_DLQ_KILLS")
            : 20;
        const quint32 seed = qEnvironmentVariableIsSet("SENDONCE_DLQ_SEED")
            ? quint32(qEnvironmentVariableIntValue("SENDONCE_DLQ_SEED"))
            : QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        constexpr int Count = 500;
        const QString rate = kills > 20 ? u"10"_s : u"200"_s; // the slower, the more kills the letters last for
        World world;
        QVERIFY2(world.start(5), qPrintable(world.why()));
        fill(world, Count);
        const auto worker = world.spawn({u"worker"_s}); // at work meanwhile
        int killed = 0;
        for (;;) {
            QStringList words{u"dlq"_s, u"replay"_s};
            if (killed == 0)
                words += {u"--all"_s, u"--rate"_s, rate};
            else
                words += u"--resume"_s;
            const auto replay = world.spawn(words);
            QByteArray said;
            // It has begun to send: "run N: 12 done, 488 left, 0 failed".
            QVERIFY(QTest::qWaitFor(
                [&] {
                    said += replay->readAllStandardError();
                    return said.contains(" done, ") || replay->state() == QProcess::NotRunning;
                },
                60'000));
            if (killed < kills && replay->state() != QProcess::NotRunning) {
                const int moment = int(random.bounded(60));
                replay->waitForFinished(moment);
                if (replay->state() != QProcess::NotRunning) {
                    replay->kill();
                    replay->waitForFinished();
                    ++killed;
                    continue;
                }
            }
            const Ended ended = World::wait(*replay, 60'000);
            // Killed behind its end: then there is nothing to resume.
            const bool wasThrough = killed > 0 && (said + ended.err.toUtf8()).contains("no replay was interrupted");
            QVERIFY2(ended.exitCode == 0 || wasThrough, qPrintable(QString::fromUtf8(said) + ended.err));
            break;
        }
        worker->terminate();
        worker->waitForFinished(20'000);
        qInfo("killed %d times", killed);
        QVERIFY(killed >= kills / 2); // else it was through before: the moments say nothing
        verify(world, Count);
        const Ended runs = world.ctl({u"dlq"_s, u"runs"_s, u"--json"_s});
        const QJsonObject run = QJsonDocument::fromJson(runs.out.section(u'\n', 0, 0).toUtf8()).object();
        QCOMPARE(run.value("state"_L1).toString(), u"finished"_s);
        QCOMPARE(run.value("done"_L1).toInt(), Count);
        QCOMPARE(run.value("failed"_L1).toInt(), 0);
    }

    void twoAtOnceMailEachEventOnce()
    {
        constexpr int Count = 100;
        World world;
        QVERIFY2(world.start(5), qPrintable(world.why()));
        fill(world, Count);
        const auto one = world.spawn({u"dlq"_s, u"replay"_s, u"--all"_s});
        const auto other = world.spawn({u"dlq"_s, u"replay"_s, u"--all"_s});
        const Ended first = World::wait(*one);
        const Ended second = World::wait(*other);
        // 1: letters that the other one was quicker with.
        QVERIFY2(first.exitCode <= 1 && second.exitCode <= 1, qPrintable(first.err + second.err));
        // Each saw what the other one did not hide; what is left is left.
        const Ended rest = world.ctl({u"dlq"_s, u"replay"_s, u"--all"_s});
        QVERIFY2(rest.exitCode == 0, qPrintable(rest.err));
        verify(world, Count);
    }

    void optionsChooseAndOutcomesAreToldOnce()
    {
        World world;
        QVERIFY2(world.start(1), qPrintable(world.why()));
        fill(world, 4);
        const Ended dry = world.ctl({u"dlq"_s, u"replay"_s, u"--all"_s, u"--dry-run"_s, u"--json"_s});
        QCOMPARE(dry.exitCode, 0);
        QCOMPARE(dry.out.count(u'\n'), 4);
        QVERIFY(dry.err.contains(u"4 will send"_s));
        QCOMPARE(world.deadLetters().size(), 4);
        QCOMPARE(world.ctl({u"dlq"_s, u"replay"_s, u"--event-id"_s, u"nobody"_s}).exitCode, 1);

        const auto worker = world.spawn({u"worker"_s});
        const Ended canary =
            world.ctl({u"dlq"_s, u"replay"_s, u"--verdict"_s, u"not handled"_s, u"--canary"_s, u"--event-id"_s,
                       event(0), u"--event-id"_s, event(1), u"--wait"_s, u"20s"_s, u"--json"_s});
        QVERIFY2(canary.exitCode == 0, qPrintable(canary.err));
        const QStringList lines = canary.out.split(u'\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 2);
        for (const QString &line : lines)
            QCOMPARE(QJsonDocument::fromJson(line.toUtf8()).object().value("outcome"_L1).toString(), u"mailed"_s);
        worker->terminate();
        worker->waitForFinished(20'000);

        const Ended shown = world.ctl({u"dlq"_s, u"show"_s, u"--event-id"_s, event(2), u"--json"_s});
        QCOMPARE(QJsonDocument::fromJson(shown.out.toUtf8()).object().value("verdict"_L1).toString(),
                 u"unknown"_s); // older than the first claim, and no worker of ours saw it
        const Ended deleted = world.ctl({u"dlq"_s, u"delete"_s, u"--event-id"_s, event(2), u"--json"_s});
        QCOMPARE(deleted.exitCode, 0);
        QCOMPARE(QJsonDocument::fromJson(deleted.out.toUtf8()).object().value("outcome"_L1).toString(), u"deleted"_s);
        const Ended kept = world.ctl({u"dlq"_s, u"kept"_s, u"--json"_s});
        const int id = QJsonDocument::fromJson(kept.out.toUtf8()).object().value("id"_L1).toInt();
        QVERIFY(id > 0);
        QCOMPARE(world.ctl({u"dlq"_s, u"put-back"_s, u"--id"_s, QString::number(id)}).exitCode, 0);
        QCOMPARE(world.deadLetters().size(), 2);
        const Ended exported = world.ctl({u"dlq"_s, u"export"_s, u"--all"_s, u"--csv"_s});
        QCOMPARE(exported.out.count(u'\n'), 3);
        const Ended refused = world.ctl({u"dlq"_s, u"replay"_s, u"--all"_s, u"--read-only"_s});
        QCOMPARE(refused.exitCode, 1);
        QVERIFY(refused.err.contains(u"read-only"_s));
        QCOMPARE(world.deadLetters().size(), 2);
        const Ended audit = world.ctl({u"dlq"_s, u"audit"_s});
        QVERIFY(audit.out.contains(u"put back"_s) && audit.out.contains(u"delete"_s)
                && audit.out.contains(u"replay"_s));
    }
};

QTEST_GUILESS_MAIN(DlqReplayTest)
#include "tst_dlqreplay.moc"
