#include "tests/world/postgres.h"
#include "worker/local/localservices.h"
#include "worker/operate/retention.h"
#include "worker/store/journal.h"
#include "worker/store/processedevents.h"

#include <QtTest>

#include <QTemporaryDir>

#include <thread>
#include <vector>

using namespace sendonce;
using namespace sendonce::world;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

/// Old claims go, with all that belongs to them, and nothing else does: on both databases.
class RetentionTest : public QObject
{
    Q_OBJECT

    Postgres m_postgres;
    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<LocalServices> m_services;
    QUrl m_queueUrl, m_dlqUrl;
    std::unique_ptr<SqsClient> m_client;
    QString m_url;
    std::optional<Database> m_database;
    std::optional<Journal> m_journal;
    std::unique_ptr<Audit> m_audit;
    std::unique_ptr<Retention> m_retention;
    std::unique_ptr<QSignalSpy> m_done, m_previewed;

    static void bothDatabases()
    {
        QTest::addColumn<bool>("isPostgres");
        QTest::newRow("SQLite") << false;
        QTest::newRow("PostgreSQL") << true;
    }

    /// A database of its own for this test.
    void openDatabase()
    {
        QFETCH(bool, isPostgres);
        m_url =
            isPostgres ? m_postgres.url(m_postgres.createJobBoard()) : u"sqlite:///"_s + m_dir->filePath(u"board.db"_s);
        auto database = Database::open(m_url);
        QVERIFY2(database.ok(), database.ok() ? "" : qPrintable(database.error().text));
        m_database.emplace(database.take());
        const auto migrated = m_database->migrate(isPostgres ? u"postgres"_s : u"jobboard"_s);
        QVERIFY2(migrated.ok(), migrated.ok() ? "" : qPrintable(migrated.error().text));
        if (isPostgres)
            openJournal(m_url);
    }

    void openJournal(const QString &url)
    {
        auto journal = Journal::open(m_dir->path(), url);
        QVERIFY2(journal.ok(), journal.ok() ? "" : qPrintable(journal.error().text));
        m_audit.reset();
        m_journal.emplace(journal.take());
        m_audit = std::make_unique<Audit>(m_journal->database(), u"Test"_s);
    }

    void makeRetention(Retention::Times times = {5min, 24h, 1ms})
    {
        Config config;
        m_retention =
            std::make_unique<Retention>(*m_client, *m_database, m_journal->database(), *m_audit, config, times);
        m_retention->setQueues(m_queueUrl, m_dlqUrl);
        m_done = std::make_unique<QSignalSpy>(m_retention.get(), &Retention::done);
        m_previewed = std::make_unique<QSignalSpy>(m_retention.get(), &Retention::previewed);
    }

