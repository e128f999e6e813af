#include "worker/scenario/scenariorunner.h"

#include "worker/events/event.h"
#include "worker/operate/mailboxindex.h"
#include "worker/scenario/scenariofile.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QUuid>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

using State = ScenarioLine::State;

constexpr int SlowFactor = 3; ///< for an audience
constexpr auto SlowPause = 1200ms; ///< between two steps, then
constexpr auto TellEvery = 50ms;
constexpr qsizetype ShownLogLines = 200;

QString levelName(LogLevel level)
{
    switch (level) {
    case LogLevel::Debug:
        return u"debug"_s;
    case LogLevel::Info:
        return u"info"_s;
    case LogLevel::Warning:
        return u"warning"_s;
    case LogLevel::Error:
        return u"error"_s;
    }
    return {};
}

QString verdictName(const DeadLetter &letter)
{
    if (letter.forgotten)
        return u"forgotten"_s;
    switch (letter.verdict) {
    case Verdict::NotHandled:
        return u"not-handled"_s;
    case Verdict::Handled:
        return u"handled"_s;
    case Verdict::InDoubt:
        return u"in-doubt"_s;
    case Verdict::Unknown:
        return u"unknown"_s;
    case Verdict::Invalid:
        return u"invalid"_s;
    }
    return {};
}

QString replayName(ReplayItem::State state)
{
    using Item = ReplayItem::State;
    switch (state) {
    case Item::Sending:
        return u"sending"_s;
    case Item::Replayed:
        return u"replayed"_s;
    case Item::CopyLeft:
        return u"copy-left"_s;
    case Item::Failed:
        return u"failed"_s;
    case Item::Mailed:
        return u"mailed"_s;
    case Item::Skipped:
        return u"skipped"_s;
    case Item::DeadAgain:
        return u"dead-again"_s;
    case Item::Left:
        return u"left"_s;
    case Item::Deleted:
        return u"deleted"_s;
    }
    return {};
}

/// As SNS delivers to a queue without raw delivery.
QByteArray inSns(const QByteArray &body)
{
    return QJsonDocument(QJsonObject{{u"Type"_s, u"Notification"_s},
                                     {u"MessageId"_s, QUuid::createUuid().toString(QUuid::WithoutBraces)},
                                     {u"TopicArn"_s, u"arn:aws:sns:us-east-1:000000000000:job-board"_s},
                                     {u"Message"_s, QString::fromUtf8(body)}})
        .toJson(QJsonDocument::Compact);
}

QByteArray inEventBridge(const QByteArray &body)
{
    return QJsonDocument(QJsonObject{{u"version"_s, u"0"_s},
                                     {u"id"_s, QUuid::createUuid().toString(QUuid::WithoutBraces)},
                                     {u"detail-type"_s, u"application.status_changed"_s},
                                     {u"source"_s, u"job-board"_s},
                                     {u"detail"_s, QJsonDocument::fromJson(body).object()}})
        .toJson(QJsonDocument::Compact);
}

/// What Django does: the rows that point there go too.
QList<BoardStatement> statementsOf(const BoardStep &step)
{
    const QVariantList id{step.id};
    switch (step.what) {
    case BoardStep::What::DeleteApplication:
        return {{u"DELETE FROM jobs_application WHERE id = ?"_s, id}};
    case BoardStep::What::DeleteUser:
        return {{u"DELETE FROM jobs_application WHERE candidate_id IN "
                 "(SELECT id FROM jobs_candidate WHERE user_id = ?)"_s,
                 id},
                {u"DELETE FROM jobs_candidate WHERE user_id = ?"_s, id},
                {u"DELETE FROM auth_user WHERE id = ?"_s, id}};
    case BoardStep::What::DeleteCompany:
        return {{u"DELETE FROM jobs_application WHERE job_id IN (SELECT id FROM jobs_job WHERE company_id = ?)"_s, id},
                {u"DELETE FROM jobs_job WHERE company_id = ?"_s, id},
                {u"DELETE FROM jobs_company WHERE id = ?"_s, id}};
    case BoardStep::What::ChangeUser:
        return {{u"UPDATE auth_user SET email = ? WHERE id = ?"_s, {step.email, step.id}}};
    }
    return {};
}

