#include "worker/store/processedevents.h"

#include <QRegularExpression>
#include <QSet>
#include <QtSql/QSqlError>
#include <QtSql/QSqlQuery>
#include <QVariant>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qsizetype IdsPerQuery = 500;

/// processed_at as djangoTime() writes it. SQLite has it so; PostgreSQL shows it in the session's zone and style.
QString processedAtText(const Database &database)
{
    return database.isPostgres() ? u"to_char(processed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"_s
                                 : u"processed_at"_s;
}

/// LIKE … ESCAPE '\' for text that means itself.
QString likePattern(QString text)
{
    text.replace(u'\\', "\\\\"_L1).replace(u'%', "\\%"_L1).replace(u'_', "\\_"_L1);
    return u'%' + text + u'%';
}

} // namespace

bool isStorableEventId(const QString &eventId)
{
    const auto isChanged = [](QChar c) { return c.unicode() == 0 || c.unicode() == 0xfffe || c.unicode() == 0xffff; };
    return !eventId.isEmpty() && eventId.isValidUtf16() && eventId[0].unicode() != 0xfeff
        && std::none_of(eventId.cbegin(), eventId.cend(), isChanged) && eventId.toUcs4().size() <= 64;
}

ProcessedEvents::ProcessedEvents(Database &database) : m_database(database) { }

Result<bool> ProcessedEvents::hasBodies()
{
    if (m_hasBodies)
        return true;
    const auto found = m_database.rows(
        m_database.isPostgres() ? u"SELECT 1 WHERE to_regclass('sendonce_claimbody') IS NOT NULL"_s
                                : u"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'sendonce_claimbody'"_s,
        {}, u"the tables of %1 cannot be read"_s.arg(m_database.displayName()));
    if (!found)
        return found.error();
    m_hasBodies = !found->isEmpty();
    return m_hasBodies;
}

Result<ProcessedEvents::Claim> ProcessedEvents::claim(const QString &eventId, const QString &eventType,
                                                      const QString &processedAt, const QByteArray &bodySha256)
{
    if (!isStorableEventId(eventId))
        return Error{
            ErrorKind::Invalid, u"this event_id cannot be claimed: a database could take it for another one"_s, {}};
    const QString doing = u"the claim of event %1 failed"_s.arg(eventId);
    const Result<bool> bodies = hasBodies();
    if (!bodies)
        return bodies.error();

    const auto insert = m_database.prepared(u"INSERT INTO jobs_processedevent (event_id, event_type, processed_at) "
                                            "VALUES (?, ?, ?) ON CONFLICT (event_id) DO NOTHING RETURNING id"_s);
    if (!insert)
        return insert.error();
    QSqlQuery &query = *insert.value();
    query.bindValue(0, eventId);
    query.bindValue(1, eventType);
    query.bindValue(2, processedAt);
    if (!query.exec())
        return sqlError(query.lastError(), doing);
    QVariant claimId;
    while (query.next()) // to the end, where SQLite ends the statement
        claimId = query.value(0);
    const QSqlError unread = query.lastError();
    query.finish();
    if (unread.isValid())
        return sqlError(unread, doing);
    if (!claimId.isValid())
        return standingClaim(eventId, bodySha256, bodies.value());

    if (bodies.value() && !bodySha256.isEmpty()) {
        // A clean-up may have begun the ids again and left the hashes: the new one counts.
        const auto remember =
            m_database.prepared(u"INSERT INTO sendonce_claimbody (claim_id, event_id, body_sha256) VALUES (?, ?, ?) "
                                "ON CONFLICT (claim_id) DO UPDATE SET event_id = excluded.event_id, "
                                "body_sha256 = excluded.body_sha256"_s);
        if (!remember)
            return remember.error();
        QSqlQuery &body = *remember.value();
        body.bindValue(0, claimId);
        body.bindValue(1, eventId);
        body.bindValue(2, bodySha256);
        if (!body.exec())
            return sqlError(body.lastError(), doing);
        body.finish();
    }
    Claim claim;
    claim.inserted = true;
    return claim;
}

