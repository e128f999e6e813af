#include "worker/store/database.h"

#include "worker/store/pgconnection.h"
#include "worker/store/sqltext.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QThread>
#include <QtSql/QSqlError>
#include <QtSql/QSqlQuery>
#include <QtSql/QSqlRecord>
#include <QVariant>

#include <atomic>
#include <map>
#include <utility>

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

constexpr int SqliteBusy = 5;
constexpr int SqliteLocked = 6;
constexpr int SqliteCorrupt = 11;
constexpr int SqliteNotADatabase = 26;

Error invalid(const QString &text)
{
    return {ErrorKind::Invalid, text, {}};
}

/// The primary code of a SQLite error: the driver gives extended ones. 0 for other drivers and none.
int sqliteCode(const QSqlError &error)
{
    return error.nativeErrorCode().toInt() & 0xff;
}

/// Runs one statement and gives the first column of its first row.
Result<QVariant> ask(const QSqlDatabase &handle, const QString &sql, const QString &doing)
{
    QSqlQuery query(handle);
    query.setForwardOnly(true);
    if (!query.exec(sql))
        return sqlError(query.lastError(), doing);
    return query.next() ? query.value(0) : QVariant();
}

/// WAL and synchronous=FULL, or an error: a commit must have reached the disk before a message is deleted (spec.md,
/// "Embedded default and real services").
Result<void> makeDurable(const QSqlDatabase &handle, std::chrono::milliseconds busyTimeout)
{
    const QString doing = u"%1 cannot be opened"_s.arg(handle.databaseName());
    QElapsedTimer waited;
    waited.start();
    for (QString pragma = u"PRAGMA journal_mode"_s;;) {
        const Result<QVariant> mode = ask(handle, pragma, doing);
        if (mode && mode->toString() == "wal"_L1)
            break;
        // The change to WAL needs the file alone, and SQLite does not wait for that by itself.
        const bool isBusy = !mode && mode.error().kind == ErrorKind::Busy;
        const bool wasAsked = pragma.endsWith("WAL"_L1);
        if (!mode && (!isBusy || waited.elapsed() > busyTimeout.count()))
            return mode.error();
        if (mode && wasAsked)
            return Error{
                ErrorKind::Io,
                u"%1: write-ahead logging is not possible there (journal mode stays %2)"_s.arg(doing, mode->toString()),
                {}};
        if (isBusy)
            QThread::msleep(5);
        pragma = u"PRAGMA journal_mode=WAL"_s;
    }
    for (const QString &pragma : {u"PRAGMA synchronous=FULL"_s, u"PRAGMA foreign_keys=ON"_s}) {
        if (const auto set = ask(handle, pragma, doing); !set)
            return set.error();
    }
    const Result<QVariant> synchronous = ask(handle, u"PRAGMA synchronous"_s, doing);
    if (!synchronous)
        return synchronous.error();
    if (synchronous->toInt() != 2)
        return Error{
            ErrorKind::Io,
            u"%1: SQLite does not sync its commits there (synchronous is %2)"_s.arg(doing, synchronous->toString()),
            {}};
    return {};
}

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

/// The version of a set in this file; 0 when it has none.
Result<int> versionOf(const QSqlDatabase &handle, const QString &set, const QString &doing)
{
    const Result<QVariant> exists =
        ask(handle, u"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'sendonce_schema'"_s, doing);
    if (!exists)
        return exists.error();
    if (!exists->isValid())
        return 0;
    QSqlQuery query(handle);
    query.setForwardOnly(true);
    if (!query.prepare(u"SELECT version FROM sendonce_schema WHERE name = ?"_s))
        return sqlError(query.lastError(), doing);
    query.addBindValue(set);
    if (!query.exec())
        return sqlError(query.lastError(), doing);
    return query.next() ? query.value(0).toInt() : 0;
}

Result<void> apply(const QSqlDatabase &handle, const QString &set, const Migration &migration, const QString &doing)
{
    QFile file(migration.path);
    if (!file.open(QIODevice::ReadOnly))
        return Error{ErrorKind::Io, u"%1: %2: %3"_s.arg(doing, migration.path, file.errorString()), {}};
    QStringList statements{SchemaTable};
    statements += sqlStatements(QString::fromUtf8(file.readAll()));
    for (const QString &statement : std::as_const(statements)) {
        if (const auto done = ask(handle, statement, doing); !done)
            return done.error();
    }
    QSqlQuery query(handle);
    if (!query.prepare(
            u"INSERT INTO sendonce_schema (name, version) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET version = excluded.version"_s))
        return sqlError(query.lastError(), doing);
    query.addBindValue(set);
    query.addBindValue(migration.version);
    if (!query.exec())
        return sqlError(query.lastError(), doing);
    return {};
}

} // namespace

