#include "worker/scenario/matrixcellrun.h"

#include "worker/events/event.h"
#include "worker/queue/sqsclient.h"
#include "worker/scenario/matrixreport.h"
#include "worker/scenario/scenarioreport.h"
#include "worker/worker.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QTimer>
#include <QUrl>
#include <QUuid>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using Kind = HazardStep::Kind;

namespace {

constexpr auto StepBound = 30s;
constexpr auto CellBound = 90s; ///< a claim of claim-send-mark ends after 14 s, and then there are receives to come
constexpr auto AnnouncementBound = 3s; ///< what a dead lane left is told by another thread

WorldSettings settingsOf(const MatrixOrder &order)
{
    WorldSettings settings;
    settings.folder = order.folder;
    settings.visibility = order.hazard.visibility;
    settings.mailFinalTimeout = order.hazard.mailFinalTimeout;
    settings.strategy = order.design.strategy.value_or(Strategy::Transaction);
    settings.workers = order.design.isProduction() ? order.hazard.workers : 0;
    return settings;
}

QList<HazardStep> stepsOf(const MatrixOrder &order)
{
    QList<HazardStep> steps = order.hazard.steps;
    if (order.byChance) {
        steps.removeIf(
            [](const HazardStep &step) { return step.kind == Kind::Arm && step.rule.what == FaultEffect::Slow; });
    }
    return steps;
}

/// To the beginning of the next second, by the clock of SentTimestamp; a little more, for timers may be early.
std::chrono::milliseconds untilNextSecond()
{
    return std::chrono::milliseconds(1005 - QDateTime::currentMSecsSinceEpoch() % 1000);
}

} // namespace

void judge(MatrixCell &cell)
{
    using Mark = MatrixCell::Mark;
    cell.mark = cell.mails < 0 ? Mark::Unknown
        : cell.mails > 1       ? Mark::Warning
        : cell.mails == 0      ? (cell.held ? Mark::Calm : Mark::Alarm)
                               : Mark::Calm;
    if (cell.mails < 0)
        return;
    const QString count = cell.mails == 1 ? u"1 e-mail"_s : u"%1 e-mails"_s.arg(cell.mails);
    if (cell.held)
        cell.text = cell.mails == 0 ? u"none yet: held for a person"_s : count + u", held for a person"_s;
    else if (cell.mails == 0)
        cell.text = u"none: lost"_s;
    else if (cell.mails > 1)
        cell.text = count + (cell.announced > 0 ? u", announced"_s : u", unnoticed"_s);
    else
        cell.text = cell.announced > 0 ? u"1 e-mail, announced as possibly two"_s : count;
}

MatrixCellRun::MatrixCellRun(MatrixOrder order, QObject *parent)
    : QObject(parent)
    , m_order(std::move(order))
    , m_steps(stepsOf(m_order))
    , m_eventId(QUuid::createUuid().toString(QUuid::WithoutBraces))
{
    const MatrixPromise promise = promiseOf(m_order.design, m_order.hazard.about.id);
    m_cell.design = rowId(m_order.design, m_order.suppressing);
    m_cell.hazard = m_order.hazard.about.id;
    // Where a worker was to be held and is not, a design's promise is no single figure.
    if (m_steps.size() == m_order.hazard.steps.size())
        m_cell.expected = m_order.suppressing ? promise.different : promise.mails;
    m_cell.folder = m_order.folder;
    m_log = {u"%1: %2"_s.arg(m_order.design.title, m_order.hazard.about.title), m_order.hazard.about.explanation};
    if (m_order.suppressing)
        m_log.append(u"The receiving side drops copies: the same Message-ID and Date."_s);
}

MatrixCellRun::~MatrixCellRun()
{
    m_demonstrations.clear(); // they use the world's services
}

// ---- its course

void MatrixCellRun::start()
{
    m_time.start();
    QDir(m_order.folder).removeRecursively();
    m_world = std::make_unique<World>(settingsOf(m_order));
    connect(m_world.get(), &World::opened, this, &MatrixCellRun::begin);
    connect(m_world.get(), &World::failed, this, &MatrixCellRun::fail);
    connect(m_world.get(), &World::closed, this, &MatrixCellRun::end);
    connect(m_world.get(), &World::logged, this, [this](const WorldLogLine &each) { note(each.worker, each.line); });
    m_world->open();
}

