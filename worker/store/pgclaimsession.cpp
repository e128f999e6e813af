#include "worker/store/pgclaimsession.h"

#include "worker/wait/waiting.h"

#include <algorithm>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto Grace = 5s; ///< beside the lock wait, for an answer to arrive
constexpr auto CommitPatience = 10s;
constexpr auto RollBackPatience = 2s;
constexpr auto LastTry = 2s; ///< a re-claim gets this much, however late it is
constexpr auto LongestPause = 1000ms; ///< between two tries to connect

/// The hash beside the claim, in one statement: both or neither. At the claim's id, for the event_id is entered into
/// two indexes of Django's already, anywhere in each. A clean-up may have taken all claims, begun their ids again and
/// left the hashes: the new one counts.
const QByteArray ClaimWithBody =
    "WITH claimed AS (INSERT INTO jobs_processedevent (event_id, event_type, processed_at) "
    "VALUES ($1, $2, $3::timestamptz) ON CONFLICT (event_id) DO NOTHING RETURNING id, event_id), "
    "body AS (INSERT INTO sendonce_claimbody (claim_id, event_id, body_sha256) "
    "SELECT id, event_id, decode($4, 'hex') FROM claimed "
    "ON CONFLICT (claim_id) DO UPDATE SET event_id = excluded.event_id, body_sha256 = excluded.body_sha256) "
    "SELECT count(*) FROM claimed";
const QByteArray ClaimAlone = "WITH claimed AS (INSERT INTO jobs_processedevent (event_id, event_type, processed_at) "
                              "VALUES ($1, $2, $3::timestamptz) ON CONFLICT (event_id) DO NOTHING RETURNING event_id) "
                              "SELECT count(*) FROM claimed";
/// processed_at as djangoTime() writes it, whatever the session's time zone: it is compared exactly.
const QByteArray StandingWithBody =
    "SELECT claim.event_id, to_char(claim.processed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), "
    "encode(body.body_sha256, 'hex') FROM jobs_processedevent AS claim "
    "LEFT JOIN sendonce_claimbody AS body ON body.claim_id = claim.id AND body.event_id = claim.event_id "
    "WHERE claim.event_id = $1";
const QByteArray StandingAlone =
    "SELECT event_id, to_char(processed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), NULL "
    "FROM jobs_processedevent WHERE event_id = $1";
const QByteArray HasBodies =
    "SELECT coalesce(has_table_privilege(found, 'SELECT') AND has_table_privilege(found, 'INSERT') "
    "AND has_table_privilege(found, 'UPDATE'), false) FROM to_regclass('sendonce_claimbody') AS found";
const QByteArray Begin = "BEGIN ISOLATION LEVEL READ COMMITTED";
const QByteArray Commit = "COMMIT";
/// From here on: the claim is made, and a look-up only looks.
const QByteArray OnlyRead = "SET TRANSACTION READ ONLY";

/// A look-up of five tables takes a millisecond to plan and a tenth of that to run; without this PostgreSQL plans it
/// anew for the first five rows of each connection.
const QByteArray OnePlan = "SET plan_cache_mode = force_generic_plan";

/// A server starts a process for each connection. Were all begun at once, they would share its processors, and the
/// first of them would be of use when the last one is.
constexpr int MostOpening = 2;
constexpr auto TurnPause = 2ms;

class OpeningTurn
{
public:
    explicit OpeningTurn(std::atomic_int *opening) : m_opening(opening) { }
    ~OpeningTurn()
    {
        if (m_isOurs)
            --*m_opening;
    }
    Q_DISABLE_COPY_MOVE(OpeningTurn)

    /// False: it did not come in time.
    bool take(const PgPatience &patience)
    {
        while (m_opening && !m_isOurs) {
            m_isOurs = ++*m_opening <= MostOpening;
            if (m_isOurs)
                break;
            --*m_opening;
            if (patience.deadline.hasExpired() || (patience.stop && *patience.stop))
                return false;
            pauseFor(TurnPause);
        }
        return true;
    }

private:
    std::atomic_int *m_opening;
    bool m_isOurs = false;
};

