#include "worker/scenario/world.h"

#include "worker/eventsender.h"
#include "worker/faults/faultsocket.h"
#include "worker/local/localservices.h"
#include "worker/queue/sqsclient.h"
#include "worker/scenario/worldfiles.h"
#include "worker/worker.h"

#include <QDeadlineTimer>
#include <QSet>
#include <QTimer>
#include <QUrl>
#include <QUuid>

#include <algorithm>
#include <utility>
#include <vector>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto Tick = 25ms; ///< between two looks at what tells nothing by itself: files, queues
constexpr auto LongestWrite = 10s; ///< that a change of the job board waits for the deliveries
constexpr int LargestBatch = 10; ///< messages of one request

/// As app/config resolves it for a folder's own embedded services.
Config configOf(const WorldSettings &settings, const LocalAddresses &local)
{
    Config config;
    config.profile = u"Scenario"_s;
    config.embedded = true;
    config.queueUrl = local.queueUrl();
    config.credentials = {u"test"_s, u"test"_s, {}};
    config.databaseUrl =
        u"sqlite:///"_s + QString::fromLatin1(QUrl::toPercentEncoding(settings.folder, "/")) + u"/sendonce.db"_s;
    config.mailUrl = local.mailUrl();
    config.strategy = settings.strategy;
    config.inDoubt = settings.inDoubt.value_or(settings.strategy == Strategy::ClaimSendMark ? DoubtPolicy::Hold
                                                                                            : DoubtPolicy::Resend);
    config.askMaildir = settings.folder + u"/mailbox"_s;
    config.mailTimeout = settings.mailTimeout;
    config.mailFinalTimeout = settings.mailFinalTimeout;
    config.mailRate = settings.mailRate;
    config.heartbeat = settings.heartbeat;
    config.keepDays = settings.keepDays;
    config.depthInterval = 24h; // the world looks beside the wire
    config.dataDir = settings.folder;
    config.controlSocket = local.controlSocket;
    config.eventTypesDir = settings.folder + u"/event-types"_s;
    config.crashEndsLane = true;
    return config;
}

bool announcesDoubles(const LogLine &line)
{
    return line.level == LogLevel::Warning
        && (line.text.contains("possibly mailed twice"_L1) || line.text.contains("may have been mailed"_L1));
}

QSet<int> idsOf(const FaultRules &rules)
{
    QSet<int> ids;
    for (const FaultRule &rule : rules)
        ids.insert(rule.id);
    return ids;
}

} // namespace

struct World::Private
{
    /// A worker, and what it has told of itself.
    struct Member
    {
        std::unique_ptr<Worker> worker;
        WorkerState state = WorkerState::Stopped;
        bool opened = false;
        bool looked = false; ///< its first sample of the queues and its probe for move tasks are answered
        bool probed = false;
        bool closed = false;
        std::optional<FaultRules> armed; ///< once heard
        int newestRule = 0; ///< id of the newest rule that it has ever heard of

        bool isReady() const { return opened && looked && probed && armed; }
    };
    struct Wait
    {
        Condition condition;
        QDeadlineTimer deadline;
        std::function<void(bool)> done;
    };

    Private(World *world, WorldSettings wanted) : q(world), settings(std::move(wanted)) { }

    Result<void> openServices();
    void openMember(int number);
    void told();
    void look();
    void keep(const FaultRules &rules);
    void armedOnTheBoard(const FaultRules &rules);
    bool everybodyKnows(int rule) const;
    bool nobodyIsArmed() const;
    void note(int worker, const LogLine &line);
    void all(int number, WorkerState state, void (Worker::*act)(), Done<void> done);
    void actedOnQueues();
    void sendRest(const SendRequest &request, int copies, SendReport sofar, Done<SendReport> done);
    void tryChange(const QList<BoardStatement> &statements, QDeadlineTimer deadline, Done<void> done);
    void end();

    World *const q;
    const WorldSettings settings;
    Config config;
    LocalServices services;
    WorldFiles files;
    std::unique_ptr<SqsClient> client;
    std::unique_ptr<FaultSocket> board;
    std::vector<Member> members;
    bool isOpen = false;
    bool isFailed = false;
    bool closing = false;

    QTimer tick;
    bool lookPending = false;
    std::vector<Wait> waits;

