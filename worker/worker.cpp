#include "worker/worker.h"

#include "worker/eventsender.h"
#include "worker/workerprivate.h"

#include <QThread>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

QString hostPort(const QUrl &url)
{
    const int port = url.port(url.scheme() == "https"_L1 ? 443 : url.scheme() == "http"_L1 ? 80 : 25);
    return u"%1:%2"_s.arg(url.host(), QString::number(port));
}

} // namespace

Worker::Worker(Config config, QObject *parent) : QObject(parent), d(std::make_unique<Private>(this, std::move(config)))
{
    qRegisterMetaType<ProcessedQuery>();
    qRegisterMetaType<ProcessedPage>();
    qRegisterMetaType<SendReport>();
    qRegisterMetaType<Error>();
}

Worker::~Worker() = default;

void Worker::open()
{
    Q_ASSERT(thread() == QThread::currentThread());
    if (d->client)
        return;
    using Service = ServiceStatus::Service;
    d->queueStatus = {Service::Queue, ServiceStatus::Health::Unknown, hostPort(d->config.queueUrl), {}};
    d->databaseStatus = {Service::Database, ServiceStatus::Health::Unknown, {}, {}};
    d->mailStatus = {Service::Mail, ServiceStatus::Health::Unknown, hostPort(d->config.mailUrl), {}};
    if (const auto url = DatabaseUrl::parse(d->config.databaseUrl))
        d->databaseStatus.address = url->displayName();
    d->client = std::make_unique<SqsClient>(d->sqs);
    connect(d->client.get(), &SqsClient::warned, this,
            [this](const QString &text) { d->log(LogLevel::Warning, text); });
    d->monitor = std::make_unique<QueueMonitor>(*d->client);
    connect(d->monitor.get(), &QueueMonitor::sampled, this, [this](const QueueDepth &depth) {
        d->sampleEnded(std::nullopt);
        Q_EMIT depthSampled(depth);
    });
    connect(d->monitor.get(), &QueueMonitor::failed, this, [this](const Error &error) { d->sampleEnded(error); });
    connect(&d->keyPause, &KeyPause::due, this, [this] { d->tryKeys(); });
    Q_EMIT serviceChanged(d->queueStatus);
    Q_EMIT serviceChanged(d->databaseStatus);
    Q_EMIT serviceChanged(d->mailStatus);
    if (!d->prepare())
        return;
    d->startOperator();
    if (d->config.embedded) {
        // The embedded mailbox shares our fate; a real one is judged by the mails it takes.
        d->setHealth(d->mailStatus, ServiceStatus::Health::Ok);
        d->faults = std::make_unique<FaultSocket>(d->config.controlSocket);
        connect(d->faults.get(), &FaultSocket::armedChanged, this, [this](const FaultRules &rules) {
            d->gate->setArmed(rules);
            Q_EMIT armedChanged(rules);
        });
        connect(d->faults.get(), &FaultSocket::failed, this, [this](const QString &text) {
            d->log(LogLevel::Error, u"Faults: "_s + text);
            Q_EMIT actFailed(u"faults"_s, text);
        });
        d->faults->open();
    }
    d->startInquiry();
}

void Worker::start()
{
    Q_ASSERT(thread() == QThread::currentThread());
    if (d->startWanted || d->closing)
        return;
    if (d->config.readOnly) {
        Q_EMIT actFailed(u"start"_s, u"this profile is read-only: its worker stays off"_s);
        return;
    }
    d->startWanted = true;
    if (d->state == WorkerState::Stopping)
        return; // consumerStopped() starts again
    d->setState(WorkerState::Starting);
    if (d->operations)
        d->operations->expectWork(true);
    d->startWhenReady();
    d->keyPause.tryNow(); // whoever starts expects an answer now
}

