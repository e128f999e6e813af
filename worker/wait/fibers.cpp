#include "worker/wait/fibers.h"

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include <algorithm>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace sendonce {

namespace {

/// Address space, of which only what is touched becomes memory. Formatting, OpenSSL and libpq together stay below a
/// tenth of it; a guard page lies beneath.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t StackBytes = 4 * 1024 * 1024;
#else
constexpr std::size_t StackBytes = 1024 * 1024;
#endif

} // namespace

struct Fibers::Fiber
{
    boost::context::fiber context;
    Work work;
    bool isEnding = false;
    pollfd wait{-1, 0, 0};
    Clock::time_point until; ///< max(): no end
    short came = 0;
    // For AddressSanitizer, all of it with its guard page: it cleans what an exception has left, up to the very top.
    const void *stack = nullptr;
    std::size_t stackBytes = 0;
};

/// The way back from a fiber to turn() or start(): one is enough, for one fiber runs at a time. AddressSanitizer is
/// told of each switch.
struct Fibers::Switch
{
    boost::context::fiber back;
    const void *threadStack = nullptr;
    std::size_t threadStackBytes = 0;

    void arrived([[maybe_unused]] void *fake)
    {
#ifdef __SANITIZE_ADDRESS__
        __sanitizer_finish_switch_fiber(fake, &threadStack, &threadStackBytes);
#endif
    }
    void toThread()
    {
        void *fake = nullptr;
#ifdef __SANITIZE_ADDRESS__
        __sanitizer_start_switch_fiber(&fake, threadStack, threadStackBytes);
#endif
        back = std::move(back).resume();
        arrived(fake);
    }
    boost::context::fiber toThreadForEver()
    {
#ifdef __SANITIZE_ADDRESS__
        __sanitizer_start_switch_fiber(nullptr, threadStack, threadStackBytes);
#endif
        return std::move(back);
    }
};

Fibers::Fibers() : m_switch(std::make_unique<Switch>()), m_wakeDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { }

Fibers::~Fibers()
{
    for (Fiber *fiber : std::exchange(m_idle, {})) {
        fiber->isEnding = true;
        resume(fiber);
    }
    ::close(m_wakeDescriptor);
}

void Fibers::start(Work work)
{
    Fiber *fiber = nullptr;
    if (!m_idle.empty()) {
        fiber = m_idle.back();
        m_idle.pop_back();
        fiber->work = std::move(work);
    } else {
        fiber = m_all.emplace_back(std::make_unique<Fiber>()).get();
        fiber->work = std::move(work);
        boost::context::protected_fixedsize_stack stacks(StackBytes);
        const auto stack = stacks.allocate();
        fiber->stack = static_cast<const char *>(stack.sp) - stack.size;
        fiber->stackBytes = stack.size;
        fiber->context =
            boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack), stacks,
                                  [this, fiber](boost::context::fiber &&back) {
                                      m_switch->back = std::move(back);
                                      m_switch->arrived(nullptr);
                                      while (!fiber->isEnding) {
                                          fiber->work();
                                          fiber->work = nullptr;
                                          m_switch->toThread();
                                      }
                                      return m_switch->toThreadForEver();
                                  });
    }
    resume(fiber);
}

void Fibers::resume(Fiber *fiber)
{
    m_current = fiber;
    setCurrent(this);
#ifdef __SANITIZE_ADDRESS__
    void *fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, fiber->stack, fiber->stackBytes);
#endif
    fiber->context = std::move(fiber->context).resume();
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
    setCurrent(nullptr);
    m_current = nullptr;
    if (fiber->isEnding)
        return;
    (fiber->work ? m_waiting : m_idle).push_back(fiber);
}

short Fibers::awaitDescriptor(int descriptor, short events, int msec)
{
    Fiber *fiber = m_current;
    fiber->wait = {descriptor, events, 0};
    fiber->until = msec < 0 ? Clock::time_point::max() : Clock::now() + std::chrono::milliseconds(msec);
    m_switch->toThread();
    return fiber->came;
}

void Fibers::pauseFor(std::chrono::milliseconds time)
{
    awaitDescriptor(-1, 0, int(time.count())); // poll(2) passes over a negative descriptor
}

void Fibers::turn(std::optional<Clock::time_point> until)
{
    sleep(until);
    for (Fiber *fiber : m_ready)
        resume(fiber);
    m_ready.clear();
}

void Fibers::sleep(std::optional<Clock::time_point> until)
{
    std::vector<pollfd> waits;
    waits.reserve(m_waiting.size() + 1);
    waits.push_back({m_wakeDescriptor, POLLIN, 0});
    auto end = until.value_or(Clock::time_point::max());
    for (const Fiber *fiber : m_waiting) {
        waits.push_back(fiber->wait);
        end = std::min(end, fiber->until);
    }
    int msec = -1;
    if (end != Clock::time_point::max()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
        msec = int(std::clamp<decltype(left)>(left, 0, 60'000));
    }
    if (::poll(waits.data(), waits.size(), msec) < 0)
        return; // a signal: the next turn
    if (waits.front().revents != 0) {
        eventfd_t count = 0;
        (void)::eventfd_read(m_wakeDescriptor, &count);
        m_woken = false;
    }
    const auto now = Clock::now();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m_waiting.size(); ++i) {
        Fiber *fiber = m_waiting[i];
        fiber->came = waits[i + 1].revents;
        if (fiber->came != 0 || fiber->until <= now)
            m_ready.push_back(fiber);
        else
            m_waiting[kept++] = fiber;
    }
    m_waiting.resize(kept);
}

void Fibers::wake()
{
    if (!m_woken.exchange(true))
        (void)::eventfd_write(m_wakeDescriptor, 1);
}

} // namespace sendonce
