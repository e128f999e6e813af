#include "worker/local/faultboard.h"

#include <chrono>

namespace sendonce {

using namespace std::chrono_literals;

namespace {

FaultPlan::Moment now()
{
    return std::chrono::duration_cast<FaultPlan::Moment>(std::chrono::steady_clock::now().time_since_epoch());
}

} // namespace

FaultBoard::FaultBoard(QObject *parent) : QObject(parent)
{
    m_end.setSingleShot(true);
    connect(&m_end, &QTimer::timeout, this, [this] {
        const bool over = m_plan.expire(now());
        waitForEnd();
        if (over)
            Q_EMIT changed();
    });
}

Result<int> FaultBoard::arm(const FaultRule &rule)
{
    const auto id = m_plan.arm(rule, now());
    if (id) {
        waitForEnd();
        Q_EMIT changed();
    }
    return id;
}

bool FaultBoard::disarm(int id)
{
    const bool known = m_plan.disarm(id);
    if (known)
        Q_EMIT changed();
    return known;
}

void FaultBoard::disarmAll()
{
    if (m_plan.disarmAll())
        Q_EMIT changed();
}

FaultRules FaultBoard::armed() const
{
    return m_plan.armed(now());
}

std::optional<Fault> FaultBoard::ask(FaultPoint point, const FaultSubject &subject, const QList<FaultEffect> &only)
{
    if (!m_plan.isArmedAt(point))
        return std::nullopt;
    const auto moment = now();
    const bool over = m_plan.expire(moment); // whoever asks may be quicker than the timer
    const auto fault = m_plan.ask(point, subject, moment, only);
    if (fault || over)
        Q_EMIT changed();
    return fault;
}

void FaultBoard::waitForEnd()
{
    if (const auto end = m_plan.nextEnd())
        m_end.start(std::max<std::chrono::milliseconds>(*end - now(), 0ms) + 1ms);
    else
        m_end.stop();
}

} // namespace sendonce
