#pragma once

#include "worker/config.h"
#include "worker/consume/deliverymachine.h"
#include "worker/consume/doubtjournal.h"
#include "worker/consume/handover.h"
#include "worker/faults/faultgate.h"
#include "worker/mail/smtpclient.h"
#include "worker/store/claimsession.h"
#include "worker/store/deliveryledger.h"
#include "worker/types.h"

#include <QStringList>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace sendonce {

/// What every lane of a worker shares, all of it constant but the flag and the count.
struct LaneSettings
{
    Config config;
    SmtpSettings smtp;
    MailAddress from;
    std::chrono::milliseconds lockWait{24'000}; ///< for the turn and the database's locks
    std::shared_ptr<const EventTypes> eventTypes;
    std::shared_ptr<const std::atomic_bool> stop; ///< abandon what is not handed over yet
    std::shared_ptr<std::atomic_int> opening; ///< ClaimSession::Settings
    std::shared_ptr<PgPool> pool; ///< for Strategy::ClaimSendMark on PostgreSQL
    std::shared_ptr<DoubtJournal> doubts;
    std::shared_ptr<const FaultGate> faults; ///< never null
};

/// What became of one delivery.
struct LaneReport
{
    int lane = 0;
    DeliveryReport report; ///< after COMMIT or roll-back; the journal does not have it yet
    std::optional<Error> databaseLost; ///< it is away, and the next delivery would come to nothing as well
    bool crowdedOut = false; ///< nothing was begun: the database has no connection left for this lane
    std::optional<FaultPoint>
        crashed; ///< as if its process had died there: nothing is settled, nobody is told the outcome
    QStringList warnings; ///< something beside the delivery: the handover file could not be written
    qint64 endedNsec = 0; ///< by Lane::nowNsec()
    QString next; ///< MessageId of what the lane has taken from the Backlog then; empty: it is free

    /// It can begin with another message at once. Whatever else became of this one, the consumer may have to wait, or
    /// to give back what it has.
    bool mayGoOn() const;
};

/// A message for a lane.
struct LaneOrder
{
    Message message;
    qint64 receivedNsec = 0; ///< by Lane::nowNsec()
};

/// One delivery at a time: carries out what DeliveryMachine decides, on real services. Blocks on SQL and on the mail
/// server, or lets other lanes of its thread work meanwhile (worker/wait). Its connections are opened at the first
/// delivery, used and ended in that thread, and kept in between.
class Lane
{
public:
    Lane(LaneSettings settings, int number);
    ~Lane();
    Q_DISABLE_COPY_MOVE(Lane)

    /// Monotonic nanoseconds, the clock of `receivedNsec`.
    static qint64 nowNsec();

    /// \param reserve gives what this lane will deliver next, if there is something: its claim may travel with this
    /// one's COMMIT. Called once at most; what was reserved and is not delivered next (the report does not allow it) is
    /// forgotten here.
    LaneReport deliver(const LaneOrder &order, const std::function<std::optional<LaneOrder>()> &reserve = {});
    /// Tries to reach the database, with growing pauses and without a message in hand. False: stopped before that.
    bool awaitDatabase();
    /// Ends the connections; the lane can be used again afterwards.
    void close();

    /// When to call rest(); nothing: there is no need.
    std::optional<std::chrono::steady_clock::time_point> restsAt() const { return m_restsAt; }
    /// Without work for a while: gives the connection to the database back.
    void rest();

private:
    Result<void> openConnections();
    Result<void> recordDoubt(DeliveryReport doubt);
    Result<void> begin(const DeliveryMachine &delivery);
    DeliveryInput execute(const DeliveryCommand &command, DeliveryMachine &delivery);
    qint64 elapsedUsec() const { return (nowNsec() - m_receivedNsec) / 1000; }
    ClaimSession &claims();
    DeliveryLedger &ledger();
    Result<void> prepare(const DeliveryMachine &delivery);
    Result<DeliveryLedger::Claim> claimDelivery(const DeliveryMachine &delivery, bool takeOver);
    Result<bool> isHeld(const QString &eventId);
    bool leaseLasts() const;
    bool marks() const { return m_settings.config.strategy == Strategy::ClaimSendMark; }
    SendResult sendMail(DeliveryMachine &delivery);
    using StageTimes = decltype(DeliveryReport::stageUsec);
    void passedStages(const StageTimes &before, const DeliveryMachine &delivery);
    void at(FaultPoint point, const DeliveryMachine &delivery);
    std::optional<DeliveryInput> injected(const DeliveryCommand &command, const DeliveryMachine &delivery);
    void work(DeliveryMachine &delivery, DeliveryCommand command);
    Result<void> commit();
    ClaimRequest requestOf(const DeliveryMachine &delivery) const;
    /// A delivery that is read already, and has not begun.
    struct Begun
    {
        explicit Begun(const Lane &lane, const Message &message);
        DeliveryMachine machine;
        DeliveryCommand command; ///< its first
    };
    std::unique_ptr<Begun> read(const LaneOrder &order) const;
    void pause(std::chrono::milliseconds time) const;
    qint64 clockNsec() const;

    LaneSettings m_settings;
    const int m_number;
    QDateTime m_receivedAt; ///< UTC; of the message in work
    qint64 m_receivedNsec = 0;
    std::unique_ptr<ClaimSession> m_claims;
    std::unique_ptr<DeliveryLedger> m_ledger;
    ClaimRequest m_request; ///< of the delivery in work
    QString m_owner; ///< its claim's, for Strategy::ClaimSendMark
    qint64 m_leaseEndNsec = 0; ///< by the clock that counts suspend
    std::optional<Error> m_databaseLost; ///< in the delivery in work
    bool m_crowdedOut = false; ///< in the delivery in work
    std::chrono::milliseconds m_clockJump{0}; ///< its clocks are ahead by that, for a fault that is armed
    QStringList m_warnings; ///< of the delivery in work
    std::function<std::optional<LaneOrder>()> m_reserve; ///< of the delivery in work
    std::unique_ptr<Begun> m_next; ///< what it has reserved
    std::optional<std::chrono::steady_clock::time_point> m_restsAt;
    std::optional<Handover> m_handover;
    std::optional<SmtpClient> m_smtp;
};

} // namespace sendonce
