#include "worker/store/doubtclaims.h"

#include "worker/store/turn.h"

#include <atomic>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qsizetype IdsPerQuery = 500;

const QString Reading = u"the events in doubt cannot be read"_s;

} // namespace

DoubtClaims::DoubtClaims(Database &database) : m_database(database) { }

Result<bool> DoubtClaims::exists()
{
    if (m_exists)
        return true;
    const auto found = m_database.rows(
        m_database.isPostgres() ? u"SELECT 1 WHERE to_regclass('sendonce_delivery') IS NOT NULL"_s
                                : u"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'sendonce_delivery'"_s,
        {}, Reading);
    if (!found)
        return found.error();
    m_exists = !found->isEmpty();
    return m_exists;
}

/// Milliseconds since 1970, as are the leases on SQLite.
QString DoubtClaims::leaseEnd() const
{
    return m_database.isPostgres() ? u"(extract(epoch FROM lease_until) * 1000)::bigint"_s : u"lease_until"_s;
}

/// The database's clock, by which leases run.
QString DoubtClaims::now() const
{
    return m_database.isPostgres() ? u"now()"_s : u"CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"_s;
}

QString DoubtClaims::inDoubtCondition() const
{
    return u"(state = 'in_doubt' OR lease_until <= %1)"_s.arg(now());
}

Result<QList<DoubtClaims::Claim>> DoubtClaims::claims(const QString &condition, const QVariantList &values)
{
    const auto read = m_database.rows(
        u"SELECT event_id, state, CASE WHEN lease_until <= %1 THEN 1 ELSE 0 END, %2 FROM sendonce_delivery WHERE %3"_s
            .arg(now(), leaseEnd(), condition),
        values, Reading);
    if (!read)
        return read.error();
    QList<Claim> claims;
    for (const QVariantList &line : read.value()) {
        Claim claim;
        claim.eventId = line[0].toString();
        const bool sending = line[1].toString() == "sending"_L1;
        const bool ended = line[2].toInt() != 0;
        claim.isSending = sending && !ended;
        claim.isExpired = sending && ended;
        claim.leaseUntil = QDateTime::fromMSecsSinceEpoch(line[3].toLongLong(), Qt::UTC);
        claims.append(claim);
    }
    return claims;
}

Result<QList<DoubtClaims::Claim>> DoubtClaims::inDoubt(int limit)
{
    const auto any = exists();
    if (!any)
        return any.error();
    if (!any.value())
        return QList<Claim>();
    return claims(inDoubtCondition() + u" ORDER BY lease_until DESC LIMIT ?"_s, {limit});
}

Result<QHash<QString, DoubtClaims::Claim>> DoubtClaims::of(const QStringList &eventIds)
{
    const auto any = exists();
    if (!any)
        return any.error();
    QHash<QString, Claim> found;
    for (qsizetype from = 0; any.value() && from < eventIds.size(); from += IdsPerQuery) {
        const QStringList part = eventIds.mid(from, IdsPerQuery);
        const auto read = claims(u"event_id IN (%1)"_s.arg(QStringList(part.size(), u"?"_s).join(u',')),
                                 QVariantList(part.cbegin(), part.cend()));
        if (!read)
            return read.error();
        for (const Claim &claim : read.value())
            found.insert(claim.eventId, claim);
    }
    return found;
}

Result<QString> DoubtClaims::strategy()
{
    const auto any = exists(); // both tables came together
    if (!any)
        return any.error();
    const QString otherwise = u"transaction"_s;
    if (!any.value())
        return otherwise;
    const auto written = m_database.rows(u"SELECT value FROM sendonce_meta WHERE name = 'strategy'"_s, {}, Reading);
    if (!written)
        return written.error();
    return written->isEmpty() ? otherwise : written->first()[0].toString();
}

Result<DoubtClaims::Settled> DoubtClaims::settle(const QString &eventId, const QString &eventType,
                                                 const QString &processedAt, std::chrono::milliseconds patience)
{
    const auto any = exists();
    if (!any)
        return any.error();
    return m_database.isPostgres() ? settleOnServer(eventId, eventType, processedAt, any.value())
                                   : settleInFile(eventId, eventType, processedAt, any.value(), patience);
}

