#include "worker/store/pgconnection.h"

#include "worker/wait/waiting.h"

#include <QCryptographicHash>
#include <QRegularExpression>

#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr int SliceMsec = 50; ///< the longest time until a stop is seen

/// What libpq says, on one line: it likes to add a newline and hints on further ones.
QString oneLine(const char *text)
{
    return QString::fromUtf8(text).simplified();
}

/// The names of prepared statements belong to the connection; a hash keeps them short and in no need of a list.
QByteArray nameOf(const QByteArray &sql)
{
    return "sendonce_" + QCryptographicHash::hash(sql, QCryptographicHash::Md5).toHex();
}

std::vector<const char *> pointers(const PgConnection::Statement &statement)
{
    std::vector<const char *> values;
    values.reserve(statement.values.size());
    for (const auto &value : statement.values)
        values.push_back(value ? value->constData() : nullptr);
    return values;
}

bool staysHere(const QString &host)
{
    return host == "localhost"_L1 || host == "127.0.0.1"_L1 || host == "::1"_L1 || host.startsWith(u'/');
}

/// Why there is no connection: Refused when it is who or what we ask for, Busy when all are taken, else Unreachable.
Error connectError(const PGconn *connection, const QString &doing)
{
    static const QRegularExpression Code(u"\\b[A-Z]+:  ([0-9A-Z]{5}): "_s);
    const QString said = QString::fromUtf8(PQerrorMessage(connection));
    const QString code = Code.match(said).captured(1);
    QStringList lines = said.split(u'\n', Qt::SkipEmptyParts);
    lines.removeIf([](const QString &line) { return line.startsWith("LOCATION:"_L1); });
    Error error = postgresError(code, lines.join(u' ').remove(code + u": "_s).simplified(), true, doing);
    if (code.startsWith("28"_L1) || code.startsWith("3D"_L1))
        error.kind = ErrorKind::Refused;
    return error;
}

} // namespace

Error postgresError(const QString &sqlState, const QString &text, bool connectionLost, const QString &doing)
{
    // Lock time-out, deadlock, serialization, statement time-out, too many clients: others are first, nothing is wrong.
    static const QStringList Busy{u"55P03"_s, u"40P01"_s, u"40001"_s, u"57014"_s, u"53300"_s};
    // Shut down, crashed, starting; the session was ended; a standby.
    static const QStringList Away{u"57P01"_s, u"57P02"_s, u"57P03"_s, u"57P05"_s, u"25P03"_s, u"25006"_s};
    ErrorKind kind = ErrorKind::Io;
    if (Busy.contains(sqlState))
        kind = ErrorKind::Busy;
    else if (connectionLost || Away.contains(sqlState) || sqlState.startsWith("08"_L1))
        kind = ErrorKind::Unreachable;
    const QString said = text.isEmpty() ? u"the connection was lost"_s : text;
    return {kind, u"%1: %2"_s.arg(doing, said), sqlState};
}

// ---- rows ----------------------------------------------------------------------------------------------------------

void PgRows::Clear::operator()(pg_result *result) const
{
    PQclear(result);
}

PgRows::PgRows(pg_result *result) : m_result(result) { }

int PgRows::count() const
{
    return m_result ? PQntuples(m_result.get()) : 0;
}

int PgRows::columns() const
{
    return m_result ? PQnfields(m_result.get()) : 0;
}

QString PgRows::column(int index) const
{
    return QString::fromUtf8(PQfname(m_result.get(), index));
}

std::optional<QByteArray> PgRows::text(int row, int column) const
{
    if (PQgetisnull(m_result.get(), row, column))
        return std::nullopt;
    return QByteArray(PQgetvalue(m_result.get(), row, column), PQgetlength(m_result.get(), row, column));
}

QVariant PgRows::value(int row, int column) const
{
    const auto value = text(row, column);
    if (!value)
        return {};
    switch (PQftype(m_result.get(), column)) { // pg_type.dat: these numbers are part of the protocol
    case 16:
        return *value == "t";
    case 20:
    case 21:
    case 23:
        return value->toLongLong();
    case 700:
    case 701:
        return value->toDouble();
    default:
        return QString::fromUtf8(*value);
    }
}

QByteArray PgRows::tag() const
{
    return m_result ? QByteArray(PQcmdStatus(m_result.get())) : QByteArray();
}

