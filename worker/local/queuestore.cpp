#include "worker/local/queuestore.h"

#include "worker/local/jsontext.h"

#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSqlError>
#include <QUuid>
#include <QVariant>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

constexpr int SchemaVersion = 2;
constexpr qsizetype RecentBytes = 16 * 1024 * 1024;

// What changes with a receive and what does not are two tables: a receive must not write a body of 1 MiB again.
const char *const Schema[] = {
    "CREATE TABLE queue (number INTEGER PRIMARY KEY, bucket INTEGER NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE, "
    "created INTEGER NOT NULL, modified INTEGER NOT NULL, attributes TEXT NOT NULL)",
    "CREATE TABLE message (row INTEGER PRIMARY KEY, bucket INTEGER NOT NULL, id BLOB NOT NULL, sent INTEGER NOT NULL, "
    "visible INTEGER NOT NULL, hidden_for INTEGER NOT NULL, first_received INTEGER NOT NULL, received INTEGER NOT "
    "NULL, "
    "receipt INTEGER NOT NULL, receive_count INTEGER NOT NULL, count_at_arrival INTEGER NOT NULL, source TEXT)",
    "CREATE TABLE content (row INTEGER PRIMARY KEY, body BLOB NOT NULL, md5 BLOB NOT NULL, extras TEXT)",
};

// Since version 2.
const char *const MoveTaskSchema =
    "CREATE TABLE move_task (number INTEGER PRIMARY KEY, id BLOB NOT NULL, status TEXT NOT NULL, source TEXT NOT NULL, "
    "destination TEXT, per_second INTEGER NOT NULL, started INTEGER NOT NULL, last_row INTEGER NOT NULL, "
    "to_move INTEGER NOT NULL, moved INTEGER NOT NULL, failure TEXT)";

// Primary result codes of SQLite (sqlite3.h); QtSql gives the extended ones.
enum { SqliteError = 1, SqliteIoErr = 10, SqliteCorrupt = 11, SqliteNotADb = 26 };

int primaryCode(const QSqlError &error)
{
    return error.nativeErrorCode().toInt() & 0xFF;
}

/// What a message has besides its body, as JSON text; null when there is nothing.
QVariant toExtras(const MessageContent &content)
{
    QJsonObject extras;
    if (!content.attributes.isEmpty()) {
        QJsonObject attributes;
        for (auto it = content.attributes.cbegin(); it != content.attributes.cend(); ++it) {
            QJsonObject attribute{{u"type"_s, it->dataType}};
            if (it->binaryValue.isEmpty())
                attribute.insert(u"text"_s, it->stringValue);
            else
                attribute.insert(u"base64"_s, QString::fromLatin1(it->binaryValue.toBase64()));
            attributes.insert(it.key(), attribute);
        }
        extras.insert(u"attributes"_s, attributes);
    }
    if (!content.groupId.isEmpty())
        extras.insert(u"group"_s, content.groupId);
    if (!content.traceHeader.isEmpty())
        extras.insert(u"trace"_s, content.traceHeader);
    if (extras.isEmpty())
        return QVariant(QMetaType::fromType<QString>());
    return fromUtf8(toJson(extras));
}

void readExtras(const QString &text, MessageContent *content)
{
    if (text.isEmpty())
        return;
    const QJsonObject extras = parseJson(text.toUtf8()).object();
    const QJsonObject attributes = extras.value("attributes"_L1).toObject();
    for (auto it = attributes.begin(); it != attributes.end(); ++it) {
        const QJsonObject attribute = it->toObject();
        content->attributes.insert(it.key(),
                                   {attribute.value("type"_L1).toString(), attribute.value("text"_L1).toString(),
                                    QByteArray::fromBase64(attribute.value("base64"_L1).toString().toLatin1())});
    }
    content->groupId = extras.value("group"_L1).toString();
    content->traceHeader = extras.value("trace"_L1).toString();
}

QString toJsonText(const QMap<QString, QString> &attributes)
{
    QJsonObject object;
    for (auto it = attributes.cbegin(); it != attributes.cend(); ++it)
        object.insert(it.key(), *it);
    return fromUtf8(toJson(object));
}

