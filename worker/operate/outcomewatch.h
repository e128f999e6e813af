#pragma once

#include "worker/store/processedevents.h"
#include "worker/store/replaylog.h"
#include "worker/types.h"

#include <QHash>
#include <QObject>
#include <QTimer>

#include <optional>

namespace sendonce {

/// What a delivery of a replayed message says of its outcome. `isFinal` false: it failed and comes back.
struct ReplayOutcome
{
    ReplayItem::State state = ReplayItem::State::Replayed;
    QString text;
    bool isFinal = false;

    bool operator==(const ReplayOutcome &) const = default;
};
/// Pure. \param maxReceiveCount of the source queue; 0: not known, then nothing is dead again
std::optional<ReplayOutcome> replayOutcome(const ReplayLog::Delivery &delivery, int maxReceiveCount);

/// Looks for what became of replayed messages: in the journal, and in the claims for those that a worker not of ours
/// handled. Seen, never assumed. Lives in the operator thread.
class OutcomeWatch : public QObject
{
    Q_OBJECT
public:
    struct Watched
    {
        qint64 run = 0;
        int row = 0;
        QString replayedAs; ///< MessageId
        QString eventId;
        QDateTime sentAt; ///< UTC; a claim that is younger was made by this replay
        bool handledBefore = false;
    };
    OutcomeWatch(ReplayLog &log, ProcessedEvents &claims, QObject *parent = nullptr); ///< both outlive this

    void setMaxReceiveCount(int count) { m_maxReceiveCount = count; }
    void watch(const QList<Watched> &messages);
    void forget(qint64 run);
    /// These lie in the DLQ: a replayed message among them is dead again, whoever failed.
    void foundDead(const QStringList &messageIds);
    qsizetype size() const { return m_watched.size(); }

Q_SIGNALS:
    /// Once more for each failure that comes back, then once for good; not emitted for it any more.
    void outcome(qint64 run, int row, const sendonce::ReplayOutcome &outcome);

private:
    void look();
    void lookAtClaims();
    void learn(const QList<ReplayLog::Delivery> &deliveries);

    ReplayLog &m_log;
    ProcessedEvents &m_claims;
    int m_maxReceiveCount = 0;
    QHash<QString, Watched> m_watched; ///< by replayedAs
    QHash<QString, QString> m_told; ///< by replayedAs: the last text
    QStringList m_fresh; ///< not looked up by id yet
    qint64 m_lastDelivery = -1; ///< -1: not known yet
    QSet<QString> m_claimSeen; ///< by replayedAs: a younger claim stands, and the journal had nothing
    int m_ticks = 0;
    QTimer m_timer;
};

} // namespace sendonce
