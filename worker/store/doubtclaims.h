#pragma once

#include "worker/result.h"
#include "worker/store/database.h"

#include <QDateTime>
#include <QHash>
#include <QList>
#include <QString>

#include <chrono>

namespace sendonce {

/// The claims of the strategy claim-send-mark (sendonce_delivery) as a person sees them who decides about an event in
/// doubt; the lanes' side is DeliveryLedger. A database without that table has none. In the operator's thread.
class DoubtClaims
{
public:
    /// \param database outlives this
    explicit DoubtClaims(Database &database);

    struct Claim
    {
        QString eventId;
        bool isSending = false; ///< a mail is on its way and its lease runs: not in doubt
        bool isExpired = false; ///< its lease ran out without a word from its worker
        QDateTime leaseUntil; ///< UTC; in doubt since then
    };
    /// Those in doubt, newest first.
    Result<QList<Claim>> inDoubt(int limit);
    /// Of these events, also those that are being sent.
    Result<QHash<QString, Claim>> of(const QStringList &eventIds);

    /// Of the workers on this database, as they agreed on it (sendonce_meta); "transaction" when nothing is written.
    Result<QString> strategy();

    struct Settled
    {
        bool isSending = false; ///< nothing was changed
        bool recorded = false; ///< our row stands in jobs_processedevent now
    };
    /// Handled: writes jobs_processedevent, unless it stands already, and ends the claim, in one transaction.
    /// \param processedAt as djangoTime() \param patience for locks, on SQLite for the lanes' turn
    Result<Settled> settle(const QString &eventId, const QString &eventType, const QString &processedAt,
                           std::chrono::milliseconds patience);
    /// Unclaimed again. False: there was no claim in doubt.
    Result<bool> release(const QString &eventId, std::chrono::milliseconds patience);

private:
    Result<bool> exists();
    QString leaseEnd() const;
    QString now() const;
    QString inDoubtCondition() const;
    Result<QList<Claim>> claims(const QString &condition, const QVariantList &values);
    Result<Settled> settleOnServer(const QString &eventId, const QString &eventType, const QString &processedAt,
                                   bool hasClaims);
    Result<Settled> settleInFile(const QString &eventId, const QString &eventType, const QString &processedAt,
                                 bool hasClaims, std::chrono::milliseconds patience);

    Database &m_database;
    bool m_exists = false; ///< the table was seen
};

} // namespace sendonce
