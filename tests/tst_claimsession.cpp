#include "tests/world/postgres.h"
#include "worker/store/claimsession.h"
#include "worker/store/database.h"
#include "worker/store/jobboard.h"
#include "worker/store/pgconnection.h"

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <barrier>
#include <thread>
#include <vector>

using namespace Qt::StringLiterals;
using namespace sendonce;
using namespace sendonce::world;
using namespace std::chrono_literals;

namespace {

const QString Type = u"application.status_changed"_s;
const QString At = u"2025-03-04 10:11:12.123456"_s;
const QString Later = u"2025-03-04 10:11:12.123457"_s;
const QString Lookup =
    u"SELECT application.id AS application_id, auth_user.id AS user_id, auth_user.first_name AS first_name, "
    "auth_user.email AS email FROM jobs_application AS application "
    "JOIN jobs_candidate AS candidate ON candidate.id = application.candidate_id "
    "JOIN auth_user ON auth_user.id = candidate.user_id WHERE application.id = :application_id"_s;

ClaimRequest request(const QString &eventId, const QString &at = At, const QByteArray &hash = QByteArray(32, 'h'))
{
    return {eventId, Type, at, hash, Lookup, {{u"application_id"_s, Q_INT64_C(3)}}};
}

} // namespace

/// A lane's transaction, the same on both databases: what claims, duplicates, look-ups and their failures are.
class TestClaimSession : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QVERIFY2(m_postgres.start(), qPrintable(m_postgres.why())); }
    void init()
    {
        QTest::failOnWarning(QRegularExpression(u".*"_s));
        m_stop = std::make_shared<std::atomic_bool>(false);
    }
    void cleanup()
    {
        m_sessions.clear();
        m_database.reset();
    }

    void firstClaimIsWrittenSecondIsADuplicate_data() { databases(); }
    void firstClaimIsWrittenSecondIsADuplicate();
    void rolledBackClaimIsFree_data() { databases(); }
    void rolledBackClaimIsFree();
    void otherBodyIsSeen_data() { databases(); }
    void otherBodyIsSeen();
    void hashOfAForgottenClaimIsReplaced_data() { databases(); }
    void hashOfAForgottenClaimIsReplaced();
    void hashOfAForgottenClaimIsNobodyElses_data() { databases(); }
    void hashOfAForgottenClaimIsNobodyElses();
    void hashesAreCarriedOver_data() { databases(); }
    void hashesAreCarriedOver();
    void worksWithoutOurTable_data() { databases(); }
    void worksWithoutOurTable();
    void everyOtherErrorIsNoDuplicate_data();
    void everyOtherErrorIsNoDuplicate();
    void refusesIdsThatTheDatabaseChanges_data();
    void refusesIdsThatTheDatabaseChanges();
    void differentIdsAreDifferentClaims_data() { databases(); }
    void differentIdsAreDifferentClaims();

    void looksUpWhatTheMailNeeds_data() { databases(); }
    void looksUpWhatTheMailNeeds();
    void noRowIsNoError_data() { databases(); }
    void noRowIsNoError();
    void aBrokenLookUpIsAnErrorOfItsOwn_data();
    void aBrokenLookUpIsAnErrorOfItsOwn();
    void aDuplicateNeedsNoLookUp_data() { databases(); }
    void aDuplicateNeedsNoLookUp();
    void aLookUpCannotWrite();

    void reclaimKnowsItsOwnRow_data() { databases(); }
    void reclaimKnowsItsOwnRow();
    void raceOfEight_data();
    void raceOfEight();
    void aHeldClaimIsBusy_data() { databases(); }
    void aHeldClaimIsBusy();
    void stopEndsTheWait();
    void connectionsAreOpenedInTurns();

    void aCommitTakesTheNextClaimAlong_data() { databases(); }
    void aCommitTakesTheNextClaimAlong();
    void aClaimAheadThatNobodyWantsIsGivenUp();
    void aClaimAheadIsNeverInTheWayOfTheCommit();
    void aDuplicateAheadIsADuplicate();
    void aBrokenLookUpAheadIsAnErrorOfItsOwn();
    void withoutACommitThereIsNoClaimAhead();
    void aServerThatGoesBehindTheCommitIsFoundAgain();

    void aPoolerIsSeen();
    void lanesShareAPoolersConnections();
    void aPoolersConnectionsKeepNothingOfOurs();
    void aLockWaitEndsBehindAPooler();

