#include "worker/consume/backlog.h"

#include <utility>

namespace sendonce {

void Backlog::offer(QList<LaneOrder> items, int tellAt)
{
    const std::lock_guard lock(m_mutex);
    m_items = std::move(items);
    m_taken = 0;
    m_tellAt = tellAt;
}

Backlog::News Backlog::withdraw()
{
    const std::lock_guard lock(m_mutex);
    m_items.clear();
    m_taken = 0;
    m_tellAt = 0;
    News news{std::exchange(m_reports, {}), {}};
    for (auto each = m_reserved.begin(); each != m_reserved.end(); ++each) {
        if (!std::exchange(each->isTold, true))
            news.reservations.append({each.key(), each->item.message.messageId});
    }
    return news;
}

std::optional<LaneOrder> Backlog::take()
{
    if (m_taken == m_items.size())
        return std::nullopt;
    return std::move(m_items[m_taken++]);
}

std::optional<LaneOrder> Backlog::reserve(int lane)
{
    const std::lock_guard lock(m_mutex);
    auto item = take();
    if (item)
        m_reserved.insert(lane, {*item});
    return item;
}

Backlog::Finished Backlog::finish(LaneReport report)
{
    Finished finished;
    report.endedNsec = Lane::nowNsec();
    const std::lock_guard lock(m_mutex);
    const auto reserved = m_reserved.find(report.lane);
    std::optional<LaneOrder> mine;
    if (reserved != m_reserved.end()) {
        mine = std::move(reserved->item);
        m_reserved.erase(reserved);
    }
    if (report.mayGoOn())
        finished.next = mine ? std::move(mine) : take();
    if (finished.next)
        report.next = finished.next->message.messageId;
    const bool isRunningOut = m_items.size() - m_taken <= m_tellAt;
    finished.isUrgent = isRunningOut || !report.mayGoOn();
    if (isRunningOut)
        m_tellAt = -1;
    m_reports.append(std::move(report));
    return finished;
}

bool Backlog::hasNews() const
{
    const std::lock_guard lock(m_mutex);
    return !m_reports.isEmpty();
}

} // namespace sendonce
