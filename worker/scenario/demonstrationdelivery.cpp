#include "worker/scenario/demonstrationdelivery.h"

#include "worker/store/jobboard.h"
#include "worker/store/processedevents.h"

#include <QThread>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds BusyTimeout = 10s; ///< SQLite's one writer; longer than any fault that is armed
constexpr std::chrono::milliseconds Slice = 20ms; ///< of a pause, to see a stop

template <typename T>
T orThrow(Result<T> result)
{
    if (!result)
        throw DemonstrationFailure{result.error().text};
    if constexpr (!std::is_void_v<T>)
        return result.take();
}

} // namespace

void DemonstrationServices::disconnect()
{
    database.reset();
    mail.reset();
}

DemonstrationDelivery::DemonstrationDelivery(DemonstrationServices &services, const Message &message)
    : m_services(services)
    , m_true(services.rules, message, djangoTime(nowUsecs()))
{
    if (m_true.start(0).kind == DeliveryCommand::Kind::Finish)
        throw DemonstrationFailure{m_true.report().reason};
}

Database &DemonstrationDelivery::database()
{
    if (!m_services.database) {
        m_services.database.emplace(orThrow(Database::open(m_services.databaseUrl, BusyTimeout)));
        orThrow(m_services.database->rows(
            u"CREATE TABLE IF NOT EXISTS demonstration_writtendown (event_id varchar(64) NOT NULL)"_s, {},
            u"the demonstration's table"_s));
    }
    return *m_services.database;
}

void DemonstrationDelivery::begin()
{
    m_transaction.emplace(orThrow(Transaction::begin(database())));
}

void DemonstrationDelivery::commit()
{
    committing([this] { orThrow(m_transaction->commit()); });
    m_transaction.reset();
}

/// Where a COMMIT may fail: of a transaction, or of a statement that is one by itself.
void DemonstrationDelivery::committing(const std::function<void()> &write)
{
    const auto fault = m_services.faults->ask(FaultPoint::DatabaseCommit, faultSubject(m_true.report()));
    if (!fault || fault->what == FaultEffect::CommitThenCut)
        write();
    if (!fault)
        return;
    m_transaction.reset();
    m_services.database.reset();
    throw DemonstrationFailure{u"the COMMIT failed: the connection to the database is lost (armed fault)"_s};
}

bool DemonstrationDelivery::claim(const QString &key)
{
    bool inserted = false;
    const auto insert = [this, &key, &inserted] {
        ProcessedEvents events(database());
        inserted =
            orThrow(events.claim(key, m_true.event().type, m_true.processedAt(), m_true.event().bodySha256)).inserted;
    };
    if (m_transaction)
        insert();
    else
        committing(insert);
    return inserted;
}

bool DemonstrationDelivery::isWrittenDown(const QString &key)
{
    return !orThrow(database().rows(u"SELECT 1 FROM demonstration_writtendown WHERE event_id = ?"_s, {key},
                                    u"the look whether it was handled"_s))
                .isEmpty();
}

void DemonstrationDelivery::writeDown(const QString &key)
{
    committing([this, &key] {
        orThrow(database().rows(u"INSERT INTO demonstration_writtendown (event_id) VALUES (?)"_s, {key},
                                u"writing down that it was handled"_s));
    });
}

bool DemonstrationDelivery::setUnlessThere(const QString &key, std::chrono::milliseconds expiry)
{
    return m_services.keys->setUnlessThere(key, expiry);
}

void DemonstrationDelivery::sendMail()
{
    passed(FaultPoint::WorkerClaimed);
    const MimeMessage mail = renderedMail();
    passed(FaultPoint::WorkerLookedUp);
    if (!m_services.mail)
        m_services.mail = std::make_unique<SmtpClient>(m_services.smtp);
    const SendHooks hooks{[this] {
                              passed(FaultPoint::WorkerMidMail);
                              return true;
                          },
                          [this] { passed(FaultPoint::WorkerHandedOver); }};
    const SendResult result = m_services.mail->send(mail, hooks, *m_services.stop);
    if (result.status != SendResult::Status::Sent) // in doubt is no word that these designs know
        throw DemonstrationFailure{result.reply.isEmpty() ? result.text : result.reply};
    passed(FaultPoint::WorkerAccepted);
}

/// The true delivery is led to where it wants to send: every design sends the same bytes for the same message.
MimeMessage DemonstrationDelivery::renderedMail()
{
    const auto row = orThrow(lookUp(database(), m_true.type()->lookupSql, m_true.event().fields));
    m_true.step(Result<void>(), 0);
    m_true.step(Result<ProcessedEvents::Claim>({true, {}, {}, false}), 0);
    const DeliveryCommand next = m_true.step(Result<std::optional<QMap<QString, QVariant>>>(row), 0);
    if (next.kind != DeliveryCommand::Kind::Send)
        throw DemonstrationFailure{m_true.report().reason};
    return m_true.mail();
}

void DemonstrationDelivery::passed(FaultPoint point)
{
    const auto fault = m_services.faults->ask(point, faultSubject(m_true.report()));
    if (!fault)
        return;
    switch (fault->what) {
    case FaultEffect::Crash:
        m_services.faults->die();
        throw DemonstrationDeath{point};
    case FaultEffect::Hang:
        pause(fault->delay > 0ms ? fault->delay : std::chrono::milliseconds::max());
        break;
    case FaultEffect::Slow:
        pause(fault->delay);
        break;
    case FaultEffect::ClockJump: // what stands beside the worker ages as well
        m_services.keys->advance(fault->delay);
        break;
    default:
        break;
    }
}

void DemonstrationDelivery::pause(std::chrono::milliseconds time) const
{
    for (; time > 0ms && !*m_services.stop; time -= Slice)
        QThread::msleep(ulong(std::min(time, Slice).count()));
}

} // namespace sendonce
