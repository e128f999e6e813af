#pragma once

#include <QHash>
#include <QMutex>
#include <QString>

#include <chrono>

namespace sendonce {

/// As much of a Redis as a claim wants: keys that expire. Outlives its clients' deaths and knows nothing of their
/// transactions, which is what the demonstration is about. From any thread.
class ExpiringKeys
{
public:
    /// `SET key 1 NX EX expiry`, atomic: false when the key stands already.
    bool setUnlessThere(const QString &key, std::chrono::milliseconds expiry);
    /// Time passes: what expires meanwhile is gone.
    void advance(std::chrono::milliseconds time);

private:
    using Clock = std::chrono::steady_clock;

    QMutex m_mutex;
    Clock::duration m_ahead{0}; ///< of Clock
    QHash<QString, Clock::time_point> m_expires;
};

} // namespace sendonce
