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
        Start, ///< the next worker
        StartAll, ///< all workers, as much at once as it goes
        AwaitStruck, ///< what is armed at `rule.where`, so often as it can
        AwaitHandled, ///< the queue is empty, and nobody is at work
        Redrive, ///< the queue moves its dead letters back: a new MessageId
    };
    Kind kind = Kind::Send;
    FaultRule rule = {};
    bool mayMiss = false; ///< Arm: a design that never comes to that point is not to blame

    bool operator==(const HazardStep &) const = default;
};

/// A column of the guarantee matrix.
struct Hazard
{
    MatrixHazard about;
    QList<HazardStep> steps;
    QList<HazardStep> byChance = {}; ///< when it is repeated: the same, with the timing left alone; empty: as `steps`
    int workers = 1;
    std::chrono::seconds visibility{1};
    std::chrono::milliseconds mailFinalTimeout{2'000};
};

const QList<Hazard> &matrixHazards();

} // namespace sendonce
