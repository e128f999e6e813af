#include "ui/faultpresets.h"

#include <QCoreApplication>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {
namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(FaultPresets)
};

FaultRule rule(FaultPoint where, FaultEffect what)
{
    FaultRule rule;
    rule.where = where;
    rule.what = what;
    return rule;
}

FaultRule reply(FaultPoint where, int code, const QString &text = {})
{
    FaultRule refused = rule(where, FaultEffect::Reply);
    refused.code = code;
    refused.text = text;
    return refused;
}

FaultRule late(FaultPoint where, std::chrono::milliseconds delay)
{
    FaultRule late = rule(where, FaultEffect::Delay);
    late.delay = delay;
    return late;
}

FaultRule always(FaultRule rule, std::chrono::milliseconds lasts)
{
    rule.times = 0;
    rule.lasts = lasts;
    return rule;
}

} // namespace

QList<FaultPreset> faultPresets()
{
    using P = FaultPoint;
    using E = FaultEffect;
    FaultRule limit = always(rule(P::MailMail, E::RateLimit), 60s);
    limit.count = 5;
    limit.window = 10s;
    return {
        {u"mailRefused"_s, Words::tr("Next mail refused"), Words::tr("451: rolled back, delivered again, mailed once."),
         reply(P::MailEnd, 451)},
        {u"mailboxFull"_s, Words::tr("Mailbox full"), Words::tr("452 for the next three: then it is a dead letter."),
         [] {
             FaultRule full = reply(P::MailStore, 452, u"4.2.2 mailbox full"_s);
             full.times = 3;
             return full;
         }()},
        {u"mailSlow"_s, Words::tr("Slow mail server"), Words::tr("Each answer 3 s late, for a minute."),
         always(late(P::MailEnd, 3s), 60s)},
        {u"mailRateLimit"_s, Words::tr("Mail server's rate limit"),
         Words::tr("5 mails in 10 s, for a minute; others get 450."), limit},
        {u"replyLost"_s, Words::tr("Answer lost after the dot"),
         Words::tr("The mail is there, the worker cannot know."), rule(P::MailEnd, E::StoreThenClose)},
        {u"timeoutAfterDot"_s, Words::tr("Timeout after the dot"),
         Words::tr("70 s late; the worker waits 60 s: in doubt."), late(P::MailEnd, 70s)},
        {u"duplicate"_s, Words::tr("Duplicate delivery"), Words::tr("Handed out twice at once: still one mail."),
         rule(P::QueueReceive, E::Duplicate)},
        {u"queueDown"_s, Words::tr("Queue down for 10 s"), Words::tr("No answers; then it goes on by itself."),
         always(rule(P::QueueRequest, E::Close), 10s)},
        {u"deleteFails"_s, Words::tr("Delete fails"), Words::tr("The message comes back and is skipped."),
         rule(P::QueueDelete, E::ExpiredHandle)}, // what merely fails is tried again, and never comes back
        {u"databaseLocked"_s, Words::tr("Database locked"), Words::tr("The next claim is given back: no failure."),
         rule(P::DatabaseClaim, E::Busy)},
        {u"commitFails"_s, Words::tr("COMMIT fails after the mail"),
         Words::tr("Claimed once more at once: still one mail."), rule(P::DatabaseCommit, E::Cut)},
        {u"crashBeforeDot"_s, Words::tr("Crash amid the mail"), Words::tr("Before the final dot: one mail after all."),
         rule(P::WorkerMidMail, E::Crash)},
        {u"crashBeforeCommit"_s, Words::tr("Crash between mail and COMMIT"), Words::tr("Mailed again, and announced."),
         rule(P::WorkerAccepted, E::Crash)},
        {u"crashBeforeDelete"_s, Words::tr("Crash between COMMIT and delete"),
         Words::tr("The message comes back and is skipped."), rule(P::WorkerCommitted, E::Crash)},
    };
}

} // namespace sendonce
