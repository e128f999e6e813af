#include "worker/operate/outcomewatch.h"

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto Interval = 250ms;
constexpr int TicksPerClaims = 8; ///< the claims are looked at every 2 s
constexpr qsizetype ClaimsAtOnce = 500;
constexpr int DeliveriesAtOnce = 2000;
// Rows of the journal may become visible in another order than that of their numbers (several workers on PostgreSQL).
constexpr qint64 Overlap = 500;

} // namespace

std::optional<ReplayOutcome> replayOutcome(const ReplayLog::Delivery &delivery, int maxReceiveCount)
{
    using State = ReplayItem::State;
    switch (delivery.outcome) {
    case Outcome::Sent:
        return ReplayOutcome{State::Mailed, u"mailed"_s, true};
    case Outcome::Duplicate:
        return ReplayOutcome{State::Skipped, u"skipped: already processed"_s, true};
    case Outcome::Gone:
        return ReplayOutcome{State::Skipped, u"skipped: application gone"_s, true};
    case Outcome::Failed:
    case Outcome::InDoubt:
        if (maxReceiveCount > 0 && delivery.receiveCount >= maxReceiveCount)
            return ReplayOutcome{State::DeadAgain, u"dead again: %1"_s.arg(delivery.reason), true};
        return ReplayOutcome{State::Replayed,
                             u"failed %1 of %2, comes back: %3"_s.arg(QString::number(delivery.receiveCount),
                                                                      QString::number(maxReceiveCount),
                                                                      delivery.reason),
                             false};
    case Outcome::GivenBack:
        break;
    }
    return std::nullopt;
}

OutcomeWatch::OutcomeWatch(ReplayLog &log, ProcessedEvents &claims, QObject *parent)
    : QObject(parent)
    , m_log(log)
    , m_claims(claims)
{
    m_timer.setInterval(Interval);
    connect(&m_timer, &QTimer::timeout, this, &OutcomeWatch::look);
}

void OutcomeWatch::watch(const QList<Watched> &messages)
{
    for (const Watched &message : messages) {
        m_watched.insert(message.replayedAs, message);
        m_fresh.append(message.replayedAs);
    }
    if (!m_watched.isEmpty() && !m_timer.isActive())
        m_timer.start();
}

void OutcomeWatch::forget(qint64 run)
{
    m_watched.removeIf([run](const QHash<QString, Watched>::iterator &it) { return it->run == run; });
}

void OutcomeWatch::foundDead(const QStringList &messageIds)
{
    for (const QString &messageId : messageIds) {
        const auto found = m_watched.constFind(messageId);
        if (found == m_watched.cend())
            continue;
        const Watched watched = found.value();
        const QString told = m_told.take(messageId);
        m_watched.remove(messageId);
        Q_EMIT outcome(watched.run, watched.row,
                       {ReplayItem::State::DeadAgain,
                        told.isEmpty() ? u"dead again: seen in the dead letter queue"_s
                                       : u"dead again: seen in the dead letter queue; last it %1"_s.arg(told),
                        true});
    }
}

void OutcomeWatch::learn(const QList<ReplayLog::Delivery> &deliveries)
{
    for (const ReplayLog::Delivery &delivery : deliveries) {
        const auto found = m_watched.constFind(delivery.messageId);
        if (found == m_watched.cend())
            continue;
        const auto seen = replayOutcome(delivery, m_maxReceiveCount);
        if (!seen || m_told.value(delivery.messageId) == seen->text)
            continue;
        const Watched watched = found.value();
        if (seen->isFinal) {
            m_watched.remove(delivery.messageId);
            m_told.remove(delivery.messageId);
            m_claimSeen.remove(delivery.messageId);
        } else {
            m_told.insert(delivery.messageId, seen->text);
        }
        Q_EMIT outcome(watched.run, watched.row, *seen);
    }
}

void OutcomeWatch::look()
{
    if (m_watched.isEmpty()) {
        m_timer.stop();
        m_fresh.clear();
        m_lastDelivery = -1; // until then there may be very many that are nothing to us
        return;
    }
    if (m_lastDelivery < 0) {
        const auto last = m_log.lastDelivery();
        if (!last)
            return; // looked for again at the next tick
        m_lastDelivery = last.value();
    }
    if (!m_fresh.isEmpty()) {
        const auto deliveries = m_log.deliveriesOf(m_fresh);
        if (!deliveries)
            return;
        m_fresh.clear();
        learn(deliveries.value());
    }
    for (qint64 after = std::max<qint64>(0, m_lastDelivery - Overlap);;) {
        const auto deliveries = m_log.deliveriesAfter(after, DeliveriesAtOnce);
        if (!deliveries || deliveries->isEmpty())
            break;
        after = deliveries->last().id;
        m_lastDelivery = std::max(m_lastDelivery, after);
        learn(deliveries.value());
        if (deliveries->size() < DeliveriesAtOnce)
            break;
    }
    if (++m_ticks % TicksPerClaims == 0)
        lookAtClaims();
}

void OutcomeWatch::lookAtClaims()
{
    QHash<QString, Watched> some;
    QStringList eventIds;
    for (auto it = m_watched.cbegin(); it != m_watched.cend() && some.size() < ClaimsAtOnce; ++it) {
        if (it->eventId.isEmpty() || it->handledBefore)
            continue;
        some.insert(it.key(), it.value());
        eventIds.append(it->eventId);
    }
    const auto standing = m_claims.standing(eventIds);
    if (!standing)
        return;
    for (auto it = some.cbegin(); it != some.cend(); ++it) {
        const QDateTime since = standing->value(it->eventId);
        if (!since.isValid() || since.addSecs(1) < it->sentAt)
            continue;
        // A worker of ours journals a moment after its claim: only one that has nothing at the next look either is
        // somebody else's.
        if (!m_claimSeen.contains(it.key())) {
            m_claimSeen.insert(it.key());
            continue;
        }
        m_claimSeen.remove(it.key());
        m_watched.remove(it.key());
        m_told.remove(it.key());
        Q_EMIT outcome(
            it->run, it->row,
            {ReplayItem::State::Mailed, u"handled by another worker: its claim stands since the replay"_s, true});
    }
}

} // namespace sendonce
