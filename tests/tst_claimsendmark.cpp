#include "tests/world/world.h"

#include <QJsonDocument>
#include <QtSql/QSqlDatabase>
#include <QtSql/QSqlQuery>
#include <QtTest>

using namespace sendonce::world;
using namespace Qt::StringLiterals;

/// Strategy claim-send-mark by the true programs: what a kill at each point leaves, and what each policy makes of it.
class ClaimSendMarkTest : public QObject
{
    Q_OBJECT

    World m_world;

    Ended worker(const QStringList &more)
    {
        return m_world.ctl(QStringList{u"worker"_s, u"--strategy"_s, u"claim-send-mark"_s} + more);
    }
    QString send()
    {
        const Ended sent = m_world.ctl({u"send"_s, u"--json"_s});
        return QJsonDocument::fromJson(sent.out.toUtf8()).object().value(u"eventId"_s).toString();
    }
    qint64 ask(const QString &sql)
    {
        qint64 answer = -1;
        {
            QSqlDatabase database = QSqlDatabase::addDatabase(u"QSQLITE"_s, u"test"_s);
            database.setDatabaseName(m_world.dataDir() + u"/sendonce.db"_s);
            if (database.open()) {
                QSqlQuery query(database);
                if (query.exec(sql))
                    answer = query.next() ? query.value(0).toLongLong() : query.numRowsAffected();
            }
        }
        QSqlDatabase::removeDatabase(u"test"_s);
        return answer;
    }

private Q_SLOTS:
    void initTestCase() { QVERIFY2(m_world.start(1, 2), qPrintable(m_world.why())); }

    void duplicatesAreSkippedAndNothingStaysClaimed()
    {
        const QString one = send(), two = send();
        QVERIFY(!one.isEmpty() && !two.isEmpty());
        QCOMPARE(m_world.ctl({u"send"_s, u"--event-id"_s, one}).exitCode, 0);
        const Ended ended = worker({u"--until-empty"_s});
        QCOMPARE(ended.exitCode, 0);
        QCOMPARE(ended.lastLine(), u"sent 2, skipped 1, failed 0, in doubt 0"_s);
        QCOMPARE(m_world.mailsOf(one), 1);
        QCOMPARE(m_world.mailsOf(two), 1);
        QCOMPARE(ask(u"SELECT count(*) FROM sendonce_delivery"_s), 0);
    }

    void anotherStrategyIsRefused()
    {
        const Ended ended = m_world.ctl({u"worker"_s, u"--until-empty"_s});
        QCOMPARE(ended.exitCode, 2);
        QVERIFY2(ended.err.contains(u"claim-send-mark"_s), qPrintable(ended.err));
        // Whoever only looks is not asked for a strategy.
        QCOMPARE(m_world.ctl({u"dlq"_s, u"list"_s}).exitCode, 0);
    }

    void aWorkerIsKilled_data()
    {
        QTest::addColumn<QString>("at");
        QTest::addColumn<QString>("policy");
        QTest::addColumn<int>("mailsBefore");
        QTest::addColumn<int>("mailsAfter");
        QTest::addColumn<bool>("handled");
        QTest::newRow("claimed, hold") << u"claimed"_s << u"hold"_s << 0 << 0 << false; // a person decides
        QTest::newRow("claimed, ask") << u"claimed"_s << u"ask"_s << 0 << 1 << true;
        QTest::newRow("accepted, hold") << u"accepted"_s << u"hold"_s << 1 << 1 << false;
        QTest::newRow("accepted, ask") << u"accepted"_s << u"ask"_s << 1 << 1 << true;
        QTest::newRow("accepted, resend") << u"accepted"_s << u"resend"_s << 1 << 2 << true;
        QTest::newRow("committed, hold") << u"committed"_s << u"hold"_s << 1 << 1 << true;
    }

    void aWorkerIsKilled()
    {
        QFETCH(QString, at);
        QFETCH(QString, policy);
        QFETCH(int, mailsBefore);
        QFETCH(int, mailsAfter);
        QFETCH(bool, handled);
        const QString event = send();
        QVERIFY(!event.isEmpty());
        QVERIFY(worker({u"--until-empty"_s, u"--crash-at"_s, at}).killed);
        // A mailbox behind a killed sender still stores what it was given.
        QTRY_COMPARE(m_world.mailsOf(event), mailsBefore);
        const QString row = u"jobs_processedevent WHERE event_id = '%1'"_s.arg(event);
        QCOMPARE(ask(u"SELECT count(*) FROM "_s + row), at == "committed"_L1 ? 1 : 0);
        QVERIFY(ask(u"UPDATE sendonce_delivery SET lease_until = 0"_s) >= 0);

        const Ended ended = worker({u"--until-empty"_s, u"--in-doubt"_s, policy});
        QCOMPARE(ended.exitCode, 0);
        QCOMPARE(m_world.mailsOf(event), mailsAfter);
        QCOMPARE(ask(u"SELECT count(*) FROM "_s + row), handled ? 1 : 0);
        QCOMPARE(ask(u"SELECT count(*) FROM sendonce_delivery WHERE event_id = '%1'"_s.arg(event)), handled ? 0 : 1);
        if (mailsAfter > mailsBefore + (mailsBefore == 0 ? 1 : 0))
            QVERIFY2(ended.err.contains(u"possibly mailed twice"_s), qPrintable(ended.err));
    }
};

QTEST_GUILESS_MAIN(ClaimSendMarkTest)
#include "tst_claimsendmark.moc"
