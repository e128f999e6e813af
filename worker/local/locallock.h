#pragma once

#include "worker/result.h"

namespace sendonce::local {

/// `local.lock` of a data folder: at most one process runs embedded services there. The kernel's lock goes away with
/// the process, however that ends, so there is no stale one; the file stays and holds the pid of the last owner.
class LocalLock
{
public:
    LocalLock() = default;
    LocalLock(const LocalLock &) = delete;
    LocalLock &operator=(const LocalLock &) = delete;
    ~LocalLock() { release(); }

    /// Refused when another process has it; the text names its pid. Io when the file cannot be made.
    Result<void> acquire(const QString &file);
    void release();

private:
    int m_descriptor = -1;
};

} // namespace sendonce::local
