#include "worker/consume/consumer.h"

#include "worker/mail/smtpreply.h"

#include <QRandomGenerator>
#include <QThread>

#include <algorithm>
#include <thread>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using Kind = ConsumerCommand::Kind;

namespace {

/// How long a message may be kept hidden; not at all under --no-heartbeat (spec.md, "Time-outs").
std::chrono::milliseconds heartbeatBound(const LaneSettings &settings)
{
    if (!settings.config.heartbeat)
        return 0ms;
    return settings.lockWait + settings.config.mailTimeout + settings.config.mailFinalTimeout + 5s;
}

constexpr int LanesAtFirst = 6;

using Moment = ConsumerMachine::Moment;

Moment now()
{
    return std::chrono::nanoseconds(Lane::nowNsec());
}

Moment mailTime(const DeliveryReport &report)
{
    const qint64 from = report.stageUsec[size_t(Stage::LookedUp)];
    const qint64 to = report.stageUsec[size_t(Stage::Accepted)];
    return std::chrono::microseconds(from >= 0 && to > from ? to - from : 0);
}

ConsumerMachine::Ended endOf(const DeliveryReport &report)
{
    using Ended = ConsumerMachine::Ended;
    if (report.outcome == Outcome::GivenBack && report.hideFor == 0s) // else it is this event alone that is busy
        return Ended::GivenBack;
    if (report.outcome == Outcome::Failed && asksForPatience(report.mailReply))
        return Ended::Throttled;
    return report.mailReply.isEmpty() ? Ended::NoMail : Ended::Mailed;
}

} // namespace

