#include "worker/store/jobboard.h"
#include "worker/store/processedevents.h"

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QtSql/QSqlQuery>

#include <barrier>
#include <thread>
#include <vector>

using namespace Qt::StringLiterals;
using namespace sendonce;
using namespace std::chrono_literals;

namespace {

const QString Type = u"application.status_changed"_s;
const QString At = u"2025-03-04 10:11:12.123456"_s;
const QByteArray Hash = QByteArray(32, 'h');

int count(const Database &database, const QString &from)
{
    QSqlQuery query(database.handle());
    return query.exec(u"SELECT count(*) FROM "_s + from) && query.next() ? query.value(0).toInt() : -1;
}

QStringList ids(const ProcessedPage &page)
{
    QStringList ids;
    for (const ProcessedRow &row : page.rows)
        ids.append(row.eventId);
    return ids;
}

} // namespace

class TestProcessedEvents : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup() { m_database.reset(); }

    void firstClaimIsWrittenSecondIsADuplicate();
    void rolledBackClaimIsFree();
    void otherBodyIsSeen();
    void hashOfAForgottenClaimIsReplaced();
    void worksWithoutOurTable();
    void everyOtherConstraintIsAnError_data();
    void everyOtherConstraintIsAnError();
    void missingUniqueConstraintIsAnError();
    void lockedIsBusyAndNoDuplicate();
    void readOnlyIsAnError();
    void refusesIdsThatTheDatabaseChanges_data();
    void refusesIdsThatTheDatabaseChanges();
    void differentIdsAreDifferentClaims();
    void raceOfEight_data();
    void raceOfEight();

    void pagesAreNewestFirst();
    void searchTakesTextAsItIs_data();
    void searchTakesTextAsItIs();
    void standingFindsSixHundred();
    void badTableIsAnError();

    void writesDjangosTime_data();
    void writesDjangosTime();
    void readsTimes_data();
    void readsTimes();

private:
    Result<ProcessedEvents::Claim> claim(const QString &id, const QByteArray &hash = Hash, const QString &at = At,
                                         bool commit = true);
    bool run(const QString &sql) { return QSqlQuery(m_database->handle()).exec(sql); }
    QString url() const { return u"sqlite:///"_s + m_folder->filePath(u"t.db"_s); }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Database> m_database;
};

void TestProcessedEvents::init()
{
    QTest::failOnWarning(QRegularExpression(u".*"_s));
    m_folder = std::make_unique<QTemporaryDir>();
    Result<Database> database = Database::open(url());
    QVERIFY(database.ok());
    m_database = std::make_unique<Database>(database.take());
    QVERIFY(m_database->migrate(u"jobboard"_s).ok());
}

Result<ProcessedEvents::Claim> TestProcessedEvents::claim(const QString &id, const QByteArray &hash, const QString &at,
                                                          bool commit)
{
    Result<Transaction> transaction = Transaction::begin(*m_database);
    if (!transaction)
        return transaction.error();
    ProcessedEvents events(*m_database);
    Result<ProcessedEvents::Claim> claim = events.claim(id, Type, at, hash);
    if (claim && commit) {
        if (const auto committed = transaction.value().commit(); !committed)
            return committed.error();
    }
    return claim;
}

void TestProcessedEvents::firstClaimIsWrittenSecondIsADuplicate()
{
    const auto first = claim(u"e-1"_s);
    QVERIFY2(first.ok(), first.ok() ? "" : qPrintable(first.error().text));
    QVERIFY(first->inserted);
    const auto second = claim(u"e-1"_s, Hash, u"2025-03-05 00:00:00.000000"_s);
    QVERIFY(second.ok());
    QVERIFY(!second->inserted);
    QVERIFY(!second->otherBody);
    QCOMPARE(second->standingText, At);
    QCOMPARE(second->standingProcessedAt, QDateTime({2025, 3, 4}, {10, 11, 12, 123}, Qt::UTC));
    QCOMPARE(
        count(*m_database,
              u"jobs_processedevent WHERE event_id='e-1' AND event_type='%1' AND processed_at='%2'"_s.arg(Type, At)),
        1);
    QCOMPARE(count(*m_database, u"sendonce_claimbody"_s), 1);
}