void MatrixCellRun::begin()
{
    m_inHand.assign(size_t(m_order.hazard.workers), 0);
    for (int number = 1; number <= m_world->workerCount(); ++number) {
        connect(m_world->worker(number), &Worker::inHandChanged, this,
                [this, number](int messages) { inHand(number, messages); });
    }
    const auto keys = std::make_shared<ExpiringKeys>();
    for (int number = 1; !m_order.design.isProduction() && number <= m_order.hazard.workers; ++number) {
        auto worker = std::make_unique<DemonstrationWorker>(*m_world, m_order.design.demonstration, keys);
        connect(worker.get(), &DemonstrationWorker::logged, this,
                [this, number](const LogLine &line) { note(number, line); });
        connect(worker.get(), &DemonstrationWorker::inHandChanged, this,
                [this, number](int messages) { inHand(number, messages); });
        connect(worker.get(), &DemonstrationWorker::stopped, this, [this] { ++m_stopped; });
        m_demonstrations.push_back(std::move(worker));
    }
    if (m_order.suppressing)
        armSuppression();
    else
        nextStep();
}

void MatrixCellRun::nextStep()
{
    if (m_ended)
        return;
    if (m_step < m_steps.size())
        carryOut(m_steps[m_step++]);
    else
        awaitQuiet();
}

void MatrixCellRun::stepEnded(const Result<void> &result)
{
    if (result)
        nextStep();
    else
        fail(result.error().text);
}

void MatrixCellRun::carryOut(const HazardStep &step)
{
    switch (step.kind) {
    case Kind::Arm:
        arm(step.rule);
        break;
    case Kind::Send:
        send();
        break;
    case Kind::SendDead:
        sendDead();
        break;
    case Kind::NextSecond:
        QTimer::singleShot(untilNextSecond(), Qt::PreciseTimer, this, &MatrixCellRun::nextStep);
        break;
    case Kind::Start:
        startWorkers();
        break;
    case Kind::AwaitHandled:
        await([this] { return isQuiet(); }, StepBound, u"the first message was not handled"_s);
        break;
    case Kind::Redrive:
        redrive();
        break;
    }
}

// ---- its steps

void MatrixCellRun::armSuppression()
{
    FaultRule rule;
    rule.where = FaultPoint::MailStore;
    rule.what = FaultEffect::Suppress;
    rule.times = 0;
    arm(rule);
}

void MatrixCellRun::arm(const FaultRule &rule)
{
    m_world->arm(rule, [this](const Result<int> &id) { stepEnded(id ? Result<void>() : id.error()); });
}

void MatrixCellRun::send()
{
    SendRequest request;
    request.eventId = m_eventId;
    m_world->send(request, [this](const Result<SendReport> &sent) { stepEnded(sent ? Result<void>() : sent.error()); });
}

void MatrixCellRun::sendDead()
{
    const SendRequest usual;
    SendEntry entry;
    entry.id = u"0"_s;
    entry.body = composeStatusChanged(m_eventId, usual.applicationId, usual.oldStatus, usual.newStatus);
    m_world->client().sendBatch(m_world->config().queueUrl.resolved(QUrl(u"job-board-events-dlq"_s)), {entry}, this,
                                [this](const Result<QList<BatchEntryResult>> &sent) {
                                    if (!sent)
                                        fail(sent.error().text);
                                    else
                                        await([this] { return m_world->queues().deadLetters == 1; }, StepBound,
                                              u"no dead letter came"_s);
                                });
}

void MatrixCellRun::startWorkers()
{
    for (const auto &each : m_demonstrations)
        each->start();
    m_world->start(0, [this](const Result<void> &started) { stepEnded(started); });
}

void MatrixCellRun::redrive()
{
    MoveRequest request;
    request.sourceArn = u"arn:aws:sqs:us-east-1:000000000000:job-board-events-dlq"_s;
    request.destinationArn = u"arn:aws:sqs:us-east-1:000000000000:job-board-events"_s;
    m_world->client().startMessageMoveTask(
        m_world->config().queueUrl, request, this, [this](const Result<QString> &started) {
            if (!started)
                fail(started.error().text);
            else
                await([this] { return m_world->queues().deadLetters == 0; }, StepBound, u"nothing was moved back"_s);
        });
}

void MatrixCellRun::await(World::Condition condition, std::chrono::milliseconds time, const QString &otherwise)
{
    m_world->await(std::move(condition), time, [this, otherwise](bool holds) {
        if (holds)
            nextStep();
        else
            fail(otherwise);
    });
}

