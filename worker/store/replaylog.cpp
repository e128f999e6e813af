#include "worker/store/replaylog.h"

#include "worker/store/processedevents.h"

#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <array>
#include <cerrno>

#include <csignal>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qsizetype RowsPerStatement = 100;
constexpr qsizetype IdsPerQuery = 500;
constexpr qint64 SilentForSeconds = 15;

const QString Doing = u"the replay cannot be written to the journal"_s;
const QString Reading = u"the replays cannot be read from the journal"_s;

// Words, not numbers: people open the journal with other tools. In the order of the enums.
constexpr std::array RowStates{"pending"_L1, "replayed"_L1,   "copy left"_L1, "failed"_L1, "mailed"_L1,
                               "skipped"_L1, "dead again"_L1, "left"_L1,      "deleted"_L1};
constexpr std::array RunStates{"running"_L1,   "canary"_L1,   "paused"_L1,     "halted"_L1,
                               "cancelled"_L1, "finished"_L1, "interrupted"_L1};
/// As the journal writes them.
constexpr std::array Outcomes{"sent"_L1, "duplicate"_L1, "gone"_L1, "failed"_L1, "in doubt"_L1, "given back"_L1};
constexpr std::array Verdicts{"not handled"_L1, "handled"_L1, "in doubt"_L1, "unknown"_L1, "invalid"_L1};

template <typename Enum, typename Names>
Enum fromName(const Names &names, const QString &name, Enum otherwise)
{
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? otherwise : Enum(found - names.begin());
}

QString filled(const QString &text)
{
    return text.isNull() ? u""_s : text.left(2000);
}

QString marks(qsizetype count)
{
    return QStringList(count, u"?"_s).join(u',');
}

QDateTime fromUsecs(const QVariant &usecs)
{
    return QDateTime::fromMSecsSinceEpoch(usecs.toLongLong() / 1000, Qt::UTC);
}

QStringList distinct(QStringList ids)
{
    ids.removeDuplicates();
    ids.removeAll(QString());
    return ids;
}

const QString DeliveryColumns = u"id, message_id, outcome, receive_count, reason"_s;

ReplayLog::Delivery deliveryOf(const QVariantList &line)
{
    ReplayLog::Delivery delivery;
    delivery.id = line[0].toLongLong();
    delivery.messageId = line[1].toString();
    delivery.outcome = fromName(Outcomes, line[2].toString(), Outcome::Failed);
    delivery.receiveCount = line[3].toInt();
    delivery.reason = line[4].toString();
    return delivery;
}

} // namespace

ReplayLog::ReplayLog(Database &database) : m_database(database) { }

Result<void> ReplayLog::begin(const Run &run, const QList<Row> &rows)
{
    if (const auto written = update(run.run, rows); !written)
        return written;
    const auto now = clock();
    if (!now)
        return now.error();
    const auto begun = m_database.rows(
        u"INSERT INTO sendonce_replay_run (id, who, host, pid, profile, queue_url, dlq_url, settings, state, text, "
        "alive_at) VALUES (?,?,?,?,?,?,?,?,?,?,?)"_s,
        {run.run, filled(run.who), filled(run.host), run.pid, filled(run.profile), filled(run.queueUrl),
         filled(run.dlqUrl), filled(QString::fromUtf8(run.settings)), QString(RunStates[size_t(run.state)]),
         filled(run.text), now.value()},
        Doing);
    if (!begun)
        return begun.error();
    return {};
}

Result<void> ReplayLog::update(qint64 run, const QList<Row> &rows)
{
    const qint64 now = nowUsecs();
    for (qsizetype from = 0; from < rows.size(); from += RowsPerStatement) {
        const QList<Row> part = rows.mid(from, RowsPerStatement);
        QVariantList values;
        for (const Row &row : part) {
            values << run << row.place << filled(row.messageId) << filled(row.eventId)
                   << QString(Verdicts[size_t(row.verdict)]) << filled(row.receiptHandle)
                   << QString(RowStates[size_t(row.state)]) << filled(row.replayedAs) << filled(row.text) << now;
        }
        const QString tuple = u"(%1)"_s.arg(marks(10));
        const auto written = m_database.rows(
            u"INSERT INTO sendonce_replay (run, place, message_id, event_id, verdict, receipt_handle, state, "
            "replayed_as, text, updated_at) VALUES %1 ON CONFLICT (run, place) DO UPDATE SET "
            "receipt_handle = excluded.receipt_handle, state = excluded.state, replayed_as = excluded.replayed_as, "
            "text = excluded.text, updated_at = excluded.updated_at"_s.arg(QStringList(part.size(), tuple).join(u',')),
            values, Doing);
        if (!written)
            return written.error();
    }
    return {};
}

