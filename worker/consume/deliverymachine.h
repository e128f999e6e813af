#pragma once

#include "worker/config.h"
#include "worker/events/event.h"
#include "worker/mail/mimemessage.h"
#include "worker/mail/smtpclient.h"
#include "worker/result.h"
#include "worker/store/deliveryledger.h"
#include "worker/store/processedevents.h"
#include "worker/types.h"

#include <QMap>
#include <QVariant>

#include <optional>
#include <variant>

namespace sendonce {

/// What a delivery wants done next. Its lane carries it out and hands the result to DeliveryMachine::step().
struct DeliveryCommand
{
    enum class Kind {
        Begin, ///< take the turn, BEGIN -> Result<void>
        Claim, ///< claim(eventId, eventType, processedAt, bodySha256) -> Result<ProcessedEvents::Claim>
        LookUp, ///< lookUp(sql, fields) -> Result<optional<row>>
        Send, ///< send(mail), handover slot filled before the dot -> SendResult
        RecordDoubt, ///< journal the doubt, before the roll-back -> Result<void>
        Commit, ///< -> Result<void>
        RollBack, ///< -> Result<void>
        Reclaim, ///< the claim once more, new connection, same processed_at, committed ->
                 ///< Result<ProcessedEvents::Claim>
        LookIntoDoubt, ///< is this event in doubt, and held? -> Result<bool>
        AskReceiver, ///< does the receiving side have mail().messageId? -> Result<bool>

        // Strategy::ClaimSendMark: each is a transaction of its own.
        ClaimDelivery, ///< claims, and looks up -> Result<DeliveryLedger::Claim>
        TakeOver, ///< of an event in doubt, and looks up -> Result<DeliveryLedger::Claim>
        Mark, ///< handled -> Result<DeliveryLedger::Mark>
        Release, ///< unclaimed again -> Result<bool>
        Doubt, ///< the lease ends, in doubt -> Result<bool>
        Finish, ///< over: report() is complete
    };
    Kind kind = Kind::Finish;

    bool operator==(const DeliveryCommand &) const = default;
};

/// What the lane answers; which alternative belongs to which command stands beside the command.
using DeliveryInput =
    std::variant<Result<void>, Result<ProcessedEvents::Claim>, Result<std::optional<QMap<QString, QVariant>>>,
                 SendResult, Result<bool>, Result<DeliveryLedger::Claim>, Result<DeliveryLedger::Mark>>;

/// What a delivery must know beside its message.
struct DeliveryRules
{
    const EventTypes *eventTypes = nullptr;
    MailAddress from;
    QString messageIdDomain;
    QString idempotencyHeader = {}; ///< empty: none
    Strategy strategy = Strategy::Transaction;
    DoubtPolicy inDoubt = DoubtPolicy::Resend;
};

/// One delivery as a state machine without I/O: validate, claim, look up, send, commit; spec.md's table is its
/// contract. The lane drives it on real services, the tests drive it on models; both see the same decisions.
class DeliveryMachine
{
public:
    /// \param processedAt text for the claim (djangoTime()); the same one is used for a re-claim (spec.md, rule 5)
    DeliveryMachine(const DeliveryRules &rules, Message message, QString processedAt);

    /// The first command. Finish at once for a body that is no event.
    DeliveryCommand start(qint64 usecSinceReceive);
    /// The result of the last command -> the next one.
    DeliveryCommand step(const DeliveryInput &input, qint64 usecSinceReceive);

    /// Between the two: the final dot is with the kernel. For the report's times; no decision hangs on it.
    void handedOver(qint64 usecSinceReceive) { reach(Stage::HandedOver, usecSinceReceive); }

    const DeliveryReport &report() const { return m_report; }
    const Message &message() const { return m_message; }
    const Event &event() const { return m_event; }
    const EventType *type() const { return m_type; }
    const MimeMessage &mail() const { return m_mail; }
    const QString &processedAt() const { return m_processedAt; }

private:
    DeliveryCommand ask(DeliveryCommand::Kind kind);
    DeliveryCommand finish(Outcome outcome);
    DeliveryCommand claimed(const Result<ProcessedEvents::Claim> &claim);
    DeliveryCommand lookedUp(const Result<std::optional<QMap<QString, QVariant>>> &row);
    DeliveryCommand mailed(const SendResult &result);
    DeliveryCommand committed(const Result<void> &result);
    DeliveryCommand reclaimed(const Result<ProcessedEvents::Claim> &claim);
    DeliveryCommand lookedIntoDoubt(const Result<bool> &isHeld);
    DeliveryCommand receiverAnswered(const Result<bool> &hasIt);
    DeliveryCommand deliveryClaimed(const Result<DeliveryLedger::Claim> &claim);
    DeliveryCommand foundInDoubt();
    DeliveryCommand marked(const Result<DeliveryLedger::Mark> &mark);
    /// Ends without a mail: rolled back, or the claim given up.
    DeliveryCommand undoThen(Outcome outcome, Stage failedStage, const QString &reason);
    /// Ends with the event handled: committed, or marked.
    DeliveryCommand settleAs(Outcome outcome);
    bool marks() const { return m_rules.strategy == Strategy::ClaimSendMark; }
    Result<void> render(const QMap<QString, QVariant> &row);
    void reach(Stage stage, qint64 usec);
    void writeLogLine();

    DeliveryRules m_rules;
    Message m_message;
    QString m_processedAt;
    Event m_event;
    const EventType *m_type = nullptr;
    QMap<QString, QVariant> m_values; ///< the event's fields and the looked-up row, for templates
    MimeMessage m_mail;
    DeliveryReport m_report;
    DeliveryCommand::Kind m_waitingFor = DeliveryCommand::Kind::Finish;
    Outcome m_outcome = Outcome::Failed; ///< decided, to be told when the transaction has ended
    bool m_accepted = false; ///< the mail server said 2yz to the end of data
    bool m_inDoubtBefore = false; ///< the event, when this delivery came
    qint64 m_now = 0;
};

} // namespace sendonce
