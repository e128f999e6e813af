#pragma once

#include "worker/wait/waiting.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace sendonce {

/// Many pieces of blocking code on one thread: each has a stack of its own, and while one waits (awaitDescriptor(),
/// pauseFor()) the others run. One poll(2) waits for all of them, so that a busy thread hardly ever sleeps: with a
/// thread each, every answer of a server costs a switch of the kernel's. Whatever blocks in another way stops all of
/// them. Used in one thread, but for wake().
class Fibers final : private Waiter
{
public:
    using Clock = std::chrono::steady_clock;
    using Work = std::function<void()>;

    Fibers();
    ~Fibers(); ///< nothing may be running any more
    Fibers(const Fibers &) = delete;
    Fibers &operator=(const Fibers &) = delete;

    /// Runs it until it waits or ends. It must not throw.
    void start(Work work);
    int running() const { return int(m_waiting.size()); }
    /// Waits until one can go on, for wake(), or for `until`; then runs all that can.
    void turn(std::optional<Clock::time_point> until);
    /// From any thread: turn() returns, the one under way or the next.
    void wake();

private:
    struct Fiber;
    struct Switch;

    short awaitDescriptor(int descriptor, short events, int msec) override;
    void pauseFor(std::chrono::milliseconds time) override;
    void resume(Fiber *fiber);
    void sleep(std::optional<Clock::time_point> until); ///< the poll

    std::vector<std::unique_ptr<Fiber>> m_all;
    std::vector<Fiber *> m_idle; ///< ended, their stacks can be used again
    std::vector<Fiber *> m_waiting;
    std::vector<Fiber *> m_ready; ///< of the turn under way
    std::unique_ptr<Switch> m_switch;
    Fiber *m_current = nullptr;
    int m_wakeDescriptor = -1;
    std::atomic_bool m_woken{false};
};

} // namespace sendonce