Result<void> ReplayLog::setState(qint64 run, ReplayProgress::State state, const QString &text)
{
    const auto now = clock();
    if (!now)
        return now.error();
    const auto written =
        m_database.rows(u"UPDATE sendonce_replay_run SET state = ?, text = ?, alive_at = ? WHERE id = ?"_s,
                        {QString(RunStates[size_t(state)]), filled(text), now.value(), run}, Doing);
    if (!written)
        return written.error();
    return {};
}

Result<void> ReplayLog::adopt(const Run &run)
{
    const auto now = clock();
    if (!now)
        return now.error();
    const auto taken = m_database.rows(
        u"UPDATE sendonce_replay_run SET who = ?, host = ?, pid = ?, state = ?, text = '', alive_at = ? "
        "WHERE id = ? AND alive_at <= ? RETURNING id"_s,
        {filled(run.who), filled(run.host), run.pid, QString(RunStates[size_t(run.state)]), now.value(), run.run,
         run.aliveUsecs},
        Doing);
    if (!taken)
        return taken.error();
    if (taken->isEmpty())
        return Error{ErrorKind::Busy, u"somebody else goes on with this replay"_s, {}};
    return {};
}

Result<qint64> ReplayLog::clock()
{
    if (!m_database.isPostgres())
        return nowUsecs();
    if (!m_clockLead) {
        const auto read =
            m_database.rows(u"SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"_s, {}, Reading);
        if (!read)
            return read.error();
        m_clockLead = read->first().first().toLongLong() - nowUsecs();
    }
    return nowUsecs() + *m_clockLead;
}

Result<QList<ReplayLog::Run>> ReplayLog::runs(int limit)
{
    if (const auto now = clock(); !now)
        return now.error();
    const auto read = m_database.rows(u"SELECT id, who, host, profile, pid, queue_url, dlq_url, settings, state, text, "
                                      "alive_at FROM sendonce_replay_run ORDER BY id DESC LIMIT ?"_s,
                                      {limit}, Reading);
    if (!read)
        return read.error();
    QList<Run> runs;
    for (const QVariantList &line : read.value()) {
        Run run;
        run.run = line[0].toLongLong();
        run.who = line[1].toString();
        run.host = line[2].toString();
        run.profile = line[3].toString();
        run.pid = line[4].toLongLong();
        run.queueUrl = line[5].toString();
        run.dlqUrl = line[6].toString();
        run.settings = line[7].toString().toUtf8();
        run.state = fromName(RunStates, line[8].toString(), ReplayProgress::State::Finished);
        run.text = line[9].toString();
        run.aliveUsecs = line[10].toLongLong();
        run.aliveAt = fromUsecs(run.aliveUsecs - m_clockLead.value_or(0));
        runs.append(run);
    }
    return runs;
}

Result<QList<ReplayLog::Row>> ReplayLog::rows(qint64 run)
{
    const auto read =
        m_database.rows(u"SELECT place, message_id, event_id, verdict, receipt_handle, state, replayed_as, text "
                        "FROM sendonce_replay WHERE run = ? ORDER BY place"_s,
                        {run}, Reading);
    if (!read)
        return read.error();
    QList<Row> rows;
    for (const QVariantList &line : read.value()) {
        Row row;
        row.place = line[0].toInt();
        row.messageId = line[1].toString();
        row.eventId = line[2].toString();
        row.verdict = fromName(Verdicts, line[3].toString(), Verdict::Unknown);
        row.receiptHandle = line[4].toString();
        row.state = fromName(RowStates, line[5].toString(), ReplayItem::State::Failed);
        row.replayedAs = line[6].toString();
        row.text = line[7].toString();
        rows.append(row);
    }
    return rows;
}

