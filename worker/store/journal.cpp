#include "worker/store/journal.h"

#include "worker/store/deliveryrow.h"
#include "worker/store/processedevents.h"
#include "worker/store/storytext.h"

#include <QCoreApplication>
#include <QDir>
#include <QSysInfo>
#include <QtSql/QSqlError>
#include <QtSql/QSqlQuery>
#include <QVariant>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qsizetype IdsPerQuery = 500;
constexpr int StoryLimit = 1000; ///< newest lines of a story

const QString Doing = u"the journal cannot be written"_s;
const QString Reading = u"the journal cannot be read"_s;

const QString Insert = u"INSERT INTO sendonce_attempt (%1, recorded_at) "_s.arg(deliveryrow::Columns);
const QString OrReplace =
    u" ON CONFLICT (message_id, receive_count, received_at, worker, lane) DO UPDATE SET "
    "event_id = excluded.event_id, event_type = excluded.event_type, application_id = excluded.application_id, "
    "outcome = excluded.outcome, failed_stage = excluded.failed_stage, reason = excluded.reason, "
    "mail_reply = excluded.mail_reply, permanent = excluded.permanent, possibly_twice = excluded.possibly_twice, "
    "other_body = excluded.other_body, user_id = excluded.user_id, recipient = excluded.recipient, "
    "mail_message_id = excluded.mail_message_id, stage_usec = excluded.stage_usec, log_line = excluded.log_line, "
    "recorded_at = excluded.recorded_at"_s;

QDateTime fromUsecs(qint64 usecs)
{
    return usecs > 0 ? QDateTime::fromMSecsSinceEpoch(usecs / 1000, Qt::UTC) : QDateTime();
}

/// A column of values as PostgreSQL's text of an array.
QByteArray arrayText(const QList<QVariantList> &rows, qsizetype column)
{
    QByteArray text = "{";
    for (const QVariantList &row : rows) {
        QByteArray value = row[column].toString().toUtf8();
        value.replace('\\', "\\\\").replace('"', "\\\"");
        text += (text.size() > 1 ? ",\"" : "\"") + value + '"';
    }
    return text + '}';
}

/// Deliveries come oldest first.
void learn(Journal::Knowledge &about, const DeliveryReport &report, const QDateTime &recordedAt)
{
    about.eventId = report.eventId;
    if (!report.eventType.isEmpty())
        about.eventType = report.eventType;
    if (!report.applicationId.isEmpty())
        about.applicationId = report.applicationId;
    if (!about.firstAt.isValid())
        about.firstAt = recordedAt;
    about.lastAt = recordedAt;
    about.lastOutcome = report.outcome;
    switch (report.outcome) {
    case Outcome::Sent:
        ++about.attempts;
        about.mailed = true;
        about.inDoubt = false;
        break;
    case Outcome::Gone:
        ++about.attempts;
        about.gone = true;
        break;
    case Outcome::Duplicate:
        ++about.duplicates;
        break;
    case Outcome::InDoubt:
    case Outcome::Failed:
        ++about.attempts;
        about.inDoubt = about.inDoubt || report.outcome == Outcome::InDoubt;
        about.lastFailedStage = report.failedStage;
        about.lastReason = report.reason;
        about.lastMailReply = report.mailReply;
        about.permanent = report.permanent;
        if (!about.firstFailedAt.isValid())
            about.firstFailedAt = recordedAt;
        about.lastFailedAt = recordedAt;
        break;
    case Outcome::GivenBack: // neither duplicate nor failure
        break;
    }
}

QString questionMarks(qsizetype count)
{
    return QStringList(count, u"?"_s).join(u',');
}

/// Each once, without the empty one: it stands for everything that could not be read.
QStringList distinct(QStringList ids)
{
    ids.removeDuplicates();
    ids.removeAll(QString());
    return ids;
}

