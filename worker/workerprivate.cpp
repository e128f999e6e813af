#include "worker/workerprivate.h"

#include "worker/consume/eventtypecheck.h"
#include "worker/events/bodycheck.h"
#include "worker/queue/awscredentials.h"

#include <algorithm>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

/// One line, whatever a stranger's text holds.
QString oneLine(const QString &text)
{
    const auto breaksLine = [](QChar c) {
        return c.unicode() < 0x20 || (c.unicode() >= 0x7f && c.unicode() < 0xa0) || c == QChar::LineSeparator
            || c == QChar::ParagraphSeparator;
    };
    if (std::none_of(text.cbegin(), text.cend(), breaksLine))
        return text; // nearly all
    QString line;
    line.reserve(text.size());
    for (const QChar c : text) {
        if (breaksLine(c))
            line += u"\\u%1"_s.arg(ushort(c.unicode()), 4, 16, QChar(u'0'));
        else
            line += c;
    }
    return line;
}

/// GetQueueUrl has no queue URL to go by: without an endpoint of its own it goes where the queue is.
QUrl originOf(const QUrl &url)
{
    return url.adjusted(QUrl::RemovePath | QUrl::RemoveQuery | QUrl::RemoveFragment);
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

Worker::Private::Private(Worker *worker, Config settings)
    : q(worker)
    , config(std::move(settings))
    , sqs({config.endpoint.isEmpty() ? originOf(config.queueUrl) : config.endpoint, config.region, config.credentials})
    , lanes(std::max(1, config.lanes))
    , gate(std::make_shared<FaultGate>(config.embedded ? config.controlSocket : QString(),
                                       config.crashEndsLane ? FaultGate::Death::Lane : FaultGate::Death::Process,
                                       config.crashAt))
    , keyPause(config.credentials.origin ? awsFilePaths(config.credentials.origin->environment) : QStringList())
{ }

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
    const auto smtp = SmtpSettings::fromConfig(config);
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
    laneSettings.faults = gate;
    Q_EMIT q->eventRulesKnown(rulesOf(types));
    return true;
}

void Worker::Private::startOperator()
{
    operations = std::make_unique<OperatorThread>(config, sqs, types, *q);
    const Operator *const answers = operations->operations();
    connect(answers, &Operator::openFailed, q, [this](const Error &error) {
        setHealth(databaseStatus, ServiceStatus::Health::Failing, error.text);
        log(LogLevel::Error, error.text);
        Q_EMIT q->openFailed(error);
    });
    connect(answers, &Operator::strategyAgreed, q, [this] {
        strategyAgreed = true;
        startWhenReady();
    });
    connect(answers, &Operator::strategyRefused, q, [this](const Error &error) {
        startWanted = false;
        setState(WorkerState::Stopped);
        log(LogLevel::Error, error.text);
        Q_EMIT q->openFailed(error);
    });
    connect(answers, &Operator::databaseOpened, q, [this](const QString &name, int connections) {
        databaseStatus.address = name;
        setHealth(databaseStatus, ServiceStatus::Health::Ok);
        databaseOpened(connections);
    });
    connect(answers, &Operator::databaseAway, q, [this](const Error &error) { databaseFailing(error); });
    connect(answers, &Operator::tablesMissing, q, [this](const QString &text) {
        log(LogLevel::Warning, text);
        Q_EMIT q->noted(text);
    });
    connect(answers, &Operator::left, q, [this] { leftBehind(); });
    connect(answers, &Operator::warned, q, [this](const QString &text) { log(LogLevel::Warning, text); });
    connect(answers, &Operator::possiblyMailedTwice, q, [this](const QString &eventId, const QString &messageId) {
        ++counters.possiblyTwice;
        Q_EMIT q->countersChanged(counters);
        log(LogLevel::Warning,
            u"A worker died while it handed over the mail of event %1 (message %2): possibly mailed twice"_s.arg(
                eventId, messageId),
            eventId);
    });
    connect(answers, &Operator::actFailed, q, [this](const QString &act, const QString &text) {
        log(LogLevel::Error, u"%1: %2"_s.arg(act, text));
        Q_EMIT q->actFailed(act, text);
    });
    connect(answers, &Operator::cleanUpDone, q, [this](const CleanUp &report) { logCleanUp(report); });
    connect(answers, &Operator::doubtsSettled, q, [this](const QList<DoubtOutcome> &outcomes) {
        for (const DoubtOutcome &outcome : outcomes) {
            using State = DoubtOutcome::State;
            const bool bad = outcome.state == State::Refused || outcome.state == State::Failed;
            log(bad ? LogLevel::Warning : LogLevel::Info, u"Event %1 in doubt: %2"_s.arg(outcome.eventId, outcome.text),
                outcome.eventId);
        }
        Q_EMIT q->doubtsSettled(outcomes);
    });
    connect(answers, &Operator::replayChanged, q, [this](const QList<ReplayItem> &items) {
        for (const ReplayItem &item : items)
            logReplay(item);
        Q_EMIT q->replayChanged(items);
    });
    connect(answers, &Operator::replayProgressed, q, [this](const ReplayProgress &progress) {
        if (progress.state == ReplayProgress::State::Halted && halted != progress.run)
            log(LogLevel::Warning, u"Replay %1 halted: %2"_s.arg(QString::number(progress.run), progress.text));
        halted = progress.state == ReplayProgress::State::Halted ? progress.run : 0;
        Q_EMIT q->replayProgressed(progress);
    });
    operations->start();
}