private:
    void databases()
    {
        QTest::addColumn<bool>("postgres");
        QTest::newRow("SQLite") << false;
        QTest::newRow("PostgreSQL") << true;
    }
    /// A job board without claims; first in each test. On PostgreSQL one for all that leave its tables as they are,
    /// for making one takes a while.
    void open(bool postgres, bool changesTables = false)
    {
        m_folder = std::make_unique<QTemporaryDir>();
        if (!postgres)
            m_name.clear();
        else if (changesTables || m_common.isEmpty())
            m_name = m_postgres.createJobBoard();
        else
            m_name = m_common;
        if (postgres && !changesTables)
            m_common = m_name;
        QVERIFY2(!postgres || !m_name.isEmpty(), qPrintable(m_postgres.why()));
        m_url = postgres ? m_postgres.url(m_name) : u"sqlite:///"_s + m_folder->filePath(u"t.db"_s);
        auto database = Database::open(m_url);
        QVERIFY2(database.ok(), database.ok() ? "" : qPrintable(database.error().text));
        m_database.emplace(database.take());
        const auto made = postgres ? m_database->migrate(u"postgres"_s) : createJobBoard(*m_database);
        QVERIFY2(made.ok(), made.ok() ? "" : qPrintable(made.error().text));
        QVERIFY(run(u"DELETE FROM jobs_processedevent"_s) && run(u"DELETE FROM sendonce_claimbody"_s));
    }
    ClaimSession &session(std::chrono::milliseconds lockWait = 5s)
    {
        m_sessions.push_back(ClaimSession::make({DatabaseUrl::parse(m_url).value(), lockWait, 1s, m_stop}));
        return *m_sessions.back();
    }
    /// As open(true), the sessions through PgBouncer.
    void openPooled()
    {
        open(true);
        if (!m_hasPooler) {
            QVERIFY2(m_postgres.startPooler(), qPrintable(m_postgres.why()));
            m_hasPooler = true;
        }
        m_url = m_postgres.pooledUrl(m_name);
    }
    /// Begins, claims and commits.
    Result<ProcessedEvents::Claim> claim(ClaimSession &session, const ClaimRequest &request)
    {
        if (const auto begun = session.begin(); !begun)
            return begun.error();
        auto claimed = session.claim(request);
        if (!claimed) {
            session.rollBack();
            return claimed;
        }
        if (const auto committed = session.commit(); !committed)
            return committed.error();
        return claimed;
    }
    bool run(const QString &sql) { return m_database->rows(sql, {}, u"test"_s).ok(); }
    static QString sql(const QString &url, const QString &statement)
    {
        auto database = Database::open(url);
        const auto rows =
            database ? database.value().rows(statement, {}, u"test"_s) : Result<QList<QVariantList>>(database.error());
        return rows ? rows->first().first().toString() : rows.error().text;
    }
    /// As Django's `flush` leaves it: no claim, and the next one has the first id again.
    bool forgetAllClaims()
    {
        return m_database->isPostgres()
            ? run(u"TRUNCATE jobs_processedevent RESTART IDENTITY"_s)
            : run(u"DELETE FROM jobs_processedevent"_s) && run(u"DELETE FROM sqlite_sequence"_s);
    }
    int count(const QString &from)
    {
        const auto rows = m_database->rows(u"SELECT count(*) FROM "_s + from, {}, u"test"_s);
        return rows ? rows->first().first().toInt() : -1;
    }

    Postgres m_postgres;
    bool m_hasPooler = false;
    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_url, m_name;
    QString m_common; ///< the database that most tests share
    std::optional<Database> m_database; ///< the test's own view
    std::vector<std::unique_ptr<ClaimSession>> m_sessions;
    std::shared_ptr<std::atomic_bool> m_stop;
};

void TestClaimSession::firstClaimIsWrittenSecondIsADuplicate()
{
    QFETCH(bool, postgres);
    open(postgres);
    ClaimSession &lane = session();
    const auto first = claim(lane, request(u"e-1"_s));
    QVERIFY2(first.ok(), first.ok() ? "" : qPrintable(first.error().text));
    QVERIFY(first->inserted);
    const auto second = claim(lane, request(u"e-1"_s, Later));
    QVERIFY2(second.ok(), second.ok() ? "" : qPrintable(second.error().text));
    QVERIFY(!second->inserted);
    QVERIFY(!second->otherBody);
    QCOMPARE(second->standingText, At); // to the microsecond: rule 5 compares it
    QCOMPARE(second->standingProcessedAt, QDateTime({2025, 3, 4}, {10, 11, 12, 123}, Qt::UTC));
    QCOMPARE(count(u"jobs_processedevent WHERE event_id='e-1' AND event_type='%1'"_s.arg(Type)), 1);
    QCOMPARE(count(u"sendonce_claimbody"_s), 1);
    ProcessedEvents events(*m_database);
    QCOMPARE(events.page({})->rows.first().processedAt, second->standingProcessedAt);
    QCOMPARE(events.standing({u"e-1"_s, u"e-2"_s})->value(u"e-1"_s), second->standingProcessedAt);
}

void TestClaimSession::rolledBackClaimIsFree()
{
    QFETCH(bool, postgres);
    open(postgres);
    ClaimSession &lane = session();
    QVERIFY(lane.begin().ok());
    QVERIFY(lane.claim(request(u"e-1"_s))->inserted);
    lane.rollBack();
    QCOMPARE(count(u"jobs_processedevent"_s), 0);
    QCOMPARE(count(u"sendonce_claimbody"_s), 0);
    QVERIFY(claim(lane, request(u"e-1"_s))->inserted);
}

void TestClaimSession::otherBodyIsSeen()
{
    QFETCH(bool, postgres);
    open(postgres);
    ClaimSession &lane = session();
    QVERIFY(claim(lane, request(u"e-1"_s))->inserted);
    QVERIFY(claim(lane, request(u"e-1"_s, Later, QByteArray(32, 'x')))->otherBody);
    QVERIFY(!claim(lane, request(u"e-1"_s, Later, {}))->otherBody); // unknown is not different
    QVERIFY(run(u"DELETE FROM sendonce_claimbody"_s)); // as if a Django worker had claimed
    QVERIFY(!claim(lane, request(u"e-1"_s, Later, QByteArray(32, 'x')))->otherBody);
}

