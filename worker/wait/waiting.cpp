#include "worker/wait/waiting.h"

#include <cerrno>
#include <poll.h>
#include <thread>

namespace sendonce {

namespace {

thread_local Waiter *t_current = nullptr;

} // namespace

Waiter *Waiter::current()
{
    return t_current;
}

void Waiter::setCurrent(Waiter *waiter)
{
    t_current = waiter;
}

short awaitDescriptor(int descriptor, short events, int msec)
{
    if (t_current)
        return t_current->awaitDescriptor(descriptor, events, msec);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(msec);
    pollfd waiting{descriptor, events, 0};
    for (int left = msec;;) {
        const int ready = ::poll(&waiting, 1, left);
        if (ready > 0)
            return waiting.revents;
        if (ready < 0 && errno != EINTR)
            return POLLERR; // the next call on it says why
        if (ready == 0)
            return 0;
        if (msec >= 0) {
            const auto rest =
                std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
            left = rest > 0 ? int(rest) : 0;
        }
    }
}

void pauseFor(std::chrono::milliseconds time)
{
    if (t_current)
        t_current->pauseFor(time);
    else
        std::this_thread::sleep_for(time);
}

} // namespace sendonce