/// Everything that the claims say happened so much earlier, or later.
BoardStatement movedBy(const QString &table, const QString &column, int days, const QString &where)
{
    return {u"UPDATE %1 SET %2 = strftime('%Y-%m-%d %H:%M:%f', %2, ?) || '000' %3"_s.arg(table, column, where),
            {u"%1 days"_s.arg(days)}};
}

} // namespace

ScenarioRunner::ScenarioRunner(const Scenario &scenario, ScenarioRunSettings settings, QObject *parent)
    : QObject(parent)
    , m_scenario(settings.slowMotion ? slowedDown(scenario, SlowFactor) : scenario)
    , m_settings(std::move(settings))
{
    m_report.info = infoOf(m_scenario);
    ScenarioRun &run = m_report.run;
    run.id = m_settings.id;
    run.scenario = m_scenario.name;
    run.title = m_scenario.title;
    run.folder = m_settings.folder;
    for (const QString &step : std::as_const(m_report.info.steps))
        run.steps.append({step, State::Waiting, {}, -1});
    for (const QString &expectation : std::as_const(m_report.info.expectations))
        run.expectations.append({expectation, State::Waiting, {}, -1});
    for (const QString &label : m_scenario.labels())
        m_ids.insert(label, QUuid::createUuid().toString(QUuid::WithoutBraces));
    m_telling.setSingleShot(true);
    m_telling.setInterval(TellEvery);
    connect(&m_telling, &QTimer::timeout, this, [this] {
        ScenarioRun soFar = m_report.run;
        soFar.state = ScenarioRun::State::Running; // over it is once, with its evidence written
        Q_EMIT changed(soFar);
    });
    m_pause.setSingleShot(true);
    m_pause.setInterval(SlowPause);
    connect(&m_pause, &QTimer::timeout, this, &ScenarioRunner::nextStep);
}

ScenarioRunner::~ScenarioRunner() = default;

void ScenarioRunner::start()
{
    m_report.run.startedAt = QDateTime::currentDateTimeUtc();
    m_clock.start();
    WorldSettings world = m_scenario.world;
    world.folder = m_settings.folder;
    m_world = std::make_unique<World>(world);
    connect(m_world.get(), &World::opened, this, &ScenarioRunner::begin);
    connect(m_world.get(), &World::failed, this, &ScenarioRunner::giveUp);
    connect(m_world.get(), &World::closed, this, &ScenarioRunner::end);
    connect(m_world.get(), &World::logged, this, [this](const WorldLogLine &line) {
        if (line.line.level == LogLevel::Debug)
            return;
        m_report.log.append(labelled(logText(line.worker, line.line)));
        m_report.run.log = m_report.log.last(std::min(m_report.log.size(), ShownLogLines));
        tell();
    });
    Q_EMIT changed(m_report.run);
    m_world->open();
}

void ScenarioRunner::begin()
{
    const auto armed = [this](const Result<void> &sabotaged) {
        if (!sabotaged) {
            giveUp(sabotaged.error().text);
            return;
        }
        armSlowStages(m_settings.slowMotion ? slowStages(m_scenario) : FaultRules(), 0);
    };
    if (m_settings.sabotage.isEmpty())
        armed({});
    else
        m_world->change(m_settings.sabotage, armed);
}

void ScenarioRunner::armSlowStages(const FaultRules &rules, qsizetype next)
{
    if (next == rules.size()) {
        m_slowRules = int(rules.size());
        nextStep();
        return;
    }
    m_world->arm(rules[next], [this, rules, next](const Result<int> &id) {
        if (!id) {
            giveUp(id.error().text);
            return;
        }
        m_newestSlowRule = id.value();
        armSlowStages(rules, next + 1);
    });
}

