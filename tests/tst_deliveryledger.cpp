#include "tests/world/postgres.h"
#include "worker/store/database.h"
#include "worker/store/deliveryledger.h"
#include "worker/store/jobboard.h"
#include "worker/store/pgpool.h"

#include <QElapsedTimer>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QUuid>

#include <thread>
#include <vector>

using namespace Qt::StringLiterals;
using namespace sendonce;
using namespace sendonce::world;
using namespace std::chrono_literals;

namespace {

using Standing = DeliveryLedger::Standing;

const QString At = u"2025-03-04 10:11:12.123456"_s;
const QString Later = u"2025-03-04 10:11:12.123457"_s;
const QString Lookup = u"SELECT id AS application_id, status FROM jobs_application WHERE id = :application_id"_s;

ClaimRequest request(const QString &eventId, const QString &at = At, const QByteArray &hash = QByteArray(32, 'h'))
{
    return {eventId, u"application.status_changed"_s, at, hash, Lookup, {{u"application_id"_s, Q_INT64_C(3)}}};
}

QString uuid()
{
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

} // namespace

/// The claims of claim-send-mark, the same on both databases.
class TestDeliveryLedger : public QObject
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
        m_ledgers.clear();
        m_database.reset();
    }

    void nobodySkipsWhatIsNotSentYet_data() { databases(); }
    void nobodySkipsWhatIsNotSentYet();
    void theMarkMakesItHandled_data() { databases(); }
    void theMarkMakesItHandled();
    void aReleasedClaimIsFree_data() { databases(); }
    void aReleasedClaimIsFree();
    void aRunningLeaseIsSomebodyElses_data() { databases(); }
    void aRunningLeaseIsSomebodyElses();
    void anExpiredLeaseIsInDoubt_data() { databases(); }
    void anExpiredLeaseIsInDoubt();
    void aDoubtEndsTheLease_data() { databases(); }
    void aDoubtEndsTheLease();
    void aDoubtCanBeTakenOver_data() { databases(); }
    void aDoubtCanBeTakenOver();
    void aMarkAfterATakeOverIsNotClean_data() { databases(); }
    void aMarkAfterATakeOverIsNotClean();
    void aMarkOnAStrangersRowIsNotClean_data() { databases(); }
    void aMarkOnAStrangersRowIsNotClean();
    void claimAndMarkMayBeRepeated_data() { databases(); }
    void claimAndMarkMayBeRepeated();
    void otherBodyIsSeen_data() { databases(); }
    void otherBodyIsSeen();
    void noRowToMailIsNoError_data() { databases(); }
    void noRowToMailIsNoError();
    void aBrokenLookUpLeavesNothing_data() { databases(); }
    void aBrokenLookUpLeavesNothing();
    void raceOfEight_data() { databases(); }
    void raceOfEight();
    void anOpenClaimOfDjangosIsWaitedFor_data();
    void anOpenClaimOfDjangosIsWaitedFor();
    void fewConnectionsServeManyLanes();
    void theServerMayRestartInBetween();

private:
    void databases()
    {
        QTest::addColumn<bool>("postgres");
        QTest::newRow("SQLite") << false;
        QTest::newRow("PostgreSQL") << true;
    }
    void open(bool postgres, int connections = 2)
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_name = postgres ? m_postgres.createJobBoard() : QString();
        QVERIFY2(!postgres || !m_name.isEmpty(), qPrintable(m_postgres.why()));
        m_url = postgres ? m_postgres.url(m_name) : u"sqlite:///"_s + m_folder->filePath(u"t.db"_s);
        auto database = Database::open(m_url);
        QVERIFY2(database.ok(), database.ok() ? "" : qPrintable(database.error().text));
        m_database.emplace(database.take());
        const auto made = postgres ? m_database->migrate(u"postgres"_s) : createJobBoard(*m_database);
        QVERIFY2(made.ok(), made.ok() ? "" : qPrintable(made.error().text));
        m_pool = DeliveryLedger::makePool(DatabaseUrl::parse(m_url).value(), connections, 5s);
    }
    DeliveryLedger &ledger(std::chrono::milliseconds lease = 60s)
    {
        m_ledgers.push_back(DeliveryLedger::make({DatabaseUrl::parse(m_url).value(), m_pool, 5s, lease, m_stop}));
        return *m_ledgers.back();
    }
    qint64 count(const QString &table)
    {
        const auto rows = m_database->rows(u"SELECT count(*) FROM "_s + table, {}, u"count"_s);
        return rows.ok() ? rows->first()[0].toLongLong() : -1;
    }

    Postgres m_postgres;
    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_name, m_url;
    std::optional<Database> m_database;
    std::shared_ptr<PgPool> m_pool;
    std::shared_ptr<std::atomic_bool> m_stop;
    std::vector<std::unique_ptr<DeliveryLedger>> m_ledgers;
};

