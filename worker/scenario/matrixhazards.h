#pragma once

#include "worker/faults/fault.h"
#include "worker/scenario/scenariotypes.h"

#include <QList>

#include <chrono>

namespace sendonce {

/// What is done to a world in order to let one thing go wrong; one step begins when the one before has ended.
struct HazardStep
{
    enum class Kind {
        Arm, ///< `rule`
        Send, ///< a message of the event
        SendDead, ///< one into the dead letter queue, where it lies for whatever reason
        NextSecond, ///< a message sent from here on has another Date than those before
        Start, ///< all workers at once
        AwaitHandled, ///< the queue is empty, and nobody is at work
        Redrive, ///< the queue moves its dead letters back: a new MessageId
    };
    Kind kind = Kind::Send;
    FaultRule rule = {};
    bool mayMiss = false; ///< Arm: a design that never comes to that point is not to blame

    bool operator==(const HazardStep &) const = default;
};

/// A column of the guarantee matrix. What is armed as Slow holds a worker, to make the timing certain; where that is
/// left to chance it is left out.
struct Hazard
{
    MatrixHazard about;
    QList<HazardStep> steps;
    int workers = 1;
    bool atOnce = false; ///< it came about only if two workers were at it at the same time
    std::chrono::seconds visibility{1};
    std::chrono::milliseconds mailFinalTimeout{2'000};
};

const QList<Hazard> &matrixHazards();

} // namespace sendonce
