#include "tests/world/postgres.h"
#include "worker/mail/mimemessage.h"
#include "worker/operate/doubts.h"
#include "worker/store/database.h"
#include "worker/store/deliveryledger.h"
#include "worker/store/jobboard.h"
#include "worker/store/pgpool.h"
#include "worker/store/turn.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QUuid>

using namespace Qt::StringLiterals;
using namespace sendonce;
using namespace sendonce::world;
using namespace std::chrono_literals;

namespace {

using State = DoubtOutcome::State;
using Standing = DeliveryLedger::Standing;

const QString Lookup = u"SELECT id AS application_id, status FROM jobs_application WHERE id = :application_id"_s;

ClaimRequest request(const QString &eventId)
{
    return {eventId, u"application.status_changed"_s,      djangoTime(nowUsecs()), QByteArray(32, 'h'),
            Lookup,  {{u"application_id"_s, Q_INT64_C(3)}}};
}

QString uuid()
{
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

/// A delivery of an event as a lane reports it.
DeliveryReport delivery(const QString &eventId, Outcome outcome, int receive = 1)
{
    DeliveryReport report;
    report.eventId = eventId;
    report.eventType = u"application.status_changed"_s;
    report.applicationId = u"3"_s;
    report.messageId = u"message-of-"_s + eventId;
    report.lane = 2;
    report.receiveCount = receive;
    report.outcome = outcome;
    report.failedStage = Stage::Accepted;
    report.recipient = u"sam@example.com"_s;
    report.mailMessageId = messageIdFor(eventId, u"jobboard.example"_s);
    report.receivedAt = QDateTime::currentDateTimeUtc();
    if (outcome == Outcome::InDoubt) {
        report.reason = u"no complete final reply within 60 s"_s;
        report.mailReply = u"354 go ahead"_s;
    } else if (outcome == Outcome::Sent) {
        report.mailReply = u"250 2.0.0 Ok"_s;
    }
    return report;
}

} // namespace

/// What a person sees of events in doubt and what the acts do, the same on both databases.
class TestDoubts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QVERIFY2(m_postgres.start(), qPrintable(m_postgres.why())); }
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }
    void cleanup()
    {
        m_ledger.reset();
        m_hasty.reset();
        m_database.reset();
        m_journal.reset();
    }

    void whatIsKnownIsListed_data() { databases(); }
    void whatIsKnownIsListed();
    void aClaimWithoutAWordIsListed_data() { databases(); }
    void aClaimWithoutAWordIsListed();
    void anEventIsListedOnce_data() { databases(); }
    void anEventIsListedOnce();
    void whatThePolicyDidIsTold();
    void thoseThatWaitComeFirst();
    void arrivedIsSkippedFromThenOn_data() { databases(); }
    void arrivedIsSkippedFromThenOn();
    void sendAgainFreesTheClaim_data() { databases(); }
    void sendAgainFreesTheClaim();
    void aRunningSendIsLeftAlone_data() { databases(); }
    void aRunningSendIsLeftAlone();
    void sendAgainEndsTheHold();
    void askingSettlesWhatIsThere_data() { databases(); }
    void askingSettlesWhatIsThere();
    void askingNeedsAMaildir();
    void actsAreInAuditAndStory();
    void aReadOnlyProfileDoesNotAct();
    void onlyWhatIsInDoubtIsSettled();
    void aDatabaseThatOnlyDjangoMadeWillDo();
    void aSettlementWaitsForTheLanesTurn();
    void aLongListIsReadAtOnce_data() { databases(); }
    void aLongListIsReadAtOnce();

