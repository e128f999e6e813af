#include "worker/consume/deliverymachine.h"

#include "worker/mail/template.h"
#include "worker/store/doubtlog.h"

namespace sendonce {

using namespace Qt::StringLiterals;
using Kind = DeliveryCommand::Kind;

namespace {

/// Busy elsewhere, stopped, or the database is away: no delivery is to blame, and nothing was sent.
bool isNobodysFault(const Error &error)
{
    return error.kind == ErrorKind::Busy || error.kind == ErrorKind::Aborted || error.kind == ErrorKind::Unreachable;
}

} // namespace

DeliveryMachine::DeliveryMachine(const DeliveryRules &rules, Message message, QString processedAt)
    : m_rules(rules)
    , m_message(std::move(message))
    , m_processedAt(std::move(processedAt))
{
    m_report.messageId = m_message.messageId;
    m_report.receiveCount = m_message.receiveCount();
}

void DeliveryMachine::reach(Stage stage, qint64 usec)
{
    m_report.stageUsec[size_t(stage)] = usec;
}

DeliveryCommand DeliveryMachine::ask(Kind kind)
{
    m_waitingFor = kind;
    return {kind};
}

DeliveryCommand DeliveryMachine::finish(Outcome outcome)
{
    m_report.outcome = outcome;
    writeLogLine();
    return ask(Kind::Finish);
}

DeliveryCommand DeliveryMachine::undoThen(Outcome outcome, Stage failedStage, const QString &reason)
{
    m_outcome = outcome;
    m_report.failedStage = failedStage;
    m_report.reason = reason;
    return ask(marks() ? Kind::Release : Kind::RollBack);
}

DeliveryCommand DeliveryMachine::settleAs(Outcome outcome)
{
    m_outcome = outcome;
    return ask(marks() ? Kind::Mark : Kind::Commit);
}

DeliveryCommand DeliveryMachine::start(qint64 usecSinceReceive)
{
    reach(Stage::Received, usecSinceReceive);
    auto event = parseEvent(m_message.body, *m_rules.eventTypes);
    if (!event) {
        const EventGlimpse seen = glimpse(m_message.body);
        m_report.eventId = seen.eventId;
        m_report.eventType = seen.type;
        m_report.applicationId = seen.applicationId;
        m_report.failedStage = Stage::Validated;
        m_report.reason = event.error().text;
        return finish(Outcome::Failed);
    }
    reach(Stage::Validated, usecSinceReceive);
    m_event = event.take();
    m_type = m_rules.eventTypes->find(m_event.type);
    m_values = m_event.fields;
    m_report.eventId = m_event.eventId;
    m_report.eventType = m_event.type;
    m_report.applicationId = m_event.fields.value(u"application_id"_s).toString();
    return ask(marks() ? Kind::ClaimDelivery : Kind::Begin);
}

DeliveryCommand DeliveryMachine::step(const DeliveryInput &input, qint64 usecSinceReceive)
{
    m_now = usecSinceReceive;
    switch (m_waitingFor) {
    case Kind::Begin: {
        const auto &begun = std::get<Result<void>>(input);
        if (begun)
            return ask(Kind::Claim);
        m_report.failedStage = Stage::Claimed;
        m_report.reason = begun.error().text;
        return finish(isNobodysFault(begun.error()) ? Outcome::GivenBack : Outcome::Failed);
    }
    case Kind::Claim:
        return claimed(std::get<Result<ProcessedEvents::Claim>>(input));
    case Kind::LookUp:
        return lookedUp(std::get<Result<std::optional<QMap<QString, QVariant>>>>(input));
    case Kind::Send:
        return mailed(std::get<SendResult>(input));
    case Kind::RecordDoubt:
        // A journal that cannot be written does not change what is true: the outcome stays in doubt, and the log has
        // it.
        if (marks())
            return ask(Kind::Doubt);
        if (m_accepted)
            return finish(Outcome::InDoubt); // after a failed re-claim: there is no transaction left
        return ask(Kind::RollBack);
    case Kind::Commit:
        return committed(std::get<Result<void>>(input));
    case Kind::RollBack:
        return finish(m_outcome);
    case Kind::Reclaim:
        return reclaimed(std::get<Result<ProcessedEvents::Claim>>(input));
    case Kind::LookIntoDoubt:
        return lookedIntoDoubt(std::get<Result<bool>>(input));
    case Kind::AskReceiver:
        return receiverAnswered(std::get<Result<bool>>(input));
    case Kind::ClaimDelivery:
    case Kind::TakeOver:
        return deliveryClaimed(std::get<Result<DeliveryLedger::Claim>>(input));
    case Kind::Mark:
        return marked(std::get<Result<DeliveryLedger::Mark>>(input));
    case Kind::Release: // what cannot be given up now ends with its lease, and is in doubt then
    case Kind::Doubt:
        return finish(m_outcome);
    case Kind::Finish:
        break;
    }
    return {Kind::Finish};
}

DeliveryCommand DeliveryMachine::claimed(const Result<ProcessedEvents::Claim> &claim)
{
    if (!claim) {
        // Any error is a failure, never "already there": that would lose the mail silently (spec.md, rule 7).
        return undoThen(isNobodysFault(claim.error()) ? Outcome::GivenBack : Outcome::Failed, Stage::Claimed,
                        claim.error().text);
    }
    reach(Stage::Claimed, m_now);
    if (claim->inserted)
        return ask(Kind::LookUp);
    m_report.otherBody = claim->otherBody;
    m_outcome = Outcome::Duplicate;
    return ask(Kind::Commit);
}

DeliveryCommand DeliveryMachine::lookedUp(const Result<std::optional<QMap<QString, QVariant>>> &row)
{
    if (!row) // a look-up that is only slow comes to its DLQ: Busy is not meant here
        return undoThen(row.error().kind == ErrorKind::Unreachable ? Outcome::GivenBack : Outcome::Failed,
                        Stage::LookedUp, row.error().text);
    if (!row->has_value()) {
        const auto text = renderTemplate(m_type->missingText, m_values);
        m_report.reason = text ? text.value() : u"nothing found for it"_s;
        if (m_type->missing == EventType::Missing::Retry)
            return undoThen(Outcome::Failed, Stage::LookedUp, m_report.reason);
        return settleAs(Outcome::Gone);
    }
    const auto rendered = render(row.value().value());
    if (!rendered)
        return undoThen(Outcome::Failed, Stage::LookedUp, rendered.error().text);
    reach(Stage::LookedUp, m_now);
    if (marks())
        return m_inDoubtBefore && m_rules.inDoubt == DoubtPolicy::Ask ? ask(Kind::AskReceiver) : ask(Kind::Send);
    // A first receive cannot be in doubt by this message, but by another one of the same event.
    return m_rules.inDoubt == DoubtPolicy::Resend ? ask(Kind::Send) : ask(Kind::LookIntoDoubt);
}

DeliveryCommand DeliveryMachine::lookedIntoDoubt(const Result<bool> &isHeld)
{
    if (!isHeld) // not known is not "no": a person has asked for no second mail
        return undoThen(Outcome::Failed, Stage::LookedUp, isHeld.error().text);
    if (!isHeld.value())
        return ask(Kind::Send);
    return foundInDoubt();
}

DeliveryCommand DeliveryMachine::foundInDoubt()
{
    m_inDoubtBefore = true;
    switch (m_rules.inDoubt) {
    case DoubtPolicy::Resend:
        return ask(marks() ? Kind::TakeOver : Kind::Send);
    case DoubtPolicy::Ask:
        // The Message-ID is known once the mail is made.
        return ask(marks() ? Kind::TakeOver : Kind::AskReceiver);
    case DoubtPolicy::Hold:
        break;
    }
    m_report.reason = HeldInDoubt;
    m_report.failedStage = Stage::Accepted;
    m_outcome = Outcome::InDoubt;
    return marks() ? finish(Outcome::InDoubt) : ask(Kind::RollBack);
}

DeliveryCommand DeliveryMachine::receiverAnswered(const Result<bool> &hasIt)
{
    if (!hasIt) {
        m_report.reason = hasIt.error().text;
        m_report.failedStage = Stage::Accepted;
        m_outcome = Outcome::InDoubt;
        return ask(marks() ? Kind::Doubt : Kind::RollBack);
    }
    if (!hasIt.value())
        return ask(Kind::Send);
    m_report.reason = u"the receiving side has it"_s;
    m_accepted = true;
    reach(Stage::Accepted, m_now);
    return settleAs(Outcome::Sent);
}

DeliveryCommand DeliveryMachine::deliveryClaimed(const Result<DeliveryLedger::Claim> &claim)
{
    using Standing = DeliveryLedger::Standing;
    if (!claim) {
        m_report.failedStage = Stage::Claimed;
        m_report.reason = claim.error().text;
        return finish(isNobodysFault(claim.error()) ? Outcome::GivenBack : Outcome::Failed);
    }
    reach(Stage::Claimed, m_now);
    switch (claim->standing) {
    case Standing::Ours:
        return lookedUp(claim->row);
    case Standing::Duplicate:
        m_report.otherBody = claim->otherBody;
        return finish(Outcome::Duplicate);
    case Standing::Sending:
        m_report.reason = u"another delivery of this event is under way"_s;
        m_report.hideFor = std::chrono::ceil<std::chrono::seconds>(claim->leaseLeft) + std::chrono::seconds(1);
        return finish(Outcome::GivenBack);
    case Standing::InDoubt:
        if (m_inDoubtBefore) // a take-over that came too late: somebody else has taken it
            return finish(Outcome::GivenBack);
        return foundInDoubt();
    }
    return finish(Outcome::Failed);
}

DeliveryCommand DeliveryMachine::marked(const Result<DeliveryLedger::Mark> &mark)
{
    if (!mark) {
        if (!m_accepted) { // gone: the lease ends, and it is looked at again
            m_report.failedStage = Stage::Committed;
            m_report.reason = mark.error().text;
            return finish(Outcome::Failed);
        }
        m_outcome = Outcome::InDoubt;
        m_report.outcome = Outcome::InDoubt;
        m_report.failedStage = Stage::Committed;
        m_report.reason = u"mailed, but it could not be marked as handled: %1"_s.arg(mark.error().text);
        return ask(Kind::RecordDoubt);
    }
    reach(Stage::Committed, m_now);
    if (m_accepted && !mark->isClean()) {
        m_report.possiblyMailedTwice = true;
        m_report.reason = mark->recorded ? u"somebody else had taken it over"_s : u"somebody else has handled it"_s;
    }
    return finish(m_outcome);
}

Result<void> DeliveryMachine::render(const QMap<QString, QVariant> &row)
{
    // What the database says wins over a field of the same name in the event: the message is the stranger.
    for (auto it = row.cbegin(); it != row.cend(); ++it)
        m_values.insert(it.key(), it.value());

    const auto user = renderTemplate(m_type->recipientUser, m_values);
    if (!user)
        return user.error();
    m_report.userId = user.value();
    const auto address = renderTemplate(m_type->recipientAddress, m_values);
    if (!address)
        return address.error();
    const auto name = renderTemplate(m_type->recipientName, m_values);
    if (!name)
        return name.error();
    const auto to = MailAddress::fromAddress(address.value(), name.value());
    if (!to) // never a skip (spec.md, "Messages")
        return Error{
            ErrorKind::Invalid, u"user %1 has no usable e-mail address: %2"_s.arg(user.value(), to.error().text), {}};
    m_report.recipient = to->address;

    const auto subject = renderTemplate(m_type->subject, m_values);
    if (!subject)
        return subject.error();
    const auto text = renderTemplate(m_type->text, m_values);
    if (!text)
        return text.error();
    const auto html = renderTemplate(m_type->html, m_values, Escape::Html);
    if (!html)
        return html.error();

    MailContent content;
    content.from = m_rules.from;
    content.to = to.value();
    content.subject = subject.value();
    content.text = text.value();
    content.html = html.value();
    content.eventId = m_event.eventId;
    content.messageIdDomain = m_rules.messageIdDomain;
    content.idempotencyHeader = m_rules.idempotencyHeader;
    content.date = m_message.sentAt();
    auto mail = renderMail(content);
    if (!mail)
        return mail.error();
    m_mail = mail.take();
    m_report.mailMessageId = m_mail.messageId;
    return {};
}

DeliveryCommand DeliveryMachine::mailed(const SendResult &result)
{
    m_report.mailReply = result.reply;
    m_report.permanent = result.permanent;
    switch (result.status) {
    case SendResult::Status::Sent:
        reach(Stage::Accepted, m_now);
        m_accepted = true;
        if (m_inDoubtBefore && m_rules.inDoubt == DoubtPolicy::Resend) {
            m_report.possiblyMailedTwice = true;
            m_report.reason = u"it was in doubt before, and was sent again"_s;
        }
        return settleAs(Outcome::Sent);
    case SendResult::Status::NotSent:
        return undoThen(result.aborted ? Outcome::GivenBack : Outcome::Failed, Stage::Accepted,
                        result.reply.isEmpty() ? result.text : result.reply);
    case SendResult::Status::InDoubt:
        m_outcome = Outcome::InDoubt;
        m_report.outcome = Outcome::InDoubt;
        m_report.failedStage = Stage::Accepted;
        m_report.reason = result.text;
        return ask(Kind::RecordDoubt);
    }
    return {Kind::Finish};
}

DeliveryCommand DeliveryMachine::committed(const Result<void> &result)
{
    if (result) {
        reach(Stage::Committed, m_now);
        return finish(m_outcome);
    }
    m_report.reason = result.error().text;
    m_report.failedStage = Stage::Committed;
    if (m_accepted)
        return ask(Kind::Reclaim); // spec.md, rule 5: the mail is out, so the claim must stand
    if (m_outcome == Outcome::Duplicate)
        return finish(Outcome::Duplicate); // nothing was written: the standing row was read, and it stands
    return finish(isNobodysFault(result.error()) ? Outcome::GivenBack : Outcome::Failed);
}

DeliveryCommand DeliveryMachine::reclaimed(const Result<ProcessedEvents::Claim> &claim)
{
    if (!claim) {
        m_outcome = Outcome::InDoubt;
        m_report.outcome = Outcome::InDoubt;
        m_report.reason = u"mailed, but the claim could not be committed: %1"_s.arg(claim.error().text);
        return ask(Kind::RecordDoubt);
    }
    reach(Stage::Committed, m_now);
    const bool ours = claim->inserted || claim->standingText == m_processedAt;
    m_report.possiblyMailedTwice = !ours;
    return finish(Outcome::Sent);
}

void DeliveryMachine::writeLogLine()
{
    const QString event = m_report.eventId.isEmpty() ? u"unreadable"_s : m_report.eventId;
    switch (m_report.outcome) {
    case Outcome::Sent: {
        const auto line = renderTemplate(m_type->logText, m_values);
        m_report.logLine = u"%1 (event %2)"_s.arg(line ? line.value() : u"Emailed "_s + m_report.recipient, event);
        if (m_report.possiblyMailedTwice)
            m_report.logLine +=
                u"; possibly mailed twice: another delivery claimed the event (%1)"_s.arg(m_report.reason);
        break;
    }
    case Outcome::Duplicate:
        m_report.logLine = m_report.otherBody
            ? u"Event %1 already processed with a different body; skipping duplicate: somebody reuses event ids"_s.arg(
                event)
            : u"Event %1 already processed; skipping duplicate"_s.arg(event);
        break;
    case Outcome::Gone:
        m_report.logLine = u"%1; skipping (event %2)"_s.arg(m_report.reason, event);
        break;
    case Outcome::Failed:
        m_report.logLine =
            u"Failed to handle message %1 (event %2): %3"_s.arg(m_report.messageId, event, m_report.reason);
        break;
    case Outcome::InDoubt:
        m_report.logLine =
            u"Event %1 may have been mailed (message %2): %3"_s.arg(event, m_report.messageId, m_report.reason);
        break;
    case Outcome::GivenBack:
        m_report.logLine = u"Gave message %1 back (event %2): %3"_s.arg(m_report.messageId, event, m_report.reason);
        break;
    }
}

} // namespace sendonce
