#pragma once

#include <QByteArray>
#include <QDateTime>
#include <QList>
#include <QMap>
#include <QMetaType>
#include <QString>
#include <QStringList>

#include <array>
#include <chrono>

/// The values that cross threads: plain structs with defaults and ==, never live objects (architecture.md, "Threads").
namespace sendonce {

// ---- the queue -----------------------------------------------------------------------------------------------------

/// A message attribute as SQS knows it: String, Number or Binary, each with an optional ".label".
struct MessageAttribute
{
    QString dataType;
    QString stringValue; ///< for String and Number
    QByteArray binaryValue; ///< for Binary, decoded

    bool operator==(const MessageAttribute &) const = default;
};
using MessageAttributes = QMap<QString, MessageAttribute>;

/// One message as ReceiveMessage gave it.
struct Message
{
    QString messageId;
    QString receiptHandle; ///< of this receive; a later receive makes a newer one
    QByteArray body; ///< UTF-8, exactly as received
    QMap<QString, QString> systemAttributes; ///< ApproximateReceiveCount, SentTimestamp, DeadLetterQueueSourceArn …
    MessageAttributes attributes;

    int receiveCount() const { return systemAttributes.value(QStringLiteral("ApproximateReceiveCount")).toInt(); }
    /// SentTimestamp in UTC; invalid when the server did not give it.
    QDateTime sentAt() const
    {
        const qint64 msec = systemAttributes.value(QStringLiteral("SentTimestamp")).toLongLong();
        return msec > 0 ? QDateTime::fromMSecsSinceEpoch(msec, Qt::UTC) : QDateTime();
    }
    bool operator==(const Message &) const = default;
};

/// The three approximate numbers of a queue, and the visible number of its DLQ (-1: not known).
struct QueueDepth
{
    qint64 visible = -1;
    qint64 inFlight = -1;
    qint64 delayed = -1;
    qint64 deadLetters = -1;
    QDateTime sampledAt; ///< UTC

    bool operator==(const QueueDepth &) const = default;
};

// ---- a delivery ----------------------------------------------------------------------------------------------------

/// The steps of one delivery in their order; also the names of `--crash-at` (Validated is not one of those).
enum class Stage { Received, Validated, Claimed, LookedUp, HandedOver, Accepted, Committed, Deleted };
constexpr int StageCount = 8;

/// How one delivery ended.
enum class Outcome {
    Sent, ///< claim committed, the mail server accepted the mail; deleted
    Duplicate, ///< already processed; deleted, no mail
    Gone, ///< what it is about no longer exists; claim committed, deleted, no mail
    Failed, ///< claim rolled back; the queue redelivers it, in the end to the DLQ
    InDoubt, ///< the final reply is lost: perhaps mailed; claim rolled back, doubt journalled
    GivenBack, ///< busy elsewhere, or stopped before anything happened: neither duplicate nor failure
};

/// Everything worth telling of one finished delivery; what journal, log, timeline and tables are made of.
struct DeliveryReport
{
    QString eventId; ///< empty when the body could not be read that far
    QString eventType;
    QString messageId;
    QString applicationId; ///< text of the event's application_id; empty when it has none
    int lane = 0; ///< 1…n
    int receiveCount = 0;
    Outcome outcome = Outcome::Failed;
    Stage failedStage = Stage::Received; ///< for Failed and InDoubt: the step that did not succeed
    QString reason; ///< for Failed, InDoubt, GivenBack: why, in words, without secrets
    QString mailReply; ///< the mail server's last line, if one was read
    bool permanent = false; ///< a 5yz refusal: the same mail will be refused again
    bool possiblyMailedTwice = false; ///< spec.md, rule 5
    bool otherBody = false; ///< spec.md, rule 8: a duplicate event_id with another body
    QString userId; ///< of the recipient, when looked up
    QString recipient; ///< address, when looked up
    QString mailMessageId; ///< Message-ID header of the mail, when one was rendered
    QDateTime receivedAt; ///< UTC, wall clock
    /// Microseconds from the receive to the end of each stage; -1 where it was not reached.
    std::array<qint64, StageCount> stageUsec = {-1, -1, -1, -1, -1, -1, -1, -1};
    QString logLine; ///< the line of spec.md's table, e.g. "Emailed user 5 about application 3: …"

