#include "worker/store/journal.h"

#include "worker/store/processedevents.h"
#include "worker/store/storytext.h"

#include <QCoreApplication>
#include <QDir>
#include <QSet>
#include <QSysInfo>
#include <QtSql/QSqlError>
#include <QtSql/QSqlQuery>
#include <QVariant>

#include <algorithm>
#include <array>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qsizetype TextLimit = 2000; ///< characters of any text kept
constexpr qsizetype IdsPerQuery = 500;
constexpr int StoryLimit = 1000; ///< newest lines of a story

const QString Doing = u"the journal cannot be written"_s;
const QString Reading = u"the journal cannot be read"_s;

/// Words, not numbers: people open journal.db with other tools. In the order of the enums.
constexpr std::array OutcomeNames{"sent"_L1, "duplicate"_L1, "gone"_L1, "failed"_L1, "in doubt"_L1, "given back"_L1};
constexpr std::array<QLatin1StringView, StageCount> StageNames{"received"_L1,  "validated"_L1,   "claimed"_L1,
                                                               "looked up"_L1, "handed over"_L1, "accepted"_L1,
                                                               "committed"_L1, "deleted"_L1};

template <typename Enum, typename Names>
Enum fromName(const Names &names, const QString &name, Enum otherwise)
{
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? otherwise : Enum(found - names.begin());
}

/// Never a null QString (that would be an SQL NULL), never half of a pair at the cut.
QString kept(const QString &text)
{
    if (text.isNull())
        return u""_s;
    if (text.size() <= TextLimit)
        return text;
    const bool splitsPair = text[TextLimit - 2].isHighSurrogate();
    return text.left(TextLimit - (splitsPair ? 2 : 1)) + u'…';
}

/// What a report is made of, in the order in which reportOf() reads it.
const QString ReportColumns =
    u"received_at, worker, lane, message_id, receive_count, event_id, event_type, application_id, outcome, "
    "failed_stage, reason, mail_reply, permanent, possibly_twice, other_body, user_id, recipient, "
    "mail_message_id, stage_usec, log_line"_s;
constexpr int WorkerColumn = 1;

QDateTime fromUsecs(qint64 usecs)
{
    return usecs > 0 ? QDateTime::fromMSecsSinceEpoch(usecs / 1000, Qt::UTC) : QDateTime();
}

DeliveryReport reportOf(const QSqlQuery &query)
{
    DeliveryReport report;
    int column = 0;
    const auto next = [&] { return query.value(column++); };
    report.receivedAt = fromUsecs(next().toLongLong());
    next(); // worker
    report.lane = next().toInt();
    report.messageId = next().toString();
    report.receiveCount = next().toInt();
    report.eventId = next().toString();
    report.eventType = next().toString();
    report.applicationId = next().toString();
    report.outcome = fromName(OutcomeNames, next().toString(), Outcome::Failed);
    report.failedStage = fromName(StageNames, next().toString(), Stage::Received);
    report.reason = next().toString();
    report.mailReply = next().toString();
    report.permanent = next().toBool();
    report.possiblyMailedTwice = next().toBool();
    report.otherBody = next().toBool();
    report.userId = next().toString();
    report.recipient = next().toString();
    report.mailMessageId = next().toString();
    const QStringList stages = next().toString().split(u',');
    for (int stage = 0; stage < StageCount && stage < stages.size(); ++stage)
        report.stageUsec[size_t(stage)] = stages[stage].toLongLong();
    report.logLine = next().toString();
    return report;
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
Result<void> readByIds(const QSqlDatabase &handle, const QString &select, const QString &order, const QStringList &ids,
                       int listsPerQuery, const QVariantList &more, Read read)
{
    for (qsizetype from = 0; from < ids.size(); from += IdsPerQuery) {
        const QStringList part = ids.mid(from, IdsPerQuery);
        QString sql = select;
        for (int list = 0; list < listsPerQuery; ++list)
            sql.replace(sql.indexOf(u"IN ()"_s) + 4, 0, questionMarks(part.size()));
        QSqlQuery query(handle);
        query.setForwardOnly(true);
        if (!query.prepare(sql + order))
            return sqlError(query.lastError(), Reading);
        for (int list = 0; list < listsPerQuery; ++list) {
            for (const QString &id : part)
                query.addBindValue(id);
        }
        for (const QVariant &value : more)
            query.addBindValue(value);
        if (!query.exec())
            return sqlError(query.lastError(), Reading);
        while (query.next())
            read(query);
        if (query.lastError().isValid())
            return sqlError(query.lastError(), Reading);
    }
    return {};
}

} // namespace

