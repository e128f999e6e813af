#pragma once

#include "worker/result.h"
#include "worker/store/database.h"

#include <QDateTime>
#include <QStringList>

namespace sendonce {

/// Takes old claims away: rows of jobs_processedevent with their hashes in sendonce_claimbody, a batch at a time. Each
/// batch is one short transaction, and in it `forgotten_before` grows: the newest processed_at that was ever taken away
/// (sendonce_meta; spec.md, rule 10). One cleaner at a time has a batch in work, whichever process it is in.
///
/// Old rows are found by walking the primary key upwards, for Django's table has no index on processed_at and gets none
/// from us, and a search by time would read the whole table for each batch. Ids grow with time, but not strictly: a
/// worker takes processed_at before its INSERT draws the id, so that two of them can cross, and rows that were restored
/// from a copy come with any id. So each row of a batch is judged by its own processed_at, never by its place: a young
/// one in between stays and does not end the walk. Whoever walks decides where to end.
class Forgetting
{
public:
    /// `database` outlives this.
    explicit Forgetting(Database &database);

    /// The table that `forgotten_before` is kept in is there. Without it nothing may be taken away.
    Result<bool> isPossible();
    /// Newest processed_at that a clean-up took away (UTC); invalid: none did, or it could not have been noted.
    Result<QDateTime> forgottenBefore();

    struct Old
    {
        qint64 rows = 0;
        QDateTime oldest, newest; ///< of those (UTC)
    };
    /// What stands there from before that moment. Reads the whole table: for a preview. \param spared event ids
    Result<Old> count(const QDateTime &before, const QStringList &spared);

    struct Batch
    {
        qint64 lastId = 0; ///< go on behind it
        int seen = 0; ///< 0: the end of the table
        int taken = 0;
        bool elsewhere = false; ///< another cleaner (or, with SQLite, a lane) was at it: nothing was done, ask again
    };
    /// The next `rows` rows behind that id: takes away those from before that moment, but no spared ones.
    Result<Batch> take(qint64 behindId, int rows, const QDateTime &before, const QStringList &spared);

private:
    Result<Batch> takeFromServer(qint64 behindId, int rows, const QDateTime &before, const QByteArray &spared);
    Result<Batch> takeFromFile(qint64 behindId, int rows, const QDateTime &before, const QByteArray &spared);
    Result<Batch> takeInTransaction(qint64 behindId, int rows, const QDateTime &before, const QByteArray &spared);

    Database &m_database;
};

/// The same for the journal, whose rows go with their claims. An event that was never claimed has rows too, and the
/// claims may have been taken away by another worker, which cannot reach this journal when it is a file. So rows go
/// when they are that old and no claim of their event stands any more.
class JournalForgetting
{
public:
    /// \param journal its database. Both outlive this.
    JournalForgetting(Database &journal, Database &claims);

    /// Deliveries and notes from before that moment, and lines of the audit from before the other one; at most `rows`
    /// of each. How many went; 0: there are no more.
    Result<int> take(int rows, const QDateTime &before, const QDateTime &auditBefore, const QStringList &spared);

private:
    Result<int> takeFrom(const QString &table, const QString &time, qint64 &behindId, int rows, const QDateTime &before,
                         const QStringList &spared);

    Database &m_journal;
    Database &m_claims;
    qint64 m_behindAttempt = 0, m_behindNote = 0; ///< what stands before them was spared
};

} // namespace sendonce