/// A server's connection, opened again when it has ended.
struct Database::Server
{
    DatabaseUrl url;
    std::chrono::milliseconds patience;
    std::unique_ptr<PgConnection> connection;

    /// Runs in one round trip; all answers, or the first error.
    Result<std::vector<PgRows>> run(const std::vector<PgConnection::Statement> &statements, const QString &doing)
    {
        const PgPatience time{QDeadlineTimer(patience), nullptr};
        if (!connection || !connection->isUsable()) {
            connection.reset();
            auto opened = PgConnection::open(url, time);
            if (!opened)
                return opened.error();
            connection = opened.take();
        }
        auto answers = connection->run(statements, time, doing);
        std::vector<PgRows> rows;
        for (auto &answer : answers) {
            if (!answer) {
                connection.reset(); // whatever it was, the next one begins afresh
                return answer.error();
            }
            rows.push_back(answer.take());
        }
        return rows;
    }
};

/// Prepared once per connection and SQL text.
struct Database::Statements
{
    std::map<QString, QSqlQuery> bySql;
};

Error sqlError(const QSqlError &error, const QString &doing)
{
    const int code = sqliteCode(error);
    QString text = u"%1: %2"_s.arg(doing, error.databaseText().trimmed());
    if (error.databaseText().trimmed().isEmpty())
        text = u"%1: %2"_s.arg(doing, error.driverText().trimmed());
    else if (!error.driverText().trimmed().isEmpty())
        text += u" (%1)"_s.arg(error.driverText().trimmed());
    if (code == SqliteCorrupt || code == SqliteNotADatabase)
        text +=
            u". The file is damaged or no SQLite database; it was left as it is: move it away, or restore a copy of it"_s;
    const bool isBusy = code == SqliteBusy || code == SqliteLocked;
    return {isBusy ? ErrorKind::Busy : ErrorKind::Io, text, error.nativeErrorCode()};
}

Result<Database> Database::open(const QString &url, std::chrono::milliseconds busyTimeout)
{
    const auto parsed = DatabaseUrl::parse(url);
    if (!parsed)
        return parsed.error();
    if (!parsed->isPostgres())
        return openFile(parsed->path, busyTimeout);
    Database database{QString()};
    database.m_server = std::make_unique<Server>(Server{parsed.value(), busyTimeout, nullptr});
    const auto reached =
        database.m_server->run({{"SELECT 1", {}, false}}, u"%1 cannot be opened"_s.arg(parsed->displayName()));
    if (!reached)
        return reached.error();
    return database;
}

Result<Database> Database::openFile(const QString &path, std::chrono::milliseconds busyTimeout)
{
    static std::atomic<quint64> counter = 0;
    Database database(u"sendonce-%1"_s.arg(++counter));
    QSqlDatabase handle = QSqlDatabase::addDatabase(u"QSQLITE"_s, database.m_connectionName);
    if (!handle.isValid())
        return Error{ErrorKind::Io, u"%1 cannot be opened: Qt's SQLite driver is missing"_s.arg(path), {}};
    // Absolute, so that “:memory:” is a file of that name.
    handle.setDatabaseName(QFileInfo(path).absoluteFilePath());
    handle.setConnectOptions(u"QSQLITE_BUSY_TIMEOUT=%1"_s.arg(busyTimeout.count()));
    if (!handle.open())
        return sqlError(handle.lastError(), u"%1 cannot be opened"_s.arg(handle.databaseName()));
    if (const auto durable = makeDurable(handle, busyTimeout); !durable)
        return durable.error();
    return database;
}

Database::Database(QString connectionName)
    : m_connectionName(std::move(connectionName))
    , m_statements(std::make_unique<Statements>())
{ }

Database::Database(Database &&other) noexcept
    : m_connectionName(std::exchange(other.m_connectionName, QString()))
    , m_server(std::move(other.m_server))
    , m_statements(std::move(other.m_statements))
{ }

Database &Database::operator=(Database &&other) noexcept
{
    std::swap(m_connectionName, other.m_connectionName);
    std::swap(m_server, other.m_server);
    std::swap(m_statements, other.m_statements);
    return *this;
}

