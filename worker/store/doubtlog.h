#pragma once

#include "worker/result.h"
#include "worker/store/database.h"
#include "worker/store/journal.h"
#include "worker/types.h"

#include <QHash>
#include <QList>

#include <optional>

namespace sendonce {

/// The reason of a delivery that was not sent because its event is in doubt and the policy holds it.
extern const QString HeldInDoubt;

/// What the journal knows of events in doubt, whatever the strategy. In the journal's database; one per thread.
class DoubtLog
{
public:
    /// \param journal the journal's database; outlives this
    explicit DoubtLog(Database &journal);

    struct Record
    {
        /// The newest delivery that may have mailed and does not know; without a reason when only held ones are known.
        DeliveryReport report;
        QString worker;
        QDateTime since; ///< UTC: the first such delivery behind the last one that was sent
        int held = 0; ///< deliveries behind it that were not sent because of the doubt
        std::optional<DeliveryReport> later; ///< the newest delivery behind it that was not held
        QDateTime laterAt; ///< UTC
        /// The newest thing that a person did behind it; nothing: nobody did.
        std::optional<DoubtNote> decision;
        QString decisionText;

        bool isSent() const { return later && later->outcome == Outcome::Sent; }
    };
    /// Events that were ever in doubt, the newest doubt first.
    Result<QStringList> newest(int limit);
    /// Those of these events that were ever in doubt.
    Result<QHash<QString, Record>> records(const QStringList &eventIds);

    /// Whether an event is in doubt and nobody has decided to send it again: what the policies hold and ask go by. For
    /// a lane, before it sends.
    Result<bool> isOpen(const QString &eventId);

private:
    Database &m_journal;
};

} // namespace sendonce