    std::vector<Done<int>> armings; ///< asked for, not yet on the board
    FaultRules armed;
    int newestRule = 0;
    QMap<int, FaultRule> everArmed; ///< by id, as last heard of
    QMap<int, QDeadlineTimer> ends; ///< of those that have a time
    bool disarming = false;

    WorldQueues queues{-1, -1};
    quint64 countsAsked = 0, countsAnswered = 0;
    quint64 countsFrom = 1; ///< older ones are from before the last act

    QList<DeliveryReport> deliveries;
    QList<WorldLogLine> log;
    QSet<QString> announced;
    QMap<QString, ReplayItem> replayed; ///< by MessageId of the letter
    int crashes = 0;
};

World::World(WorldSettings settings, QObject *parent)
    : QObject(parent)
    , d(std::make_unique<Private>(this, std::move(settings)))
{
    d->tick.setInterval(Tick);
    connect(&d->tick, &QTimer::timeout, this, [this] {
        ++d->countsAsked;
        d->services.count();
        d->look();
    });
    connect(&d->services, &LocalServices::counted, this, [this](int queue, int deadLetters) {
        if (++d->countsAnswered < d->countsFrom)
            return;
        const WorldQueues counted{queue, deadLetters};
        if (std::exchange(d->queues, counted) != counted)
            d->told();
    });
}

World::~World()
{
    d->end();
}

// ---- its life

Result<void> World::Private::openServices()
{
    if (const auto prepared = WorldFiles::prepare(settings.folder); !prepared)
        return prepared;
    LocalSettings local;
    local.dataDir = settings.folder;
    local.sqsPort = local.smtpPort = 0;
    local.visibilityTimeoutSeconds = int(settings.visibility.count());
    local.maxReceiveCount = settings.maxReceiveCount;
    const auto started = services.start(local);
    if (!started)
        return started.error();
    config = configOf(settings, started.value());
    return files.open(settings.folder);
}

void World::open()
{
    if (const auto ready = d->openServices(); !ready) {
        d->isFailed = true;
        QMetaObject::invokeMethod(
            this, [this, text = ready.error().text] { Q_EMIT failed(text); }, Qt::QueuedConnection);
        return;
    }
    SqsSettings sqs;
    sqs.endpoint = d->config.queueUrl.adjusted(QUrl::RemovePath);
    sqs.region = d->config.region;
    sqs.credentials = d->config.credentials;
    d->client = std::make_unique<SqsClient>(sqs);
    d->board = std::make_unique<FaultSocket>(d->config.controlSocket);
    connect(d->board.get(), &FaultSocket::armedChanged, this,
            [this](const FaultRules &rules) { d->armedOnTheBoard(rules); });
    connect(d->board.get(), &FaultSocket::failed, this, [this](const QString &text) {
        if (d->armings.empty())
            return;
        const auto done = std::move(d->armings.front());
        d->armings.erase(d->armings.begin());
        done(Error{ErrorKind::Refused, text, {}});
    });
    d->board->open();
    d->members.resize(size_t(std::max(0, d->settings.workers)));
    for (int number = 1; number <= workerCount(); ++number)
        d->openMember(number);
    const auto ready = [this] {
        return std::all_of(d->members.cbegin(), d->members.cend(), [](const auto &each) { return each.isReady(); });
    };
    await(ready, 30s, [this](bool isReady) {
        if (d->isFailed)
            return; // told
        if (!isReady) {
            d->isFailed = true;
            Q_EMIT failed(u"the workers did not open within 30 s"_s);
            return;
        }
        d->isOpen = true;
        Q_EMIT opened();
    });
}

