#include "worker/worker.h"

#include "worker/consume/consumer.h"
#include "worker/consume/eventtypecheck.h"
#include "worker/events/event.h"
#include "worker/faults/faultsocket.h"
#include "worker/operate/operator.h"
#include "worker/operate/queuemonitor.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QThread>
#include <QTimer>
#include <QUuid>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

/// One line, whatever a stranger's text holds.
QString oneLine(const QString &text)
{
    QString line;
    line.reserve(text.size());
    for (const QChar c : text) {
        if (c.category() == QChar::Other_Control || c == QChar::LineSeparator || c == QChar::ParagraphSeparator)
            line += u"\\u%1"_s.arg(ushort(c.unicode()), 4, 16, QChar(u'0'));
        else
            line += c;
    }
    return line;
}

QString hostPort(const QUrl &url)
{
    const int port = url.port(url.scheme() == "https"_L1 ? 443 : url.scheme() == "http"_L1 ? 80 : 25);
    return u"%1:%2"_s.arg(url.host(), QString::number(port));
}

/// GetQueueUrl has no queue URL to go by: without an endpoint of its own it goes where the queue is.
QUrl originOf(const QUrl &url)
{
    return url.adjusted(QUrl::RemovePath | QUrl::RemoveQuery | QUrl::RemoveFragment);
}

/// The body of an operator's event; the article's own shape for the article's type.
QByteArray composeBody(const SendRequest &request, const QString &eventId)
{
    if (request.type == "application.status_changed"_L1)
        return composeStatusChanged(eventId, request.applicationId, request.oldStatus, request.newStatus);
    return QJsonDocument(QJsonObject{{u"type"_s, request.type},
                                     {u"event_id"_s, eventId},
                                     {u"application_id"_s, request.applicationId}})
        .toJson(QJsonDocument::Compact);
}

LogLevel levelOf(const DeliveryReport &report)
{
    switch (report.outcome) {
    case Outcome::Sent:
        return report.possiblyMailedTwice ? LogLevel::Warning : LogLevel::Info;
    case Outcome::Duplicate:
        return report.otherBody ? LogLevel::Warning : LogLevel::Info; // expected, so never a warning
    case Outcome::Gone:
    case Outcome::InDoubt:
        return LogLevel::Warning;
    case Outcome::Failed:
        return LogLevel::Error;
    case Outcome::GivenBack:
        return LogLevel::Info;
    }
    return LogLevel::Info;
}

} // namespace

struct Worker::Private
{
    Private(Worker *worker, Config settings)
        : q(worker)
        , config(std::move(settings))
        , sqs({config.endpoint.isEmpty() ? originOf(config.queueUrl) : config.endpoint, config.region,
               config.credentials})
    { }

    Worker *const q;
    const Config config;
    const SqsSettings sqs;

    std::shared_ptr<const EventTypes> types;
    std::unique_ptr<SqsClient> client;
    std::unique_ptr<QueueMonitor> monitor;
    std::unique_ptr<FaultSocket> faults;
    std::unique_ptr<Consumer> consumer;
    std::unique_ptr<QTimer> factsTimer;
    QThread *operatorThread = nullptr;
    Operator *operations = nullptr; ///< lives in operatorThread
    LaneSettings laneSettings;
    QueueFacts facts;
    bool factsKnown = false;
    int factsFailures = 0;
    bool startWanted = false;
    bool closing = false;
    bool closedTold = false;
    QString unusable; ///< why not even the operator could be started: a setting
    WorkerState state = WorkerState::Stopped;
    Counters counters;
    ServiceStatus queueStatus, databaseStatus, mailStatus;

    void log(LogLevel level, const QString &text, const QString &eventId = {});
    void setState(WorkerState next);
    void setHealth(ServiceStatus &status, ServiceStatus::Health health, const QString &detail = {});
    bool prepare();
    void startOperator();
    void askForFacts();
    void askForDeadLetterQueue(const QString &redrivePolicy);
    void factsComplete();
    void factsFailed(const Error &error);
    void makeConsumer();
    void startConsumer();
    void consumerStopped();
    void account(const DeliveryReport &report);
    void finishClose();
};

void Worker::Private::log(LogLevel level, const QString &text, const QString &eventId)
{
    Q_EMIT q->logged({QDateTime::currentDateTimeUtc(), level, oneLine(text), oneLine(eventId)});
}

void Worker::Private::setState(WorkerState next)
{
    if (state == next)
        return;
    state = next;
    Q_EMIT q->stateChanged(state);
}

