#include "tests/world/postgres.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTest>

#include <csignal>
#include <pwd.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

namespace sendonce::world {

using namespace Qt::StringLiterals;

namespace {

const QString Template = u"jobboard_template"_s;

quint16 freePort()
{
    QTcpServer server;
    server.listen(QHostAddress::LocalHost);
    return server.serverPort();
}

QString ended(QProcess &process, const QString &program, const QStringList &arguments, bool &ok)
{
    process.start(program, arguments);
    ok = process.waitForFinished(30'000) && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
    return QString::fromUtf8(process.readAllStandardOutput());
}

} // namespace

Postgres::Postgres()
{
    const QStringList versions = QDir(u"/usr/lib/postgresql"_s).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    for (const QString &version : versions)
        m_binaries = u"/usr/lib/postgresql/%1/bin/"_s.arg(version);
}

Postgres::~Postgres()
{
    if (m_pooler) {
        m_pooler->kill();
        m_pooler->waitForFinished();
    }
    if (!m_server)
        return;
    thaw();
    stop(Stop::Immediate);
}

QStringList Postgres::asServerUser(const QStringList &command) const
{
    // Also when the test is killed the server goes; setpriv sets it behind the change of user, which clears it.
    QStringList words{u"setpriv"_s, u"--pdeathsig"_s, u"QUIT"_s};
    if (!m_user.isEmpty())
        words += {u"--reuid"_s, m_user, u"--regid"_s, m_user, u"--clear-groups"_s};
    return words + command;
}

bool Postgres::start()
{
    if (m_binaries.isEmpty()) {
        m_why = u"PostgreSQL's server is not installed (Debian package postgresql-15)"_s;
        return false;
    }
    if (::geteuid() == 0) {
        m_user = ::getpwnam("postgres") ? u"postgres"_s : u"nobody"_s;
        const passwd *user = ::getpwnam(m_user.toLatin1().constData());
        if (!user || ::chown(QFile::encodeName(m_dir.path()).constData(), user->pw_uid, user->pw_gid) != 0) {
            m_why = u"the cluster's folder cannot be given to %1"_s.arg(m_user);
            return false;
        }
    }
    return initialise() && launch() && !sql(u"postgres"_s, u"CREATE DATABASE "_s + Template).isNull()
        && !sql(Template, u"\\i "_s + QStringLiteral(SENDONCE_SOURCE_DIR) + u"/tests/data/postgres/jobboard.sql"_s)
                .isNull();
}

bool Postgres::initialise()
{
    QStringList command =
        asServerUser({m_binaries + u"initdb"_s, u"-D"_s, m_dir.path() + u"/data"_s, u"-U"_s, u"sendonce"_s, u"-A"_s,
                      u"trust"_s, u"-E"_s, u"UTF8"_s, u"--locale=C.UTF-8"_s, u"--no-sync"_s, u"--no-instructions"_s});
    QProcess process;
    process.setWorkingDirectory(m_dir.path());
    process.setProcessChannelMode(QProcess::MergedChannels);
    bool ok = false;
    const QString program = command.takeFirst();
    const QString said = ended(process, program, command, ok);
    if (!ok)
        m_why = u"initdb: "_s + said + process.errorString();
    return ok;
}

bool Postgres::append(const QString &configurationLine)
{
    QFile file(m_dir.path() + u"/data/postgresql.conf"_s);
    return file.open(QIODevice::Append) && file.write(configurationLine.toUtf8() + '\n') > 0;
}

bool Postgres::launch()
{
    if (m_port == 0)
        m_port = freePort();
    QStringList command =
        asServerUser({m_binaries + u"postgres"_s, u"-D"_s, m_dir.path() + u"/data"_s, u"-k"_s, m_dir.path(), u"-p"_s,
                      QString::number(m_port), u"-c"_s, u"listen_addresses=127.0.0.1"_s, u"-c"_s,
                      u"max_connections=60"_s, u"-c"_s, u"shared_buffers=32MB"_s,
                      // Crash recovery would sync each of some thousand files by itself.
                      u"-c"_s, u"recovery_init_sync_method=syncfs"_s});
    m_server = std::make_unique<QProcess>();
    m_server->setWorkingDirectory(m_dir.path());
    m_server->setProcessChannelMode(QProcess::MergedChannels);
    m_server->setStandardOutputFile(m_dir.path() + u"/log"_s, QIODevice::Append);
    const QString program = command.takeFirst();
    m_server->start(program, command);
    QElapsedTimer waited;
    waited.start();
    while (waited.elapsed() < 30'000 && m_server->state() != QProcess::NotRunning) {
        if (!sql(u"postgres"_s, u"SELECT 1"_s).isNull()) {
            m_why.clear();
            return true;
        }
        QTest::qWait(20);
    }
    QFile log(m_dir.path() + u"/log"_s);
    m_why = u"the server does not come up: "_s
        + (log.open(QIODevice::ReadOnly) ? QString::fromUtf8(log.readAll()) : m_server->errorString());
    return false;
}

QString Postgres::sql(const QString &database, const QString &statements)
{
    QProcess psql;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const QString &name : environment.keys()) {
        if (name.startsWith("PG"_L1))
            environment.remove(name);
    }
    psql.setProcessEnvironment(environment);
    QStringList arguments{u"-X"_s, u"-q"_s,
                          u"-A"_s, u"-t"_s,
                          u"-v"_s, u"ON_ERROR_STOP=1"_s,
                          u"-h"_s, u"127.0.0.1"_s,
                          u"-p"_s, QString::number(m_port),
                          u"-U"_s, u"sendonce"_s,
                          u"-d"_s, database};
    arguments +=
        statements.startsWith("\\i "_L1) ? QStringList{u"-f"_s, statements.mid(3)} : QStringList{u"-c"_s, statements};
    bool ok = false;
    const QString said = ended(psql, m_binaries + u"psql"_s, arguments, ok);
    if (ok)
        return said.isNull() ? u""_s : said.trimmed() + u""_s;
    m_why = QString::fromUtf8(psql.readAllStandardError());
    return {};
}

QString Postgres::createJobBoard()
{
    const QString name = u"jobboard_%1"_s.arg(++m_databases);
    return sql(u"postgres"_s, u"CREATE DATABASE %1 TEMPLATE %2"_s.arg(name, Template)).isNull() ? QString() : name;
}

QString Postgres::url(const QString &database) const
{
    return u"postgresql://sendonce@127.0.0.1:%1/%2"_s.arg(m_port).arg(database);
}

bool Postgres::startPooler()
{
    m_poolerPort = freePort();
    QFile file(m_dir.path() + u"/pgbouncer.ini"_s);
    if (!file.open(QIODevice::WriteOnly))
        return false;
    file.write(u"[databases]\n* = host=127.0.0.1 port=%1 user=sendonce\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
               "listen_port = %2\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n"
               "default_pool_size = 2\n"_s.arg(m_port)
                   .arg(m_poolerPort)
                   .toUtf8());
    file.close();
    QStringList command = asServerUser({u"/usr/sbin/pgbouncer"_s, file.fileName()});
    m_pooler = std::make_unique<QProcess>();
    m_pooler->setProcessChannelMode(QProcess::MergedChannels);
    m_pooler->setStandardOutputFile(m_dir.path() + u"/pgbouncer.log"_s);
    const QString program = command.takeFirst();
    m_pooler->start(program, command);
    QElapsedTimer waited;
    waited.start();
    while (waited.elapsed() < 10'000 && m_pooler->state() != QProcess::NotRunning) {
        QTcpSocket socket;
        socket.connectToHost(QHostAddress::LocalHost, m_poolerPort);
        if (socket.waitForConnected(1000))
            return true;
        QTest::qWait(20);
    }
    QFile log(m_dir.path() + u"/pgbouncer.log"_s);
    m_why = u"PgBouncer does not come up: "_s
        + (log.open(QIODevice::ReadOnly) ? QString::fromUtf8(log.readAll()) : m_pooler->errorString());
    return false;
}

QString Postgres::pooledUrl(const QString &database) const
{
    return u"postgresql://sendonce@127.0.0.1:%1/%2"_s.arg(m_poolerPort).arg(database);
}

void Postgres::cutOpenTransactions(const QString &database)
{
    sql(u"postgres"_s,
        u"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '%1' "
        "AND state = 'idle in transaction'"_s.arg(database));
}

void Postgres::kill()
{
    ::kill(pid_t(m_server->processId()), SIGINT);
    while (!sql(u"postgres"_s, u"SELECT 1"_s).isNull())
        ;
}

bool Postgres::stop(Stop how)
{
    if (!m_server)
        return false;
    // Ended already, by kill(): there is no pid any more, and 0 would be ourselves.
    const auto pid = pid_t(m_server->processId());
    if (pid > 0)
        ::kill(pid, how == Stop::Fast ? SIGINT : SIGQUIT);
    const bool ok = pid <= 0 || m_server->waitForFinished(60'000);
    if (!ok)
        m_server->kill();
    m_server.reset();
    return ok;
}

bool Postgres::startAgain()
{
    return launch();
}

QList<qint64> Postgres::processes() const
{
    // setpriv has become the server, so its children are the backends.
    QList<qint64> found{m_server->processId()};
    QFile children(u"/proc/%1/task/%1/children"_s.arg(m_server->processId()));
    if (children.open(QIODevice::ReadOnly)) {
        for (const QByteArray &pid : children.readAll().split(' ')) {
            if (pid.toLongLong() > 0)
                found.append(pid.toLongLong());
        }
    }
    return found;
}

void Postgres::freeze()
{
    // The first one first: it makes no more children then.
    ::kill(pid_t(m_server->processId()), SIGSTOP);
    m_frozen = processes();
    for (const qint64 pid : std::as_const(m_frozen))
        ::kill(pid_t(pid), SIGSTOP);
}

void Postgres::thaw()
{
    // Those that were stopped, not those that are found now: the list of children has gaps while some of them end.
    const QList<qint64> frozen = std::exchange(m_frozen, {});
    for (const qint64 pid : frozen)
        ::kill(pid_t(pid), SIGCONT);
}

} // namespace sendonce::world
