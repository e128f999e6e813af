#include "worker/local/localqueue.h"

#include <utility>

namespace sendonce::local {

void LocalQueue::insert(const QueuedMessage &message, qint64 now)
{
    // Rows grow, so the end is the right hint for everything but an undone delete.
    const auto it = m_slots.try_emplace(m_slots.end(), message.row);
    it->second.message = message;
    place(it->second, now);
}

void LocalQueue::insert(Node node, qint64 now)
{
    const auto inserted = m_slots.insert(std::move(node));
    Q_ASSERT(inserted.inserted);
    place(inserted.position->second, now);
}

const QueuedMessage *LocalQueue::find(qint64 row) const
{
    const auto it = m_slots.find(row);
    return it == m_slots.end() ? nullptr : &it->second.message;
}

void LocalQueue::update(const QueuedMessage &message, qint64 now)
{
    const auto it = m_slots.find(message.row);
    Q_ASSERT(it != m_slots.end());
    unplace(it->second);
    it->second.message = message;
    place(it->second, now);
}

LocalQueue::Node LocalQueue::take(qint64 row)
{
    const auto it = m_slots.find(row);
    Q_ASSERT(it != m_slots.end());
    unplace(it->second);
    return m_slots.extract(it);
}

const QueuedMessage *LocalQueue::nextVisible(qint64 after, qint64 last) const
{
    for (auto it = m_slots.upper_bound(after); it != m_slots.end() && it->first <= last; ++it) {
        if (it->second.visible)
            return &it->second.message;
    }
    return nullptr;
}

const QueuedMessage *LocalQueue::newestVisible(qint64 before) const
{
    for (auto it = m_slots.lower_bound(before); it != m_slots.begin();) {
        if ((--it)->second.visible)
            return &it->second.message;
    }
    return nullptr;
}

void LocalQueue::advance(qint64 now)
{
    while (!m_hidden.empty() && m_hidden.begin()->first.first <= now) {
        Slot &slot = *m_hidden.begin()->second;
        unplace(slot);
        append(slot);
    }
}

QList<qint64> LocalQueue::expire(qint64 now)
{
    QList<qint64> rows;
    const qint64 retentionMsec = std::chrono::milliseconds(settings.retention).count();
    while (!m_slots.empty() && now - m_slots.begin()->second.message.sentSteady >= retentionMsec) {
        rows += m_slots.begin()->first;
        unplace(m_slots.begin()->second);
        m_slots.erase(m_slots.begin());
    }
    return rows;
}

QList<qint64> LocalQueue::clear()
{
    QList<qint64> rows;
    rows.reserve(count());
    for (const auto &[row, slot] : m_slots)
        rows += row;
    m_hidden.clear();
    m_slots.clear();
    m_delayedCount = 0;
    m_firstVisible = m_lastVisible = nullptr;
    return rows;
}

void LocalQueue::swapMessages(LocalQueue &other)
{
    m_slots.swap(other.m_slots);
    m_hidden.swap(other.m_hidden);
    std::swap(m_delayedCount, other.m_delayedCount);
    std::swap(m_firstVisible, other.m_firstVisible);
    std::swap(m_lastVisible, other.m_lastVisible);
}

std::optional<qint64> LocalQueue::nextVisibleAt() const
{
    if (m_hidden.empty())
        return {};
    return m_hidden.begin()->first.first;
}

void LocalQueue::place(Slot &slot, qint64 now)
{
    if (slot.message.visibleAt <= now) {
        append(slot);
        return;
    }
    m_hidden.emplace(std::pair(slot.message.visibleAt, slot.message.row), &slot);
    if (slot.message.receipt == 0)
        ++m_delayedCount;
}

void LocalQueue::unplace(Slot &slot)
{
    if (!slot.visible) {
        m_hidden.erase({slot.message.visibleAt, slot.message.row});
        if (slot.message.receipt == 0)
            --m_delayedCount;
        return;
    }
    (slot.previous ? slot.previous->next : m_firstVisible) = slot.next;
    (slot.next ? slot.next->previous : m_lastVisible) = slot.previous;
    slot.previous = slot.next = nullptr;
    slot.visible = false;
}

void LocalQueue::append(Slot &slot)
{
    slot.visible = true;
    slot.previous = m_lastVisible;
    slot.next = nullptr;
    (m_lastVisible ? m_lastVisible->next : m_firstVisible) = &slot;
    m_lastVisible = &slot;
}

} // namespace sendonce::local
