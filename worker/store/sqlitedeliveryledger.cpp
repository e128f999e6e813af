#include "worker/store/sqlitedeliveryledger.h"

#include "worker/store/jobboard.h"
#include "worker/store/processedevents.h"
#include "worker/store/turn.h"

#include <QThread>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

/// The database's clock.
const QString Now = u"CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"_s;

} // namespace

SqliteDeliveryLedger::SqliteDeliveryLedger(Settings settings) : m_settings(std::move(settings)) { }

Result<void> SqliteDeliveryLedger::inTransaction(const std::function<Result<void>()> &work, bool stoppable)
{
    if (!m_database) {
        auto database = Database::openFile(m_settings.url.path, 30s);
        if (!database)
            return database.error();
        m_database.emplace(database.take());
    }
    const std::atomic_bool &stop = stoppable && m_settings.stop ? *m_settings.stop : m_never;
    const auto deadline = std::chrono::steady_clock::now() + m_settings.lockWait;
    const auto turn = Turn::take(m_settings.url.path, m_settings.lockWait, stop);
    if (!turn)
        return turn.error();
    for (;;) {
        auto transaction = Transaction::begin(*m_database);
        if (transaction) {
            const auto done = work();
            return done ? transaction->commit() : done;
        }
        // A stranger holds the writer lock. Busy is no outcome (spec.md).
        if (transaction.error().kind != ErrorKind::Busy || stop || std::chrono::steady_clock::now() > deadline)
            return transaction.error();
        QThread::msleep(20);
    }
}

Result<QList<QVariantList>> SqliteDeliveryLedger::rows(const QString &sql, const QVariantList &values)
{
    return m_database->rows(sql, values, u"the claims of %1 cannot be used"_s.arg(m_database->displayName()));
}

Result<void> SqliteDeliveryLedger::change(const QString &sql, const QVariantList &values, bool *changed)
{
    const auto rows = this->rows(sql + u" RETURNING event_id"_s, values);
    if (!rows)
        return rows.error();
    if (changed)
        *changed = !rows->isEmpty();
    return {};
}

Result<DeliveryLedger::Claim> SqliteDeliveryLedger::claim(const ClaimRequest &request, const QString &owner)
{
    return claimed(request, owner, false);
}

Result<DeliveryLedger::Claim> SqliteDeliveryLedger::takeOver(const ClaimRequest &request, const QString &owner)
{
    return claimed(request, owner, true);
}

Result<DeliveryLedger::Claim> SqliteDeliveryLedger::claimed(const ClaimRequest &request, const QString &owner,
                                                            bool takingOver)
{
    if (!isStorableEventId(request.eventId))
        return Error{
            ErrorKind::Invalid, u"this event_id cannot be claimed: a database could take it for another one"_s, {}};
    Claim claim;
    const auto done = inTransaction(
        [&]() -> Result<void> {
            auto decided = decide(request, owner, takingOver);
            if (!decided)
                return decided.error();
            claim = decided.take();
            return {};
        },
        true);
    if (!done)
        return done.error();
    return claim;
}

Result<DeliveryLedger::Claim> SqliteDeliveryLedger::decide(const ClaimRequest &request, const QString &owner,
                                                           bool takingOver)
{
    Claim claim;
    const auto handled = rows(u"SELECT hex(body.body_sha256) FROM jobs_processedevent AS event "
                              "LEFT JOIN sendonce_claimbody AS body ON body.claim_id = event.id "
                              "AND body.event_id = event.event_id WHERE event.event_id = ?"_s,
                              {request.eventId});
    if (!handled)
        return handled.error();
    if (!handled->isEmpty()) {
        const QByteArray body = handled->first()[0].toByteArray().toLower();
        claim.standing = Standing::Duplicate;
        claim.otherBody = !body.isEmpty() && !request.bodySha256.isEmpty() && body != request.bodySha256.toHex();
        return claim;
    }
    const auto found =
        rows(u"SELECT state, lease_until - %1, owner FROM sendonce_delivery WHERE event_id = ?"_s.arg(Now),
             {request.eventId});
    if (!found)
        return found.error();
    if (!found->isEmpty() && found->first()[2].toString() != owner) {
        const qint64 left = found->first()[1].toLongLong();
        if (found->first()[0].toString() == "sending"_L1 && left > 0) {
            claim.standing = Standing::Sending;
            claim.leaseLeft = std::chrono::milliseconds(left);
            return claim;
        }
        if (!takingOver) {
            claim.standing = Standing::InDoubt;
            const auto told =
                change(u"UPDATE sendonce_delivery SET state = 'in_doubt' WHERE event_id = ?"_s, {request.eventId});
            if (!told)
                return told.error();
            return claim;
        }
    } else if (takingOver && found->isEmpty()) {
        return Error{ErrorKind::Busy, u"event %1 was in somebody else's hands"_s.arg(request.eventId), {}};
    }
    auto row = lookUp(*m_database, request.lookupSql, request.fields);
    if (!row)
        return row.error();
    claim.row = row.take();
    const auto written =
        change(u"INSERT INTO sendonce_delivery (event_id, owner, state, lease_until) "
               "VALUES (?, ?, 'sending', %1 + ?) ON CONFLICT (event_id) DO UPDATE SET "
               "owner = excluded.owner, state = 'sending', lease_until = excluded.lease_until"_s.arg(Now),
               {request.eventId, owner, qint64(m_settings.lease.count())});
    if (!written)
        return written.error();
    return claim;
}

Result<DeliveryLedger::Mark> SqliteDeliveryLedger::mark(const ClaimRequest &request, const QString &owner)
{
    Mark mark;
    const auto done = inTransaction(
        [&]() -> Result<void> {
            ProcessedEvents events(*m_database);
            const auto claim =
                events.claim(request.eventId, request.eventType, request.processedAt, request.bodySha256);
            if (!claim)
                return claim.error();
            bool ended = false;
            const auto deleted = change(u"DELETE FROM sendonce_delivery WHERE event_id = ? AND owner = ?"_s,
                                        {request.eventId, owner}, &ended);
            const bool isRepeated = !claim->inserted && claim->standingText == request.processedAt;
            mark = {claim->inserted || isRepeated, ended || isRepeated};
            return deleted;
        },
        false);
    if (!done)
        return done.error();
    return mark;
}

Result<bool> SqliteDeliveryLedger::release(const QString &eventId, const QString &owner)
{
    bool changed = false;
    const auto done = inTransaction(
        [&] {
            return change(u"DELETE FROM sendonce_delivery WHERE event_id = ? AND owner = ?"_s, {eventId, owner},
                          &changed);
        },
        false);
    if (!done)
        return done.error();
    return changed;
}

Result<bool> SqliteDeliveryLedger::doubt(const QString &eventId, const QString &owner)
{
    bool changed = false;
    const auto done = inTransaction(
        [&] {
            return change(u"UPDATE sendonce_delivery SET state = 'in_doubt', lease_until = %1 "
                          "WHERE event_id = ? AND owner = ?"_s.arg(Now),
                          {eventId, owner}, &changed);
        },
        false);
    if (!done)
        return done.error();
    return changed;
}

} // namespace sendonce
