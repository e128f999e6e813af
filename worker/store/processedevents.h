#pragma once

#include "worker/result.h"
#include "worker/store/database.h"
#include "worker/types.h"

#include <QHash>

namespace sendonce {

/// The unique constraint that is the memory of what was handled: jobs_processedevent, Django's table and names.
/// All calls run inside the caller's transaction.
class ProcessedEvents
{
public:
    struct Claim
    {
        bool inserted = false;
        QDateTime
            standingProcessedAt; ///< not inserted: of the row that stands (UTC, microseconds are kept as text below)
        QString standingText; ///< processed_at as stored, to compare exactly (spec.md, rule 5)
        bool otherBody = false; ///< not inserted, and the standing event's body hash is known and differs (rule 8)
    };

    /// `database` outlives this. Its statements are prepared once for each connection.
    explicit ProcessedEvents(Database &database);

    /// `INSERT … ON CONFLICT (event_id) DO NOTHING` with the body's hash beside it in sendonce_claimbody. Duplicate
    /// means exactly: no error, 0 rows, and the standing row can be read; every error is an error (spec.md, rule 7).
    /// Without the table sendonce_claimbody (a database that only Django made) rule 8 alone is missing. Invalid: an id
    /// that a database could take for another one (NUL, half surrogates, U+FFFE, U+FFFF, a leading byte order mark,
    /// more than 64 code points). \param processedAt text in Django's form, see djangoTime().
    Result<Claim> claim(const QString &eventId, const QString &eventType, const QString &processedAt,
                        const QByteArray &bodySha256);

    /// Newest first; search in event_id and event_type. application, result and duplicates are left empty.
    Result<ProcessedPage> page(const ProcessedQuery &query);

    /// Which of these are claimed: event_id -> processed_at (UTC). One query per 500 ids.
    Result<QHash<QString, QDateTime>> standing(const QStringList &eventIds);

    /// When the memory begins: processed_at of its first row (UTC); invalid while it is empty.
    Result<QDateTime> begins();

    /// Takes a claim away, with its body's hash: that event can mail again. False: there was none.
    Result<bool> forget(const QString &eventId);

private:
    Result<bool> hasBodies();
    Result<Claim> standingClaim(const QString &eventId, const QByteArray &bodySha256, bool hasBodies);

    Database &m_database;
    bool m_hasBodies = false; ///< sendonce_claimbody was seen
};

/// The store's own last stand against two ids becoming one; the words for people come from event validation. SQLite
/// drops U+FEFF at the start of bound text as a byte order mark and gives U+FFFE and U+FFFF back as U+FFFD, half
/// surrogates all become the same character, and libpq's text ends at NUL.
bool isStorableEventId(const QString &eventId);

/// Django's form on SQLite: "YYYY-MM-DD HH:MM:SS.ffffff", UTC, from microseconds since the epoch; and back (also
/// without the fraction, with "T", with "+00:00").
QString djangoTime(qint64 usecsSinceEpoch);
QDateTime fromDjangoTime(const QString &text);
/// Now by the system's clock, in microseconds.
qint64 nowUsecs();

} // namespace sendonce