    CleanUp clean(const QStringList &spared = {})
    {
        makeRetention();
        m_retention->clean(spared);
        return !m_done->isEmpty() || m_done->wait(20'000) ? m_done->last().at(0).value<CleanUp>() : CleanUp();
    }

    QVariant ask(const QString &sql, const QVariantList &values = {})
    {
        const auto rows = m_database->rows(sql, values, u"the test"_s);
        if (!rows)
            qWarning("%s", qPrintable(rows.error().text));
        return rows && !rows->isEmpty() ? rows->first().first() : QVariant();
    }
    qint64 rowsOf(const QString &table) { return ask(u"SELECT count(*) FROM "_s + table).toLongLong(); }

    /// Claims with hashes, ids in this order, so many days ago.
    void addClaims(const QString &prefix, int count, double daysAgo)
    {
        const QString series = m_database->isPostgres()
            ? u"SELECT n FROM generate_series(1, %1) AS n"_s.arg(count)
            : u"SELECT n FROM (WITH RECURSIVE series(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM series WHERE n < %1) "
              "SELECT n FROM series)"_s.arg(count);
        const QString at = djangoTime(nowUsecs() - qint64(daysAgo * 86'400e6));
        ask(u"INSERT INTO jobs_processedevent (event_id, event_type, processed_at) "
            "SELECT '%1-' || n, 'application.status_changed', %2 FROM (%3) AS s ORDER BY n"_s.arg(
                prefix, m_database->isPostgres() ? u"'%1+00'"_s.arg(at) : u"'%1'"_s.arg(at), series));
        ask(u"INSERT INTO sendonce_claimbody (claim_id, event_id, body_sha256) "
            "SELECT id, event_id, %1 FROM jobs_processedevent WHERE event_id LIKE '%2-%' "
            "AND id NOT IN (SELECT claim_id FROM sendonce_claimbody)"_s.arg(
                m_database->isPostgres() ? u"'\\x00'"_s : u"x'00'"_s, prefix));
    }

    void addDelivery(const QString &eventId, double daysAgo)
    {
        DeliveryReport report;
        report.eventId = eventId;
        report.messageId = eventId + u"-message"_s;
        QVERIFY(m_journal->record(report).ok());
        QVERIFY(m_journal->recordReplay(eventId, report.messageId, u"a note"_s).ok());
        for (const auto &[table, time] :
             {std::pair(u"attempt"_s, u"recorded_at"_s), std::pair(u"note"_s, u"noted_at"_s)})
            QVERIFY(m_journal->database()
                        .rows(u"UPDATE sendonce_%1 SET %2 = ? WHERE event_id = ?"_s.arg(table, time),
                              {nowUsecs() - qint64(daysAgo * 86'400e6), eventId}, u"the test"_s)
                        .ok());
    }
    QStringList journalled()
    {
        QStringList ids;
        const auto rows = m_journal->database().rows(u"SELECT event_id FROM sendonce_attempt UNION ALL "
                                                     "SELECT event_id FROM sendonce_note ORDER BY 1"_s,
                                                     {}, u"the test"_s);
        for (const QVariantList &row : rows.value())
            ids.append(row[0].toString());
        return ids;
    }

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY2(m_postgres.start(), qPrintable(m_postgres.why()));
        m_dir = std::make_unique<QTemporaryDir>();
        m_services = std::make_unique<LocalServices>();
        LocalSettings settings;
        settings.dataDir = m_dir->path();
        settings.sqsPort = settings.smtpPort = 0;
        const auto started = m_services->start(settings);
        QVERIFY2(started.ok(), started.ok() ? "" : qPrintable(started.error().text));
        m_queueUrl = started->queueUrl();
        m_dlqUrl = started->dlqUrl();
        m_client = std::make_unique<SqsClient>(SqsSettings{{}, u"us-east-1"_s, {u"test"_s, u"test"_s, {}}});
    }
    void init()
    {
        if (!QTest::currentDataTag() || !m_services)
            return;
        QFile::remove(m_dir->filePath(u"board.db"_s));
        QFile::remove(m_dir->filePath(u"journal.db"_s));
        openJournal({});
    }
    void cleanup()
    {
        m_retention.reset();
        m_audit.reset();
        m_journal.reset();
        m_database.reset();
    }

    void keepsForAsLongAsAMessageCanComeBack_data()
    {
        QTest::addColumn<int>("wanted");
        QTest::addColumn<std::chrono::seconds>("queue");
        QTest::addColumn<std::chrono::seconds>("dlq");
        QTest::addColumn<int>("days");
        const auto days = [](int n) { return std::chrono::seconds(n * 24h); };
        QTest::newRow("more than enough") << 45 << days(4) << days(14) << 45;
        QTest::newRow("just enough") << 32 << days(4) << days(14) << 32;
        QTest::newRow("a day too little") << 31 << days(4) << days(14) << 32;
        QTest::newRow("part of a day counts") << 1 << days(4) << std::chrono::seconds(60) << 5;
        QTest::newRow("no dead letter queue") << 1 << days(4) << 0s << 4;
        QTest::newRow("the longest there is") << 1 << days(14) << days(14) << 42;
    }
    void keepsForAsLongAsAMessageCanComeBack()
    {
        QFETCH(int, wanted);
        QFETCH(std::chrono::seconds, queue);
        QFETCH(std::chrono::seconds, dlq);
        QFETCH(int, days);
        const KeptFor kept = keptFor(wanted, queue, dlq);
        QCOMPARE(kept.days, days);
        QCOMPARE(kept.warning.isEmpty(), days == wanted);
    }

    void oldClaimsGoWithAllThatIsTheirs_data() { bothDatabases(); }
    void oldClaimsGoWithAllThatIsTheirs()
    {
        openDatabase();
        addClaims(u"old"_s, 1500, 100);
        addClaims(u"young-in-between"_s, 700, 1);
        addClaims(u"newest-old"_s, 1, 45.01);
        addClaims(u"young"_s, 3, 44.99);
        for (const auto &[id, days] :
             {std::pair(u"old-1"_s, 100.0), std::pair(u"old-7"_s, 100.0), std::pair(u"never-claimed"_s, 50.0),
              std::pair(u"young-1"_s, 44.99), std::pair(u"young-2"_s, 50.0), std::pair(u"failing-now"_s, 1.0)})
            addDelivery(id, days);
        makeRetention();
        m_retention->preview({u"old-7"_s});
        QTRY_COMPARE(m_previewed->size(), 1);
        const auto preview = m_previewed->last().at(0).value<CleanUp>();
        QCOMPARE(preview.error, QString());
        QCOMPARE(preview.rows, 1500);
        // daysTo() counts midnights, so 45.01 days are 46 of them in the first minutes of a day.
        constexpr qint64 Day = 86'400;
        QCOMPARE(preview.oldest.secsTo(QDateTime::currentDateTimeUtc()) / Day, 100);
        QCOMPARE(preview.newest.secsTo(QDateTime::currentDateTimeUtc()) / Day, 45);
        QCOMPARE(rowsOf(u"jobs_processedevent"_s), 2204);

        const CleanUp report = clean({u"old-7"_s});
        QCOMPARE(report.error, QString());
        QCOMPARE(report.keepDays, 45);
        QCOMPARE(report.rows, 1500);
        QCOMPARE(report.journalRows, 4);
        QCOMPARE(rowsOf(u"jobs_processedevent"_s), 704);
        QCOMPARE(rowsOf(u"sendonce_claimbody"_s), 704);
        QCOMPARE(ask(u"SELECT count(*) FROM jobs_processedevent WHERE event_id = 'old-7'"_s).toInt(), 1);
        // Those of a claim that stands stay, however old, as do those of an event that may still come.
        const QStringList stay{u"failing-now"_s, u"old-7"_s, u"young-1"_s, u"young-2"_s};
        QStringList twice;
        for (const QString &id : stay)
            twice << id << id;
        QCOMPARE(journalled(), twice);
        const auto forgotten = Forgetting(*m_database).forgottenBefore();
        QVERIFY(forgotten.ok());
        QVERIFY2(qAbs(forgotten->secsTo(preview.newest)) <= 1, qPrintable(forgotten->toString()));
        const auto audit = m_audit->page(0, 10);
        QCOMPARE(audit->entries.size(), 2);
    }

    void forgottenBeforeOnlyGrows_data() { bothDatabases(); }
    void forgottenBeforeOnlyGrows()
    {
        openDatabase();
        addClaims(u"recent"_s, 1, 50);
        QCOMPARE(clean().rows, 1);
        const QDateTime newest = Forgetting(*m_database).forgottenBefore().value();
        addClaims(u"restored"_s, 1, 500);
        QCOMPARE(clean().rows, 1);
        QCOMPARE(Forgetting(*m_database).forgottenBefore().value(), newest);
    }

    /// What was forgotten without a note would be mailed a second time by a replay.
    void nothingGoesWithoutItsNote_data() { bothDatabases(); }
    void nothingGoesWithoutItsNote()
    {
        openDatabase();
        addClaims(u"old"_s, 3, 100);
        if (m_database->isPostgres()) {
            ask(u"ALTER TABLE sendonce_meta ADD CHECK (name <> 'forgotten_before')"_s);
        } else {
            ask(u"CREATE TRIGGER refuse BEFORE INSERT ON sendonce_meta BEGIN SELECT RAISE(ABORT, 'refused'); END"_s);
        }
        const CleanUp report = clean();
        QVERIFY2(!report.error.isEmpty(), "it should have been refused");
        QCOMPARE(report.rows, 0);
        QCOMPARE(rowsOf(u"jobs_processedevent"_s), 3);
        QCOMPARE(rowsOf(u"sendonce_claimbody"_s), 3);
    }

    void withoutItsTableNothingGoes_data() { bothDatabases(); }
    void withoutItsTableNothingGoes()
    {
        openDatabase();
        addClaims(u"old"_s, 3, 100);
        ask(u"DROP TABLE sendonce_meta"_s);
        QVERIFY(clean().error.contains(u"sendonce_meta"_s));
        QCOMPARE(rowsOf(u"jobs_processedevent"_s), 3);
    }

    void theScheduleEndsAmongYoungRows_data() { bothDatabases(); }
    void theScheduleEndsAmongYoungRows()
    {
        openDatabase();
        addClaims(u"old"_s, 5, 100);
        addClaims(u"young"_s, Retention::YoungRowsAtTheEnd + 2000, 1);
        addClaims(u"restored"_s, 5, 100);
        makeRetention({1ms, 24h, 1ms});
        m_retention->schedule();
        QTRY_COMPARE(m_done->size(), 1);
        const auto report = m_done->last().at(0).value<CleanUp>();
        QCOMPARE(report.error, QString());
        QVERIFY(report.scheduled);
        QCOMPARE(report.rows, 5);
        QCOMPARE(clean().rows, 5); // by hand all of the table is walked
    }

    void twoCleanersShareTheWork_data() { bothDatabases(); }
    void twoCleanersShareTheWork()
    {
        openDatabase();
        const int count = m_database->isPostgres() ? 6000 : 1500;
        addClaims(u"old"_s, count, 100);
        addClaims(u"young"_s, 10, 1);
        const QDateTime before = QDateTime::currentDateTimeUtc().addDays(-45);
        std::atomic_int taken = 0, busy = 0;
        std::array<QString, 2> errors;
        std::vector<std::thread> cleaners;
        for (QString &error : errors) {
            cleaners.emplace_back([&] {
                auto database = Database::open(m_url);
                if (!database) {
                    error = database.error().text;
                    return;
                }
                Forgetting claims(database.value());
                for (Forgetting::Batch batch{0, 1};;) {
                    const auto next = claims.take(batch.lastId, 100, before, {});
                    if (!next) {
                        error = next.error().text;
                        return;
                    }
                    batch = next.value();
                    taken += batch.taken;
                    busy += batch.elsewhere ? 1 : 0;
                    if (!batch.elsewhere && batch.seen == 0)
                        return;
                }
            });
        }
        for (std::thread &cleaner : cleaners)
            cleaner.join();
        QCOMPARE(errors[0] + errors[1], QString());
        QCOMPARE(taken, count);
        QCOMPARE(rowsOf(u"jobs_processedevent"_s), 10);
        QCOMPARE(rowsOf(u"sendonce_claimbody"_s), 10);
    }

    void theServerReadsNoWholeTable_data()
    {
        QTest::addColumn<bool>("isPostgres");
        QTest::newRow("PostgreSQL") << true;
    }
    void theServerReadsNoWholeTable()
    {
        openDatabase();
        addClaims(u"young-first"_s, 2000, 1);
        addClaims(u"old"_s, 3000, 100);
        addClaims(u"young"_s, 20'000, 1);
        ask(u"ANALYZE"_s);
        const QString scans = u"SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname IN "
                              "('jobs_processedevent', 'sendonce_claimbody')"_s;
        const QString name = m_url.section(u'/', -1);
        m_database.emplace(Database::open(m_url).take()); // a session tells what it read at its end
        QString before;
        QTRY_VERIFY(!(before = m_postgres.sql(name, scans)).isEmpty() && m_postgres.sql(name, scans) == before);
        Forgetting claims(*m_database);
        qint64 lastId = 0;
        int taken = 0;
        for (;;) {
            const auto batch = claims.take(lastId, 1000, QDateTime::currentDateTimeUtc().addDays(-45), {});
            QVERIFY2(batch.ok(), batch.ok() ? "" : qPrintable(batch.error().text));
            if (batch->seen == 0)
                break;
            lastId = batch->lastId;
            taken += batch->taken;
        }
        QCOMPARE(taken, 3000);
        m_database.reset();
        const QString deleted = u"SELECT n_tup_del FROM pg_stat_user_tables WHERE relname = 'jobs_processedevent'"_s;
        QTRY_COMPARE(m_postgres.sql(name, deleted), u"3000"_s); // it has told by now
        QCOMPARE(m_postgres.sql(name, scans), before);
    }
};

QTEST_GUILESS_MAIN(RetentionTest)
#include "tst_retention.moc"
