#include "worker/store/claimsession.h"

#include "worker/store/database.h"
#include "worker/store/jobboard.h"
#include "worker/store/pgclaimsession.h"
#include "worker/store/turn.h"

#include <QThread>

#include <utility>

namespace sendonce {

namespace {

/// SQLite has one writer: the turn comes first, then BEGIN IMMEDIATE.
class SqliteClaimSession : public ClaimSession
{
public:
    explicit SqliteClaimSession(Settings settings) : m_settings(std::move(settings)) { }
    ~SqliteClaimSession() override { close(); }

    Result<void> reach() override
    {
        if (m_database)
            return {};
        auto database = Database::openFile(m_settings.url.path, std::chrono::seconds(30));
        if (!database)
            return database.error();
        m_database.emplace(database.take());
        m_claims = std::make_unique<ProcessedEvents>(*m_database);
        return {};
    }

    Result<void> begin() override
    {
        if (const auto opened = reach(); !opened)
            return opened;
        const auto deadline = std::chrono::steady_clock::now() + m_settings.lockWait;
        auto turn = Turn::take(m_settings.url.path, m_settings.lockWait, *m_settings.stop);
        if (!turn)
            return turn.error();
        m_turn.emplace(turn.take());
        for (;;) {
            auto transaction = Transaction::begin(*m_database);
            if (transaction) {
                m_transaction.emplace(transaction.take());
                return {};
            }
            // A stranger holds the writer lock (somebody looks at the file with another program). Busy is no outcome:
            // the lane tries again while it holds the message (spec.md).
            if (transaction.error().kind != ErrorKind::Busy || *m_settings.stop
                || std::chrono::steady_clock::now() > deadline) {
                m_turn.reset();
                return transaction.error();
            }
            QThread::msleep(20);
        }
    }

    Result<ProcessedEvents::Claim> claim(const ClaimRequest &request) override
    {
        return m_claims->claim(request.eventId, request.eventType, request.processedAt, request.bodySha256);
    }

    Result<Row> lookUp(const ClaimRequest &request) override
    {
        return sendonce::lookUp(*m_database, request.lookupSql, request.fields);
    }

    Result<void> commit() override
    {
        const auto committed = m_transaction->commit();
        m_transaction.reset();
        if (committed)
            m_turn.reset();
        return committed;
    }

    void rollBack() override
    {
        m_transaction.reset();
        m_turn.reset();
    }

    Result<ProcessedEvents::Claim> reclaim(const ClaimRequest &request) override
    {
        // The turn is still ours.
        m_transaction.reset();
        m_claims.reset();
        m_database.reset();
        const auto claimed = claimAlone(request);
        m_turn.reset();
        return claimed;
    }

    void close() override
    {
        rollBack();
        m_claims.reset();
        m_database.reset();
    }

private:
    Result<ProcessedEvents::Claim> claimAlone(const ClaimRequest &request)
    {
        if (const auto opened = reach(); !opened)
            return opened.error();
        auto transaction = Transaction::begin(*m_database);
        if (!transaction)
            return transaction.error();
        auto claimed = claim(request);
        if (!claimed)
            return claimed;
        if (const auto committed = transaction->commit(); !committed)
            return committed.error();
        return claimed;
    }

    const Settings m_settings;
    std::optional<Database> m_database;
    std::unique_ptr<ProcessedEvents> m_claims; ///< holds statements of m_database: goes before it
    std::optional<Turn> m_turn;
    std::optional<Transaction> m_transaction;
};

} // namespace

std::unique_ptr<ClaimSession> ClaimSession::make(Settings settings)
{
    if (settings.url.isPostgres())
        return std::make_unique<PgClaimSession>(std::move(settings));
    return std::make_unique<SqliteClaimSession>(std::move(settings));
}

} // namespace sendonce