void World::Private::openMember(int number)
{
    Member &member = members[size_t(number - 1)];
    member.worker = std::make_unique<Worker>(config);
    Worker *const worker = member.worker.get();
    const auto tell = [this, number](auto change) {
        return [this, number, change](auto &&...values) {
            change(members[size_t(number - 1)], std::forward<decltype(values)>(values)...);
            told();
        };
    };
    connect(worker, &Worker::opened, q, tell([](Member &each) { each.opened = true; }));
    connect(worker, &Worker::depthSampled, q, tell([](Member &each, const QueueDepth &) { each.looked = true; }));
    connect(worker, &Worker::moveTasksProbed, q,
            tell([](Member &each, const MoveTaskSupport &) { each.probed = true; }));
    connect(worker, &Worker::stateChanged, q, tell([](Member &each, WorkerState state) { each.state = state; }));
    connect(worker, &Worker::closed, q, tell([](Member &each) { each.closed = true; }));
    connect(worker, &Worker::armedChanged, q, tell([](Member &each, const FaultRules &rules) {
                each.armed = rules;
                for (const FaultRule &rule : rules)
                    each.newestRule = std::max(each.newestRule, rule.id);
            }));
    connect(worker, &Worker::crashed, q,
            tell([this](Member &, int, const QString &, const QString &, FaultPoint) { ++crashes; }));
    connect(worker, &Worker::deleted, q, tell([](Member &, const QStringList &) {}));
    connect(worker, &Worker::replayChanged, q, [this](const QList<ReplayItem> &items) {
        for (const ReplayItem &item : items)
            replayed.insert(item.messageId, item);
        told();
    });
    connect(worker, &Worker::delivered, q, [this](const DeliveryReport &report) {
        deliveries.append(report);
        if (report.outcome == Outcome::InDoubt || report.possiblyMailedTwice)
            announced.insert(report.eventId);
        Q_EMIT q->delivered(report);
        told();
    });
    connect(worker, &Worker::logged, q, [this, number](const LogLine &line) { note(number, line); });
    connect(worker, &Worker::openFailed, q, [this](const Error &error) {
        if (std::exchange(isFailed, true))
            return;
        Q_EMIT q->failed(error.text);
    });
    worker->open();
}

void World::close()
{
    if (d->closing)
        return;
    d->closing = true;
    for (const auto &member : d->members)
        member.worker->close();
    const auto closed = [this] {
        return std::all_of(d->members.cbegin(), d->members.cend(), [](const auto &each) { return each.closed; });
    };
    await(closed, 60s, [this](bool) {
        d->end();
        Q_EMIT this->closed();
    });
}

void World::Private::end()
{
    isOpen = false;
    tick.stop();
    waits.clear();
    armings.clear();
    for (Member &member : members) {
        if (member.worker)
            member.worker->disconnect(q);
        member.worker.reset();
    }
    board.reset();
    client.reset();
    services.stop();
}

bool World::isOpen() const
{
    return d->isOpen;
}

const WorldSettings &World::settings() const
{
    return d->settings;
}

const Config &World::config() const
{
    return d->config;
}

SqsClient &World::client()
{
    return *d->client;
}

int World::workerCount() const
{
    return int(d->members.size());
}

Worker *World::worker(int number) const
{
    return d->members[size_t(number - 1)].worker.get();
}

// ---- waiting

/// Something happened: the conditions are looked at, once for all that happens in one turn of the event loop.
void World::Private::told()
{
    if (std::exchange(lookPending, true))
        return;
    QMetaObject::invokeMethod(
        q,
        [this] {
            lookPending = false;
            look();
            Q_EMIT q->changed();
        },
        Qt::QueuedConnection);
}

void World::Private::look()
{
    for (size_t i = 0; i < waits.size();) {
        const bool holds = waits[i].condition();
        if (!holds && !waits[i].deadline.hasExpired()) {
            ++i;
            continue;
        }
        const auto done = std::move(waits[i].done);
        waits.erase(waits.begin() + qsizetype(i));
        done(holds); // may wait again, which comes behind; or close
        if (waits.size() < i)
            return;
    }
    if (waits.empty())
        tick.stop();
}

void World::await(Condition condition, std::chrono::milliseconds timeout, std::function<void(bool)> done)
{
    d->waits.push_back({std::move(condition), QDeadlineTimer(timeout), std::move(done)});
    if (!d->tick.isActive())
        d->tick.start();
    d->told();
}

// ---- acts

void World::Private::all(int number, WorkerState state, void (Worker::*act)(), Done<void> done)
{
    std::vector<size_t> which;
    for (size_t i = 0; i < members.size(); ++i) {
        if (number == 0 || number == int(i) + 1)
            which.push_back(i);
    }
    for (const size_t i : which)
        (members[i].worker.get()->*act)();
    const auto reached = [this, which, state] {
        return std::all_of(which.cbegin(), which.cend(), [&](size_t i) { return members[i].state == state; });
    };
    q->await(reached, 60s, [state, done = std::move(done)](bool isReached) {
        const QString verb = state == WorkerState::Running ? u"start"_s : u"stop"_s;
        done(isReached ? Result<void>()
                       : Error{ErrorKind::Unreachable, u"the worker did not %1 within 60 s"_s.arg(verb), {}});
    });
}

void World::start(int number, Done<void> done)
{
    d->all(number, WorkerState::Running, &Worker::start, std::move(done));
}

