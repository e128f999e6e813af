#pragma once

#include "worker/result.h"
#include "worker/store/database.h"
#include "worker/types.h"

namespace sendonce {

/// Who did what to which ids, with what outcome: a line before each act and one after it. The table refuses every
/// change, and every deletion before 400 days. In the journal's database; one per thread.
class Audit
{
public:
    /// \param database the journal's; outlives this. \param profile as on screen
    Audit(Database &database, QString profile);

    /// who, host, profile and the time are filled in here. An act that cannot be noted must not be done.
    Result<void> note(const QString &act, const QStringList &ids, const QString &text, const QString &outcome = {});
    /// Newest first; beforeId 0: from the newest.
    Result<AuditPage> page(qint64 beforeId, int limit);

    const QString &who() const { return m_who; } ///< the operating system's user
    const QString &host() const { return m_host; }

private:
    Database &m_database;
    QString m_who, m_host, m_profile;
};

} // namespace sendonce