Result<ReplayProgress> ReplayLog::progress(const Run &run)
{
    ReplayProgress progress;
    progress.run = run.run;
    progress.act = QJsonDocument::fromJson(run.settings).object().value("act"_L1).toString();
    progress.state = run.state;
    progress.text = run.text;
    progress.startedAt = fromUsecs(run.run);
    progress.by = u"%1 on %2"_s.arg(run.who, run.host);
    const auto read = m_database.rows(u"SELECT state, count(*) FROM sendonce_replay WHERE run = ? GROUP BY state"_s,
                                      {run.run}, Reading);
    if (!read)
        return read.error();
    for (const QVariantList &line : read.value()) {
        const qint64 count = line[1].toLongLong();
        progress.total += count;
        const auto state = fromName(RowStates, line[0].toString(), ReplayItem::State::Failed);
        switch (state) {
        case ReplayItem::State::Sending:
        case ReplayItem::State::Left:
            progress.left += count;
            break;
        case ReplayItem::State::Failed:
            progress.failed += count;
            break;
        case ReplayItem::State::Mailed:
            progress.mailed += count;
            progress.done += count;
            break;
        case ReplayItem::State::Skipped:
            progress.skipped += count;
            progress.done += count;
            break;
        case ReplayItem::State::DeadAgain:
            progress.deadAgain += count;
            progress.done += count;
            break;
        case ReplayItem::State::Replayed:
        case ReplayItem::State::CopyLeft:
            progress.waiting += count;
            progress.done += count;
            break;
        case ReplayItem::State::Deleted:
            progress.done += count;
            break;
        }
    }
    return progress;
}

Result<QHash<QString, QString>> ReplayLog::replayedAs(const QStringList &messageIds)
{
    QHash<QString, QString> found;
    const QStringList ids = distinct(messageIds);
    for (qsizetype from = 0; from < ids.size(); from += IdsPerQuery) {
        QVariantList values;
        for (const QString &id : ids.mid(from, IdsPerQuery))
            values.append(id);
        const auto read = m_database.rows(
            u"SELECT message_id, replayed_as FROM sendonce_replay WHERE replayed_as <> '' AND message_id IN (%1) "
            "ORDER BY run"_s.arg(marks(values.size())),
            values, Reading);
        if (!read)
            return read.error();
        for (const QVariantList &line : read.value())
            found.insert(line[0].toString(), line[1].toString());
    }
    return found;
}

Result<QHash<QString, int>> ReplayLog::timesReplayed(const QStringList &eventIds)
{
    QHash<QString, int> found;
    const QStringList ids = distinct(eventIds);
    for (qsizetype from = 0; from < ids.size(); from += IdsPerQuery) {
        QVariantList values;
        for (const QString &id : ids.mid(from, IdsPerQuery))
            values.append(id);
        const auto read = m_database.rows(
            u"SELECT event_id, count(*) FROM sendonce_replay WHERE replayed_as <> '' AND event_id IN (%1) "
            "GROUP BY event_id"_s.arg(marks(values.size())),
            values, Reading);
        if (!read)
            return read.error();
        for (const QVariantList &line : read.value())
            found.insert(line[0].toString(), line[1].toInt());
    }
    return found;
}

Result<qint64> ReplayLog::lastDelivery()
{
    const auto read = m_database.rows(u"SELECT max(id) FROM sendonce_attempt"_s, {}, Reading);
    if (!read)
        return read.error();
    return read->isEmpty() ? 0 : read->first().first().toLongLong();
}

Result<QList<ReplayLog::Delivery>> ReplayLog::deliveriesAfter(qint64 id, int limit)
{
    const auto read =
        m_database.rows(u"SELECT %1 FROM sendonce_attempt WHERE id > ? ORDER BY id LIMIT ?"_s.arg(DeliveryColumns),
                        {id, limit}, Reading);
    if (!read)
        return read.error();
    QList<Delivery> deliveries;
    for (const QVariantList &line : read.value())
        deliveries.append(deliveryOf(line));
    return deliveries;
}

Result<QList<ReplayLog::Delivery>> ReplayLog::deliveriesOf(const QStringList &messageIds)
{
    QList<Delivery> deliveries;
    const QStringList ids = distinct(messageIds);
    for (qsizetype from = 0; from < ids.size(); from += IdsPerQuery) {
        QVariantList values;
        for (const QString &id : ids.mid(from, IdsPerQuery))
            values.append(id);
        const auto read = m_database.rows(u"SELECT %1 FROM sendonce_attempt WHERE message_id IN (%2) ORDER BY id"_s.arg(
                                              DeliveryColumns, marks(values.size())),
                                          values, Reading);
        if (!read)
            return read.error();
        for (const QVariantList &line : read.value())
            deliveries.append(deliveryOf(line));
    }
    return deliveries;
}

bool isInterrupted(const ReplayLog::Run &run, const QString &host, const QDateTime &now)
{
    using State = ReplayProgress::State;
    if (run.state == State::Cancelled || run.state == State::Finished)
        return false;
    if (run.state == State::Interrupted)
        return true;
    if (run.host == host && ::kill(pid_t(run.pid), 0) != 0 && errno == ESRCH)
        return true;
    return run.aliveAt.secsTo(now) > SilentForSeconds;
}

} // namespace sendonce