QMap<QString, QString> fromJsonText(const QString &text)
{
    QMap<QString, QString> attributes;
    const QJsonObject object = parseJson(text.toUtf8()).object();
    for (auto it = object.begin(); it != object.end(); ++it)
        attributes.insert(it.key(), it->toString());
    return attributes;
}

/// Gives a damaged database another name, its write-ahead log with it: together they can still be looked at. The log
/// first: a fresh database beside an old log would read it.
Result<QString> setAside(const QString &file)
{
    const QString wanted = file + u".damaged-"_s + QDateTime::currentDateTimeUtc().toString(u"yyyy-MM-dd"_s);
    QString name = wanted;
    for (int n = 2; QFileInfo::exists(name) || QFileInfo::exists(name + u"-wal"_s); ++n)
        name = wanted + u'-' + QString::number(n);
    for (const QString &suffix : {u"-wal"_s, u"-shm"_s, QString()}) {
        if (QFileInfo::exists(file + suffix) && !QFile::rename(file + suffix, name + suffix))
            return Error{ErrorKind::Io, u"%1 is damaged and cannot be renamed"_s.arg(file), {}};
    }
    return name;
}

} // namespace

struct QueueStore::Statements
{
    explicit Statements(const QSqlDatabase &database)
        : putQueue(database)
        , removeQueue(database)
        , insertMessage(database)
        , insertContent(database)
        , updateMessage(database)
        , removeMessage(database)
        , removeContent(database)
        , selectContent(database)
        , rekeyContent(database)
        , putMoveTask(database)
        , removeMoveTask(database)
    { }
    QSqlQuery putQueue;
    QSqlQuery removeQueue;
    QSqlQuery insertMessage;
    QSqlQuery insertContent;
    QSqlQuery updateMessage;
    QSqlQuery removeMessage;
    QSqlQuery removeContent;
    QSqlQuery selectContent;
    QSqlQuery rekeyContent;
    QSqlQuery putMoveTask;
    QSqlQuery removeMoveTask;
};

QueueStore::QueueStore() = default;

QueueStore::~QueueStore()
{
    close();
}

// ---- opening ----------------------------------------------------------------------------------------------

Result<void> QueueStore::open(const QString &file)
{
    m_warning.clear();
    bool damaged = false;
    Result<void> opened = openChecked(file, &damaged);
    if (!opened && damaged) {
        const QString reason = opened.error().text;
        close();
        const Result<QString> aside = setAside(file);
        if (!aside)
            return aside.error();
        m_warning = u"%1 was damaged (%2) and is kept as %3; the queue starts empty"_s.arg(file, reason, aside.value());
        opened = openChecked(file, &damaged);
    }
    if (!opened) {
        close();
        return Error{opened.error().kind, u"cannot use %1: %2"_s.arg(file, opened.error().text), opened.error().code};
    }
    m_recent.setMaxCost(RecentBytes);
    return {};
}