// ---- the connection ------------------------------------------------------------------------------------------------

PgConnection::PgConnection(QString name) : m_name(std::move(name)) { }

PgConnection::~PgConnection()
{
    PQfinish(m_connection);
}

Result<std::unique_ptr<PgConnection>> PgConnection::open(const DatabaseUrl &url, const PgPatience &patience,
                                                         const QList<QByteArray> &sessionSettings)
{
    std::unique_ptr<PgConnection> connection(new PgConnection(url.displayName()));
    if (const auto connected = connection->connect(url, patience); !connected)
        return connected.error();
    connection->m_pooled = url.pooled;
    if (const auto introduced = connection->introduce(patience, sessionSettings); !introduced)
        return introduced.error();
    return connection;
}

Result<void> PgConnection::connect(const DatabaseUrl &url, const PgPatience &patience)
{
    const QString doing = u"%1 cannot be reached"_s.arg(m_name);
    QList<QPair<QByteArray, QByteArray>> words{{"fallback_application_name", "sendonce"}, {"client_encoding", "UTF8"}};
    for (const auto &[key, value] :
         {std::pair("host", url.host), std::pair("port", url.port), std::pair("dbname", url.database),
          std::pair("user", url.user), std::pair("password", url.password)}) {
        if (!value.isEmpty())
            words.append({key, value.toUtf8()});
    }
    for (const auto &[key, value] : url.options)
        words.append({key.toUtf8(), value.toUtf8()});
    // Else libpq looks for Kerberos tickets at each connection, for an encryption that nobody wants inside of a
    // computer.
    if (staysHere(url.host) && !qEnvironmentVariableIsSet("PGGSSENCMODE") && !qEnvironmentVariableIsSet("PGSERVICE")
        && std::none_of(words.cbegin(), words.cend(), [](const auto &each) { return each.first == "gssencmode"; }))
        words.append(qMakePair(QByteArray("gssencmode"), QByteArray("disable")));
    std::vector<const char *> keys, values;
    for (const auto &[key, value] : std::as_const(words)) {
        keys.push_back(key.constData());
        values.push_back(value.constData());
    }
    keys.push_back(nullptr);
    values.push_back(nullptr);
    m_connection = PQconnectStartParams(keys.data(), values.data(), 0);
    if (!m_connection || PQstatus(m_connection) == CONNECTION_BAD)
        return connectError(m_connection, doing);
    PQsetNoticeProcessor(
        m_connection, [](void *, const char *) {}, nullptr); // else they go to stderr
    PQsetErrorVerbosity(m_connection, PQERRORS_VERBOSE); // the only way to see the SQLSTATE of a refused connection
    for (PostgresPollingStatusType next = PGRES_POLLING_WRITING; next != PGRES_POLLING_OK;
         next = PQconnectPoll(m_connection)) {
        if (next == PGRES_POLLING_FAILED) {
            m_isOver = true;
            return connectError(m_connection, doing);
        }
        if (const auto ended = await(next == PGRES_POLLING_READING ? POLLIN : POLLOUT, patience))
            return *ended;
    }
    PQsetErrorVerbosity(m_connection, PQERRORS_DEFAULT);
    if (PQsetnonblocking(m_connection, 1) != 0)
        return lost(doing);
    return {};
}

Result<void> PgConnection::introduce(const PgPatience &patience, const QList<QByteArray> &sessionSettings)
{
    const QString doing = u"%1 cannot be used"_s.arg(m_name);
    const auto who =
        runOne({"SELECT pg_backend_pid(), current_setting('transaction_read_only')", {}, false}, patience, doing);
    if (!who)
        return who.error();
    if (who->text(0, 1) == "on")
        return Error{ErrorKind::Unreachable, u"%1: it only reads (a standby?)"_s.arg(doing), {}};
    // A pooler makes up the process id that a client is greeted with: the backends behind it change.
    m_pooled = m_pooled || who->text(0, 0)->toInt() != PQbackendPID(m_connection);
    if (m_pooled)
        return {};
    std::vector<Statement> statements;
    for (const QByteArray &sql : sessionSettings)
        statements.push_back({sql, {}, false});
    const auto set = run(statements, patience, doing);
    for (const auto &each : set) {
        if (!each)
            return each.error();
    }
    return {};
}