void TestProcessedEvents::rolledBackClaimIsFree()
{
    QVERIFY(claim(u"e-1"_s, Hash, At, false)->inserted);
    QCOMPARE(count(*m_database, u"jobs_processedevent"_s), 0);
    QCOMPARE(count(*m_database, u"sendonce_claimbody"_s), 0);
    QVERIFY(claim(u"e-1"_s)->inserted);
}

void TestProcessedEvents::otherBodyIsSeen()
{
    QVERIFY(claim(u"e-1"_s)->inserted);
    QVERIFY(claim(u"e-1"_s, QByteArray(32, 'x'))->otherBody);
    QVERIFY(!claim(u"e-1"_s, {})->otherBody); // unknown is not different
    QVERIFY(run(u"DELETE FROM sendonce_claimbody"_s)); // as if a Django worker had claimed
    QVERIFY(!claim(u"e-1"_s, QByteArray(32, 'x'))->otherBody);
}

void TestProcessedEvents::hashOfAForgottenClaimIsReplaced()
{
    QVERIFY(claim(u"e-1"_s)->inserted);
    QVERIFY(run(u"DELETE FROM jobs_processedevent"_s) && run(u"DELETE FROM sqlite_sequence"_s)); // ids begin again
    QVERIFY(claim(u"e-1"_s, QByteArray(32, 'x'))->inserted);
    QCOMPARE(count(*m_database, u"sendonce_claimbody"_s), 1);
    QVERIFY(claim(u"e-1"_s, Hash)->otherBody);
}

void TestProcessedEvents::worksWithoutOurTable()
{
    QVERIFY(run(u"DROP TABLE sendonce_claimbody"_s));
    QVERIFY(claim(u"e-1"_s)->inserted);
    const auto second = claim(u"e-1"_s, QByteArray(32, 'x'));
    QVERIFY(second.ok());
    QVERIFY(!second->inserted);
    QVERIFY(!second->otherBody);
}

// spec.md, rule 7: taking any integrity error for a duplicate would lose e-mails silently.
void TestProcessedEvents::everyOtherConstraintIsAnError_data()
{
    QTest::addColumn<QString>("prepare");
    QTest::addColumn<QString>("eventType");
    QTest::addColumn<QString>("says");
    QTest::newRow("null type") << u"SELECT 1"_s << QString()
                               << u"NOT NULL constraint failed: jobs_processedevent.event_type"_s;
    QTest::newRow("a trigger says unique")
        << u"CREATE TRIGGER t BEFORE INSERT ON jobs_processedevent BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed'); END"_s
        << Type << u"UNIQUE constraint failed"_s;
    QTest::newRow("another unique column") << u"CREATE UNIQUE INDEX u ON jobs_processedevent (event_type)"_s << Type
                                           << u"UNIQUE constraint failed: jobs_processedevent.event_type"_s;
    QTest::newRow("a trigger swallows the row")
        << u"CREATE TRIGGER t BEFORE INSERT ON jobs_processedevent BEGIN SELECT RAISE(IGNORE); END"_s << Type
        << u"there is none"_s;
}

void TestProcessedEvents::everyOtherConstraintIsAnError()
{
    QFETCH(QString, prepare);
    QFETCH(QString, eventType);
    QFETCH(QString, says);
    QVERIFY(claim(u"other"_s)->inserted);
    QVERIFY(run(prepare));
    Result<Transaction> transaction = Transaction::begin(*m_database);
    ProcessedEvents events(*m_database);
    const auto claimed = events.claim(u"e-1"_s, eventType, At, Hash);
    QVERIFY(!claimed.ok());
    QCOMPARE(claimed.error().kind, ErrorKind::Io);
    QVERIFY2(claimed.error().text.contains(says), qPrintable(claimed.error().text));
    // The refused claim leaves the transaction usable.
    QCOMPARE(count(*m_database, u"jobs_processedevent"_s), 1);
    QVERIFY(transaction.value().commit().ok());
}

