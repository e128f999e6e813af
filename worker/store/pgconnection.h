#pragma once

#include "worker/result.h"
#include "worker/store/databaseurl.h"

#include <QByteArray>
#include <QDeadlineTimer>
#include <QString>
#include <QVariant>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <vector>

struct pg_conn;
struct pg_result;

namespace sendonce {

/// What PostgreSQL says about a failed statement: Busy for a lock that was not to be had (or a deadlock), Unreachable
/// when the server goes, is full or only reads, else Io. An empty SQLSTATE is only believed together with
/// `connectionLost`.
Error postgresError(const QString &sqlState, const QString &text, bool connectionLost, const QString &doing);

/// How long a call may take, and who may end it earlier.
struct PgPatience
{
    QDeadlineTimer deadline;
    const std::atomic_bool *stop = nullptr; ///< looked at every 50 ms; null: nobody may
};

/// The rows of one statement, as text.
class PgRows
{
public:
    PgRows() = default;
    explicit PgRows(pg_result *result);
    int count() const;
    int columns() const;
    QString column(int index) const;
    std::optional<QByteArray> text(int row, int column) const; ///< nothing: NULL
    /// Whole numbers as qint64, booleans as bool, floating point as double, NULL as an invalid one, the rest as text.
    QVariant value(int row, int column) const;
    QByteArray tag() const; ///< "INSERT 0 1", "COMMIT"

private:
    struct Clear
    {
        void operator()(pg_result *result) const;
    };
    std::unique_ptr<pg_result, Clear> m_result;
};

/// A connection through libpq itself, for the lanes: several statements in one round trip, and no wait without an end.
/// A server that is frozen answers nothing while its kernel acknowledges everything, so every wait has a deadline; when
/// it passes, the socket is shut. Used in one thread.
class PgConnection
{
public:
    struct Statement
    {
        QByteArray sql; ///< with $1, $2 …
        std::vector<std::optional<QByteArray>> values; ///< as text without NUL; nothing: NULL
        bool isKept = true; ///< prepared once for the connection, where that can be
    };

    /// Connects; READ COMMITTED writers are wanted, so a server that only reads is refused (Unreachable: it may be
    /// about to be promoted). \param sessionSettings run once, where the connection is ours alone
    static Result<std::unique_ptr<PgConnection>> open(const DatabaseUrl &url, const PgPatience &patience,
                                                      const QList<QByteArray> &sessionSettings = {});
    ~PgConnection();
    Q_DISABLE_COPY_MOVE(PgConnection)

    /// Sends all, then waits for all: one round trip. The first that fails ends the list: what stands behind it was not
    /// run, and is left out of the answer. Outside of an explicit BEGIN they are one transaction.
    std::vector<Result<PgRows>> run(const std::vector<Statement> &statements, const PgPatience &patience,
                                    const QString &doing);
    Result<PgRows> runOne(const Statement &statement, const PgPatience &patience, const QString &doing);
    /// Sends all in one piece, but waits for the first one only; answers() follows, and nothing else before it.
    Result<PgRows> runFirst(const std::vector<Statement> &statements, const PgPatience &patience, const QString &doing);
    /// Of what runFirst() has not waited for; as run().
    std::vector<Result<PgRows>> answers(const PgPatience &patience, const QString &doing);

    /// False once anything has ended it; also looks whether the server has hung up meanwhile. Does not wait.
    bool isUsable();
    /// There is a pooler between (its backend is not the one that greeted us), or the URL says so: nothing of a session
    /// may be relied on, so statements are not prepared and settings go with each transaction.
    bool isPooled() const { return m_pooled; }
    bool isOver() const; ///< as far as it is known already
    bool isInTransaction() const;
    QString name() const { return m_name; }
    int serverVersion() const; ///< 150018

private:
    explicit PgConnection(QString name);
    Result<void> connect(const DatabaseUrl &url, const PgPatience &patience);
    Result<void> introduce(const PgPatience &patience, const QList<QByteArray> &sessionSettings);
    std::optional<Error> flush(const PgPatience &patience);
    /// Waits until the socket can be read (or written as well); what ended it otherwise.
    std::optional<Error> await(short events, const PgPatience &patience);
    std::optional<Error> awaitResult(const PgPatience &patience);
    Error lost(const QString &doing);
    bool queue(const Statement &statement);
    std::optional<Error> send(const std::vector<Statement> &statements, bool firstAtOnce, const PgPatience &patience,
                              const QString &doing);
    Result<PgRows> nextAnswer(const PgPatience &patience, const QString &doing);

    pg_conn *m_connection = nullptr;
    const QString m_name;
    bool m_pooled = false;
    bool m_isOver = false; ///< a deadline passed or a protocol went wrong: nothing more is sent
    std::map<QByteArray, QByteArray> m_prepared; ///< SQL text -> the statement's name

    struct Sent
    {
        QByteArray preparing; ///< its SQL text, when it was sent to be prepared as well; else empty
    };
    std::vector<Sent> m_sent; ///< since the last synchronisation
    size_t m_answered = 0; ///< of them
};

} // namespace sendonce
