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
#include <functional>

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
    std::chrono::seconds hideFor{0}; ///< GivenBack: until somebody else's lease has ended
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

/// What a replay of a dead letter would do (spec.md, rules 9 and 10).
enum class Verdict {
    NotHandled, ///< a replay sends
    Handled, ///< a replay is skipped
    InDoubt, ///< perhaps mailed; a replay sends
    Unknown, ///< the memory of what was handled cannot tell: it begins later, was cleaned up, or could not be read
    Invalid, ///< a replay will fail again
};

/// A row of the last browse. In lists its message comes with its id alone: body and attributes stay on disk,
/// openDeadLetter() brings them.
struct DeadLetter
{
    Message message; ///< id; in a DeadLetterDetail all but the receipt handle
    QString bodyExcerpt; ///< the first 200 characters of the body, to be searched and shown; not JSON any more
    qint64 sizeBytes = 0; ///< body and attributes, as SQS counts them
    QString eventId; ///< empty when the body is not readable
    QString eventType;
    QString applicationId;
    QString bodyProblem; ///< why it is no valid event; empty: it is one
    Verdict verdict = Verdict::Unknown;
    QString verdictText; ///< "not handled · a replay sends", "handled 14:02:11 · a replay is skipped" …
    bool forgotten = false; ///< its claim may have been cleaned up: a replay is stopped unless a reason is given
    QString replayedAs; ///< the journal knows a replay of this very message: what lies here is a copy of it
    QString reason; ///< from the journal; or that no worker of ours saw it
    int receiveCount = 0; ///< by the source queue, before this look
    int timesBack = 0; ///< replays of its event that the journal knows
    QDateTime firstFailedAt; ///< UTC: first failure in the journal, else invalid
    QDateTime diedAt; ///< UTC: last failure in the journal, else invalid
    QDateTime sentAt; ///< UTC; its age counts from here
    QDateTime expiresAt; ///< UTC: SQS drops it then, unseen; invalid: the retention is not known

    bool operator==(const DeadLetter &) const = default;
};
/// The state of one browse of the DLQ.
struct DeadLetterList
{
    QList<DeadLetter> letters; ///< while it runs: those new since the last list; finished: all of them
    quint64 browse = 0; ///< grows with each browse
    qint64 seen = 0; ///< different letters so far: "seen 87 of about 90"
    qint64 about = -1; ///< the approximate number the queue gave before the browse
    qint64 elsewhere = -1; ///< about so many were hidden by other readers before the browse, and may be missing here
    bool finished = false;
    bool cancelled = false;
    bool full = false; ///< stopped because as many are held as may be; there are more
    bool noQueue = false; ///< there is no dead letter queue
    bool needsYes = false; ///< not begun: the DLQ has a redrive policy of its own; browse again with the yes
    QDateTime browsedAt; ///< UTC
    QString notice; ///< for people: what the browse left behind ("12 letters stay hidden for at most 10 minutes")
    QString error; ///< it ended early; what was seen is kept

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
/// One delivery of an event, as its worker wrote it down.
struct Attempt
{
    DeliveryReport report;
    QString worker; ///< "host pid 4711"

    bool operator==(const Attempt &) const = default;
};
struct DeadLetterDetail
{
    DeadLetter letter; ///< whole
    QList<Attempt> attempts; ///< of its event, or of this message where the event cannot be read; oldest first
    QList<MailRow> mails; ///< about its event, in the embedded mailbox, newest first
    bool hasMailbox = false; ///< there is one to look into
    QString error;

    bool operator==(const DeadLetterDetail &) const = default;
};
/// Which letters of the last browse hold a text, in body, ids, type, application or reason.
struct DeadLetterMatches
{
    quint64 ticket = 0; ///< as asked
    QStringList messageIds;
    QString error;

    bool operator==(const DeadLetterMatches &) const = default;
};
/// What became of one replayed (or deleted) dead letter.
struct ReplayItem
{
    enum class State {
        Sending, ///< from the click on: waiting for its turn, locked, on its way
        Replayed, ///< sent to the source queue and deleted from the DLQ; its outcome is not known yet
        CopyLeft, ///< sent, but the dead copy is still there: the claim absorbs the second one
        Failed, ///< nothing was sent; the dead letter is where it was
        Mailed, ///< seen: handled by a delivery that mailed
        Skipped, ///< seen: handled before, skipped as a duplicate
        DeadAgain, ///< seen: failed again
        Left, ///< never begun, for the run was cancelled; the dead letter is where it was
        Deleted, ///< of a deletion: gone from the DLQ, its copy is kept
    };
    QString messageId; ///< of the dead letter
    QString eventId;
    State state = State::Sending;
    QString text; ///< in words
    qint64 run = 0;