void Worker::Private::setHealth(ServiceStatus &status, ServiceStatus::Health health, const QString &detail)
{
    if (status.health == health && status.detail == detail)
        return;
    status.health = health;
    status.detail = detail;
    Q_EMIT q->serviceChanged(status);
}

bool Worker::Private::prepare()
{
    const auto fail = [this](const Error &error) {
        unusable = error.text;
        log(LogLevel::Error, error.text);
        Q_EMIT q->openFailed(error);
        return false;
    };
    auto loaded = EventTypes::load(config.eventTypesDir);
    if (!loaded)
        return fail(loaded.error());
    types = std::make_shared<const EventTypes>(loaded.take());
    const auto checked = checkEventTypes(*types);
    if (!checked)
        return fail(checked.error());
    const auto smtp = SmtpSettings::fromUrl(config.mailUrl);
    if (!smtp)
        return fail(smtp.error());
    const auto from = MailAddress::parse(config.mailFrom);
    if (!from)
        return fail({from.error().kind, u"--mail-from: "_s + from.error().text, {}});

    laneSettings.config = config;
    if (laneSettings.config.messageIdDomain.isEmpty())
        laneSettings.config.messageIdDomain = from->domain();
    laneSettings.smtp = smtp.value();
    laneSettings.smtp.timeout = config.mailTimeout;
    laneSettings.smtp.finalTimeout = config.mailFinalTimeout;
    laneSettings.from = from.value();
    laneSettings.eventTypes = types;
    return true;
}

void Worker::Private::startOperator()
{
    operatorThread = new QThread(q);
    operatorThread->setObjectName(u"operator"_s);
    operations = new Operator(config, sqs, types);
    operations->moveToThread(operatorThread);
    connect(operatorThread, &QThread::started, operations, &Operator::open);
    connect(operatorThread, &QThread::finished, operations, &QObject::deleteLater);

    connect(operations, &Operator::openFailed, q, [this](const Error &error) {
        setHealth(databaseStatus, ServiceStatus::Health::Failing, error.text);
        log(LogLevel::Error, error.text);
        Q_EMIT q->openFailed(error);
    });
    connect(operations, &Operator::databaseOpened, q, [this](const QString &name) {
        databaseStatus.address = name;
        setHealth(databaseStatus, ServiceStatus::Health::Ok);
    });
    connect(operations, &Operator::possiblyMailedTwice, q, [this](const QString &eventId, const QString &messageId) {
        ++counters.possiblyTwice;
        Q_EMIT q->countersChanged(counters);
        log(LogLevel::Warning,
            u"A worker died while it handed over the mail of event %1 (message %2): possibly mailed twice"_s.arg(
                eventId, messageId),
            eventId);
    });
    connect(operations, &Operator::actFailed, q, [this](const QString &act, const QString &text) {
        log(LogLevel::Error, u"%1: %2"_s.arg(act, text));
        Q_EMIT q->actFailed(act, text);
    });
    connect(operations, &Operator::checkLine, q, &Worker::checkLine);
    connect(operations, &Operator::checkFinished, q, &Worker::checkFinished);
    connect(operations, &Operator::replayChanged, q, [this](const ReplayItem &item) {
        if (item.state != ReplayItem::State::Sending) {
            const bool bad = item.state == ReplayItem::State::Failed || item.state == ReplayItem::State::DeadAgain
                || item.state == ReplayItem::State::CopyLeft;
            log(bad ? LogLevel::Warning : LogLevel::Info,
                u"Dead letter %1 (event %2): %3"_s.arg(item.messageId, item.eventId, item.text), item.eventId);
        }
        Q_EMIT q->replayChanged(item);
    });
    connect(operations, &Operator::processedPage, q, &Worker::processedPage);
    connect(operations, &Operator::mailboxSnapshot, q, &Worker::mailboxSnapshot);
    connect(operations, &Operator::mailboxChanged, q, &Worker::mailboxChanged);
    connect(operations, &Operator::mailOpened, q, &Worker::mailOpened);
    connect(operations, &Operator::story, q, &Worker::story);
    connect(operations, &Operator::deadLettersChanged, q, &Worker::deadLettersChanged);
    operatorThread->start();
}

void Worker::Private::askForFacts()
{
    client->getQueueAttributes(config.queueUrl, {u"VisibilityTimeout"_s, u"RedrivePolicy"_s}, q,
                               [this](const Result<QMap<QString, QString>> &attributes) {
                                   if (!attributes) {
                                       factsFailed(attributes.error());
                                       return;
                                   }
                                   facts.queueUrl = config.queueUrl;
                                   facts.visibility = std::chrono::seconds(
                                       std::max(1, attributes->value(u"VisibilityTimeout"_s, u"30"_s).toInt()));
                                   askForDeadLetterQueue(attributes->value(u"RedrivePolicy"_s));
                               });
}