/// Runs `SELECT … WHERE column IN (part of ids)` for parts of at most IdsPerQuery, and hands each row to `read`.
template <typename Read>
Result<void> readByIds(Database &database, const QString &select, const QString &order, const QStringList &ids,
                       int listsPerQuery, const QVariantList &more, Read read)
{
    for (qsizetype from = 0; from < ids.size(); from += IdsPerQuery) {
        const QStringList part = ids.mid(from, IdsPerQuery);
        QString sql = select;
        QVariantList values;
        for (int list = 0; list < listsPerQuery; ++list) {
            sql.replace(sql.indexOf(u"IN ()"_s) + 4, 0, questionMarks(part.size()));
            for (const QString &id : part)
                values.append(deliveryrow::keptId(id));
        }
        const auto rows = database.rows(sql + order, values + more, Reading);
        if (!rows)
            return rows.error();
        for (const QVariantList &row : rows.value())
            read(row);
    }
    return {};
}

} // namespace

Journal::Journal(Database database)
    : m_database(std::move(database))
    , m_workerName(u"%1 pid %2"_s.arg(QSysInfo::machineHostName()).arg(QCoreApplication::applicationPid()))
{ }

Result<Journal> Journal::open(const QString &dataDir, const QString &databaseUrl, std::chrono::milliseconds patience)
{
    const auto url = DatabaseUrl::parse(databaseUrl);
    if (!url || !url->isPostgres())
        return openFile(dataDir, {});
    const auto server = Database::open(databaseUrl, patience);
    return server ? open(dataDir, server.value()) : server.error();
}

Result<Journal> Journal::open(const QString &dataDir, const Database &beside)
{
    if (!beside.isPostgres())
        return openFile(dataDir, {});
    Database server = beside.sameConnection();
    const auto migrated = server.migrate(u"postgres-journal"_s);
    if (migrated)
        return Journal(std::move(server));
    if (migrated.error().code != "42501"_L1)
        return migrated.error();
    return openFile(dataDir, migrated.error().text);
}

Result<Journal> Journal::openFile(const QString &dataDir, const QString &whyNotOnServer)
{
    Result<Database> database = Database::openFile(QDir(dataDir).filePath(u"journal.db"_s));
    if (!database)
        return database.error();
    if (const auto migrated = database.value().migrate(u"journal"_s); !migrated)
        return migrated.error();
    Journal journal(database.take());
    journal.m_whyNotOnServer = whyNotOnServer;
    return journal;
}

Result<void> Journal::record(const DeliveryReport &report)
{
    const QVariantList values = deliveryrow::valuesOf(report, m_workerName, nowUsecs());
    const auto recorded =
        m_database.rows(Insert + u"VALUES (%1)"_s.arg(questionMarks(values.size())) + OrReplace, values, Doing);
    return recorded ? Result<void>() : recorded.error();
}

Result<void> Journal::record(const QList<DeliveryReport> &reports)
{
    // One delivery twice in a batch: the later report counts, and one statement may not change a row twice.
    std::map<std::tuple<QString, int, qint64, int>, qsizetype> places;
    QList<QVariantList> rows;
    const qint64 now = nowUsecs();
    for (const DeliveryReport &report : reports) {
        const QVariantList row = deliveryrow::valuesOf(report, m_workerName, now);
        const std::tuple key{report.messageId, report.receiveCount, row.first().toLongLong(), report.lane};
        const auto [place, isNew] = places.emplace(key, rows.size());
        if (isNew)
            rows.append(row);
        else
            rows[place->second] = row;
    }
    if (rows.isEmpty())
        return {};
    return m_database.isPostgres() ? writeToServer(rows) : writeToFile(rows);
}

/// One statement whatever the number of rows, so that the server parses it once.
Result<void> Journal::writeToServer(const QList<QVariantList> &rows)
{
    static const QString Sql = Insert
        + u"SELECT * FROM unnest(?::bigint[], ?::text[], ?::integer[], ?::text[], ?::integer[], ?::text[], ?::text[], "
          "?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::boolean[], ?::boolean[], ?::boolean[], ?::text[], "
          "?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[])"_s
        + OrReplace;
    std::vector<std::optional<QByteArray>> columns;
    for (qsizetype column = 0; column < rows.first().size(); ++column)
        columns.emplace_back(arrayText(rows, column));
    return m_database.writeBehind(Sql, columns, Doing);
}

