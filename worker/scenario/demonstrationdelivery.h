#pragma once

#include "worker/consume/deliverymachine.h"
#include "worker/faults/faultgate.h"
#include "worker/mail/smtpclient.h"
#include "worker/scenario/expiringkeys.h"
#include "worker/store/database.h"

#include <QString>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace sendonce {

/// What a demonstration design works with: true services, its connections to them, and what may fail.
struct DemonstrationServices
{
    QString databaseUrl;
    SmtpSettings smtp;
    DeliveryRules rules; ///< the true worker's
    std::shared_ptr<const FaultGate> faults;
    std::shared_ptr<ExpiringKeys> keys; ///< of all workers of a world
    std::shared_ptr<const std::atomic_bool> stop;

    std::optional<Database> database; ///< opened when it is wanted, as is the next
    std::unique_ptr<SmtpClient> mail;

    void disconnect(); ///< as the kernel does for a dead process
};

/// A step of a demonstration design did not succeed. Nothing settles the message: it comes again.
struct DemonstrationFailure
{
    QString text;
};
/// A fault wants the worker dead there.
struct DemonstrationDeath
{
    FaultPoint at;
};

/// One message in the hands of a demonstration design: the steps that designs are made of. A step that fails throws, so
/// that a design reads as its textbook has it; what it has begun is rolled back when the delivery goes out of scope.
/// Blocks its thread. Asks for faults where the true delivery does; `claimed` is passed before the look-up, behind
/// whatever claim a design has.
class DemonstrationDelivery
{
public:
    /// Throws when the body is no event. \param services outlives this
    DemonstrationDelivery(DemonstrationServices &services, const Message &message);
    Q_DISABLE_COPY_MOVE(DemonstrationDelivery)

    QString eventId() const { return m_true.event().eventId; }
    QString messageId() const { return m_true.message().messageId; }

    // ---- the database
    void begin(); ///< BEGIN; without it each statement is committed by itself
    void commit();
    /// INSERT under the unique constraint; false: the key is there already.
    bool claim(const QString &key);
    bool isWrittenDown(const QString &key); ///< SELECT
    void writeDown(const QString &key); ///< INSERT, into a table without a constraint

    // ---- Redis
    bool setUnlessThere(const QString &key, std::chrono::milliseconds expiry); ///< SET NX EX

    // ---- the mail
    void sendMail(); ///< looks the recipient up, and waits for the mail server's last word

    void passed(FaultPoint point); ///< asks whether a fault strikes there

private:
    Database &database();
    MimeMessage renderedMail();
    void committing(const std::function<void()> &write);
    void pause(std::chrono::milliseconds time) const;

    DemonstrationServices &m_services;
    DeliveryMachine m_true; ///< reads the event and makes the mail, as it does for the true worker
    std::optional<Transaction> m_transaction;
};

} // namespace sendonce
