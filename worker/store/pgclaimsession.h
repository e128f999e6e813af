#pragma once

#include "worker/store/claimsession.h"
#include "worker/store/pgconnection.h"
#include "worker/store/pglookup.h"

namespace sendonce {

/// ClaimSession on PostgreSQL: BEGIN, claim and look-up go in one round trip, COMMIT in a second one. A server that
/// restarts between two deliveries is not noticed; one that is away makes begin() or claim() Unreachable.
class PgClaimSession : public ClaimSession
{
public:
    explicit PgClaimSession(Settings settings);

    Result<void> reach() override;
    Result<void> begin() override;
    Result<ProcessedEvents::Claim> claim(const ClaimRequest &request) override;
    Result<Row> lookUp(const ClaimRequest &request) override;
    Result<void> commit() override;
    void rollBack() override;
    Result<ProcessedEvents::Claim> reclaim(const ClaimRequest &request) override;
    void close() override { m_connection.reset(); }

private:
    PgPatience patience(std::chrono::milliseconds time, const std::atomic_bool *stop) const;
    /// \param waits for others to give a connection back, when all are taken; else that is Busy (53300)
    Result<void> connect(const PgPatience &patience, bool waits = true);
    Result<void> connectInTurn(bool waits);
    Result<ProcessedEvents::Claim> tryClaim(const ClaimRequest &request, bool withLookup, const PgPatience &patience);
    Result<ProcessedEvents::Claim> standing(const ClaimRequest &request, const PgPatience &patience);
    Result<ProcessedEvents::Claim> claimAlone(const ClaimRequest &request, const PgPatience &patience);
    std::vector<QByteArray> timeOuts(const char *set) const;

    const Settings m_settings;
    DatabaseUrl m_url; ///< pooled from the moment on that it shows
    std::unique_ptr<PgConnection> m_connection;
    bool m_hasBodies = false; ///< sendonce_eventbody is there and may be used; asked at each connect
    bool m_isOpen = false; ///< a transaction
    QDeadlineTimer m_bound; ///< of the delivery in work (spec.md, "Time-outs")
    std::optional<Result<Row>> m_row; ///< came with the claim
};

} // namespace sendonce