void TestProcessedEvents::missingUniqueConstraintIsAnError()
{
    QVERIFY(run(u"DROP TABLE jobs_processedevent"_s));
    QVERIFY(run(
        u"CREATE TABLE jobs_processedevent (id integer PRIMARY KEY, event_id text, event_type text, processed_at text)"_s));
    const auto claimed = claim(u"e-1"_s);
    QVERIFY(!claimed.ok());
    QVERIFY2(claimed.error().text.contains(u"ON CONFLICT"_s), qPrintable(claimed.error().text));
}

void TestProcessedEvents::lockedIsBusyAndNoDuplicate()
{
    QVERIFY(claim(u"e-1"_s)->inserted);
    Result<Database> impatient = Database::open(url(), 20ms);
    QVERIFY(impatient.ok());
    const Result<Transaction> held = Transaction::begin(*m_database);
    QVERIFY(held.ok());
    QCOMPARE(Transaction::begin(impatient.value()).error().kind, ErrorKind::Busy);
    // Also for who forgot the transaction:
    ProcessedEvents events(impatient.value());
    const auto claimed = events.claim(u"e-2"_s, Type, At, Hash);
    QVERIFY(!claimed.ok());
    QCOMPARE(claimed.error().kind, ErrorKind::Busy);
}

void TestProcessedEvents::readOnlyIsAnError()
{
    QVERIFY(run(u"PRAGMA query_only=ON"_s));
    ProcessedEvents events(*m_database);
    const auto claimed = events.claim(u"e-1"_s, Type, At, Hash);
    QVERIFY(!claimed.ok());
    QCOMPARE(claimed.error().kind, ErrorKind::Io);
}

void TestProcessedEvents::refusesIdsThatTheDatabaseChanges_data()
{
    QTest::addColumn<QString>("id");
    QTest::newRow("null") << QString();
    QTest::newRow("empty") << u""_s;
    QTest::newRow("NUL") << QString(u"a\0b"_s);
    QTest::newRow("half surrogate") << QString(QChar(0xd800));
    QTest::newRow("byte order mark") << QString(QChar(0xfeff)) + u'a';
    QTest::newRow("swapped byte order mark") << QString(QChar(0xfffe)) + u'a';
    QTest::newRow("noncharacter") << QString(u"a\uffff"_s);
    QTest::newRow("65 characters") << QString(65, u'x');
}

void TestProcessedEvents::refusesIdsThatTheDatabaseChanges()
{
    QFETCH(QString, id);
    QCOMPARE(claim(id).error().kind, ErrorKind::Invalid);
    QCOMPARE(count(*m_database, u"jobs_processedevent"_s), 0);
}

void TestProcessedEvents::differentIdsAreDifferentClaims()
{
    const QStringList alike{u"a"_s,       u"A"_s,      u"a "_s,   u" a"_s,  u"é"_s,   u"e\u0301"_s, u"?"_s,
                            u"\ufffd"_s,  u"1"_s,      u"1.0"_s,  u"01"_s,  u"1e0"_s, u"x'61'"_s,   u"a\ufeff"_s,
                            u"a\u200b"_s, u"\uff41"_s, u"ａ "_s,  u"ß"_s,   u"ss"_s,  u"😀"_s,       u"😁"_s,
                            u"a\ufffd"_s, u"NULL"_s,   u"null"_s, u"%"_s,   u"_"_s,   u"'"_s,       u"i"_s,
                            u"ı"_s,       u"I"_s,      u"İ"_s,    u"a\t"_s, u"a\n"_s};
    for (const QString &id : alike)
        QVERIFY2(claim(id)->inserted, qPrintable(id));
    for (const QString &id : alike)
        QVERIFY2(claim(id).ok() && !claim(id)->inserted, qPrintable(id));
    QCOMPARE(count(*m_database, u"jobs_processedevent"_s), int(alike.size()));
    ProcessedEvents events(*m_database);
    QCOMPARE(events.standing(alike).value().size(), alike.size());
}

void TestProcessedEvents::raceOfEight_data()
{
    QTest::addColumn<bool>("firstCommits");
    QTest::newRow("the first commits") << true;
    QTest::newRow("the first rolls back") << false;
}

