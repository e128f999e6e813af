#include "worker/store/inspection.h"

#include "worker/store/jobboard.h"
#include "worker/store/sqltext.h"

#include <QFileInfo>
#include <QtSql/QSqlError>
#include <QtSql/QSqlQuery>
#include <QVariant>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

/// All rows of a statement; every value bound by position.
Result<QList<QVariantList>> rows(const Database &database, const QString &sql, const QVariantList &values, int columns)
{
    const QString doing = u"%1 cannot be read"_s.arg(database.displayName());
    QSqlQuery query(database.handle());
    query.setForwardOnly(true);
    if (!query.prepare(sql))
        return sqlError(query.lastError(), doing);
    for (const QVariant &value : values)
        query.addBindValue(value);
    if (!query.exec())
        return sqlError(query.lastError(), doing);
    QList<QVariantList> found;
    while (query.next()) {
        QVariantList row;
        for (int column = 0; column < columns; ++column)
            row.append(query.value(column));
        found.append(row);
    }
    if (query.lastError().isValid())
        return sqlError(query.lastError(), doing);
    return found;
}

Result<bool> hasTable(const Database &database, const QString &name)
{
    const auto found = rows(database, u"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"_s, {name}, 1);
    return found ? Result<bool>(!found->isEmpty()) : found.error();
}

/// PRAGMA index_list and index_info as table-valued functions. A partial index does not hold every row, and one over
/// more columns lets the same event_id in twice; an expression has no column name.
Result<bool> isUnique(const Database &database, const QString &table, const QString &column)
{
    const auto indexes =
        rows(database, u"SELECT name FROM pragma_index_list(?) WHERE \"unique\" = 1 AND partial = 0"_s, {table}, 1);
    if (!indexes)
        return indexes.error();
    for (const QVariantList &index : indexes.value()) {
        const auto columns = rows(database, u"SELECT name FROM pragma_index_info(?)"_s, {index.first()}, 1);
        if (!columns)
            return columns.error();
        if (columns->size() == 1 && columns->first().first().toString() == column)
            return true;
    }
    return false;
}

} // namespace

Result<Database> openExisting(const QString &url, std::chrono::milliseconds busyTimeout)
{
    const auto path = sqlitePath(url);
    if (!path)
        return path.error();
    if (!QFileInfo::exists(path.value()))
        return Error{ErrorKind::NotFound, u"there is no file %1"_s.arg(path.value()), {}};
    return Database::openFile(path.value(), busyTimeout);
}

Result<DatabaseInspection> inspect(Database &database)
{
    DatabaseInspection inspection;
    const auto claims = hasTable(database, u"jobs_processedevent"_s);
    const auto bodies = hasTable(database, u"sendonce_eventbody"_s);
    const auto unique = isUnique(database, u"jobs_processedevent"_s, u"event_id"_s);
    for (const Result<bool> *answer : {&claims, &bodies, &unique}) {
        if (!*answer)
            return answer->error();
    }
    const auto journal = rows(database, u"PRAGMA journal_mode"_s, {}, 1);
    const auto synchronous = rows(database, u"PRAGMA synchronous"_s, {}, 1);
    for (const Result<QList<QVariantList>> *answer : {&journal, &synchronous}) {
        if (!*answer)
            return answer->error();
    }
    inspection.hasClaims = claims.value();
    inspection.hasBodies = bodies.value();
    inspection.isEventIdUnique = unique.value();
    inspection.journalMode = journal->isEmpty() ? QString() : journal->first().first().toString();
    inspection.synchronous = synchronous->isEmpty() ? -1 : synchronous->first().first().toInt();
    return inspection;
}

Result<void> tryLookup(Database &database, const QString &sql)
{
    if (const auto checked = checkLookupSql(sql); !checked)
        return checked.error();
    QSqlQuery query(database.handle());
    if (!query.prepare(positionalSql(sqlStatements(sql).constFirst()).sql))
        return sqlError(query.lastError(), u"the look-up cannot be run in %1"_s.arg(database.displayName()));
    return {};
}

} // namespace sendonce