Consumer::Consumer(SqsClient &client, const QueueFacts &facts, const LaneSettings &laneSettings, int lanes,
                   QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_facts(facts)
    , m_machine(lanes, facts.visibility, {laneSettings.config.mailRate}, laneSettings.config.maxMessages, LanesAtFirst)
    , m_acknowledger(client, facts.queueUrl)
    , m_heartbeat(client, facts.queueUrl, facts.visibility, heartbeatBound(laneSettings))
    , m_faults(laneSettings.faults)
    , m_stopFlag(std::make_shared<std::atomic_bool>(false))
    , m_backlog(std::make_shared<Backlog>())
    , m_lanesOfThread(LaneThread::lanesOfOne(laneSettings))
{
    LaneSettings settings = laneSettings;
    settings.stop = m_stopFlag;
    settings.opening = std::make_shared<std::atomic_int>(0);
    settings.doubts = std::make_shared<DoubtJournal>(settings.config.dataDir, settings.config.databaseUrl);
    if (settings.config.strategy == Strategy::ClaimSendMark) {
        if (const auto url = DatabaseUrl::parse(settings.config.databaseUrl))
            settings.pool =
                DeliveryLedger::makePool(url.value(), settings.config.databaseConnections, settings.lockWait);
    }
    for (int first = 1; first <= lanes; first += m_lanesOfThread) {
        const int count = std::min(m_lanesOfThread, lanes - first + 1);
        auto thread = std::make_unique<LaneThread>(settings, m_backlog, first, count);
        connect(thread.get(), &LaneThread::reported, this, [this] { step([] { return ConsumerCommands(); }); });
        connect(thread.get(), &LaneThread::databaseBack, this, &Consumer::databaseBack);
        thread->start();
        m_threads.push_back(std::move(thread));
    }
    m_journalThread = new QThread(this);
    m_journalThread->setObjectName(u"journal"_s);
    m_journal = new JournalWriter(settings.config.dataDir, settings.config.databaseUrl);
    m_journal->moveToThread(m_journalThread);
    connect(m_journalThread, &QThread::finished, m_journal, &QObject::deleteLater);
    connect(m_journal, &JournalWriter::recorded, this, &Consumer::recorded);
    connect(m_journal, &JournalWriter::warned, this, &Consumer::warned);
    m_journalThread->start();
    m_backOff.setSingleShot(true);
    connect(&m_backOff, &QTimer::timeout, this, [this] { step([this] { return m_machine.timerFired(now()); }); });
    m_rateTimer.setSingleShot(true);
    m_rateTimer.setTimerType(Qt::PreciseTimer);
    connect(&m_rateTimer, &QTimer::timeout, this, [this] { step([this] { return m_machine.rateTimerFired(now()); }); });
    connect(&m_acknowledger, &Acknowledger::deleted, this, [this](const QStringList &messageIds) {
        crashAtDelete(messageIds);
        tellDeleted(messageIds);
    });
    connect(&m_acknowledger, &Acknowledger::failed, this, [this](const QStringList &messageIds, const QString &text) {
        for (const QString &messageId : messageIds)
            m_deleting.remove(messageId);
        Q_EMIT warned(
            (messageIds.size() == 1
                 ? u"Message %1 is handled but could not be deleted; it will come again and be skipped: %2"_s
                 : u"Messages %1 are handled but could not be deleted; they will come again and be skipped: %2"_s)
                .arg(messageIds.join(u", "_s), text));
    });
    connect(&m_acknowledger, &Acknowledger::keysRefused, this, &Consumer::refused);
    connect(&m_heartbeat, &Heartbeat::keysRefused, this, &Consumer::refused);
    connect(&m_acknowledger, &Acknowledger::becameIdle, this, &Consumer::finishStop);
    connect(&m_heartbeat, &Heartbeat::failed, this, [this](const QString &messageId, const QString &text) {
        Q_EMIT warned(u"The visibility of message %1 could not be extended; another worker may receive it: %2"_s.arg(
            messageId, text));
    });
}

Consumer::~Consumer()
{
    *m_stopFlag = true;
    m_backlog->withdraw();
    for (const auto &thread : m_threads)
        thread->end();
    m_threads.clear(); // waits
    m_journalThread->quit(); // writes the rest as it ends
    m_journalThread->wait();
}

void Consumer::start()
{
    *m_stopFlag = false;
    m_stopPending = false;
    m_databaseAway = false;
    step([this] { return m_machine.start(now()); });
    if (m_paused)
        m_acknowledger.hold();
    else
        m_acknowledger.release();
}

void Consumer::stop()
{
    *m_stopFlag = true;
    m_backOff.stop();
    m_acknowledger.giveUpHolding();
    QMetaObject::invokeMethod(m_journal, &JournalWriter::flush);
    step([this] { return m_machine.stop(); });
}

void Consumer::pause()
{
    m_paused = true;
    m_machine.pause();
    m_heartbeat.pause();
    if (m_machine.running()) // else stopping would wait for keys that may never come
        m_acknowledger.hold();
}

void Consumer::resume()
{
    m_paused = false;
    m_backOff.stop();
    m_heartbeat.resume();
    m_acknowledger.release();
    step([this] { return m_machine.resume(now()); });
}

bool Consumer::tryKeys()
{
    if (!m_machine.hasRoom())
        return false;
    m_trying = true;
    m_backOff.stop();
    step([this] { return m_machine.resume(now()); });
    return true;
}

void Consumer::refused(const Error &error)
{
    pause();
    Q_EMIT keysRefused(error);
}

void Consumer::databaseLost(int lane, const Error &error)
{
    if (m_databaseAway || !m_machine.running())
        return; // one lane waits for it in the name of all
    m_databaseAway = true;
    carryOut(m_machine.databaseLost());
    threadOf(lane).awaitDatabase(lane);
    Q_EMIT databaseFailing(error);
}

void Consumer::databaseBack()
{
    if (!m_databaseAway)
        return;
    m_databaseAway = false;
    Q_EMIT databaseWorking();
    step([this] { return m_machine.databaseBack(now()); });
}

void Consumer::carryOut(const ConsumerCommands &commands)
{
    QHash<LaneThread *, QList<LaneThread::Order>> orders;
    const auto giveOrders = [&orders] {
        const auto given = std::exchange(orders, {});
        for (auto each = given.cbegin(); each != given.cend(); ++each)
            each.key()->deliver(each.value());
        return !given.isEmpty();
    };
    for (const ConsumerCommand &command : commands) {
        const Message &message = command.message;
        switch (command.kind) {
        case Kind::Receive:
            // Signing and sending takes a while. A lane that was woken on this processor would wait for it as well.
            if (giveOrders())
                std::this_thread::yield();
            receive(command.count, command.longPoll);
            break;
        case Kind::AbortReceives:
            for (const auto &call : std::exchange(m_receives, {})) {
                if (call)
                    call->abort();
            }
            break;
        case Kind::Hold:
            m_heartbeat.hold(message.messageId, message.receiptHandle);
            break;
        case Kind::Dispatch:
            Q_EMIT deliveryStarted(command.lane, message.messageId, message.receiveCount());
            orders[&threadOf(command.lane)].append({command.lane, {message, command.receivedAt.count()}});
            break;
        case Kind::Taken:
            Q_EMIT deliveryStarted(command.lane, message.messageId, message.receiveCount());
            break;
        case Kind::NewerHandle:
            m_heartbeat.renew(message.messageId, message.receiptHandle);
            break;
        case Kind::GiveBack: {
            const QString held = m_heartbeat.release(message.messageId);
            giveBack(message.messageId, held.isEmpty() ? message.receiptHandle : held, 0s);
            break;
        }
        case Kind::Wait:
            m_backOff.start(command.wait);
            break;
        case Kind::WaitForRate:
            m_rateTimer.start(command.wait);
            break;
        case Kind::Stopped:
            m_stopPending = true;
            finishStop();
            break;
        }
    }
    giveOrders();
    Q_EMIT inHandChanged(m_machine.inHand());
}

void Consumer::receive(int count, bool longPoll)
{
    const bool tried = std::exchange(m_trying, false);
    ReceiveRequest request;
    request.queueUrl = m_facts.queueUrl;
    request.maxMessages = count;
    if (tried || !longPoll)
        request.wait = 0s; // the answer is wanted at once, with or without messages
    m_receives.removeIf([](const QPointer<SqsCall> &call) { return !call; });
    SqsCall *call = m_client.receive(
        request, this, [this, count, tried](const Result<QList<Message>> &result) { received(result, count, tried); });
    connect(call, &SqsCall::answering, this, [this] {
        if (const auto lane = m_machine.sleepingLane())
            threadOf(*lane).rouse();
    });
    m_receives.append(call);
}

void Consumer::received(const Result<QList<Message>> &result, int asked, bool tried)
{
    if (!result && SqsClient::refusesKeys(result.error(), true)) {
        step([this, asked] { return m_machine.receiveRefused(asked); });
        if (tried)
            Q_EMIT triedKeys(result.error());
        else if (!m_paused) // several receives may be under way
            refused(result.error());
        return;
    }
    if (tried && m_paused)
        m_machine.pause(); // until the answer to triedKeys() is resume()
    if (result) {
        if (m_machine.failures() > 0)
            Q_EMIT receiveWorking();
        step([&] { return m_machine.received(result.value(), asked, now()); });
    } else {
        if (result.error().kind != ErrorKind::Aborted && m_machine.failures() == 0)
            Q_EMIT receiveFailing(result.error());
        step([&] {
            return m_machine.receiveFailed(result.error(), asked, QRandomGenerator::global()->generateDouble(), now());
        });
    }
    if (tried)
        Q_EMIT triedKeys(result ? std::nullopt : std::optional(result.error()));
}

/// Each step of the machine is taken on what is true now: while it decides, no lane takes anything by itself.
void Consumer::step(const std::function<ConsumerCommands()> &step)
{
    catchUp();
    carryOut(step());
    QList<LaneOrder> items;
    for (ConsumerMachine::Waiting &each : m_machine.offerable(now()))
        items.append({std::move(each.message), each.receivedAt.count()});
    m_backlog->offer(std::move(items), m_machine.tellAt());
}

/// Tells the machine what lanes have done by themselves, then what they have ended with.
void Consumer::catchUp()
{
    const auto [reports, reservations] = m_backlog->withdraw();
    QList<DeliveryReport> deliveries;
    ConsumerCommands commands;
    for (const LaneReport &each : reports) {
        for (const QString &warning : each.warnings)
            Q_EMIT warned(warning);
        if (each.next.isEmpty())
            continue;
        settle(each.report);
        deliveries.append(each.report);
        commands.append(
            m_machine.wentOn(each.lane, endOf(each.report), each.next, Moment(each.endedNsec), mailTime(each.report)));
    }
    for (const Backlog::Reservation &each : reservations)
        m_machine.reserved(each.lane, each.messageId);
    if (reports.isEmpty())
        return;
    for (const LaneReport &each : reports) {
        if (each.databaseLost) // before any lane is given more to do
            databaseLost(each.lane, *each.databaseLost);
    }
    for (const LaneReport &each : reports) {
        if (!each.next.isEmpty())
            continue;
        commands += laneEnded(each);
        if (!each.crowdedOut && !each.crashed)
            deliveries.append(each.report);
    }
    commands += m_machine.caughtUp(now());
    m_journalling += int(deliveries.size());
    if (!deliveries.isEmpty())
        m_journal->record(deliveries);
    if (!m_machine.running()) { // nobody has to wait for the rest of a batch
        m_acknowledger.flush();
        QMetaObject::invokeMethod(m_journal, &JournalWriter::flush);
    }
    carryOut(commands);
}

ConsumerCommands Consumer::laneEnded(const LaneReport &report)
{
    using Ended = ConsumerMachine::Ended;
    if (report.crowdedOut)
        return m_machine.laneFree(report.lane, Ended::NoConnection, now());
    if (report.crashed) { // a dead process keeps nothing hidden and settles nothing
        m_heartbeat.release(report.report.messageId);
        const ConsumerCommands commands = m_machine.laneFree(report.lane, Ended::Crashed, now());
        Q_EMIT crashed(report.report, *report.crashed);
        return commands;
    }
    settle(report.report);
    return m_machine.laneFree(report.lane, endOf(report.report), now(), mailTime(report.report));
}

/// What is deleted is settled, whoever dies: there is nothing left to lose but this process.
void Consumer::crashAtDelete(const QStringList &messageIds)
{
    for (const QString &messageId : messageIds) {
        const DeliveryReport report = m_deleting.take(messageId);
        const auto fault = m_faults->ask(FaultPoint::WorkerDeleted, faultSubject(report));
        if (!fault)
            continue;
        m_faults->die();
        Q_EMIT crashed(report, FaultPoint::WorkerDeleted);
    }
}

void Consumer::settle(const DeliveryReport &report)
{
    const QString handle = m_heartbeat.release(report.messageId);
    m_untold.insert(report.messageId);
    switch (report.outcome) {
    case Outcome::Sent:
    case Outcome::Duplicate:
    case Outcome::Gone:
        m_deleting.insert(report.messageId, report);
        m_acknowledger.acknowledge(report.messageId, handle);
        break;
    case Outcome::GivenBack:
        giveBack(report.messageId, handle, report.hideFor);
        break;
    case Outcome::Failed: // left for the visibility timeout; after maxReceiveCount the queue moves it
    case Outcome::InDoubt:
        break;
    }
}

void Consumer::giveBack(const QString &messageId, const QString &receiptHandle, std::chrono::seconds hideFor)
{
    if (m_paused)
        return; // it would be refused; the message comes back after its visibility timeout
    ++m_givingBack;
    m_client.changeVisibilityBatch(
        m_facts.queueUrl, {{u"0"_s, receiptHandle, hideFor}}, this,
        [this, messageId](const Result<QList<BatchEntryResult>> &result) {
            const bool ok = result && !result->isEmpty() && result->first().ok;
            if (!ok) {
                Q_EMIT warned(u"Message %1 could not be made visible again; it comes back after its "
                              "visibility timeout: %2"_s.arg(messageId, result ? u"refused"_s : result.error().text));
            }
            --m_givingBack;
            finishStop();
        });
}

/// The queue may be quicker than the journal: what became of a message is told before its end.
void Consumer::tellDeleted(const QStringList &messageIds)
{
    QStringList ready;
    for (const QString &id : messageIds) {
        if (m_untold.contains(id))
            m_deletedEarly.insert(id);
        else
            ready.append(id);
    }
    if (!ready.isEmpty())
        Q_EMIT deleted(ready);
}

void Consumer::recorded(const QList<DeliveryReport> &reports)
{
    QStringList ready;
    for (const DeliveryReport &report : reports) {
        m_untold.remove(report.messageId);
        Q_EMIT delivered(report);
        if (m_deletedEarly.remove(report.messageId))
            ready.append(report.messageId);
    }
    if (!ready.isEmpty())
        Q_EMIT deleted(ready);
    m_journalling -= int(reports.size()); // not before: whoever hears of it may stop us
    finishStop();
}

void Consumer::finishStop()
{
    if (!m_stopPending || !m_acknowledger.idle() || m_givingBack > 0 || m_journalling > 0)
        return;
    m_stopPending = false;
    // Queued: who hears it deletes us, and a signal of ours or of the acknowledger may be under way.
    QMetaObject::invokeMethod(this, &Consumer::stopped, Qt::QueuedConnection);
}

} // namespace sendonce