/// A statement that is refused because a pooler has given us another backend than the one that prepared it.
bool isForeignPlan(const Error &error)
{
    return error.code == "26000"_L1 || error.code == "42P05"_L1;
}

} // namespace

PgClaimSession::PgClaimSession(Settings settings) : m_settings(std::move(settings)), m_url(m_settings.url) { }

PgPatience PgClaimSession::patience(std::chrono::milliseconds time, const std::atomic_bool *stop) const
{
    return {QDeadlineTimer(time), stop};
}

std::vector<QByteArray> PgClaimSession::timeOuts(const char *set) const
{
    const auto of = [set](const char *name, std::chrono::milliseconds time) {
        return QByteArray(set) + ' ' + name + " = " + QByteArray::number(qint64(time.count()));
    };
    // The statement's is the server's own end of what the lock wait cannot see: one claim after the other rolled back.
    return {of("lock_timeout", m_settings.lockWait), of("statement_timeout", m_settings.lockWait + Grace / 2),
            of("idle_in_transaction_session_timeout", m_settings.mailTime + Grace)};
}

Result<void> PgClaimSession::connect(const PgPatience &patience, bool waits)
{
    close();
    m_isOpen = false;
    auto set = timeOuts("SET");
    set.push_back(OnePlan);
    for (auto pause = 50ms;; pause = std::min<std::chrono::milliseconds>(pause * 2, LongestPause)) {
        auto connection = PgConnection::open(m_url, patience, {set.cbegin(), set.cend()});
        if (connection) {
            m_connection = connection.take();
            const auto bodies = m_connection->runOne({HasBodies, {}, false}, patience,
                                                     u"the tables of %1 cannot be read"_s.arg(m_url.displayName()));
            if (!bodies) {
                m_connection.reset();
                return bodies.error();
            }
            m_hasBodies = bodies->text(0, 0) == "t";
            return {};
        }
        Error error = connection.error();
        const bool isStopped = patience.stop && *patience.stop;
        // All connections are taken: others give theirs back.
        if (waits && error.kind == ErrorKind::Busy && !isStopped && patience.deadline.remainingTime() > pause.count()) {
            pauseFor(pause);
            continue;
        }
        // A wrong password or a missing database as well: no delivery is to blame, and each would fail.
        if (error.kind != ErrorKind::Busy && error.kind != ErrorKind::Aborted)
            error.kind = ErrorKind::Unreachable;
        return error;
    }
}

Result<void> PgClaimSession::reach()
{
    if (m_connection && m_connection->isUsable())
        return {};
    return connectInTurn(true);
}

Result<void> PgClaimSession::connectInTurn(bool waits)
{
    const auto time = patience(std::max<std::chrono::milliseconds>(m_settings.lockWait, Grace), m_settings.stop.get());
    OpeningTurn turn(m_settings.opening.get());
    if (turn.take(time))
        return connect(time, waits);
    const bool isStopped = time.stop && *time.stop;
    return Error{isStopped ? ErrorKind::Aborted : ErrorKind::Unreachable,
                 u"%1 cannot be reached: it is still busy with other lanes' connections"_s.arg(m_url.displayName()),
                 {}};
}

Result<void> PgClaimSession::begin()
{
    m_row.reset();
    m_bound = QDeadlineTimer(m_settings.lockWait + m_settings.mailTime + Grace);
    if (m_connection && !m_connection->isOver())
        return {}; // should the server have hung up meanwhile, claim() will find out, and connect anew
    return connectInTurn(false);
}

Result<ProcessedEvents::Claim> PgClaimSession::claim(const ClaimRequest &request)
{
    const auto time = patience(m_settings.lockWait + Grace, m_settings.stop.get());
    auto claimed = tryClaim(request, true, time);
    if (claimed || claimed.error().kind == ErrorKind::Busy || claimed.error().kind == ErrorKind::Aborted)
        return claimed;
    if (isForeignPlan(claimed.error()))
        m_url.pooled = true;
    else if (claimed.error().kind != ErrorKind::Unreachable || time.deadline.hasExpired())
        return claimed;
    // The server went away since the last delivery. Nothing was mailed and nothing committed, so once more.
    if (const auto connected = connect(time); !connected)
        return connected.error();
    return tryClaim(request, true, time);
}

