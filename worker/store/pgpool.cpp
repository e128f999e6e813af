#include "worker/store/pgpool.h"

#include "worker/wait/waiting.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

/// A loan lasts about that long. Who waits looks rather than being told: the other end may be a fiber or a thread.
constexpr auto Look = 1ms;

} // namespace

PgPool::Loan::Loan(PgPool *pool, std::unique_ptr<PgConnection> connection, bool isNew)
    : m_pool(pool)
    , m_connection(std::move(connection))
    , m_isNew(isNew)
{ }

PgPool::Loan::~Loan()
{
    if (m_connection)
        m_pool->giveBack(std::move(m_connection));
}

PgPool::PgPool(DatabaseUrl url, int size, QList<QByteArray> sessionSettings)
    : m_url(std::move(url))
    , m_size(std::max(1, size))
    , m_sessionSettings(std::move(sessionSettings))
{ }

PgPool::~PgPool() = default;

Result<PgPool::Loan> PgPool::borrow(const PgPatience &patience)
{
    std::unique_ptr<PgConnection> connection;
    {
        std::unique_lock lock(m_mutex);
        while (m_idle.empty() && m_lent >= m_size) {
            if (patience.stop && *patience.stop)
                return Error{ErrorKind::Aborted, u"stopped"_s, {}};
            if (patience.deadline.hasExpired())
                return Error{
                    ErrorKind::Busy, u"all %1 connections to %2 are in use"_s.arg(m_size).arg(m_url.displayName()), {}};
            lock.unlock();
            pauseFor(Look);
            lock.lock();
        }
        ++m_lent;
        if (!m_idle.empty()) {
            connection = std::move(m_idle.back());
            m_idle.pop_back();
        }
    }
    if (connection && connection->isUsable())
        return Loan(this, std::move(connection), false);
    auto opened = PgConnection::open(m_url, patience, m_sessionSettings);
    if (!opened) {
        giveBack(nullptr);
        return opened.error();
    }
    return Loan(this, opened.take(), true);
}

void PgPool::giveBack(std::unique_ptr<PgConnection> connection)
{
    if (connection && (!connection->isUsable() || connection->isInTransaction()))
        connection.reset(); // the server rolls back when it sees the end
    {
        const std::lock_guard lock(m_mutex);
        --m_lent;
        if (connection)
            m_idle.push_back(std::move(connection));
    }
}

} // namespace sendonce
