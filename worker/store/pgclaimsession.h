#pragma once

#include "worker/store/claimsession.h"
#include "worker/store/pgconnection.h"
#include "worker/store/pglookup.h"

namespace sendonce {

/// ClaimSession on PostgreSQL: BEGIN, claim and look-up go in one round trip, COMMIT in a second one, or together with
/// the next claim, so that a server under load is woken once for both. A server that
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
    bool claimsAhead() const override { return m_isOpen && m_connection && !m_connection->isPooled(); }
    Result<void> commitAndClaim(const ClaimRequest &next) override;
    void rollBack() override;
    Result<ProcessedEvents::Claim> reclaim(const ClaimRequest &request) override;
    void close() override;

private:
    PgPatience patience(std::chrono::milliseconds time, const std::atomic_bool *stop) const;
    /// \param waits for others to give a connection back, when all are taken; else that is Busy (53300)
    Result<void> connect(const PgPatience &patience, bool waits = true);
    Result<void> connectInTurn(bool waits);
    Result<ProcessedEvents::Claim> tryClaim(const ClaimRequest &request, bool withLookup, const PgPatience &patience);
    /// Its statements, and what of them the answers are looked for in.
    struct Claiming
    {
        QString eventId;
        std::vector<PgConnection::Statement> statements;
        size_t claimAt = 0;
        std::optional<Error> noLookup; ///< why it is not among them
        bool withLookup = false;
    };
    Result<Claiming> claiming(const ClaimRequest &request, bool withLookup) const;
    Result<ProcessedEvents::Claim> claimed(const ClaimRequest &request, const Claiming &claiming,
                                           std::vector<Result<PgRows>> answers, const PgPatience &patience);
    PgPatience commitPatience() const;
    Result<void> committed(const Result<PgRows> &answer);
    Result<ProcessedEvents::Claim> standing(const ClaimRequest &request, const PgPatience &patience);
    Result<ProcessedEvents::Claim> claimAlone(const ClaimRequest &request, const PgPatience &patience);
    std::vector<QByteArray> timeOuts(const char *set) const;

    const Settings m_settings;
    DatabaseUrl m_url; ///< pooled from the moment on that it shows
    std::unique_ptr<PgConnection> m_connection;
    bool m_hasBodies = false; ///< sendonce_claimbody is there and may be used; asked at each connect
    bool m_isOpen = false; ///< a transaction
    std::optional<Claiming> m_ahead; ///< sent behind a COMMIT, its answers still to be read
    QDeadlineTimer m_bound; ///< of the delivery in work (spec.md, "Time-outs")
    std::optional<Result<Row>> m_row; ///< came with the claim
};

} // namespace sendonce
