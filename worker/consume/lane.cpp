#include "worker/consume/lane.h"

#include "worker/store/jobboard.h"

#include <QThread>

namespace sendonce {

using namespace Qt::StringLiterals;
using Kind = DeliveryCommand::Kind;

Lane::Lane(LaneSettings settings, int number)
    : m_settings(std::move(settings))
    , m_number(number)
    , m_crash(m_settings.config.crashAt)
{ }

Lane::~Lane()
{
    close();
}

qint64 Lane::nowNsec()
{
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void Lane::close()
{
    m_transaction.reset();
    m_turn.reset();
    m_claims.reset();
    m_database.reset();
    m_journal.reset();
    m_handover.reset();
    if (m_smtp)
        m_smtp->close();
    m_smtp.reset();
}

Result<void> Lane::openConnections()
{
    if (!m_handover) {
        auto slot = Handover::open(m_settings.config.dataDir);
        if (!slot)
            return slot.error();
        m_handover.emplace(slot.take());
    }
    const auto journal = openJournal();
    if (!journal)
        return journal.error();
    if (!m_database) {
        auto database = Database::open(m_settings.config.databaseUrl);
        if (!database)
            return database.error();
        m_database.emplace(database.take());
        m_claims = std::make_unique<ProcessedEvents>(*m_database);
    }
    if (!m_smtp)
        m_smtp.emplace(m_settings.smtp);
    return {};
}

Result<void> Lane::openJournal()
{
    if (m_journal)
        return {};
    auto journal = Journal::open(m_settings.config.dataDir);
    if (!journal)
        return journal.error();
    m_journal.emplace(journal.take());
    return {};
}

void Lane::deliver(const Message &message, qint64 receivedNsec)
{
    Q_ASSERT(thread() == QThread::currentThread());
    m_receivedNsec = receivedNsec;
    m_receivedAt = QDateTime::currentDateTimeUtc().addMSecs(-elapsedUsec() / 1000);

    DeliveryMachine delivery({m_settings.eventTypes.get(), m_settings.from, m_settings.config.messageIdDomain,
                              m_settings.config.mailIdempotencyHeader},
                             message, djangoTime(nowUsecs()));
    DeliveryReport before;
    DeliveryCommand command = delivery.start(elapsedUsec());
    passedStages(before, delivery.report());
    while (command.kind != Kind::Finish) {
        before = delivery.report();
        const DeliveryInput result = execute(command, delivery);
        command = delivery.step(result, elapsedUsec());
        passedStages(before, delivery.report());
    }
    m_transaction.reset();
    m_turn.reset();
    if (m_handover)
        m_handover->clear();

    DeliveryReport report = delivery.report();
    report.lane = m_number;
    report.receivedAt = m_receivedAt;
    const auto opened = openJournal(); // a body that is no event came this far without it
    const auto recorded = opened ? m_journal->record(report) : opened;
    if (!recorded)
        Q_EMIT warned(u"The journal could not be written: "_s + recorded.error().text);
    if (report.outcome == Outcome::Failed && report.failedStage == Stage::Claimed) {
        // The connection itself may be what failed: the next delivery opens it anew.
        m_claims.reset();
        m_database.reset();
    }
    Q_EMIT finished(m_number, report);
}

void Lane::passedStages(const DeliveryReport &before, const DeliveryReport &after) const
{
    for (const Stage stage : {Stage::Received, Stage::Claimed, Stage::LookedUp, Stage::Accepted, Stage::Committed}) {
        if (before.stageUsec[size_t(stage)] < 0 && after.stageUsec[size_t(stage)] >= 0)
            m_crash.reached(stage);
    }
}

DeliveryInput Lane::execute(const DeliveryCommand &command, DeliveryMachine &delivery)
{
    switch (command.kind) {
    case Kind::Begin:
        return begin();
    case Kind::Claim:
        return m_claims->claim(delivery.event().eventId, delivery.event().type, delivery.processedAt(),
                               delivery.event().bodySha256);
    case Kind::LookUp:
        return lookUp(*m_database, delivery.type()->lookupSql, delivery.event().fields);
    case Kind::Send:
        return sendMail(delivery);
    case Kind::RecordDoubt: {
        DeliveryReport doubt = delivery.report();
        doubt.lane = m_number;
        doubt.receivedAt = m_receivedAt; // with it the final report replaces this one in the journal
        return m_journal->recordDoubt(doubt);
    }
    case Kind::Commit: {
        auto committed = m_transaction->commit();
        m_transaction.reset();
        if (committed)
            m_handover->clear();
        return committed;
    }
    case Kind::RollBack:
        if (m_transaction)
            m_transaction->rollback();
        m_transaction.reset();
        return Result<void>();
    case Kind::Reclaim:
        return reclaim(delivery);
    case Kind::Finish:
        break;
    }
    return Result<void>();
}

Result<void> Lane::begin()
{
    const auto opened = openConnections();
    if (!opened)
        return opened.error();
    const auto deadline = std::chrono::steady_clock::now() + m_settings.lockWait;
    auto turn = Turn::take(m_database->filePath(), m_settings.lockWait, *m_settings.stop);
    if (!turn)
        return turn.error();
    m_turn.emplace(turn.take());
    for (;;) {
        auto transaction = Transaction::begin(*m_database);
        if (transaction) {
            m_transaction.emplace(transaction.take());
            return {};
        }
        // A stranger holds the writer lock (somebody looks at the file with another program). Busy is no outcome: the
        // lane tries again while it holds the message (spec.md).
        if (transaction.error().kind != ErrorKind::Busy || *m_settings.stop
            || std::chrono::steady_clock::now() > deadline)
            return transaction.error();
        QThread::msleep(20);
    }
}

SendResult Lane::sendMail(DeliveryMachine &delivery)
{
    const auto beforeDot = [this, &delivery] {
        const auto filled = m_handover->fill(delivery.event().eventId, delivery.message().messageId,
                                             delivery.processedAt(), delivery.mail().bytes);
        if (!filled)
            Q_EMIT warned(filled.error().text);
        return filled.ok();
    };
    const auto afterDot = [this, &delivery] {
        delivery.handedOver(elapsedUsec());
        m_crash.reached(Stage::HandedOver);
    };
    SendResult result = m_smtp->send(delivery.mail(), {beforeDot, afterDot}, *m_settings.stop);
    if (result.status == SendResult::Status::NotSent)
        m_handover->clear();
    return result;
}

Result<ProcessedEvents::Claim> Lane::reclaim(const DeliveryMachine &delivery)
{
    // On a new connection: the old one may be what failed (spec.md, rule 5). The turn is still ours.
    m_claims.reset();
    m_database.reset();
    const auto opened = openConnections();
    if (!opened)
        return opened.error();
    auto transaction = Transaction::begin(*m_database);
    if (!transaction)
        return transaction.error();
    auto claim = m_claims->claim(delivery.event().eventId, delivery.event().type, delivery.processedAt(),
                                 delivery.event().bodySha256);
    if (!claim)
        return claim.error();
    const auto committed = transaction->commit();
    if (!committed)
        return committed.error();
    return claim;
}

} // namespace sendonce
