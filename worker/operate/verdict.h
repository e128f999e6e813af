#pragma once

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
};

/// Fills eventId, eventType, applicationId, verdict and its text, reason and diedAt of a letter whose message is set.
/// Pure; times in the text are local. spec.md, rule 9.
void judge(DeadLetter &letter, const EventTypes &types, const DeadLetterFacts &facts);

} // namespace sendonce
