#include "worker/store/pgdeliveryledger.h"

#include "worker/wait/waiting.h"

#include <algorithm>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto Grace = 5s; ///< beside the lock wait, for an answer to arrive
constexpr auto LongestPause = 1000ms; ///< between two tries

/// The row in Django's table waits for an open claim of a stranger's, and shows whether the event was handled; it goes
/// again before the COMMIT. The delivery is only written when that row was; one that has our owner is ours, from a
/// COMMIT whose answer was lost.
const QByteArray ClaimDelivery =
    "WITH seen AS (INSERT INTO jobs_processedevent (event_id, event_type, processed_at) "
    "VALUES ($1, $2, $3::timestamptz) ON CONFLICT (event_id) DO NOTHING RETURNING event_id), "
    "claimed AS (INSERT INTO sendonce_delivery (event_id, owner, state, lease_until) "
    "SELECT event_id, $4::uuid, 'sending', now() + $5::bigint * interval '1 millisecond' FROM seen "
    "ON CONFLICT (event_id) DO UPDATE SET lease_until = excluded.lease_until "
    "WHERE sendonce_delivery.owner = excluded.owner RETURNING event_id) "
    "SELECT (SELECT count(*) FROM seen), (SELECT count(*) FROM claimed)";
/// Only the row that this very transaction has written.
const QByteArray DropSeen = "DELETE FROM jobs_processedevent WHERE event_id = $1 "
                            "AND xmin::text = (txid_current() % 4294967296)::text";
const QByteArray TakeOver = "WITH seen AS (INSERT INTO jobs_processedevent (event_id, event_type, processed_at) "
                            "VALUES ($1, $2, $3::timestamptz) ON CONFLICT (event_id) DO NOTHING RETURNING event_id), "
                            "claimed AS (UPDATE sendonce_delivery SET owner = $4::uuid, state = 'sending', "
                            "lease_until = now() + $5::bigint * interval '1 millisecond' "
                            "WHERE event_id IN (SELECT event_id FROM seen) AND (state = 'in_doubt' OR lease_until <= "
                            "now()) RETURNING event_id) "
                            "SELECT (SELECT count(*) FROM seen), (SELECT count(*) FROM claimed)";
/// A lease that has run out says that somebody may have sent: from then on it is in doubt, whoever looks first.
const QByteArray Expire = "UPDATE sendonce_delivery SET state = 'in_doubt' "
                          "WHERE event_id = $1 AND state = 'sending' AND lease_until <= now()";
const QByteArray Look =
    "SELECT (SELECT state FROM sendonce_delivery WHERE event_id = $1), "
    "(SELECT greatest(0, extract(epoch FROM lease_until - now()) * 1000)::bigint FROM sendonce_delivery "
    "WHERE event_id = $1), (SELECT count(*) FROM jobs_processedevent WHERE event_id = $1), "
    "(SELECT encode(body.body_sha256, 'hex') FROM jobs_processedevent AS claim JOIN sendonce_claimbody AS body "
    "ON body.claim_id = claim.id AND body.event_id = claim.event_id WHERE claim.event_id = $1)";
const QByteArray MarkEvent =
    "WITH marked AS (INSERT INTO jobs_processedevent (event_id, event_type, processed_at) "
    "VALUES ($1, $2, $3::timestamptz) ON CONFLICT (event_id) DO NOTHING RETURNING id, event_id), "
    "body AS (INSERT INTO sendonce_claimbody (claim_id, event_id, body_sha256) "
    "SELECT id, event_id, decode($5, 'hex') FROM marked "
    "ON CONFLICT (claim_id) DO UPDATE SET event_id = excluded.event_id, body_sha256 = excluded.body_sha256), "
    "ended AS (DELETE FROM sendonce_delivery WHERE event_id = $1 AND owner = $4::uuid RETURNING event_id) "
    "SELECT (SELECT count(*) FROM marked), (SELECT count(*) FROM ended), "
    "(SELECT count(*) FROM jobs_processedevent WHERE event_id = $1 AND processed_at = $3::timestamptz)";