void TestProcessedEvents::raceOfEight()
{
    QFETCH(bool, firstCommits);
    std::barrier start(8);
    std::atomic_int order = 0;
    std::atomic_int inserted = 0;
    std::atomic_int duplicates = 0;
    std::atomic_int errors = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            Result<Database> database = Database::open(url());
            start.arrive_and_wait();
            if (!database) {
                ++errors;
                return;
            }
            ProcessedEvents events(database.value());
            Result<Transaction> transaction = Transaction::begin(database.value());
            const auto claimed = transaction ? events.claim(u"e-1"_s, Type, At, Hash)
                                             : Result<ProcessedEvents::Claim>(transaction.error());
            if (!claimed) {
                ++errors;
                return;
            }
            const bool isFirst = order.fetch_add(1) == 0; // inside of the transaction: the writer lock orders them
            ++(claimed->inserted ? inserted : duplicates);
            if ((isFirst && !firstCommits) || !transaction.value().commit())
                transaction.value().rollback();
        });
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(errors, 0);
    QCOMPARE(inserted, firstCommits ? 1 : 2); // rolled back: the second one claims again
    QCOMPARE(duplicates, firstCommits ? 7 : 6);
    QCOMPARE(count(*m_database, u"jobs_processedevent"_s), 1);
}

void TestProcessedEvents::pagesAreNewestFirst()
{
    for (int i = 1; i <= 7; ++i)
        QVERIFY(claim(u"e-%1"_s.arg(i))->inserted);
    ProcessedEvents events(*m_database);
    ProcessedQuery query;
    query.limit = 3;
    query.ticket = 42;
    ProcessedPage page = events.page(query).value();
    QCOMPARE(ids(page), (QStringList{u"e-7"_s, u"e-6"_s, u"e-5"_s}));
    QVERIFY(page.more);
    QCOMPARE(page.query, query);
    QCOMPARE(page.rows.first().eventType, Type);
    QCOMPARE(page.rows.first().processedAt, QDateTime({2025, 3, 4}, {10, 11, 12, 123}, Qt::UTC));

    query.beforeId = page.rows.last().id;
    page = events.page(query).value();
    QCOMPARE(ids(page), (QStringList{u"e-4"_s, u"e-3"_s, u"e-2"_s}));
    QVERIFY(page.more);
    query.beforeId = page.rows.last().id;
    page = events.page(query).value();
    QCOMPARE(ids(page), (QStringList{u"e-1"_s}));
    QVERIFY(!page.more);
    query.beforeId = page.rows.last().id;
    page = events.page(query).value();
    QVERIFY(page.rows.isEmpty() && !page.more);

    ProcessedQuery newer;
    newer.afterId = events.page({}).value().rows.at(2).id;
    QCOMPARE(ids(events.page(newer).value()), (QStringList{u"e-7"_s, u"e-6"_s}));
    newer.search = u"6"_s;
    QCOMPARE(ids(events.page(newer).value()), (QStringList{u"e-6"_s}));
}

void TestProcessedEvents::searchTakesTextAsItIs_data()
{
    QTest::addColumn<QString>("search");
    QTest::addColumn<QStringList>("found");
    QTest::newRow("part of an id") << u"bc"_s << QStringList{u"abc"_s};
    QTest::newRow("percent") << u"%"_s << QStringList{u"a%c"_s};
    QTest::newRow("underscore") << u"a_"_s << QStringList{u"a_c"_s};
    QTest::newRow("backslash") << u"\\"_s << QStringList{u"a\\c"_s};
    QTest::newRow("quote") << u"'"_s << QStringList{u"a'c"_s};
    QTest::newRow("type") << u"STATUS_ch"_s << QStringList{u"a'c"_s, u"a\\c"_s, u"a_c"_s, u"a%c"_s, u"abc"_s};
    QTest::newRow("nothing") << u"zzz"_s << QStringList();
}

