#include "ui/faultwords.h"

#include "ui/displaytext.h"

#include <QCoreApplication>

#include <algorithm>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {
namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(FaultWords)
};

using Point = FaultPoint;
using Effect = FaultEffect;
using std::chrono::milliseconds;

bool isForEveryone(const FaultRule &rule)
{
    return rule.event.isEmpty() && rule.recipient.isEmpty() && rule.type.isEmpty();
}

/// "Next 2 mails fail"; empty for what takes more words than that.
QString simpleWords(const FaultRule &rule)
{
    if (rule.oneIn > 1 || !isForEveryone(rule))
        return {};
    const int next = rule.remaining();
    const QString count = countText(next);
    const bool refused = rule.what == Effect::Reply && faultPlaceOf(rule.where) == FaultPlace::Mail;
    if (refused && rule.where != Point::MailConnect && rule.where != Point::MailNext)
        return next < 0 ? Words::tr("Every mail fails")
            : next == 1 ? Words::tr("Next mail fails")
                        : Words::tr("Next %1 mails fail").arg(count);
    if (rule.what == Effect::Crash)
        return next < 0 ? Words::tr("Every delivery crashes")
            : next == 1 ? Words::tr("Next delivery crashes")
                        : Words::tr("Next %1 deliveries crash").arg(count);
    if (rule.where == Point::DatabaseCommit && rule.what != Effect::Busy)
        return next < 0 ? Words::tr("Every COMMIT fails")
            : next == 1 ? Words::tr("Next COMMIT fails")
                        : Words::tr("Next %1 COMMITs fail").arg(count);
    if (rule.where == Point::QueueReceive && rule.what == Effect::Duplicate)
        return next < 0 ? Words::tr("Everything is delivered twice")
            : next == 1 ? Words::tr("Next receive is delivered twice")
                        : Words::tr("Next %1 receives are delivered twice").arg(count);
    if (rule.where == Point::QueueRequest && next < 0)
        return Words::tr("The queue is down");
    return {};
}

/// With a small first letter, where it begins a word and no abbreviation.
QString inSentence(const QString &title)
{
    if (title.size() > 1 && title.at(1).isUpper())
        return title;
    return title.isEmpty() ? title : title.at(0).toLower() + title.sliced(1);
}

} // namespace

FaultPlace faultPlaceOf(FaultPoint point)
{
    return point <= Point::MailNext       ? FaultPlace::Mail
        : point <= Point::QueueDelete     ? FaultPlace::Queue
        : point <= Point::DatabaseReclaim ? FaultPlace::Database
                                          : FaultPlace::Worker;
}

QString faultPlaceTitle(FaultPlace place)
{
    switch (place) {
    case FaultPlace::Mail:
        return Words::tr("Mail server");
    case FaultPlace::Queue:
        return Words::tr("Queue");
    case FaultPlace::Database:
        return Words::tr("Database");
    case FaultPlace::Worker:
        return Words::tr("Worker");
    }
    return {};
}

QString faultPointTitle(FaultPoint point)
{
    switch (point) {
    case Point::MailConnect:
        return Words::tr("On connecting");
    case Point::MailEhlo:
        return Words::tr("At EHLO");
    case Point::MailMail:
        return Words::tr("At MAIL, the sender");
    case Point::MailRcpt:
        return Words::tr("At RCPT, the recipient");
    case Point::MailData:
        return Words::tr("At DATA, before the text");
    case Point::MailText:
        return Words::tr("Amid the text");
    case Point::MailEnd:
        return Words::tr("After the final dot");
    case Point::MailStore:
        return Words::tr("When the mail is stored");
    case Point::MailNext:
        return Words::tr("Between two mails");
    case Point::QueueRequest:
        return Words::tr("At any request");
    case Point::QueueSend:
        return Words::tr("When messages are sent");
    case Point::QueueReceive:
        return Words::tr("When messages are received");
    case Point::QueueDelete:
        return Words::tr("When messages are deleted");
    case Point::DatabaseClaim:
        return Words::tr("Before the claim");
    case Point::DatabaseLookUp:
        return Words::tr("After the claim");
    case Point::DatabaseCommit:
        return Words::tr("At COMMIT");
    case Point::DatabaseReclaim:
        return Words::tr("When it is claimed again");
    case Point::WorkerReceived:
        return Words::tr("After the receive");
    case Point::WorkerClaimed:
        return Words::tr("After the claim");
    case Point::WorkerLookedUp:
        return Words::tr("After the look-up");
    case Point::WorkerMidMail:
        return Words::tr("Amid the mail");
    case Point::WorkerHandedOver:
        return Words::tr("After the final dot");
    case Point::WorkerAccepted:
        return Words::tr("Between mail and COMMIT");
    case Point::WorkerCommitted:
        return Words::tr("Between COMMIT and delete");
    case Point::WorkerDeleted:
        return Words::tr("After the delete");
    }
    return {};
}