void Worker::Private::logCleanUp(const CleanUp &report)
{
    if (!report.warning.isEmpty())
        log(LogLevel::Warning, u"Clean-up: "_s + report.warning);
    if (report.rows > 0 || report.journalRows > 0) {
        log(LogLevel::Info,
            u"Forgot %1 events that were processed more than %2 days ago, and %3 rows of the journal"_s.arg(report.rows)
                .arg(report.keepDays)
                .arg(report.journalRows));
    }
    if (!report.error.isEmpty())
        log(LogLevel::Warning, u"The clean-up ended early: %1"_s.arg(report.error));
}

void Worker::Private::logReplay(const ReplayItem &item)
{
    LogLevel level = LogLevel::Info;
    switch (item.state) {
    case ReplayItem::State::Sending:
        return;
    case ReplayItem::State::Replayed: // its outcome has a line of its own
        level = LogLevel::Debug;
        break;
    case ReplayItem::State::CopyLeft:
    case ReplayItem::State::Failed:
    case ReplayItem::State::DeadAgain:
        level = LogLevel::Warning;
        break;
    case ReplayItem::State::Mailed:
    case ReplayItem::State::Skipped:
    case ReplayItem::State::Left:
    case ReplayItem::State::Deleted:
        break;
    }
    log(level, u"Dead letter %1 (event %2): %3"_s.arg(item.messageId, item.eventId, item.text), item.eventId);
}

void Worker::Private::startInquiry()
{
    inquiry = std::make_unique<QueueInquiry>(*client, config);
    connect(inquiry.get(), &QueueInquiry::known, q, [this](const QueueFacts &known) {
        triedKeys(std::nullopt);
        factsComplete(known);
    });
    connect(inquiry.get(), &QueueInquiry::keysRefused, q, [this](const Error &error) { keysRefused(error); });
    connect(inquiry.get(), &QueueInquiry::reachableAgain, q,
            [this] { log(LogLevel::Info, u"The queue is reachable again"_s); });
    connect(inquiry.get(), &QueueInquiry::denied, q, [this](const Error &error) {
        log(LogLevel::Warning,
            u"These credentials may not ask queue %1 for its attributes, so its depth and its dead letter queue are "
            u"not "
            "known, and a visibility timeout of 30 s is assumed; allow sqs:GetQueueAttributes: %2"_s.arg(
                config.queueUrl.toString(), error.text));
    });
    connect(inquiry.get(), &QueueInquiry::unreachable, q, [this](const Error &error, bool first) {
        triedKeys(error);
        setHealth(queueStatus, ServiceStatus::Health::Failing, error.text);
        if (first)
            log(LogLevel::Warning, u"The queue cannot be reached, trying again: %1"_s.arg(error.text));
    });
    connect(inquiry.get(), &QueueInquiry::refused, q, [this](const Error &error) {
        triedKeys(error);
        setHealth(queueStatus, ServiceStatus::Health::Failing, error.text);
        const QString text = u"queue %1: %2"_s.arg(config.queueUrl.toString(), error.text);
        log(LogLevel::Error, text);
        Q_EMIT q->openFailed({error.kind, text, error.code});
    });
    inquiry->ask();
}

