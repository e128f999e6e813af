#pragma once

#include "worker/store/pgconnection.h"

#include <QList>

#include <memory>
#include <mutex>
#include <vector>

namespace sendonce {

/// Connections for lanes that each need one for a moment only: borrowed for one short transaction, given back after it.
/// From any thread; who waits longest is not first, but every wait has an end.
class PgPool
{
public:
    PgPool(DatabaseUrl url, int size, QList<QByteArray> sessionSettings);
    ~PgPool();
    Q_DISABLE_COPY_MOVE(PgPool)

    /// A connection for as long as this lives. It goes back usable, or not at all.
    class Loan
    {
    public:
        Loan(Loan &&other) noexcept = default;
        Loan &operator=(Loan &&other) = delete;
        ~Loan();
        PgConnection *operator->() const { return m_connection.get(); }
        PgConnection &operator*() const { return *m_connection; }
        bool isNew() const { return m_isNew; } ///< opened for this loan

    private:
        friend class PgPool;
        Loan(PgPool *pool, std::unique_ptr<PgConnection> connection, bool isNew);
        PgPool *m_pool;
        std::unique_ptr<PgConnection> m_connection;
        bool m_isNew;
    };

    /// Busy: none was free in time; Aborted; else what opening one says.
    Result<Loan> borrow(const PgPatience &patience);

    const DatabaseUrl &url() const { return m_url; }

private:
    void giveBack(std::unique_ptr<PgConnection> connection);

    const DatabaseUrl m_url;
    const int m_size;
    const QList<QByteArray> m_sessionSettings;
    std::mutex m_mutex;
    std::vector<std::unique_ptr<PgConnection>> m_idle; ///< the one used last at the end
    int m_lent = 0;
};

} // namespace sendonce
