#include "tests/world/world.h"
#include "worker/mail/mimemessage.h"
#include "worker/store/database.h"
#include "worker/store/deliveryledger.h"
#include "worker/store/journal.h"

#include <QtTest>

#include <QJsonDocument>
#include <QUuid>

using namespace sendonce;
using namespace sendonce::world;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

/// `sendoncectl doubt` as people and scripts see it, on the embedded services.
class CtlDoubt : public QObject
{
    Q_OBJECT

    static QList<QJsonObject> objects(const QString &out)
    {
        QList<QJsonObject> lines;
        for (const QString &line : out.split(u'\n', Qt::SkipEmptyParts))
            lines.append(QJsonDocument::fromJson(line.toUtf8()).object());
        return lines;
    }
    /// A claim of claim-send-mark whose send ended in doubt.
    static bool claimInDoubt(const World &world, const QString &eventId)
    {
        DeliveryLedger::Settings settings;
        settings.url = DatabaseUrl::parse(world.variable(u"DATABASE_URL"_s)).value();
        const auto ledger = DeliveryLedger::make(settings);
        const QString owner = QUuid::createUuid().toString(QUuid::WithoutBraces);
        const ClaimRequest request{eventId,
                                   u"application.status_changed"_s,
                                   u"2025-03-04 10:11:12.123456"_s,
                                   {},
                                   u"SELECT id FROM jobs_application WHERE id = :application_id"_s,
                                   {{u"application_id"_s, Q_INT64_C(3)}}};
        return ledger->claim(request, owner).ok() && ledger->doubt(eventId, owner).ok();
    }
    /// A doubt of the strategy transaction.
    static bool journalDoubt(const World &world, const QString &eventId)
    {
        auto journal = Journal::open(world.dataDir(), {});
        DeliveryReport report;
        report.eventId = eventId;
        report.eventType = u"application.status_changed"_s;
        report.applicationId = u"3"_s;
        report.messageId = u"m-"_s + eventId;
        report.reason = u"no complete final reply within 60 s"_s;
        report.mailMessageId = messageIdFor(eventId, u"jobboard.example"_s);
        report.receivedAt = QDateTime::currentDateTimeUtc();
        return journal.ok() && journal->recordDoubt(report).ok();
    }

private Q_SLOTS:
    void anEmptyListSaysSo()
    {
        World world;
        QVERIFY2(world.start(30), qPrintable(world.why()));
        const Ended list = world.ctl({u"doubt"_s, u"list"_s});
        QCOMPARE(list.exitCode, 0);
        QCOMPARE(list.out.trimmed(), u"no event is in doubt"_s);
        QCOMPARE(world.ctl({u"doubt"_s, u"list"_s, u"--json"_s}).out, QString());
    }

    void theyAreListedSettledAndSkipped()
    {
        World world;
        QVERIFY2(world.start(30), qPrintable(world.why()));
        QVERIFY(claimInDoubt(world, u"claimed"_s));
        QVERIFY(journalDoubt(world, u"journalled"_s));
        const auto listed = objects(world.ctl({u"doubt"_s, u"list"_s, u"--json"_s}).out);
        QCOMPARE(listed.size(), 2);
        QMap<QString, QJsonObject> byId;
        for (const QJsonObject &line : listed)
            byId.insert(line["eventId"_L1].toString(), line);
        QCOMPARE(byId.value(u"claimed"_s)["strategy"_L1].toString(), u"claim-send-mark"_s);
        const QJsonObject journalled = byId.value(u"journalled"_s);
        QCOMPARE(journalled["state"_L1].toString(), u"waiting"_s);
        QCOMPARE(journalled["strategy"_L1].toString(), u"transaction"_s);
        QCOMPARE(journalled["reason"_L1].toString(), u"no complete final reply within 60 s"_s);
        QCOMPARE(journalled["mailMessageId"_L1].toString(), messageIdFor(u"journalled"_s, u"jobboard.example"_s));
        QVERIFY(QDateTime::fromString(journalled["since"_L1].toString(), Qt::ISODateWithMs).isValid());

        const QStringList settle{u"doubt"_s,      u"settle"_s,     u"--event-id"_s, u"claimed"_s,
                                 u"--event-id"_s, u"journalled"_s, u"--arrived"_s};
        for (int time = 0; time < 2; ++time) { // twice is harmless
            const Ended settled = world.ctl(settle + QStringList{u"--json"_s});
            QVERIFY2(settled.exitCode == 0, qPrintable(settled.out + settled.err));
            for (const QJsonObject &line : objects(settled.out))
                QCOMPARE(line["outcome"_L1].toString(), u"settled"_s);
        }
        QVERIFY(world.ctl({u"doubt"_s, u"list"_s}).out.startsWith(u"no event"_s));
        QVERIFY(world.ctl({u"doubt"_s, u"list"_s, u"--all"_s}).out.contains(u"it arrived"_s));
        QCOMPARE(world.ctl({u"send"_s, u"--event-id"_s, u"journalled"_s}).exitCode, 0);
        QCOMPARE(world.ctl({u"worker"_s, u"--until-empty"_s}).lastLine(), u"sent 0, skipped 1, failed 0, in doubt 0"_s);
        QCOMPARE(world.mailsOf(u"journalled"_s), 0);
    }