private:
    void databases()
    {
        QTest::addColumn<bool>("postgres");
        QTest::newRow("SQLite") << false;
        QTest::newRow("PostgreSQL") << true;
    }
    void open(bool postgres, bool migrated = true)
    {
        m_folder = std::make_unique<QTemporaryDir>();
        const QString name = postgres ? m_postgres.createJobBoard() : QString();
        QVERIFY2(!postgres || !name.isEmpty(), qPrintable(m_postgres.why()));
        m_url = postgres ? m_postgres.url(name) : u"sqlite:///"_s + m_folder->filePath(u"t.db"_s);
        auto database = Database::open(m_url);
        QVERIFY2(database.ok(), database.ok() ? "" : qPrintable(database.error().text));
        m_database.emplace(database.take());
        const auto made = !postgres ? createJobBoard(*m_database)
            : migrated              ? m_database->migrate(u"postgres"_s)
                                    : Result<void>();
        QVERIFY2(made.ok(), made.ok() ? "" : qPrintable(made.error().text));
        auto journal = Journal::open(m_folder->path(), m_url);
        QVERIFY2(journal.ok(), journal.ok() ? "" : qPrintable(journal.error().text));
        m_journal.emplace(journal.take());
        m_journal->setWorkerName(u"mailhost pid 4711"_s);
        DeliveryLedger::Settings settings;
        settings.url = DatabaseUrl::parse(m_url).value();
        settings.pool = DeliveryLedger::makePool(settings.url, 2, 5s);
        settings.lockWait = 5s;
        m_ledger = DeliveryLedger::make(settings);
        settings.lease = 0s;
        m_hasty = DeliveryLedger::make(settings);
    }
    Doubts doubts(bool readOnly = false, const QString &maildir = {})
    {
        return Doubts(*m_database, *m_journal, {u"Local"_s, readOnly, maildir, u"jobboard.example"_s, 5s});
    }
    /// A send that ended in doubt, under claim-send-mark.
    void claimInDoubt(const QString &eventId)
    {
        const QString owner = uuid();
        QVERIFY(m_ledger->claim(request(eventId), owner).ok());
        QVERIFY(m_ledger->doubt(eventId, owner).value());
    }
    qint64 count(const QString &table)
    {
        const auto rows = m_database->rows(u"SELECT count(*) FROM "_s + table, {}, u"count"_s);
        return rows.ok() ? rows->first()[0].toLongLong() : -1;
    }
    QString storyOf(const QString &eventId)
    {
        QStringList lines;
        const auto story = m_journal->story(eventId);
        for (const StoryLine &line : story.ok() ? story->lines : QList<StoryLine>())
            lines.append(line.text);
        return lines.join(u'\n');
    }

    Postgres m_postgres;
    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_url;
    std::optional<Database> m_database;
    std::optional<Journal> m_journal;
    std::unique_ptr<DeliveryLedger> m_ledger, m_hasty; ///< the leases of the second have run out at once
};

void TestDoubts::whatIsKnownIsListed()
{
    QFETCH(bool, postgres);
    open(postgres);
    QCOMPARE(doubts().list(10).doubts.size(), 0);
    QVERIFY(m_journal->recordDoubt(delivery(u"e"_s, Outcome::InDoubt)).ok());
    const DoubtList list = doubts().list(10);
    QVERIFY2(list.error.isEmpty(), qPrintable(list.error));
    QCOMPARE(list.doubts.size(), 1);
    QCOMPARE(list.waiting, 1);
    const Doubt &doubt = list.doubts.first();
    QCOMPARE(doubt.eventId, u"e"_s);
    QCOMPARE(doubt.eventType, u"application.status_changed"_s);
    QCOMPARE(doubt.applicationId, u"3"_s);
    QCOMPARE(doubt.messageId, u"message-of-e"_s);
    QCOMPARE(doubt.worker, u"mailhost pid 4711"_s);
    QCOMPARE(doubt.lane, 2);
    QCOMPARE(doubt.mailReply, u"354 go ahead"_s);
    QCOMPARE(doubt.recipient, u"sam@example.com"_s);
    QCOMPARE(doubt.mailMessageId, messageIdFor(u"e"_s, u"jobboard.example"_s));
    QCOMPARE(doubt.reason, u"no complete final reply within 60 s"_s);
    QCOMPARE(doubt.strategy, u"transaction"_s);
    QCOMPARE(doubt.state, Doubt::State::Waiting);
    QCOMPARE(doubt.done, QString());
    QVERIFY(qAbs(doubt.since.secsTo(QDateTime::currentDateTimeUtc())) < 5);
}

