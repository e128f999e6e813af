#pragma once

#include "worker/config.h"
#include "worker/events/eventtype.h"
#include "worker/store/journal.h"
#include "worker/types.h"

#include <QDateTime>

#include <optional>

namespace sendonce {

/// What is known about one dead letter's event, gathered for a page of them at once.
struct DeadLetterFacts
{
    std::optional<QDateTime> processedAt; ///< the claim stands since (UTC)
    std::optional<Journal::Knowledge> journal; ///< nothing: no worker of ours saw it
    bool databaseRead = true; ///< false: claims could not be read
    QDateTime memoryBegins; ///< UTC: the oldest claim; invalid: there is none
    QDateTime forgottenBefore; ///< UTC: newest claim that a clean-up deleted; invalid: none was
    QString replayedAs; ///< the journal's replay of this very message
    int timesBack = 0; ///< replays of its event
    DoubtPolicy inDoubt = DoubtPolicy::Resend; ///< of the workers that a replay would reach
};

/// Fills what the body says: eventId, eventType, applicationId, bodyProblem, excerpt, size, and sentAt. Pure.
void describe(DeadLetter &letter, const EventTypes &types);

/// Fills verdict and its text, reason, times and what the replays say, of a letter that describe() has filled; the body
/// is not needed any more. Pure; times in the text are local. spec.md, rules 9 and 10.
void judge(DeadLetter &letter, const DeadLetterFacts &facts);

} // namespace sendonce