void Worker::Private::factsComplete(const QueueFacts &known)
{
    facts = known;
    setHealth(queueStatus, ServiceStatus::Health::Ok);
    laneSettings.lockWait = config.lockTimeout > 0ms
        ? config.lockTimeout
        : std::chrono::duration_cast<std::chrono::milliseconds>(facts->visibility) * 8 / 10;
    operations->ask([known](Operator &each) { each.setQueues(known.queueUrl, known.dlqUrl, known.maxReceiveCount); });
    monitor->watch(facts->queueUrl, facts->dlqUrl, config.depthInterval);
    Q_EMIT q->queuesKnown({known.queueUrl.fileName(), known.dlqUrl.fileName(), known.maxReceiveCount});
    Q_EMIT q->opened();
    startWhenReady();
}

void Worker::Private::databaseOpened(int connections)
{
    databaseKnown = true;
    if (databaseFailed)
        log(LogLevel::Info, u"The database is reachable again"_s);
    databaseFailed = false;
    if (config.strategy == Strategy::Transaction && connections > 0 && connections < lanes) {
        log(LogLevel::Warning,
            u"The database has room for %1 more connections, so %1 lanes work instead of %2"_s.arg(connections)
                .arg(lanes));
        lanes = connections;
    }
    startWhenReady();
}

void Worker::Private::databaseFailing(const Error &error)
{
    setHealth(databaseStatus, ServiceStatus::Health::Failing, error.text);
    if (!std::exchange(databaseFailed, true))
        log(LogLevel::Warning, u"The database is away; nothing is received until it is back: %1"_s.arg(error.text));
}

/// Not before the database has been seen: a message that is received then would come to nothing.
void Worker::Private::startWhenReady()
{
    if (!startWanted || !facts || !databaseKnown || state != WorkerState::Starting)
        return;
    if (strategyAgreed)
        startConsumer();
    else
        operations->ask([](Operator &each) { each.agreeOnStrategy(); });
}

void Worker::Private::makeConsumer()
{
    consumer = std::make_unique<Consumer>(*client, *facts, laneSettings, lanes);
    connect(consumer.get(), &Consumer::stopped, q, [this] { consumerStopped(); });
    connect(consumer.get(), &Consumer::deliveryStarted, q, &Worker::deliveryStarted);
    connect(consumer.get(), &Consumer::delivered, q, [this](const DeliveryReport &report) { account(report); });
    connect(consumer.get(), &Consumer::deleted, q, &Worker::deleted);
    connect(consumer.get(), &Consumer::inHandChanged, q, &Worker::inHandChanged);
    connect(consumer.get(), &Consumer::warned, q, [this](const QString &text) { log(LogLevel::Warning, text); });
    connect(consumer.get(), &Consumer::crashed, q,
            [this](const DeliveryReport &report, FaultPoint at) { crashed(report, at); });
    connect(consumer.get(), &Consumer::databaseFailing, q, [this](const Error &error) { databaseFailing(error); });
    connect(consumer.get(), &Consumer::databaseWorking, q, [this] {
        setHealth(databaseStatus, ServiceStatus::Health::Ok);
        databaseFailed = false;
        log(LogLevel::Info, u"The database is reachable again"_s);
    });
    connect(consumer.get(), &Consumer::keysRefused, q, [this](const Error &error) { keysRefused(error); });
    connect(consumer.get(), &Consumer::triedKeys, q, [this](const std::optional<Error> &error) { triedKeys(error); });
    connect(consumer.get(), &Consumer::receiveFailing, q, [this](const Error &error) {
        log(LogLevel::Error, u"Receiving from the queue fails, trying again with growing pauses: %1"_s.arg(error.text));
        if (!keyPause.isPaused()) // else it was asked before the pause began
            setHealth(queueStatus, ServiceStatus::Health::Failing, error.text);
    });
    connect(consumer.get(), &Consumer::receiveWorking, q, [this] {
        log(LogLevel::Info, u"Receiving from the queue works again"_s);
        if (!keyPause.isPaused())
            setHealth(queueStatus, ServiceStatus::Health::Ok);
    });
    if (keyPause.isPaused())
        consumer->pause();
}