Database::~Database()
{
    if (m_connectionName.isEmpty())
        return;
    m_statements.reset(); // before the connection they belong to
    handle().close();
    QSqlDatabase::removeDatabase(m_connectionName);
}

bool Database::isPooled() const
{
    return m_server && m_server->connection && m_server->connection->isPooled();
}

QSqlDatabase Database::handle() const
{
    return QSqlDatabase::database(m_connectionName, false);
}

QString Database::displayName() const
{
    if (m_server)
        return m_server->url.displayName();
    return u"SQLite "_s + QFileInfo(filePath()).fileName();
}

QString Database::filePath() const
{
    return handle().databaseName();
}

Result<QList<QVariantList>> Database::rows(const QString &sql, const QVariantList &values, const QString &doing)
{
    QList<QVariantList> found;
    if (m_server) {
        PgConnection::Statement statement{numberedSql(sql).toUtf8(), {}, false};
        for (const QVariant &value : values)
            statement.values.push_back(value.isNull() ? std::nullopt : std::optional(value.toString().toUtf8()));
        const auto answers = m_server->run({statement}, doing);
        if (!answers)
            return answers.error();
        const PgRows &rows = answers->front();
        for (int row = 0; row < rows.count(); ++row) {
            QVariantList line;
            for (int column = 0; column < rows.columns(); ++column)
                line.append(rows.value(row, column));
            found.append(line);
        }
        return found;
    }
    QSqlQuery query(handle());
    query.setForwardOnly(true);
    if (!query.prepare(sql))
        return sqlError(query.lastError(), doing);
    for (const QVariant &value : values)
        query.addBindValue(value);
    if (!query.exec())
        return sqlError(query.lastError(), doing);
    const int columns = query.record().count();
    while (query.next()) {
        QVariantList line;
        for (int column = 0; column < columns; ++column)
            line.append(query.value(column));
        found.append(line);
    }
    if (query.lastError().isValid())
        return sqlError(query.lastError(), doing);
    return found;
}

Result<QSqlQuery *> Database::prepared(const QString &sql)
{
    const auto found = m_statements->bySql.find(sql);
    if (found != m_statements->bySql.end())
        return &found->second;
    QSqlQuery query(handle());
    query.setForwardOnly(true);
    if (!query.prepare(sql))
        return sqlError(query.lastError(), u"%1 refuses a statement"_s.arg(displayName()));
    return &m_statements->bySql.emplace(sql, std::move(query)).first->second;
}

QString Database::migrationScript(const QString &set, const QString &role)
{
    QString script = u"BEGIN;\n%1;\n"_s.arg(SchemaTable);
    QString names = u"sendonce_schema"_s;
    int newest = 0;
    for (const Migration &migration : migrationsOf(set)) {
        QFile file(migration.path);
        if (!file.open(QIODevice::ReadOnly))
            continue;
        newest = migration.version;
        for (const QString &statement : sqlStatements(QString::fromUtf8(file.readAll()))) {
            script += statement + u";\n"_s;
            static const QRegularExpression Table(u"\\ACREATE TABLE (\\w+)"_s);
            if (const auto made = Table.match(statement); made.hasMatch())
                names += u", "_s + made.captured(1);
        }
    }
    script += u"INSERT INTO sendonce_schema (name, version) VALUES ('%1', %2);\n"_s.arg(set).arg(newest);
    if (!role.isEmpty())
        script += u"GRANT SELECT, INSERT, UPDATE, DELETE ON %1 TO \"%2\";\n"_s.arg(
            names, QString(role).replace(u'"', "\"\""_L1));
    return script + u"COMMIT;\n"_s;
}