QString faultPointText(FaultPoint point)
{
    switch (point) {
    case Point::MailConnect:
        return Words::tr("In place of the mail server's greeting.");
    case Point::MailEhlo:
        return Words::tr("When the worker says who it is.");
    case Point::MailMail:
        return Words::tr("When the worker names the sender; each mail begins with that.");
    case Point::MailRcpt:
        return Words::tr("When the worker names the recipient.");
    case Point::MailData:
        return Words::tr("When the worker wants to send the text; nothing of it was sent yet.");
    case Point::MailText:
        return Words::tr("While the text is on its way; its final dot has not come.");
    case Point::MailEnd:
        return Words::tr("The whole mail is there. Whoever hears no answer now cannot know whether it was taken.");
    case Point::MailStore:
        return Words::tr("The mail is whole and about to be put into its mailbox.");
    case Point::MailNext:
        return Words::tr("On a connection that has carried one mail and is used for the next.");
    case Point::QueueRequest:
        return Words::tr("Whatever is asked of the queue, by the worker or by this window.");
    case Point::QueueSend:
        return Words::tr("When somebody puts messages into the queue.");
    case Point::QueueReceive:
        return Words::tr("When the worker asks for messages.");
    case Point::QueueDelete:
        return Words::tr("When the worker says that messages are done.");
    case Point::DatabaseClaim:
        return Words::tr("When a delivery begins; nothing is claimed yet.");
    case Point::DatabaseLookUp:
        return Words::tr("The event is claimed; its recipient is looked up.");
    case Point::DatabaseCommit:
        return Words::tr("The mail was accepted; the claim is about to be kept (claim-send-mark: marked as sent).");
    case Point::DatabaseReclaim:
        return Words::tr("A COMMIT failed behind an accepted mail, and the event is claimed once more.");
    case Point::WorkerReceived:
        return Words::tr("A message has come; nothing was done about it.");
    case Point::WorkerClaimed:
        return Words::tr("The event is claimed, in a transaction that is still open.");
    case Point::WorkerLookedUp:
        return Words::tr("Recipient and text are known; no mail has begun.");
    case Point::WorkerMidMail:
        return Words::tr("All of the mail but its final dot is with the mail server.");
    case Point::WorkerHandedOver:
        return Words::tr("The final dot is sent and the answer is not read: the exact instant.");
    case Point::WorkerAccepted:
        return Words::tr("The mail server took the mail; the claim is not committed.");
    case Point::WorkerCommitted:
        return Words::tr("The claim is committed; the message is still in the queue.");
    case Point::WorkerDeleted:
        return Words::tr("All is done; the message is gone from the queue.");
    }
    return {};
}

