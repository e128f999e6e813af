#pragma once

#include "worker/result.h"

#include <QString>
#include <QtSql/QSqlDatabase>

#include <QMap>
#include <QVariant>

#include <chrono>
#include <memory>
#include <optional>

class QSqlError;
class QSqlQuery;

namespace sendonce {

class Journal;
class ProcessedEvents;

/// One database connection; opened, used and closed in one thread.
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

    Database(Database &&other) noexcept;
    Database &operator=(Database &&other) noexcept;
    Database(const Database &) = delete;
    Database &operator=(const Database &) = delete;
    ~Database();

    QSqlDatabase handle() const;
    /// "SQLite sendonce.db", for the status bar.
    QString displayName() const;
    QString filePath() const;

    /// Runs every migration of ":/migrations/<set>/NNN-name.sql" that this file has not had, each in one transaction;
    /// the version is kept in sendonce_schema(name, version). A file from a newer version is refused (Refused, says
    /// so).
    Result<void> migrate(const QString &set);

private:
    struct Statements;
    friend class Journal;
    friend class ProcessedEvents;
    friend Result<std::optional<QMap<QString, QVariant>>> lookUp(Database &, const QString &,
                                                                 const QMap<QString, QVariant> &);

    explicit Database(QString connectionName);
    /// A statement prepared once for this connection; owned here. For texts that do not vary. finish() it after
    /// reading.
    Result<QSqlQuery *> prepared(const QString &sql);

    QString m_connectionName; ///< empty: moved from
    std::unique_ptr<Statements> m_statements;
};

/// "SQLite sendonce.db" from a URL, without opening it; the path for sqlite, an error for what is not accepted.
Result<QString> sqlitePath(const QString &url);

/// What a failed statement means: Busy for SQLITE_BUSY/LOCKED, else Io, with driver and database text. Never trust the
/// native code alone: it is empty for a COMMIT on a dead server (architecture.md).
Error sqlError(const QSqlError &error, const QString &doing);

/// Rolls back unless committed. SQLite: BEGIN IMMEDIATE, so that the writer is chosen before anything was read.
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