Result<void> Database::migrateServer(const QString &set)
{
    const QString doing = u"the tables of %1 cannot be brought up to date"_s.arg(displayName());
    const QList<Migration> migrations = migrationsOf(set);
    // Looked at first without a lock, and without the right to make anything.
    const auto exists = rows(u"SELECT to_regclass('sendonce_schema') IS NOT NULL"_s, {}, doing);
    if (!exists)
        return exists.error();
    int version = 0;
    if (exists->first().first().toBool()) {
        const auto known = rows(u"SELECT version FROM sendonce_schema WHERE name = ?"_s, {set}, doing);
        if (!known)
            return known.error();
        version = known->isEmpty() ? 0 : known->first().first().toInt();
    }
    if (version > migrations.constLast().version)
        return Error{ErrorKind::Refused,
                     u"%1 was used by a newer Sendonce (%2 version %3; this program knows %4): use that version"_s
                         .arg(displayName(), set)
                         .arg(version)
                         .arg(migrations.constLast().version),
                     {}};
    for (const Migration &migration : migrations) {
        if (version >= migration.version)
            continue;
        QFile file(migration.path);
        if (!file.open(QIODevice::ReadOnly))
            return Error{ErrorKind::Io, u"%1: %2: %3"_s.arg(doing, migration.path, file.errorString()), {}};
        // One implicit transaction. Whoever comes second waits at the lock, and then fails at what is already there.
        std::vector<PgConnection::Statement> statements{
            {"SELECT pg_advisory_xact_lock(hashtext('sendonce_schema'))", {}, false},
            {SchemaTable.toUtf8(), {}, false},
            {"INSERT INTO sendonce_schema (name, version) VALUES ($1, $2::integer) "
             "ON CONFLICT (name) DO UPDATE SET version = excluded.version WHERE sendonce_schema.version < "
             "excluded.version",
             {set.toUtf8(), QByteArray::number(migration.version)},
             false}};
        for (const QString &statement : sqlStatements(QString::fromUtf8(file.readAll())))
            statements.push_back({statement.toUtf8(), {}, false});
        const auto applied = m_server->run(statements, doing);
        if (applied)
            continue;
        Error error = applied.error();
        if (error.code == "42P07"_L1 || error.code == "23505"_L1) // another process was quicker
            return migrateServer(set);
        if (error.code == "42501"_L1)
            error.kind = ErrorKind::Refused;
        return error;
    }
    return {};
}

Result<void> Database::migrate(const QString &set)
{
    const QList<Migration> migrations = migrationsOf(set);
    if (migrations.isEmpty())
        return invalid(u"there are no migrations named %1"_s.arg(set));
    if (m_server)
        return migrateServer(set);
    const QString doing = u"the tables of %1 cannot be brought up to date"_s.arg(filePath());
    const int newest = migrations.constLast().version;
    for (const Migration &migration : migrations) {
        // Looked at first without a lock: this runs at every start, beside lanes that hold the file.
        Result<int> version = versionOf(handle(), set, doing);
        if (version && version.value() > newest)
            return Error{
                ErrorKind::Refused,
                u"%1 was written by a newer Sendonce (%2 version %3; this program knows %4): use that version, or another data folder"_s
                    .arg(filePath(), set)
                    .arg(version.value())
                    .arg(newest),
                {}};
        if (!version)
            return version.error();
        if (version.value() >= migration.version)
            continue;
        Result<Transaction> transaction = Transaction::begin(*this);
        if (!transaction)
            return transaction.error();
        version = versionOf(handle(), set, doing); // another process may have been quicker
        if (!version)
            return version.error();
        if (version.value() >= migration.version)
            continue;
        if (const auto applied = apply(handle(), set, migration, doing); !applied)
            return applied.error();
        if (const auto committed = transaction.value().commit(); !committed)
            return committed.error();
    }
    return {};
}

Transaction::Transaction(QSqlDatabase handle) : m_handle(std::move(handle)), m_open(true) { }

Result<Transaction> Transaction::begin(Database &database)
{
    QSqlQuery query(database.handle());
    if (!query.exec(u"BEGIN IMMEDIATE"_s))
        return sqlError(query.lastError(), u"%1 cannot begin a transaction"_s.arg(database.displayName()));
    return Transaction(database.handle());
}

Transaction::Transaction(Transaction &&other) noexcept
    : m_handle(std::exchange(other.m_handle, QSqlDatabase()))
    , m_open(std::exchange(other.m_open, false))
{ }

Transaction::~Transaction()
{
    rollback();
}

Result<void> Transaction::commit()
{
    if (!m_open)
        return Error{ErrorKind::Io, u"COMMIT without an open transaction"_s, {}};
    QSqlQuery query(m_handle);
    if (!query.exec(u"COMMIT"_s)) {
        const Error error = sqlError(query.lastError(), u"COMMIT failed"_s);
        rollback();
        return error;
    }
    m_open = false;
    m_handle = QSqlDatabase();
    return {};
}

void Transaction::rollback()
{
    if (!m_open)
        return;
    m_open = false;
    // After a full disk SQLite has rolled back by itself and refuses this one; either way nothing is open any more.
    QSqlQuery(m_handle).exec(u"ROLLBACK"_s);
    m_handle = QSqlDatabase();
}

} // namespace sendonce