Journal::Journal(Database database)
    : m_database(std::move(database))
    , m_workerName(u"%1 pid %2"_s.arg(QSysInfo::machineHostName()).arg(QCoreApplication::applicationPid()))
{ }

Result<Journal> Journal::open(const QString &dataDir)
{
    Result<Database> database = Database::openFile(QDir(dataDir).filePath(u"journal.db"_s));
    if (!database)
        return database.error();
    // No fsync for each delivery: a dead process loses nothing, a power cut the last lines (the claims are in another
    // file).
    QSqlQuery query(database->handle());
    if (!query.exec(u"PRAGMA synchronous=NORMAL"_s))
        return sqlError(query.lastError(), u"%1 cannot be opened"_s.arg(database->filePath()));
    query.finish();
    if (const auto migrated = database.value().migrate(u"journal"_s); !migrated)
        return migrated.error();
    return Journal(database.take());
}

Result<void> Journal::record(const DeliveryReport &report)
{
    const auto prepared = m_database.prepared(
        u"INSERT INTO sendonce_attempt (received_at, worker, lane, message_id, receive_count, event_id, event_type, "
        "application_id, outcome, failed_stage, reason, mail_reply, permanent, possibly_twice, other_body, user_id, "
        "recipient, "
        "mail_message_id, stage_usec, log_line, recorded_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
        "ON CONFLICT (message_id, receive_count, received_at, worker, lane) DO UPDATE SET "
        "event_id = excluded.event_id, event_type = excluded.event_type, application_id = excluded.application_id, "
        "outcome = excluded.outcome, failed_stage = excluded.failed_stage, reason = excluded.reason, "
        "mail_reply = excluded.mail_reply, permanent = excluded.permanent, possibly_twice = excluded.possibly_twice, "
        "other_body = excluded.other_body, user_id = excluded.user_id, recipient = excluded.recipient, "
        "mail_message_id = excluded.mail_message_id, stage_usec = excluded.stage_usec, log_line = excluded.log_line, "
        "recorded_at = excluded.recorded_at"_s);
    if (!prepared)
        return prepared.error();
    QStringList stages;
    for (const qint64 usec : report.stageUsec)
        stages.append(QString::number(usec));
    const qint64 now = nowUsecs();
    const QVariantList values{report.receivedAt.isValid() ? report.receivedAt.toMSecsSinceEpoch() * 1000 : now,
                              kept(m_workerName),
                              report.lane,
                              kept(report.messageId),
                              report.receiveCount,
                              kept(report.eventId),
                              kept(report.eventType),
                              kept(report.applicationId),
                              QString(OutcomeNames[size_t(report.outcome)]),
                              QString(StageNames[size_t(report.failedStage)]),
                              kept(report.reason),
                              kept(report.mailReply),
                              report.permanent,
                              report.possiblyMailedTwice,
                              report.otherBody,
                              kept(report.userId),
                              kept(report.recipient),
                              kept(report.mailMessageId),
                              stages.join(u','),
                              kept(report.logLine),
                              now};
    QSqlQuery &query = *prepared.value();
    for (qsizetype i = 0; i < values.size(); ++i)
        query.bindValue(int(i), values[i]);
    if (!query.exec())
        return sqlError(query.lastError(), Doing);
    query.finish();
    return {};
}

Result<void> Journal::record(const QList<DeliveryReport> &reports)
{
    if (reports.size() == 1)
        return record(reports.first());
    auto transaction = Transaction::begin(m_database);
    if (!transaction)
        return transaction.error();
    for (const DeliveryReport &report : reports) {
        if (const auto recorded = record(report); !recorded)
            return recorded;
    }
    return transaction->commit();
}

Result<void> Journal::recordDoubt(const DeliveryReport &report)
{
    DeliveryReport doubt = report;
    doubt.outcome = Outcome::InDoubt;
    return record(doubt);
}

Result<void> Journal::note(const QString &kind, const QString &eventId, const QString &messageId, const QString &text)
{
    const auto prepared = m_database.prepared(
        u"INSERT INTO sendonce_note (noted_at, kind, worker, event_id, message_id, text) VALUES (?, ?, ?, ?, ?, ?)"_s);
    if (!prepared)
        return prepared.error();
    QSqlQuery &query = *prepared.value();
    query.bindValue(0, nowUsecs());
    query.bindValue(1, kind);
    query.bindValue(2, kept(m_workerName));
    query.bindValue(3, kept(eventId));
    query.bindValue(4, kept(messageId));
    query.bindValue(5, kept(text));
    if (!query.exec())
        return sqlError(query.lastError(), Doing);
    query.finish();
    return {};
}

Result<void> Journal::recordPossiblyTwice(const QString &eventId, const QString &messageId, const QString &text)
{
    return note(u"twice"_s, eventId, messageId, text);
}