void Worker::Private::askForDeadLetterQueue(const QString &redrivePolicy)
{
    const QJsonObject policy = QJsonDocument::fromJson(redrivePolicy.toUtf8()).object();
    facts.maxReceiveCount = policy.value("maxReceiveCount"_L1).toVariant().toInt(); // a number or a text, both occur
    const QString arn = policy.value("deadLetterTargetArn"_L1).toString();
    if (!config.dlqUrl.isEmpty() || arn.isEmpty()) {
        facts.dlqUrl = config.dlqUrl;
        factsComplete();
        return;
    }
    client->getQueueUrl(arn.section(u':', -1), q, [this](const Result<QUrl> &url) {
        if (!url) {
            factsFailed(url.error());
            return;
        }
        facts.dlqUrl = url.value();
        factsComplete();
    });
}

void Worker::Private::factsFailed(const Error &error)
{
    if (error.kind == ErrorKind::Aborted)
        return;
    setHealth(queueStatus, ServiceStatus::Health::Failing, error.text);
    if (error.kind == ErrorKind::NotFound || error.kind == ErrorKind::Invalid || error.kind == ErrorKind::Refused) {
        const QString text = u"queue %1: %2"_s.arg(config.queueUrl.toString(), error.text);
        log(LogLevel::Error, text);
        Q_EMIT q->openFailed({error.kind, text, error.code});
        return;
    }
    if (factsFailures == 0)
        log(LogLevel::Warning, u"The queue cannot be reached, trying again: %1"_s.arg(error.text));
    ++factsFailures;
    factsTimer->start(std::min<std::chrono::milliseconds>(30s, 500ms * (1 << std::min(factsFailures, 6))));
}

void Worker::Private::factsComplete()
{
    factsKnown = true;
    if (factsFailures > 0)
        log(LogLevel::Info, u"The queue is reachable again"_s);
    setHealth(queueStatus, ServiceStatus::Health::Ok);
    laneSettings.lockWait = config.lockTimeout > 0ms
        ? config.lockTimeout
        : std::chrono::duration_cast<std::chrono::milliseconds>(facts.visibility) * 8 / 10;
    QMetaObject::invokeMethod(operations, [operations = operations, facts = facts] {
        operations->setQueues(facts.queueUrl, facts.dlqUrl, facts.maxReceiveCount);
    });
    monitor->watch(facts.queueUrl, facts.dlqUrl, config.depthInterval);
    Q_EMIT q->opened();
    if (startWanted)
        startConsumer();
}

void Worker::Private::makeConsumer()
{
    consumer = std::make_unique<Consumer>(*client, facts, laneSettings, std::max(1, config.lanes));
    connect(consumer.get(), &Consumer::stopped, q, [this] { consumerStopped(); });
    connect(consumer.get(), &Consumer::deliveryStarted, q, &Worker::deliveryStarted);
    connect(consumer.get(), &Consumer::delivered, q, [this](const DeliveryReport &report) { account(report); });
    connect(consumer.get(), &Consumer::deleted, q, &Worker::deleted);
    connect(consumer.get(), &Consumer::inHandChanged, q, &Worker::inHandChanged);
    connect(consumer.get(), &Consumer::warned, q, [this](const QString &text) { log(LogLevel::Warning, text); });
    connect(consumer.get(), &Consumer::receiveFailing, q, [this](const Error &error) {
        log(LogLevel::Error, u"Receiving from the queue fails, trying again with growing pauses: %1"_s.arg(error.text));
        setHealth(queueStatus, ServiceStatus::Health::Failing, error.text);
    });
    connect(consumer.get(), &Consumer::receiveWorking, q, [this] {
        log(LogLevel::Info, u"Receiving from the queue works again"_s);
        setHealth(queueStatus, ServiceStatus::Health::Ok);
    });
}

void Worker::Private::startConsumer()
{
    if (!consumer)
        makeConsumer();
    log(LogLevel::Info,
        u"Worker started: %1, %2"_s.arg(config.queueUrl.toString(),
                                        config.lanes == 1 ? u"1 lane"_s : u"%1 lanes"_s.arg(config.lanes)));
    setState(WorkerState::Running);
    consumer->start();
}

