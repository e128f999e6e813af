#pragma once

#include "worker/result.h"
#include "worker/store/database.h"
#include "worker/types.h"

#include <QHash>

namespace sendonce {

/// What a note about an event in doubt says; the words it is kept under stand beside.
enum class DoubtNote {
    Settled, ///< doubt-settled: it arrived
    Resend, ///< doubt-resend: the next delivery or replay sends
    Asked, ///< doubt-asked: the receiving side did not have it
    Failed, ///< doubt-failed: what the note before it said was not done
};

/// What Sendonce remembers beside the claims: every delivery with its outcome and reason, doubts, replays. journal.db
/// on SQLite (a file of its own: a lane holds the writer lock of the other one). One Journal per thread.
class Journal
{
public:
    /// Opens (and migrates) `<dataDir>/journal.db`.
    static Result<Journal> open(const QString &dataDir);

    /// Who writes: shown as "by which worker". Default: host and pid.
    void setWorkerName(const QString &name) { m_workerName = name; }

    /// One delivery is one row: a second report of it (same message, receive, receivedAt, lane and worker) replaces the
    /// first. Texts are cut to 2,000 characters.
    Result<void> record(const DeliveryReport &report);
    /// All of them or none, in one transaction.
    Result<void> record(const QList<DeliveryReport> &reports);
    /// The doubt, written before the roll-back (spec.md's table).
    Result<void> recordDoubt(const DeliveryReport &report);
    /// A handover slot of a dead process: event_id, MessageId. Counted as possibly mailed twice.
    Result<void> recordPossiblyTwice(const QString &eventId, const QString &messageId, const QString &text);
    Result<void> recordSend(const SendReport &report);
    /// Before the replay's send, and after: text says the step ("replayed as message …").
    Result<void> recordReplay(const QString &eventId, const QString &messageId, const QString &text);
    /// A person's act about an event in doubt: who did what. \param messageId of the delivery in doubt, or empty
    Result<void> recordDoubtAct(DoubtNote kind, const QString &eventId, const QString &messageId, const QString &text);

    /// What the deliveries of an event or a message say together, for panels. Those without any delivery are not in the
    /// answer.
    struct Knowledge
    {
        QString eventId;
        QString eventType;
        QString applicationId;
        Outcome lastOutcome = Outcome::Failed;
        /// Of the newest Failed or InDoubt delivery, as are the next three.
        Stage lastFailedStage = Stage::Received;
        QString lastReason;
        QString lastMailReply;
        bool permanent = false;
        bool mailed = false; ///< some delivery was Sent
        bool gone = false; ///< some delivery was Gone
        bool inDoubt = false; ///< some delivery was InDoubt and none Sent after it
        int duplicates = 0;
        int attempts = 0; ///< deliveries that ended Sent, Gone, Failed or InDoubt
        QDateTime firstFailedAt;
        QDateTime lastFailedAt;
        QDateTime firstAt; ///< first sighting
        QDateTime lastAt;
    };
    Result<QHash<QString, Knowledge>> about(const QStringList &eventIds);
    /// By MessageId: for bodies whose event id cannot be read.
    Result<QHash<QString, Knowledge>> aboutMessages(const QStringList &messageIds);
    /// The deliveries of events (or of messages: a MessageId is accepted too) received at that moment or later, oldest
    /// first: for "seen, not assumed".
    Result<QList<DeliveryReport>> deliveriesSince(const QStringList &eventIds, const QDateTime &since);
    Result<EventStory> story(const QString &eventId);
    /// The deliveries of an event, or of one message when the event id is empty, oldest first, at most the newest
    /// 1,000.
    Result<QList<Attempt>> attempts(const QString &eventId, const QString &messageId);
    Result<qint64> possiblyTwiceCount();

    /// For the other tables that live beside it: ReplayLog, Audit, KeptLetterTable.
    Database &database() { return m_database; }

private:
    explicit Journal(Database database);
    Result<void> note(const QString &kind, const QString &eventId, const QString &messageId, const QString &text);
    Result<QHash<QString, Knowledge>> knowledge(const QString &column, const QStringList &ids);

    Database m_database;
    QString m_workerName;
};

} // namespace sendonce