    bool operator==(const ReplayItem &) const = default;
};
/// What is to be replayed, and how; frozen at the confirmation. No letter that comes later is touched.
struct ReplayOrder
{
    QStringList messageIds; ///< of the last browse
    bool canary = false; ///< one first; the others only when its outcome is the expected one
    int stopAfter = 0; ///< halt after so many failures; 0: never
    double perSecond = 0; ///< at most so many messages a second; 0: as fast as it goes
    QString overrideReason; ///< replays forgotten ones too (spec.md, rule 10); goes into the audit

    bool operator==(const ReplayOrder &) const = default;
};
/// What a set of letters would do, for the text of a confirmation: "41 will send, 6 will be skipped, …".
struct ReplayForecast
{
    qint64 send = 0, skip = 0, doubt = 0, unknown = 0, fail = 0;
    qint64 forgotten = 0; ///< counted here alone: they are stopped without a reason

    void add(const DeadLetter &letter)
    {
        if (letter.forgotten) {
            ++forgotten;
            return;
        }
        switch (letter.verdict) {
        case Verdict::NotHandled:
            ++send;
            break;
        case Verdict::Handled:
            ++skip;
            break;
        case Verdict::InDoubt:
            ++doubt;
            break;
        case Verdict::Unknown:
            ++unknown;
            break;
        case Verdict::Invalid:
            ++fail;
            break;
        }
    }
    bool operator==(const ReplayForecast &) const = default;
};

/// A replay as a whole. It is kept in the journal, so it can be gone on with after a crash.
struct ReplayProgress
{
    enum class State {
        Running,
        AwaitingCanary, ///< the first one was sent; its outcome decides
        Paused, ///< by a person
        Halted, ///< by itself: text says why; a person resumes or cancels
        Cancelled,
        Finished, ///< each letter was sent, or failed; outcomes may still be open
        Interrupted, ///< its process ended before it did: resumeReplay() goes on with it
    };
    qint64 run = 0; ///< its number
    QString act; ///< as in the audit: "replay", "edit", "delete"
    State state = State::Running;
    QString text; ///< why halted; empty otherwise
    qint64 total = 0;
    qint64 done = 0; ///< sent (of a deletion: deleted), whatever the outcome
    qint64 left = 0; ///< not sent yet
    qint64 failed = 0; ///< could not be sent
    qint64 mailed = 0, skipped = 0, deadAgain = 0, waiting = 0; ///< outcomes of those done
    QDateTime startedAt; ///< UTC
    QString by; ///< who, on which host

    bool isOver() const { return state == State::Cancelled || state == State::Finished; }
    bool operator==(const ReplayProgress &) const = default;
};
/// The letters of one replay, in their order, as they are now; of a replay of a dead process too.
struct ReplayItems
{
    qint64 run = 0;
    QList<ReplayItem> items;
    QString error;

    bool operator==(const ReplayItems &) const = default;
};
/// A message move task: the endpoint itself moves everything in the dead letter queue back.
struct MoveTaskProgress
{
    enum class State { None, Starting, Running, Cancelling, Completed, Cancelled, Failed, Unknown };
    State state = State::None; ///< None: there never was one
    qint64 moved = 0; ///< approximately
    qint64 toMove = -1; ///< at its start, approximately; -1: not known
    int perSecond = 0; ///< as asked for; 0: as the service sees fit
    bool canCancel = false;
    QDateTime startedAt; ///< UTC; invalid: not told
    QString text; ///< why it failed, or could not be started, looked at or cancelled

    bool isUnderWay() const
    {
        return state == State::Starting || state == State::Running || state == State::Cancelling;
    }
    bool operator==(const MoveTaskProgress &) const = default;
};
/// An edited letter to be replayed in its place.
struct EditOrder
{
    QString messageId; ///< of the last browse
    QByteArray body;
    bool newEvent = false; ///< false: the same event, refused when it was handled; true: body has a new event_id
    bool operator==(const EditOrder &) const = default;
};
/// A deleted letter's copy.
struct KeptLetter
{
    qint64 id = 0;
    QDateTime keptAt; ///< UTC
    QString by;
    QString messageId, eventId;
    QString putBackAs; ///< its MessageId since it was put back; empty: it was not
    QByteArray json; ///< a line of an export

    bool operator==(const KeptLetter &) const = default;
};
struct KeptLetters
{
    QList<KeptLetter> letters; ///< newest first
    QString error;

    bool operator==(const KeptLetters &) const = default;
};
/// One line of the audit: who did what to which ids, with what outcome. Never changed.
struct AuditEntry
{
    qint64 id = 0;
    QDateTime at; ///< UTC
    QString who, host, profile;
    QString act; ///< "replay", "delete", "purge", "edit", "forget", "put back", "import", "export" …
    QStringList ids; ///< MessageIds, or event ids where the text says so
    QString text; ///< what was asked, with which settings
    QString outcome; ///< empty for the line written before the act