void TestDeliveryLedger::nobodySkipsWhatIsNotSentYet()
{
    QFETCH(bool, postgres);
    open(postgres);
    const auto claim = ledger().claim(request(u"e"_s), uuid());
    QVERIFY2(claim.ok(), claim.ok() ? "" : qPrintable(claim.error().text));
    QCOMPARE(claim->standing, Standing::Ours);
    QCOMPARE(claim->row->value(u"application_id"_s).toInt(), 3);
    QCOMPARE(count(u"jobs_processedevent"_s), 0); // what a Django worker looks at
    QCOMPARE(count(u"sendonce_delivery"_s), 1);
}

void TestDeliveryLedger::theMarkMakesItHandled()
{
    QFETCH(bool, postgres);
    open(postgres);
    DeliveryLedger &one = ledger();
    const QString owner = uuid();
    QVERIFY(one.claim(request(u"e"_s), owner).ok());
    const auto mark = one.mark(request(u"e"_s), owner);
    QVERIFY2(mark.ok(), mark.ok() ? "" : qPrintable(mark.error().text));
    QVERIFY(mark->isClean());
    QCOMPARE(count(u"jobs_processedevent"_s), 1);
    QCOMPARE(count(u"sendonce_delivery"_s), 0);
    const auto again = one.claim(request(u"e"_s, Later), uuid());
    QVERIFY(again.ok());
    QCOMPARE(again->standing, Standing::Duplicate);
    QVERIFY(!again->otherBody);
    QCOMPARE(count(u"sendonce_delivery"_s), 0);
}

void TestDeliveryLedger::aReleasedClaimIsFree()
{
    QFETCH(bool, postgres);
    open(postgres);
    DeliveryLedger &one = ledger();
    const QString owner = uuid();
    QVERIFY(one.claim(request(u"e"_s), owner).ok());
    QCOMPARE(one.release(u"e"_s, uuid()).value(), false); // somebody else's
    QCOMPARE(one.release(u"e"_s, owner).value(), true);
    QCOMPARE(count(u"sendonce_delivery"_s), 0);
    QCOMPARE(one.claim(request(u"e"_s), uuid())->standing, Standing::Ours);
}

void TestDeliveryLedger::aRunningLeaseIsSomebodyElses()
{
    QFETCH(bool, postgres);
    open(postgres);
    QVERIFY(ledger(20s).claim(request(u"e"_s), uuid()).ok());
    const auto second = ledger().claim(request(u"e"_s), uuid());
    QVERIFY(second.ok());
    QCOMPARE(second->standing, Standing::Sending);
    QVERIFY(second->leaseLeft > 1s && second->leaseLeft <= 20s);
    const auto third = ledger().takeOver(request(u"e"_s), uuid());
    QCOMPARE(third->standing, Standing::Sending); // a person's word does not end a send under way
}

void TestDeliveryLedger::anExpiredLeaseIsInDoubt()
{
    QFETCH(bool, postgres);
    open(postgres);
    QVERIFY(ledger(0s).claim(request(u"e"_s), uuid()).ok());
    const auto second = ledger().claim(request(u"e"_s), uuid());
    QVERIFY(second.ok());
    QCOMPARE(second->standing, Standing::InDoubt);
    QCOMPARE(count(u"sendonce_delivery WHERE state = 'in_doubt'"_s), 1);
    QCOMPARE(count(u"jobs_processedevent"_s), 0);
}

void TestDeliveryLedger::aDoubtEndsTheLease()
{
    QFETCH(bool, postgres);
    open(postgres);
    DeliveryLedger &one = ledger();
    const QString owner = uuid();
    QVERIFY(one.claim(request(u"e"_s), owner).ok());
    QCOMPARE(one.doubt(u"e"_s, uuid()).value(), false);
    QCOMPARE(one.doubt(u"e"_s, owner).value(), true);
    QCOMPARE(ledger().claim(request(u"e"_s), uuid())->standing, Standing::InDoubt);
}