void ScenarioRunner::nextStep()
{
    if (m_ending)
        return;
    if (++m_step == m_scenario.steps.size()) {
        judgeAll();
        return;
    }
    m_report.run.steps[m_step].state = State::Running;
    m_stepClock.start();
    tell();
    std::visit([this](const auto &act) { carryOut(act); }, m_scenario.steps[m_step].act);
}

void ScenarioRunner::stepEnded(const Result<void> &result, const QString &seen)
{
    if (m_ending)
        return;
    ScenarioLine &line = m_report.run.steps[m_step];
    line.msec = m_stepClock.elapsed();
    line.state = result ? State::Done : State::Failed;
    line.seen = result ? seen : labelled(result.error().text);
    tell();
    if (!result)
        judgeAll(); // what there is instead is evidence
    else if (m_settings.slowMotion)
        m_pause.start();
    else
        nextStep();
}

void ScenarioRunner::stop()
{
    if (m_ending)
        return;
    m_ending = true;
    m_report.run.state = ScenarioRun::State::Stopped;
    m_pause.stop();
    close();
}

void ScenarioRunner::giveUp(const QString &error)
{
    if (m_ending)
        return;
    m_ending = true;
    m_report.run.state = ScenarioRun::State::Failed;
    m_report.run.error = error;
    close();
}

// ---- the steps

void ScenarioRunner::carryOut(const SendStep &step)
{
    sendNext(step, 0);
}

void ScenarioRunner::sendNext(const SendStep &step, qsizetype next)
{
    if (next == step.events.size()) {
        stepEnded({});
        return;
    }
    m_world->send(requestOf(step, step.events[next]), [this, step, next](const Result<SendReport> &report) {
        if (report)
            sendNext(step, next + 1);
        else
            stepEnded(report.error());
    });
}

SendRequest ScenarioRunner::requestOf(const SendStep &step, const QString &label) const
{
    SendRequest request;
    request.eventId = m_ids.value(label);
    request.applicationId = step.application;
    request.oldStatus = step.oldStatus;
    request.newStatus = step.newStatus;
    if (!step.type.isEmpty())
        request.type = step.type;
    request.copies = step.copies;
    request.delaySeconds = step.delaySeconds;
    if (step.body)
        request.rawBody = QString(*step.body).replace(u"{{event}}"_s, request.eventId).toUtf8();
    if (step.wrapping == SendStep::Wrapping::None)
        return request;
    if (request.rawBody.isEmpty())
        request.rawBody =
            composeStatusChanged(request.eventId, request.applicationId, request.oldStatus, request.newStatus);
    request.rawBody =
        step.wrapping == SendStep::Wrapping::Sns ? inSns(request.rawBody) : inEventBridge(request.rawBody);
    return request;
}

void ScenarioRunner::carryOut(const ArmStep &step)
{
    FaultRule rule = step.rule;
    rule.event = m_ids.value(rule.event, rule.event);
    m_world->arm(rule, [this](const Result<int> &id) { stepEnded(id ? Result<void>() : id.error()); });
}

void ScenarioRunner::carryOut(const DisarmStep &)
{
    m_slowRules = 0;
    m_world->disarmAll([this](const Result<void> &result) { stepEnded(result); });
}

void ScenarioRunner::carryOut(const StartStep &step)
{
    m_world->start(step.worker, [this](const Result<void> &result) { stepEnded(result); });
}

void ScenarioRunner::carryOut(const StopStep &step)
{
    m_world->stop(step.worker, [this](const Result<void> &result) { stepEnded(result); });
}

