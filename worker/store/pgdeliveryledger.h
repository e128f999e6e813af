#pragma once

#include "worker/store/deliveryledger.h"
#include "worker/store/pglookup.h"
#include "worker/store/pgpool.h"

#include <optional>

namespace sendonce {

/// DeliveryLedger on PostgreSQL: each call is one round trip on a borrowed connection; a claim that finds the event
/// taken costs a second one.
class PgDeliveryLedger : public DeliveryLedger
{
public:
    explicit PgDeliveryLedger(Settings settings);

    Result<Claim> claim(const ClaimRequest &request, const QString &owner) override;
    Result<Claim> takeOver(const ClaimRequest &request, const QString &owner) override;
    Result<Mark> mark(const ClaimRequest &request, const QString &owner) override;
    Result<bool> release(const QString &eventId, const QString &owner) override;
    Result<bool> doubt(const QString &eventId, const QString &owner) override;
    Result<void> reach() override;
    void close() override { }

private:
    using Statement = PgConnection::Statement;
    using Statements = std::vector<Statement>;

    /// `statements` as one transaction; again while the database is away and there is time.
    Result<std::vector<PgRows>> run(const Statements &statements, const QString &doing, bool stoppable);
    Result<std::vector<PgRows>> runOnce(const Statements &statements, const QString &doing, const PgPatience &time);
    Result<Claim> claimed(const ClaimRequest &request, Statements statements, const QString &doing);
    Result<Claim> standing(const ClaimRequest &request);
    std::chrono::milliseconds patience() const;

    const Settings m_settings;
};

} // namespace sendonce