void TestDoubts::aClaimWithoutAWordIsListed()
{
    QFETCH(bool, postgres);
    open(postgres);
    QVERIFY(m_hasty->claim(request(u"expired"_s), uuid()).ok());
    QVERIFY(m_ledger->claim(request(u"running"_s), uuid()).ok());
    const DoubtList list = doubts().list(10);
    QVERIFY2(list.error.isEmpty(), qPrintable(list.error));
    QCOMPARE(list.doubts.size(), 1);
    QCOMPARE(list.doubts.first().eventId, u"expired"_s);
    QCOMPARE(list.doubts.first().strategy, u"claim-send-mark"_s);
    QVERIFY(list.doubts.first().reason.contains(u"fell silent"_s));
    QVERIFY(qAbs(list.doubts.first().since.secsTo(QDateTime::currentDateTimeUtc())) < 5);
    QCOMPARE(list.doubts.first().mailMessageId, messageIdFor(u"expired"_s, u"jobboard.example"_s));
    // A redelivery that was held is not what is known of the first one.
    DeliveryReport held = delivery(u"expired"_s, Outcome::InDoubt, 2);
    held.reason = HeldInDoubt;
    QVERIFY(m_journal->record(held).ok());
    const Doubt again = doubts().list(10).doubts.first();
    QVERIFY(again.reason.contains(u"fell silent"_s));
    QCOMPARE(again.done, u"held at 1 redelivery"_s);
}

void TestDoubts::anEventIsListedOnce()
{
    QFETCH(bool, postgres);
    open(postgres);
    claimInDoubt(u"e"_s);
    QVERIFY(m_journal->recordDoubt(delivery(u"e"_s, Outcome::InDoubt)).ok());
    const DoubtList list = doubts().list(10);
    QCOMPARE(list.doubts.size(), 1);
    QCOMPARE(list.doubts.first().strategy, u"claim-send-mark"_s);
    QCOMPARE(list.doubts.first().reason, u"no complete final reply within 60 s"_s);
}

void TestDoubts::whatThePolicyDidIsTold()
{
    open(false);
    DeliveryReport held = delivery(u"held"_s, Outcome::InDoubt, 2);
    held.reason = HeldInDoubt;
    held.mailReply.clear();
    DeliveryReport settled = delivery(u"asked"_s, Outcome::Sent, 2);
    settled.mailReply.clear();
    settled.reason = u"the receiving side has it"_s;
    DeliveryReport failed = delivery(u"failed"_s, Outcome::Failed, 2);
    failed.reason = u"451 4.3.0 busy"_s;
    for (const DeliveryReport &each :
         {delivery(u"held"_s, Outcome::InDoubt), held, delivery(u"again"_s, Outcome::InDoubt),
          delivery(u"again"_s, Outcome::Sent, 2), delivery(u"asked"_s, Outcome::InDoubt), settled,
          delivery(u"failed"_s, Outcome::InDoubt), failed, delivery(u"sent"_s, Outcome::Sent)})
        QVERIFY(m_journal->record(each).ok());
    QHash<QString, Doubt> byId;
    for (const Doubt &doubt : doubts().list(10).doubts)
        byId.insert(doubt.eventId, doubt);
    QCOMPARE(byId.size(), 4); // one was never in doubt
    QCOMPARE(byId.value(u"held"_s).state, Doubt::State::Waiting);
    QCOMPARE(byId.value(u"held"_s).done, u"held at 1 redelivery"_s);
    QCOMPARE(byId.value(u"held"_s).reason, u"no complete final reply within 60 s"_s);
    QCOMPARE(byId.value(u"again"_s).state, Doubt::State::Over);
    QVERIFY2(byId.value(u"again"_s).done.startsWith(u"sent again "_s), qPrintable(byId.value(u"again"_s).done));
    QCOMPARE(byId.value(u"asked"_s).state, Doubt::State::Over);
    QVERIFY(byId.value(u"asked"_s).done.endsWith(u": the receiving side has it"_s));
    QCOMPARE(byId.value(u"failed"_s).state, Doubt::State::Waiting); // the first mail may have arrived all the same
    QVERIFY(byId.value(u"failed"_s).done.endsWith(u"not sent: 451 4.3.0 busy"_s));
}

