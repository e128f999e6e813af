#pragma once

#include "worker/result.h"

#include <QDateTime>
#include <QJsonObject>
#include <QList>
#include <QMetaType>
#include <QString>
#include <QStringList>

#include <chrono>
#include <optional>

/// What can be made to fail, as values: what is armed, and what strikes. console.md, "Faults".
namespace sendonce {

/// Where a fault strikes. Those of mail and queue are on the wire of the embedded services, the others in a worker.
enum class FaultPoint {
    MailConnect, ///< in place of the greeting
    MailEhlo, ///< at EHLO or HELO
    MailMail, ///< at MAIL
    MailRcpt, ///< at RCPT
    MailData, ///< at DATA, before the 354
    MailText, ///< amid the mail's text
    MailEnd, ///< after the final dot
    MailStore, ///< before a mail is stored
    MailNext, ///< between two mails of a connection
    QueueRequest, ///< at any request
    QueueSend, ///< at SendMessage and its batch
    QueueReceive, ///< at ReceiveMessage
    QueueDelete, ///< at DeleteMessage and its batch
    DatabaseClaim, ///< before the claim
    DatabaseLookUp, ///< after the claim
    DatabaseCommit, ///< at COMMIT (claim-send-mark: at the mark)
    DatabaseReclaim, ///< when a claim whose COMMIT failed is made again
    WorkerReceived, ///< from here on: when that has just been done
    WorkerClaimed,
    WorkerLookedUp,
    WorkerMidMail, ///< all of the mail but its final dot is written
    WorkerHandedOver,
    WorkerAccepted,
    WorkerCommitted,
    WorkerDeleted,
};
constexpr int FaultPointCount = 25;

/// What happens there.
enum class FaultEffect {
    Reply, ///< mail: the answer is `code` `text`
    Delay, ///< mail: the answer comes `delay` late (at the end of data the mail is stored before it)
    Close, ///< mail, queue: the connection ends without an answer; nothing was stored or done
    Reset, ///< mail: the same with a TCP reset
    StoreThenClose, ///< mail: stored, then the connection ends without an answer
    StoreThenReset, ///< mail: stored, then a TCP reset
    HalfReply, ///< mail: the first bytes of the right answer, then the connection ends
    Garbage, ///< mail: bytes that are no answer in place of it, then as always
    Suppress, ///< mail: a copy (Message-ID and Date seen before) is accepted and dropped, as some receivers do
    RateLimit, ///< mail: `count` mails in each `window`, the others get 450
    Fail, ///< queue: 500 InternalFailure
    Throttle, ///< queue: 400 ThrottlingException
    Empty, ///< queue: a receive finds nothing
    Duplicate, ///< queue: what is received stays visible, and is delivered again
    Disorder, ///< queue: newest first
    ShortVisibility, ///< queue: what is received comes back after `delay`
    FailEntry, ///< queue: the first entry of a batch fails
    ExpiredHandle, ///< queue: the receipt handle is no longer valid
    Busy, ///< database: locked by somebody else
    LockTimeout, ///< database: the wait for a lock ran out
    Cut, ///< database: the connection breaks; at COMMIT: nothing was committed
    CommitThenCut, ///< database: committed, but the answer is lost
    ReadOnly, ///< database: it takes no writes
    DiskFull, ///< database: the disk is full
    Crash, ///< worker: as kill -9
    Hang, ///< worker: nothing goes on for `delay`; 0: until it is stopped
    Slow, ///< worker: takes `delay` longer
    ClockJump, ///< worker: as if its computer had slept for `delay`; of claim-send-mark's lease so much is over
};
constexpr int FaultEffectCount = 28;

/// One thing that is armed: where, what, how often, for whom, until when.
struct FaultRule
{
    int id = 0; ///< given when it is armed
    FaultPoint where = FaultPoint::MailEnd;
    FaultEffect what = FaultEffect::Reply;
    int code = 451; ///< Reply: 400 to 599
    QString text; ///< Reply: printable ASCII; empty: a text that says it is armed
    std::chrono::milliseconds delay{0};
    int count = 0; ///< RateLimit
    std::chrono::milliseconds window{0}; ///< RateLimit
    int times = 1; ///< it strikes so often, then it is over; 0: every time
    int oneIn = 1; ///< of n that it could strike, one; which is decided by `seed`, event and attempt
    quint32 seed = 0;
    QString event, recipient, type; ///< globs (* and ?); empty: everyone
    std::chrono::milliseconds lasts{0}; ///< over after that; 0: it stays

    // Of an armed one.
    int struck = 0;
    std::chrono::milliseconds left{0}; ///< of `lasts`

    int remaining() const { return times == 0 ? -1 : times - struck; } ///< -1: no end
    bool operator==(const FaultRule &) const = default;
};
using FaultRules = QList<FaultRule>;

/// Whom a fault would strike.
struct FaultSubject
{
    QString event, recipient, type; ///< empty: not known there, so a glob for it does not match
    QString key = {}; ///< stands for the event where that is not known: a MessageId

    bool operator==(const FaultSubject &) const = default;
};

/// A fault that strikes.
struct Fault
{
    FaultEffect what = FaultEffect::Reply;
    int code = 0;
    QString text;
    std::chrono::milliseconds delay{0};

    bool operator==(const Fault &) const = default;
};

QString faultPointName(FaultPoint point); ///< "mail.rcpt"
QString faultEffectName(FaultEffect effect); ///< "store-then-close"
QStringList faultPointNames();
/// What may be armed there.
QList<FaultEffect> faultEffectsAt(FaultPoint point);
/// Invalid, naming what is accepted.
Result<FaultPoint> faultPoint(const QString &name);
Result<FaultEffect> faultEffect(const QString &name, FaultPoint at);

/// {"where":"mail.end","what":"reply","code":451,"times":3,"event":"demo-*"}: members with their defaults left out.
/// Milliseconds in "delayMs", "windowMs", "lastsMs"; an armed one has "id", "struck" and "leftMs" too.
QJsonObject toJson(const FaultRule &rule);
/// Invalid, naming the member, what it is and what is accepted; unknown members too.
Result<FaultRule> faultRule(const QJsonObject &object);
/// One line for people: "mail.end: reply 451, next 3, event demo-*".
QString describe(const FaultRule &rule);

QJsonObject toJson(const Fault &fault);
/// As toJson() wrote it; nothing when it names no effect.
std::optional<Fault> faultFromJson(const QJsonObject &object);

} // namespace sendonce

Q_DECLARE_METATYPE(sendonce::FaultRule)