    bool operator==(const DeliveryReport &) const = default;
};

/// Sums since the worker started.
struct Counters
{
    qint64 sent = 0;
    qint64 skipped = 0; ///< duplicates and applications that are gone
    qint64 failed = 0;
    qint64 inDoubt = 0;
    qint64 possiblyTwice = 0;

    bool operator==(const Counters &) const = default;
};

enum class LogLevel { Debug, Info, Warning, Error };

struct LogLine
{
    QDateTime at; ///< UTC
    LogLevel level = LogLevel::Info;
    QString text; ///< one line; control characters already escaped
    QString eventId; ///< empty when the line is not about an event

    bool operator==(const LogLine &) const = default;
};

enum class WorkerState { Stopped, Starting, Running, Stopping };

/// One of the three services a worker needs, for the status bar.
struct ServiceStatus
{
    enum class Service { Queue, Database, Mail };
    enum class Health {
        Unknown,
        Ok,
        Failing,
        Paused, ///< the keys are refused: nothing is asked of it but one try, by itself or by Worker::retryKeys()
    };
    Service service = Service::Queue;
    Health health = Health::Unknown;
    QString address; ///< "127.0.0.1:9324", "SQLite sendonce.db"; never a password
    QString detail; ///< when failing or paused: what is wrong and what to do
    QDateTime nextTry = {}; ///< UTC; when paused: the next try by itself; invalid: one is under way

    bool operator==(const ServiceStatus &) const = default;
};

// ---- what panels ask for -------------------------------------------------------------------------------------------

/// A row of jobs_processedevent with what the journal knows about it.
struct ProcessedRow
{
    qint64 id = 0;
    QString eventId;
    QString eventType;
    QDateTime processedAt; ///< UTC
    QString applicationId; ///< from the journal; empty when no worker of ours saw it
    QString result; ///< "mailed", "application gone", or empty: not in the journal
    int duplicates = 0; ///< how many later deliveries were skipped, as the journal knows

    bool operator==(const ProcessedRow &) const = default;
};

/// One page, newest first. beforeId 0: from the newest. afterId > 0: only rows newer than that (for live updates).
struct ProcessedQuery
{
    QString search; ///< in event id, type, application; empty: all
    qint64 beforeId = 0;
    qint64 afterId = 0;
    int limit = 200;
    quint64 ticket = 0; ///< comes back with the page, so that a late page can be dropped

    bool operator==(const ProcessedQuery &) const = default;
};
struct ProcessedPage
{
    ProcessedQuery query;
    QList<ProcessedRow> rows;
    bool more = false; ///< there are older rows
    QString error; ///< not empty: the query failed, rows is empty

    bool operator==(const ProcessedPage &) const = default;
};

/// A mail in the embedded mailbox, as its list shows it.
struct MailRow
{
    QString id; ///< file name in mailbox/new; names it for MailDetail
    QString eventId; ///< X-Sendonce-Event
    QString messageId; ///< Message-ID without the angle brackets
    QString from, to, subject; ///< decoded (RFC 2047)
    QDateTime receivedAt; ///< UTC
    qint64 sizeBytes = 0;
    int copies = 1; ///< mails in the mailbox with the same event id: 1 is the proof

    bool operator==(const MailRow &) const = default;
};
struct MailboxSnapshot
{
    QList<MailRow> rows; ///< newest first, at most the asked limit
    qint64 total = 0;
    QString error;

    bool operator==(const MailboxSnapshot &) const = default;
};
struct MailDetail
{
    MailRow row;
    QList<QPair<QString, QString>> headers; ///< in their order, decoded
    QString text; ///< the text/plain part, decoded
    QString html; ///< the text/html part, decoded; shown as inert text
    QByteArray raw;
    QString error;

    bool operator==(const MailDetail &) const = default;
};

/// One line of an event's story: what happened to it, when, in which delivery.
struct StoryLine
{
    QDateTime at; ///< UTC
    QString text;

    bool operator==(const StoryLine &) const = default;
};
struct EventStory
{
    QString eventId;
    QList<StoryLine> lines; ///< oldest first
    QString error;

