#pragma once

#include "worker/types.h"

#include <chrono>
#include <deque>

namespace sendonce {

/// The depth samples of the last 15 minutes, oldest first.
class DepthHistory
{
public:
    static constexpr std::chrono::minutes Span{15};

    /// Samples come in the order of their time; one that is older than the last is dropped.
    void add(const QueueDepth &depth);
    const std::deque<QueueDepth> &samples() const { return m_samples; }
    /// The sample that held at a time: the last one not after it. Null when there is none.
    const QueueDepth *at(const QDateTime &time) const;
    qint64 highest() const;

private:
    std::deque<QueueDepth> m_samples;
};

/// How often something happens, from running totals.
class RateMeter
{
public:
    static constexpr std::chrono::seconds Window{10};

    void add(const Counters &counters, const QDateTime &now);
    struct Rates
    {
        double mails = 0;
        double skips = 0;
        double failures = 0;

        bool operator==(const Rates &) const = default;
    };
    /// Per second, over the last 10 s.
    Rates rates(const QDateTime &now) const;

private:
    std::deque<std::pair<QDateTime, Counters>> m_points;
};

} // namespace sendonce