void Worker::stop()
{
    Q_ASSERT(thread() == QThread::currentThread());
    d->startWanted = false;
    if (d->operations)
        d->operations->expectWork(false);
    if (d->state == WorkerState::Running) {
        d->setState(WorkerState::Stopping);
        d->consumer->stop();
    } else if (d->state == WorkerState::Starting) {
        d->setState(WorkerState::Stopped);
    }
}

void Worker::close()
{
    Q_ASSERT(thread() == QThread::currentThread());
    if (d->closing)
        return;
    d->closing = true;
    if (!d->client) { // never opened
        Q_EMIT closed();
        return;
    }
    stop();
    if (d->state == WorkerState::Stopped)
        d->finishClose();
}

void Worker::send(const SendRequest &request)
{
    Q_ASSERT(thread() == QThread::currentThread());
    const auto refuse = [this, &request](const QString &why) {
        SendReport report;
        report.request = request;
        report.error = why;
        Q_EMIT sendFinished(report);
    };
    if (!d->client) {
        refuse(u"the worker is not open"_s);
        return;
    }
    if (d->config.readOnly) {
        refuse(u"this profile is read-only: it looks, but does not act"_s);
        return;
    }
    if (request.copies < 1 || request.copies > 10) {
        refuse(u"copies is %1; 1 to 10 are accepted"_s.arg(request.copies));
        return;
    }
    sendEvent(*d->client, d->config.queueUrl, request, this, [this](const SendReport &report) {
        if (report.error.isEmpty()) {
            d->log(LogLevel::Info, u"Sent event %1 as %2"_s.arg(report.eventId, report.messageIds.join(u", "_s)),
                   report.eventId);
        } else {
            d->log(LogLevel::Error, u"Event %1 could not be sent: %2"_s.arg(report.eventId, report.error),
                   report.eventId);
        }
        d->ask([report](Operator &operations) { operations.recordSend(report); });
        Q_EMIT sendFinished(report);
    });
}

void Worker::injectDuplicate(const QString &eventId)
{
    SendRequest request;
    if (eventId.isEmpty()) {
        request.copies = 2;
        send(request);
        return;
    }
    request.eventId = eventId;
    send(request);
}

void Worker::failNextMails(int times, int replyCode)
{
    FaultRule rule;
    rule.code = replyCode;
    rule.times = times;
    arm(rule);
}

void Worker::arm(const FaultRule &rule)
{
    if (d->mayArm())
        d->faults->arm(rule);
}

void Worker::disarm(int id)
{
    if (d->mayArm())
        d->faults->disarm(id);
}

void Worker::disarmAll()
{
    if (d->mayArm())
        d->faults->disarmAll();
}

void Worker::queryProcessed(const ProcessedQuery &query)
{
    d->ask([query](Operator &operations) { operations.queryProcessed(query); });
}

void Worker::queryMailbox(const QString &search, int limit)
{
    d->ask([search, limit](Operator &operations) { operations.queryMailbox(search, limit); });
}

void Worker::openMail(const QString &id)
{
    d->ask([id](Operator &operations) { operations.openMail(id); });
}

void Worker::queryStory(const QString &eventId)
{
    d->ask([eventId](Operator &operations) { operations.queryStory(eventId); });
}

void Worker::browseDeadLetters(bool yes)
{
    d->ask([yes](Operator &operations) { operations.browseDeadLetters(yes); });
}

void Worker::cancelBrowse()
{
    d->ask([](Operator &operations) { operations.cancelBrowse(); });
}

void Worker::openDeadLetter(const QString &messageId)
{
    d->ask([messageId](Operator &operations) { operations.openDeadLetter(messageId); });
}

void Worker::findInDeadLetters(const QString &text, quint64 ticket)
{
    d->ask([text, ticket](Operator &operations) { operations.findInDeadLetters(text, ticket); });
}

void Worker::replay(const ReplayOrder &order)
{
    d->ask([order](Operator &operations) { operations.replay(order); });
}

void Worker::pauseReplay(qint64 run)
{
    d->ask([run](Operator &operations) { operations.pauseReplay(run); });
}