/// One statement, so one transaction. A take-over that slips in between the look and the row finds our row when it
/// marks, and says itself that the mail went out twice.
Result<DoubtClaims::Settled> DoubtClaims::settleOnServer(const QString &eventId, const QString &eventType,
                                                         const QString &processedAt, bool hasClaims)
{
    const QString doing = u"event %1 could not be marked as handled"_s.arg(eventId);
    QString sql = u"WITH sending AS (SELECT 1 WHERE false), "_s;
    QVariantList values;
    if (hasClaims) {
        sql = u"WITH sending AS (SELECT 1 FROM sendonce_delivery WHERE event_id = ? AND NOT %1), "
              "ended AS (DELETE FROM sendonce_delivery WHERE event_id = ? AND %1), "_s.arg(inDoubtCondition());
        values << eventId << eventId;
    }
    const auto done =
        m_database.rows(sql
                            + u"marked AS (INSERT INTO jobs_processedevent (event_id, event_type, processed_at) "
                              "SELECT ?::text, ?::text, ?::timestamptz WHERE NOT EXISTS (SELECT 1 FROM sending) "
                              "ON CONFLICT (event_id) DO NOTHING RETURNING 1) "
                              "SELECT (SELECT count(*) FROM sending), (SELECT count(*) FROM marked)"_s,
                        values + QVariantList{eventId, eventType, QString(processedAt + u"+00"_s)}, doing);
    if (!done)
        return done.error();
    return Settled{done->first()[0].toInt() > 0, done->first()[1].toInt() > 0};
}

Result<DoubtClaims::Settled> DoubtClaims::settleInFile(const QString &eventId, const QString &eventType,
                                                       const QString &processedAt, bool hasClaims,
                                                       std::chrono::milliseconds patience)
{
    const QString doing = u"event %1 could not be marked as handled"_s.arg(eventId);
    const std::atomic_bool never = false;
    // A lane may hold the file for as long as a mail takes; in the queue for it we are sure to come up.
    const auto turn = Turn::take(m_database.filePath(), patience, never);
    if (!turn)
        return turn.error();
    auto transaction = Transaction::begin(m_database);
    if (!transaction)
        return transaction.error();
    Settled settled;
    if (hasClaims) {
        const auto sending =
            m_database.rows(u"SELECT 1 FROM sendonce_delivery WHERE event_id = ? AND NOT %1"_s.arg(inDoubtCondition()),
                            {eventId}, doing);
        if (!sending)
            return sending.error();
        settled.isSending = !sending->isEmpty();
        if (settled.isSending)
            return settled;
    }
    const auto marked =
        m_database.rows(u"INSERT INTO jobs_processedevent (event_id, event_type, processed_at) VALUES (?, ?, ?) "
                        "ON CONFLICT (event_id) DO NOTHING RETURNING id"_s,
                        {eventId, eventType.isNull() ? u""_s : eventType, processedAt}, doing);
    if (!marked)
        return marked.error();
    settled.recorded = !marked->isEmpty();
    if (hasClaims) {
        const auto ended = m_database.rows(u"DELETE FROM sendonce_delivery WHERE event_id = ?"_s, {eventId}, doing);
        if (!ended)
            return ended.error();
    }
    if (const auto committed = transaction->commit(); !committed)
        return committed.error();
    return settled;
}

Result<bool> DoubtClaims::release(const QString &eventId, std::chrono::milliseconds patience)
{
    const auto any = exists();
    if (!any)
        return any.error();
    if (!any.value())
        return false;
    const std::atomic_bool never = false;
    auto turn =
        m_database.isPostgres() ? std::nullopt : std::optional(Turn::take(m_database.filePath(), patience, never));
    if (turn && !*turn)
        return turn->error();
    const auto ended = m_database.rows(
        u"DELETE FROM sendonce_delivery WHERE event_id = ? AND %1 RETURNING event_id"_s.arg(inDoubtCondition()),
        {eventId}, u"the claim of event %1 could not be given up"_s.arg(eventId));
    if (!ended)
        return ended.error();
    return !ended->isEmpty();
}

} // namespace sendonce
