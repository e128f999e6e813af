#include "tests/world/postgres.h"
#include "worker/store/audit.h"
#include "worker/store/journal.h"
#include "worker/store/replaylog.h"
#include "worker/store/storytext.h"

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <barrier>
#include <thread>
#include <vector>

using namespace Qt::StringLiterals;
using namespace sendonce;
using namespace sendonce::world;

namespace {

const QDateTime Start({2025, 3, 4}, {14, 5, 41}, Qt::UTC);

DeliveryReport delivery(const QString &eventId, Outcome outcome, int receiveCount = 1,
                        const QString &messageId = u"m-1"_s)
{
    DeliveryReport report;
    report.eventId = eventId;
    report.eventType = u"application.status_changed"_s;
    report.messageId = messageId;
    report.applicationId = u"3"_s;
    report.lane = 2;
    report.receiveCount = receiveCount;
    report.outcome = outcome;
    report.receivedAt = Start.addSecs(30 * (receiveCount - 1));
    if (outcome == Outcome::Failed) {
        report.failedStage = Stage::Accepted;
        report.reason = u"451 4.3.0 mail server down"_s;
        report.mailReply = report.reason;
    }
    return report;
}

QStringList texts(const EventStory &story)
{
    QStringList texts;
    for (const StoryLine &line : story.lines)
        texts.append(line.text);
    return texts;
}

} // namespace

/// The same on both databases.
class TestJournal : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase_data();
    void initTestCase() { QVERIFY2(m_postgres.start(), qPrintable(m_postgres.why())); }
    void init();
    void cleanup() { m_journal.reset(); }

    void keepsAReportWhole();
    void survivesReopening();
    void knowsWhatHappened();
    void doubtIsSettledByALaterSend();
    void doubtAndItsReportAreOneDelivery();
    void sameReceiveInAnotherProcessIsAnotherDelivery();
    void aboutManyIdsAndNothing();
    void aboutMessagesWithoutAnEvent();
    void deliveriesSinceAMoment();
    void storyIsInOrderAndInWords();
    void storyNamesOtherWorkers();
    void storyWords_data();
    void storyWords();
    void countsPossibleDoubles();
    void cutsLongTexts();
    void textIsData();
    void queriesUseIndexes();
    void eightThreadsWrite();
    void aBatchIsKeptWhole();
    void linesOfTheAuditStay();
    void aReplayIsTakenOverOnce();
    void refusesADamagedFileInWords();
    void whoMayMakeNoTablesGetsAFile();

private:
    Journal &journal() { return *m_journal; }
    Journal::Knowledge about(const QString &id) { return m_journal->about({id}).value().value(id); }
    Result<Journal> open() const { return Journal::open(m_folder->path(), m_url); }
    bool isPostgres() const { return !m_url.isEmpty(); }

    Postgres m_postgres;
    QString m_url; ///< empty: SQLite
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Journal> m_journal;
};

void TestJournal::initTestCase_data()
{
    QTest::addColumn<bool>("postgres");
    QTest::newRow("SQLite") << false;
    QTest::newRow("PostgreSQL") << true;
}

void TestJournal::init()
{
    QFETCH_GLOBAL(bool, postgres);
    m_url = postgres ? m_postgres.url(m_postgres.createJobBoard()) : QString();
    QTest::failOnWarning(QRegularExpression(u".*"_s));
    m_folder = std::make_unique<QTemporaryDir>();
    Result<Journal> journal = open();
    QVERIFY2(journal.ok(), journal.ok() ? "" : qPrintable(journal.error().text));
    QCOMPARE(journal->database().isPostgres(), postgres);
    m_journal = std::make_unique<Journal>(journal.take());
}