void TestClaimSession::hashOfAForgottenClaimIsReplaced()
{
    QFETCH(bool, postgres);
    open(postgres);
    ClaimSession &lane = session();
    QVERIFY(forgetAllClaims());
    QVERIFY(claim(lane, request(u"e-1"_s))->inserted);
    QVERIFY(forgetAllClaims());
    QVERIFY(claim(lane, request(u"e-1"_s, At, QByteArray(32, 'x')))->inserted);
    QCOMPARE(count(u"sendonce_claimbody"_s), 1); // the same id
    QVERIFY(claim(lane, request(u"e-1"_s))->otherBody);
}

void TestClaimSession::hashOfAForgottenClaimIsNobodyElses()
{
    QFETCH(bool, postgres);
    open(postgres);
    ClaimSession &lane = session();
    QVERIFY(forgetAllClaims());
    QVERIFY(claim(lane, request(u"e-1"_s))->inserted);
    QVERIFY(forgetAllClaims());
    QVERIFY(run(u"INSERT INTO jobs_processedevent (event_id, event_type, processed_at) "
                "VALUES ('e-2', '%1', '%2')"_s.arg(Type, At))); // a Django worker's, at the same id
    const auto second = claim(lane, request(u"e-2"_s, Later, QByteArray(32, 'x')));
    QVERIFY2(second.ok(), second.ok() ? "" : qPrintable(second.error().text));
    QVERIFY(!second->inserted && !second->otherBody);
}

// What was claimed while the hash still lay at the event_id; in between a claim of Django's, which has none.
void TestClaimSession::hashesAreCarriedOver()
{
    QFETCH(bool, postgres);
    open(postgres, true);
    QVERIFY(run(u"DROP TABLE sendonce_claimbody"_s));
    QVERIFY(run(
        u"CREATE TABLE sendonce_eventbody (event_id varchar(64) NOT NULL PRIMARY KEY, body_sha256 %1 NOT NULL)"_s.arg(
            postgres ? u"bytea"_s : u"blob"_s)));
    QVERIFY(run(u"UPDATE sendonce_schema SET version = %1"_s.arg(postgres ? 2 : 4)));
    QVERIFY(run(u"INSERT INTO jobs_processedevent (event_id, event_type, processed_at) "
                "VALUES ('e-1', '%1', '%2'), ('e-2', '%1', '%2'), ('e-3', '%1', '%2')"_s.arg(Type, At)));
    const QString hash =
        (postgres ? u"'\\x%1'"_s : u"x'%1'"_s).arg(QString::fromLatin1(request({}).bodySha256.toHex()));
    QVERIFY(run(
        u"INSERT INTO sendonce_eventbody (event_id, body_sha256) VALUES ('e-3', %1), ('e-1', %1), ('gone', %1)"_s.arg(
            hash)));
    const auto migrated = m_database->migrate(postgres ? u"postgres"_s : u"jobboard"_s);
    QVERIFY2(migrated.ok(), migrated.ok() ? "" : qPrintable(migrated.error().text));
    QCOMPARE(count(u"sendonce_claimbody"_s), 2);
    QVERIFY(!run(u"SELECT 1 FROM sendonce_eventbody"_s));

    ClaimSession &lane = session();
    for (const QString &id : {u"e-1"_s, u"e-2"_s, u"e-3"_s}) {
        const auto same = claim(lane, request(id, Later));
        QVERIFY2(same.ok(), same.ok() ? "" : qPrintable(same.error().text));
        QVERIFY(!same->inserted && !same->otherBody);
        QCOMPARE(claim(lane, request(id, Later, QByteArray(32, 'x')))->otherBody, id != "e-2"_L1);
    }
    QVERIFY(claim(lane, request(u"e-4"_s))->inserted);
    QCOMPARE(count(u"sendonce_claimbody"_s), 3);
}

void TestClaimSession::worksWithoutOurTable()
{
    QFETCH(bool, postgres);
    open(postgres, true);
    QVERIFY(run(u"DROP TABLE sendonce_claimbody"_s));
    ClaimSession &lane = session();
    QVERIFY(claim(lane, request(u"e-1"_s))->inserted);
    const auto second = claim(lane, request(u"e-1"_s, Later, QByteArray(32, 'x')));
    QVERIFY2(second.ok(), second.ok() ? "" : qPrintable(second.error().text));
    QVERIFY(!second->inserted);
    QVERIFY(!second->otherBody);
}

