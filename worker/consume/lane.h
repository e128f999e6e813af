#pragma once

#include "worker/config.h"
#include "worker/consume/deliverymachine.h"
#include "worker/consume/handover.h"
#include "worker/faults/crashpoint.h"
#include "worker/mail/smtpclient.h"
#include "worker/store/claimsession.h"
#include "worker/store/deliveryledger.h"
#include "worker/store/journal.h"
#include "worker/types.h"

#include <QObject>
#include <QTimer>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

namespace sendonce {

/// What every lane of a worker shares, all of it constant but the flag.
struct LaneSettings
{
    Config config;
    SmtpSettings smtp;
    MailAddress from;
    std::chrono::milliseconds lockWait{24'000}; ///< for the turn and the database's locks
    std::shared_ptr<const EventTypes> eventTypes;
    std::shared_ptr<const std::atomic_bool> stop; ///< abandon what is not handed over yet
    std::shared_ptr<PgPool> pool; ///< for Strategy::ClaimSendMark on PostgreSQL
};

/// One delivery at a time on a thread of its own: carries out what DeliveryMachine decides, on real services. Blocks on
/// SQL and on the mail server. Its connections are opened in its own thread at the first delivery and kept.
class Lane : public QObject
{
    Q_OBJECT
public:
    Lane(LaneSettings settings, int number);
    ~Lane() override;

    /// Monotonic nanoseconds, the clock of `receivedNsec`.
    static qint64 nowNsec();

public Q_SLOTS:
    void deliver(const sendonce::Message &message, qint64 receivedNsec);
    /// Tries to reach the database, with growing pauses and without a message in hand, until databaseBack() or a stop.
    void awaitDatabase();
    /// Ends the connections; the lane can be used again afterwards.
    void close();

Q_SIGNALS:
    /// After COMMIT or roll-back; the journal does not have it yet.
    void finished(int lane, const sendonce::DeliveryReport &report);
    /// Before finished(): the database is away, and the next delivery would come to nothing as well.
    void databaseLost(const sendonce::Error &error);
    void databaseBack(); ///< the end of awaitDatabase()
    void warned(const QString &text); ///< something beside the delivery: the handover file could not be written

private:
    Result<void> openConnections();
    Result<void> openJournal();
    Result<void> recordDoubt(DeliveryReport doubt);
    DeliveryInput execute(const DeliveryCommand &command, DeliveryMachine &delivery);
    qint64 elapsedUsec() const { return (nowNsec() - m_receivedNsec) / 1000; }
    void tryDatabase(std::chrono::milliseconds pause);
    ClaimSession &claims();
    DeliveryLedger &ledger();
    Result<void> prepare(const DeliveryMachine &delivery);
    Result<DeliveryLedger::Claim> claimDelivery(const DeliveryMachine &delivery, bool takeOver);
    Result<bool> isHeld(const QString &eventId);
    bool leaseLasts() const;
    bool marks() const { return m_settings.config.strategy == Strategy::ClaimSendMark; }
    SendResult sendMail(DeliveryMachine &delivery);
    using StageTimes = decltype(DeliveryReport::stageUsec);
    void passedStages(const StageTimes &before, const StageTimes &after) const;

    LaneSettings m_settings;
    const int m_number;
    CrashPoints m_crash;
    QDateTime m_receivedAt; ///< UTC; of the message in work
    qint64 m_receivedNsec = 0;
    std::unique_ptr<ClaimSession> m_claims;
    std::unique_ptr<DeliveryLedger> m_ledger;
    ClaimRequest m_request; ///< of the delivery in work
    QString m_owner; ///< its claim's, for Strategy::ClaimSendMark
    qint64 m_leaseEndNsec = 0; ///< by the clock that counts suspend
    std::optional<Error> m_databaseLost; ///< in the delivery in work
    QTimer m_idle{this}; ///< since the last delivery
    bool m_awaiting = false; ///< awaitDatabase() has not ended
    std::optional<Journal> m_journal; ///< for doubts, which are written before the roll-back
    std::optional<Handover> m_handover;
    std::optional<SmtpClient> m_smtp;
};

} // namespace sendonce