bool PgConnection::isOver() const
{
    return m_isOver || PQstatus(m_connection) != CONNECTION_OK;
}

bool PgConnection::isUsable()
{
    if (isOver())
        return false;
    // An idle server says nothing unasked but farewell, and that is readable.
    pollfd socket{PQsocket(m_connection), POLLIN, 0};
    if (::poll(&socket, 1, 0) <= 0)
        return true;
    return PQconsumeInput(m_connection) == 1 && PQstatus(m_connection) == CONNECTION_OK
        && (socket.revents & POLLHUP) == 0;
}

bool PgConnection::isInTransaction() const
{
    const auto status = PQtransactionStatus(m_connection);
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

int PgConnection::serverVersion() const
{
    return PQserverVersion(m_connection);
}

std::optional<Error> PgConnection::await(short events, const PgPatience &patience)
{
    for (;;) {
        const bool stopped = patience.stop && patience.stop->load();
        if (stopped || patience.deadline.hasExpired()) {
            // Whatever comes later belongs to nobody; the server sees the end and rolls back.
            m_isOver = true;
            ::shutdown(PQsocket(m_connection), SHUT_RDWR);
            if (stopped)
                return Error{ErrorKind::Aborted, u"stopped while waiting for %1"_s.arg(m_name), {}};
            // A pooler lets everybody in, and makes those wait for whom it has no connection to the server.
            return Error{ErrorKind::Unreachable,
                         u"%1 does not answer; the connection was shut. Behind a pooler the lanes may be more than its "
                         "pool holds: raise default_pool_size, or lower --lanes"_s.arg(m_name),
                         {}};
        }
        const qint64 left = patience.deadline.remainingTime();
        int slice = patience.stop ? SliceMsec : 60'000;
        if (left >= 0)
            slice = int(std::min<qint64>(slice, std::max<qint64>(left, 1)));
        if (awaitDescriptor(PQsocket(m_connection), events, slice) != 0)
            return std::nullopt;
    }
}

Error PgConnection::lost(const QString &doing)
{
    m_isOver = true;
    return postgresError({}, oneLine(PQerrorMessage(m_connection)), true, doing);
}

std::optional<Error> PgConnection::flush(const PgPatience &patience)
{
    for (;;) {
        const int left = PQflush(m_connection);
        if (left == 0)
            return std::nullopt;
        if (left < 0)
            return lost(u"%1 cannot be written to"_s.arg(m_name));
        // Reads as well: a server that wants to get rid of its answers first reads nothing.
        if (const auto ended = await(POLLIN | POLLOUT, patience))
            return ended;
        PQconsumeInput(m_connection); // should it fail: the next result says why
    }
}

std::optional<Error> PgConnection::awaitResult(const PgPatience &patience)
{
    while (PQisBusy(m_connection)) {
        if (const auto ended = await(POLLIN, patience))
            return ended;
        if (PQconsumeInput(m_connection) != 1)
            break; // PQgetResult() says why, and does not block any more
    }
    return std::nullopt;
}

bool PgConnection::queue(const Statement &statement)
{
    const auto values = pointers(statement);
    const int count = int(values.size());
    if (m_pooled || !statement.isKept) {
        m_sent.push_back({});
        return PQsendQueryParams(m_connection, statement.sql.constData(), count, nullptr, values.data(), nullptr,
                                 nullptr, 0)
            == 1;
    }
    const auto known = m_prepared.find(statement.sql);
    const bool isNew = known == m_prepared.end();
    const QByteArray name = isNew ? nameOf(statement.sql) : known->second;
    if (isNew && PQsendPrepare(m_connection, name.constData(), statement.sql.constData(), 0, nullptr) != 1)
        return false;
    m_sent.push_back({isNew ? statement.sql : QByteArray()});
    return PQsendQueryPrepared(m_connection, name.constData(), count, values.data(), nullptr, nullptr, 0) == 1;
}

std::optional<Error> PgConnection::send(const std::vector<Statement> &statements, bool firstAtOnce,
                                        const PgPatience &patience, const QString &doing)
{
    m_sent.clear();
    m_answered = 0;
    if (m_isOver || PQenterPipelineMode(m_connection) != 1)
        return lost(doing);
    for (const Statement &statement : statements) {
        if (!queue(statement))
            return lost(doing);
        // Else the server keeps its answers together until the end.
        if (firstAtOnce && m_sent.size() == 1 && PQsendFlushRequest(m_connection) != 1)
            return lost(doing);
    }
    if (PQpipelineSync(m_connection) != 1)
        return lost(doing);
    if (const auto ended = flush(patience))
        return Error{ended->kind, u"%1: %2"_s.arg(doing, ended->text), {}};
    return std::nullopt;
}

/// Of the next statement, or of preparing it where that failed. Aborted without a text: it was not run, because of one
/// that failed before it.
Result<PgRows> PgConnection::nextAnswer(const PgPatience &patience, const QString &doing)
{
    const Sent &sent = m_sent[m_answered];
    std::optional<Error> failure;
    PgRows rows;
    for (int commands = sent.preparing.isEmpty() ? 1 : 2; commands > 0; --commands) {
        // The result of a command, then a null.
        pg_result *result = nullptr;
        for (int turn = 0; turn < 2; ++turn) {
            if (const auto ended = awaitResult(patience)) {
                PQclear(result);
                return Error{ended->kind, u"%1: %2"_s.arg(doing, ended->text), {}};
            }
            pg_result *next = PQgetResult(m_connection);
            if (turn == 0)
                result = next;
            else if (next) { // only a connection that has ended says more
                PQclear(next);
                m_isOver = true;
            }
        }
        rows = PgRows(result);
        const ExecStatusType status = PQresultStatus(result); // of a null: a fatal error
        const bool isLost = PQstatus(m_connection) != CONNECTION_OK;
        if (status == PGRES_PIPELINE_ABORTED) {
            if (!failure)
                failure = Error{ErrorKind::Aborted, {}, {}};
        } else if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
            const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
            const char *text = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : nullptr;
            failure = postgresError(QString::fromLatin1(state), oneLine(text ? text : PQerrorMessage(m_connection)),
                                    isLost, doing);
            if (isLost) {
                m_isOver = true;
                return *failure;
            }
        } else if (commands == 2) {
            m_prepared.emplace(sent.preparing, nameOf(sent.preparing));
        }
    }
    ++m_answered;
    if (failure)
        return *failure;
    return rows;
}