QString faultEffectTitle(FaultEffect effect)
{
    switch (effect) {
    case Effect::Reply:
        return Words::tr("Refuse with a code");
    case Effect::Delay:
        return Words::tr("Answer late");
    case Effect::Close:
        return Words::tr("Close without an answer");
    case Effect::Reset:
        return Words::tr("Reset without an answer");
    case Effect::StoreThenClose:
        return Words::tr("Keep the mail, close without an answer");
    case Effect::StoreThenReset:
        return Words::tr("Keep the mail, reset without an answer");
    case Effect::HalfReply:
        return Words::tr("Half an answer, then close");
    case Effect::Garbage:
        return Words::tr("Answer with garbage first");
    case Effect::Suppress:
        return Words::tr("Drop copies");
    case Effect::RateLimit:
        return Words::tr("Limit the rate");
    case Effect::Fail:
        return Words::tr("Fail (500)");
    case Effect::Throttle:
        return Words::tr("Throttle (400)");
    case Effect::Empty:
        return Words::tr("Find nothing");
    case Effect::Duplicate:
        return Words::tr("Deliver twice");
    case Effect::Disorder:
        return Words::tr("Newest first");
    case Effect::ShortVisibility:
        return Words::tr("Come back too soon");
    case Effect::FailEntry:
        return Words::tr("Fail the first of a batch");
    case Effect::ExpiredHandle:
        return Words::tr("Receipt handle expired");
    case Effect::Busy:
        return Words::tr("Locked by somebody else");
    case Effect::LockTimeout:
        return Words::tr("Wait for a lock runs out");
    case Effect::Cut:
        return Words::tr("Cut the connection");
    case Effect::CommitThenCut:
        return Words::tr("Commit, then cut the connection");
    case Effect::ReadOnly:
        return Words::tr("Take no writes");
    case Effect::DiskFull:
        return Words::tr("Disk full");
    case Effect::Crash:
        return Words::tr("Crash");
    case Effect::Hang:
        return Words::tr("Hang");
    case Effect::Slow:
        return Words::tr("Be slow");
    case Effect::ClockJump:
        return Words::tr("Sleep, as a laptop does");
    }
    return {};
}

QString faultEffectText(FaultEffect effect)
{
    switch (effect) {
    case Effect::Reply:
        return Words::tr("4xx: try again later; 5xx: refused for good.");
    case Effect::Delay:
        return Words::tr("The right answer, but late. At the end of a mail the mail is kept first.");
    case Effect::Close:
        return Words::tr("The connection ends; nothing was kept or done.");
    case Effect::Reset:
        return Words::tr("The connection is broken off (TCP reset); nothing was kept.");
    case Effect::StoreThenClose:
    case Effect::StoreThenReset:
        return Words::tr("The mail is in the mailbox, but the worker never hears of it.");
    case Effect::HalfReply:
        return Words::tr("The first bytes of the right answer, then the connection ends.");
    case Effect::Garbage:
        return Words::tr("Bytes that are no answer, then as always.");
    case Effect::Suppress:
        return Words::tr("A mail whose Message-ID and Date were seen before is taken and dropped.");
    case Effect::RateLimit:
        return Words::tr("So many mails in each span are taken, the others get 450.");
    case Effect::Fail:
        return Words::tr("The queue answers InternalFailure.");
    case Effect::Throttle:
        return Words::tr("The queue answers ThrottlingException.");
    case Effect::Empty:
        return Words::tr("The answer has no messages, although there are some.");
    case Effect::Duplicate:
        return Words::tr("What is received stays visible, and is received again.");
    case Effect::Disorder:
        return Words::tr("The newest messages come first.");
    case Effect::ShortVisibility:
        return Words::tr("What is received is visible again after that time, in the middle of the work.");
    case Effect::FailEntry:
        return Words::tr("The first entry of a batch fails, the others do not.");
    case Effect::ExpiredHandle:
        return Words::tr("The queue no longer knows the handle of that receive.");
    case Effect::Busy:
        return Words::tr("Somebody else writes.");
    case Effect::LockTimeout:
        return Words::tr("Somebody else has claimed the same event and does not let go.");
    case Effect::Cut:
        return Words::tr("The connection breaks. At COMMIT: nothing was committed.");
    case Effect::CommitThenCut:
        return Words::tr("It was committed, but the worker never hears of it.");
    case Effect::ReadOnly:
        return Words::tr("The database can be read only, as a standby.");
    case Effect::DiskFull:
        return Words::tr("No room for what was written.");
    case Effect::Crash:
        return Words::tr("As kill -9: nothing is settled. In this window its lane begins anew, a worker process ends.");
    case Effect::Hang:
        return Words::tr("Nothing goes on for that time.");
    case Effect::Slow:
        return Words::tr("It takes that much longer.");
    case Effect::ClockJump:
        return Words::tr("As if the computer had slept for that time.");
    }
    return {};
}

QString faultWhereText(const FaultRule &rule)
{
    return u"%1 · %2"_s.arg(faultPlaceTitle(faultPlaceOf(rule.where)), inSentence(faultPointTitle(rule.where)));
}

