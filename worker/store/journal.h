#pragma once

#include "worker/result.h"
#include "worker/store/database.h"
#include "worker/types.h"

#include <QHash>

namespace sendonce {

/// What Sendonce remembers beside the claims: every delivery with its outcome and reason, doubts, replays. journal.db on
/// SQLite (a file of its own: a lane holds the writer lock of the other one). One Journal per thread.
class Journal
{
public:
    /// Opens (and migrates) `<dataDir>/journal.db`.
    static Result<Journal> open(const QString &dataDir);

    /// Who writes: shown as "by which worker". Default: host and pid.
    void setWorkerName(const QString &name) { m_workerName = name; }

    Result<void> record(const DeliveryReport &report);
    /// The doubt, written before the roll-back (spec.md's table).
    Result<void> recordDoubt(const DeliveryReport &report);
    /// A handover slot of a dead process: event_id, MessageId. Counted as possibly mailed twice.
    Result<void> recordPossiblyTwice(const QString &eventId, const QString &messageId, const QString &text);
    Result<void> recordSend(const SendReport &report);
    /// Before the replay's send, and after: text says the step ("replayed as message …").
    Result<void> recordReplay(const QString &eventId, const QString &messageId, const QString &text);

    /// What is known about events, for panels: newest delivery first.
    struct Knowledge
    {
        QString eventId;
        QString eventType;
        QString applicationId;
        Outcome lastOutcome = Outcome::Failed;
        Stage lastFailedStage = Stage::Received;
        QString lastReason; ///< of the newest Failed or InDoubt delivery
        QString lastMailReply;
        bool permanent = false;
        bool mailed = false; ///< some delivery was Sent
        bool gone = false; ///< some delivery was Gone
        bool inDoubt = false; ///< some delivery was InDoubt and none Sent after it
        int duplicates = 0;
        int attempts = 0;
        QDateTime lastFailedAt;
        QDateTime lastAt;
    };
    Result<QHash<QString, Knowledge>> about(const QStringList &eventIds);
    /// By MessageId: for bodies whose event id cannot be read.
    Result<QHash<QString, Knowledge>> aboutMessages(const QStringList &messageIds);
    /// The deliveries of a message or event newer than a moment, oldest first: for "seen, not assumed".
    Result<QList<DeliveryReport>> deliveriesSince(const QStringList &eventIds, const QDateTime &since);
    Result<EventStory> story(const QString &eventId);
    Result<qint64> possiblyTwiceCount();

private:
    explicit Journal(Database database);
    Database m_database;
    QString m_workerName;
};

} // namespace sendonce