void World::stop(int number, Done<void> done)
{
    d->all(number, WorkerState::Stopped, &Worker::stop, std::move(done));
}

/// What was counted before counts no longer.
void World::Private::actedOnQueues()
{
    countsFrom = countsAsked + 1;
    queues = {-1, -1};
}

void World::send(const SendRequest &request, Done<SendReport> done)
{
    SendRequest each = request;
    if (each.eventId.isEmpty() && each.rawBody.isEmpty())
        each.eventId = QUuid::createUuid().toString(QUuid::WithoutBraces); // one for all copies
    SendReport report;
    report.request = request;
    d->sendRest(each, request.copies, report, std::move(done));
}

void World::Private::sendRest(const SendRequest &request, int copies, SendReport sofar, Done<SendReport> done)
{
    SendRequest batch = request;
    batch.copies = std::min(copies, LargestBatch);
    sendEvent(*client, config.queueUrl, batch, q,
              [this, request, copies, sofar, done = std::move(done)](const SendReport &report) {
                  SendReport sum = sofar;
                  sum.eventId = report.eventId;
                  sum.error = report.error;
                  sum.messageIds += report.messageIds;
                  actedOnQueues();
                  if (!report.error.isEmpty())
                      done(Error{ErrorKind::Unreachable, report.error, {}});
                  else if (copies > LargestBatch)
                      sendRest(request, copies - LargestBatch, sum, done);
                  else
                      done(sum);
              });
}

void World::arm(const FaultRule &rule, Done<int> done)
{
    d->armings.push_back(std::move(done));
    d->board->arm(rule);
}

/// What is gone before its time, and was not disarmed, is used up: then it struck as often as it could.
void World::Private::keep(const FaultRules &rules)
{
    const QSet<int> ids = idsOf(rules);
    for (const FaultRule &rule : std::as_const(armed)) {
        const bool isOver = !ids.contains(rule.id);
        const bool ranOut = rule.lasts > 0ms && ends.value(rule.id).remainingTime() < 100;
        if (isOver && !disarming && !ranOut)
            everArmed[rule.id].struck = rule.times;
    }
    for (const FaultRule &rule : rules) {
        if (!everArmed.contains(rule.id) && rule.lasts > 0ms)
            ends.insert(rule.id, QDeadlineTimer(rule.left));
        everArmed.insert(rule.id, rule);
    }
    armed = rules;
    disarming = disarming && !armed.isEmpty();
}

void World::Private::armedOnTheBoard(const FaultRules &rules)
{
    keep(rules);
    for (const FaultRule &rule : rules) {
        if (rule.id <= newestRule || armings.empty())
            continue;
        newestRule = rule.id;
        const auto done = std::move(armings.front());
        armings.erase(armings.begin());
        q->await(
            [this, id = rule.id] { return everybodyKnows(id); }, 10s,
            [id = rule.id, done](bool isKnown) {
                done(isKnown ? Result<int>(id)
                             : Error{ErrorKind::Unreachable, u"a worker has not heard of the fault within 10 s"_s, {}});
            });
    }
    told();
}

/// Also when it is over already: then a worker's list is the board's.
bool World::Private::everybodyKnows(int rule) const
{
    return std::all_of(members.cbegin(), members.cend(), [this, rule](const Member &each) {
        return each.newestRule >= rule || (each.armed && idsOf(*each.armed) == idsOf(armed));
    });
}

bool World::Private::nobodyIsArmed() const
{
    return armed.isEmpty() && std::all_of(members.cbegin(), members.cend(), [](const Member &each) {
               return each.armed && each.armed->isEmpty();
           });
}

void World::disarmAll(Done<void> done)
{
    d->disarming = !d->armed.isEmpty();
    d->board->disarmAll();
    await([this] { return d->nobodyIsArmed(); }, 10s,
          [done = std::move(done)](bool isOver) {
              done(isOver
                       ? Result<void>()
                       : Error{ErrorKind::Unreachable, u"faults were still armed 10 s after they were disarmed"_s, {}});
          });
}

void World::browse(Done<DeadLetterList> done)
{
    auto *const context = new QObject(this); // of this browse alone
    connect(
        worker(1), &Worker::deadLettersChanged, context, [context, done = std::move(done)](const DeadLetterList &list) {
            if (!list.finished)
                return;
            const auto tell = done; // the context takes it away
            delete context;
            tell(list.error.isEmpty() ? Result<DeadLetterList>(list) : Error{ErrorKind::Unreachable, list.error, {}});
        });
    worker(1)->browseDeadLetters();
}