Result<void> QueueStore::openChecked(const QString &file, bool *damaged)
{
    *damaged = false;
    // SQLite would make it readable for everybody; the log inherits these permissions.
    if (!QFileInfo::exists(file)) {
        QFile fresh(file);
        if (!fresh.open(QIODevice::WriteOnly | QIODevice::NewOnly, QFile::ReadOwner | QFile::WriteOwner))
            return Error{ErrorKind::Io, fresh.errorString(), {}};
    }
    m_connection = u"sendonce-queue-"_s + QUuid::createUuid().toString(QUuid::Id128);
    m_database = QSqlDatabase::addDatabase(u"QSQLITE"_s, m_connection);
    m_database.setDatabaseName(file);
    m_database.setConnectOptions(u"QSQLITE_BUSY_TIMEOUT=2000"_s);
    if (!m_database.open())
        return Error{ErrorKind::Io, m_database.lastError().databaseText(), m_database.lastError().nativeErrorCode()};

    const auto judged = [damaged](Result<void> result) {
        if (!result) {
            const int code = result.error().code.toInt() & 0xFF;
            *damaged = *damaged || code == SqliteCorrupt || code == SqliteNotADb;
        }
        return result;
    };
    // Nobody else has business in this file while we have it open, and without others no shared memory is needed.
    if (auto done = judged(exec(u"PRAGMA locking_mode=EXCLUSIVE"_s)); !done)
        return done;
    QSqlQuery query(m_database);
    if (!query.exec(u"PRAGMA quick_check(1)"_s) || !query.next())
        return judged(failed(query.lastError()));
    if (const QString verdict = query.value(0).toString(); verdict != "ok"_L1) {
        *damaged = true;
        return Error{ErrorKind::Io, verdict.simplified(), {}};
    }
    if (!query.exec(u"PRAGMA user_version"_s) || !query.next())
        return judged(failed(query.lastError()));
    const int version = query.value(0).toInt();
    query.finish();
    // Up to here nothing was written: what is not ours stays as it is.
    if (version > SchemaVersion)
        return Error{ErrorKind::Refused,
                     u"a newer version of Sendonce wrote it (schema %1, known is %2)"_s.arg(version).arg(SchemaVersion),
                     {}};
    const bool fresh = version == 0;
    if (fresh && !m_database.tables().isEmpty()) {
        *damaged = true;
        return Error{ErrorKind::Io, u"it is no queue of Sendonce"_s, {}};
    }
    if (!fresh) {
        if (auto checked = checkQueues(); !checked) {
            *damaged = true;
            return checked;
        }
    }
    m_durability.reset();
    if (auto done = setDurability(Durability::Synced); !done)
        return done;
    QStringList statements{u"PRAGMA journal_mode=WAL"_s, u"PRAGMA cache_size=-16384"_s,
                           u"PRAGMA journal_size_limit=67108864"_s};
    if (version < SchemaVersion) {
        statements += u"BEGIN IMMEDIATE"_s;
        if (fresh) {
            for (const char *statement : Schema)
                statements += QString::fromLatin1(statement);
        }
        statements += QString::fromLatin1(MoveTaskSchema);
        statements += u"PRAGMA user_version=%1"_s.arg(SchemaVersion);
        statements += u"COMMIT"_s;
    }
    for (const QString &statement : statements) {
        if (auto done = exec(statement); !done)
            return done;
    }
    auto prepared = prepare();
    if (!prepared && (prepared.error().code.toInt() & 0xFF) == SqliteError) // tables or columns are missing
        *damaged = true;
    return judged(prepared);
}

Result<void> QueueStore::checkQueues()
{
    // A wrong bucket or name here would throw a whole queue away. The table is small, so all of it is looked at, its
    // indexes too.
    QSqlQuery query(m_database);
    if (!query.exec(u"PRAGMA integrity_check(queue)"_s) || !query.next())
        return failed(query.lastError());
    if (const QString verdict = query.value(0).toString(); verdict != "ok"_L1)
        return Error{ErrorKind::Io, verdict.simplified(), {}};
    if (!query.exec(u"SELECT attributes FROM queue"_s))
        return failed(query.lastError());
    while (query.next()) {
        if (!QJsonDocument::fromJson(query.value(0).toString().toUtf8()).isObject())
            return Error{ErrorKind::Io, u"the attributes of a queue are not readable"_s, {}};
    }
    return {};
}