Result<void> Journal::writeToFile(const QList<QVariantList> &rows)
{
    // No flush for each delivery: a dead process loses nothing, a power cut the last lines (the claims are in another
    // file). Whatever must be there first, as doubts, is written by other connections, which wait for the disk.
    if (!m_writesBehind) {
        QSqlQuery query(m_database.handle());
        if (!query.exec(u"PRAGMA synchronous=NORMAL"_s))
            return sqlError(query.lastError(), Doing);
        m_writesBehind = true;
    }
    auto transaction = Transaction::begin(m_database);
    if (!transaction)
        return transaction.error();
    const auto prepared =
        m_database.prepared(Insert + u"VALUES (%1)"_s.arg(questionMarks(rows.first().size())) + OrReplace);
    if (!prepared)
        return prepared.error();
    QSqlQuery &query = *prepared.value();
    for (const QVariantList &row : rows) {
        for (qsizetype i = 0; i < row.size(); ++i)
            query.bindValue(int(i), row[i]);
        if (!query.exec())
            return sqlError(query.lastError(), Doing);
        query.finish();
    }
    return transaction->commit();
}

Result<void> Journal::recordDoubt(const DeliveryReport &report)
{
    DeliveryReport doubt = report;
    doubt.outcome = Outcome::InDoubt;
    return record(doubt);
}

Result<void> Journal::note(const QString &kind, const QList<Note> &notes)
{
    if (notes.isEmpty())
        return {};
    QVariantList values;
    for (const Note &each : notes)
        values << nowUsecs() << kind << deliveryrow::keptId(m_workerName) << deliveryrow::keptId(each.eventId)
               << deliveryrow::keptId(each.messageId) << deliveryrow::keptText(each.text);
    const auto noted = m_database.rows(
        u"INSERT INTO sendonce_note (noted_at, kind, worker, event_id, message_id, text) VALUES %1"_s.arg(
            QStringList(notes.size(), u"(?,?,?,?,?,?)"_s).join(u',')),
        values, Doing);
    return noted ? Result<void>() : noted.error();
}

Result<void> Journal::recordPossiblyTwice(const QString &eventId, const QString &messageId, const QString &text)
{
    return note(u"twice"_s, {{eventId, messageId, text}});
}

Result<void> Journal::recordSend(const SendReport &report)
{
    const QString eventId = report.eventId.isEmpty() ? report.request.eventId : report.eventId;
    QList<Note> notes;
    for (const QString &messageId : report.messageIds)
        notes.append({eventId, messageId, u"sent as message %1"_s.arg(messageId)});
    if (!report.error.isEmpty())
        notes.append({eventId, {}, u"could not be sent: %1"_s.arg(report.error)});
    return note(u"sent"_s, notes);
}

Result<void> Journal::recordReplay(const QString &eventId, const QString &messageId, const QString &text)
{
    return recordReplays({{eventId, messageId, text}});
}

Result<void> Journal::recordReplays(const QList<Note> &replays)
{
    return note(u"replay"_s, replays);
}

Result<void> Journal::recordDoubtAct(DoubtNote kind, const QString &eventId, const QString &messageId,
                                     const QString &text)
{
    constexpr std::array Kinds{"doubt-settled"_L1, "doubt-resend"_L1, "doubt-asked"_L1, "doubt-failed"_L1};
    return note(Kinds[size_t(kind)], {{eventId, messageId, text}});
}

Result<QHash<QString, Journal::Knowledge>> Journal::knowledge(const QString &column, const QStringList &ids)
{
    QHash<QString, Knowledge> found;
    const auto read = readByIds(
        m_database,
        u"SELECT %1, recorded_at, %2 FROM sendonce_attempt WHERE %2 IN ()"_s.arg(deliveryrow::Columns, column),
        u" ORDER BY id"_s, distinct(ids), 1, {}, [&](const QVariantList &row) {
            learn(found[row[deliveryrow::ColumnCount + 1].toString()], deliveryrow::reportOf(row),
                  fromUsecs(row[deliveryrow::ColumnCount].toLongLong()));
        });
    if (!read)
        return read.error();
    return found;
}

