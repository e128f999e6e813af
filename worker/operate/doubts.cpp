#include "worker/operate/doubts.h"

#include "worker/mail/maildirlookup.h"
#include "worker/mail/mimemessage.h"

#include <QSet>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

const QString ActName = u"settle doubt"_s; ///< in the audit

QString when(const QDateTime &utc)
{
    const QDateTime local = utc.toLocalTime();
    return local.toString(local.date() == QDate::currentDate() ? u"HH:mm:ss"_s : u"yyyy-MM-dd HH:mm:ss"_s);
}

bool isWaiting(const Doubts::Facts &facts)
{
    if (facts.handledAt || (facts.claim && facts.claim->isSending))
        return false;
    return facts.claim || (facts.record && !facts.record->isSent());
}

QString heldText(int times)
{
    return times == 1 ? u"held at 1 redelivery"_s : u"held at %1 redeliveries"_s.arg(times);
}

/// What policy and people did since.
QString doneText(const Doubts::Facts &facts)
{
    QStringList parts;
    if (facts.record) {
        const DoubtLog::Record &record = *facts.record;
        if (record.held > 0)
            parts.append(heldText(record.held));
        if (record.isSent()) {
            // The receiving side was asked: nothing was sent a second time.
            parts.append(record.later->mailReply.isEmpty() && !record.later->reason.isEmpty()
                             ? u"settled %1: %2"_s.arg(when(record.laterAt), record.later->reason)
                             : u"sent again %1"_s.arg(when(record.laterAt)));
        } else if (!record.decisionText.isEmpty()) {
            parts.append(record.decisionText);
        } else if (record.later && record.later->outcome == Outcome::Failed) {
            parts.append(u"tried again %1, not sent: %2"_s.arg(when(record.laterAt), record.later->reason));
        }
    }
    if (facts.claim && facts.claim->isSending)
        parts.append(u"being sent again"_s);
    else if (facts.handledAt
             && !(facts.record && (facts.record->isSent() || facts.record->decision == DoubtNote::Settled)))
        parts.append(u"handled %1"_s.arg(when(*facts.handledAt)));
    return parts.join(u" · "_s);
}

} // namespace

std::optional<Doubt> doubtOf(const QString &eventId, const Doubts::Facts &facts)
{
    if (!facts.record && (!facts.claim || facts.claim->isSending))
        return std::nullopt;
    Doubt doubt;
    doubt.eventId = eventId;
    doubt.strategy = facts.claim ? u"claim-send-mark"_s : facts.strategy;
    if (facts.record) {
        const DoubtLog::Record &record = *facts.record;
        doubt.eventType = record.report.eventType;
        doubt.applicationId = record.report.applicationId;
        doubt.messageId = record.report.messageId;
        doubt.worker = record.worker;
        doubt.lane = record.report.lane;
        doubt.mailReply = record.report.mailReply;
        doubt.recipient = record.report.recipient;
        doubt.mailMessageId = record.report.mailMessageId;
        doubt.reason = record.report.reason;
        doubt.since = record.since;
    }
    if (facts.claim && !facts.claim->isSending) {
        if (facts.claim->isExpired)
            doubt.reason.clear();
        if (!doubt.since.isValid() || facts.claim->leaseUntil < doubt.since)
            doubt.since = facts.claim->leaseUntil;
    }
    if (doubt.reason.isEmpty())
        doubt.reason = u"its worker fell silent while it sent"_s;
    doubt.done = doneText(facts);
    const bool sendsAgain = !facts.claim && facts.record && facts.record->decision == DoubtNote::Resend;
    doubt.state = !isWaiting(facts) ? Doubt::State::Over : sendsAgain ? Doubt::State::SendAgain : Doubt::State::Waiting;
    return doubt;
}

Doubts::Setup doubtSetup(const Config &config)
{
    Doubts::Setup setup;
    setup.profile = config.profile;
    setup.readOnly = config.readOnly;
    setup.maildir = config.askMaildir;
    setup.messageIdDomain = config.messageIdDomain;
    if (const auto from = MailAddress::parse(config.mailFrom); from && setup.messageIdDomain.isEmpty())
        setup.messageIdDomain = from->domain();
    return setup;
}

Doubts::Doubts(Database &database, Journal &journal, Setup setup)
    : m_setup(std::move(setup))
    , m_processed(database)
    , m_claims(database)
    , m_log(journal.database())
    , m_journal(journal)
    , m_audit(journal.database(), m_setup.profile)
{ }