Result<void> QueueStore::prepare()
{
    m_statements = std::make_unique<Statements>(m_database);
    const std::pair<QSqlQuery *, QString> all[] = {
        {&m_statements->putQueue,
         u"INSERT OR REPLACE INTO queue (number, bucket, name, created, modified, attributes) VALUES (?, ?, ?, ?, ?, ?)"_s},
        {&m_statements->removeQueue, u"DELETE FROM queue WHERE number = ?"_s},
        {&m_statements->insertMessage,
         u"INSERT INTO message (row, bucket, id, sent, visible, hidden_for, first_received, received, receipt, "
         u"receive_count, "
         "count_at_arrival, source) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"_s},
        {&m_statements->insertContent, u"INSERT INTO content (row, body, md5, extras) VALUES (?, ?, ?, ?)"_s},
        {&m_statements->updateMessage,
         u"UPDATE message SET bucket = ?, visible = ?, hidden_for = ?, first_received = ?, received = ?, receipt = ?, "
         "receive_count = ?, count_at_arrival = ?, source = ? WHERE row = ?"_s},
        {&m_statements->removeMessage, u"DELETE FROM message WHERE row = ?"_s},
        {&m_statements->removeContent, u"DELETE FROM content WHERE row = ?"_s},
        {&m_statements->rekeyContent, u"UPDATE content SET row = ? WHERE row = ?"_s},
        {&m_statements->putMoveTask,
         u"INSERT OR REPLACE INTO move_task (number, id, status, source, destination, per_second, started, last_row, "
         "to_move, moved, failure) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"_s},
        {&m_statements->removeMoveTask, u"DELETE FROM move_task WHERE number = ?"_s},
        {&m_statements->selectContent, u"SELECT body, md5, extras FROM content WHERE row = ?"_s},
    };
    for (const auto &[query, sql] : all) {
        query->setForwardOnly(true);
        if (!query->prepare(sql))
            return failed(query->lastError());
    }
    return {};
}

void QueueStore::close()
{
    m_statements.reset();
    m_recent.clear();
    if (m_connection.isEmpty())
        return;
    m_database.close();
    m_database = QSqlDatabase();
    QSqlDatabase::removeDatabase(m_connection);
    m_connection.clear();
    m_suspect = false;
}

Result<void> QueueStore::load(const std::function<void(const StoredQueue &)> &queue,
                              const std::function<void(const StoredMessage &)> &message,
                              const std::function<void(const MoveTask &)> &task)
{
    QSqlQuery query(m_database);
    query.setForwardOnly(true);
    if (!query.exec(u"SELECT number, bucket, name, created, modified, attributes FROM queue"_s))
        return failed(query.lastError());
    while (query.next()) {
        queue({query.value(0).toUInt(), query.value(1).toLongLong(), query.value(2).toString(),
               query.value(3).toLongLong(), query.value(4).toLongLong(), fromJsonText(query.value(5).toString())});
    }
    if (query.lastError().isValid())
        return failed(query.lastError());
    if (!query.exec(
            u"SELECT row, bucket, id, sent, visible, hidden_for, first_received, received, receipt, receive_count, "
            "count_at_arrival, source FROM message ORDER BY row"_s))
        return failed(query.lastError());
    while (query.next()) {
        StoredMessage stored;
        stored.row = query.value(0).toLongLong();
        stored.bucket = query.value(1).toLongLong();
        stored.id = QUuid::fromRfc4122(query.value(2).toByteArray());
        stored.sent = query.value(3).toLongLong();
        stored.visible = query.value(4).toLongLong();
        stored.hiddenForMsec = query.value(5).toLongLong();
        stored.firstReceived = query.value(6).toLongLong();
        stored.received = query.value(7).toLongLong();
        stored.receipt = quint64(query.value(8).toLongLong());
        stored.receiveCount = query.value(9).toUInt();
        stored.countAtArrival = query.value(10).toUInt();
        stored.source = query.value(11).toString();
        message(stored);
    }
    if (query.lastError().isValid())
        return failed(query.lastError());
    if (!query.exec(u"SELECT number, id, status, source, destination, per_second, started, last_row, to_move, moved, "
                    "failure FROM move_task ORDER BY number"_s))
        return failed(query.lastError());
    while (query.next()) {
        MoveTask stored;
        stored.number = query.value(0).toLongLong();
        stored.id = QUuid::fromRfc4122(query.value(1).toByteArray());
        stored.status = moveStatusOf(query.value(2).toString()).value_or(MoveTask::Status::Failed);
        stored.source = query.value(3).toString();
        stored.destination = query.value(4).toString();
        stored.perSecond = query.value(5).toInt();
        stored.startedWall = query.value(6).toLongLong();
        stored.lastRow = query.value(7).toLongLong();
        stored.toMove = query.value(8).toLongLong();
        stored.moved = query.value(9).toLongLong();
        stored.failure = query.value(10).toString();
        task(stored);
    }
    if (query.lastError().isValid())
        return failed(query.lastError());
    return {};
}

// ---- writing ----------------------------------------------------------------------------------------------

