#include "worker/scenario/scenario.h"

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

template <typename... Cases>
struct Overloaded : Cases...
{
    using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

constexpr auto StagePause = 400ms; ///< of each stage, for an audience

QString workers(int worker)
{
    return worker == 0 ? u"the workers"_s : u"worker %1"_s.arg(worker);
}

QString inWords(const SendStep &step)
{
    QString text = u"send "_s + step.events.join(u", "_s);
    if (step.copies > 1)
        text +=
            step.events.size() > 1 ? u", %1 messages of each"_s.arg(step.copies) : u", %1 messages"_s.arg(step.copies);
    if (step.body)
        text += u" with the body %1"_s.arg(step.body->isEmpty() ? u"“”"_s : step.body->left(60));
    else
        text +=
            u" about application %1: %2 -> %3"_s.arg(QString::number(step.application), step.oldStatus, step.newStatus);
    if (step.wrapping == SendStep::Wrapping::Sns)
        text += u", wrapped by SNS"_s;
    else if (step.wrapping == SendStep::Wrapping::EventBridge)
        text += u", wrapped by EventBridge"_s;
    if (step.delaySeconds > 0)
        text += u", delayed by %1 s"_s.arg(step.delaySeconds);
    return text;
}

QString inWords(const WaitStep &step)
{
    QStringList parts;
    for (const ScenarioCheck &check : step.until)
        parts.append(describe(check));
    return u"wait: "_s + parts.join(u"; "_s);
}

QString inWords(const ReplayStep &step)
{
    QString text = step.events.isEmpty() ? u"replay all dead letters"_s : u"replay "_s + step.events.join(u", "_s);
    if (step.canary)
        text += u", one first"_s;
    if (step.perSecond > 0)
        text += u", at most %1 a second"_s.arg(step.perSecond);
    if (!step.reason.isEmpty())
        text += u", because: "_s + step.reason;
    return text;
}

QString inWords(const BoardStep &step)
{
    const QString id = QString::number(step.id);
    switch (step.what) {
    case BoardStep::What::DeleteApplication:
        return u"application %1 is deleted"_s.arg(id);
    case BoardStep::What::DeleteUser:
        return u"user %1 is deleted, with all applications"_s.arg(id);
    case BoardStep::What::DeleteCompany:
        return u"company %1 is deleted, with its jobs and their applications"_s.arg(id);
    case BoardStep::What::ChangeUser:
        return u"user %1 gets the address “%2”"_s.arg(id, step.email);
    }
    return {};
}

/// What takes time in an act, `factor` times as long.
void slowDown(ScenarioAct &act, int factor)
{
    if (auto *arm = std::get_if<ArmStep>(&act)) {
        arm->rule.delay *= factor;
        arm->rule.window *= factor;
        arm->rule.lasts *= factor;
    }
}

} // namespace

QString describe(const ScenarioStep &step)
{
    return std::visit(Overloaded{[](const SendStep &act) { return inWords(act); },
                                 [](const ArmStep &act) { return u"arm "_s + describe(act.rule); },
                                 [](const DisarmStep &) { return u"disarm everything"_s; },
                                 [](const StartStep &act) { return u"start "_s + workers(act.worker); },
                                 [](const StopStep &act) { return u"stop "_s + workers(act.worker); },
                                 [](const WaitStep &act) { return inWords(act); },
                                 [](const BrowseStep &) { return u"look through the dead letters"_s; },
                                 [](const ReplayStep &act) { return inWords(act); },
                                 [](const BoardStep &act) { return inWords(act); },
                                 [](const CleanUpStep &act) {
                                     return act.afterDays > 0
                                         ? u"%1 days later old claims are cleaned up"_s.arg(act.afterDays)
                                         : u"old claims are cleaned up"_s;
                                 }},
                      step.act);
}

QStringList Scenario::labels() const
{
    QStringList labels;
    for (const ScenarioStep &step : steps) {
        if (const auto *send = std::get_if<SendStep>(&step.act))
            labels += send->events;
    }
    labels.removeDuplicates();
    return labels;
}

ScenarioInfo infoOf(const Scenario &scenario)
{
    ScenarioInfo info;
    info.name = scenario.name;
    info.title = scenario.title;
    info.explanation = scenario.explanation;
    for (const ScenarioStep &step : scenario.steps)
        info.steps.append(describe(step));
    for (const ScenarioCheck &check : scenario.expectations)
        info.expectations.append(describe(check));
    info.file = scenario.file;
    return info;
}

Scenario slowedDown(const Scenario &scenario, int factor)
{
    Scenario slow = scenario;
    slow.world.visibility *= factor;
    slow.world.mailTimeout *= factor;
    slow.world.mailFinalTimeout *= factor;
    slow.world.mailRate /= factor;
    for (ScenarioStep &step : slow.steps) {
        slowDown(step.act, factor);
        step.timeout *= factor;
    }
    return slow;
}

FaultRules slowStages(const Scenario &scenario)
{
    QList<FaultPoint> points = {FaultPoint::WorkerReceived, FaultPoint::WorkerClaimed,  FaultPoint::WorkerLookedUp,
                                FaultPoint::WorkerMidMail,  FaultPoint::WorkerAccepted, FaultPoint::WorkerCommitted};
    for (const ScenarioStep &step : scenario.steps) {
        if (const auto *arm = std::get_if<ArmStep>(&step.act))
            points.removeAll(arm->rule.where); // the oldest that strikes there would be ours
    }
    FaultRules rules;
    for (const FaultPoint point : std::as_const(points)) {
        FaultRule rule;
        rule.where = point;
        rule.what = FaultEffect::Slow;
        rule.delay = StagePause;
        rule.times = 0;
        rules.append(rule);
    }
    return rules;
}

} // namespace sendonce
