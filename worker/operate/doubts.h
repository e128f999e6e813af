#pragma once

#include "worker/config.h"
#include "worker/store/audit.h"
#include "worker/store/doubtclaims.h"
#include "worker/store/doubtlog.h"
#include "worker/store/processedevents.h"
#include "worker/types.h"

#include <chrono>
#include <functional>
#include <optional>

namespace sendonce {

/// The events of which nobody knows whether their mail was sent: what is known of them, and what a person decides. Each
/// act is in the audit before it begins and when it has ended, and in the event's story. Blocks on SQL and files: in
/// the operator's thread.
class Doubts
{
public:
    struct Setup
    {
        QString profile; ///< for the audit
        bool readOnly = false; ///< acts are refused
        QString maildir; ///< the receiving side's, to be asked; empty: there is none
        QString messageIdDomain; ///< for events whose Message-ID the journal does not know
        std::chrono::milliseconds patience{30'000}; ///< for locks, and a lane's turn on SQLite
    };
    /// `database` and `journal` outlive this.
    Doubts(Database &database, Journal &journal, Setup setup);

    /// Those that wait first; of those that are over the newest.
    DoubtList list(int limit);
    /// One outcome for each event, in their order. Acting twice is harmless: what was decided stays decided.
    QList<DoubtOutcome> settle(const QStringList &eventIds, DoubtAct act);

    /// What is known of one event.
    struct Facts
    {
        std::optional<DoubtClaims::Claim> claim;
        std::optional<DoubtLog::Record> record;
        QString strategy; ///< of this database's workers
        std::optional<QDateTime> handledAt; ///< the row in jobs_processedevent stands since
    };

private:
    Result<QHash<QString, Facts>> factsOf(const QStringList &eventIds);
    DoubtOutcome settleOne(const QString &eventId, const Facts &facts, DoubtAct act);
    DoubtOutcome arrived(const QString &eventId, const Facts &facts, const QString &why);
    DoubtOutcome sendAgain(const QString &eventId, const Facts &facts);
    QString messageIdOf(const QString &eventId, const Facts &facts) const;
    Result<void> begin(DoubtNote kind, const QString &eventId, const Facts &facts, const QString &text);
    DoubtOutcome ended(DoubtOutcome outcome, const Facts &facts);

    Setup m_setup;
    ProcessedEvents m_processed;
    DoubtClaims m_claims;
    DoubtLog m_log;
    Journal &m_journal;
    Audit m_audit;
};

/// As these settings say.
Doubts::Setup doubtSetup(const Config &config);
/// A row of the list. Nothing when the event is not, and never was, in doubt. Pure; times in texts are local.
std::optional<Doubt> doubtOf(const QString &eventId, const Doubts::Facts &facts);

} // namespace sendonce
