#include "worker/consume/lanethread.h"

#include <QCoreApplication>

#include <thread>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr int MostLanes = 32; ///< of a thread: with twice as many, one core could be too little for them
/// How long a report may wait for others. What it leads to, a delete and a line in the journal, waits longer for
/// company.
constexpr std::chrono::milliseconds TellWithin{5};
constexpr std::chrono::milliseconds TellAtOnce{0};
/// Longer than a receive's answer takes to be read.
constexpr std::chrono::microseconds RousedFor{300};

} // namespace

int LaneThread::lanesOfOne(const LaneSettings &settings)
{
    const auto url = DatabaseUrl::parse(settings.config.databaseUrl);
    const bool waitsAside = url && url->isPostgres() && settings.smtp.security == SmtpSecurity::Clear;
    return waitsAside ? MostLanes : 1;
}

LaneThread::LaneThread(const LaneSettings &settings, std::shared_ptr<Backlog> backlog, int first, int lanes,
                       QObject *parent)
    : QThread(parent)
    , m_settings(settings)
    , m_backlog(std::move(backlog))
    , m_first(first)
    , m_count(lanes)
{
    setObjectName(lanes == 1 ? u"lane %1"_s.arg(first) : u"lanes %1-%2"_s.arg(first).arg(first + lanes - 1));
}

LaneThread::~LaneThread()
{
    end();
    wait();
}

void LaneThread::end()
{
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
    }
    m_fibers.wake();
}

void LaneThread::deliver(QList<Order> orders)
{
    {
        const std::lock_guard lock(m_mutex);
        m_orders += std::move(orders);
    }
    m_fibers.wake();
}

void LaneThread::rouse()
{
    {
        const std::lock_guard lock(m_mutex);
        m_roused = true;
    }
    m_fibers.wake();
}

void LaneThread::awaitDatabase(int lane)
{
    {
        const std::lock_guard lock(m_mutex);
        m_awaits = lane;
    }
    m_fibers.wake();
}

void LaneThread::run()
{
    for (int i = 0; i < m_count; ++i)
        m_lanes.push_back(std::make_unique<Lane>(m_settings, m_first + i));
    for (bool ending = false; !ending || m_fibers.running() > 0;) {
        m_fibers.turn(nextDue());
        if (!takeOrders())
            stayAwake();
        tell();
        rest();
        QCoreApplication::sendPostedEvents(); // what a TLS socket has asked for
        const std::lock_guard lock(m_mutex);
        ending = m_ending && m_orders.isEmpty();
    }
    m_tellBy = Fibers::Clock::time_point::min(); // whatever is there
    tell();
    close();
}

/// In the thread that used the connections, and all at once: each waits for an answer to its QUIT.
void LaneThread::close()
{
    for (const auto &lane : m_lanes)
        m_fibers.start([&lane] { lane->close(); });
    while (m_fibers.running() > 0)
        m_fibers.turn(std::nullopt);
    m_lanes.clear();
}

/// A processor that has gone to sleep takes a tenth of a millisecond to come back (measured on a virtual one): it may
/// do so while the answer is still read.
void LaneThread::stayAwake()
{
    {
        const std::lock_guard lock(m_mutex);
        if (!std::exchange(m_roused, false))
            return;
    }
    const auto until = Fibers::Clock::now() + RousedFor;
    while (m_fibers.running() == 0 && Fibers::Clock::now() < until && !takeOrders())
        std::this_thread::yield(); // whoever reads the answer may share this processor
}

bool LaneThread::takeOrders()
{
    QList<Order> orders;
    int awaits = 0;
    {
        const std::lock_guard lock(m_mutex);
        orders = std::exchange(m_orders, {});
        awaits = std::exchange(m_awaits, 0);
        m_roused = m_roused && orders.isEmpty();
    }
    for (const Order &each : std::as_const(orders))
        m_fibers.start([this, each] { work(each.lane, each.order); });
    if (awaits > 0)
        m_fibers.start([this, awaits] { m_isBack = lane(awaits).awaitDatabase() || m_isBack; });
    return !orders.isEmpty() || awaits > 0;
}

/// A fiber's: the message that is ordered, and all that wait behind it.
void LaneThread::work(int number, LaneOrder order)
{
    for (;;) {
        auto [next, isUrgent] =
            m_backlog->finish(lane(number).deliver(order, [this, number] { return m_backlog->reserve(number); }));
        // Where a lane blocks its thread, the next chance to tell may be as far away as a mail server takes its time.
        const auto tellBy = Fibers::Clock::now() + (isUrgent || m_count == 1 ? TellAtOnce : TellWithin);
        if (!m_tellBy || tellBy < *m_tellBy)
            m_tellBy = tellBy;
        tell();
        if (!next)
            return;
        order = std::move(*next);
    }
}

void LaneThread::tell()
{
    if (m_tellBy && *m_tellBy <= Fibers::Clock::now()) {
        m_tellBy.reset();
        if (m_backlog->hasNews()) // else it was looked at meanwhile
            Q_EMIT reported();
    }
    if (std::exchange(m_isBack, false))
        Q_EMIT databaseBack();
}

std::optional<Fibers::Clock::time_point> LaneThread::nextDue() const
{
    auto next = m_tellBy;
    for (const auto &lane : m_lanes) {
        if (const auto at = lane->restsAt(); at && (!next || *at < *next))
            next = at;
    }
    return next;
}

void LaneThread::rest()
{
    const auto now = Fibers::Clock::now();
    for (const auto &lane : m_lanes) {
        if (const auto at = lane->restsAt(); at && *at <= now)
            lane->rest();
    }
}

} // namespace sendonce
