#include "worker/operate/verdict.h"

#include "worker/events/event.h"

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

QString when(const QDateTime &utc)
{
    const QDateTime local = utc.toLocalTime();
    const bool today = local.date() == QDate::currentDate();
    return local.toString(today ? u"HH:mm:ss"_s : u"yyyy-MM-dd HH:mm:ss"_s);
}

QString how(const std::optional<Journal::Knowledge> &journal)
{
    if (journal && journal->mailed)
        return u"mailed"_s;
    if (journal && journal->gone)
        return u"application gone"_s;
    return u"by another worker"_s;
}

} // namespace

void judge(DeadLetter &letter, const EventTypes &types, const DeadLetterFacts &facts)
{
    const EventGlimpse seen = glimpse(letter.message.body);
    letter.eventId = seen.eventId;
    letter.eventType = seen.type;
    letter.applicationId = seen.applicationId;
    letter.sentAt = letter.message.sentAt();

    if (facts.journal) {
        letter.reason = facts.journal->lastReason;
        letter.diedAt = facts.journal->lastFailedAt;
        if (facts.journal->permanent)
            letter.reason += u" (permanent)"_s;
    }
    const auto event = parseEvent(letter.message.body, types);
    if (!event) {
        letter.verdict = Verdict::Invalid;
        letter.verdictText = u"invalid · a replay will fail again"_s;
        letter.reason = event.error().text;
    } else if (facts.processedAt) {
        letter.verdict = Verdict::Handled;
        letter.verdictText =
            u"handled %1, %2 · a replay is skipped"_s.arg(when(*facts.processedAt), how(facts.journal));
        if (letter.reason.isEmpty())
            letter.reason = u"its event was handled by another delivery"_s;
    } else if (!facts.databaseRead) {
        letter.verdict = Verdict::Unknown;
        letter.verdictText = u"unknown · the database could not be read"_s;
    } else if (facts.journal && facts.journal->inDoubt) {
        letter.verdict = Verdict::InDoubt;
        letter.verdictText = u"in doubt · perhaps mailed, a replay sends"_s;
    } else {
        letter.verdict = Verdict::NotHandled;
        letter.verdictText = u"not handled · a replay sends"_s;
    }
    if (letter.reason.isEmpty())
        letter.reason = u"no worker of ours saw it"_s;
}

} // namespace sendonce