const QByteArray Release = "WITH ended AS (DELETE FROM sendonce_delivery WHERE event_id = $1 AND owner = $2::uuid "
                           "RETURNING event_id) SELECT count(*) FROM ended";
const QByteArray EndInDoubt =
    "WITH doubted AS (UPDATE sendonce_delivery SET state = 'in_doubt', lease_until = now() "
    "WHERE event_id = $1 AND owner = $2::uuid RETURNING event_id) SELECT count(*) FROM doubted";
const QByteArray Begin = "BEGIN ISOLATION LEVEL READ COMMITTED";

int number(const PgRows &rows, int column)
{
    return rows.text(0, column).value_or("0").toInt();
}

} // namespace

PgDeliveryLedger::PgDeliveryLedger(Settings settings) : m_settings(std::move(settings)) { }

std::chrono::milliseconds PgDeliveryLedger::patience() const
{
    return m_settings.lockWait + Grace;
}

Result<void> PgDeliveryLedger::reach()
{
    const auto loan = m_settings.pool->borrow({QDeadlineTimer(patience()), m_settings.stop.get()});
    return loan ? Result<void>() : loan.error();
}

Result<std::vector<PgRows>> PgDeliveryLedger::run(const Statements &statements, const QString &doing, bool stoppable)
{
    const PgPatience time{QDeadlineTimer(patience()), stoppable ? m_settings.stop.get() : nullptr};
    for (auto pause = 20ms;; pause = std::min<std::chrono::milliseconds>(pause * 2, LongestPause)) {
        auto done = runOnce(statements, doing, time);
        if (done)
            return done;
        // All of these may be repeated: a claim is ours by its owner, and so are a mark and a release.
        const bool isPassing = done.error().kind == ErrorKind::Unreachable || done.error().code == "26000"_L1;
        const bool isStopped = time.stop && *time.stop;
        if (!isPassing || isStopped || time.deadline.remainingTime() <= pause.count())
            return done;
        pauseFor(pause);
    }
}

Result<std::vector<PgRows>> PgDeliveryLedger::runOnce(const Statements &statements, const QString &doing,
                                                      const PgPatience &time)
{
    auto loan = m_settings.pool->borrow(time);
    if (!loan)
        return loan.error();
    PgConnection &connection = *loan.value();
    Statements all{{Begin, {}}};
    if (connection.isPooled())
        all.push_back({"SET LOCAL lock_timeout = " + QByteArray::number(qint64(m_settings.lockWait.count())), {}});
    const size_t first = all.size();
    all.insert(all.end(), statements.cbegin(), statements.cend());
    all.push_back({"COMMIT", {}});
    auto answers = connection.run(all, time, doing);
    if (!answers.back())
        return answers.back().error();
    if (answers.size() != all.size() || answers.back()->tag() != "COMMIT")
        return Error{ErrorKind::Io, doing + u": the transaction was rolled back"_s, {}};
    std::vector<PgRows> rows;
    for (size_t i = first; i + 1 < answers.size(); ++i)
        rows.push_back(answers[i].take());
    return rows;
}

Result<DeliveryLedger::Claim> PgDeliveryLedger::claim(const ClaimRequest &request, const QString &owner)
{
    return claimed(request,
                   {{ClaimDelivery,
                     {request.eventId.toUtf8(), request.eventType.toUtf8(), request.processedAt.toLatin1() + "+00",
                      owner.toLatin1(), QByteArray::number(qint64(m_settings.lease.count()))}}},
                   u"the claim of event %1 failed"_s.arg(request.eventId));
}

