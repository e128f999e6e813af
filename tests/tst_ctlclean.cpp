#include "tests/world/world.h"

#include <QtTest>

#include <QJsonDocument>
#include <QtSql/QSqlDatabase>
#include <QtSql/QSqlError>
#include <QtSql/QSqlQuery>

using namespace sendonce::world;
using namespace Qt::StringLiterals;

/// `sendoncectl events clean` as people and scripts see it.
class CtlClean : public QObject
{
    Q_OBJECT

    World m_world;

    void run(const QStringList &statements)
    {
        {
            QSqlDatabase database = QSqlDatabase::addDatabase(u"QSQLITE"_s, u"test"_s);
            database.setDatabaseName(m_world.dataDir() + u"/sendonce.db"_s);
            QVERIFY2(database.open(), qPrintable(database.lastError().text()));
            for (const QString &statement : statements) {
                QSqlQuery query(database);
                QVERIFY2(query.exec(statement), qPrintable(query.lastError().text()));
            }
        }
        QSqlDatabase::removeDatabase(u"test"_s);
    }
    QStringList events() const
    {
        QStringList ids;
        for (const QJsonObject &event : m_world.events())
            ids.append(event.value("eventId"_L1).toString());
        ids.sort();
        return ids;
    }
    static QJsonObject object(const Ended &ended)
    {
        return QJsonDocument::fromJson(ended.lastLine().toUtf8()).object();
    }

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY2(m_world.start(30), qPrintable(m_world.why()));
        QStringList statements;
        for (const auto &[id, days] :
             {std::pair("ancient", 100), std::pair("old", 40), std::pair("dead", 90), std::pair("young", 20)})
            statements.append(u"INSERT INTO jobs_processedevent (event_id, event_type, processed_at) VALUES "
                              "('%1', 'application.status_changed', datetime('now', '-%2 days'))"_s.arg(
                                  QLatin1String(id), QString::number(days)));
        run(statements);
        const Ended sent = m_world.ctl(
            {u"send"_s, u"--event-id"_s, u"dead"_s, u"--queue-url"_s, m_world.variable(u"SENDONCE_DLQ_URL"_s)});
        QVERIFY2(sent.exitCode == 0, qPrintable(sent.err));
    }

    void aDryRunTellsAndLeaves()
    {
        const Ended dry = m_world.ctl({u"events"_s, u"clean"_s, u"--dry-run"_s, u"--json"_s});
        QVERIFY2(dry.exitCode == 0, qPrintable(dry.err));
        QCOMPARE(object(dry).value("rows"_L1).toInt(), 1);
        QCOMPARE(object(dry).value("keepDays"_L1).toInt(), 45);
        QCOMPARE(object(dry).value("spared"_L1).toInt(), 1);
        QVERIFY(!object(dry).value("done"_L1).toBool());
        QCOMPARE(events(), (QStringList{u"ancient"_s, u"dead"_s, u"old"_s, u"young"_s}));
    }

    void tooFewDaysAreRaisedAndDeadLettersSpared()
    {
        // The embedded queue keeps messages 4 days, its dead letter queue 14.
        const Ended clean = m_world.ctl({u"events"_s, u"clean"_s, u"--keep-days"_s, u"1"_s});
        QVERIFY2(clean.exitCode == 0, qPrintable(clean.err));
        QVERIFY2(clean.err.contains(u"claims are kept 32 days instead of 1"_s), qPrintable(clean.err));
        QVERIFY2(clean.out.contains(u"2 events were handled more than 32 days ago"_s), qPrintable(clean.out));
        QVERIFY2(clean.lastLine().startsWith(u"2 events forgotten"_s), qPrintable(clean.out));
        QCOMPARE(events(), (QStringList{u"dead"_s, u"young"_s}));
    }

    /// Whether it was handled is not known any more, so a replay needs a reason.
    void aLetterFromBeforeIsForgotten()
    {
        const Ended sent = m_world.ctl(
            {u"send"_s, u"--event-id"_s, u"fresh"_s, u"--queue-url"_s, m_world.variable(u"SENDONCE_DLQ_URL"_s)});
        QVERIFY2(sent.exitCode == 0, qPrintable(sent.err));
        run({u"UPDATE sendonce_meta SET value = datetime('now', '+1 minute') WHERE name = 'forgotten_before'"_s});
        const Ended list = m_world.ctl({u"dlq"_s, u"list"_s});
        static const QRegularExpression Fresh(u"\\bfresh\\b.*forgotten"_s), Dead(u"\\bdead\\b.*handled"_s);
        QVERIFY2(list.out.contains(Fresh) && list.out.contains(Dead), qPrintable(list.out));
        const Ended replay = m_world.ctl({u"dlq"_s, u"replay"_s, u"--event-id"_s, u"fresh"_s});
        QVERIFY2(replay.exitCode != 0, qPrintable(replay.out));
        QVERIFY2((replay.out + replay.err).contains(u"claims of its time were cleaned up"_s), qPrintable(replay.out));
    }

    void readOnlyForgetsNothing()
    {
        run({u"UPDATE jobs_processedevent SET processed_at = datetime('now', '-99 days') WHERE event_id = 'young'"_s});
        const Ended clean = m_world.ctl({u"events"_s, u"clean"_s, u"--read-only"_s});
        QCOMPARE(clean.exitCode, 1);
        QVERIFY2(clean.err.contains(u"read-only"_s), qPrintable(clean.err));
        QCOMPARE(events(), (QStringList{u"dead"_s, u"young"_s}));
    }

    void badDaysAreWrongUsage()
    {
        const Ended clean = m_world.ctl({u"events"_s, u"clean"_s, u"--keep-days"_s, u"0"_s});
        QCOMPARE(clean.exitCode, 2);
        QVERIFY2(clean.err.contains(u"--keep-days is “0”; accepted: a number from 1 to 36500"_s),
                 qPrintable(clean.err));
    }
};

QTEST_GUILESS_MAIN(CtlClean)
#include "tst_ctlclean.moc"