void TestDoubts::thoseThatWaitComeFirst()
{
    open(false);
    for (const DeliveryReport &each : {delivery(u"old"_s, Outcome::InDoubt), delivery(u"new"_s, Outcome::InDoubt),
                                       delivery(u"over"_s, Outcome::InDoubt), delivery(u"over"_s, Outcome::Sent, 2)})
        QVERIFY(m_journal->record(each).ok());
    const DoubtList list = doubts().list(2);
    QVERIFY(list.more);
    const DoubtList all = doubts().list(10);
    QVERIFY(!all.more);
    QCOMPARE(all.waiting, 2);
    QStringList ids;
    for (const Doubt &doubt : all.doubts)
        ids.append(doubt.eventId);
    QCOMPARE(ids, (QStringList{u"new"_s, u"old"_s, u"over"_s}));
}

void TestDoubts::arrivedIsSkippedFromThenOn()
{
    QFETCH(bool, postgres);
    open(postgres);
    claimInDoubt(u"claimed"_s);
    QVERIFY(m_journal->recordDoubt(delivery(u"journalled"_s, Outcome::InDoubt)).ok());
    const QStringList ids{u"claimed"_s, u"journalled"_s};
    const auto outcomes = doubts().settle(ids, DoubtAct::Arrived);
    QCOMPARE(outcomes.size(), 2);
    for (int i = 0; i < 2; ++i) {
        QVERIFY2(outcomes[i].state == State::Settled, qPrintable(outcomes[i].text));
        QCOMPARE(outcomes[i].eventId, ids[i]);
        QCOMPARE(m_ledger->claim(request(ids[i]), uuid())->standing, Standing::Duplicate);
    }
    QCOMPARE(count(u"sendonce_delivery"_s), 0);
    QCOMPARE(count(u"jobs_processedevent"_s), 2);
    const auto type =
        m_database->rows(u"SELECT event_type FROM jobs_processedevent WHERE event_id = 'journalled'"_s, {}, u"type"_s);
    QCOMPARE(type->first()[0].toString(), u"application.status_changed"_s);
    const auto page = ProcessedEvents(*m_database).page({});
    QVERIFY(qAbs(page->rows.first().processedAt.secsTo(QDateTime::currentDateTimeUtc())) < 5);

    const DoubtList list = doubts().list(10);
    QCOMPARE(list.waiting, 0);
    for (const Doubt &doubt : list.doubts)
        QVERIFY2(doubt.state == Doubt::State::Over && doubt.done.contains(u"it arrived"_s), qPrintable(doubt.done));
    for (const DoubtOutcome &again : doubts().settle(ids, DoubtAct::Arrived)) {
        QCOMPARE(again.state, State::Settled);
        QVERIFY(again.text.contains(u"nothing to do"_s));
    }
    for (const DoubtOutcome &late : doubts().settle(ids, DoubtAct::SendAgain))
        QCOMPARE(late.state, State::Refused);
    QCOMPARE(count(u"jobs_processedevent"_s), 2);
}