Result<PgClaimSession::Claiming> PgClaimSession::claiming(const ClaimRequest &request, bool withLookup) const
{
    if (!isStorableEventId(request.eventId))
        return Error{
            ErrorKind::Invalid, u"this event_id cannot be claimed: a database could take it for another one"_s, {}};
    Claiming claiming;
    claiming.eventId = request.eventId;
    claiming.withLookup = withLookup;
    auto &statements = claiming.statements;
    statements.push_back({Begin, {}});
    if (m_connection->isPooled()) {
        for (const QByteArray &sql : timeOuts("SET LOCAL"))
            statements.push_back({sql, {}});
    }
    claiming.claimAt = statements.size();
    const bool withBody = m_hasBodies && !request.bodySha256.isEmpty();
    PgConnection::Statement insert{
        withBody ? ClaimWithBody : ClaimAlone,
        {request.eventId.toUtf8(), request.eventType.toUtf8(), request.processedAt.toLatin1() + "+00"}};
    if (withBody)
        insert.values.push_back(request.bodySha256.toHex());
    statements.push_back(std::move(insert));
    if (withLookup) {
        auto lookup = PgLookup::statement(request);
        if (lookup) {
            statements.push_back({OnlyRead, {}});
            statements.push_back(lookup.take());
        } else {
            claiming.noLookup = lookup.error();
        }
    }
    return claiming;
}

Result<ProcessedEvents::Claim> PgClaimSession::tryClaim(const ClaimRequest &request, bool withLookup,
                                                        const PgPatience &patience)
{
    const QString doing = u"the claim of event %1 failed"_s.arg(request.eventId);
    if (const auto ahead = std::exchange(m_ahead, std::nullopt)) {
        m_isOpen = true;
        if (ahead->eventId == request.eventId && withLookup)
            return claimed(request, *ahead, m_connection->answers(patience, doing), patience);
        m_connection.reset(); // a claim that nobody wants any more; its transaction ends with the connection
        return Error{ErrorKind::Unreachable, doing, {}};
    }
    const auto claiming = this->claiming(request, withLookup);
    if (!claiming)
        return claiming.error();
    m_isOpen = true;
    return claimed(request, claiming.value(), m_connection->run(claiming->statements, patience, doing), patience);
}

Result<ProcessedEvents::Claim> PgClaimSession::claimed(const ClaimRequest &request, const Claiming &claiming,
                                                       std::vector<Result<PgRows>> answers, const PgPatience &patience)
{
    m_row.reset();
    if (claiming.noLookup)
        m_row = *claiming.noLookup;
    if (answers.size() <= claiming.claimAt || !answers[claiming.claimAt])
        return answers.back().error();
    if (claiming.withLookup && !m_row) {
        if (!answers.back()) {
            Error error = answers.back().error();
            error.text.replace(u"the claim of event %1 failed"_s.arg(request.eventId),
                               u"the look-up in %1 failed"_s.arg(m_connection->name()));
            m_row = error;
        } else {
            m_row = PgLookup::rowOf(answers.back().value());
        }
    }
    if (answers[claiming.claimAt]->text(0, 0) == "0")
        return standing(request, patience);
    ProcessedEvents::Claim claim;
    claim.inserted = true;
    return claim;
}

Result<ProcessedEvents::Claim> PgClaimSession::standing(const ClaimRequest &request, const PgPatience &patience)
{
    const QString doing = u"the standing claim of event %1 cannot be read"_s.arg(request.eventId);
    if (m_row && !*m_row)
        rollBack(); // the look-up that nobody needs has broken the transaction, which has written nothing
    if (!m_connection)
        return Error{ErrorKind::Unreachable, doing, {}};
    const auto rows = m_connection->runOne({m_hasBodies ? StandingWithBody : StandingAlone, {request.eventId.toUtf8()}},
                                           patience, doing);
    if (!rows)
        return rows.error();
    if (rows->count() == 0)
        return Error{ErrorKind::Io, doing + u": there is none"_s, {}};
    ProcessedEvents::Claim claim;
    const QString standingId = QString::fromUtf8(rows->text(0, 0).value_or(QByteArray()));
    claim.standingText = QString::fromLatin1(rows->text(0, 1).value_or(QByteArray()));
    claim.standingProcessedAt = fromDjangoTime(claim.standingText);
    const QByteArray body = rows->text(0, 2).value_or(QByteArray());
    if (standingId != request.eventId)
        return Error{ErrorKind::Io, u"%1: the database answers with event %2"_s.arg(doing, standingId), {}};
    claim.otherBody = !body.isEmpty() && !request.bodySha256.isEmpty() && body != request.bodySha256.toHex();
    return claim;
}

