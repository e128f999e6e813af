#pragma once

#include "worker/faults/faultplan.h"

#include <QObject>
#include <QTimer>

#include <optional>

namespace sendonce {

/// What is armed against the embedded services and their workers: one plan for all of them. Asked by mailbox and
/// endpoint themselves and, through ControlServer, by workers; lives on the services' thread, and ends with them.
class FaultBoard : public QObject
{
    Q_OBJECT
public:
    explicit FaultBoard(QObject *parent = nullptr);

    Result<int> arm(const FaultRule &rule); ///< its id; as FaultPlan
    bool disarm(int id); ///< false: no such rule
    void disarmAll();
    FaultRules armed() const;

    /// A fault is used up by the answer. \param only what can strike there and now; empty: everything
    std::optional<Fault> ask(FaultPoint point, const FaultSubject &subject = {}, const QList<FaultEffect> &only = {});
    bool isArmedAt(FaultPoint point) const { return m_plan.isArmedAt(point); }

Q_SIGNALS:
    void changed(); ///< armed, disarmed, over or struck

private:
    void waitForEnd();

    FaultPlan m_plan;
    QTimer m_end; ///< the next rule's time runs out
};

} // namespace sendonce
