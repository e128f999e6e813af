#include "ui/depthhistory.h"

#include <algorithm>

namespace sendonce {

void DepthHistory::add(const QueueDepth &depth)
{
    if (!depth.sampledAt.isValid() || (!m_samples.empty() && depth.sampledAt < m_samples.back().sampledAt))
        return;
    m_samples.push_back(depth);
    const QDateTime begin = depth.sampledAt.addMSecs(-std::chrono::milliseconds(Span).count());
    // The one just before the span stays: it is where the line comes from.
    while (m_samples.size() > 1 && m_samples[1].sampledAt <= begin)
        m_samples.pop_front();
}

const QueueDepth *DepthHistory::at(const QDateTime &time) const
{
    const auto after =
        std::upper_bound(m_samples.cbegin(), m_samples.cend(), time,
                         [](const QDateTime &t, const QueueDepth &depth) { return t < depth.sampledAt; });
    return after == m_samples.cbegin() ? nullptr : &*std::prev(after);
}

qint64 DepthHistory::highest() const
{
    qint64 highest = 0;
    for (const QueueDepth &depth : m_samples)
        highest = std::max({highest, depth.visible, depth.inFlight, depth.deadLetters});
    return highest;
}

void RateMeter::add(const Counters &counters, const QDateTime &now)
{
    // A worker that was started anew counts from zero.
    if (!m_points.empty()
        && counters.sent + counters.skipped + counters.failed
            < m_points.back().second.sent + m_points.back().second.skipped + m_points.back().second.failed)
        m_points.clear();
    m_points.emplace_back(now, counters);
    const QDateTime begin = now.addMSecs(-std::chrono::milliseconds(Window).count());
    while (m_points.size() > 1 && m_points[1].first <= begin)
        m_points.pop_front();
}

RateMeter::Rates RateMeter::rates(const QDateTime &now) const
{
    if (m_points.empty())
        return {};
    const QDateTime begin = now.addMSecs(-std::chrono::milliseconds(Window).count());
    // What was reached when the window began: the last point not after it. A first point inside it began the count.
    const Counters *from = &m_points.front().second;
    for (const auto &[at, counters] : m_points) {
        if (at <= begin)
            from = &counters;
    }
    const Counters &to = m_points.back().second;
    const double seconds = double(Window.count());
    return {
        .mails = double(to.sent - from->sent) / seconds,
        .skips = double(to.skipped - from->skipped) / seconds,
        .failures = double(to.failed - from->failed) / seconds,
    };
}

} // namespace sendonce
