#pragma once

#include "worker/store/database.h"
#include "worker/store/deliveryledger.h"

#include <functional>
#include <optional>

namespace sendonce {

/// DeliveryLedger on SQLite: takes the turn for each short transaction, and lets go of it while the mail is on its way.
class SqliteDeliveryLedger : public DeliveryLedger
{
public:
    explicit SqliteDeliveryLedger(Settings settings);

    Result<Claim> claim(const ClaimRequest &request, const QString &owner) override;
    Result<Claim> takeOver(const ClaimRequest &request, const QString &owner) override;
    Result<Mark> mark(const ClaimRequest &request, const QString &owner) override;
    Result<bool> release(const QString &eventId, const QString &owner) override;
    Result<bool> doubt(const QString &eventId, const QString &owner) override;
    Result<void> reach() override { return {}; }
    void close() override { m_database.reset(); }

private:
    /// In a transaction, with the turn; committed when `work` succeeds.
    Result<void> inTransaction(const std::function<Result<void>()> &work, bool stoppable);
    Result<QList<QVariantList>> rows(const QString &sql, const QVariantList &values);
    Result<void> change(const QString &sql, const QVariantList &values, bool *changed = nullptr);
    Result<Claim> claimed(const ClaimRequest &request, const QString &owner, bool takingOver);
    Result<Claim> decide(const ClaimRequest &request, const QString &owner, bool takingOver);

    const Settings m_settings;
    const std::atomic_bool m_never{false};
    std::optional<Database> m_database;
};

} // namespace sendonce