void TestDeliveryLedger::aDoubtCanBeTakenOver()
{
    QFETCH(bool, postgres);
    open(postgres);
    QVERIFY(ledger(0s).claim(request(u"e"_s), uuid()).ok());
    DeliveryLedger &two = ledger();
    const QString owner = uuid();
    const auto taken = two.takeOver(request(u"e"_s), owner);
    QVERIFY2(taken.ok(), taken.ok() ? "" : qPrintable(taken.error().text));
    QCOMPARE(taken->standing, Standing::Ours);
    QCOMPARE(taken->row->value(u"application_id"_s).toInt(), 3);
    QCOMPARE(ledger().claim(request(u"e"_s), uuid())->standing, Standing::Sending);
    QVERIFY(two.mark(request(u"e"_s), owner)->isClean());
    QCOMPARE(ledger().takeOver(request(u"e"_s), uuid())->standing, Standing::Duplicate);
}

void TestDeliveryLedger::aMarkAfterATakeOverIsNotClean()
{
    QFETCH(bool, postgres);
    open(postgres);
    DeliveryLedger &slow = ledger(0s);
    const QString owner = uuid();
    QVERIFY(slow.claim(request(u"e"_s), owner).ok());
    QVERIFY(ledger().takeOver(request(u"e"_s), uuid()).ok());
    const auto mark = slow.mark(request(u"e"_s), owner);
    QVERIFY(mark.ok());
    QVERIFY(mark->recorded);
    QVERIFY(!mark->wasOurs);
}

void TestDeliveryLedger::aMarkOnAStrangersRowIsNotClean()
{
    QFETCH(bool, postgres);
    open(postgres);
    DeliveryLedger &one = ledger();
    const QString owner = uuid();
    QVERIFY(one.claim(request(u"e"_s), owner).ok());
    // Django handles another copy meanwhile.
    const auto django = m_database->rows(u"INSERT INTO jobs_processedevent (event_id, event_type, processed_at) VALUES "
                                         "('e', 't', '2025-03-04 10:11:13+00')"_s,
                                         {}, u"insert"_s);
    QVERIFY2(django.ok(), django.ok() ? "" : qPrintable(django.error().text));
    const auto mark = one.mark(request(u"e"_s), owner);
    QVERIFY(mark.ok());
    QVERIFY(!mark->recorded);
    QVERIFY(mark->wasOurs);
    QCOMPARE(count(u"sendonce_delivery"_s), 0);
}

void TestDeliveryLedger::claimAndMarkMayBeRepeated()
{
    QFETCH(bool, postgres);
    open(postgres);
    DeliveryLedger &one = ledger();
    const QString owner = uuid();
    QCOMPARE(one.claim(request(u"e"_s), owner)->standing, Standing::Ours);
    QCOMPARE(one.claim(request(u"e"_s), owner)->standing, Standing::Ours);
    QVERIFY(one.mark(request(u"e"_s), owner)->isClean());
    QVERIFY(one.mark(request(u"e"_s), owner)->isClean());
    QCOMPARE(count(u"jobs_processedevent"_s), 1);
}

void TestDeliveryLedger::otherBodyIsSeen()
{
    QFETCH(bool, postgres);
    open(postgres);
    DeliveryLedger &one = ledger();
    const QString owner = uuid();
    QVERIFY(one.claim(request(u"e"_s), owner).ok());
    QVERIFY(one.mark(request(u"e"_s), owner).ok());
    QVERIFY(one.claim(request(u"e"_s, Later, QByteArray(32, 'x')), uuid())->otherBody);
}

void TestDeliveryLedger::noRowToMailIsNoError()
{
    QFETCH(bool, postgres);
    open(postgres);
    ClaimRequest gone = request(u"e"_s);
    gone.fields.insert(u"application_id"_s, Q_INT64_C(99999999));
    const auto claim = ledger().claim(gone, uuid());
    QVERIFY(claim.ok());
    QCOMPARE(claim->standing, Standing::Ours);
    QVERIFY(!claim->row.has_value());
}

void TestDeliveryLedger::aBrokenLookUpLeavesNothing()
{
    QFETCH(bool, postgres);
    open(postgres);
    ClaimRequest broken = request(u"e"_s);
    broken.lookupSql = u"SELECT no_such_column FROM jobs_application WHERE id = :application_id"_s;
    const auto claim = ledger().claim(broken, uuid());
    QVERIFY(!claim.ok());
    QCOMPARE(claim.error().kind, ErrorKind::Io);
    QCOMPARE(count(u"sendonce_delivery"_s), 0);
    QCOMPARE(ledger().claim(request(u"e"_s), uuid())->standing, Standing::Ours);
}

