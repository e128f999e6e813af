#include "worker/store/forgetting.h"

#include "worker/store/processedevents.h"
#include "worker/store/turn.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QSet>

#include <atomic>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto TurnPatience = 1s; ///< a turn that does not come in time is asked for again

const QString Doing = u"old claims cannot be taken away"_s;
const QString Name = u"forgotten_before"_s;

QByteArray asJson(const QStringList &texts)
{
    return QJsonDocument(QJsonArray::fromStringList(texts)).toJson(QJsonDocument::Compact);
}

QString djangoText(const QDateTime &time)
{
    return djangoTime(time.toMSecsSinceEpoch() * 1000);
}

} // namespace

Forgetting::Forgetting(Database &database) : m_database(database) { }

Result<bool> Forgetting::isPossible()
{
    const auto found =
        m_database.rows(m_database.isPostgres()
                            ? u"SELECT to_regclass('sendonce_meta') IS NOT NULL"_s
                            : u"SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'sendonce_meta'"_s,
                        {}, Doing);
    if (!found)
        return found.error();
    return found->first().first().toBool();
}

Result<QDateTime> Forgetting::forgottenBefore()
{
    const auto possible = isPossible();
    if (!possible)
        return possible.error();
    if (!possible.value())
        return QDateTime();
    const auto found = m_database.rows(u"SELECT value FROM sendonce_meta WHERE name = ?"_s, {Name},
                                       u"what was forgotten cannot be read"_s);
    if (!found)
        return found.error();
    return found->isEmpty() ? QDateTime() : fromDjangoTime(found->first().first().toString());
}

Result<Forgetting::Old> Forgetting::count(const QDateTime &before, const QStringList &spared)
{
    const QString sql = m_database.isPostgres()
        ? u"SELECT count(*), to_char(min(processed_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), "
          "to_char(max(processed_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') FROM jobs_processedevent "
          "WHERE processed_at < (?::timestamp AT TIME ZONE 'UTC') "
          "AND event_id NOT IN (SELECT jsonb_array_elements_text(?::jsonb))"_s
        : u"SELECT count(*), min(processed_at), max(processed_at) FROM jobs_processedevent WHERE processed_at < ? "
          "AND event_id NOT IN (SELECT value FROM json_each(?))"_s;
    const auto found = m_database.rows(sql, {djangoText(before), QString::fromUtf8(asJson(spared))},
                                       u"old claims cannot be counted"_s);
    if (!found)
        return found.error();
    const QVariantList &row = found->first();
    return Old{row[0].toLongLong(), fromDjangoTime(row[1].toString()), fromDjangoTime(row[2].toString())};
}

Result<Forgetting::Batch> Forgetting::take(qint64 behindId, int rows, const QDateTime &before,
                                           const QStringList &spared)
{
    return m_database.isPostgres() ? takeFromServer(behindId, rows, before, asJson(spared))
                                   : takeFromFile(behindId, rows, before, asJson(spared));
}

/// One statement, which is one transaction also behind a pooler. ANY(ARRAY(…)) keeps it on the indexes, whatever the
/// table's statistics say; that nobody else cleans is seen without waiting, so that two of them cannot deadlock.
Result<Forgetting::Batch> Forgetting::takeFromServer(qint64 behindId, int rows, const QDateTime &before,
                                                     const QByteArray &spared)
{
    const auto found = m_database.rows(
        u"WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(hashtext('sendonce_forgetting')) AS mine), "
        "seen AS MATERIALIZED (SELECT id, event_id, processed_at FROM jobs_processedevent WHERE id > ? "
        "ORDER BY id LIMIT ?), "
        "old AS (SELECT id FROM seen WHERE processed_at < (?::timestamp AT TIME ZONE 'UTC') "
        "AND event_id NOT IN (SELECT jsonb_array_elements_text(?::jsonb)) AND (SELECT mine FROM turn)), "
        "gone AS (DELETE FROM jobs_processedevent WHERE id = ANY(ARRAY(SELECT id FROM old)) "
        "RETURNING id, processed_at), "
        "bodies AS (DELETE FROM sendonce_claimbody WHERE claim_id = ANY(ARRAY(SELECT id FROM gone))), "
        "noted AS (INSERT INTO sendonce_meta AS meta (name, value) "
        "SELECT 'forgotten_before', to_char(max(processed_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') "
        "FROM gone HAVING count(*) > 0 "
        "ON CONFLICT (name) DO UPDATE SET value = greatest(meta.value, excluded.value)) "
        "SELECT mine, (SELECT count(*) FROM seen), (SELECT max(id) FROM seen), (SELECT count(*) FROM gone) FROM turn"_s,
        {behindId, rows, djangoText(before), QString::fromUtf8(spared)}, Doing);
    if (!found)
        return found.error();
    const QVariantList &row = found->first();
    if (!row[0].toBool())
        return Batch{behindId, 0, 0, true};
    return Batch{row[1].toInt() > 0 ? row[2].toLongLong() : behindId, row[1].toInt(), row[3].toInt(), false};
}

Result<Forgetting::Batch> Forgetting::takeFromFile(qint64 behindId, int rows, const QDateTime &before,
                                                   const QByteArray &spared)
{
    // First come, first served among the lanes (spec.md): a batch waits for a delivery, and the next delivery for it.
    static const std::atomic_bool Never = false;
    const auto turn = Turn::take(m_database.filePath(), TurnPatience, Never);
    if (!turn && turn.error().kind != ErrorKind::Busy)
        return turn.error();
    if (!turn)
        return Batch{behindId, 0, 0, true};
    auto transaction = Transaction::begin(m_database);
    if (!transaction && transaction.error().kind != ErrorKind::Busy)
        return transaction.error();
    if (!transaction)
        return Batch{behindId, 0, 0, true};
    const auto batch = takeInTransaction(behindId, rows, before, spared);
    if (!batch)
        return batch;
    if (const auto committed = transaction->commit(); !committed)
        return committed.error();
    return batch;
}

