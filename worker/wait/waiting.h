#pragma once

#include <chrono>

namespace sendonce {

/// Who waits for the code that runs: nobody, so that the thread sleeps, or a Fibers, so that others of its thread go on
/// meanwhile. What is written against the two functions below need not know.
class Waiter
{
public:
    virtual short awaitDescriptor(int descriptor, short events, int msec) = 0;
    virtual void pauseFor(std::chrono::milliseconds time) = 0;

    static Waiter *current(); ///< of this thread, at this moment; null: it sleeps itself

protected:
    Waiter() = default;
    ~Waiter() = default;
    Waiter(const Waiter &) = delete;
    Waiter &operator=(const Waiter &) = delete;

    static void setCurrent(Waiter *waiter);
};

/// As poll(2) of one descriptor: what came of `events` (and POLLHUP, POLLERR), 0 when `msec` are over; below 0: without
/// end. A signal does not end it. errno is whatever it is afterwards.
short awaitDescriptor(int descriptor, short events, int msec);
void pauseFor(std::chrono::milliseconds time);

} // namespace sendonce