void ScenarioRunner::carryOut(const WaitStep &step)
{
    const std::chrono::milliseconds timeout = m_scenario.steps[m_step].timeout;
    const auto allHold = [this, step] {
        const ScenarioSight sight = look();
        return std::all_of(step.until.cbegin(), step.until.cend(), [&sight](const ScenarioCheck &check) {
            return judge(check, sight, CheckMode::AtLeast).holds;
        });
    };
    m_world->await(allHold, timeout, [this, step, timeout](bool holds) {
        QStringList seen;
        const ScenarioSight sight = look();
        for (const ScenarioCheck &check : step.until) {
            const CheckResult result = judge(check, sight, CheckMode::AtLeast);
            if (holds || !result.holds)
                seen.append(holds ? result.seen : u"%1 (wanted: %2)"_s.arg(result.seen, describe(check)));
        }
        if (holds)
            stepEnded({}, seen.join(u"; "_s));
        else
            stepEnded(
                Error{ErrorKind::Unreachable,
                      u"after %1 s: %2"_s.arg(QString::number(double(timeout.count()) / 1000), seen.join(u"; "_s)),
                      {}});
    });
}

void ScenarioRunner::carryOut(const BrowseStep &)
{
    m_world->browse([this](const Result<DeadLetterList> &list) {
        if (!list) {
            stepEnded(list.error());
            return;
        }
        m_verdicts.clear();
        for (const DeadLetter &letter : list->letters)
            m_verdicts.insert(m_ids.key(letter.eventId, letter.eventId), verdictName(letter));
        QStringList seen;
        for (auto each = m_verdicts.cbegin(); each != m_verdicts.cend(); ++each)
            seen.append(u"%1: %2"_s.arg(each.key(), each.value()));
        stepEnded({}, seen.join(u", "_s));
    });
}

void ScenarioRunner::carryOut(const ReplayStep &step)
{
    QStringList ids;
    for (const QString &label : step.events)
        ids.append(m_ids.value(label));
    ReplayOrder how;
    how.overrideReason = step.reason;
    how.canary = step.canary;
    how.perSecond = step.perSecond;
    m_world->replay(ids, how, [this](const Result<QList<ReplayItem>> &items) {
        if (!items) {
            stepEnded(items.error());
            return;
        }
        QStringList seen;
        for (const ReplayItem &item : items.value())
            seen.append(u"%1: %2"_s.arg(m_ids.key(item.eventId, item.eventId), item.text));
        stepEnded({}, seen.isEmpty() ? u"there are no dead letters"_s : seen.join(u"; "_s));
    });
}

void ScenarioRunner::carryOut(const BoardStep &step)
{
    m_world->change(statementsOf(step), [this](const Result<void> &result) { stepEnded(result); });
}

/// Nobody can move the clock, nor the times of messages in the queue: so the claims get older by those days, are
/// cleaned up, and what was forgotten is then as late as it was before. A message is thus older than what was forgotten
/// exactly if it was there when time began to pass.
void ScenarioRunner::carryOut(const CleanUpStep &step)
{
    const int days = step.afterDays;
    m_world->change(
        {movedBy(u"jobs_processedevent"_s, u"processed_at"_s, -days, {})}, [this, days](const Result<void> &aged) {
            if (!aged) {
                stepEnded(aged);
                return;
            }
            m_world->cleanUp([this, days](const Result<CleanUp> &report) {
                if (!report) {
                    stepEnded(report.error());
                    return;
                }
                const QString seen = u"forgot %1 claims"_s.arg(report->rows);
                m_world->change({movedBy(u"sendonce_meta"_s, u"value"_s, days, u"WHERE name = 'forgotten_before'"_s)},
                                [this, seen](const Result<void> &moved) { stepEnded(moved, seen); });
            });
        });
}

// ---- the end