void TestJournal::keepsAReportWhole()
{
    DeliveryReport report = delivery(u"e-1"_s, Outcome::InDoubt);
    report.failedStage = Stage::Accepted;
    report.reason = u"reply lost"_s;
    report.mailReply = u"250 2.0"_s;
    report.permanent = true;
    report.possiblyMailedTwice = true;
    report.otherBody = true;
    report.userId = u"5"_s;
    report.recipient = u"sam@example.com"_s;
    report.mailMessageId = u"<x@y>"_s;
    report.stageUsec = {0, 1, 2, 3, 4, 5'000'000'000, -1, -1};
    report.logLine = u"Event e-1 may have been mailed"_s;
    QVERIFY(journal().record(report).ok());
    QCOMPARE(journal().deliveriesSince({u"e-1"_s}, Start).value(), QList{report});
}

void TestJournal::survivesReopening()
{
    QVERIFY(journal().record(delivery(u"e-1"_s, Outcome::Sent)).ok());
    m_journal.reset();
    Result<Journal> again = open();
    QVERIFY(again.ok());
    QVERIFY(again.value().about({u"e-1"_s}).value().value(u"e-1"_s).mailed);
}

void TestJournal::knowsWhatHappened()
{
    for (int receive = 1; receive <= 3; ++receive)
        QVERIFY(journal().record(delivery(u"e-1"_s, Outcome::Failed, receive)).ok());
    Journal::Knowledge known = about(u"e-1"_s);
    QCOMPARE(known.eventId, u"e-1"_s);
    QCOMPARE(known.eventType, u"application.status_changed"_s);
    QCOMPARE(known.applicationId, u"3"_s);
    QCOMPARE(known.attempts, 3);
    QCOMPARE(known.lastOutcome, Outcome::Failed);
    QCOMPARE(known.lastFailedStage, Stage::Accepted);
    QCOMPARE(known.lastReason, u"451 4.3.0 mail server down"_s);
    QVERIFY(!known.mailed && !known.gone && !known.inDoubt && !known.permanent);
    QVERIFY(known.lastFailedAt.secsTo(QDateTime::currentDateTimeUtc()) < 10);

    DeliveryReport last = delivery(u"e-1"_s, Outcome::Failed, 4);
    last.reason = u"550 5.1.1 no such mailbox"_s;
    last.permanent = true;
    QVERIFY(journal().record(last).ok());
    QVERIFY(about(u"e-1"_s).permanent);
    QVERIFY(journal().record(delivery(u"e-1"_s, Outcome::Sent, 5)).ok());
    QVERIFY(journal().record(delivery(u"e-1"_s, Outcome::Duplicate, 6)).ok());
    QVERIFY(journal().record(delivery(u"e-1"_s, Outcome::Duplicate, 1, u"m-2"_s)).ok());
    known = about(u"e-1"_s);
    QVERIFY(known.mailed);
    QCOMPARE(known.duplicates, 2);
    QCOMPARE(known.attempts, 5);
    QCOMPARE(known.lastOutcome, Outcome::Duplicate);
    QCOMPARE(known.lastReason, u"550 5.1.1 no such mailbox"_s);

    QVERIFY(journal().record(delivery(u"e-2"_s, Outcome::Gone, 1, u"m-3"_s)).ok());
    QVERIFY(about(u"e-2"_s).gone && !about(u"e-2"_s).mailed);
    QVERIFY(journal().record(delivery(u"e-3"_s, Outcome::GivenBack, 1, u"m-4"_s)).ok());
    QCOMPARE(about(u"e-3"_s).attempts, 0);
}

void TestJournal::doubtIsSettledByALaterSend()
{
    QVERIFY(journal().recordDoubt(delivery(u"e-1"_s, Outcome::Failed, 1)).ok());
    QVERIFY(about(u"e-1"_s).inDoubt);
    QCOMPARE(about(u"e-1"_s).lastOutcome, Outcome::InDoubt);
    QVERIFY(journal().record(delivery(u"e-1"_s, Outcome::Failed, 2)).ok());
    QVERIFY(about(u"e-1"_s).inDoubt);
    QVERIFY(journal().record(delivery(u"e-1"_s, Outcome::Sent, 3)).ok());
    QVERIFY(!about(u"e-1"_s).inDoubt);
}

void TestJournal::doubtAndItsReportAreOneDelivery()
{
    DeliveryReport report = delivery(u"e-1"_s, Outcome::InDoubt);
    QVERIFY(journal().recordDoubt(report).ok());
    report.reason = u"no reply within 60 s"_s;
    QVERIFY(journal().record(report).ok());
    QCOMPARE(about(u"e-1"_s).attempts, 1);
    QCOMPARE(about(u"e-1"_s).lastReason, report.reason);
    QCOMPARE(journal().story(u"e-1"_s)->lines.size(), 1);
}

void TestJournal::sameReceiveInAnotherProcessIsAnotherDelivery()
{
    QVERIFY(journal().record(delivery(u"e-1"_s, Outcome::Failed)).ok());
    journal().setWorkerName(u"other pid 1"_s);
    QVERIFY(journal().record(delivery(u"e-1"_s, Outcome::Sent)).ok());
    QCOMPARE(about(u"e-1"_s).attempts, 2);
}

void TestJournal::aboutManyIdsAndNothing()
{
    QStringList ids;
    for (int i = 0; i < 1200; ++i) {
        ids.append(u"e-%1"_s.arg(i));
        if (i % 3 == 0)
            QVERIFY(journal().record(delivery(ids.last(), Outcome::Sent, 1, u"m-%1"_s.arg(i))).ok());
    }
    QVERIFY(journal().record(delivery(QString(), Outcome::Failed, 1, u"unreadable"_s)).ok());
    const auto known = journal().about(ids + ids + QStringList{QString(), u"nobody"_s});
    QCOMPARE(known->size(), 400);
    QCOMPARE(known->value(u"e-1197"_s).attempts, 1);
    QVERIFY(journal().about({}).value().isEmpty());
    QVERIFY(journal().about({u""_s}).value().isEmpty());
    QCOMPARE(journal().story(QString())->lines.size(), 0);
}

void TestJournal::aboutMessagesWithoutAnEvent()
{
    DeliveryReport report = delivery(QString(), Outcome::Failed, 1, u"m-9"_s);
    report.failedStage = Stage::Validated;
    report.reason = u"event_id is missing"_s;
    report.eventType.clear();
    report.applicationId.clear();
    QVERIFY(journal().record(report).ok());
    const Journal::Knowledge known = journal().aboutMessages({u"m-9"_s}).value().value(u"m-9"_s);
    QCOMPARE(known.lastReason, u"event_id is missing"_s);
    QCOMPARE(known.eventId, QString());
    QCOMPARE(known.attempts, 1);
}

void TestJournal::deliveriesSinceAMoment()
{
    for (int receive = 1; receive <= 3; ++receive)
        QVERIFY(journal().record(delivery(u"e-1"_s, Outcome::Failed, receive)).ok());
    QVERIFY(journal().record(delivery(u"e-2"_s, Outcome::Sent, 3, u"m-2"_s)).ok());
    const auto counts = [&](const QStringList &ids, const QDateTime &since) {
        QList<int> found;
        const auto deliveries = journal().deliveriesSince(ids, since);
        for (const DeliveryReport &report : deliveries.value())
            found.append(report.receiveCount);
        return found;
    };
    QCOMPARE(counts({u"e-1"_s}, Start), (QList<int>{1, 2, 3}));
    QCOMPARE(counts({u"e-1"_s}, Start.addSecs(30)), (QList<int>{2, 3}));
    QCOMPARE(counts({u"e-1"_s}, Start.addSecs(61)), QList<int>());
    QCOMPARE(counts({u"m-1"_s}, Start.addSecs(60)), (QList<int>{3})); // by message
    QCOMPARE(journal().deliveriesSince({u"e-1"_s, u"m-1"_s, u"e-2"_s}, Start)->size(), 4); // each once
    QStringList many;
    for (int i = 0; i < 600; ++i)
        many.append(u"x-%1"_s.arg(i));
    QCOMPARE(journal().deliveriesSince(QStringList{u"e-1"_s} + many + QStringList{u"m-1"_s}, Start)->size(), 3);
}

void TestJournal::storyIsInOrderAndInWords()
{
    SendReport sent;
    sent.eventId = u"e-1"_s;
    sent.messageIds = {u"m-1"_s};
    QVERIFY(journal().recordSend(sent).ok());
    DeliveryReport failed = delivery(u"e-1"_s, Outcome::Failed);
    failed.receivedAt = QDateTime::currentDateTimeUtc().addSecs(1);
    QVERIFY(journal().record(failed).ok());
    DeliveryReport mailed = delivery(u"e-1"_s, Outcome::Sent, 2);
    mailed.receivedAt = failed.receivedAt.addSecs(60);
    mailed.mailReply = u"250 2.0.0 Ok: queued as 4F3"_s;
    DeliveryReport skipped = delivery(u"e-1"_s, Outcome::Duplicate, 1, u"m-2"_s);
    skipped.receivedAt = failed.receivedAt.addSecs(90);
    skipped.lane = 1;
    QVERIFY(journal().record(skipped).ok()); // another lane was quicker with its report
    QVERIFY(journal().record(mailed).ok());
    QVERIFY(journal().record(delivery(u"another"_s, Outcome::Sent, 1, u"m-7"_s)).ok());
    QCOMPARE(texts(journal().story(u"e-1"_s).value()),
             (QStringList{u"sent as message m-1"_s, u"received 1 · lane 2 · 451 4.3.0 mail server down → rolled back"_s,
                          u"received 2 · lane 2 · mailed (250 2.0.0 Ok: queued as 4F3) · claim committed"_s,
                          u"received 1 · lane 1 · skipped: already processed"_s}));

    QVERIFY(journal().recordReplay(u"e-2"_s, u"m-8"_s, u"replayed as message m-8"_s).ok());
    QVERIFY(journal().recordPossiblyTwice(u"e-2"_s, u"m-8"_s, u"a worker died behind the final dot"_s).ok());
    sent.messageIds.clear();
    sent.eventId.clear();
    sent.request.eventId = u"e-2"_s;
    sent.error = u"connection refused"_s;
    QVERIFY(journal().recordSend(sent).ok());
    QCOMPARE(texts(journal().story(u"e-2"_s).value()),
             (QStringList{u"replayed as message m-8"_s, u"possibly mailed twice: a worker died behind the final dot"_s,
                          u"could not be sent: connection refused"_s}));
}

void TestJournal::storyNamesOtherWorkers()
{
    journal().setWorkerName(u"far pid 7"_s);
    QVERIFY(journal().record(delivery(u"e-1"_s, Outcome::Sent)).ok());
    journal().setWorkerName(u"here pid 1"_s);
    QCOMPARE(texts(journal().story(u"e-1"_s).value()),
             QStringList{u"received 1 · lane 2 · mailed · claim committed · by far pid 7"_s});
}

void TestJournal::storyWords_data()
{
    QTest::addColumn<DeliveryReport>("report");
    QTest::addColumn<QString>("text");
    DeliveryReport report = delivery(u"e"_s, Outcome::Failed);
    report.permanent = true;
    QTest::newRow("permanent") << report
                               << u"received 1 · lane 2 · 451 4.3.0 mail server down (permanent) → rolled back"_s;
    report.permanent = false;
    report.failedStage = Stage::Validated;
    report.reason = u"event_id is missing"_s;
    QTest::newRow("invalid") << report << u"received 1 · lane 2 · event_id is missing → left to the queue"_s;
    report = delivery(u"e"_s, Outcome::Gone);
    QTest::newRow("gone") << report
                          << u"received 1 · lane 2 · skipped: application 3 no longer exists · claim committed"_s;
    report = delivery(u"e"_s, Outcome::Duplicate);
    report.otherBody = true;
    QTest::newRow("other body") << report << u"received 1 · lane 2 · skipped: already processed, with another body"_s;
    report = delivery(u"e"_s, Outcome::InDoubt);
    report.reason = u"no reply within 60 s"_s;
    QTest::newRow("in doubt") << report
                              << u"received 1 · lane 2 · perhaps mailed: no reply within 60 s → rolled back"_s;
    report = delivery(u"e"_s, Outcome::GivenBack);
    report.lane = 0;
    report.receiveCount = 0;
    report.reason = u"busy elsewhere"_s;
    QTest::newRow("given back") << report << u"received · given back: busy elsewhere"_s;
    report = delivery(u"e"_s, Outcome::Sent);
    report.possiblyMailedTwice = true;
    QTest::newRow("twice") << report << u"received 1 · lane 2 · mailed · claim committed · possibly mailed twice"_s;
}

void TestJournal::storyWords()
{
    QFETCH(DeliveryReport, report);
    QTEST(storyText(report), "text");
}

void TestJournal::countsPossibleDoubles()
{
    QCOMPARE(journal().possiblyTwiceCount().value(), 0);
    QVERIFY(journal().recordPossiblyTwice(u"e-1"_s, u"m-1"_s, u"x"_s).ok());
    DeliveryReport report = delivery(u"e-2"_s, Outcome::Sent);
    report.possiblyMailedTwice = true;
    QVERIFY(journal().record(report).ok());
    QVERIFY(journal().record(delivery(u"e-3"_s, Outcome::Sent, 1, u"m-3"_s)).ok());
    QCOMPARE(journal().possiblyTwiceCount().value(), 2);
}

void TestJournal::cutsLongTexts()
{
    DeliveryReport report = delivery(u"e-1"_s, Outcome::Failed);
    report.reason = QString(1998, u'x') + u"😀"_s.repeated(50'000);
    QVERIFY(journal().record(report).ok());
    const QString kept = about(u"e-1"_s).lastReason;
    QCOMPARE(kept, QString(1998, u'x') + u'…'); // not half of the emoji
    report.reason = QString(2000, u'y');
    QVERIFY(journal().record(report).ok());
    QCOMPARE(about(u"e-1"_s).lastReason, report.reason);
}

void TestJournal::textIsData()
{
    const QString hostile = u"'); DROP TABLE sendonce_attempt; -- %_\\ \u202e<b>"_s;
    DeliveryReport report = delivery(hostile, Outcome::Failed);
    report.reason = hostile;
    QVERIFY(journal().record(report).ok());
    QCOMPARE(about(hostile).lastReason, hostile);
}

void TestJournal::queriesUseIndexes()
{
    Database &database = journal().database();
    if (isPostgres()) // few rows are read without an index
        QVERIFY(database.rows(u"SET enable_seqscan = off"_s, {}, {}).ok());
    const auto plan = [&](const QString &sql) {
        QString steps;
        const auto rows = database.rows((isPostgres() ? u"EXPLAIN "_s : u"EXPLAIN QUERY PLAN "_s) + sql, {}, {});
        for (const QVariantList &row : rows.value())
            steps += row.constLast().toString().toUpper() + u'\n';
        return steps;
    };
    const QStringList queries{
        u"SELECT * FROM sendonce_attempt WHERE event_id IN ('a','b') ORDER BY id"_s,
        u"SELECT * FROM sendonce_attempt WHERE message_id IN ('a','b') ORDER BY id"_s,
        u"SELECT * FROM sendonce_attempt WHERE (event_id IN ('a') OR message_id IN ('a')) AND received_at >= 1"_s,
        u"SELECT * FROM sendonce_note WHERE event_id IN ('a')"_s,
        u"SELECT count(*) FROM sendonce_attempt WHERE possibly_twice"_s,
        u"SELECT count(*) FROM sendonce_note WHERE kind = 'twice'"_s};
    for (const QString &query : queries) {
        QVERIFY2(plan(query).contains(u"INDEX"_s), qPrintable(query + u'\n' + plan(query)));
        QVERIFY2(!plan(query).contains(
                     QRegularExpression(isPostgres() ? u"SEQ SCAN"_s : u"SCAN (?!.*USING (COVERING )?INDEX)"_s)),
                 qPrintable(plan(query)));
    }
}

void TestJournal::eightThreadsWrite()
{
    std::barrier start(8);
    std::atomic_int written = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&, i] {
            Result<Journal> journal = open();
            start.arrive_and_wait();
            for (int n = 0; n < 50; ++n) {
                if (journal.ok()
                    && journal.value()
                           .record(delivery(u"e-1"_s, Outcome::Duplicate, 1, u"m-%1-%2"_s.arg(i).arg(n)))
                           .ok())
                    ++written;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(written, 400);
    QCOMPARE(about(u"e-1"_s).duplicates, 400);
}

void TestJournal::aBatchIsKeptWhole()
{
    QList<DeliveryReport> reports{delivery(u"e-1"_s, Outcome::Sent), delivery(u"e-2"_s, Outcome::Failed, 1, u"m-2"_s),
                                  delivery(u"e-3"_s, Outcome::InDoubt, 1, u"m-3"_s)};
    reports[0].reason = u"{\"a\",NULL} \\ \\\" 'x' $1 ? \n\t😀"_s;
    reports[1].permanent = reports[1].otherBody = true;
    reports[2].possiblyMailedTwice = true;
    QVERIFY(journal().recordDoubt(reports[2]).ok()); // as its lane does; the final report takes its place
    QVERIFY(journal().record(reports).ok());
    QVERIFY(journal().record(reports).ok()); // tried again after a lost answer
    const QStringList ids{u"e-1"_s, u"e-2"_s, u"e-3"_s};
    auto known = journal().deliveriesSince(ids, Start).value();
    std::sort(known.begin(), known.end(),
              [](const DeliveryReport &a, const DeliveryReport &b) { return a.eventId < b.eventId; });
    QCOMPARE(known, reports);

    const DeliveryReport first = delivery(u"e-4"_s, Outcome::Failed, 1, u"m-4"_s);
    DeliveryReport second = first;
    second.outcome = Outcome::Sent;
    DeliveryReport nul = delivery(u"e-5"_s, Outcome::Failed, 1, u"m-5"_s);
    nul.reason = u"a"_s + QChar() + u"b"_s; // which PostgreSQL cannot hold
    QVERIFY(journal().record({first, second, nul}).ok());
    QCOMPARE(about(u"e-4"_s).attempts, 1);
    QVERIFY(about(u"e-4"_s).mailed);
    QCOMPARE(about(u"e-5"_s).lastReason, u"a\ufffdb"_s);
}

void TestJournal::linesOfTheAuditStay()
{
    Database &database = journal().database();
    Audit audit(database, u"Local"_s);
    QVERIFY(audit.note(u"replay"_s, {u"a"_s}, u"text"_s).ok());
    QVERIFY(!database.rows(u"UPDATE sendonce_audit SET text = ''"_s, {}, {}));
    const auto deleted = database.rows(u"DELETE FROM sendonce_audit"_s, {}, {});
    QVERIFY(!deleted && deleted.error().text.contains(u"400 days"_s));
    if (isPostgres())
        QVERIFY(!database.rows(u"TRUNCATE sendonce_audit"_s, {}, {}));
    QCOMPARE(audit.page(0, 10)->entries.size(), 1);
    QVERIFY(database
                .rows(u"INSERT INTO sendonce_audit (noted_at, who, host, profile, act, ids, text, outcome) "
                      "VALUES (1, '', '', '', '', '[]', '', '')"_s,
                      {}, {})
                .ok());
    QVERIFY(database.rows(u"DELETE FROM sendonce_audit WHERE noted_at = 1"_s, {}, {}).ok());
    QCOMPARE(audit.page(0, 10)->entries.size(), 1);
}

void TestJournal::aReplayIsTakenOverOnce()
{
    ReplayLog log(journal().database());
    ReplayLog::Run run;
    run.run = 1'700'000'000'000'000;
    run.host = u"mailhost"_s;
    ReplayLog::Row row;
    row.messageId = u"m-1"_s;
    QVERIFY(log.begin(run, {row}).ok());

    Result<Journal> elsewhere = open();
    QVERIFY(elsewhere.ok());
    ReplayLog other(elsewhere->database());
    const auto seen = log.runs(1);
    const auto seenByOther = other.runs(1);
    QCOMPARE(seen->size(), 1);
    QVERIFY(qAbs(seen->first().aliveAt.secsTo(QDateTime::currentDateTimeUtc())) < 60);
    QVERIFY(log.adopt(seen->first()).ok());
    const auto late = other.adopt(seenByOther->first());
    QVERIFY(!late && late.error().kind == ErrorKind::Busy);
    QCOMPARE(other.rows(run.run)->size(), 1);
}

void TestJournal::whoMayMakeNoTablesGetsAFile()
{
    if (!isPostgres())
        return;
    const QString database = m_postgres.createJobBoard();
    QVERIFY(!m_postgres.sql(database, u"CREATE ROLE looker LOGIN"_s).isNull());
    const QString url = m_postgres.url(database).replace(u"sendonce@"_s, u"looker@"_s);
    {
        Result<Journal> journal = Journal::open(m_folder->path(), url);
        QVERIFY2(journal.ok(), journal.ok() ? "" : qPrintable(journal.error().text));
        QVERIFY(!journal->whyNotOnServer().isEmpty() && !journal->database().isPostgres());
        QVERIFY(journal->record(delivery(u"e-1"_s, Outcome::Sent)).ok());
    }
    Result<Database> connection = Database::open(url);
    const auto script = connection->migrationScript({u"postgres"_s, u"postgres-journal"_s});
    QVERIFY(script.ok());
    QVERIFY2(!m_postgres.sql(database, script.value()).isNull(), qPrintable(m_postgres.why()));
    Result<Journal> journal = Journal::open(m_folder->path(), url);
    QVERIFY(journal.ok() && journal->whyNotOnServer().isEmpty());
    QVERIFY(journal->record(delivery(u"e-1"_s, Outcome::Sent)).ok());
    QVERIFY(journal->record(QList{delivery(u"e-2"_s, Outcome::Sent, 1, u"m-2"_s)}).ok());
    QCOMPARE(m_postgres.sql(database, u"SELECT count(*) FROM sendonce_attempt"_s), u"2"_s);
    QVERIFY(Audit(journal->database(), {}).note(u"replay"_s, {}, {}).ok());
    QVERIFY(!journal->database().rows(u"DELETE FROM sendonce_audit"_s, {}, {}));
}

void TestJournal::refusesADamagedFileInWords()
{
    if (isPostgres())
        return;
    m_journal.reset();
    QFile damaged(m_folder->filePath(u"journal.db"_s));
    QVERIFY(damaged.open(QIODevice::ReadWrite));
    QVERIFY(damaged.write(QByteArray(100, 'x')) == 100);
    damaged.close();
    const Result<Journal> journal = open();
    QVERIFY(!journal.ok());
    QVERIFY2(journal.error().text.contains(u"journal.db"_s) && journal.error().text.contains(u"damaged"_s),
             qPrintable(journal.error().text));
}

QTEST_GUILESS_MAIN(TestJournal)
#include "tst_journal.moc"