void TestDeliveryLedger::raceOfEight()
{
    QFETCH(bool, postgres);
    open(postgres, 8);
    std::vector<DeliveryLedger *> racers;
    for (int i = 0; i < 8; ++i)
        racers.push_back(&ledger());
    std::atomic_int ours = 0, sending = 0, others = 0;
    {
        std::vector<std::jthread> threads;
        for (DeliveryLedger *racer : racers) {
            threads.emplace_back([&, racer] {
                const auto claim = racer->claim(request(u"e"_s), uuid());
                racer->close(); // a connection is closed in its thread
                if (claim.ok() && claim->standing == Standing::Ours)
                    ++ours;
                else if (claim.ok() && claim->standing == Standing::Sending)
                    ++sending;
                else
                    ++others;
            });
        }
    }
    QCOMPARE(ours.load(), 1);
    QCOMPARE(sending.load(), 7);
    QCOMPARE(others.load(), 0);
}

void TestDeliveryLedger::anOpenClaimOfDjangosIsWaitedFor_data()
{
    QTest::addColumn<QString>("end");
    QTest::addColumn<int>("standing");
    QTest::newRow("it commits") << u"COMMIT"_s << int(Standing::Duplicate);
    QTest::newRow("it rolls back") << u"ROLLBACK"_s << int(Standing::Ours);
}

void TestDeliveryLedger::anOpenClaimOfDjangosIsWaitedFor()
{
    QFETCH(QString, end);
    open(true);
    auto opened = PgConnection::open(DatabaseUrl::parse(m_url).value(), {QDeadlineTimer(5s)});
    QVERIFY(opened.ok());
    const std::unique_ptr<PgConnection> django = opened.take();
    const PgPatience time{QDeadlineTimer(10s)};
    QVERIFY(django->runOne({"BEGIN", {}}, time, {}).ok());
    QVERIFY(
        django
            ->runOne(
                {"INSERT INTO jobs_processedevent (event_id, event_type, processed_at) VALUES ('e', 't', now())", {}},
                time, {})
            .ok());
    DeliveryLedger &one = ledger();
    std::optional<Result<DeliveryLedger::Claim>> claim;
    std::jthread lane([&] { claim = one.claim(request(u"e"_s), uuid()); });
    QTRY_COMPARE(count(u"pg_stat_activity WHERE wait_event_type = 'Lock'"_s), 1);
    QVERIFY(django->runOne({end.toLatin1(), {}}, time, {}).ok());
    lane.join();
    QVERIFY(claim->ok());
    QTEST(int((*claim)->standing), "standing");
}

void TestDeliveryLedger::fewConnectionsServeManyLanes()
{
    open(true, 2);
    std::vector<DeliveryLedger *> lanes;
    for (int i = 0; i < 12; ++i)
        lanes.push_back(&ledger());
    std::atomic_int clean = 0;
    {
        std::vector<std::jthread> threads;
        for (size_t i = 0; i < lanes.size(); ++i) {
            threads.emplace_back([&, i] {
                for (int round = 0; round < 5; ++round) {
                    const ClaimRequest event = request(u"e%1-%2"_s.arg(i).arg(round));
                    const QString owner = uuid();
                    const auto claim = lanes[i]->claim(event, owner);
                    const auto mark = lanes[i]->mark(event, owner);
                    clean += claim.ok() && mark.ok() && mark->isClean() ? 1 : 0;
                }
            });
        }
    }
    QCOMPARE(clean.load(), 60);
    QCOMPARE(count(u"jobs_processedevent"_s), 60);
    QCOMPARE(count(u"sendonce_delivery"_s), 0);
    // Ours are two; the third is the test's own.
    QCOMPARE(count(u"pg_stat_activity WHERE datname = current_database()"_s), 3);
}

void TestDeliveryLedger::theServerMayRestartInBetween()
{
    open(true);
    DeliveryLedger &one = ledger();
    const QString owner = uuid();
    QVERIFY(one.claim(request(u"e"_s), owner).ok());
    QVERIFY(m_postgres.stop(Postgres::Stop::Fast));
    QVERIFY(m_postgres.startAgain());
    const auto mark = one.mark(request(u"e"_s), owner);
    QVERIFY2(mark.ok(), mark.ok() ? "" : qPrintable(mark.error().text));
    QVERIFY(mark->isClean());
}

QTEST_GUILESS_MAIN(TestDeliveryLedger)
#include "tst_deliveryledger.moc"