void TestDoubts::sendAgainFreesTheClaim()
{
    QFETCH(bool, postgres);
    open(postgres);
    claimInDoubt(u"e"_s);
    QVERIFY(m_hasty->claim(request(u"expired"_s), uuid()).ok());
    QVERIFY(m_journal->recordDoubt(delivery(u"e"_s, Outcome::InDoubt)).ok());
    for (const DoubtOutcome &outcome : doubts().settle({u"e"_s, u"expired"_s}, DoubtAct::SendAgain))
        QVERIFY2(outcome.state == State::Released, qPrintable(outcome.text));
    QCOMPARE(count(u"sendonce_delivery"_s), 0);
    QCOMPARE(count(u"jobs_processedevent"_s), 0);
    const DoubtList list = doubts().list(10);
    QCOMPARE(list.doubts.size(), 1);
    QCOMPARE(list.doubts.first().state, Doubt::State::SendAgain);
    QVERIFY(list.doubts.first().done.contains(u"send again"_s));
    const auto again = doubts().settle({u"e"_s}, DoubtAct::SendAgain);
    QCOMPARE(again.first().state, State::Released);
    QVERIFY(again.first().text.contains(u"nothing to do"_s));
    QCOMPARE(m_ledger->claim(request(u"e"_s), uuid())->standing, Standing::Ours);
}

void TestDoubts::aRunningSendIsLeftAlone()
{
    QFETCH(bool, postgres);
    open(postgres);
    const QString owner = uuid();
    QVERIFY(m_ledger->claim(request(u"e"_s), owner).ok());
    QVERIFY(m_journal->recordDoubt(delivery(u"e"_s, Outcome::InDoubt)).ok()); // before this send
    for (const DoubtAct act : {DoubtAct::SendAgain, DoubtAct::Arrived}) {
        const auto outcomes = doubts().settle({u"e"_s}, act);
        QCOMPARE(outcomes.first().state, State::Refused);
        QVERIFY2(outcomes.first().text.contains(u"being sent"_s), qPrintable(outcomes.first().text));
    }
    QCOMPARE(count(u"jobs_processedevent"_s), 0);
    QVERIFY(m_ledger->mark(request(u"e"_s), owner)->isClean());
    // And when it begins between the look and the act.
    QVERIFY(m_ledger->claim(request(u"f"_s), uuid()).ok());
    DoubtClaims claims(*m_database);
    const auto settled = claims.settle(u"f"_s, u"t"_s, djangoTime(nowUsecs()), 5s);
    QVERIFY2(settled.ok(), settled.ok() ? "" : qPrintable(settled.error().text));
    QVERIFY(settled->isSending && !settled->recorded);
    QCOMPARE(claims.release(u"f"_s, 5s).value(), false);
    QCOMPARE(count(u"jobs_processedevent"_s), 1);
    QCOMPARE(count(u"sendonce_delivery"_s), 1);
}

void TestDoubts::sendAgainEndsTheHold()
{
    open(false);
    DoubtLog log(m_journal->database());
    QCOMPARE(log.isOpen(u"e"_s).value(), false);
    QVERIFY(m_journal->recordDoubt(delivery(u"e"_s, Outcome::InDoubt)).ok());
    QCOMPARE(log.isOpen(u"e"_s).value(), true);
    DeliveryReport failed = delivery(u"e"_s, Outcome::Failed, 2);
    QVERIFY(m_journal->record(failed).ok());
    QCOMPARE(log.isOpen(u"e"_s).value(), true); // not sent says nothing about the first mail
    QCOMPARE(doubts().settle({u"e"_s}, DoubtAct::SendAgain).first().state, State::Released);
    QCOMPARE(log.isOpen(u"e"_s).value(), false);
    failed.receiveCount = 3;
    QVERIFY(m_journal->record(failed).ok());
    QCOMPARE(log.isOpen(u"e"_s).value(), false); // the word still stands
    QVERIFY(m_journal->recordDoubt(delivery(u"e"_s, Outcome::InDoubt, 4)).ok());
    QCOMPARE(log.isOpen(u"e"_s).value(), true); // a new doubt
    QCOMPARE(doubts().list(10).doubts.first().state, Doubt::State::Waiting);
    QVERIFY(m_journal->record(delivery(u"e"_s, Outcome::Sent, 5)).ok());
    QCOMPARE(log.isOpen(u"e"_s).value(), false);
}