/// Told in the order in which it happens, however late that is heard.
void MatrixCellRun::inHand(int worker, int messages)
{
    m_inHand[size_t(worker - 1)] = messages;
    m_wereAtOnce =
        m_wereAtOnce || std::count_if(m_inHand.cbegin(), m_inHand.cend(), [](int each) { return each > 0; }) > 1;
}

/// All messages are handled or dead, and nobody has one in hand.
bool MatrixCellRun::isQuiet() const
{
    return m_world->queues().queue == 0
        && std::all_of(m_inHand.cbegin(), m_inHand.cend(), [](int messages) { return messages == 0; });
}

bool MatrixCellRun::hasStruck(FaultPoint where) const
{
    const FaultRules &armed = m_world->armed();
    return std::none_of(armed.cbegin(), armed.cend(),
                        [where](const FaultRule &each) { return each.where == where && each.times > 0; });
}

/// What was to go wrong and did not, in words; empty: it did.
QString MatrixCellRun::notStruck() const
{
    for (const HazardStep &step : m_steps) {
        const bool may = step.mayMiss || (step.rule.where == FaultPoint::DatabaseCommit && !m_order.design.commits);
        if (step.kind == Kind::Arm && !may && !hasStruck(step.rule.where))
            return u"it did not come about: "_s + describe(step.rule);
    }
    return {};
}

// ---- its end

void MatrixCellRun::awaitQuiet()
{
    m_world->await(
        [this] { return isQuiet(); }, CellBound,
        [this](bool isQuiet) {
            if (isQuiet)
                quiet();
            else
                fail(u"messages were still in the queue after %1 s"_s.arg(std::chrono::seconds(CellBound).count()));
        });
}

/// Nothing more can happen to the event: what is left is to hear of it.
void MatrixCellRun::quiet()
{
    if (m_order.hazard.atOnce && !m_order.byChance && !m_wereAtOnce) {
        m_hasMissed = true;
        fail(u"it did not come about: the two workers were not at it at the same time"_s);
        return;
    }
    const bool mayTell = m_order.design.isProduction() && m_world->mailsOf(m_eventId) > 1;
    for (const auto &each : m_demonstrations)
        each->stop();
    m_world->stop(0, [this, mayTell](const Result<void> &stopped) {
        if (!stopped) {
            fail(stopped.error().text);
            return;
        }
        m_world->await(
            [this, mayTell] {
                return m_stopped == int(m_demonstrations.size()) && (!mayTell || m_world->isAnnounced(m_eventId));
            },
            AnnouncementBound, [this](bool) { measure(); });
    });
}

void MatrixCellRun::measure()
{
    m_cell.mails = m_world->mailsOf(m_eventId);
    m_cell.announced = m_world->isAnnounced(m_eventId) ? 1 : 0;
    // The last word of all deliveries that came to one.
    for (const Outcome outcome : m_world->outcomesOf(m_eventId)) {
        if (outcome != Outcome::GivenBack)
            m_cell.held = outcome == Outcome::InDoubt && m_world->config().inDoubt == DoubtPolicy::Hold;
    }
    m_cell.runs = 1;
    m_cell.other = m_cell.mails == 1 ? 0 : 1;
    judge(m_cell);
    m_world->close();
}

void MatrixCellRun::stop()
{
    fail(u"stopped"_s);
}

void MatrixCellRun::fail(const QString &why)
{
    if (m_ended || !m_cell.text.isEmpty())
        return;
    m_cell.text = why;
    m_demonstrations.clear();
    m_world->close();
}

void MatrixCellRun::end()
{
    if (std::exchange(m_ended, true))
        return;
    m_demonstrations.clear();
    m_cell.seconds = double(m_time.elapsed()) / 1000;
    writeEvidence();
    Q_EMIT finished();
}

void MatrixCellRun::note(int worker, const LogLine &line)
{
    m_log.append(logText(worker, line));
}

/// Beside the journal and the mailbox of its world. A cell that cannot be written down was measured all the same.
void MatrixCellRun::writeEvidence() const
{
    const QDir folder(m_order.folder);
    for (const auto &[name, content] : {std::pair(u"log.txt"_s, (m_log.join(u'\n') + u'\n').toUtf8()),
                                        std::pair(u"cell.json"_s, QJsonDocument(toJson(m_cell)).toJson())}) {
        QFile file(folder.filePath(name));
        if (file.open(QIODevice::WriteOnly))
            file.write(content);
    }
}

} // namespace sendonce
