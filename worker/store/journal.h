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

/// What Sendonce remembers beside the claims: every delivery with its outcome and reason, doubts, replays. On
/// PostgreSQL sendonce_* tables beside the claims, shared by all workers and consoles of that database, over a
/// connection of its own or the caller's; on SQLite journal.db (a file of its own: a lane holds the writer lock of the
/// other one). One Journal per thread.
class Journal
{
public:
    /// Opens and migrates it. A role that may not make the tables gets `<dataDir>/journal.db` too: whyNotOnServer().
    /// \param patience with PostgreSQL, for each call
    static Result<Journal> open(const QString &dataDir, const QString &databaseUrl,
                                std::chrono::milliseconds patience = std::chrono::seconds(5));
    /// Beside a database that is open in this thread: on PostgreSQL over the same connection.
    static Result<Journal> open(const QString &dataDir, const Database &beside);
    /// The database is PostgreSQL and this is journal.db all the same: its tables are missing there. Empty otherwise.
    const QString &whyNotOnServer() const { return m_whyNotOnServer; }

    /// Who writes: shown as "by which worker". Default: host and pid.
    void setWorkerName(const QString &name) { m_workerName = name; }

    /// One delivery is one row: a second report of it (same message, receive, receivedAt, lane and worker) replaces the
    /// first. Texts are cut to 2,000 characters. On the disk when it returns, as all else here but the next one.
    Result<void> record(const DeliveryReport &report);
    /// All of them or none, without waiting for the disk: it costs no lane a flush, and a power cut may take the last
    /// ones back (spec.md, "Data").
    Result<void> record(const QList<DeliveryReport> &reports);
    /// The doubt, written before the roll-back (spec.md's table).
    Result<void> recordDoubt(const DeliveryReport &report);
    /// A handover slot of a dead process: event_id, MessageId. Counted as possibly mailed twice.
    Result<void> recordPossiblyTwice(const QString &eventId, const QString &messageId, const QString &text);
    Result<void> recordSend(const SendReport &report);
    /// Before the replay's send, and after: text says the step ("replayed as message …").
    Result<void> recordReplay(const QString &eventId, const QString &messageId, const QString &text);
    struct Note
    {
        QString eventId, messageId, text;
    };
    Result<void> recordReplays(const QList<Note> &replays); ///< in one transaction
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
    static Result<Journal> openFile(const QString &dataDir, const QString &whyNotOnServer);
    Result<void> writeToServer(const QList<QVariantList> &rows);
    Result<void> writeToFile(const QList<QVariantList> &rows);
    Result<void> note(const QString &kind, const QList<Note> &notes);
    Result<QHash<QString, Knowledge>> knowledge(const QString &column, const QStringList &ids);

    Database m_database;
    QString m_workerName, m_whyNotOnServer;
    bool m_writesBehind = false; ///< SQLite: this connection does not wait for the disk any more
};

} // namespace sendonce