void Worker::Private::startConsumer()
{
    if (!consumer)
        makeConsumer();
    log(LogLevel::Info,
        u"Worker started: %1, %2"_s.arg(config.queueUrl.toString(),
                                        lanes == 1 ? u"1 lane"_s : u"%1 lanes"_s.arg(lanes)));
    setState(WorkerState::Running);
    requestsBefore = client->requestCounts();
    consumer->start();
    operations->ask([](Operator &each) { each.scheduleCleanUps(); });
}

void Worker::Private::consumerStopped()
{
    if (startWanted) { // started again while it stopped
        startConsumer();
        return;
    }
    QStringList requests;
    for (auto each = client->requestCounts().cbegin(); each != client->requestCounts().cend(); ++each) {
        if (const qint64 count = each.value() - requestsBefore.value(each.key()); count > 0)
            requests.append(u"%1 %2"_s.arg(each.key(), QString::number(count)));
    }
    log(LogLevel::Info,
        u"Worker stopped; requests to the queue: "_s + (requests.isEmpty() ? u"none"_s : requests.join(u", "_s)));
    setState(WorkerState::Stopped);
    if (closing) {
        // Not from here: the consumer is still telling us that it has stopped.
        QMetaObject::invokeMethod(
            q, [this] { finishClose(); }, Qt::QueuedConnection);
    }
}

bool Worker::Private::mayArm()
{
    if (config.readOnly)
        Q_EMIT q->actFailed(u"faults"_s, u"this profile is read-only: it looks, but does not act"_s);
    else if (!faults)
        Q_EMIT q->actFailed(u"faults"_s,
                            u"faults are armed where queue, database and mail are the embedded ones; this profile has "
                            "others"_s);
    return !config.readOnly && faults;
}

void Worker::Private::crashed(const DeliveryReport &report, FaultPoint at)
{
    log(LogLevel::Error,
        u"Lane %1 crashed at %2 (armed fault) with message %3 (event %4): %5"_s.arg(
            QString::number(report.lane), faultPointName(at), report.messageId,
            report.eventId.isEmpty() ? u"unreadable"_s : report.eventId,
            at == FaultPoint::WorkerDeleted ? u"it was settled, nothing is lost"_s
                                            : u"nothing is settled, the lane begins anew"_s),
        report.eventId);
    Q_EMIT q->crashed(report.lane, report.messageId, report.eventId, at);
    ask([](Operator &each) { each.collectHandover(); }); // what the dead delivery may have mailed
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
    if (!report.logLine.isEmpty()) // an outage is told once, not for each message
        log(levelOf(report), report.logLine, report.eventId);

    using Health = ServiceStatus::Health;
    if (report.outcome == Outcome::Sent || !report.mailReply.isEmpty())
        setHealth(mailStatus, Health::Ok); // it answers, even when it refuses
    else if (report.failedStage == Stage::Accepted
             && (report.outcome == Outcome::Failed || report.outcome == Outcome::InDoubt))
        setHealth(mailStatus, Health::Failing, report.reason);
    if (consumer && consumer->databaseAway()) {
        // databaseFailing() has said so
    } else if (report.stageUsec[size_t(Stage::Claimed)] >= 0)
        setHealth(databaseStatus, Health::Ok);
    else if (report.outcome == Outcome::Failed && report.failedStage == Stage::Claimed)
        setHealth(databaseStatus, Health::Failing, report.reason);

    Q_EMIT q->delivered(report);
    Q_EMIT q->countersChanged(counters);
}

void Worker::Private::finishClose()
{
    if (leaving)
        return;
    leaving = true;
    if (!operations) {
        leftBehind();
        return;
    }
    operations->leave();
}

/// Nothing is on its way any more that would have to be put right.
void Worker::Private::leftBehind()
{
    keyPause.end();
    monitor->stop();
    if (inquiry)
        inquiry->stop();
    consumer.reset();
    client->abortAll();
    operations.reset();
    faults.reset();
    Q_EMIT q->closed();
}

} // namespace sendonce