// spec.md, rule 7: taking any integrity error for a duplicate would lose e-mails silently.
void TestClaimSession::everyOtherErrorIsNoDuplicate_data()
{
    QTest::addColumn<bool>("postgres");
    QTest::addColumn<QString>("prepare");
    QTest::addColumn<QString>("says");
    QTest::newRow("SQLite, another unique column")
        << false << u"CREATE UNIQUE INDEX u ON jobs_processedevent (event_type)"_s << u"UNIQUE constraint failed"_s;
    QTest::newRow("PostgreSQL, another unique column")
        << true << u"CREATE UNIQUE INDEX u ON jobs_processedevent (event_type)"_s << u"unique constraint"_s;
    QTest::newRow("PostgreSQL, the id sequence lags behind")
        << true << u"SELECT setval(pg_get_serial_sequence('jobs_processedevent', 'id'), 1, false)"_s
        << u"jobs_processedevent_pkey"_s;
    QTest::newRow("PostgreSQL, no unique constraint")
        << true << u"ALTER TABLE jobs_processedevent DROP CONSTRAINT jobs_processedevent_event_id_key"_s
        << u"ON CONFLICT"_s;
    QTest::newRow("PostgreSQL, only unique together with the type")
        << true
        << u"ALTER TABLE jobs_processedevent DROP CONSTRAINT jobs_processedevent_event_id_key, ADD UNIQUE (event_id, event_type)"_s
        << u"ON CONFLICT"_s;
    QTest::newRow("PostgreSQL, a rule swallows the row")
        << true << u"CREATE RULE r AS ON INSERT TO jobs_processedevent DO INSTEAD NOTHING"_s << u"claim"_s;
    QTest::newRow("PostgreSQL, a column of theirs must not be null")
        << true
        << u"ALTER TABLE jobs_processedevent ADD note text, ADD CHECK (note IS NOT NULL OR event_id = 'other')"_s
        << u"check constraint"_s;
    QTest::newRow("PostgreSQL, the table is gone")
        << true << u"ALTER TABLE jobs_processedevent RENAME TO elsewhere"_s << u"does not exist"_s;
}

void TestClaimSession::everyOtherErrorIsNoDuplicate()
{
    QFETCH(bool, postgres);
    QFETCH(QString, prepare);
    QFETCH(QString, says);
    open(postgres, true);
    ClaimSession &lane = session();
    QVERIFY(claim(lane, request(u"other"_s))->inserted);
    QVERIFY(run(prepare));
    const auto claimed = claim(lane, request(u"e-1"_s));
    QVERIFY(!claimed.ok());
    QCOMPARE(claimed.error().kind, ErrorKind::Io);
    QVERIFY2(claimed.error().text.contains(says), qPrintable(claimed.error().text));
}

void TestClaimSession::refusesIdsThatTheDatabaseChanges_data()
{
    QTest::addColumn<QString>("id");
    QTest::newRow("empty") << u""_s;
    QTest::newRow("NUL") << QString(u"a\0b"_s);
    QTest::newRow("half surrogate") << QString(QChar(0xd800));
    QTest::newRow("byte order mark") << QString(QChar(0xfeff)) + u'a';
    QTest::newRow("65 characters") << QString(65, u'x');
}

void TestClaimSession::refusesIdsThatTheDatabaseChanges()
{
    QFETCH(QString, id);
    open(true);
    QCOMPARE(claim(session(), request(id)).error().kind, ErrorKind::Invalid);
    QCOMPARE(count(u"jobs_processedevent"_s), 0);
}

void TestClaimSession::differentIdsAreDifferentClaims()
{
    QFETCH(bool, postgres);
    open(postgres);
    const QStringList alike{
        u"a"_s,       u"A"_s,      u"a "_s,   u" a"_s,  u"é"_s,     u"e\u0301"_s, u"?"_s,
        u"\ufffd"_s,  u"1"_s,      u"1.0"_s,  u"01"_s,  u"1e0"_s,   u"x'61'"_s,   u"a\ufeff"_s,
        u"a\u200b"_s, u"\uff41"_s, u"ａ "_s,  u"ß"_s,   u"ss"_s,    u"😀"_s,       u"😁"_s,
        u"a\ufffd"_s, u"NULL"_s,   u"null"_s, u"%"_s,   u"_"_s,     u"'"_s,       u"i"_s,
        u"ı"_s,       u"I"_s,      u"İ"_s,    u"\\N"_s, u"\\x61"_s, u"$1"_s,      QString(u"😀"_s).repeated(64)};
    ClaimSession &lane = session();
    for (const QString &id : alike)
        QVERIFY2(claim(lane, request(id))->inserted, qPrintable(id));
    for (const QString &id : alike) {
        const auto again = claim(lane, request(id));
        QVERIFY2(again.ok() && !again->inserted, qPrintable(id));
    }
    QCOMPARE(count(u"jobs_processedevent"_s), int(alike.size()));
}

void TestClaimSession::looksUpWhatTheMailNeeds()
{
    QFETCH(bool, postgres);
    open(postgres);
    ClaimSession &lane = session();
    for (int round = 0; round < 8; ++round) { // the later ones by a plan of the server's own
        const ClaimRequest event = request(u"e-%1"_s.arg(round));
        QVERIFY(lane.begin().ok());
        QVERIFY(lane.claim(event)->inserted);
        const auto row = lane.lookUp(event);
        QVERIFY2(row.ok(), row.ok() ? "" : qPrintable(row.error().text));
        QVERIFY(row->has_value());
        QCOMPARE(row.value()->value(u"application_id"_s), QVariant(Q_INT64_C(3)));
        QCOMPARE(row.value()->value(u"user_id"_s).typeId(), int(QMetaType::LongLong));
        QVERIFY(row.value()->value(u"email"_s).toString().endsWith(u"@example.com"_s));
        QVERIFY(lane.commit().ok());
    }
}

void TestClaimSession::noRowIsNoError()
{
    QFETCH(bool, postgres);
    open(postgres);
    ClaimSession &lane = session();
    ClaimRequest event = request(u"e-1"_s);
    event.fields.insert(u"application_id"_s, Q_INT64_C(9999));
    QVERIFY(lane.begin().ok());
    QVERIFY(lane.claim(event)->inserted);
    const auto row = lane.lookUp(event);
    QVERIFY(row.ok());
    QVERIFY(!row->has_value());
    QVERIFY(lane.commit().ok());
    QCOMPARE(count(u"jobs_processedevent"_s), 1);
}

