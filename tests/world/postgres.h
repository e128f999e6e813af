#pragma once

#include <QProcess>
#include <QStringList>
#include <QTemporaryDir>

#include <memory>

namespace sendonce::world {

/// A PostgreSQL cluster of the test's own: in a temporary folder, on 127.0.0.1 and a socket there, durable as a real
/// one. It shares nothing with a cluster of the system's, and dies with the test. As root it runs as `postgres` or
/// `nobody`, for PostgreSQL refuses root.
class Postgres
{
public:
    Postgres();
    ~Postgres();

    /// False when it cannot be had; why() says.
    bool start();
    QString why() const { return m_why; }

    /// A new database with Django's tables (tests/data/postgres/jobboard.sql); its name.
    QString createJobBoard();
    /// postgresql://sendonce@127.0.0.1:port/database
    QString url(const QString &database) const;
    quint16 port() const { return m_port; }
    /// PgBouncer in transaction mode before it, with two connections for each database; url() through it.
    bool startPooler();
    QString pooledUrl(const QString &database) const;
    QString socketDirectory() const { return m_dir.path(); }

    /// Runs statements with psql; what it printed, unaligned. Sets why() when it failed.
    QString sql(const QString &database, const QString &statements);
    bool append(const QString &configurationLine); ///< to postgresql.conf; counts from the next start

    /// Any thread: ends the sessions of a database that hold a transaction open and wait for their client.
    void cutOpenTransactions(const QString &database);
    void kill(); ///< any thread: a fast shutdown; waits until nobody answers; stop() and startAgain() come behind it

    enum class Stop { Fast, Immediate };
    bool stop(Stop how);
    bool startAgain(); ///< behind stop(), on the same port
    void freeze(); ///< SIGSTOP to all of its processes
    void thaw();

private:
    bool initialise();
    bool launch();
    QStringList asServerUser(const QStringList &command) const;
    QList<qint64> processes() const;

    QTemporaryDir m_dir;
    QString m_binaries, m_why, m_user;
    QList<qint64> m_frozen;
    quint16 m_port = 0, m_poolerPort = 0;
    int m_databases = 0;
    std::unique_ptr<QProcess> m_server, m_pooler;
};

} // namespace sendonce::world
