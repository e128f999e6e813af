#include "worker/scenario/expiringkeys.h"

#include <QMutexLocker>

namespace sendonce {

bool ExpiringKeys::setUnlessThere(const QString &key, std::chrono::milliseconds expiry)
{
    const QMutexLocker locked(&m_mutex);
    const auto now = Clock::now() + m_ahead;
    const auto standing = m_expires.constFind(key);
    if (standing != m_expires.cend() && *standing > now)
        return false;
    m_expires.insert(key, now + expiry);
    return true;
}

void ExpiringKeys::advance(std::chrono::milliseconds time)
{
    const QMutexLocker locked(&m_mutex);
    m_ahead += time;
}

} // namespace sendonce
