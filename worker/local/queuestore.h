#pragma once

#include "worker/local/queuechange.h"
#include "worker/result.h"

#include <QCache>
#include <QSqlDatabase>
#include <QSqlQuery>

#include <functional>
#include <memory>
#include <vector>

namespace sendonce::local {

/// The file `queue.db` behind LocalQueues: SQLite in WAL mode, written in transactions, one per turn. Lives in one
/// thread.
class QueueStore
{
public:
    enum class Durability {
        Synced, ///< returns when the changes are on the disk (synchronous=FULL)
        Written, ///< survives the end of the process, not of the machine; no fsync
    };

    QueueStore();
    QueueStore(const QueueStore &) = delete;
    QueueStore &operator=(const QueueStore &) = delete;
    ~QueueStore();

    /// Opens, or makes, the file and checks it. A damaged one is set aside as `<file>.damaged-<UTC date>`, never
    /// overwritten, and warning() says so. Io when it cannot be opened; Refused when a newer version wrote it.
    Result<void> open(const QString &file);
    void close();
    QString warning() const { return m_warning; }

    /// Reads what was kept: every queue, then every message by row, then every move task.
    Result<void> load(const std::function<void(const StoredQueue &)> &queue,
                      const std::function<void(const StoredMessage &)> &message,
                      const std::function<void(const MoveTask &)> &task);
    /// All or nothing, in one transaction. After an error nothing of it is kept.
    Result<void> apply(const std::vector<QueueChange> &changes, Durability durability);
    /// The content of one message; recent ones come from memory. Io when it cannot be read.
    Result<MessageContent> content(qint64 row);
    /// Throws rows away that no queue knows any more.
    Result<void> discard(const QList<qint64> &rows);

private:
    struct Statements;
    Result<void> openChecked(const QString &file, bool *damaged);
    Result<void> checkQueues();
    Result<void> prepare();
    Result<void> setDurability(Durability durability);
    Result<void> inTransaction(const std::vector<QueueChange> &changes);
    Result<void> apply(const QueueChange &change);
    Result<void> write(const PutQueue &change);
    Result<void> write(const RemoveQueue &change);
    Result<void> write(const InsertMessage &change);
    Result<void> write(const UpdateMessage &change);
    Result<void> write(const RemoveMessage &change);
    Result<void> write(const RenewMessage &change);
    Result<void> write(const PutMoveTask &change);
    Result<void> write(const RemoveMoveTask &change);
    Result<void> insertRow(const StoredMessage &message);
    void keepRecent(const QueueChange &change);
    Result<void> exec(const QString &sql);
    Error failed(const QSqlError &error);

    QString m_connection;
    QSqlDatabase m_database;
    std::unique_ptr<Statements> m_statements;
    std::optional<Durability> m_durability;
    bool m_suspect = false; ///< a write failed below SQLite: see apply()
    QCache<qint64, MessageContent> m_recent; ///< cost: bytes
    QString m_warning;
};

} // namespace sendonce::local