Result<ProcessedEvents::Claim> ProcessedEvents::standingClaim(const QString &eventId, const QByteArray &bodySha256,
                                                              bool hasBodies)
{
    const QString doing = u"the standing claim of event %1 cannot be read"_s.arg(eventId);
    const auto prepared = m_database.prepared(
        hasBodies
            ? u"SELECT claim.event_id, claim.processed_at, body.body_sha256 FROM jobs_processedevent AS claim "
              "LEFT JOIN sendonce_claimbody AS body ON body.claim_id = claim.id AND body.event_id = claim.event_id "
              "WHERE claim.event_id = ?"_s
            : u"SELECT event_id, processed_at, NULL FROM jobs_processedevent WHERE event_id = ?"_s);
    if (!prepared)
        return prepared.error();
    QSqlQuery &query = *prepared.value();
    query.bindValue(0, eventId);
    if (!query.exec())
        return sqlError(query.lastError(), doing);
    if (!query.next()) {
        const QSqlError error = query.lastError();
        return error.isValid() ? sqlError(error, doing) : Error{ErrorKind::Io, doing + u": there is none"_s, {}};
    }
    Claim claim;
    const QString standingId = query.value(0).toString();
    claim.standingText = query.value(1).toString();
    claim.standingProcessedAt = fromDjangoTime(claim.standingText);
    const QByteArray standingBody = query.value(2).toByteArray();
    query.finish();
    if (standingId != eventId)
        return Error{ErrorKind::Io, u"%1: the database answers with event %2"_s.arg(doing, standingId), {}};
    claim.otherBody = !standingBody.isEmpty() && !bodySha256.isEmpty() && standingBody != bodySha256;
    return claim;
}

Result<ProcessedPage> ProcessedEvents::page(const ProcessedQuery &asked)
{
    QStringList conditions;
    QVariantList values;
    if (asked.beforeId > 0) {
        conditions.append(u"id < ?"_s);
        values.append(asked.beforeId);
    }
    if (asked.afterId > 0) {
        conditions.append(u"id > ?"_s);
        values.append(asked.afterId);
    }
    if (!asked.search.isEmpty()) {
        // SQLite's LIKE does not tell small letters from capitals; PostgreSQL has a word for that.
        const QString like = m_database.isPostgres() ? u"ILIKE"_s : u"LIKE"_s;
        conditions.append(u"(event_id %1 ? ESCAPE '\\' OR event_type %1 ? ESCAPE '\\')"_s.arg(like));
        values << likePattern(asked.search) << likePattern(asked.search);
    }
    const int limit = std::max(asked.limit, 1);
    values.append(limit + 1); // one more tells whether there are older rows
    const QString where = conditions.isEmpty() ? QString() : u" WHERE "_s + conditions.join(u" AND "_s);
    const auto found = m_database.rows(
        u"SELECT id, event_id, event_type, %1 FROM jobs_processedevent%2 ORDER BY id DESC LIMIT ?"_s.arg(
            processedAtText(m_database), where),
        values, u"the processed events cannot be read"_s);
    if (!found)
        return found.error();
    ProcessedPage page;
    page.query = asked;
    for (const QVariantList &line : found.value()) {
        if (page.rows.size() == limit) {
            page.more = true;
            break;
        }
        ProcessedRow row;
        row.id = line[0].toLongLong();
        row.eventId = line[1].toString();
        row.eventType = line[2].toString();
        row.processedAt = fromDjangoTime(line[3].toString());
        page.rows.append(row);
    }
    return page;
}

