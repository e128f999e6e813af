#pragma once

#include "worker/result.h"
#include "worker/store/database.h"
#include "worker/types.h"

namespace sendonce {

/// Copies of deleted dead letters, to be put back. In the journal's database; one per thread.
class KeptLetterTable
{
public:
    explicit KeptLetterTable(Database &database); ///< the journal's; outlives this

    /// Of each letter messageId, eventId, by and json are taken.
    Result<void> keep(const QString &dlqUrl, const QList<KeptLetter> &letters);
    Result<QList<KeptLetter>> newest(int limit);
    Result<QList<KeptLetter>> withIds(const QList<qint64> &ids);
    Result<void> notePutBack(qint64 id, const QString &messageId);

private:
    Database &m_database;
};

} // namespace sendonce