Result<QHash<QString, Journal::Knowledge>> Journal::about(const QStringList &eventIds)
{
    return knowledge(u"event_id"_s, eventIds);
}

Result<QHash<QString, Journal::Knowledge>> Journal::aboutMessages(const QStringList &messageIds)
{
    return knowledge(u"message_id"_s, messageIds);
}

Result<QList<DeliveryReport>> Journal::deliveriesSince(const QStringList &eventIds, const QDateTime &since)
{
    QMap<qint64, DeliveryReport> byRow; // an id of the second part may name a message of the first
    const auto read = readByIds(
        m_database,
        u"SELECT %1, id FROM sendonce_attempt WHERE (event_id IN () OR message_id IN ()) AND received_at >= ?"_s.arg(
            deliveryrow::Columns),
        u" ORDER BY id"_s, distinct(eventIds), 2, {since.toMSecsSinceEpoch() * 1000}, [&](const QVariantList &row) {
            byRow.insert(row[deliveryrow::ColumnCount].toLongLong(), deliveryrow::reportOf(row));
        });
    if (!read)
        return read.error();
    return byRow.values();
}

Result<EventStory> Journal::story(const QString &eventId)
{
    EventStory story;
    story.eventId = eventId;
    const QVariantList limit{StoryLimit};
    const auto attempts =
        readByIds(m_database, u"SELECT %1 FROM sendonce_attempt WHERE event_id IN ()"_s.arg(deliveryrow::Columns),
                  u" ORDER BY id DESC LIMIT ?"_s, distinct({eventId}), 1, limit, [&](const QVariantList &row) {
                      const DeliveryReport report = deliveryrow::reportOf(row);
                      const QString worker = row[deliveryrow::WorkerColumn].toString();
                      const QString by = worker == m_workerName ? QString() : u" · by %1"_s.arg(worker);
                      story.lines.prepend({report.receivedAt, storyText(report) + by});
                  });
    if (!attempts)
        return attempts.error();
    const auto notes = readByIds(
        m_database, u"SELECT noted_at, kind, text FROM sendonce_note WHERE event_id IN ()"_s,
        u" ORDER BY id DESC LIMIT ?"_s, distinct({eventId}), 1, limit, [&](const QVariantList &row) {
            const bool isDoubled = row[1].toString() == "twice"_L1;
            story.lines.prepend({fromUsecs(row[0].toLongLong()),
                                 isDoubled ? u"possibly mailed twice: "_s + row[2].toString() : row[2].toString()});
        });
    if (!notes)
        return notes.error();
    std::stable_sort(story.lines.begin(), story.lines.end(),
                     [](const StoryLine &a, const StoryLine &b) { return a.at < b.at; });
    return story;
}

Result<QList<Attempt>> Journal::attempts(const QString &eventId, const QString &messageId)
{
    QList<Attempt> attempts;
    const bool byEvent = !eventId.isEmpty();
    const QString which = byEvent ? u"event_id"_s : u"message_id"_s;
    const auto read =
        readByIds(m_database, u"SELECT %1 FROM sendonce_attempt WHERE %2 IN ()"_s.arg(deliveryrow::Columns, which),
                  u" ORDER BY id DESC LIMIT ?"_s, distinct({byEvent ? eventId : messageId}), 1, {StoryLimit},
                  [&](const QVariantList &row) {
                      attempts.prepend({deliveryrow::reportOf(row), row[deliveryrow::WorkerColumn].toString()});
                  });
    if (!read)
        return read.error();
    return attempts;
}

Result<qint64> Journal::possiblyTwiceCount()
{
    const auto counted = m_database.rows(u"SELECT (SELECT count(*) FROM sendonce_attempt WHERE possibly_twice) + "
                                         "(SELECT count(*) FROM sendonce_note WHERE kind = 'twice')"_s,
                                         {}, Reading);
    if (!counted)
        return counted.error();
    return counted->first().first().toLongLong();
}

} // namespace sendonce
