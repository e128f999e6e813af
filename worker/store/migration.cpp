#include "worker/store/databaseserver.h"
#include "worker/store/sqltext.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>

// Outside of every namespace, as Q_INIT_RESOURCE asks: the linker drops a resource of a static library that nothing
// names.
static void linkMigrations()
{
    Q_INIT_RESOURCE(migrations);
}

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

const QString SchemaTable =
    u"CREATE TABLE IF NOT EXISTS sendonce_schema (name text NOT NULL PRIMARY KEY, version integer NOT NULL)"_s;
const QString NoteVersion = u"INSERT INTO sendonce_schema (name, version) VALUES (?, ?) "
                            "ON CONFLICT (name) DO UPDATE SET version = excluded.version"_s;

struct Migration
{
    int version = 0;
    QString path;
};

QList<Migration> migrationsOf(const QString &set)
{
    linkMigrations();
    QList<Migration> migrations;
    const QDir folder(u":/migrations/"_s + set);
    const QStringList names = folder.entryList({u"*.sql"_s}, QDir::Files, QDir::Name);
    for (const QString &name : names)
        migrations.append({name.section(u'-', 0, 0).toInt(), folder.filePath(name)});
    return migrations;
}

QString cannotMigrate(const QString &where)
{
    return u"the tables of %1 cannot be brought up to date"_s.arg(where);
}

Result<QStringList> statementsOf(const Migration &migration, const QString &doing)
{
    QFile file(migration.path);
    if (!file.open(QIODevice::ReadOnly))
        return Error{ErrorKind::Io, u"%1: %2: %3"_s.arg(doing, migration.path, file.errorString()), {}};
    return sqlStatements(QString::fromUtf8(file.readAll()));
}

/// The version of a set in this database; 0 when it has none. Needs no right to make anything.
Result<int> versionOf(Database &database, const QString &set, const QString &doing)
{
    const auto exists =
        database.rows(database.isPostgres()
                          ? u"SELECT to_regclass('sendonce_schema') IS NOT NULL"_s
                          : u"SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'sendonce_schema'"_s,
                      {}, doing);
    if (!exists)
        return exists.error();
    if (!exists->first().first().toBool())
        return 0;
    const auto known = database.rows(u"SELECT version FROM sendonce_schema WHERE name = ?"_s, {set}, doing);
    if (!known)
        return known.error();
    return known->isEmpty() ? 0 : known->first().first().toInt();
}

Result<void> apply(Database &file, const QString &set, const Migration &migration, const QString &doing)
{
    const auto statements = statementsOf(migration, doing);
    if (!statements)
        return statements.error();
    for (const QString &statement : QStringList{SchemaTable} + statements.value()) {
        if (const auto done = file.rows(statement, {}, doing); !done)
            return done.error();
    }
    const auto noted = file.rows(NoteVersion, {set, migration.version}, doing);
    return noted ? Result<void>() : noted.error();
}

} // namespace

Result<QString> Database::migrationScript(const QStringList &sets)
{
    const QString doing = u"the tables that %1 lacks cannot be told"_s.arg(displayName());
    QString script = u"BEGIN;\n%1;\n"_s.arg(SchemaTable);
    QStringList names{u"sendonce_schema"_s};
    for (const QString &set : sets) {
        const auto version = sendonce::versionOf(*this, set, doing);
        if (!version)
            return version.error();
        const QList<Migration> migrations = migrationsOf(set);
        for (const Migration &migration : migrations) {
            if (migration.version <= version.value())
                continue;
            const auto statements = statementsOf(migration, doing);
            if (!statements)
                return statements.error();
            for (const QString &statement : statements.value()) {
                script += statement + u";\n"_s;
                static const QRegularExpression Table(u"\\ACREATE TABLE (\\w+)"_s);
                if (const auto made = Table.match(statement); made.hasMatch())
                    names.append(made.captured(1));
                static const QRegularExpression Renamed(u"\\AALTER TABLE IF EXISTS (\\w+) RENAME"_s);
                if (const auto lost = Renamed.match(statement); lost.hasMatch())
                    names.removeAll(lost.captured(1));
            }
        }
        script += u"INSERT INTO sendonce_schema (name, version) VALUES ('%1', %2) "
                  "ON CONFLICT (name) DO UPDATE SET version = excluded.version;\n"_s.arg(set)
                      .arg(migrations.constLast().version);
    }
    const auto role = rows(u"SELECT quote_ident(current_user)"_s, {}, doing);
    if (!role)
        return role.error();
    script += u"GRANT SELECT, INSERT, UPDATE, DELETE ON %1 TO %2;\n"_s.arg(names.join(u", "_s),
                                                                           role->first().first().toString());
    return script + u"COMMIT;\n"_s;
}

