#pragma once

#include "worker/result.h"
#include "worker/store/database.h"

#include <QString>

#include <optional>

namespace sendonce {

/// What a check wants to know of a PostgreSQL server, as a session of ours sees it.
struct ServerInspection
{
    QString version; ///< "15.18 (Debian …)"
    int versionNumber = 0; ///< 150018
    QString synchronousCommit, fsync, fullPageWrites; ///< "on", "off", "local" …
    qint64 transactionTimeoutMsec = 0; ///< PostgreSQL 17 and later; 0: none
    int freeConnections = 0; ///< beside the open ones
    bool mayCreateTables = false;
    bool isPooled = false; ///< a pooler stands between
    QString role;

    bool operator==(const ServerInspection &) const = default;
};

/// What a check wants to know of a job board's database.
struct DatabaseInspection
{
    bool hasClaims = false; ///< the table jobs_processedevent is there
    bool isEventIdUnique = false; ///< a unique index over event_id alone, for all rows
    bool hasBodies = false; ///< sendonce_claimbody is there: rule 8 of spec.md works
    bool hasJournal = false; ///< PostgreSQL: the journal's tables are there; else it is a file of each data folder
    QString journalMode; ///< "wal"
    int synchronous = -1; ///< SQLite: 2 is FULL, 3 EXTRA
    std::optional<ServerInspection> server = {}; ///< PostgreSQL

    bool operator==(const DatabaseInspection &) const = default;
};

/// Reads, changes nothing. NotFound when the file does not exist (it is not made); else as Database::open().
Result<Database> openExisting(const QString &url, std::chrono::milliseconds busyTimeout);
Result<DatabaseInspection> inspect(Database &database);

/// How many connections a PostgreSQL server (or this role, or this database) has room for beside the open ones.
std::optional<int> freeConnections(Database &database);

/// Whether the look-up of an event type can be run here: the statement is acceptable, and its tables and columns exist.
/// Prepares it and runs nothing.
Result<void> tryLookup(Database &database, const QString &sql);

} // namespace sendonce
