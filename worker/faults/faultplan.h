#pragma once

#include "worker/faults/fault.h"

#include <QHash>

#include <chrono>
#include <optional>
#include <vector>

namespace sendonce {

/// What is armed, in the order in which it was, and what of it strikes. No clock: `now` is monotonic, from any origin.
class FaultPlan
{
public:
    using Moment = std::chrono::milliseconds;
    static constexpr int MaxRules = 100;

    /// Its id. Invalid for what faultRule() would refuse, Refused when MaxRules are armed.
    Result<int> arm(FaultRule rule, Moment now);
    bool disarm(int id); ///< false: no such rule
    bool disarmAll(); ///< false: nothing was armed

    /// Asked at a point: the fault that strikes there, which is used up by that. Of several rules the oldest that
    /// strikes.
    /// \param only what can strike there and now; empty: everything
    std::optional<Fault> ask(FaultPoint point, const FaultSubject &subject, Moment now,
                             const QList<FaultEffect> &only = {});
    /// Whether anything is armed at that point: nobody has to find out more.
    bool isArmedAt(FaultPoint point) const;
    FaultRules armed(Moment now) const;
    /// Forgets what is over; true when something was.
    bool expire(Moment now);
    /// When expire() will have something to do; nothing: never.
    std::optional<Moment> nextEnd() const;

private:
    struct Armed
    {
        FaultRule rule;
        std::optional<Moment> ends;
        QHash<QString, int> asked; ///< how often for each event, for `oneIn`
        std::vector<Moment> passed; ///< within the window, for RateLimit
    };
    static bool matches(const FaultRule &rule, const FaultSubject &subject);
    static bool drawn(Armed &armed, FaultPoint point, const FaultSubject &subject);
    static bool isWithinRate(Armed &armed, Moment now);

    std::vector<Armed> m_armed;
    int m_lastId = 0;
};

} // namespace sendonce