void Worker::Private::consumerStopped()
{
    if (startWanted) { // started again while it stopped
        startConsumer();
        return;
    }
    log(LogLevel::Info, u"Worker stopped"_s);
    setState(WorkerState::Stopped);
    if (closing) {
        // Not from here: the consumer is still telling us that it has stopped.
        QMetaObject::invokeMethod(
            q, [this] { finishClose(); }, Qt::QueuedConnection);
    }
}

void Worker::Private::account(const DeliveryReport &report)
{
    switch (report.outcome) {
    case Outcome::Sent:
        ++counters.sent;
        break;
    case Outcome::Duplicate:
    case Outcome::Gone:
        ++counters.skipped;
        break;
    case Outcome::Failed:
        ++counters.failed;
        break;
    case Outcome::InDoubt:
        ++counters.inDoubt;
        break;
    case Outcome::GivenBack:
        break;
    }
    counters.possiblyTwice += report.possiblyMailedTwice ? 1 : 0;
    log(levelOf(report), report.logLine, report.eventId);

    using Health = ServiceStatus::Health;
    if (report.outcome == Outcome::Sent || !report.mailReply.isEmpty())
        setHealth(mailStatus, Health::Ok); // it answers, even when it refuses
    else if (report.failedStage == Stage::Accepted
             && (report.outcome == Outcome::Failed || report.outcome == Outcome::InDoubt))
        setHealth(mailStatus, Health::Failing, report.reason);
    if (report.stageUsec[size_t(Stage::Claimed)] >= 0)
        setHealth(databaseStatus, Health::Ok);
    else if (report.outcome == Outcome::Failed && report.failedStage == Stage::Claimed)
        setHealth(databaseStatus, Health::Failing, report.reason);

    Q_EMIT q->delivered(report);
    Q_EMIT q->countersChanged(counters);
}

void Worker::Private::finishClose()
{
    if (closedTold)
        return;
    closedTold = true;
    monitor->stop();
    factsTimer->stop();
    consumer.reset();
    client->abortAll();
    if (operatorThread) {
        operations->abandonCheck();
        operatorThread->quit();
        operatorThread->wait();
        operations = nullptr;
    }
    faults.reset();
    Q_EMIT q->closed();
}

// ---- the face ------------------------------------------------------------------------------------------------------

Worker::Worker(Config config, QObject *parent) : QObject(parent), d(std::make_unique<Private>(this, std::move(config)))
{
    qRegisterMetaType<ProcessedQuery>();
    qRegisterMetaType<ProcessedPage>();
    qRegisterMetaType<SendReport>();
    qRegisterMetaType<Error>();
}

Worker::~Worker()
{
    if (d->operatorThread) {
        if (d->operations)
            d->operations->abandonCheck();
        d->operatorThread->quit();
        d->operatorThread->wait();
    }
}

void Worker::open()
{
    Q_ASSERT(thread() == QThread::currentThread());
    if (d->client)
        return;
    using Service = ServiceStatus::Service;
    d->queueStatus = {Service::Queue, ServiceStatus::Health::Unknown, hostPort(d->config.queueUrl), {}};
    d->databaseStatus = {Service::Database, ServiceStatus::Health::Unknown, {}, {}};
    d->mailStatus = {Service::Mail, ServiceStatus::Health::Unknown, hostPort(d->config.mailUrl), {}};
    if (const auto path = sqlitePath(d->config.databaseUrl))
        d->databaseStatus.address = u"SQLite "_s + path.value().section(u'/', -1);
    d->client = std::make_unique<SqsClient>(d->sqs);
    connect(d->client.get(), &SqsClient::warned, this,
            [this](const QString &text) { d->log(LogLevel::Warning, text); });
    d->monitor = std::make_unique<QueueMonitor>(*d->client);
    d->factsTimer = std::make_unique<QTimer>();
    d->factsTimer->setSingleShot(true);
    connect(d->factsTimer.get(), &QTimer::timeout, this, [this] { d->askForFacts(); });
    connect(d->monitor.get(), &QueueMonitor::sampled, this, [this](const QueueDepth &depth) {
        d->setHealth(d->queueStatus, ServiceStatus::Health::Ok);
        Q_EMIT depthSampled(depth);
    });
    connect(d->monitor.get(), &QueueMonitor::failed, this,
            [this](const Error &error) { d->setHealth(d->queueStatus, ServiceStatus::Health::Failing, error.text); });
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
        connect(d->faults.get(), &FaultSocket::armedChanged, this, &Worker::armedChanged);
        connect(d->faults.get(), &FaultSocket::failed, this, [this](const QString &text) {
            d->log(LogLevel::Error, u"Faults: "_s + text);
            Q_EMIT actFailed(u"faults"_s, text);
        });
        d->faults->open();
    }
    d->askForFacts();
}

