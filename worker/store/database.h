#pragma once

#include "worker/result.h"
#include "worker/store/databaseurl.h"

#include <QString>
#include <QtSql/QSqlDatabase>

#include <QMap>
#include <QStringList>
#include <QVariant>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

class QSqlError;
class QSqlQuery;

namespace sendonce {

class Journal;
class ProcessedEvents;

/// One database connection; opened, used and closed in one thread. What differs between the two databases stays in this
/// folder.
///
/// PostgreSQL: through libpq (pgconnection.h), opened anew by itself when the server has gone in between; every call
/// ends within `busyTimeout`. Its tables are Django's; only sendonce_* are ever made there.
///
/// SQLite: WAL, synchronous=FULL, foreign_keys on, busy timeout `busyTimeout` (the lanes take turns, this is only the
/// last resort against strangers), file created 0600 by the process's umask. Errors: Invalid (a URL that is not
/// accepted; says what is), Io (cannot be opened, with the driver's text and the path).
class Database
{
public:
    static Result<Database> open(const QString &url, std::chrono::milliseconds busyTimeout = std::chrono::seconds(30));
    /// A file by path, created when missing: journal.db, queue.db.
    static Result<Database> openFile(const QString &path,
                                     std::chrono::milliseconds busyTimeout = std::chrono::seconds(5));

    /// PostgreSQL: another one over the same connection (a process of the server's each), for the same thread.
    Database sameConnection() const;

    Database(Database &&other) noexcept;
    Database &operator=(Database &&other) noexcept;
    Database(const Database &) = delete;
    Database &operator=(const Database &) = delete;
    ~Database();

    bool isPostgres() const { return m_server != nullptr; }
    bool isPooled() const; ///< PostgreSQL behind a pooler
    QSqlDatabase handle() const; ///< SQLite only
    /// "SQLite sendonce.db", for the status bar.
    QString displayName() const;
    QString filePath() const; ///< SQLite only

    /// One statement with `?` for each value, and all of its rows. For what is not on a lane's way.
    Result<QList<QVariantList>> rows(const QString &sql, const QVariantList &values, const QString &doing);

    /// Runs every migration of ":/migrations/<set>/NNN-name.sql" that this database has not had, a file's each in
    /// one transaction, a server's all in one; the version is kept in sendonce_schema(name, version). One from a newer
    /// version is refused (Refused, says so), as is a PostgreSQL role that may not create tables (migrationScript() is
    /// for its DBA).
    Result<void> migrate(const QString &set);
    /// How far migrate() has come, 0: not begun; refused like there.
    Result<int> versionOf(const QString &set);
    /// PostgreSQL: what is missing of these sets, as one script for psql, to be run by somebody who may create tables;
    /// the role of this connection may use them afterwards.
    Result<QString> migrationScript(const QStringList &sets);

private:
    struct Statements;
    friend class Journal;
    friend class ProcessedEvents;
    friend Result<std::optional<QMap<QString, QVariant>>> lookUp(Database &, const QString &,
                                                                 const QMap<QString, QVariant> &);

    explicit Database(QString connectionName);
    Result<void> migrateServer(const QString &set, const QString &doing, int version);
    Result<void> migrateFile(const QString &set, const QString &doing);
    /// PostgreSQL: one statement with `?` for each value, prepared once, whose COMMIT does not wait for the disk. A
    /// crash of the server may take it back, and nothing else with it.
    Result<void> writeBehind(const QString &sql, const std::vector<std::optional<QByteArray>> &values,
                             const QString &doing);
    /// A statement prepared once for this connection; owned here. For texts that do not vary. finish() it after
    /// reading.
    Result<QSqlQuery *> prepared(const QString &sql);
    /// Runs a statement of prepared() that is to read only. Io where it would write, and nothing is written.
    Result<void> runReading(QSqlQuery &query, const QString &doing);

    QString m_connectionName; ///< SQLite; empty: moved from
    struct Server;
    std::shared_ptr<Server> m_server; ///< PostgreSQL
    std::unique_ptr<Statements> m_statements;
};

/// What a failed statement means: Busy for SQLITE_BUSY/LOCKED, else Io, with driver and database text. Never trust the
/// native code alone: it is empty for a COMMIT on a dead server (architecture.md).
Error sqlError(const QSqlError &error, const QString &doing);

/// Rolls back unless committed. SQLite only: BEGIN IMMEDIATE, so that the writer is chosen before anything was read.
class Transaction
{
public:
    static Result<Transaction> begin(Database &database);
    Transaction(Transaction &&other) noexcept;
    ~Transaction();
    /// What COMMIT said. After an error the transaction is over: rolled back here.
    Result<void> commit();
    void rollback();

private:
    explicit Transaction(QSqlDatabase handle);
    QSqlDatabase m_handle;
    bool m_open = false;
};

} // namespace sendonce
