#pragma once

#include "worker/faults/fault.h"
#include "worker/types.h"

#include <QString>

#include <atomic>
#include <optional>

namespace sendonce {

/// What a worker asks at each point of its work: is a fault armed here, for this event? Costs one atomic load while
/// nothing is armed at that point; else a question to the embedded services, which decide for all workers. Always
/// compiled in: the delivery that fails in a test is the one that runs in production. From any thread.
class FaultGate
{
public:
    /// How a worker dies of a crash.
    enum class Death {
        Process, ///< SIGKILL to itself: nothing is flushed, closed or rolled back
        Lane, ///< the delivery ends as if its process were dead, and its lane begins anew: in a console, others live on
    };

    /// \param socketPath of the embedded services; empty: nothing can be armed
    /// \param crashAt `--crash-at`: death at that stage, whatever is armed
    FaultGate(const QString &socketPath, Death death, std::optional<Stage> crashAt = std::nullopt);
    Q_DISABLE_COPY_MOVE(FaultGate)

    /// What is armed now, as the services told it. Until then anything may be, and each point asks.
    void setArmed(const FaultRules &rules);

    /// The fault that strikes at that point, and is used up by that. Blocks for the answer, a second at most; nothing
    /// when the services cannot be asked.
    std::optional<Fault> ask(FaultPoint point, const FaultSubject &subject) const;
    /// A death that `--crash-at` or a fault wants: of the process, then this does not return.
    void die() const;

private:
    const QString m_socketPath;
    const Death m_death;
    const std::optional<Stage> m_crashAt;
    std::atomic<quint32> m_armed; ///< a bit for each FaultPoint
};

/// The point at which that stage has just been done; Validated has none.
std::optional<FaultPoint> faultPointOf(Stage stage);
/// Whom a fault in this delivery strikes, as far as it has come.
FaultSubject faultSubject(const DeliveryReport &delivery);

} // namespace sendonce