DoubtList Doubts::list(int limit)
{
    DoubtList list;
    list.maildir = m_setup.maildir;
    list.readAt = QDateTime::currentDateTimeUtc();
    const auto fail = [&list](const Error &error) {
        list.doubts.clear();
        list.error = error.text;
        return list;
    };
    const auto claims = m_claims.inDoubt(limit + 1);
    if (!claims)
        return fail(claims.error());
    const auto newest = m_log.newest(limit + 1);
    if (!newest)
        return fail(newest.error());
    list.more = claims->size() > limit || newest->size() > limit;
    QStringList ids;
    for (const DoubtClaims::Claim &claim : claims.value())
        ids.append(claim.eventId);
    ids += newest.value();
    ids.removeDuplicates();
    const auto facts = factsOf(ids);
    if (!facts)
        return fail(facts.error());
    for (const QString &eventId : std::as_const(ids)) {
        auto doubt = doubtOf(eventId, facts->value(eventId));
        if (!doubt)
            continue;
        doubt->mailMessageId = messageIdOf(eventId, facts->value(eventId));
        list.doubts.append(*doubt);
    }
    std::stable_sort(list.doubts.begin(), list.doubts.end(), [](const Doubt &a, const Doubt &b) {
        return a.state != b.state ? a.state < b.state : a.since > b.since;
    });
    list.waiting = std::count_if(list.doubts.cbegin(), list.doubts.cend(),
                                 [](const Doubt &doubt) { return doubt.state == Doubt::State::Waiting; });
    if (list.doubts.size() > limit)
        list.doubts.resize(limit);
    return list;
}

Result<QHash<QString, Doubts::Facts>> Doubts::factsOf(const QStringList &eventIds)
{
    const auto claims = m_claims.of(eventIds);
    if (!claims)
        return claims.error();
    const auto records = m_log.records(eventIds);
    if (!records)
        return records.error();
    const auto handled = m_processed.standing(eventIds);
    if (!handled)
        return handled.error();
    const auto strategy = m_claims.strategy();
    if (!strategy)
        return strategy.error();
    QHash<QString, Facts> facts;
    for (const QString &eventId : eventIds) {
        Facts &known = facts[eventId];
        known.strategy = strategy.value();
        if (const auto claim = claims->constFind(eventId); claim != claims->cend())
            known.claim = *claim;
        if (const auto record = records->constFind(eventId); record != records->cend())
            known.record = *record;
        if (const auto since = handled->constFind(eventId); since != handled->cend())
            known.handledAt = *since;
    }
    return facts;
}

QString Doubts::messageIdOf(const QString &eventId, const Facts &facts) const
{
    if (facts.record && !facts.record->report.mailMessageId.isEmpty())
        return facts.record->report.mailMessageId;
    return messageIdFor(eventId, m_setup.messageIdDomain);
}

QList<DoubtOutcome> Doubts::settle(const QStringList &eventIds, DoubtAct act)
{
    QStringList ids = eventIds;
    ids.removeDuplicates();
    const auto all = [&ids, act](DoubtOutcome::State state, const QString &text) {
        QList<DoubtOutcome> outcomes;
        for (const QString &eventId : std::as_const(ids))
            outcomes.append({eventId, act, state, text});
        return outcomes;
    };
    using State = DoubtOutcome::State;
    if (m_setup.readOnly)
        return all(State::Refused, u"this profile is read-only: it looks, but does not act"_s);
    if (act == DoubtAct::Ask && m_setup.maildir.isEmpty())
        return all(State::Refused, u"there is no Maildir to ask; name the receiving side's with --ask-maildir"_s);
    const auto facts = factsOf(ids);
    if (!facts)
        return all(State::Failed, facts.error().text);
    QSet<QString> there;
    if (act == DoubtAct::Ask) {
        QSet<QString> wanted;
        for (const QString &eventId : std::as_const(ids)) {
            if (isWaiting(facts->value(eventId)))
                wanted.insert(messageIdOf(eventId, facts->value(eventId)));
        }
        const auto looked = maildirHolds(m_setup.maildir, wanted);
        if (!looked)
            return all(State::Failed, looked.error().text);
        there = looked.value();
    }
    QList<DoubtOutcome> outcomes;
    for (const QString &eventId : std::as_const(ids)) {
        const Facts &known = facts->constFind(eventId).value();
        DoubtOutcome outcome = settleOne(eventId, known, act);
        if (outcome.text.isEmpty()) { // to be done
            const QString messageId = messageIdOf(eventId, known);
            if (act == DoubtAct::SendAgain)
                outcome = sendAgain(eventId, known);
            else if (act == DoubtAct::Arrived)
                outcome = arrived(eventId, known, u"it arrived"_s);
            else if (there.contains(messageId))
                outcome = arrived(eventId, known, u"its mail is in %1"_s.arg(m_setup.maildir));
            else {
                const QString text = u"not there, but it may still be on its way (%1)"_s.arg(m_setup.maildir);
                const auto noted = begin(DoubtNote::Asked, eventId, known, text);
                outcome = noted ? DoubtOutcome{eventId, act, State::NotThere, text}
                                : DoubtOutcome{eventId, act, State::Failed, noted.error().text};
            }
            outcome.act = act;
        }
        outcomes.append(outcome);
    }
    return outcomes;
}