void World::replay(const QStringList &eventIds, const ReplayOrder &how, Done<QList<ReplayItem>> done)
{
    browse([this, eventIds, how, done = std::move(done)](const Result<DeadLetterList> &list) {
        if (!list) {
            done(list.error());
            return;
        }
        ReplayOrder order = how;
        order.messageIds.clear();
        for (const DeadLetter &letter : list->letters) {
            if (!eventIds.isEmpty() && !eventIds.contains(letter.eventId))
                continue;
            order.messageIds.append(letter.message.messageId);
            d->replayed.remove(letter.message.messageId);
        }
        if (!order.messageIds.isEmpty())
            worker(1)->replay(order);
        const auto begun = [this, ids = order.messageIds] {
            return std::all_of(ids.cbegin(), ids.cend(), [this](const QString &id) {
                const auto item = d->replayed.constFind(id);
                return item != d->replayed.cend() && item->state != ReplayItem::State::Sending;
            });
        };
        await(begun, 60s, [this, ids = order.messageIds, done](bool hasBegun) {
            d->actedOnQueues();
            QList<ReplayItem> items;
            for (const QString &id : ids)
                items.append(d->replayed.value(id));
            if (hasBegun)
                done(items);
            else
                done(Error{ErrorKind::Unreachable, u"the replay did not get on within 60 s"_s, {}});
        });
    });
}

void World::cleanUp(Done<CleanUp> done)
{
    auto *const context = new QObject(this); // of this clean-up alone
    connect(worker(1), &Worker::cleanUpDone, context, [context, done = std::move(done)](const CleanUp &report) {
        if (report.scheduled)
            return;
        const auto tell = done; // the context takes it away
        delete context;
        tell(report.error.isEmpty() ? Result<CleanUp>(report) : Error{ErrorKind::Io, report.error, {}});
    });
    worker(1)->cleanUp();
}

void World::change(const QList<BoardStatement> &statements, Done<void> done)
{
    d->tryChange(statements, QDeadlineTimer(LongestWrite), std::move(done));
}

void World::Private::tryChange(const QList<BoardStatement> &statements, QDeadlineTimer deadline, Done<void> done)
{
    const auto changed = files.change(statements);
    const bool isBusy = !changed && changed.error().kind == ErrorKind::Busy && !deadline.hasExpired();
    QTimer::singleShot(isBusy ? Tick : 0ms, q, [this, statements, deadline, changed, isBusy, done = std::move(done)] {
        if (isBusy)
            tryChange(statements, deadline, done);
        else
            done(changed);
    });
}

// ---- what can be seen

void World::Private::note(int worker, const LogLine &line)
{
    log.append({worker, line});
    if (!line.eventId.isEmpty() && announcesDoubles(line))
        announced.insert(line.eventId);
    Q_EMIT q->logged(log.constLast());
    told();
}

const QList<MailRow> &World::mails() const
{
    return d->files.mails();
}

int World::mailsOf(const QString &eventId) const
{
    const QList<MailRow> &all = mails();
    return int(
        std::count_if(all.cbegin(), all.cend(), [&eventId](const MailRow &mail) { return mail.eventId == eventId; }));
}

int World::claimsOf(const QString &eventId) const
{
    return d->files.claims(eventId);
}

int World::claims() const
{
    return d->files.claims(std::nullopt);
}

WorldQueues World::queues() const
{
    return d->queues;
}

const QList<DeliveryReport> &World::deliveries() const
{
    return d->deliveries;
}

QList<Outcome> World::outcomesOf(const QString &eventId) const
{
    QList<Outcome> outcomes;
    for (const DeliveryReport &report : std::as_const(d->deliveries)) {
        if (report.eventId == eventId)
            outcomes.append(report.outcome);
    }
    return outcomes;
}

int World::crashes() const
{
    return d->crashes;
}

const QList<WorldLogLine> &World::log() const
{
    return d->log;
}

bool World::isAnnounced(const QString &eventId) const
{
    return d->announced.contains(eventId);
}

const FaultRules &World::armed() const
{
    return d->armed;
}

FaultRules World::everArmed() const
{
    return d->everArmed.values();
}

QList<ReplayItem> World::replayItems() const
{
    return d->replayed.values();
}

} // namespace sendonce