std::vector<Result<PgRows>> PgConnection::answers(const PgPatience &patience, const QString &doing)
{
    std::vector<Result<PgRows>> answers;
    const auto give = [&](const Error &error) {
        answers.emplace_back(error);
        return std::move(answers);
    };
    std::optional<Error> failure;
    while (m_answered < m_sent.size()) {
        const size_t before = m_answered;
        auto answer = nextAnswer(patience, doing);
        if (m_answered == before) // nothing more can be had of this connection
            return give(failure.value_or(answer.error()));
        if (answer && !failure)
            answers.push_back(std::move(answer));
        else if (!answer && !failure && !answer.error().text.isEmpty())
            failure = answer.error();
    }
    if (const auto ended = awaitResult(patience))
        return give({ended->kind, u"%1: %2"_s.arg(doing, ended->text), {}});
    pg_result *sync = PQgetResult(m_connection);
    const bool isInStep = sync && PQresultStatus(sync) == PGRES_PIPELINE_SYNC;
    PQclear(sync);
    if (!isInStep || PQexitPipelineMode(m_connection) != 1)
        return give(lost(doing));
    if (failure)
        return give(*failure);
    return answers;
}

std::vector<Result<PgRows>> PgConnection::run(const std::vector<Statement> &statements, const PgPatience &patience,
                                              const QString &doing)
{
    std::vector<Result<PgRows>> refused;
    if (statements.empty())
        return refused;
    if (const auto failed = send(statements, false, patience, doing)) {
        refused.emplace_back(*failed);
        return refused;
    }
    return answers(patience, doing);
}

Result<PgRows> PgConnection::runFirst(const std::vector<Statement> &statements, const PgPatience &patience,
                                      const QString &doing)
{
    if (const auto failed = send(statements, true, patience, doing))
        return *failed;
    return nextAnswer(patience, doing);
}

Result<PgRows> PgConnection::runOne(const Statement &statement, const PgPatience &patience, const QString &doing)
{
    auto answers = run({statement}, patience, doing);
    return std::move(answers.front());
}

} // namespace sendonce
