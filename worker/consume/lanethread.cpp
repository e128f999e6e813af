#include "worker/consume/lanethread.h"

#include <QCoreApplication>

#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr int MostLanes = 32; ///< of a thread: with twice as many, one core could be too little for them

} // namespace

int LaneThread::lanesOfOne(const LaneSettings &settings)
{
    const auto url = DatabaseUrl::parse(settings.config.databaseUrl);
    const bool waitsAside = url && url->isPostgres() && settings.smtp.security == SmtpSecurity::Clear;
    return waitsAside ? MostLanes : 1;
}

LaneThread::LaneThread(const LaneSettings &settings, int first, int lanes, QObject *parent)
    : QThread(parent)
    , m_settings(settings)
    , m_first(first)
    , m_count(lanes)
{
    qRegisterMetaType<QList<LaneReport>>();
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
        m_fibers.turn(nextRest());
        takeOrders();
        tell();
        rest();
        QCoreApplication::sendPostedEvents(); // what a TLS socket has asked for
        const std::lock_guard lock(m_mutex);
        ending = m_ending && m_orders.isEmpty();
    }
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

void LaneThread::takeOrders()
{
    QList<Order> orders;
    int awaits = 0;
    {
        const std::lock_guard lock(m_mutex);
        orders = std::exchange(m_orders, {});
        awaits = std::exchange(m_awaits, 0);
    }
    for (const Order &order : std::as_const(orders)) {
        m_fibers.start(
            [this, order] { m_reports.append(lane(order.lane).deliver(order.message, order.receivedNsec)); });
    }
    if (awaits > 0)
        m_fibers.start([this, awaits] { m_isBack = lane(awaits).awaitDatabase() || m_isBack; });
}

void LaneThread::tell()
{
    if (!m_reports.isEmpty())
        Q_EMIT delivered(std::exchange(m_reports, {}));
    if (std::exchange(m_isBack, false))
        Q_EMIT databaseBack();
}

std::optional<Fibers::Clock::time_point> LaneThread::nextRest() const
{
    std::optional<Fibers::Clock::time_point> next;
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
