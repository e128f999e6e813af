#pragma once

#include "worker/result.h"
#include "worker/store/database.h"
#include "worker/types.h"

#include <QHash>

#include <optional>

namespace sendonce {

/// The replays of dead letters, run by run and letter by letter, so that one can be gone on with after its process
/// died, and a copy that was left is recognised. In the journal's database; one per thread.
class ReplayLog
{
public:
    /// \param database the journal's; outlives this
    explicit ReplayLog(Database &database);

    struct Run
    {
        qint64 run = 0; ///< its number: microseconds since 1970 when it began
        QString who, host, profile;
        qint64 pid = 0;
        QString queueUrl, dlqUrl;
        QByteArray settings; ///< JSON, the caller's
        ReplayProgress::State state = ReplayProgress::State::Running;
        QString text;
        /// UTC, by this computer's clock; a run that is not over and was not touched for long belongs to a dead
        /// process.
        QDateTime aliveAt;
        qint64 aliveUsecs = 0; ///< the same as it is kept
    };
    struct Row
    {
        int place = 0;
        QString messageId, eventId;
        Verdict verdict = Verdict::Unknown;
        QString receiptHandle; ///< the newest one known
        /// Sending: not sent yet. CopyLeft: sent, the dead copy not deleted (yet).
        ReplayItem::State state = ReplayItem::State::Sending;
        QString replayedAs; ///< MessageId of the new message
        QString text;
    };

    /// Writes the set; only a run whose rows are all written is ever seen.
    Result<void> begin(const Run &run, const QList<Row> &rows);
    /// Rows as they are now; also says that the run is alive.
    Result<void> update(qint64 run, const QList<Row> &rows);
    Result<void> setState(qint64 run, ReplayProgress::State state, const QString &text);
    /// This process takes it over. Busy: somebody else has touched it since it was read.
    Result<void> adopt(const Run &run);

    /// Newest first.
    Result<QList<Run>> runs(int limit);
    Result<QList<Row>> rows(qint64 run); ///< in their order
    Result<ReplayProgress> progress(const Run &run); ///< counted by the database

    /// MessageId of a dead letter -> the message it was replayed as (the newest).
    Result<QHash<QString, QString>> replayedAs(const QStringList &messageIds);
    /// How many replays there are of each event.
    Result<QHash<QString, int>> timesReplayed(const QStringList &eventIds);

    /// A delivery of the journal, as far as the outcome of a replay needs it.
    struct Delivery
    {
        qint64 id = 0; ///< grows
        QString messageId;
        Outcome outcome = Outcome::Failed;
        int receiveCount = 0;
        QString reason;
    };
    Result<qint64> lastDelivery(); ///< the newest id; 0: there is none
    Result<QList<Delivery>> deliveriesAfter(qint64 id, int limit); ///< oldest first
    Result<QList<Delivery>> deliveriesOf(const QStringList &messageIds); ///< oldest first of each

private:
    /// Microseconds since 1970 by the clock that all who share the journal go by: a server's, which two computers see.
    Result<qint64> clock();

    Database &m_database;
    std::optional<qint64> m_clockLead; ///< microseconds of the server's clock before ours
};

/// A run that is not over although nobody works on it: its process is dead (same host), or has not been heard of for
/// 15 s.
bool isInterrupted(const ReplayLog::Run &run, const QString &host, const QDateTime &now);

} // namespace sendonce