Result<void> Journal::recordSend(const SendReport &report)
{
    const QString eventId = report.eventId.isEmpty() ? report.request.eventId : report.eventId;
    for (const QString &messageId : report.messageIds) {
        if (const auto noted = note(u"sent"_s, eventId, messageId, u"sent as message %1"_s.arg(messageId)); !noted)
            return noted;
    }
    if (!report.error.isEmpty())
        return note(u"sent"_s, eventId, {}, u"could not be sent: %1"_s.arg(report.error));
    return {};
}

Result<void> Journal::recordReplay(const QString &eventId, const QString &messageId, const QString &text)
{
    return note(u"replay"_s, eventId, messageId, text);
}

Result<void> Journal::recordDoubtAct(DoubtNote kind, const QString &eventId, const QString &messageId,
                                     const QString &text)
{
    constexpr std::array Kinds{"doubt-settled"_L1, "doubt-resend"_L1, "doubt-asked"_L1, "doubt-failed"_L1};
    return note(Kinds[size_t(kind)], eventId, messageId, text);
}

Result<QHash<QString, Journal::Knowledge>> Journal::knowledge(const QString &column, const QStringList &ids)
{
    QHash<QString, Knowledge> found;
    const auto read =
        readByIds(m_database.handle(),
                  u"SELECT %1, recorded_at, %2 FROM sendonce_attempt WHERE %2 IN ()"_s.arg(ReportColumns, column),
                  u" ORDER BY id"_s, distinct(ids), 1, {}, [&](const QSqlQuery &query) {
                      const int recordedAt = int(ReportColumns.count(u',')) + 1;
                      learn(found[query.value(recordedAt + 1).toString()], reportOf(query),
                            fromUsecs(query.value(recordedAt).toLongLong()));
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
        m_database.handle(),
        u"SELECT %1, id FROM sendonce_attempt WHERE (event_id IN () OR message_id IN ()) AND received_at >= ?"_s.arg(
            ReportColumns),
        u" ORDER BY id"_s, distinct(eventIds), 2, {since.toMSecsSinceEpoch() * 1000}, [&](const QSqlQuery &query) {
            byRow.insert(query.value(int(ReportColumns.count(u',')) + 1).toLongLong(), reportOf(query));
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
        readByIds(m_database.handle(), u"SELECT %1 FROM sendonce_attempt WHERE event_id IN ()"_s.arg(ReportColumns),
                  u" ORDER BY id DESC LIMIT ?"_s, distinct({eventId}), 1, limit, [&](const QSqlQuery &query) {
                      const DeliveryReport report = reportOf(query);
                      const QString worker = query.value(WorkerColumn).toString();
                      const QString by = worker == m_workerName ? QString() : u" · by %1"_s.arg(worker);
                      story.lines.prepend({report.receivedAt, storyText(report) + by});
                  });
    if (!attempts)
        return attempts.error();
    const auto notes =
        readByIds(m_database.handle(), u"SELECT noted_at, kind, text FROM sendonce_note WHERE event_id IN ()"_s,
                  u" ORDER BY id DESC LIMIT ?"_s, distinct({eventId}), 1, limit, [&](const QSqlQuery &query) {
                      const bool isDoubled = query.value(1).toString() == "twice"_L1;
                      story.lines.prepend({fromUsecs(query.value(0).toLongLong()),
                                           isDoubled ? u"possibly mailed twice: "_s + query.value(2).toString()
                                                     : query.value(2).toString()});
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
    const auto read = readByIds(m_database.handle(),
                                u"SELECT %1 FROM sendonce_attempt WHERE %2 IN ()"_s.arg(
                                    ReportColumns, byEvent ? u"event_id"_s : u"message_id"_s),
                                u" ORDER BY id DESC LIMIT ?"_s, distinct({byEvent ? eventId : messageId}), 1,
                                {StoryLimit}, [&](const QSqlQuery &query) {
                                    attempts.prepend({reportOf(query), query.value(WorkerColumn).toString()});
                                });
    if (!read)
        return read.error();
    return attempts;
}

Result<qint64> Journal::possiblyTwiceCount()
{
    const auto prepared = m_database.prepared(u"SELECT (SELECT count(*) FROM sendonce_attempt WHERE possibly_twice) + "
                                              "(SELECT count(*) FROM sendonce_note WHERE kind = 'twice')"_s);
    if (!prepared)
        return prepared.error();
    QSqlQuery &query = *prepared.value();
    if (!query.exec() || !query.next())
        return sqlError(query.lastError(), Reading);
    const qint64 count = query.value(0).toLongLong();
    query.finish();
    return count;
}

} // namespace sendonce