QString faultWhatText(const FaultRule &rule)
{
    switch (rule.what) {
    case Effect::Reply:
        return rule.text.isEmpty() ? Words::tr("refuse with %1").arg(rule.code)
                                   : Words::tr("refuse with %1 %2").arg(QString::number(rule.code), rule.text);
    case Effect::Delay:
        return Words::tr("answer %1 late").arg(secondsText(rule.delay));
    case Effect::RateLimit:
        return Words::tr("%1 mails in %2").arg(countText(rule.count), secondsText(rule.window));
    case Effect::ShortVisibility:
        return Words::tr("come back after %1").arg(secondsText(rule.delay));
    case Effect::Hang:
        return rule.delay > 0ms ? Words::tr("hang for %1").arg(secondsText(rule.delay))
                                : Words::tr("hang until it is stopped");
    case Effect::Slow:
        return Words::tr("%1 slower").arg(secondsText(rule.delay));
    case Effect::ClockJump:
        return Words::tr("sleep for %1").arg(secondsText(rule.delay));
    default:
        return inSentence(faultEffectTitle(rule.what));
    }
}

QString faultOftenText(const FaultRule &rule)
{
    QStringList parts;
    if (rule.oneIn > 1)
        parts += Words::tr("1 in %1, seed %2").arg(countText(rule.oneIn), QString::number(rule.seed));
    if (rule.times == 1)
        parts += Words::tr("next one");
    else if (rule.times > 0)
        parts += rule.struck > 0 ? Words::tr("next %1 of %2").arg(countText(rule.remaining()), countText(rule.times))
                                 : Words::tr("next %1").arg(countText(rule.times));
    else if (rule.oneIn <= 1)
        parts += Words::tr("every time");
    return parts.join(u", "_s);
}

QString faultForText(const FaultRule &rule)
{
    if (isForEveryone(rule))
        return Words::tr("everyone");
    QStringList parts;
    if (!rule.event.isEmpty())
        parts += Words::tr("event %1").arg(rule.event);
    if (!rule.recipient.isEmpty())
        parts += Words::tr("recipient %1").arg(rule.recipient);
    if (!rule.type.isEmpty())
        parts += Words::tr("type %1").arg(rule.type);
    return parts.join(u", "_s);
}

QString faultLine(const FaultRule &rule, milliseconds left)
{
    QStringList parts{u"%1: %2"_s.arg(faultWhereText(rule), faultWhatText(rule)), faultOftenText(rule)};
    if (!isForEveryone(rule))
        parts += faultForText(rule);
    if (left >= 0ms)
        parts += Words::tr("%1 left").arg(countdownText(left));
    return parts.join(u", "_s);
}

milliseconds faultLeft(const FaultRule &rule, milliseconds since)
{
    return rule.lasts <= 0ms ? -1ms : std::max(0ms, rule.left - since);
}

QString secondsText(milliseconds time)
{
    const qint64 msec = time.count();
    if (msec < 60'000)
        return Words::tr("%1 s").arg(double(msec) / 1000);
    const qint64 seconds = msec / 1000;
    if (seconds < 3600)
        return seconds % 60 == 0 ? Words::tr("%1 min").arg(seconds / 60)
                                 : Words::tr("%1 min %2 s").arg(seconds / 60).arg(seconds % 60);
    return seconds % 3600 < 60 ? Words::tr("%1 h").arg(seconds / 3600)
                               : Words::tr("%1 h %2 min").arg(seconds / 3600).arg(seconds % 3600 / 60);
}

QString countdownText(milliseconds left)
{
    return secondsText(std::chrono::ceil<std::chrono::seconds>(left));
}

QString armedWords(const FaultRules &rules, milliseconds since)
{
    if (rules.isEmpty())
        return {};
    QString words = rules.size() == 1 ? simpleWords(rules.first()) : QString();
    if (words.isEmpty())
        words =
            rules.size() == 1 ? Words::tr("1 fault armed") : Words::tr("%1 faults armed").arg(countText(rules.size()));
    milliseconds longest{0};
    for (const FaultRule &rule : rules) {
        const milliseconds left = faultLeft(rule, since);
        if (left < 0ms)
            return words; // it stays until somebody disarms it, or it has struck
        longest = std::max(longest, left);
    }
    return u"%1 · %2"_s.arg(words, countdownText(longest));
}

} // namespace sendonce
