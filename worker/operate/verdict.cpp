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

qint64 sizeOf(const Message &message)
{
    qint64 bytes = message.body.size();
    for (auto it = message.attributes.cbegin(); it != message.attributes.cend(); ++it) {
        bytes += it.key().toUtf8().size() + it->dataType.toUtf8().size() + it->stringValue.toUtf8().size()
            + it->binaryValue.size();
    }
    return bytes;
}

/// Never half of a pair at the cut.
QString excerptOf(const QByteArray &body)
{
    constexpr qsizetype Characters = 200;
    QString text = QString::fromUtf8(body.left(4 * Characters)).left(Characters);
    if (!text.isEmpty() && text.back().isHighSurrogate())
        text.chop(1);
    return text;
}

/// With an event in doubt.
QString whatAReplayDoes(DoubtPolicy policy)
{
    switch (policy) {
    case DoubtPolicy::Resend:
        return u"a replay sends"_s;
    case DoubtPolicy::Hold:
        return u"a replay is held until somebody decides"_s;
    case DoubtPolicy::Ask:
        return u"a replay asks the receiving side first"_s;
    }
    return {};
}

} // namespace

void describe(DeadLetter &letter, const EventTypes &types)
{
    const EventGlimpse seen = glimpse(letter.message.body);
    letter.eventId = seen.eventId;
    letter.eventType = seen.type;
    letter.applicationId = seen.applicationId;
    letter.sentAt = letter.message.sentAt();
    letter.sizeBytes = sizeOf(letter.message);
    letter.bodyExcerpt = excerptOf(letter.message.body);
    const auto event = parseEvent(letter.message.body, types);
    letter.bodyProblem = event ? QString() : event.error().text;
}

void judge(DeadLetter &letter, const DeadLetterFacts &facts)
{
    letter.reason.clear();
    letter.firstFailedAt = letter.diedAt = {};
    letter.forgotten = false;
    letter.replayedAs = facts.replayedAs;
    letter.timesBack = facts.timesBack;
    if (facts.journal) {
        letter.reason = facts.journal->lastReason;
        letter.firstFailedAt = facts.journal->firstFailedAt;
        letter.diedAt = facts.journal->lastFailedAt;
        if (facts.journal->permanent)
            letter.reason += u" (permanent)"_s;
    }
    // What no worker of ours ever saw was first seen when it was sent, as far as anybody can know.
    const QDateTime firstSeen = facts.journal ? facts.journal->firstAt : letter.sentAt;
    if (!letter.bodyProblem.isEmpty()) {
        letter.verdict = Verdict::Invalid;
        letter.verdictText = u"invalid · a replay will fail again"_s;
        letter.reason = letter.bodyProblem;
    } else if (facts.processedAt) {
        letter.verdict = Verdict::Handled;
        letter.verdictText =
            u"handled %1, %2 · a replay is skipped"_s.arg(when(*facts.processedAt), how(facts.journal));
        if (letter.reason.isEmpty())
            letter.reason = u"its event was handled by another delivery"_s;
    } else if (!facts.databaseRead) {
        letter.verdict = Verdict::Unknown;
        letter.verdictText = u"unknown · the database could not be read"_s;
    } else if (facts.forgottenBefore.isValid() && firstSeen.isValid() && firstSeen <= facts.forgottenBefore) {
        letter.verdict = Verdict::Unknown;
        letter.forgotten = true;
        letter.verdictText = u"forgotten · claims of its time were cleaned up, a replay may mail a second time"_s;
    } else if (facts.journal && facts.journal->inDoubt) {
        letter.verdict = Verdict::InDoubt;
        letter.verdictText = u"in doubt · perhaps mailed, "_s + whatAReplayDoes(facts.inDoubt);
    } else if (!facts.journal && facts.memoryBegins.isValid() && firstSeen.isValid()
               && firstSeen < facts.memoryBegins) {
        letter.verdict = Verdict::Unknown;
        letter.verdictText = u"unknown · it is older than the memory of handled events, a replay sends"_s;
    } else {
        letter.verdict = Verdict::NotHandled;
        letter.verdictText = u"not handled · a replay sends"_s;
    }
    if (!letter.replayedAs.isEmpty())
        letter.verdictText.prepend(u"replayed, copy left · "_s);
    if (letter.reason.isEmpty())
        letter.reason = u"no worker of ours saw it"_s;
}

} // namespace sendonce
