#pragma once

#include "worker/result.h"
#include "worker/store/claimsession.h"
#include "worker/store/databaseurl.h"

#include <QDateTime>
#include <QString>

#include <atomic>
#include <chrono>
#include <memory>

namespace sendonce {

class PgPool;

/// The claims of the strategy claim-send-mark (spec.md, "Two strategies"): a row of our own in sendonce_delivery from
/// the claim to the mark, and jobs_processedevent only with the mark, so that nobody skips what was never sent. Every
/// call is one short transaction. Leases run by the database's clock. Used in its lane's thread.
class DeliveryLedger
{
public:
    struct Settings
    {
        DatabaseUrl url;
        std::shared_ptr<PgPool> pool; ///< for PostgreSQL
        std::chrono::milliseconds lockWait{24'000};
        std::chrono::milliseconds lease{80'000}; ///< both mail time-outs and 10 s; never renewed
        std::shared_ptr<const std::atomic_bool> stop;
    };
    static std::unique_ptr<DeliveryLedger> make(Settings settings);
    /// Connections that the ledgers of all lanes share; null for SQLite.
    static std::shared_ptr<PgPool> makePool(const DatabaseUrl &url, int connections,
                                            std::chrono::milliseconds lockWait);
    virtual ~DeliveryLedger() = default;

    enum class Standing {
        Ours, ///< claimed by this call
        Duplicate, ///< marked before: it was handled
        Sending, ///< somebody's lease runs
        InDoubt, ///< a lease ran out without a mark, or a send ended in doubt
    };
    struct Claim
    {
        Standing standing = Standing::Ours;
        std::chrono::milliseconds leaseLeft{0}; ///< Sending
        bool otherBody = false; ///< Duplicate (spec.md, rule 8)
        ClaimSession::Row row; ///< Ours: what the mail needs; nothing: no such row
    };

    /// Waits for an open claim of a stranger's in jobs_processedevent. \param owner a UUID, new for each delivery
    /// Errors as ClaimSession::begin() and claim(). An expired lease becomes in doubt here.
    virtual Result<Claim> claim(const ClaimRequest &request, const QString &owner) = 0;
    /// The claim of an event that is in doubt, for a person or a policy has decided to send again: Ours, or what it
    /// has become meanwhile.
    virtual Result<Claim> takeOver(const ClaimRequest &request, const QString &owner) = 0;

    struct Mark
    {
        bool recorded = false; ///< our row stands in jobs_processedevent
        bool wasOurs = false; ///< the delivery was still ours
        /// False: somebody else handled or took it over meanwhile, possibly mailed twice.
        bool isClean() const { return recorded && wasOurs; }
    };
    /// Handled: writes jobs_processedevent and ends the delivery, in one transaction. `stop` does not end it.
    virtual Result<Mark> mark(const ClaimRequest &request, const QString &owner) = 0;
    /// Not sent: the event is unclaimed again. False: it was not ours any more.
    virtual Result<bool> release(const QString &eventId, const QString &owner) = 0;
    /// The send ended in doubt: the lease ends now.
    virtual Result<bool> doubt(const QString &eventId, const QString &owner) = 0;
    /// Opens a connection when there is none, to see whether the database is there.
    virtual Result<void> reach() = 0;
    virtual void close() = 0;

protected:
    DeliveryLedger() = default;
    Q_DISABLE_COPY_MOVE(DeliveryLedger)
};

} // namespace sendonce