Result<DeliveryLedger::Claim> PgDeliveryLedger::takeOver(const ClaimRequest &request, const QString &owner)
{
    return claimed(request,
                   {{TakeOver,
                     {request.eventId.toUtf8(), request.eventType.toUtf8(), request.processedAt.toLatin1() + "+00",
                      owner.toLatin1(), QByteArray::number(qint64(m_settings.lease.count()))}}},
                   u"event %1 could not be taken over"_s.arg(request.eventId));
}

Result<DeliveryLedger::Claim> PgDeliveryLedger::claimed(const ClaimRequest &request, Statements statements,
                                                        const QString &doing)
{
    if (!isStorableEventId(request.eventId))
        return Error{
            ErrorKind::Invalid, u"this event_id cannot be claimed: a database could take it for another one"_s, {}};
    const auto lookup = PgLookup::statement(request);
    if (!lookup)
        return lookup.error();
    statements.push_back({DropSeen, {request.eventId.toUtf8()}});
    statements.push_back(lookup.value());
    auto answers = run(statements, doing, true);
    if (!answers)
        return answers.error();
    if (number(answers.value()[0], 1) == 0)
        return standing(request);
    auto row = PgLookup::rowOf(answers.value()[2]);
    Claim claim;
    if (!row)
        return row.error();
    claim.row = row.take();
    return claim;
}

Result<DeliveryLedger::Claim> PgDeliveryLedger::standing(const ClaimRequest &request)
{
    const QString doing = u"the standing claim of event %1 cannot be read"_s.arg(request.eventId);
    const QByteArray id = request.eventId.toUtf8();
    auto answers = run({{Expire, {id}}, {Look, {id}}}, doing, true);
    if (!answers)
        return answers.error();
    const PgRows &rows = answers.value()[1];
    Claim claim;
    if (number(rows, 2) > 0) {
        const QByteArray body = rows.text(0, 3).value_or(QByteArray());
        claim.standing = Standing::Duplicate;
        claim.otherBody = !body.isEmpty() && !request.bodySha256.isEmpty() && body != request.bodySha256.toHex();
        return claim;
    }
    const auto state = rows.text(0, 0);
    if (!state) // gone between the two looks: whoever had it gave it up
        return Error{ErrorKind::Busy, u"event %1 was in somebody else's hands"_s.arg(request.eventId), {}};
    claim.standing = *state == "sending" ? Standing::Sending : Standing::InDoubt;
    claim.leaseLeft = std::chrono::milliseconds(rows.text(0, 1).value_or("0").toLongLong());
    return claim;
}

Result<DeliveryLedger::Mark> PgDeliveryLedger::mark(const ClaimRequest &request, const QString &owner)
{
    auto answers = run({{MarkEvent,
                         {request.eventId.toUtf8(), request.eventType.toUtf8(), request.processedAt.toLatin1() + "+00",
                          owner.toLatin1(), request.bodySha256.toHex()}}},
                       u"event %1 could not be marked as handled"_s.arg(request.eventId), false);
    if (!answers)
        return answers.error();
    const PgRows &rows = answers.value()[0];
    // A repeated mark finds its own row standing: the first one had worked.
    const bool stands = number(rows, 0) > 0 || number(rows, 2) > 0;
    return Mark{stands, number(rows, 1) > 0 || (number(rows, 0) == 0 && number(rows, 2) > 0)};
}

Result<bool> PgDeliveryLedger::release(const QString &eventId, const QString &owner)
{
    auto answers = run({{Release, {eventId.toUtf8(), owner.toLatin1()}}},
                       u"the claim of event %1 could not be given up"_s.arg(eventId), false);
    if (!answers)
        return answers.error();
    return number(answers.value()[0], 0) > 0;
}

Result<bool> PgDeliveryLedger::doubt(const QString &eventId, const QString &owner)
{
    auto answers = run({{EndInDoubt, {eventId.toUtf8(), owner.toLatin1()}}},
                       u"the doubt about event %1 could not be written down"_s.arg(eventId), false);
    if (!answers)
        return answers.error();
    return number(answers.value()[0], 0) > 0;
}

} // namespace sendonce
