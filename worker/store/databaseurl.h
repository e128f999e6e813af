#pragma once

#include "worker/result.h"

#include <QList>
#include <QPair>
#include <QString>

namespace sendonce {

/// What DATABASE_URL names: a SQLite file, or a PostgreSQL server in libpq's words. Holds a password: never shown as a
/// whole.
struct DatabaseUrl
{
    enum class Kind { Sqlite, Postgres };
    Kind kind = Kind::Sqlite;
    QString path; ///< SQLite: absolute

    /// PostgreSQL: only what was given; an empty one is left to libpq (PGHOST, PGSERVICE, ~/.pgpass …).
    QString host; ///< a name, an address, a socket directory; several with commas
    QString port; ///< as many as hosts, or one
    QString database;
    QString user;
    QString password;
    QList<QPair<QString, QString>> options; ///< sslmode and the like, in libpq's names
    bool pooled = false; ///< ?pgbouncer=true: nothing is kept between two transactions

    /// Pure. `postgres://` and `postgresql://` as libpq reads them, percent-encoded; of the query only what is known.
    /// Invalid: names what is wrong and what is accepted, never the password.
    static Result<DatabaseUrl> parse(const QString &url);

    bool isPostgres() const { return kind == Kind::Postgres; }
    /// "SQLite sendonce.db", "PostgreSQL db.example/jobboard".
    QString displayName() const;

    bool operator==(const DatabaseUrl &) const = default;
};

/// The path for sqlite, an error for what is not accepted; also for PostgreSQL.
Result<QString> sqlitePath(const QString &url);

} // namespace sendonce