void Worker::resumeReplay(qint64 run)
{
    d->ask([run](Operator &operations) { operations.resumeReplay(run); });
}

void Worker::cancelReplay(qint64 run)
{
    d->ask([run](Operator &operations) { operations.cancelReplay(run); });
}

void Worker::queryReplays()
{
    d->ask([](Operator &operations) { operations.queryReplays(); });
}

void Worker::queryReplayItems(qint64 run)
{
    d->ask([run](Operator &operations) { operations.queryReplayItems(run); });
}

void Worker::startMoveTask(int perSecond)
{
    d->ask([perSecond](Operator &operations) { operations.startMoveTask(perSecond); });
}

void Worker::queryMoveTask()
{
    d->ask([](Operator &operations) { operations.queryMoveTask(); });
}

void Worker::cancelMoveTask()
{
    d->ask([](Operator &operations) { operations.cancelMoveTask(); });
}

void Worker::deleteDeadLetters(const QStringList &messageIds)
{
    d->ask([messageIds](Operator &operations) { operations.deleteDeadLetters(messageIds); });
}

void Worker::editAndReplay(const EditOrder &order)
{
    d->ask([order](Operator &operations) { operations.editAndReplay(order); });
}

void Worker::queryKeptLetters(int limit)
{
    d->ask([limit](Operator &operations) { operations.queryKeptLetters(limit); });
}

void Worker::putBackLetters(const QList<qint64> &keptIds)
{
    d->ask([keptIds](Operator &operations) { operations.putBackLetters(keptIds); });
}

void Worker::purgeDeadLetters(const QString &typedName)
{
    d->ask([typedName](Operator &operations) { operations.purgeDeadLetters(typedName); });
}

void Worker::exportDeadLetters(const QStringList &messageIds, const QString &path, bool csv)
{
    d->ask([messageIds, path, csv](Operator &operations) { operations.exportDeadLetters(messageIds, path, csv); });
}

void Worker::importDeadLetters(const QString &path, bool toSource)
{
    d->ask([path, toSource](Operator &operations) { operations.importDeadLetters(path, toSource); });
}

void Worker::previewCleanUp()
{
    d->ask([](Operator &operations) { operations.previewCleanUp(); });
}

void Worker::cleanUp()
{
    d->ask([](Operator &operations) { operations.cleanUp(); });
}

void Worker::forgetClaim(const QString &eventId, const QString &reason)
{
    d->ask([eventId, reason](Operator &operations) { operations.forgetClaim(eventId, reason); });
}

void Worker::queryAudit(qint64 beforeId, int limit)
{
    d->ask([beforeId, limit](Operator &operations) { operations.queryAudit(beforeId, limit); });
}

void Worker::exportAudit(const QString &path)
{
    d->ask([path](Operator &operations) { operations.exportAudit(path); });
}

void Worker::queryDoubts(int limit)
{
    d->ask([limit](Operator &operations) { operations.queryDoubts(limit); });
}

void Worker::settleDoubts(const QStringList &eventIds, DoubtAct act)
{
    d->ask([eventIds, act](Operator &operations) { operations.settleDoubts(eventIds, act); });
}

void Worker::retryKeys()
{
    Q_ASSERT(thread() == QThread::currentThread());
    d->keyPause.tryNow();
}

void Worker::check()
{
    Q_ASSERT(thread() == QThread::currentThread());
    if (d->operations) {
        d->ask([](Operator &operations) { operations.check(); });
        return;
    }
    CheckLine line;
    line.id = u"settings"_s;
    line.level = CheckLine::Level::Error;
    line.text = d->unusable.isEmpty() ? u"the worker is not open"_s : d->unusable;
    line.remedy = d->unusable.isEmpty() ? u"start Sendonce again"_s
                                        : u"correct that setting or file, then start Sendonce again"_s;
    Q_EMIT checkLine(line);
    Q_EMIT checkFinished();
}

} // namespace sendonce