void TestProcessedEvents::searchTakesTextAsItIs()
{
    QFETCH(QString, search);
    for (const QString &id : {u"abc"_s, u"a%c"_s, u"a_c"_s, u"a\\c"_s, u"a'c"_s})
        QVERIFY(claim(id)->inserted);
    ProcessedEvents events(*m_database);
    ProcessedQuery query;
    query.search = search;
    const auto page = events.page(query);
    QVERIFY2(page.ok(), page.ok() ? "" : qPrintable(page.error().text));
    QTEST(ids(page.value()), "found");
}

void TestProcessedEvents::standingFindsSixHundred()
{
    QStringList asked;
    Result<Transaction> transaction = Transaction::begin(*m_database);
    ProcessedEvents events(*m_database);
    for (int i = 0; i < 600; ++i) {
        asked.append(u"e-%1"_s.arg(i));
        if (i % 2 == 0)
            QVERIFY(events.claim(asked.last(), Type, At, Hash)->inserted);
    }
    QVERIFY(transaction.value().commit().ok());
    const auto standing = events.standing(asked + asked + QStringList{u"nobody"_s, QString()});
    QVERIFY(standing.ok());
    QCOMPARE(standing->size(), 300);
    QCOMPARE(standing->value(u"e-598"_s), QDateTime({2025, 3, 4}, {10, 11, 12, 123}, Qt::UTC));
    QVERIFY(!standing->contains(u"e-599"_s));
    QVERIFY(events.standing({}).value().isEmpty());
}

void TestProcessedEvents::badTableIsAnError()
{
    QVERIFY(run(u"DROP TABLE jobs_processedevent"_s));
    ProcessedEvents events(*m_database);
    QVERIFY(!events.page({}).ok());
    QVERIFY(!events.standing({u"e"_s}).ok());
    QVERIFY(!claim(u"e"_s).ok());
}

void TestProcessedEvents::writesDjangosTime_data()
{
    QTest::addColumn<qint64>("usecs");
    QTest::addColumn<QString>("text");
    QTest::newRow("now-ish") << Q_INT64_C(1741083072123456) << u"2025-03-04 10:11:12.123456"_s;
    QTest::newRow("leading zeros") << Q_INT64_C(1741083072000007) << u"2025-03-04 10:11:12.000007"_s;
    QTest::newRow("whole second") << Q_INT64_C(1741083072000000) << u"2025-03-04 10:11:12.000000"_s;
    QTest::newRow("zero") << qint64(0) << u"1970-01-01 00:00:00.000000"_s;
    QTest::newRow("before 1970") << qint64(-1) << u"1969-12-31 23:59:59.999999"_s;
}

void TestProcessedEvents::writesDjangosTime()
{
    QFETCH(qint64, usecs);
    QTEST(djangoTime(usecs), "text");
    QVERIFY(std::abs(nowUsecs() - QDateTime::currentMSecsSinceEpoch() * 1000) < 5'000'000);
}

void TestProcessedEvents::readsTimes_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QDateTime>("time");
    const QDateTime time({2025, 3, 4}, {10, 11, 12, 120}, Qt::UTC);
    QTest::newRow("microseconds") << u"2025-03-04 10:11:12.120999"_s << time;
    QTest::newRow("T, offset") << u"2025-03-04T10:11:12.12+00:00"_s << time;
    QTest::newRow("Z") << u"2025-03-04T10:11:12.120Z"_s << time;
    QTest::newRow("another zone") << u"2025-03-04 12:41:12.120+02:30"_s << time;
    QTest::newRow("west") << u"2025-03-04 05:11:12.120-05"_s << time;
    QTest::newRow("no fraction") << u"2025-03-04 10:11:12"_s << QDateTime({2025, 3, 4}, {10, 11, 12}, Qt::UTC);
    QTest::newRow("no time") << u"2025-03-04"_s << QDateTime();
    QTest::newRow("no date") << u"yesterday"_s << QDateTime();
    QTest::newRow("31 February") << u"2025-02-31 10:11:12"_s << QDateTime();
    QTest::newRow("empty") << QString() << QDateTime();
}

void TestProcessedEvents::readsTimes()
{
    QFETCH(QString, text);
    QTEST(fromDjangoTime(text), "time");
}

QTEST_GUILESS_MAIN(TestProcessedEvents)
#include "tst_processedevents.moc"