Result<ClaimSession::Row> PgClaimSession::lookUp(const ClaimRequest &)
{
    if (!m_row)
        return Error{ErrorKind::Io, u"there is no look-up without a claim"_s, {}};
    return *std::exchange(m_row, std::nullopt);
}

Result<void> PgClaimSession::commit()
{
    if (!std::exchange(m_isOpen, false))
        return {}; // a duplicate, and its transaction had to be given up: there was nothing in it
    return committed(m_connection->runOne({Commit, {}}, commitPatience(), u"COMMIT failed"_s));
}

Result<void> PgClaimSession::commitAndClaim(const ClaimRequest &next)
{
    if (!claimsAhead()) // a pooler may have another backend for the next transaction
        return commit();
    auto claiming = this->claiming(next, true);
    if (!claiming)
        return commit();
    m_isOpen = false;
    auto &statements = claiming->statements;
    statements.insert(statements.begin(), {Commit, {}});
    auto done = committed(m_connection->runFirst(statements, commitPatience(), u"COMMIT failed"_s));
    if (done)
        m_ahead = claiming.take();
    return done;
}

PgPatience PgClaimSession::commitPatience() const
{
    return patience(std::min<std::chrono::milliseconds>(m_settings.lockWait, CommitPatience), nullptr);
}

Result<void> PgClaimSession::committed(const Result<PgRows> &answer)
{
    if (answer && answer->tag() == Commit)
        return {};
    m_connection.reset();
    if (!answer)
        return answer.error();
    // What a broken transaction answers, and no error.
    return Error{ErrorKind::Io, u"COMMIT failed: the transaction was rolled back"_s, {}};
}

void PgClaimSession::close()
{
    m_ahead.reset();
    m_connection.reset();
}

void PgClaimSession::rollBack()
{
    if (m_ahead)
        close(); // rare, and the server rolls back
    if (!std::exchange(m_isOpen, false) || !m_connection)
        return;
    if (!m_connection->isUsable()
        || !m_connection->runOne({"ROLLBACK", {}}, patience(RollBackPatience, nullptr), u"ROLLBACK failed"_s)) {
        m_connection.reset(); // the server rolls back when it sees the end
    }
}

Result<ProcessedEvents::Claim> PgClaimSession::reclaim(const ClaimRequest &request)
{
    close();
    m_isOpen = false;
    const qint64 left = std::min<qint64>(m_bound.remainingTime(), m_settings.lockWait.count());
    const PgPatience time{QDeadlineTimer(std::max<std::chrono::milliseconds>(LastTry, std::chrono::milliseconds(left))),
                          nullptr};
    for (auto pause = 50ms;; pause = std::min<std::chrono::milliseconds>(pause * 2, LongestPause)) {
        auto claimed = claimAlone(request, time);
        m_isOpen = false;
        if (claimed)
            return claimed;
        m_connection.reset();
        const auto kind = claimed.error().kind;
        if ((kind != ErrorKind::Unreachable && kind != ErrorKind::Busy)
            || time.deadline.remainingTime() <= pause.count())
            return claimed;
        pauseFor(pause);
    }
}

Result<ProcessedEvents::Claim> PgClaimSession::claimAlone(const ClaimRequest &request, const PgPatience &patience)
{
    if (const auto connected = connect(patience); !connected)
        return connected.error();
    auto claimed = tryClaim(request, false, patience);
    if (!claimed)
        return claimed;
    if (const auto committed = commit(); !committed)
        return committed.error();
    return claimed;
}

} // namespace sendonce
