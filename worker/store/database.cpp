#include "worker/store/database.h"

#include "worker/store/sqltext.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QStringDecoder>
#include <QThread>
#include <QtSql/QSqlError>
#include <QtSql/QSqlQuery>
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

const QString Accepted = u"accepted: sqlite:///relative/path or sqlite:////absolute/path"_s;

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

/// Percent-decodes; nothing for a stray percent sign, NUL, or bytes that are not UTF-8.
QString decodedPath(const QString &encoded)
{
    const QByteArray bytes = encoded.toUtf8();
    for (qsizetype at = bytes.indexOf('%'); at >= 0; at = bytes.indexOf('%', at + 1)) {
        const QByteArray digits = bytes.mid(at + 1, 2);
        bool ok = false;
        if (digits.toInt(&ok, 16) == 0 || !ok || digits.size() < 2 || !isxdigit(static_cast<unsigned char>(digits[0])))
            return {};
    }
    QStringDecoder decoder(QStringDecoder::Utf8);
    const QString path = decoder(QByteArray::fromPercentEncoding(bytes));
    return decoder.hasError() ? QString() : path;
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
    QStringList statements{
        u"CREATE TABLE IF NOT EXISTS sendonce_schema (name text NOT NULL PRIMARY KEY, version integer NOT NULL)"_s};
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

/// Prepared once per connection and SQL text.
struct Database::Statements
{
    std::map<QString, QSqlQuery> bySql;
};

Result<QString> sqlitePath(const QString &url)
{
    const QString scheme = url.section(u':', 0, 0).toLower();
    if (scheme == "postgres"_L1 || scheme == "postgresql"_L1)
        return invalid(u"PostgreSQL is not in this version yet; accepted: sqlite:///path"_s);
    if (scheme != "sqlite"_L1 || !url.contains(u':')) // the rest of a foreign URL may hold a password
        return invalid(u"a database URL must begin with sqlite:///; "_s + Accepted);
    const QString rest = url.sliced(scheme.size() + 1);
    if (rest.isEmpty() || rest == "//"_L1 || rest == "///"_L1 || rest == "///:memory:"_L1)
        return invalid(
            u"database URL “%1” names a database in memory, which gives no durability; %2"_s.arg(url, Accepted));
    if (!rest.startsWith("///"_L1))
        return invalid(u"database URL “%1” names a host or lacks a slash; %2"_s.arg(url, Accepted));
    if (rest.contains(u'?') || rest.contains(u'#'))
        return invalid(u"database URL “%1” has options; %2 (a ? or # in the path as %3F or %23)"_s.arg(url, Accepted));
    const QString path = decodedPath(rest.sliced(3));
    if (path.isEmpty())
        return invalid(u"database URL “%1” is not percent-encoded UTF-8; %2"_s.arg(url, Accepted));
    if (path.endsWith(u'/'))
        return invalid(u"database URL “%1” names a folder; %2"_s.arg(url, Accepted));
    return QFileInfo(path).absoluteFilePath();
}

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
    const Result<QString> path = sqlitePath(url);
    return path ? openFile(path.value(), busyTimeout) : path.error();
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
    , m_statements(std::move(other.m_statements))
{ }

Database &Database::operator=(Database &&other) noexcept
{
    std::swap(m_connectionName, other.m_connectionName);
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

QSqlDatabase Database::handle() const
{
    return QSqlDatabase::database(m_connectionName, false);
}

QString Database::displayName() const
{
    return u"SQLite "_s + QFileInfo(filePath()).fileName();
}

QString Database::filePath() const
{
    return handle().databaseName();
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

Result<void> Database::migrate(const QString &set)
{
    const QList<Migration> migrations = migrationsOf(set);
    if (migrations.isEmpty())
        return invalid(u"there are no migrations named %1"_s.arg(set));
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