void TestDoubts::askingSettlesWhatIsThere()
{
    QFETCH(bool, postgres);
    open(postgres);
    const QString maildir = m_folder->filePath(u"mailbox"_s);
    for (const QString &part : {u"/new"_s, u"/cur"_s, u"/tmp"_s})
        QVERIFY(QDir().mkpath(maildir + part));
    const auto keep = [&maildir](const QString &part, const QString &eventId) {
        QFile file(maildir + part + eventId);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("From: a@b.example\r\nMessage-Id:\r\n <" + messageIdFor(eventId, u"jobboard.example"_s).toLatin1()
                   + ">\r\n\r\nMessage-ID: <in-the-body@jobboard.example>\r\n");
    };
    keep(u"/new/"_s, u"there"_s);
    keep(u"/cur/"_s, u"read"_s);
    keep(u"/tmp/"_s, u"missing"_s); // not delivered yet
    claimInDoubt(u"there"_s); // the journal does not know it: its Message-ID follows from the event
    claimInDoubt(u"missing"_s);
    QVERIFY(m_journal->recordDoubt(delivery(u"read"_s, Outcome::InDoubt)).ok());
    const auto outcomes = doubts(false, maildir).settle({u"there"_s, u"missing"_s, u"read"_s}, DoubtAct::Ask);
    QCOMPARE(outcomes.size(), 3);
    QVERIFY2(outcomes[0].state == State::Settled, qPrintable(outcomes[0].text));
    QVERIFY2(outcomes[1].state == State::NotThere, qPrintable(outcomes[1].text));
    QVERIFY2(outcomes[2].state == State::Settled, qPrintable(outcomes[2].text));
    QVERIFY(outcomes[0].text.contains(maildir));
    QCOMPARE(count(u"jobs_processedevent"_s), 2);
    QCOMPARE(count(u"sendonce_delivery"_s), 1);
    QVERIFY2(storyOf(u"missing"_s).contains(u"asked the receiving side: not there"_s),
             qPrintable(storyOf(u"missing"_s)));
}

void TestDoubts::askingNeedsAMaildir()
{
    open(false);
    claimInDoubt(u"e"_s);
    const auto none = doubts().settle({u"e"_s}, DoubtAct::Ask);
    QCOMPARE(none.first().state, State::Refused);
    QVERIFY(none.first().text.contains(u"--ask-maildir"_s));
    const auto wrong = doubts(false, m_folder->filePath(u"nowhere"_s)).settle({u"e"_s}, DoubtAct::Ask);
    QCOMPARE(wrong.first().state, State::Failed);
    QVERIFY(wrong.first().text.contains(u"no Maildir"_s));
    QCOMPARE(count(u"sendonce_delivery"_s), 1);
}

void TestDoubts::actsAreInAuditAndStory()
{
    open(false);
    claimInDoubt(u"e"_s);
    QVERIFY(m_journal->recordDoubt(delivery(u"e"_s, Outcome::InDoubt)).ok());
    QVERIFY(m_journal->recordDoubt(delivery(u"f"_s, Outcome::InDoubt)).ok());
    doubts().settle({u"e"_s}, DoubtAct::Arrived);
    doubts().settle({u"f"_s}, DoubtAct::SendAgain);
    Audit audit(m_journal->database(), {});
    const auto page = audit.page(0, 10);
    QVERIFY(page.ok());
    QCOMPARE(page->entries.size(), 4); // before and after each
    for (const AuditEntry &entry : page->entries) {
        QCOMPARE(entry.act, u"settle doubt"_s);
        QCOMPARE(entry.profile, u"Local"_s);
        QCOMPARE(entry.who, audit.who());
    }
    QCOMPARE(page->entries[0].outcome, u"done"_s);
    QCOMPARE(page->entries[0].ids, QStringList{u"f"_s});
    QCOMPARE(page->entries[3].ids, QStringList{u"e"_s});
    const QString person = u"%1 on %2 decided: "_s.arg(audit.who(), audit.host());
    QVERIFY2(storyOf(u"e"_s).contains(person + u"it arrived"_s), qPrintable(storyOf(u"e"_s)));
    QVERIFY2(storyOf(u"f"_s).contains(person + u"send again"_s), qPrintable(storyOf(u"f"_s)));
}