Result<void> QueueStore::setDurability(Durability durability)
{
    if (m_durability == durability)
        return {};
    // In WAL mode FULL syncs the log at every commit, NORMAL at checkpoints only. A FULL commit syncs what NORMAL ones
    // left.
    auto done = exec(durability == Durability::Synced ? u"PRAGMA synchronous=FULL"_s : u"PRAGMA synchronous=NORMAL"_s);
    if (done)
        m_durability = durability;
    return done;
}

Result<void> QueueStore::apply(const std::vector<QueueChange> &changes, Durability durability)
{
    if (m_suspect) {
        // After a failed write or sync the log may have a hole that a later sync would not mend. Before anything is
        // promised again, all of it goes into the database file, and a new log begins.
        if (auto done = exec(u"PRAGMA wal_checkpoint(TRUNCATE)"_s); !done)
            return done;
        m_suspect = false;
    }
    if (auto done = setDurability(durability); !done)
        return done;
    if (auto written = inTransaction(changes); !written) {
        // SQLite has rolled back by itself after some errors, so what this says does not matter.
        (void)exec(u"ROLLBACK"_s);
        return written;
    }
    for (const QueueChange &change : changes)
        keepRecent(change);
    return {};
}

void QueueStore::keepRecent(const QueueChange &change)
{
    const auto keep = [this](qint64 row, MessageContent *content) {
        m_recent.insert(row, content, content->body.size() + 256);
    };
    if (const auto *inserted = std::get_if<InsertMessage>(&change)) {
        keep(inserted->message.row, new MessageContent(inserted->content));
    } else if (const auto *removed = std::get_if<RemoveMessage>(&change)) {
        m_recent.remove(removed->row);
    } else if (const auto *renewed = std::get_if<RenewMessage>(&change)) {
        if (MessageContent *content = m_recent.take(renewed->oldRow))
            keep(renewed->message.row, content);
    }
}

Result<void> QueueStore::inTransaction(const std::vector<QueueChange> &changes)
{
    // In words, for QSqlDatabase::commit() does not pass SQLite's code on.
    if (auto begun = exec(u"BEGIN IMMEDIATE"_s); !begun)
        return begun;
    for (const QueueChange &change : changes) {
        if (auto done = apply(change); !done)
            return done;
    }
    return exec(u"COMMIT"_s);
}

Result<void> QueueStore::apply(const QueueChange &change)
{
    return std::visit([this](const auto &typed) { return write(typed); }, change);
}

Result<void> QueueStore::write(const PutQueue &change)
{
    QSqlQuery &query = m_statements->putQueue;
    query.bindValue(0, change.queue.number);
    query.bindValue(1, change.queue.bucket);
    query.bindValue(2, change.queue.name);
    query.bindValue(3, change.queue.created);
    query.bindValue(4, change.queue.modified);
    query.bindValue(5, toJsonText(change.queue.attributes));
    return query.exec() ? Result<void>() : failed(query.lastError());
}

Result<void> QueueStore::write(const RemoveQueue &change)
{
    QSqlQuery &query = m_statements->removeQueue;
    query.bindValue(0, change.number);
    return query.exec() ? Result<void>() : failed(query.lastError());
}

Result<void> QueueStore::insertRow(const StoredMessage &message)
{
    QSqlQuery &query = m_statements->insertMessage;
    query.bindValue(0, message.row);
    query.bindValue(1, message.bucket);
    query.bindValue(2, message.id.toRfc4122());
    query.bindValue(3, message.sent);
    query.bindValue(4, message.visible);
    query.bindValue(5, message.hiddenForMsec);
    query.bindValue(6, message.firstReceived);
    query.bindValue(7, message.received);
    query.bindValue(8, qint64(message.receipt));
    query.bindValue(9, message.receiveCount);
    query.bindValue(10, message.countAtArrival);
    query.bindValue(11, message.source);
    return query.exec() ? Result<void>() : failed(query.lastError());
}