    bool operator==(const AuditEntry &) const = default;
};
struct AuditPage
{
    QList<AuditEntry> entries; ///< newest first
    qint64 beforeId = 0; ///< as asked; 0: from the newest
    bool more = false;
    QString error;

    bool operator==(const AuditPage &) const = default;
};
/// A clean-up of old claims: what it would take away, or took.
struct CleanUp
{
    bool scheduled = false; ///< nobody asked for it
    int keepDays = 0; ///< that counted
    QDateTime before; ///< UTC: what was processed before it goes
    qint64 rows = 0; ///< claims
    QDateTime oldest, newest; ///< of them (UTC); only when asked for
    qint64 journalRows = 0; ///< deliveries, notes and lines of the audit; not in a preview
    qint64 spared = 0; ///< event ids that were to stay, old or not
    QString warning; ///< keepDays is not what was asked for, and why
    QString error; ///< it ended early, or did not begin

    bool operator==(const CleanUp &) const = default;
};
/// How an act that has no rows of its own ended.
struct ActReport
{
    QString act; ///< as in the audit
    qint64 done = 0;
    qint64 failed = 0;
    QString text; ///< in words
    QStringList problems; ///< one line for each failure

    bool operator==(const ActReport &) const = default;
};

// ---- events in doubt -----------------------------------------------------------------------------------------------

/// What a person decides about an event that may have been mailed.
enum class DoubtAct {
    Arrived, ///< it was mailed: handled, a later delivery or replay is skipped
    SendAgain, ///< the next delivery or replay sends
    Ask, ///< the receiving side: arrived when it has the mail, else nothing changes
};

/// An event of which nobody knows whether its mail was sent (spec.md, "Outcome of a send").
struct Doubt
{
    enum class State {
        Waiting, ///< nobody has decided
        SendAgain, ///< somebody has: the next delivery or replay sends
        Over, ///< sent again, or handled
    };
    QString eventId;
    QString eventType; ///< as are the next six: empty or 0 when no worker of this data folder wrote them down
    QString applicationId;
    QString messageId; ///< of the delivery that ended in doubt
    QString worker; ///< "host pid 4711"
    int lane = 0;
    QString mailReply; ///< the last line that the mail server said
    QString recipient;
    QString mailMessageId; ///< Message-ID of the mail, without angle brackets; follows from the event when not written
    QString strategy; ///< "transaction" or "claim-send-mark", as the setting is written
    State state = State::Waiting;
    QDateTime since; ///< UTC
    QString reason; ///< why nobody knows
    QString done; ///< what policy or people did since; empty: nothing yet

    bool operator==(const Doubt &) const = default;
};
struct DoubtList
{
    QList<Doubt> doubts; ///< those that wait first, newest first
    qint64 waiting = 0; ///< in state Waiting
    bool more = false; ///< there are older ones
    QString maildir; ///< where the receiving side can be asked; empty: nowhere
    QDateTime readAt; ///< UTC
    QString error; ///< not empty: they could not be read, doubts is empty

    bool operator==(const DoubtList &) const = default;
};
/// What an act about one event in doubt did.
struct DoubtOutcome
{
    enum class State {
        Settled, ///< handled
        Released, ///< the next delivery or replay sends
        NotThere, ///< asked: the receiving side has no such mail, the doubt stays
        Refused, ///< nothing was changed; the text says why
        Failed, ///< as far as known nothing was changed; the text says why
    };
    QString eventId;
    DoubtAct act = DoubtAct::Arrived;
    State state = State::Failed;
    QString text; ///< in words

    bool operator==(const DoubtOutcome &) const = default;
};

// ---- what is known of the queues and of event types ----------------------------------------------------------------

/// What a person calls the queues.
struct QueueNames
{
    QString queue;
    QString deadLetters; ///< empty: there is no dead letter queue
    int maxReceiveCount = 0; ///< 0: the queue has no redrive policy

    bool operator==(const QueueNames &) const = default;
};
/// What a body is worth before it is sent.
struct BodyCheck
{
    QString problem; ///< names the field, what was found and what is accepted; empty: a valid event
    QString eventId, type; ///< as far as they can be read
    qint64 sizeBytes = 0;

    bool operator==(const BodyCheck &) const = default;
};
struct EventFieldRule
{
    QString name;
    bool isInteger = false;
    bool operator==(const EventFieldRule &) const = default;
};
/// A type that is known, and its required fields beside type and event_id.
struct EventTypeRule
{
    QString type;
    QList<EventFieldRule> fields;
    bool operator==(const EventTypeRule &) const = default;
};
/// The event types, for forms and for checking what is typed.
struct EventRules
{
    QList<EventTypeRule> types; ///< by name
    std::function<BodyCheck(const QByteArray &body)> check; ///< pure, for any thread; empty: nothing is known yet
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
    MessageAttributes attributes = {};

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
