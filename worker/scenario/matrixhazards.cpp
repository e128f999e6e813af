#include "worker/scenario/matrixhazards.h"

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

using Step = HazardStep;
using Kind = HazardStep::Kind;

/// Long enough for a second worker to come as far as it can; shorter than any lock is waited for.
constexpr std::chrono::milliseconds Held = 1s;
constexpr std::chrono::seconds LongVisibility =
    3s; ///< where a worker is held, its message must not come again meanwhile

FaultRule rule(FaultPoint where, FaultEffect what, std::chrono::milliseconds delay = 0ms)
{
    FaultRule rule;
    rule.where = where;
    rule.what = what;
    rule.delay = delay;
    return rule;
}

Step arm(FaultPoint where, FaultEffect what, std::chrono::milliseconds delay = 0ms)
{
    return {Kind::Arm, rule(where, what, delay)};
}

Step held(FaultPoint where)
{
    return arm(where, FaultEffect::Slow, Held);
}

const Step Send{Kind::Send};
const Step NextSecond{Kind::NextSecond};
const Step Start{Kind::Start};
const Step Handled{Kind::AwaitHandled};

Hazard simple(const QString &id, const QString &title, const QString &explanation, const Step &armed)
{
    return {{id, title, explanation}, {armed, Send, Start}};
}

Hazard crash(FaultPoint where, const QString &name, const QString &title, const QString &explanation)
{
    return simple(u"crash-"_s + name, title, explanation, arm(where, FaultEffect::Crash));
}

Hazard duplicateDelivery()
{
    return {
        {u"duplicate-delivery"_s, u"Duplicate delivery"_s,
         u"The queue hands the same message to two workers; one is held back until the other has handled it. Repeated "
         "runs leave that to chance."_s},
        {arm(FaultPoint::QueueReceive, FaultEffect::Duplicate), held(FaultPoint::WorkerReceived), Send, Start},
        2,
        true,
        LongVisibility};
}

Hazard secondMessage()
{
    return {{u"second-message"_s, u"Second message"_s,
             u"When the event is handled, a second message of it comes: another MessageId, the same event_id."_s},
            {Send, Start, Handled, NextSecond, Send}};
}

Hazard race()
{
    return {
        {u"race"_s, u"Race of two workers"_s,
         u"Two workers have a message each of one event; the first is held for a second behind its claim, so that the "
         "other comes in between. Repeated runs leave that to chance."_s},
        {Send, NextSecond, Send, held(FaultPoint::WorkerClaimed), Start},
        2,
        true,
        LongVisibility};
}

Hazard commitFailsWithADuplicate()
{
    Step again = arm(FaultPoint::DatabaseReclaim, FaultEffect::Cut);
    again.mayMiss = true;
    return {{u"commit-fails-duplicate"_s, u"COMMIT fails, a duplicate waits"_s,
             u"The mail is accepted and the connection to the database breaks at the COMMIT and, where a design tries "
             "again at once, there too; meanwhile a second worker waits with a second message of the event."_s},
            {Send, NextSecond, Send, arm(FaultPoint::DatabaseCommit, FaultEffect::Cut), again,
             held(FaultPoint::WorkerAccepted), Start},
            2,
            false,
            LongVisibility};
}

Hazard timeoutAfterTheDot()
{
    Hazard hazard =
        simple(u"timeout-after-dot"_s, u"Time-out after the final dot"_s,
               u"The mail server stores the mail, but its answer comes after the worker has given up waiting for it."_s,
               arm(FaultPoint::MailEnd, FaultEffect::Delay, 2s));
    hazard.mailFinalTimeout = 1s;
    return hazard;
}

Hazard redrive()
{
    return {
        {u"redrive"_s, u"Redrive with a new MessageId"_s,
         u"The event is handled, and one message of it lies in the dead letter queue; a day later the queue moves it "
         "back, which gives it a new MessageId."_s},
        {Send,
         Start,
         Handled,
         NextSecond,
         {Kind::SendDead},
         arm(FaultPoint::WorkerReceived, FaultEffect::ClockJump, 24h),
         {Kind::Redrive}}};
}

} // namespace

const QList<Hazard> &matrixHazards()
{
    static const QList<Hazard> all = {
        duplicateDelivery(),
        secondMessage(),
        race(),
        simple(u"mail-refused"_s, u"Mail refused once"_s,
               u"The mail server answers the end of the mail with 451, once; the next one it takes."_s,
               arm(FaultPoint::MailEnd, FaultEffect::Reply)),
        crash(FaultPoint::WorkerReceived, u"received"_s, u"Crash after receive"_s,
              u"The worker dies when it has received the message, and a new one begins."_s),
        crash(FaultPoint::WorkerClaimed, u"claimed"_s, u"Crash after claim"_s,
              u"The worker dies behind its claim, before it looks the recipient up."_s),
        crash(FaultPoint::WorkerLookedUp, u"looked-up"_s, u"Crash after look-up"_s,
              u"The worker dies when it has looked the recipient up, before the mail."_s),
        crash(FaultPoint::WorkerMidMail, u"mid-mail"_s, u"Crash in mid-mail"_s,
              u"The worker dies when all of the mail but its final dot is written."_s),
        crash(FaultPoint::WorkerHandedOver, u"handed-over"_s, u"Crash after the dot"_s,
              u"The worker dies when the final dot is written, before the mail server answers."_s),
        crash(FaultPoint::WorkerAccepted, u"accepted"_s, u"Crash after the mail"_s,
              u"The exact instant: the worker dies between the mail server's 250 and the COMMIT."_s),
        crash(FaultPoint::WorkerCommitted, u"committed"_s, u"Crash before the delete"_s,
              u"The worker dies when all is committed, before it deletes the message."_s),
        crash(FaultPoint::WorkerDeleted, u"deleted"_s, u"Crash after the delete"_s,
              u"The worker dies when the message is deleted."_s),
        simple(u"commit-fails"_s, u"COMMIT fails"_s,
               u"The connection to the database breaks at the first COMMIT, and nothing was committed."_s,
               arm(FaultPoint::DatabaseCommit, FaultEffect::Cut)),
        commitFailsWithADuplicate(),
        timeoutAfterTheDot(),
        redrive(),
        simple(
            u"lost-delete"_s, u"Lost delete"_s,
            u"The message is handled, but its delete is refused (the receipt handle has expired), and it comes again."_s,
            arm(FaultPoint::QueueDelete, FaultEffect::ExpiredHandle)),
    };
    return all;
}

} // namespace sendonce