    void whatIsSentAgainIsSentByTheNextDelivery()
    {
        World world;
        QVERIFY2(world.start(30), qPrintable(world.why()));
        QVERIFY(journalDoubt(world, u"e"_s));
        QCOMPARE(world.ctl({u"doubt"_s, u"settle"_s, u"--event-id"_s, u"e"_s, u"--send-again"_s}).exitCode, 0);
        QVERIFY(world.ctl({u"doubt"_s, u"list"_s}).out.contains(u"send again"_s));
        QCOMPARE(world.ctl({u"send"_s, u"--event-id"_s, u"e"_s}).exitCode, 0);
        QCOMPARE(world.ctl({u"worker"_s, u"--until-empty"_s}).lastLine(), u"sent 1, skipped 0, failed 0, in doubt 0"_s);
        const Ended late = world.ctl({u"doubt"_s, u"settle"_s, u"--event-id"_s, u"e"_s, u"--send-again"_s});
        QCOMPARE(late.exitCode, 1);
        QVERIFY2(late.out.contains(u"refused"_s), qPrintable(late.out));
    }

    void askingFindsTheMailInTheMailbox()
    {
        World world;
        QVERIFY2(world.start(30), qPrintable(world.why()));
        QCOMPARE(world.ctl({u"send"_s, u"--event-id"_s, u"there"_s}).exitCode, 0);
        QCOMPARE(world.ctl({u"worker"_s, u"--until-empty"_s}).lastLine(), u"sent 1, skipped 0, failed 0, in doubt 0"_s);
        { // as if the worker had died behind its final dot
            auto database = Database::open(world.variable(u"DATABASE_URL"_s));
            QVERIFY(database.ok());
            QVERIFY(database->rows(u"DELETE FROM jobs_processedevent"_s, {}, u"forget"_s).ok());
        }
        QVERIFY(claimInDoubt(world, u"there"_s));
        QVERIFY(claimInDoubt(world, u"missing"_s));
        const QStringList ask{u"doubt"_s, u"settle"_s, u"--ask"_s, u"--json"_s, u"--event-id"_s};
        const Ended there = world.ctl(ask + QStringList{u"there"_s});
        QVERIFY2(there.exitCode == 0, qPrintable(there.out + there.err));
        QCOMPARE(objects(there.out).value(0)["outcome"_L1].toString(), u"settled"_s);
        const Ended missing = world.ctl(ask + QStringList{u"missing"_s});
        QCOMPARE(missing.exitCode, 1);
        QCOMPARE(objects(missing.out).value(0)["outcome"_L1].toString(), u"not there"_s);
        QCOMPARE(world.events().size(), 1);
    }

    void readOnlyAndMissingDatabasesAreRefused()
    {
        World world;
        const Ended none = world.ctl({u"doubt"_s, u"list"_s});
        QCOMPARE(none.exitCode, 1);
        QVERIFY2(none.err.contains(u"there is no file"_s), qPrintable(none.err));
        const Ended away =
            world.ctl({u"doubt"_s, u"list"_s, u"--database-url"_s, u"postgresql://me@127.0.0.1:1/jobs"_s});
        QCOMPARE(away.exitCode, 4);
        QVERIFY2(world.start(30), qPrintable(world.why()));
        QVERIFY(claimInDoubt(world, u"e"_s));
        const Ended refused =
            world.ctl({u"doubt"_s, u"settle"_s, u"--read-only"_s, u"--event-id"_s, u"e"_s, u"--arrived"_s});
        QCOMPARE(refused.exitCode, 1);
        QVERIFY2(refused.out.contains(u"read-only"_s), qPrintable(refused.out));
    }
};

QTEST_GUILESS_MAIN(CtlDoubt)
#include "tst_ctldoubt.moc"