    bool operator==(const EventStory &) const = default;
};

/// What a replay of a dead letter would do (spec.md, rule 9).
enum class Verdict { NotHandled, Handled, InDoubt, Unknown, Invalid };

struct DeadLetter
{
    Message message; ///< with the newest receipt handle seen
    QString eventId; ///< empty when the body is not readable
    QString eventType;
    QString applicationId;
    Verdict verdict = Verdict::Unknown;
    QString verdictText; ///< "not handled · a replay sends", "handled 14:02:11 · a replay is skipped" …
    QString reason; ///< from the journal; or that no worker of ours saw it
    int receiveCount = 0; ///< by the source queue, before this look
    QDateTime diedAt; ///< UTC: last failure in the journal, else invalid
    QDateTime sentAt; ///< UTC

    bool operator==(const DeadLetter &) const = default;
};
/// The state of one browse of the DLQ: partial while running, complete when finished is true.
struct DeadLetterList
{
    QList<DeadLetter> letters;
    qint64 about = -1; ///< the approximate number the queue gave before the browse
    bool finished = false;
    QDateTime browsedAt; ///< UTC
    QString error;

    bool operator==(const DeadLetterList &) const = default;
};
/// Whether the endpoint can move dead letters back by itself (message move tasks), as a look at it found.
struct MoveTaskSupport
{
    enum class Answer { Unknown, Yes, No, NotPermitted };
    Answer answer = Answer::Unknown;
    QString reason; ///< what the endpoint said; empty for Yes

    bool operator==(const MoveTaskSupport &) const = default;
};
/// What became of one replayed dead letter.
struct ReplayItem
{
    enum class State {
        Sending, ///< locked, on its way
        Replayed, ///< sent to the source queue and deleted from the DLQ; its outcome is not known yet
        CopyLeft, ///< sent, but the dead copy could not be deleted: the claim absorbs the second one
        Failed, ///< nothing was sent; the dead letter is where it was
        Mailed, ///< seen: handled by a delivery that mailed
        Skipped, ///< seen: handled before, skipped as a duplicate
        DeadAgain, ///< seen: failed again
    };
    QString messageId; ///< of the dead letter
    QString eventId;
    State state = State::Sending;
    QString text; ///< in words

    bool operator==(const ReplayItem &) const = default;
};

// ---- acts ----------------------------------------------------------------------------------------------------------

/// What to send: one event (a new one when eventId is empty), `copies` messages of it.
struct SendRequest
{
    QString eventId;
    QString type = QStringLiteral("application.status_changed");
    qint64 applicationId = 3;
    QString oldStatus = QStringLiteral("reviewing");
    QString newStatus = QStringLiteral("interview");
    int copies = 1;
    int delaySeconds = 0;
    QByteArray rawBody; ///< not empty: sent as it is, the fields above are ignored

    bool operator==(const SendRequest &) const = default;
};
struct SendReport
{
    SendRequest request;
    QString eventId;
    QStringList messageIds; ///< one per copy that was accepted
    QString error; ///< not empty: what failed

    bool operator==(const SendReport &) const = default;
};

/// A fault that is armed in the embedded mailbox, as it reports it.
struct ArmedFault
{
    QString where; ///< "mail"
    int remaining = 0;
    int replyCode = 0;
    QString text; ///< the reply's text

    bool operator==(const ArmedFault &) const = default;
};
using ArmedFaults = QList<ArmedFault>;

/// One line of a check of the services: what was found, and what to do about it.
struct CheckLine
{
    enum class Level { Ok, Warning, Error };
    QString id; ///< "queue.redrive"; the same in every version, for programs
    Level level = Level::Ok;
    QString text; ///< names the values that were found
    QString remedy; ///< what to do; empty when nothing has to be done
    bool unreachable = false; ///< an error because a service could not be reached

    bool operator==(const CheckLine &) const = default;
};

} // namespace sendonce

Q_DECLARE_METATYPE(sendonce::Message)
Q_DECLARE_METATYPE(sendonce::DeliveryReport)
Q_DECLARE_METATYPE(sendonce::QueueDepth)
