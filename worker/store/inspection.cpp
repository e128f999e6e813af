#include "worker/store/inspection.h"

#include "worker/store/jobboard.h"
#include "worker/store/sqltext.h"

#include <QFileInfo>
#include <QtSql/QSqlError>
#include <QtSql/QSqlQuery>
#include <QVariant>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

Result<QList<QVariantList>> rows(Database &database, const QString &sql, const QVariantList &values = {})
{
    return database.rows(sql, values, u"%1 cannot be read"_s.arg(database.displayName()));
}

Result<bool> hasTable(Database &database, const QString &name)
{
    const QString sql = database.isPostgres() ? u"SELECT 1 WHERE to_regclass(?) IS NOT NULL"_s
                                              : u"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"_s;
    const auto found = rows(database, sql, {name});
    return found ? Result<bool>(!found->isEmpty()) : found.error();
}

/// As SQLite's below. Nor does a deferrable constraint stop a claim: ON CONFLICT does not take it.
Result<bool> isUniqueOnServer(Database &database, const QString &table, const QString &column)
{
    const auto found = rows(database,
                            u"SELECT 1 FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid "
                            "AND a.attnum = i.indkey[0] WHERE i.indrelid = to_regclass(?) AND a.attname = ? "
                            "AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indnkeyatts = 1 "
                            "AND i.indpred IS NULL AND i.indexprs IS NULL LIMIT 1"_s,
                            {table, column});
    return found ? Result<bool>(!found->isEmpty()) : found.error();
}

/// PRAGMA index_list and index_info as table-valued functions. A partial index does not hold every row, and one over
/// more columns lets the same event_id in twice; an expression has no column name.
Result<bool> isUnique(Database &database, const QString &table, const QString &column)
{
    if (database.isPostgres())
        return isUniqueOnServer(database, table, column);
    const auto indexes =
        rows(database, u"SELECT name FROM pragma_index_list(?) WHERE \"unique\" = 1 AND partial = 0"_s, {table});
    if (!indexes)
        return indexes.error();
    for (const QVariantList &index : indexes.value()) {
        const auto columns = rows(database, u"SELECT name FROM pragma_index_info(?)"_s, {index.first()});
        if (!columns)
            return columns.error();
        if (columns->size() == 1 && columns->first().first().toString() == column)
            return true;
    }
    return false;
}

Result<ServerInspection> inspectServer(Database &database)
{
    const auto found =
        rows(database,
             u"SELECT current_setting('server_version'), current_setting('server_version_num')::int, "
             "current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'), "
             "coalesce((SELECT setting::bigint FROM pg_settings WHERE name = 'transaction_timeout'), 0), "
             "coalesce(has_schema_privilege(current_schema(), 'CREATE'), false), current_user"_s);
    if (!found)
        return found.error();
    const QVariantList &row = found->constFirst();
    ServerInspection server;
    server.version = row[0].toString();
    server.versionNumber = row[1].toInt();
    server.synchronousCommit = row[2].toString();
    server.fsync = row[3].toString();
    server.fullPageWrites = row[4].toString();
    server.transactionTimeoutMsec = row[5].toLongLong();
    server.mayCreateTables = row[6].toBool();
    server.role = row[7].toString();
    server.isPooled = database.isPooled();
    server.freeConnections = freeConnections(database).value_or(0);
    return server;
}

} // namespace

Result<Database> openExisting(const QString &url, std::chrono::milliseconds busyTimeout)
{
    const auto parsed = DatabaseUrl::parse(url);
    if (!parsed)
        return parsed.error();
    if (parsed->isPostgres())
        return Database::open(url, busyTimeout);
    if (!QFileInfo::exists(parsed->path))
        return Error{ErrorKind::NotFound, u"there is no file %1"_s.arg(parsed->path), {}};
    return Database::openFile(parsed->path, busyTimeout);
}

Result<DatabaseInspection> inspect(Database &database)
{
    DatabaseInspection inspection;
    const auto claims = hasTable(database, u"jobs_processedevent"_s);
    const auto bodies = hasTable(database, u"sendonce_claimbody"_s);
    const auto journalled = hasTable(database, u"sendonce_attempt"_s);
    const auto unique = isUnique(database, u"jobs_processedevent"_s, u"event_id"_s);
    for (const Result<bool> *answer : {&claims, &bodies, &journalled, &unique}) {
        if (!*answer)
            return answer->error();
    }
    inspection.hasClaims = claims.value();
    inspection.hasBodies = bodies.value();
    inspection.hasJournal = journalled.value();
    inspection.isEventIdUnique = unique.value();
    if (database.isPostgres()) {
        auto server = inspectServer(database);
        if (!server)
            return server.error();
        inspection.server = server.take();
        return inspection;
    }
    const auto journal = rows(database, u"PRAGMA journal_mode"_s);
    const auto synchronous = rows(database, u"PRAGMA synchronous"_s);
    for (const Result<QList<QVariantList>> *answer : {&journal, &synchronous}) {
        if (!*answer)
            return answer->error();
    }
    inspection.journalMode = journal->isEmpty() ? QString() : journal->first().first().toString();
    inspection.synchronous = synchronous->isEmpty() ? -1 : synchronous->first().first().toInt();
    return inspection;
}

std::optional<int> freeConnections(Database &database)
{
    // -1 stands for no limit; what is reserved for superusers is not ours.
    const auto found = rows(
        database,
        u"WITH open AS (SELECT datname, usename FROM pg_stat_activity WHERE backend_type = 'client backend') "
        "SELECT least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int "
        "- (SELECT count(*) FROM open), "
        "(SELECT nullif(rolconnlimit, -1) - (SELECT count(*) FROM open WHERE usename = current_user) "
        "FROM pg_roles WHERE rolname = current_user), "
        "(SELECT nullif(datconnlimit, -1) - (SELECT count(*) FROM open WHERE datname = current_database()) "
        "FROM pg_database WHERE datname = current_database()))"_s);
    if (!found || found->isEmpty())
        return std::nullopt;
    return found->first().first().toInt();
}

Result<void> tryLookup(Database &database, const QString &sql)
{
    if (const auto checked = checkLookupSql(sql); !checked)
        return checked.error();
    if (database.isPostgres()) {
        // The plan alone, and without values: a prepared statement would have to be taken back behind a pooler.
        QString statement;
        const auto tokens = sqlTokens(sqlStatements(sql).constFirst());
        for (const SqlToken &token : tokens)
            statement += token.kind == SqlToken::Kind::Parameter ? u"NULL"_s : token.text;
        const auto planned = database.rows(u"EXPLAIN SELECT * FROM (%1) AS sendonce_lookup LIMIT 1"_s.arg(statement),
                                           {}, u"the look-up cannot be run in %1"_s.arg(database.displayName()));
        return planned ? Result<void>() : planned.error();
    }
    QSqlQuery query(database.handle());
    if (!query.prepare(positionalSql(sqlStatements(sql).constFirst()).sql))
        return sqlError(query.lastError(), u"the look-up cannot be run in %1"_s.arg(database.displayName()));
    return {};
}

} // namespace sendonce