Result<void> QueueStore::write(const InsertMessage &change)
{
    if (auto inserted = insertRow(change.message); !inserted)
        return inserted;
    QSqlQuery &content = m_statements->insertContent;
    content.bindValue(0, change.message.row);
    content.bindValue(1, change.content.body);
    content.bindValue(2, change.content.bodyMd5);
    content.bindValue(3, toExtras(change.content));
    return content.exec() ? Result<void>() : failed(content.lastError());
}

Result<void> QueueStore::write(const UpdateMessage &change)
{
    const StoredMessage &message = change.message;
    QSqlQuery &query = m_statements->updateMessage;
    query.bindValue(0, message.bucket);
    query.bindValue(1, message.visible);
    query.bindValue(2, message.hiddenForMsec);
    query.bindValue(3, message.firstReceived);
    query.bindValue(4, message.received);
    query.bindValue(5, qint64(message.receipt));
    query.bindValue(6, message.receiveCount);
    query.bindValue(7, message.countAtArrival);
    query.bindValue(8, message.source);
    query.bindValue(9, message.row);
    return query.exec() ? Result<void>() : failed(query.lastError());
}

Result<void> QueueStore::write(const RemoveMessage &change)
{
    for (QSqlQuery *query : {&m_statements->removeMessage, &m_statements->removeContent}) {
        query->bindValue(0, change.row);
        if (!query->exec())
            return failed(query->lastError());
    }
    return {};
}

Result<void> QueueStore::write(const RenewMessage &change)
{
    QSqlQuery &removed = m_statements->removeMessage;
    removed.bindValue(0, change.oldRow);
    if (!removed.exec())
        return failed(removed.lastError());
    if (auto inserted = insertRow(change.message); !inserted)
        return inserted;
    QSqlQuery &content = m_statements->rekeyContent;
    content.bindValue(0, change.message.row);
    content.bindValue(1, change.oldRow);
    return content.exec() ? Result<void>() : failed(content.lastError());
}

Result<void> QueueStore::write(const PutMoveTask &change)
{
    const MoveTask &task = change.task;
    QSqlQuery &query = m_statements->putMoveTask;
    query.bindValue(0, task.number);
    query.bindValue(1, task.id.toRfc4122());
    query.bindValue(2, toText(task.status));
    query.bindValue(3, task.source);
    query.bindValue(4, task.destination);
    query.bindValue(5, task.perSecond);
    query.bindValue(6, task.startedWall);
    query.bindValue(7, task.lastRow);
    query.bindValue(8, task.toMove);
    query.bindValue(9, task.moved);
    query.bindValue(10, task.failure);
    return query.exec() ? Result<void>() : failed(query.lastError());
}

Result<void> QueueStore::write(const RemoveMoveTask &change)
{
    QSqlQuery &query = m_statements->removeMoveTask;
    query.bindValue(0, change.number);
    return query.exec() ? Result<void>() : failed(query.lastError());
}

Result<void> QueueStore::discard(const QList<qint64> &rows)
{
    std::vector<QueueChange> changes;
    changes.reserve(rows.size());
    for (const qint64 row : rows)
        changes.emplace_back(RemoveMessage{row});
    return apply(changes, Durability::Written);
}

Result<MessageContent> QueueStore::content(qint64 row)
{
    if (const MessageContent *recent = m_recent.object(row))
        return *recent;
    QSqlQuery &query = m_statements->selectContent;
    query.bindValue(0, row);
    if (!query.exec())
        return failed(query.lastError());
    if (!query.next()) {
        query.finish();
        return Error{ErrorKind::Io, u"the content of message %1 is missing"_s.arg(row), {}};
    }
    MessageContent content;
    content.body = query.value(0).toByteArray();
    content.bodyMd5 = query.value(1).toByteArray();
    readExtras(query.value(2).toString(), &content);
    query.finish();
    return content;
}

Result<void> QueueStore::exec(const QString &sql)
{
    QSqlQuery query(m_database);
    if (!query.exec(sql))
        return failed(query.lastError());
    return {};
}

Error QueueStore::failed(const QSqlError &error)
{
    if (primaryCode(error) == SqliteIoErr)
        m_suspect = true;
    return {ErrorKind::Io, error.databaseText(), error.nativeErrorCode()};
}

} // namespace sendonce::local