/// Now, by labels.
ScenarioSight ScenarioRunner::look() const
{
    ScenarioSight sight;
    for (auto each = m_ids.cbegin(); each != m_ids.cend(); ++each) {
        sight.mails.insert(each.key(), m_world->mailsOf(each.value()));
        sight.claims.insert(each.key(), m_world->claimsOf(each.value()));
        if (m_world->isAnnounced(each.value()))
            sight.announced.insert(each.key());
    }
    for (const MailRow &mail : m_world->mails()) {
        const QString address = mail.to.section(u'<', -1).remove(u'>').trimmed();
        ++sight.recipients[address];
    }
    const WorldQueues queues = m_world->queues();
    sight.queue = queues.queue;
    sight.deadLetters = queues.deadLetters;
    for (const DeliveryReport &report : m_world->deliveries())
        sight.outcomes[m_ids.key(report.eventId, report.eventId)].append(outcomeName(report.outcome));
    for (const WorldLogLine &line : m_world->log())
        ++sight.levels[levelName(line.line.level)];
    sight.log = m_report.log;
    sight.verdicts = m_verdicts;
    for (const ReplayItem &item : m_world->replayItems())
        sight.replays.insert(m_ids.key(item.eventId, item.eventId), replayName(item.state));
    sight.crashes = m_world->crashes();
    for (const FaultRule &rule : m_world->everArmed()) {
        if (rule.struck == 0 && rule.oneIn == 1 && rule.id > m_newestSlowRule)
            sight.idleFaults.append(labelled(describe(rule)));
    }
    sight.armed = std::max(0, int(m_world->armed().size()) - m_slowRules);
    return sight;
}

/// What is in work is settled first, and the queues are counted after that: nothing changes any more.
void ScenarioRunner::judgeAll()
{
    m_world->stop(0, [this](const Result<void> &stopped) {
        if (!stopped) {
            giveUp(stopped.error().text);
            return;
        }
        m_world->await([this] { return m_world->queues().queue >= 0; }, 10s,
                       // The board tells of a strike a little later; whoever has not struck by then has not.
                       [this](bool) {
                           m_world->await([this] { return look().idleFaults.isEmpty(); }, 300ms,
                                          [this](bool) { compare(); });
                       });
    });
}

void ScenarioRunner::compare()
{
    if (m_ending)
        return;
    m_ending = true;
    m_sight = look();
    ScenarioRun &run = m_report.run;
    bool passed = std::none_of(run.steps.cbegin(), run.steps.cend(),
                               [](const ScenarioLine &step) { return step.state == State::Failed; });
    for (qsizetype i = 0; i < run.expectations.size(); ++i) {
        const ScenarioCheck &check = m_scenario.expectations[i];
        const CheckResult result = judge(check, m_sight, CheckMode::Exactly);
        run.expectations[i].state = result.holds ? State::Done : State::Failed;
        run.expectations[i].seen = result.seen;
        passed = passed && result.holds;
        run.isGuaranteeBroken = run.isGuaranteeBroken || (!result.holds && isAboutMails(check));
    }
    run.state = passed ? ScenarioRun::State::Passed : ScenarioRun::State::Failed;
    close();
}

void ScenarioRunner::close()
{
    m_world->close();
}

void ScenarioRunner::end()
{
    if (m_ended)
        return;
    m_ended = true;
    m_report.run.msec = m_clock.elapsed();
    m_telling.stop();
    MailboxIndex mailbox(m_settings.folder);
    mailbox.refresh();
    for (const MailRow &mail : m_world->mails()) {
        const MailDetail detail = mailbox.open(mail.id);
        m_report.mails.append(
            {m_ids.key(mail.eventId, mail.eventId), mail.to, mail.subject, mail.messageId, detail.text});
    }
    if (const auto written = writeEvidence(m_report, m_settings.folder); !written && m_report.run.error.isEmpty())
        m_report.run.error = written.error().text;
    Q_EMIT changed(m_report.run);
    Q_EMIT finished();
}

void ScenarioRunner::tell()
{
    if (!m_telling.isActive())
        m_telling.start();
}

/// With labels in place of event ids: for people.
QString ScenarioRunner::labelled(QString text) const
{
    for (auto each = m_ids.cbegin(); each != m_ids.cend(); ++each)
        text.replace(each.value(), each.key());
    return text;
}

} // namespace sendonce
