#include "worker/store/doubtlog.h"

#include <map>

namespace sendonce {

using namespace Qt::StringLiterals;

const QString HeldInDoubt = u"it may have been mailed before; held until somebody decides"_s;

namespace {

constexpr qsizetype IdsPerQuery = 500;

const QString Reading = u"the journal cannot be read"_s;

/// A delivery or a note, in the order in which they were written.
struct Line
{
    DeliveryReport report;
    QString worker;
    std::optional<DoubtNote> note;
    QString text;
};
using Lines = std::multimap<qint64, Line>; ///< by microseconds since 1970; equal ones as they came

QDateTime fromUsecs(qint64 usecs)
{
    return QDateTime::fromMSecsSinceEpoch(usecs / 1000, Qt::UTC);
}

Outcome outcomeOf(const QString &name)
{
    return name == "sent"_L1      ? Outcome::Sent
        : name == "in doubt"_L1   ? Outcome::InDoubt
        : name == "gone"_L1       ? Outcome::Gone
        : name == "duplicate"_L1  ? Outcome::Duplicate
        : name == "given back"_L1 ? Outcome::GivenBack
                                  : Outcome::Failed;
}

/// Nothing when the event never was in doubt.
std::optional<DoubtLog::Record> recordOf(const Lines &lines)
{
    std::optional<DoubtLog::Record> record;
    for (const auto &[at, line] : lines) {
        if (line.note) {
            // A failed act leaves things as they were before it.
            if (record && *line.note == DoubtNote::Failed)
                record->decision.reset();
            else if (record && *line.note != DoubtNote::Asked)
                record->decision = line.note;
            if (record)
                record->decisionText = line.text;
            continue;
        }
        const DeliveryReport &report = line.report;
        const bool isHeld = report.outcome == Outcome::InDoubt && report.reason == HeldInDoubt;
        if (isHeld && record && !record->isSent()) {
            ++record->held;
        } else if (report.outcome == Outcome::InDoubt) {
            const QDateTime since = record && !record->isSent() ? record->since : fromUsecs(at);
            record.emplace();
            record->report = report;
            record->worker = line.worker;
            record->since = since;
            if (isHeld) { // whoever was in doubt first wrote nothing down
                record->held = 1;
                record->report.reason.clear();
            }
        } else if (record && report.outcome != Outcome::GivenBack && !record->isSent()) {
            record->later = report;
            record->laterAt = fromUsecs(at);
        }
    }
    return record;
}

} // namespace

DoubtLog::DoubtLog(Database &journal) : m_journal(journal) { }

Result<QStringList> DoubtLog::newest(int limit)
{
    const auto read = m_journal.rows(u"SELECT event_id FROM sendonce_attempt WHERE outcome = 'in doubt' "
                                     "AND event_id <> '' GROUP BY event_id ORDER BY max(id) DESC LIMIT ?"_s,
                                     {limit}, Reading);
    if (!read)
        return read.error();
    QStringList ids;
    for (const QVariantList &line : read.value())
        ids.append(line.first().toString());
    return ids;
}

Result<QHash<QString, DoubtLog::Record>> DoubtLog::records(const QStringList &eventIds)
{
    QHash<QString, Record> records;
    for (qsizetype from = 0; from < eventIds.size(); from += IdsPerQuery) {
        const QStringList part = eventIds.mid(from, IdsPerQuery);
        const QString marks = QStringList(part.size(), u"?"_s).join(u',');
        const QVariantList values(part.cbegin(), part.cend());
        const auto deliveries = m_journal.rows(
            u"SELECT event_id, recorded_at, worker, lane, message_id, receive_count, event_type, application_id, "
            "outcome, reason, mail_reply, recipient, mail_message_id FROM sendonce_attempt WHERE event_id IN (%1) "
            "ORDER BY id"_s.arg(marks),
            values, Reading);
        if (!deliveries)
            return deliveries.error();
        const auto notes = m_journal.rows(u"SELECT event_id, noted_at, kind, text FROM sendonce_note WHERE kind IN "
                                          "('doubt-settled', 'doubt-resend', 'doubt-asked', 'doubt-failed') "
                                          "AND event_id IN (%1) ORDER BY id"_s.arg(marks),
                                          values, Reading);
        if (!notes)
            return notes.error();
        QHash<QString, Lines> lines;
        for (const QVariantList &row : deliveries.value()) {
            Line line;
            line.worker = row[2].toString();
            line.report.eventId = row[0].toString();
            line.report.lane = row[3].toInt();
            line.report.messageId = row[4].toString();
            line.report.receiveCount = row[5].toInt();
            line.report.eventType = row[6].toString();
            line.report.applicationId = row[7].toString();
            line.report.outcome = outcomeOf(row[8].toString());
            line.report.reason = row[9].toString();
            line.report.mailReply = row[10].toString();
            line.report.recipient = row[11].toString();
            line.report.mailMessageId = row[12].toString();
            lines[line.report.eventId].emplace(row[1].toLongLong(), line);
        }
        for (const QVariantList &row : notes.value()) {
            Line line;
            const QString kind = row[2].toString();
            line.note = kind == "doubt-settled"_L1 ? DoubtNote::Settled
                : kind == "doubt-resend"_L1        ? DoubtNote::Resend
                : kind == "doubt-asked"_L1         ? DoubtNote::Asked
                                                   : DoubtNote::Failed;
            line.text = row[3].toString();
            lines[row[0].toString()].emplace(row[1].toLongLong(), line);
        }
        for (auto it = lines.cbegin(); it != lines.cend(); ++it) {
            if (auto record = recordOf(it.value()))
                records.insert(it.key(), *record);
        }
    }
    return records;
}

Result<bool> DoubtLog::isOpen(const QString &eventId)
{
    const auto known = records({eventId});
    if (!known)
        return known.error();
    const auto record = known->constFind(eventId);
    return record != known->cend() && !record->isSent() && record->decision != DoubtNote::Resend;
}

} // namespace sendonce
