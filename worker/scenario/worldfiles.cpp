#include "worker/scenario/worldfiles.h"

#include "worker/store/database.h"
#include "worker/store/jobboard.h"

#include <QDir>
#include <QFile>
#include <QScopeGuard>
#include <QtSql/QSqlDatabase>
#include <QtSql/QSqlError>
#include <QtSql/QSqlQuery>

#include <algorithm>
#include <atomic>
#include <limits>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

QString boardFile(const QString &folder)
{
    return folder + u"/sendonce.db"_s;
}

Result<void> makeBoard(const QString &file)
{
    auto database = Database::openFile(file);
    if (!database)
        return database.error();
    return createJobBoard(database.value());
}

/// The name of a new connection, for closeConnection().
Result<QString> connectTo(const QString &file, const QString &options)
{
    static std::atomic_int counter{0};
    const QString name = u"sendonce-world-%1"_s.arg(++counter);
    QSqlDatabase database = QSqlDatabase::addDatabase(u"QSQLITE"_s, name);
    database.setDatabaseName(file);
    database.setConnectOptions(options);
    if (!database.open())
        return sqlError(database.lastError(), u"%1 cannot be opened"_s.arg(file));
    return name;
}

void closeConnection(const QString &name)
{
    if (name.isEmpty())
        return;
    QSqlDatabase::database(name, false).close();
    QSqlDatabase::removeDatabase(name);
}

Result<void> run(const QString &connection, const BoardStatement &statement)
{
    QSqlQuery query(QSqlDatabase::database(connection, false));
    bool done = query.prepare(statement.sql);
    for (const QVariant &value : statement.values)
        query.addBindValue(value);
    done = done && query.exec();
    return done ? Result<void>() : sqlError(query.lastError(), u"the change of the job board failed"_s);
}

} // namespace

WorldFiles::~WorldFiles()
{
    closeConnection(m_board);
}

Result<void> WorldFiles::prepare(const QString &folder)
{
    if (!QDir().mkpath(folder)
        || !QFile::setPermissions(folder, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner))
        return Error{ErrorKind::Io, u"the folder %1 cannot be made"_s.arg(folder), {}};
    return QFile::exists(boardFile(folder)) ? Result<void>() : makeBoard(boardFile(folder));
}

Result<void> WorldFiles::open(const QString &folder)
{
    m_folder = folder;
    m_mailbox.emplace(folder);
    auto connected = connectTo(boardFile(folder), u"QSQLITE_OPEN_READONLY;QSQLITE_BUSY_TIMEOUT=50"_s);
    if (!connected)
        return connected.error();
    m_board = connected.take();
    return {};
}

const QList<MailRow> &WorldFiles::mails()
{
    if (m_mailbox && m_mailbox->refresh()) {
        m_mails = m_mailbox->snapshot({}, std::numeric_limits<int>::max()).rows;
        std::reverse(m_mails.begin(), m_mails.end());
    }
    return m_mails;
}

int WorldFiles::claims(const std::optional<QString> &eventId) const
{
    QSqlQuery query(QSqlDatabase::database(m_board, false));
    query.setForwardOnly(true);
    const QString sql = u"SELECT count(*) FROM jobs_processedevent"_s;
    if (!query.prepare(eventId ? sql + u" WHERE event_id = ?"_s : sql))
        return -1;
    if (eventId)
        query.addBindValue(*eventId);
    return query.exec() && query.next() ? query.value(0).toInt() : -1;
}

Result<void> WorldFiles::change(const QList<BoardStatement> &statements)
{
    const auto connection = connectTo(boardFile(m_folder), u"QSQLITE_BUSY_TIMEOUT=0"_s);
    if (!connection)
        return connection.error();
    const auto closing = qScopeGuard([&connection] { closeConnection(connection.value()); }); // and rolling back
    if (const auto begun = run(connection.value(), {u"BEGIN IMMEDIATE"_s}); !begun)
        return begun;
    for (const BoardStatement &statement : statements) {
        if (const auto changed = run(connection.value(), statement); !changed)
            return changed;
    }
    return run(connection.value(), {u"COMMIT"_s});
}

} // namespace sendonce
