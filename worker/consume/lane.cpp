#include "worker/consume/lane.h"

#include "worker/mail/maildirlookup.h"
#include "worker/wait/waiting.h"

#include <QUuid>

#include <algorithm>
#include <ctime>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using Kind = DeliveryCommand::Kind;

namespace {

constexpr std::chrono::milliseconds FirstPause = 250ms; ///< between two tries to reach the database
constexpr std::chrono::milliseconds LongestPause = 5s;
constexpr auto Slice = 50ms; ///< of a pause, to see a stop
/// Further lanes give their connection back after that: several workers may want more than the server allows, and who
/// has work would wait for those who have none.
constexpr auto IdleTime = 2s;
constexpr int LanesKeptOpen = 4;
constexpr auto TooManyConnections = "53300"_L1; ///< SQLSTATE
constexpr auto LeaseLeftAtTheDot = 2s; ///< less, and the final dot is not written

/// The error of whatever a command gave back; null when there is none.
const Error *errorOf(const DeliveryInput &input)
{
    return std::visit(
        [](const auto &result) -> const Error * {
            if constexpr (std::is_same_v<std::decay_t<decltype(result)>, SendResult>)
                return nullptr;
            else
                return result ? nullptr : &result.error();
        },
        input);
}

/// Both mail time-outs and 10 s (spec.md, "Two strategies").
std::chrono::milliseconds leaseOf(const Config &config)
{
    return config.mailTimeout + config.mailFinalTimeout + 10s;
}

/// Thrown where a lane is to die, so that nothing on its way settles anything; caught in deliver().
struct Death
{
    FaultPoint at;
};

/// Where a fault of the database strikes: nowhere, at one point, or at two where one transaction does both.
struct DatabasePoints
{
    std::optional<FaultPoint> first, second;
};

DatabasePoints databasePoints(Kind kind)
{
    switch (kind) {
    case Kind::Claim:
        return {FaultPoint::DatabaseClaim, {}};
    case Kind::LookUp:
        return {FaultPoint::DatabaseLookUp, {}};
    case Kind::ClaimDelivery:
    case Kind::TakeOver:
        return {FaultPoint::DatabaseClaim, FaultPoint::DatabaseLookUp};
    case Kind::Commit:
    case Kind::Mark:
        return {FaultPoint::DatabaseCommit, {}};
    case Kind::Reclaim:
        return {FaultPoint::DatabaseReclaim, {}};
    default:
        return {};
    }
}

/// As the database's own would be classified.
Error databaseError(FaultEffect effect)
{
    switch (effect) {
    case FaultEffect::Busy:
        return {ErrorKind::Busy, u"the database is locked (armed fault)"_s, {}};
    case FaultEffect::LockTimeout:
        return {ErrorKind::Busy, u"the wait for a lock has run out (armed fault)"_s, {}};
    case FaultEffect::ReadOnly:
        return {ErrorKind::Io, u"attempt to write a readonly database (armed fault)"_s, {}};
    case FaultEffect::DiskFull:
        return {ErrorKind::Io, u"database or disk is full (armed fault)"_s, {}};
    default:
        return {ErrorKind::Unreachable, u"the connection to the database is lost (armed fault)"_s, {}};
    }
}

/// What a command gives back that fails so.
DeliveryInput failing(Kind kind, const Error &error)
{
    switch (kind) {
    case Kind::Claim:
    case Kind::Reclaim:
        return Result<ProcessedEvents::Claim>(error);
    case Kind::LookUp:
        return Result<ClaimSession::Row>(error);
    case Kind::ClaimDelivery:
    case Kind::TakeOver:
        return Result<DeliveryLedger::Claim>(error);
    case Kind::Mark:
        return Result<DeliveryLedger::Mark>(error);
    default:
        return Result<void>(error);
    }
}

/// Nanoseconds of a clock that also counts while the machine is suspended, as the database's does.
qint64 bootNsec()
{
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * Q_INT64_C(1'000'000'000) + now.tv_nsec;
}

} // namespace

Lane::Lane(LaneSettings settings, int number) : m_settings(std::move(settings)), m_number(number) { }

Lane::~Lane()
{
    close();
}

qint64 Lane::nowNsec()
{
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void Lane::close()
{
    m_claims.reset();
    m_ledger.reset();
    m_handover.reset();
    if (m_smtp)
        m_smtp->close();
    m_smtp.reset();
}

Result<void> Lane::openConnections()
{
    if (!m_handover) {
        auto slot = Handover::open(m_settings.config.dataDir);
        if (!slot)
            return slot.error();
        m_handover.emplace(slot.take());
    }
    if (!m_smtp)
        m_smtp.emplace(m_settings.smtp);
    return {};
}

ClaimSession &Lane::claims()
{
    if (!m_claims) {
        ClaimSession::Settings settings;
        if (const auto url = DatabaseUrl::parse(m_settings.config.databaseUrl))
            settings.url = url.value(); // what cannot be read was refused at the start
        settings.lockWait = m_settings.lockWait;
        settings.mailTime = m_settings.config.mailTimeout + m_settings.config.mailFinalTimeout;
        settings.stop = m_settings.stop;
        settings.opening = m_settings.opening;
        m_claims = ClaimSession::make(std::move(settings));
    }
    return *m_claims;
}

DeliveryLedger &Lane::ledger()
{
    if (!m_ledger) {
        DeliveryLedger::Settings settings;
        if (const auto url = DatabaseUrl::parse(m_settings.config.databaseUrl))
            settings.url = url.value(); // what cannot be read was refused at the start
        settings.pool = m_settings.pool;
        settings.lockWait = m_settings.lockWait;
        settings.lease = leaseOf(m_settings.config);
        settings.stop = m_settings.stop;
        m_ledger = DeliveryLedger::make(std::move(settings));
    }
    return *m_ledger;
}

Result<void> Lane::recordDoubt(DeliveryReport doubt)
{
    doubt.lane = m_number;
    doubt.receivedAt = m_receivedAt; // with it the final report replaces this one in the journal
    return m_settings.doubts->record(doubt);
}

Result<bool> Lane::isHeld(const QString &eventId)
{
    return m_settings.doubts->isOpen(eventId);
}

bool LaneReport::mayGoOn() const
{
    if (databaseLost || crowdedOut || crashed)
        return false;
    return report.outcome == Outcome::Sent || report.outcome == Outcome::Duplicate || report.outcome == Outcome::Gone;
}

Lane::Begun::Begun(const Lane &lane, const Message &message)
    : machine({lane.m_settings.eventTypes.get(), lane.m_settings.from, lane.m_settings.config.messageIdDomain,
               lane.m_settings.config.mailIdempotencyHeader, lane.m_settings.config.strategy,
               lane.m_settings.config.inDoubt},
              message, djangoTime(nowUsecs()))
{ }

std::unique_ptr<Lane::Begun> Lane::read(const LaneOrder &order) const
{
    auto begun = std::make_unique<Begun>(*this, order.message);
    begun->command = begun->machine.start((nowNsec() - order.receivedNsec) / 1000);
    return begun;
}

LaneReport Lane::deliver(const LaneOrder &order, const std::function<std::optional<LaneOrder>()> &reserve)
{
    m_restsAt.reset();
    m_crowdedOut = false;
    m_warnings.clear();
    m_receivedNsec = order.receivedNsec;
    m_receivedAt = QDateTime::currentDateTimeUtc().addMSecs(-elapsedUsec() / 1000);
    m_databaseLost.reset();
    m_clockJump = {};
    const auto begun = m_next ? std::exchange(m_next, nullptr) : read(order);
    Q_ASSERT(begun->machine.message().messageId == order.message.messageId); // finish() of Backlog sees to that
    DeliveryMachine &delivery = begun->machine;
    m_reserve = reserve;
    std::optional<FaultPoint> died;
    try {
        passedStages(DeliveryReport().stageUsec, delivery);
        work(delivery, begun->command);
        if (m_claims && !m_next)
            m_claims->rollBack();
        if (m_handover)
            m_handover->clear();
    } catch (const Death &death) {
        died = death.at; // no more in here: what is caught belongs to the thread, which other lanes may have meanwhile
    }
    m_reserve = nullptr;
    if (died) { // as the kernel ends a dead process: connections drop, a filled slot stays
        m_claims.reset();
        m_ledger.reset();
        m_smtp.reset();
        m_handover.reset();
    }

    LaneReport report;
    report.lane = m_number;
    report.report = delivery.report();
    report.report.lane = m_number;
    report.report.receivedAt = m_receivedAt;
    report.crashed = died;
    report.warnings = m_warnings;
    if (m_databaseLost && report.report.outcome == Outcome::GivenBack)
        report.report.logLine.clear(); // the outage is told once, not once for each message
    if (report.report.outcome == Outcome::Failed && report.report.failedStage == Stage::Claimed)
        m_claims.reset(); // the connection itself may be what failed: the next delivery opens it anew
    if (!died) {
        report.databaseLost = m_databaseLost;
        report.crowdedOut = m_crowdedOut;
    }
    if (m_next && !report.mayGoOn()) {
        m_next.reset();
        if (m_claims)
            m_claims->rollBack(); // what was claimed for it
    }
    if (m_claims && m_number > LanesKeptOpen)
        m_restsAt = std::chrono::steady_clock::now() + IdleTime;
    return report;
}

void Lane::work(DeliveryMachine &delivery, DeliveryCommand command)
{
    while (command.kind != Kind::Finish) {
        const auto before = delivery.report().stageUsec;
        auto fault = injected(command, delivery);
        const DeliveryInput result = fault ? std::move(*fault) : execute(command, delivery);
        if (const Error *error = errorOf(result); error && error->kind == ErrorKind::Unreachable)
            m_databaseLost = *error;
        else if (command.kind == Kind::Reclaim)
            m_databaseLost.reset(); // it was away, and is back
        command = delivery.step(result, elapsedUsec());
        passedStages(before, delivery);
    }
}

/// Together with the claim of what comes next, where that saves a round trip.
Result<void> Lane::commit()
{
    if (m_reserve && m_claims->claimsAhead()) {
        if (const auto next = std::exchange(m_reserve, nullptr)()) {
            m_next = read(*next);
            if (m_next->command.kind == Kind::Begin)
                return m_claims->commitAndClaim(requestOf(m_next->machine));
        }
    }
    return m_claims->commit();
}

void Lane::rest()
{
    m_restsAt.reset();
    if (m_claims)
        m_claims->close();
}

bool Lane::awaitDatabase()
{
    for (auto pause = FirstPause;; pause = std::min(pause * 2, LongestPause)) {
        const auto end = std::chrono::steady_clock::now() + pause;
        while (std::chrono::steady_clock::now() < end) {
            if (*m_settings.stop)
                return false;
            pauseFor(Slice);
        }
        if (marks() ? ledger().reach() : claims().reach())
            return true;
    }
}

void Lane::passedStages(const StageTimes &before, const DeliveryMachine &delivery)
{
    const StageTimes &after = delivery.report().stageUsec;
    for (const Stage stage : {Stage::Received, Stage::Claimed, Stage::LookedUp, Stage::Accepted, Stage::Committed}) {
        if (before[size_t(stage)] < 0 && after[size_t(stage)] >= 0)
            at(*faultPointOf(stage), delivery);
    }
}

void Lane::at(FaultPoint point, const DeliveryMachine &delivery)
{
    const auto fault = m_settings.faults->ask(point, faultSubject(delivery.report()));
    if (!fault)
        return;
    switch (fault->what) {
    case FaultEffect::Crash:
        m_settings.faults->die();
        throw Death{point};
    case FaultEffect::Hang:
        pause(fault->delay > 0ms ? fault->delay : std::chrono::milliseconds::max());
        break;
    case FaultEffect::Slow:
        pause(fault->delay);
        break;
    case FaultEffect::ClockJump:
        m_clockJump += fault->delay;
        break;
    default:
        break;
    }
}

/// A stop ends it: what is abandoned then is abandoned where it always is.
void Lane::pause(std::chrono::milliseconds time) const
{
    for (; time > 0ms && !*m_settings.stop; time -= Slice)
        pauseFor(std::min<std::chrono::milliseconds>(time, Slice));
}

/// What a command gives back in place of being carried out, where a fault of the database strikes.
std::optional<DeliveryInput> Lane::injected(const DeliveryCommand &command, const DeliveryMachine &delivery)
{
    const DatabasePoints points = databasePoints(command.kind);
    if (!points.first)
        return std::nullopt;
    const FaultSubject subject = faultSubject(delivery.report());
    std::optional<Fault> fault = m_settings.faults->ask(*points.first, subject);
    if (!fault && points.second)
        fault = m_settings.faults->ask(*points.second, subject);
    if (!fault)
        return std::nullopt;
    if (fault->what == FaultEffect::LockTimeout)
        pause(m_settings.lockWait);
    if (fault->what == FaultEffect::CommitThenCut) {
        if (command.kind == Kind::Commit)
            (void)m_claims->commit();
        else
            (void)ledger().mark(m_request, m_owner);
    }
    if (fault->what == FaultEffect::Cut || fault->what == FaultEffect::CommitThenCut) {
        m_ledger.reset();
        if (command.kind == Kind::Mark) { // a ledger whose connection broke tries again on another one
            const auto again = m_settings.faults->ask(FaultPoint::DatabaseReclaim, subject);
            return again ? failing(Kind::Mark, databaseError(again->what)) : ledger().mark(m_request, m_owner);
        }
        if (m_claims && command.kind != Kind::Commit) // its transaction ends with reclaim() or rollBack(), as always
            m_claims->close();
    }
    return failing(command.kind, databaseError(fault->what));
}

DeliveryInput Lane::execute(const DeliveryCommand &command, DeliveryMachine &delivery)
{
    switch (command.kind) {
    case Kind::Begin:
        return begin(delivery);
    case Kind::Claim:
        return m_claims->claim(m_request);
    case Kind::LookUp:
        return m_claims->lookUp(m_request);
    case Kind::Send:
        return sendMail(delivery);
    case Kind::RecordDoubt:
        return recordDoubt(delivery.report());
    case Kind::Commit: {
        auto committed = commit();
        if (committed)
            m_handover->clear();
        return committed;
    }
    case Kind::RollBack:
        m_claims->rollBack();
        return Result<void>();
    case Kind::Reclaim:
        return m_claims->reclaim(m_request);
    case Kind::LookIntoDoubt:
        return isHeld(m_request.eventId);
    case Kind::AskReceiver:
        if (m_settings.config.askMaildir.isEmpty())
            return Result<bool>(Error{ErrorKind::Invalid, u"there is no Maildir to ask (--ask-maildir)"_s, {}});
        return maildirHas(m_settings.config.askMaildir, delivery.mail().messageId);
    case Kind::ClaimDelivery:
    case Kind::TakeOver:
        return claimDelivery(delivery, command.kind == Kind::TakeOver);
    case Kind::Mark:
        return ledger().mark(m_request, m_owner);
    case Kind::Release:
        return ledger().release(m_request.eventId, m_owner);
    case Kind::Doubt:
        return ledger().doubt(m_request.eventId, m_owner);
    case Kind::Finish:
        break;
    }
    return Result<void>();
}

Result<void> Lane::begin(const DeliveryMachine &delivery)
{
    if (const auto prepared = prepare(delivery); !prepared)
        return prepared;
    const auto begun = claims().begin();
    m_crowdedOut = !begun && begun.error().code == TooManyConnections;
    return begun;
}

Result<DeliveryLedger::Claim> Lane::claimDelivery(const DeliveryMachine &delivery, bool takeOver)
{
    if (const auto prepared = prepare(delivery); !prepared)
        return prepared.error();
    m_owner = QUuid::createUuid().toString(QUuid::WithoutBraces);
    // From before the claim: the database counts from a moment in it.
    m_leaseEndNsec = clockNsec() + std::chrono::nanoseconds(leaseOf(m_settings.config)).count();
    return takeOver ? ledger().takeOver(m_request, m_owner) : ledger().claim(m_request, m_owner);
}

qint64 Lane::clockNsec() const
{
    return bootNsec() + std::chrono::nanoseconds(m_clockJump).count();
}

bool Lane::leaseLasts() const
{
    return clockNsec() + std::chrono::nanoseconds(LeaseLeftAtTheDot).count() <= m_leaseEndNsec;
}

Result<void> Lane::prepare(const DeliveryMachine &delivery)
{
    m_request = requestOf(delivery);
    return openConnections();
}

ClaimRequest Lane::requestOf(const DeliveryMachine &delivery) const
{
    return {delivery.event().eventId,    delivery.event().type,      delivery.processedAt(),
            delivery.event().bodySha256, delivery.type()->lookupSql, delivery.event().fields};
}

SendResult Lane::sendMail(DeliveryMachine &delivery)
{
    QString abandoned;
    const auto beforeDot = [this, &delivery, &abandoned] {
        at(FaultPoint::WorkerMidMail, delivery);
        if (marks()) { // a dead worker's claim is its announcement
            if (!leaseLasts())
                abandoned = u"the claim's time is nearly over, so the final dot was not written"_s;
            return abandoned.isEmpty();
        }
        const auto filled = m_handover->fill(delivery.event().eventId, delivery.message().messageId,
                                             delivery.processedAt(), delivery.mail().bytes);
        if (!filled)
            m_warnings.append(filled.error().text);
        return filled.ok();
    };
    const auto afterDot = [this, &delivery] {
        delivery.handedOver(elapsedUsec());
        at(FaultPoint::WorkerHandedOver, delivery);
    };
    SendResult result = m_smtp->send(delivery.mail(), {beforeDot, afterDot}, *m_settings.stop);
    if (!abandoned.isEmpty())
        result.text = abandoned;
    if (result.status == SendResult::Status::NotSent)
        m_handover->clear();
    return result;
}

} // namespace sendonce
