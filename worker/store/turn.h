#pragma once

#include "worker/result.h"

#include <QString>

#include <atomic>
#include <chrono>
#include <memory>

namespace sendonce {

/// SQLite has one writer and no fair waiting, so lanes take turns (spec.md): a first come, first served queue in the
/// process, file locks between processes (flock: the kernel lets go of them when a process dies). `<database>.turn` is
/// the turn; who waits for it holds `<database>.turn-next` meanwhile, so that a busy process cannot take turn upon
/// turn. The files stay: removing a lock file is a race.
class Turn
{
public:
    /// Blocks until it is ours, `timeout` has passed (Busy) or `stop` becomes true (Aborted; looked at at least every
    /// 20 ms).
    static Result<Turn> take(const QString &databasePath, std::chrono::milliseconds timeout,
                             const std::atomic_bool &stop);
    Turn(Turn &&other) noexcept;
    Turn &operator=(Turn &&other) noexcept;
    ~Turn(); ///< gives it to the next

    /// How many threads of this process have the turn or wait for it.
    static int waiting(const QString &databasePath);

private:
    struct Held;
    explicit Turn(std::unique_ptr<Held> held);
    std::unique_ptr<Held> m_held;
};

} // namespace sendonce