Result<Forgetting::Batch> Forgetting::takeInTransaction(qint64 behindId, int rows, const QDateTime &before,
                                                        const QByteArray &spared)
{
    const auto seen = m_database.rows(u"SELECT id, processed_at, "
                                      "event_id IN (SELECT value FROM json_each(?)) "
                                      "FROM jobs_processedevent WHERE id > ? ORDER BY id LIMIT ?"_s,
                                      {QString::fromUtf8(spared), behindId, rows}, Doing);
    if (!seen)
        return seen.error();
    QStringList ids;
    QDateTime newest;
    for (const QVariantList &row : seen.value()) {
        const QDateTime at = fromDjangoTime(row[1].toString());
        if (row[2].toBool() || !at.isValid() || at >= before) // a time that cannot be read is no reason to forget
            continue;
        ids.append(row[0].toString());
        newest = newest.isValid() ? std::max(newest, at) : at;
    }
    Batch batch{seen->isEmpty() ? behindId : seen->last()[0].toLongLong(), int(seen->size()), int(ids.size()), false};
    if (ids.isEmpty())
        return batch;
    const QString claims = u'[' + ids.join(u',') + u']';
    const auto gone = m_database.rows(u"DELETE FROM jobs_processedevent WHERE id IN (SELECT value FROM json_each(?))"_s,
                                      {claims}, Doing);
    if (!gone)
        return gone.error();
    const auto bodies = m_database.rows(
        u"DELETE FROM sendonce_claimbody WHERE claim_id IN (SELECT value FROM json_each(?))"_s, {claims}, Doing);
    if (!bodies)
        return bodies.error();
    // The end of that millisecond, for that is all a QDateTime holds.
    const auto noted = m_database.rows(u"INSERT INTO sendonce_meta (name, value) VALUES (?, ?) ON CONFLICT (name) "
                                       "DO UPDATE SET value = max(value, excluded.value)"_s,
                                       {Name, djangoTime(newest.toMSecsSinceEpoch() * 1000 + 999)}, Doing);
    if (!noted)
        return noted.error();
    return batch;
}

JournalForgetting::JournalForgetting(Database &journal, Database &claims) : m_journal(journal), m_claims(claims) { }

Result<int> JournalForgetting::take(int rows, const QDateTime &before, const QDateTime &auditBefore,
                                    const QStringList &spared)
{
    const auto attempts = takeFrom(u"sendonce_attempt"_s, u"recorded_at"_s, m_behindAttempt, rows, before, spared);
    if (!attempts)
        return attempts;
    const auto notes = takeFrom(u"sendonce_note"_s, u"noted_at"_s, m_behindNote, rows, before, spared);
    if (!notes)
        return notes;
    const auto lines =
        m_journal.rows(u"DELETE FROM sendonce_audit WHERE id IN (SELECT id FROM sendonce_audit ORDER BY id LIMIT ?) "
                       "AND noted_at < ? RETURNING id"_s,
                       {rows, auditBefore.toMSecsSinceEpoch() * 1000}, u"the audit cannot be shortened"_s);
    if (!lines)
        return lines.error();
    return attempts.value() + notes.value() + int(lines->size());
}

/// Its ids are in the order of writing, so the first row that is too young ends it.
Result<int> JournalForgetting::takeFrom(const QString &table, const QString &time, qint64 &behindId, int rows,
                                        const QDateTime &before, const QStringList &spared)
{
    const QString doing = u"the journal cannot be shortened"_s;
    const QSet<QString> kept(spared.cbegin(), spared.cend());
    for (;;) {
        const auto found =
            m_journal.rows(u"SELECT id, event_id, %1 FROM %2 WHERE id > ? ORDER BY id LIMIT ?"_s.arg(time, table),
                           {behindId, rows}, doing);
        if (!found)
            return found.error();
        QList<std::pair<qint64, QString>> old;
        QStringList eventIds;
        for (const QVariantList &row : found.value()) {
            if (row[2].toLongLong() >= before.toMSecsSinceEpoch() * 1000)
                break;
            old.append({row[0].toLongLong(), row[1].toString()});
            eventIds.append(old.last().second);
        }
        if (old.isEmpty())
            return 0;
        const auto standing = ProcessedEvents(m_claims).standing(eventIds);
        if (!standing)
            return standing.error();
        QStringList ids;
        for (const auto &[id, eventId] : std::as_const(old)) {
            if (!standing->contains(eventId) && !kept.contains(eventId))
                ids.append(QString::number(id));
        }
        behindId = old.last().first;
        if (ids.isEmpty())
            continue; // a whole batch that stays: look at the next one
        // Another cleaner may be at the same rows: on a server neither waits for the other.
        const auto gone = m_journal.isPostgres()
            ? m_journal.rows(u"DELETE FROM %1 WHERE id IN (SELECT id FROM %1 WHERE id = ANY(?::bigint[]) "
                             "FOR UPDATE SKIP LOCKED)"_s.arg(table),
                             {u'{' + ids.join(u',') + u'}'}, doing)
            : m_journal.rows(u"DELETE FROM %1 WHERE id IN (SELECT value FROM json_each(?))"_s.arg(table),
                             {u'[' + ids.join(u',') + u']'}, doing);
        if (!gone)
            return gone.error();
        return int(ids.size());
    }
}

} // namespace sendonce
