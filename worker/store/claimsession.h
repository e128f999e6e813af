#pragma once

#include "worker/result.h"
#include "worker/store/databaseurl.h"
#include "worker/store/processedevents.h"

#include <QByteArray>
#include <QMap>
#include <QString>
#include <QVariant>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

namespace sendonce {

/// What one delivery asks of the database, all of it known before it begins.
struct ClaimRequest
{
    QString eventId;
    QString eventType;
    QString processedAt; ///< djangoTime()
    QByteArray bodySha256;
    QString lookupSql; ///< of the event type
    QMap<QString, QVariant> fields; ///< for its parameters
};

/// A lane's own access to the job board's database: one transaction at a time that claims an event and looks up what
/// its mail needs. The connection is opened at the first begin() and opened anew when it has ended. Opened, used and
/// closed in the lane's thread; every call ends within lockWait and a few seconds, or when `stop` becomes true.
class ClaimSession
{
public:
    using Row = std::optional<QMap<QString, QVariant>>;

    struct Settings
    {
        DatabaseUrl url;
        std::chrono::milliseconds lockWait{24'000}; ///< for turns, locks and a claim of somebody else's
        std::chrono::milliseconds mailTime{70'000}; ///< the longest a mail may take while the transaction is open
        std::shared_ptr<const std::atomic_bool> stop;
        /// Sessions that share it open their connections two at a time; null: as they come.
        std::shared_ptr<std::atomic_int> opening = {};
    };
    static std::unique_ptr<ClaimSession> make(Settings settings);
    virtual ~ClaimSession() = default;

    /// Busy: somebody else has it for longer than lockWait, or (at once, code 53300) no connection is left; Aborted:
    /// stopped; Unreachable: the database is away. Nothing was begun.
    virtual Result<void> begin() = 0;
    /// As ProcessedEvents::claim(), with the same errors as begin() besides.
    virtual Result<ProcessedEvents::Claim> claim(const ClaimRequest &request) = 0;
    /// As lookUp(), of the request just claimed.
    virtual Result<Row> lookUp(const ClaimRequest &request) = 0;
    /// After an error the transaction is over, and whether it was committed is not known.
    virtual Result<void> commit() = 0;
    /// commitAndClaim() saves something here.
    virtual bool claimsAhead() const { return false; }
    /// commit(), and in the same breath begin() and claim() of what this lane does next. The answer is commit()'s, as
    /// early; the rest is collected by begin() and claim() of that request, which come as always, and given up by
    /// rollBack() or close().
    virtual Result<void> commitAndClaim(const ClaimRequest &next)
    {
        Q_UNUSED(next);
        return commit();
    }
    virtual void rollBack() = 0;
    /// The claim once more, on a new connection, committed (spec.md, rule 5). Tries again for lockWait while the
    /// database is away; `stop` does not end it, for a mail is out.
    virtual Result<ProcessedEvents::Claim> reclaim(const ClaimRequest &request) = 0;
    /// Opens the connection when there is none, to see whether the database is there.
    virtual Result<void> reach() = 0;
    virtual void close() = 0;

protected:
    ClaimSession() = default;
    Q_DISABLE_COPY_MOVE(ClaimSession)
};

} // namespace sendonce