void TestClaimSession::aBrokenLookUpIsAnErrorOfItsOwn_data()
{
    QTest::addColumn<bool>("postgres");
    QTest::addColumn<QString>("sql");
    QTest::addColumn<QString>("says");
    for (const bool postgres : {false, true}) {
        const auto row = [postgres](const char *name, const QString &sql, const QString &says) {
            QTest::addRow("%s, %s", postgres ? "PostgreSQL" : "SQLite", name) << postgres << sql << says;
        };
        row("no such table", u"SELECT 1 AS one FROM nowhere WHERE 1 = :application_id"_s, u"nowhere"_s);
        row("two columns of a name", u"SELECT 1 AS a, 2 AS a"_s, u"two columns named a"_s);
        row("a field that is not there", u"SELECT 1 AS a WHERE 1 = :other"_s, u":other"_s);
    }
    QTest::newRow("PostgreSQL, text with a NUL") << true << u"SELECT :text AS a"_s << u"no database keeps"_s;
}

void TestClaimSession::aBrokenLookUpIsAnErrorOfItsOwn()
{
    QFETCH(bool, postgres);
    QFETCH(QString, sql);
    QFETCH(QString, says);
    open(postgres);
    ClaimSession &lane = session();
    ClaimRequest event = request(u"e-1"_s);
    event.lookupSql = sql;
    event.fields.insert(u"text"_s, QString(u"a\0b"_s));
    QVERIFY(lane.begin().ok());
    const auto claimed = lane.claim(event);
    QVERIFY2(claimed.ok() && claimed->inserted, claimed.ok() ? "" : qPrintable(claimed.error().text));
    const auto row = lane.lookUp(event);
    QVERIFY(!row.ok());
    QVERIFY2(row.error().text.contains(says), qPrintable(row.error().text));
    lane.rollBack();
    QCOMPARE(count(u"jobs_processedevent"_s), 0);
    QVERIFY(claim(lane, request(u"e-1"_s))->inserted);
}

void TestClaimSession::aDuplicateNeedsNoLookUp()
{
    QFETCH(bool, postgres);
    open(postgres);
    ClaimSession &lane = session();
    QVERIFY(claim(lane, request(u"e-1"_s))->inserted);
    ClaimRequest event = request(u"e-1"_s, Later);
    event.lookupSql = u"SELECT 1 AS one FROM nowhere"_s;
    const auto second = claim(lane, event);
    QVERIFY2(second.ok(), second.ok() ? "" : qPrintable(second.error().text));
    QVERIFY(!second->inserted);
    QCOMPARE(second->standingText, At);
}

void TestClaimSession::aLookUpCannotWrite()
{
    open(true, true);
    QVERIFY(run(u"CREATE FUNCTION sneaky() RETURNS int LANGUAGE sql AS "
                "'DELETE FROM jobs_application; SELECT 1'"_s));
    ClaimSession &lane = session();
    ClaimRequest event = request(u"e-1"_s);
    event.lookupSql = u"SELECT sneaky() AS one"_s;
    QVERIFY(lane.begin().ok());
    QVERIFY(lane.claim(event)->inserted);
    const auto row = lane.lookUp(event);
    QVERIFY(!row.ok());
    QVERIFY2(row.error().text.contains(u"read-only"_s), qPrintable(row.error().text));
    lane.rollBack();
    QCOMPARE(count(u"jobs_application"_s), 600);
}

void TestClaimSession::reclaimKnowsItsOwnRow()
{
    QFETCH(bool, postgres);
    open(postgres);
    ClaimSession &lane = session();
    // The COMMIT failed: free again.
    QVERIFY(lane.begin().ok());
    QVERIFY(lane.claim(request(u"e-1"_s))->inserted);
    const auto freed = lane.reclaim(request(u"e-1"_s));
    QVERIFY2(freed.ok(), freed.ok() ? "" : qPrintable(freed.error().text));
    QVERIFY(freed->inserted);
    // It had worked: our own row stands.
    const auto ours = lane.reclaim(request(u"e-1"_s));
    QVERIFY(ours.ok() && !ours->inserted);
    QCOMPARE(ours->standingText, At);
    // Another delivery's, a microsecond later.
    const auto theirs = lane.reclaim(request(u"e-1"_s, Later));
    QVERIFY(theirs.ok() && !theirs->inserted);
    QVERIFY(theirs->standingText != Later);
    QVERIFY(claim(lane, request(u"e-2"_s))->inserted);
}

void TestClaimSession::raceOfEight_data()
{
    QTest::addColumn<bool>("postgres");
    QTest::addColumn<QString>("first");
    for (const bool postgres : {false, true}) {
        for (const char *first : {"commits", "rolls back", "is killed"}) {
            if (postgres || qstrcmp(first, "is killed") != 0) // SQLite has no session to kill: tst_crashpoints does
                QTest::addRow("%s, the first %s", postgres ? "PostgreSQL" : "SQLite", first)
                    << postgres << QString::fromLatin1(first);
        }
    }
}