Result<void> Database::migrateServer(const QString &set, const QString &doing, int version)
{
    const QList<Migration> migrations = migrationsOf(set);
    if (version >= migrations.constLast().version)
        return {};
    // One implicit transaction. Whoever comes second waits at the lock, and then fails at what is already there.
    std::vector<PgConnection::Statement> statements{
        {"SELECT pg_advisory_xact_lock(hashtext('sendonce_schema'))", {}, false},
        {SchemaTable.toUtf8(), {}, false},
        {"INSERT INTO sendonce_schema (name, version) VALUES ($1, $2::integer) "
         "ON CONFLICT (name) DO UPDATE SET version = excluded.version WHERE sendonce_schema.version < "
         "excluded.version",
         {set.toUtf8(), QByteArray::number(migrations.constLast().version)},
         false}};
    for (const Migration &migration : migrations) {
        if (version >= migration.version)
            continue;
        const auto script = statementsOf(migration, doing);
        if (!script)
            return script.error();
        for (const QString &statement : script.value())
            statements.push_back({statement.toUtf8(), {}, false});
    }
    const auto applied = m_server->run(statements, doing);
    if (applied)
        return {};
    Error error = applied.error();
    if (error.code == "42P07"_L1 || error.code == "23505"_L1) // another process was quicker
        return migrate(set);
    if (error.code == "42501"_L1)
        error.kind = ErrorKind::Refused;
    return error;
}

Result<void> Database::migrateFile(const QString &set, const QString &doing)
{
    const QList<Migration> migrations = migrationsOf(set);
    for (const Migration &migration : migrations) {
        // Looked at first without a lock: this runs at every start, beside lanes that hold the file.
        Result<int> version = sendonce::versionOf(*this, set, doing);
        if (!version)
            return version.error();
        if (version.value() >= migration.version)
            continue;
        Result<Transaction> transaction = Transaction::begin(*this);
        if (!transaction)
            return transaction.error();
        version = sendonce::versionOf(*this, set, doing); // another process may have been quicker
        if (!version)
            return version.error();
        if (version.value() >= migration.version)
            continue;
        if (const auto applied = apply(*this, set, migration, doing); !applied)
            return applied.error();
        if (const auto committed = transaction.value().commit(); !committed)
            return committed.error();
    }
    return {};
}

Result<int> Database::versionOf(const QString &set)
{
    const QList<Migration> migrations = migrationsOf(set);
    if (migrations.isEmpty())
        return Error{ErrorKind::Invalid, u"there are no migrations named %1"_s.arg(set), {}};
    const QString where = isPostgres() ? displayName() : filePath();
    const auto version = sendonce::versionOf(*this, set, cannotMigrate(where));
    const int newest = migrations.constLast().version;
    if (!version || version.value() <= newest)
        return version;
    return Error{
        ErrorKind::Refused,
        u"%1 was used by a newer Sendonce (%2 version %3; this program knows %4): use that version%5"_s.arg(where, set)
            .arg(version.value())
            .arg(newest)
            .arg(isPostgres() ? QString() : u", or another data folder"_s),
        {}};
}

Result<void> Database::migrate(const QString &set)
{
    const auto version = versionOf(set);
    if (!version)
        return version.error();
    const QString doing = cannotMigrate(isPostgres() ? displayName() : filePath());
    return isPostgres() ? migrateServer(set, doing, version.value()) : migrateFile(set, doing);
}

} // namespace sendonce