Result<QHash<QString, QDateTime>> ProcessedEvents::standing(const QStringList &eventIds)
{
    QHash<QString, QDateTime> found;
    const QSet<QString> unique(eventIds.cbegin(), eventIds.cend());
    const QStringList ids(unique.cbegin(), unique.cend());
    for (qsizetype from = 0; from < ids.size(); from += IdsPerQuery) {
        const QStringList part = ids.mid(from, IdsPerQuery);
        const QString marks = QStringList(part.size(), u"?"_s).join(u',');
        const auto rows = m_database.rows(u"SELECT event_id, %1 FROM jobs_processedevent WHERE event_id IN (%2)"_s.arg(
                                              processedAtText(m_database), marks),
                                          QVariantList(part.cbegin(), part.cend()), u"the claims cannot be read"_s);
        if (!rows)
            return rows.error();
        for (const QVariantList &row : rows.value()) {
            // Only what was asked for: an id that the database changed on its way in is nobody's claim.
            if (const QString id = row[0].toString(); unique.contains(id))
                found.insert(id, fromDjangoTime(row[1].toString()));
        }
    }
    return found;
}

Result<QDateTime> ProcessedEvents::begins()
{
    const auto rows =
        m_database.rows(u"SELECT %1 FROM jobs_processedevent ORDER BY id LIMIT 1"_s.arg(processedAtText(m_database)),
                        {}, u"the claims cannot be read"_s);
    if (!rows)
        return rows.error();
    return rows->isEmpty() ? QDateTime() : fromDjangoTime(rows->first().first().toString());
}

Result<bool> ProcessedEvents::forget(const QString &eventId)
{
    const QString doing = u"the claim cannot be taken away"_s;
    const auto bodies = hasBodies();
    if (!bodies)
        return bodies.error();
    // The hash first: without its claim it is only something to compare the next body with, so that a crash between the
    // two statements leaves a claim that stands.
    if (bodies.value()) {
        if (const auto gone = m_database.rows(u"DELETE FROM sendonce_claimbody WHERE claim_id IN "
                                              "(SELECT id FROM jobs_processedevent WHERE event_id = ?)"_s,
                                              {eventId}, doing);
            !gone)
            return gone.error();
    }
    const auto gone =
        m_database.rows(u"DELETE FROM jobs_processedevent WHERE event_id = ? RETURNING event_id"_s, {eventId}, doing);
    if (!gone)
        return gone.error();
    return !gone->isEmpty();
}

QString djangoTime(qint64 usecsSinceEpoch)
{
    qint64 seconds = usecsSinceEpoch / 1'000'000;
    qint64 usecs = usecsSinceEpoch % 1'000'000;
    if (usecs < 0) {
        usecs += 1'000'000;
        --seconds;
    }
    const QDateTime time = QDateTime::fromSecsSinceEpoch(seconds, Qt::UTC);
    const QDate day = time.date();
    const QTime at = time.time();
    std::array<char, 40> text{};
    const int length = std::snprintf(text.data(), text.size(), "%04d-%02d-%02d %02d:%02d:%02d.%06d", day.year(),
                                     day.month(), day.day(), at.hour(), at.minute(), at.second(), int(usecs));
    return QString::fromLatin1(text.data(), length);
}

QDateTime fromDjangoTime(const QString &text)
{
    // Z, +00:00, +0530 or nothing, which is UTC.
    static const QRegularExpression pattern(
        u"\\A(\\d{4}-\\d\\d-\\d\\d)[T ](\\d\\d:\\d\\d:\\d\\d)(?:\\.(\\d{1,9}))?\\s*(Z|([+-])(\\d\\d):?(\\d\\d)?)?\\z"_s);
    const QRegularExpressionMatch match = pattern.match(text.trimmed());
    if (!match.hasMatch())
        return {};
    const QDate date = QDate::fromString(match.captured(1), Qt::ISODate);
    const QTime time = QTime::fromString(match.captured(2), Qt::ISODate);
    if (!date.isValid() || !time.isValid())
        return {};
    const int msecs = match.captured(3).leftJustified(3, u'0').left(3).toInt();
    const int offset = (match.captured(6).toInt() * 60 + match.captured(7).toInt()) * 60;
    const QDateTime wall(date, time.addMSecs(msecs), Qt::UTC);
    return wall.addSecs(match.captured(5) == "-"_L1 ? offset : -offset);
}

qint64 nowUsecs()
{
    using namespace std::chrono;
    return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

} // namespace sendonce
