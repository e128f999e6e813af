#include "worker/scenario/demonstrationlane.h"

#include "worker/events/event.h"

#include <QTimer>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto RestartTime = 500ms; ///< of a worker that has crashed
constexpr auto RetryTime = 500ms; ///< when the queue cannot be reached

} // namespace

DemonstrationLane::DemonstrationLane(const QUrl &queueUrl, SqsSettings queue, DemonstrationServices services,
                                     DemonstrationDesign design)
    : m_queueUrl(queueUrl)
    , m_queue(std::move(queue))
    , m_services(std::move(services))
    , m_design(design)
{ }

void DemonstrationLane::start()
{
    m_client = std::make_unique<SqsClient>(m_queue);
    receive();
}

void DemonstrationLane::stop()
{
    if (m_receive)
        m_receive->abort();
    m_services.disconnect();
    Q_EMIT stopped();
}

void DemonstrationLane::receive()
{
    if (isStopped())
        return;
    ReceiveRequest request;
    request.queueUrl = m_queueUrl;
    request.maxMessages = 1;
    m_receive = m_client->receive(request, this, [this](const Result<QList<Message>> &received) {
        if (isStopped())
            return;
        if (!received)
            QTimer::singleShot(RetryTime, this, &DemonstrationLane::receive);
        else if (received->isEmpty())
            receive();
        else
            handle(received->first());
    });
}

void DemonstrationLane::handle(const Message &message)
{
    Q_EMIT inHandChanged(1);
    try {
        if (handled(message)) {
            remove(message);
            return;
        }
        receive();
    } catch (const DemonstrationDeath &death) {
        diedAt(death.at, message);
    }
    Q_EMIT inHandChanged(0);
}

/// Whether the message is to be deleted.
bool DemonstrationLane::handled(const Message &message)
{
    try {
        DemonstrationDelivery delivery(m_services, message);
        delivery.passed(FaultPoint::WorkerReceived);
        m_design(delivery);
        delivery.passed(FaultPoint::WorkerCommitted);
        log(LogLevel::Info, u"handled"_s, message);
        return true;
    } catch (const DemonstrationFailure &failure) {
        log(LogLevel::Error, u"not handled: "_s + failure.text, message);
        return false;
    }
}

void DemonstrationLane::remove(const Message &message)
{
    m_client->deleteBatch(m_queueUrl, {{u"0"_s, message.receiptHandle}}, this,
                          [this, message](const Result<QList<BatchEntryResult>> &result) {
                              const bool isDeleted = result && !result->isEmpty() && result->first().ok;
                              if (!isDeleted)
                                  log(LogLevel::Warning, u"handled, but not deleted: it comes again"_s, message);
                              const auto fault =
                                  m_services.faults->ask(FaultPoint::WorkerDeleted,
                                                         {glimpse(message.body).eventId, {}, {}, message.messageId});
                              if (isDeleted && fault && fault->what == FaultEffect::Crash)
                                  diedAt(FaultPoint::WorkerDeleted, message);
                              else
                                  receive();
                              Q_EMIT inHandChanged(0);
                          });
}

/// As if its process had been killed there: connections drop, nothing is settled, and a new one begins after a while.
void DemonstrationLane::diedAt(FaultPoint point, const Message &message)
{
    m_services.disconnect();
    log(LogLevel::Error, u"the worker died at %1 (armed fault); another one begins"_s.arg(faultPointName(point)),
        message);
    QTimer::singleShot(RestartTime, this, &DemonstrationLane::receive);
}

void DemonstrationLane::log(LogLevel level, const QString &text, const Message &message)
{
    const QString eventId = glimpse(message.body).eventId;
    Q_EMIT logged({QDateTime::currentDateTimeUtc(), level,
                   u"Message %1 (event %2, receive %3): %4"_s.arg(message.messageId, eventId,
                                                                  QString::number(message.receiveCount()), text),
                   eventId});
}

} // namespace sendonce
