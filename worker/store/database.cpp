#include "worker/store/database.h"

#include "worker/store/databaseserver.h"
#include "worker/store/sqltext.h"

#include <QElapsedTimer>
#include <QFileInfo>
#include <QThread>
#include <QtSql/QSqlError>
#include <QtSql/QSqlQuery>
#include <QtSql/QSqlRecord>
#include <QVariant>

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr int SqliteBusy = 5;
constexpr int SqliteLocked = 6;
constexpr int SqliteCorrupt = 11;
constexpr int SqliteNotADatabase = 26;

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

/// The connection cannot write while this lives, whatever a statement would do.
class QueryOnly
{
public:
    static Result<std::unique_ptr<QueryOnly>> on(const QSqlDatabase &handle, const QString &doing)
    {
        std::unique_ptr<QueryOnly> guard(new QueryOnly(handle));
        const auto set = ask(handle, u"PRAGMA query_only=ON"_s, u"%1: it cannot be made read-only"_s.arg(doing));
        if (!set)
            return set.error();
        return guard;
    }
    ~QueryOnly()
    {
        // Should this fail, the next claim fails with words: nothing is lost.
        (void)ask(m_handle, u"PRAGMA query_only=OFF"_s, {});
    }

private:
    explicit QueryOnly(const QSqlDatabase &handle) : m_handle(handle) { }
    Q_DISABLE_COPY_MOVE(QueryOnly)

    const QSqlDatabase m_handle;
};

} // namespace

/// Prepared once per connection and SQL text.
struct Database::Statements
{
    std::map<QString, QSqlQuery> bySql;
    std::set<const QSqlQuery *> readers; ///< of them, those that have run and written nothing
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
    database.m_server = std::make_shared<Server>(Server{parsed.value(), busyTimeout, nullptr});
    const auto reached =
        database.m_server->run({{"SELECT 1", {}, false}}, u"%1 cannot be opened"_s.arg(parsed->displayName()));
    if (!reached)
        return reached.error();
    return database;
}

Database Database::sameConnection() const
{
    Q_ASSERT(isPostgres());
    Database database{QString()};
    database.m_server = m_server;
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

Result<void> Database::writeBehind(const QString &sql, const std::vector<std::optional<QByteArray>> &values,
                                   const QString &doing)
{
    // A setting of this transaction alone: behind a pooler the session is not ours.
    const auto written = m_server->run(
        {{"SELECT set_config('synchronous_commit', 'off', true)", {}, true}, {numberedSql(sql).toUtf8(), values, true}},
        doing);
    return written ? Result<void>() : written.error();
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

/// SQLite decides when it compiles a statement whether that writes, and refuses it at the first step of its first run.
/// Not at each run: a change of query_only makes SQLite compile all statements of the connection anew, which takes
/// longer than a look-up.
Result<void> Database::runReading(QSqlQuery &query, const QString &doing)
{
    std::unique_ptr<QueryOnly> guard;
    if (!m_statements->readers.contains(&query)) {
        auto on = QueryOnly::on(handle(), doing);
        if (!on)
            return on.error();
        guard = on.take();
    }
    if (!query.exec())
        return sqlError(query.lastError(), doing);
    m_statements->readers.insert(&query);
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