void TestDoubts::aReadOnlyProfileDoesNotAct()
{
    open(false);
    claimInDoubt(u"e"_s);
    for (const DoubtAct act : {DoubtAct::SendAgain, DoubtAct::Arrived, DoubtAct::Ask})
        QCOMPARE(doubts(true, m_folder->path()).settle({u"e"_s}, act).first().state, State::Refused);
    QCOMPARE(doubts(true).list(10).waiting, 1);
    QCOMPARE(count(u"sendonce_delivery"_s), 1);
    QCOMPARE(count(u"jobs_processedevent"_s), 0);
}

void TestDoubts::onlyWhatIsInDoubtIsSettled()
{
    open(false);
    QVERIFY(m_journal->record(delivery(u"failed"_s, Outcome::Failed)).ok());
    for (const DoubtAct act : {DoubtAct::SendAgain, DoubtAct::Arrived}) {
        for (const DoubtOutcome &outcome : doubts().settle({u"failed"_s, u"unknown"_s, u"unknown"_s}, act)) {
            QCOMPARE(outcome.state, State::Refused);
            QCOMPARE(outcome.text, u"it is not in doubt"_s);
        }
    }
    QCOMPARE(doubts().settle({u"unknown"_s, u"unknown"_s}, DoubtAct::Arrived).size(), 1);
    QCOMPARE(count(u"jobs_processedevent"_s), 0);
}

void TestDoubts::aDatabaseThatOnlyDjangoMadeWillDo()
{
    open(true, false);
    QVERIFY(m_journal->recordDoubt(delivery(u"e"_s, Outcome::InDoubt)).ok());
    QCOMPARE(doubts().list(10).waiting, 1);
    QCOMPARE(doubts().settle({u"e"_s}, DoubtAct::Arrived).first().state, State::Settled);
    QCOMPARE(count(u"jobs_processedevent"_s), 1);
}

void TestDoubts::aSettlementWaitsForTheLanesTurn()
{
    open(false);
    claimInDoubt(u"e"_s);
    const std::atomic_bool never = false;
    auto turn = Turn::take(m_database->filePath(), 1s, never);
    QVERIFY(turn.ok());
    Doubts impatient(*m_database, *m_journal, {u"Local"_s, false, {}, {}, 100ms});
    for (const DoubtAct act : {DoubtAct::Arrived, DoubtAct::SendAgain}) {
        const auto outcomes = impatient.settle({u"e"_s}, act);
        QCOMPARE(outcomes.first().state, State::Failed);
        QVERIFY2(storyOf(u"e"_s).contains(u"that was not done"_s), qPrintable(storyOf(u"e"_s)));
    }
    QCOMPARE(count(u"sendonce_delivery"_s), 1);
    QCOMPARE(impatient.list(10).waiting, 1);
}

void TestDoubts::aLongListIsReadAtOnce()
{
    QFETCH(bool, postgres);
    open(postgres);
    QList<DeliveryReport> reports;
    for (int i = 0; i < 1200; ++i)
        reports.append(delivery(u"e%1"_s.arg(i), Outcome::InDoubt));
    QVERIFY(m_journal->record(reports).ok());
    const DoubtList list = doubts().list(1100);
    QVERIFY2(list.error.isEmpty(), qPrintable(list.error));
    QCOMPARE(list.doubts.size(), 1100);
    QVERIFY(list.more);
    QCOMPARE(list.doubts.first().eventId, u"e1199"_s);
}

QTEST_GUILESS_MAIN(TestDoubts)
#include "tst_doubts.moc"