void Worker::start()
{
    Q_ASSERT(thread() == QThread::currentThread());
    if (d->startWanted || d->closing)
        return;
    d->startWanted = true;
    if (d->state == WorkerState::Stopping)
        return; // consumerStopped() starts again
    d->setState(WorkerState::Starting);
    if (d->factsKnown)
        d->startConsumer();
}

void Worker::stop()
{
    Q_ASSERT(thread() == QThread::currentThread());
    d->startWanted = false;
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
    auto report = std::make_shared<SendReport>();
    report->request = request;
    if (!d->client) {
        report->error = u"the worker is not open"_s;
        Q_EMIT sendFinished(*report);
        return;
    }
    if (request.copies < 1 || request.copies > 10) {
        report->error = u"copies is %1; 1 to 10 are accepted"_s.arg(request.copies);
        Q_EMIT sendFinished(*report);
        return;
    }
    QByteArray body = request.rawBody;
    if (body.isEmpty()) {
        report->eventId =
            request.eventId.isEmpty() ? QUuid::createUuid().toString(QUuid::WithoutBraces) : request.eventId;
        body = composeBody(request, report->eventId);
    } else {
        report->eventId = glimpse(body).eventId;
    }
    QList<SendEntry> entries;
    for (int copy = 0; copy < request.copies; ++copy)
        entries.append({QString::number(copy), body, {}, {}, request.delaySeconds > 0 ? request.delaySeconds : -1});
    d->client->sendBatch(
        d->config.queueUrl, entries, this, [this, report](const Result<QList<BatchEntryResult>> &result) {
            if (!result) {
                report->error = result.error().text;
            } else {
                for (const BatchEntryResult &entry : result.value()) {
                    if (entry.ok)
                        report->messageIds.append(entry.messageId);
                    else
                        report->error = entry.text;
                }
            }
            if (report->error.isEmpty()) {
                d->log(LogLevel::Info, u"Sent event %1 as %2"_s.arg(report->eventId, report->messageIds.join(u", "_s)),
                       report->eventId);
            } else {
                d->log(LogLevel::Error, u"Event %1 could not be sent: %2"_s.arg(report->eventId, report->error),
                       report->eventId);
            }
            if (d->operations) {
                QMetaObject::invokeMethod(
                    d->operations, [operations = d->operations, told = *report] { operations->recordSend(told); });
            }
            Q_EMIT sendFinished(*report);
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
    if (d->faults)
        d->faults->failNextMails(times, replyCode);
    else
        Q_EMIT actFailed(u"faults"_s,
                         u"faults are armed in the embedded mailbox only; this profile uses another one"_s);
}

void Worker::disarm()
{
    if (d->faults)
        d->faults->disarm();
}

void Worker::queryProcessed(const ProcessedQuery &query)
{
    if (d->operations)
        QMetaObject::invokeMethod(d->operations,
                                  [operations = d->operations, query] { operations->queryProcessed(query); });
}

void Worker::queryMailbox(const QString &search, int limit)
{
    if (d->operations)
        QMetaObject::invokeMethod(
            d->operations, [operations = d->operations, search, limit] { operations->queryMailbox(search, limit); });
}

void Worker::openMail(const QString &id)
{
    if (d->operations)
        QMetaObject::invokeMethod(d->operations, [operations = d->operations, id] { operations->openMail(id); });
}

void Worker::queryStory(const QString &eventId)
{
    if (d->operations)
        QMetaObject::invokeMethod(d->operations,
                                  [operations = d->operations, eventId] { operations->queryStory(eventId); });
}

void Worker::browseDeadLetters()
{
    if (d->operations)
        QMetaObject::invokeMethod(d->operations, &Operator::browseDeadLetters);
}

void Worker::cancelBrowse()
{
    if (d->operations)
        QMetaObject::invokeMethod(d->operations, &Operator::cancelBrowse);
}

void Worker::replay(const QStringList &messageIds)
{
    if (d->operations)
        QMetaObject::invokeMethod(d->operations,
                                  [operations = d->operations, messageIds] { operations->replay(messageIds); });
}

void Worker::check()
{
    Q_ASSERT(thread() == QThread::currentThread());
    if (d->operations) {
        QMetaObject::invokeMethod(d->operations, &Operator::check);
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