/// What needs no act, or may not be done; without a text: it is to be done.
DoubtOutcome Doubts::settleOne(const QString &eventId, const Facts &facts, DoubtAct act)
{
    using State = DoubtOutcome::State;
    const bool isResend = act == DoubtAct::SendAgain;
    if (facts.handledAt && isResend)
        return {eventId, act, State::Refused, u"it was handled %1"_s.arg(when(*facts.handledAt))};
    if (facts.handledAt)
        return {eventId, act, State::Settled, u"it was handled %1; nothing to do"_s.arg(when(*facts.handledAt))};
    if (facts.claim && facts.claim->isSending) {
        return {eventId, act, State::Refused,
                u"it is being sent at this moment; if nothing is heard by %1, it is in doubt"_s.arg(
                    when(facts.claim->leaseUntil))};
    }
    if (!isWaiting(facts))
        return {eventId, act, State::Refused, u"it is not in doubt"_s};
    if (isResend && !facts.claim && facts.record && facts.record->decision == DoubtNote::Resend)
        return {eventId, act, State::Released, u"that was decided before; nothing to do"_s};
    return {eventId, act, State::Failed, {}};
}

DoubtOutcome Doubts::arrived(const QString &eventId, const Facts &facts, const QString &why)
{
    DoubtOutcome outcome{eventId, DoubtAct::Arrived, DoubtOutcome::State::Failed, {}};
    const auto begun =
        begin(DoubtNote::Settled, eventId, facts, why + u" · handled, a redelivery or replay is skipped"_s);
    if (!begun) {
        outcome.text = begun.error().text;
        return outcome;
    }
    const QString type = facts.record ? facts.record->report.eventType : QString();
    const auto settled = m_claims.settle(eventId, type, djangoTime(nowUsecs()), m_setup.patience);
    if (!settled) {
        outcome.text = settled.error().text;
    } else if (settled->isSending) {
        outcome.state = DoubtOutcome::State::Refused;
        outcome.text = u"it is being sent at this moment"_s;
    } else {
        outcome.state = DoubtOutcome::State::Settled;
        outcome.text =
            settled->recorded ? why + u": handled, a redelivery or replay is skipped"_s : u"it was handled meanwhile"_s;
    }
    return ended(outcome, facts);
}

DoubtOutcome Doubts::sendAgain(const QString &eventId, const Facts &facts)
{
    DoubtOutcome outcome{eventId, DoubtAct::SendAgain, DoubtOutcome::State::Failed, {}};
    const auto begun = begin(DoubtNote::Resend, eventId, facts, u"send again · the next delivery or replay sends"_s);
    if (!begun) {
        outcome.text = begun.error().text;
        return outcome;
    }
    if (facts.claim) {
        const auto released = m_claims.release(eventId, m_setup.patience);
        if (!released || !released.value()) {
            outcome.state = released ? DoubtOutcome::State::Refused : DoubtOutcome::State::Failed;
            outcome.text = released ? u"somebody else has taken it up meanwhile"_s : released.error().text;
            return ended(outcome, facts);
        }
    }
    outcome.state = DoubtOutcome::State::Released;
    outcome.text = u"the next delivery or replay sends it"_s;
    return ended(outcome, facts);
}

/// Into the audit and the story. An act that cannot be noted is not done.
Result<void> Doubts::begin(DoubtNote kind, const QString &eventId, const Facts &facts, const QString &text)
{
    if (const auto audited = m_audit.note(ActName, {eventId}, text); !audited)
        return audited;
    const QString verb = kind == DoubtNote::Asked ? u"asked the receiving side"_s : u"decided"_s;
    return m_journal.recordDoubtAct(kind, eventId, facts.record ? facts.record->report.messageId : QString(),
                                    u"%1 on %2 %3: %4"_s.arg(m_audit.who(), m_audit.host(), verb, text));
}

DoubtOutcome Doubts::ended(DoubtOutcome outcome, const Facts &facts)
{
    using State = DoubtOutcome::State;
    const bool isDone = outcome.state == State::Settled || outcome.state == State::Released;
    const auto audited = m_audit.note(ActName, {outcome.eventId}, outcome.text, isDone ? u"done"_s : u"not done"_s);
    Result<void> noted;
    if (!isDone)
        noted = m_journal.recordDoubtAct(DoubtNote::Failed, outcome.eventId,
                                         facts.record ? facts.record->report.messageId : QString(),
                                         u"that was not done: %1"_s.arg(outcome.text));
    for (const Result<void> *written : std::initializer_list<const Result<void> *>{&audited, &noted}) {
        if (!*written)
            outcome.text += u"; it could not be noted: %1"_s.arg(written->error().text);
    }
    return outcome;
}

} // namespace sendonce