void TestClaimSession::raceOfEight()
{
    QFETCH(bool, postgres);
    QFETCH(QString, first);
    open(postgres);
    std::vector<ClaimSession *> lanes;
    for (int i = 0; i < 8; ++i)
        lanes.push_back(&session(20s));
    std::barrier start(8);
    std::atomic_int order = 0;
    std::atomic_int inserted = 0;
    std::atomic_int duplicates = 0;
    std::atomic_int errors = 0;
    std::vector<std::thread> threads;
    for (ClaimSession *lane : lanes)
        threads.emplace_back([&, lane] {
            // A SQLite connection belongs to the thread that opened it.
            const std::unique_ptr<ClaimSession, void (*)(ClaimSession *)> closer(
                lane, [](ClaimSession *each) { each->close(); });
            start.arrive_and_wait();
            const auto claimed =
                lane->begin() ? lane->claim(request(u"e-1"_s)) : Result<ProcessedEvents::Claim>(Error{});
            if (!claimed) {
                ++errors;
                lane->rollBack();
                return;
            }
            if (!claimed->inserted) {
                ++duplicates;
                errors += lane->commit() ? 0 : 1;
                return;
            }
            ++inserted;
            if (order.fetch_add(1) > 0 || first == "commits"_L1) {
                errors += lane->commit() ? 0 : 1;
            } else if (first == "rolls back"_L1) {
                lane->rollBack();
            } else {
                m_postgres.sql(u"postgres"_s,
                               u"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                               "'%1' AND state = 'idle in transaction'"_s.arg(m_name));
                errors += lane->commit() ? 1 : 0; // the server has rolled back
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(errors, 0);
    QCOMPARE(inserted, first == "commits"_L1 ? 1 : 2); // else the second one claims again
    QCOMPARE(duplicates, first == "commits"_L1 ? 7 : 6);
    QCOMPARE(count(u"jobs_processedevent"_s), 1);
}

void TestClaimSession::aHeldClaimIsBusy()
{
    QFETCH(bool, postgres);
    open(postgres);
    ClaimSession &holder = session();
    QVERIFY(holder.begin().ok());
    QVERIFY(holder.claim(request(u"e-1"_s))->inserted);
    ClaimSession &waiter = session(200ms);
    const auto claimed = claim(waiter, request(u"e-1"_s));
    QVERIFY(!claimed.ok());
    QCOMPARE(claimed.error().kind, ErrorKind::Busy);
    QVERIFY(holder.commit().ok());
    QVERIFY(!claim(waiter, request(u"e-1"_s))->inserted);
}

void TestClaimSession::stopEndsTheWait()
{
    open(true);
    ClaimSession &holder = session();
    QVERIFY(holder.begin().ok());
    QVERIFY(holder.claim(request(u"e-1"_s))->inserted);
    ClaimSession &waiter = session(60s);
    std::thread stopper([this] {
        while (m_postgres.sql(u"postgres"_s, u"SELECT count(*) FROM pg_locks WHERE NOT granted"_s) == "0"_L1)
            std::this_thread::yield();
        *m_stop = true;
    });
    const auto claimed = claim(waiter, request(u"e-1"_s));
    stopper.join();
    QVERIFY(!claimed.ok());
    QCOMPARE(claimed.error().kind, ErrorKind::Aborted);
    *m_stop = false;
    QVERIFY(holder.commit().ok());
    QVERIFY(!claim(waiter, request(u"e-1"_s))->inserted);
}

void TestClaimSession::connectionsAreOpenedInTurns()
{
    open(true);
    const auto opening = std::make_shared<std::atomic_int>(2); // as if two others were at it
    const auto make = [&](std::chrono::milliseconds lockWait) {
        return ClaimSession::make({DatabaseUrl::parse(m_url).value(), lockWait, 1s, m_stop, opening});
    };
    const auto waiting = make(10s);
    std::atomic_bool began = false;
    const std::unique_ptr<QThread> thread(QThread::create([&] { began = waiting->begin().ok(); }));
    thread->start();
    QVERIFY(!thread->wait(300));
    *opening = 0;
    QVERIFY(thread->wait(10'000));
    QVERIFY(began);
    QCOMPARE(opening->load(), 0); // given back
    const std::unique_ptr<QThread> again(QThread::create([&] { waiting->close(); }));
    again->start();
    QVERIFY(again->wait(10'000));

    *opening = 2;
    const auto stopped = make(10s);
    *m_stop = true;
    QCOMPARE(stopped->begin().error().kind, ErrorKind::Aborted);
    *m_stop = false;
    QCOMPARE(opening->load(), 2); // what was not taken is not given back
}

void TestClaimSession::aCommitTakesTheNextClaimAlong()
{
    QFETCH(bool, postgres);
    open(postgres);
    ClaimSession &lane = session();
    QVERIFY(lane.begin().ok());
    QVERIFY(lane.claim(request(u"e-0"_s))->inserted);
    QCOMPARE(lane.claimsAhead(), postgres);
    for (int i = 0; i < 8; ++i) {
        QVERIFY(lane.lookUp(request(u"e-%1"_s.arg(i))).ok());
        const ClaimRequest next = request(u"e-%1"_s.arg(i + 1));
        const auto committed = lane.commitAndClaim(next);
        QVERIFY2(committed.ok(), committed.ok() ? "" : qPrintable(committed.error().text));
        QCOMPARE(count(u"jobs_processedevent"_s), i + 1); // the next one is not committed
        QVERIFY(lane.begin().ok());
        const auto claimed = lane.claim(next);
        QVERIFY2(claimed.ok(), claimed.ok() ? "" : qPrintable(claimed.error().text));
        QVERIFY(claimed->inserted);
    }
    QVERIFY(lane.lookUp(request(u"e-8"_s))->has_value());
    QVERIFY(lane.commit().ok());
    QCOMPARE(count(u"jobs_processedevent"_s), 9);
    QCOMPARE(count(u"sendonce_claimbody"_s), 9);
}

void TestClaimSession::aClaimAheadThatNobodyWantsIsGivenUp()
{
    open(true);
    ClaimSession &lane = session();
    const auto ahead = [&](const QString &first, const QString &next) {
        return lane.begin().ok() && lane.claim(request(first))->inserted && lane.commitAndClaim(request(next)).ok();
    };
    QVERIFY(ahead(u"e-1"_s, u"e-2"_s));
    lane.rollBack();
    QVERIFY(claim(session(), request(u"e-2"_s))->inserted); // somebody else's, who did not have to wait
    QVERIFY(ahead(u"e-3"_s, u"e-4"_s));
    lane.close();
    QVERIFY(claim(session(), request(u"e-4"_s))->inserted);
    QVERIFY(ahead(u"e-5"_s, u"e-6"_s));
    QVERIFY(claim(lane, request(u"e-7"_s))->inserted); // another one than it had announced
    QVERIFY(claim(session(), request(u"e-6"_s))->inserted);
    QVERIFY(ahead(u"e-8"_s, u"e-9"_s));
    m_sessions.front().reset(); // as a lane that dies
    QVERIFY(claim(session(), request(u"e-9"_s))->inserted);
    QCOMPARE(count(u"jobs_processedevent"_s), 9);
}

/// Another lane has the next event: this lane's COMMIT is known all the same, and its next claim waits.
void TestClaimSession::aClaimAheadIsNeverInTheWayOfTheCommit()
{
    open(true);
    ClaimSession &other = session();
    QVERIFY(other.begin().ok());
    QVERIFY(other.claim(request(u"e-2"_s))->inserted);
    ClaimSession &lane = session();
    QVERIFY(lane.begin().ok());
    QVERIFY(lane.claim(request(u"e-1"_s))->inserted);
    QVERIFY(lane.commitAndClaim(request(u"e-2"_s, Later)).ok()); // while e-2 is held
    QCOMPARE(count(u"jobs_processedevent"_s), 1);
    QVERIFY(other.commit().ok());
    QVERIFY(lane.begin().ok());
    const auto claimed = lane.claim(request(u"e-2"_s, Later));
    QVERIFY2(claimed.ok(), claimed.ok() ? "" : qPrintable(claimed.error().text));
    QVERIFY(!claimed->inserted);
    QCOMPARE(claimed->standingText, At);
}

void TestClaimSession::aDuplicateAheadIsADuplicate()
{
    open(true);
    ClaimSession &lane = session();
    QVERIFY(claim(lane, request(u"e-1"_s))->inserted);
    QVERIFY(lane.begin().ok());
    QVERIFY(lane.claim(request(u"e-2"_s))->inserted);
    QVERIFY(lane.commitAndClaim(request(u"e-1"_s, Later, QByteArray(32, 'x'))).ok());
    QVERIFY(lane.begin().ok());
    const auto second = lane.claim(request(u"e-1"_s, Later, QByteArray(32, 'x')));
    QVERIFY2(second.ok(), second.ok() ? "" : qPrintable(second.error().text));
    QVERIFY(!second->inserted && second->otherBody);
    QCOMPARE(second->standingText, At);
    QVERIFY(lane.commitAndClaim(request(u"e-3"_s)).ok()); // a duplicate's transaction ends with a COMMIT, too
    QVERIFY(claim(lane, request(u"e-3"_s))->inserted);
}

void TestClaimSession::aBrokenLookUpAheadIsAnErrorOfItsOwn()
{
    open(true);
    ClaimSession &lane = session();
    QVERIFY(lane.begin().ok());
    QVERIFY(lane.claim(request(u"e-1"_s))->inserted);
    ClaimRequest broken = request(u"e-2"_s);
    broken.lookupSql = u"SELECT 1 AS one FROM nowhere"_s;
    QVERIFY(lane.commitAndClaim(broken).ok());
    QVERIFY(lane.begin().ok());
    QVERIFY(lane.claim(broken)->inserted);
    const auto row = lane.lookUp(broken);
    QVERIFY(!row.ok());
    QVERIFY2(row.error().text.contains(u"nowhere"_s), qPrintable(row.error().text));
    lane.rollBack();
    QCOMPARE(count(u"jobs_processedevent"_s), 1);
    // What cannot even be sent is left for its own claim.
    QVERIFY(lane.begin().ok());
    QVERIFY(lane.claim(request(u"e-3"_s))->inserted);
    QVERIFY(lane.commitAndClaim(request(QString(65, u'x'))).ok());
    QVERIFY(lane.begin().ok());
    QCOMPARE(lane.claim(request(QString(65, u'x'))).error().kind, ErrorKind::Invalid);
    QCOMPARE(count(u"jobs_processedevent"_s), 2);
}

void TestClaimSession::withoutACommitThereIsNoClaimAhead()
{
    // A deferred constraint fails at COMMIT, and not before.
    open(true, true);
    QVERIFY(run(u"ALTER TABLE jobs_processedevent ADD CONSTRAINT late UNIQUE (processed_at) "
                "DEFERRABLE INITIALLY DEFERRED"_s));
    ClaimSession &lane = session();
    QVERIFY(claim(lane, request(u"e-1"_s))->inserted);
    QVERIFY(lane.begin().ok());
    QVERIFY(lane.claim(request(u"e-2"_s))->inserted);
    const auto committed = lane.commitAndClaim(request(u"e-3"_s, Later));
    QVERIFY(!committed.ok());
    QVERIFY2(committed.error().text.contains(u"late"_s), qPrintable(committed.error().text));
    QVERIFY(claim(session(), request(u"e-3"_s, Later))->inserted); // nobody holds it
    QVERIFY(claim(lane, request(u"e-4"_s, u"2025-03-04 10:11:13.000000"_s))->inserted);
    QCOMPARE(count(u"jobs_processedevent"_s), 3);
}

void TestClaimSession::aServerThatGoesBehindTheCommitIsFoundAgain()
{
    open(true);
    ClaimSession &other = session();
    QVERIFY(other.begin().ok());
    QVERIFY(other.claim(request(u"e-2"_s))->inserted);
    ClaimSession &lane = session();
    QVERIFY(lane.begin().ok());
    QVERIFY(lane.claim(request(u"e-1"_s))->inserted);
    QVERIFY(lane.commitAndClaim(request(u"e-2"_s)).ok());
    const QString waits = u"pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"_s;
    QTRY_COMPARE(count(waits), 1);
    QVERIFY(run(u"SELECT pg_terminate_backend(pid) FROM "_s + waits));
    QTRY_COMPARE(count(waits), 0);
    other.rollBack();
    QVERIFY(lane.begin().ok());
    const auto claimed = lane.claim(request(u"e-2"_s));
    QVERIFY2(claimed.ok(), claimed.ok() ? "" : qPrintable(claimed.error().text));
    QVERIFY(claimed->inserted); // on a new connection
    QVERIFY(lane.commit().ok());
    QCOMPARE(count(u"jobs_processedevent"_s), 2);
}

void TestClaimSession::aPoolerIsSeen()
{
    openPooled();
    const PgPatience patience{QDeadlineTimer(5s), nullptr};
    const auto pooled = PgConnection::open(DatabaseUrl::parse(m_url).value(), patience);
    QVERIFY2(pooled.ok(), pooled.ok() ? "" : qPrintable(pooled.error().text));
    QVERIFY(pooled.value()->isPooled());
    const auto direct = PgConnection::open(DatabaseUrl::parse(m_postgres.url(m_name)).value(), patience);
    QVERIFY(direct.ok() && !direct.value()->isPooled());
    const auto told =
        PgConnection::open(DatabaseUrl::parse(m_postgres.url(m_name) + u"?pgbouncer=true"_s).value(), patience);
    QVERIFY(told.ok() && told.value()->isPooled());
}

void TestClaimSession::lanesShareAPoolersConnections()
{
    openPooled();
    std::vector<ClaimSession *> lanes{&session(), &session(), &session()};
    for (int round = 0; round < 12; ++round) {
        // Two transactions open at once, then the third lane gets whichever connection is free.
        ClaimSession &one = *lanes[size_t(round) % 3];
        ClaimSession &other = *lanes[size_t(round + 1) % 3];
        const ClaimRequest first = request(u"first-%1"_s.arg(round));
        const ClaimRequest second = request(u"second-%1"_s.arg(round));
        QVERIFY(one.begin().ok() && other.begin().ok());
        const auto claimed = one.claim(first);
        QVERIFY2(claimed.ok(), claimed.ok() ? "" : qPrintable(claimed.error().text));
        QVERIFY(claimed->inserted);
        QVERIFY(other.claim(second)->inserted);
        QVERIFY(one.lookUp(first)->has_value());
        QVERIFY(other.lookUp(second)->has_value());
        QVERIFY(other.commit().ok());
        QVERIFY(one.commit().ok());
        QVERIFY(!claim(*lanes[size_t(round + 2) % 3], first)->inserted);
    }
    QCOMPARE(count(u"jobs_processedevent"_s), 24);
}

void TestClaimSession::aPoolersConnectionsKeepNothingOfOurs()
{
    openPooled();
    ClaimSession &lane = session();
    QVERIFY(claim(lane, request(u"e-1"_s))->inserted);
    QCOMPARE(sql(m_url, u"SHOW lock_timeout"_s), u"0"_s);
    QCOMPARE(sql(m_url, u"SHOW idle_in_transaction_session_timeout"_s), u"0"_s);
    QCOMPARE(sql(m_url, u"SELECT count(*)::text FROM pg_prepared_statements"_s), u"0"_s);
}

void TestClaimSession::aLockWaitEndsBehindAPooler()
{
    openPooled();
    ClaimSession &holder = session();
    QVERIFY(holder.begin().ok());
    QVERIFY(holder.claim(request(u"e-1"_s))->inserted);
    const auto claimed = claim(session(200ms), request(u"e-1"_s));
    QVERIFY(!claimed.ok());
    QCOMPARE(claimed.error().kind, ErrorKind::Busy);
    QCOMPARE(claimed.error().code, u"55P03"_s);
    QVERIFY(holder.commit().ok());
}

QTEST_GUILESS_MAIN(TestClaimSession)
#include "tst_claimsession.moc"
