#pragma once

#include "worker/faults/fault.h"
#include "worker/scenario/scenariocheck.h"
#include "worker/scenario/scenariotypes.h"
#include "worker/scenario/world.h"

#include <QList>
#include <QString>
#include <QStringList>

#include <chrono>
#include <optional>
#include <variant>

namespace sendonce {

// What a scenario does, step by step. Events go by their labels here; each run gives them fresh ids.

/// Messages into the queue.
struct SendStep
{
    enum class Wrapping { None, Sns, EventBridge };
    QStringList events; ///< labels: `copies` messages of each
    int copies = 1;
    QString type; ///< empty: application.status_changed
    qint64 application = 3;
    QString oldStatus = QStringLiteral("reviewing"), newStatus = QStringLiteral("interview");
    int delaySeconds = 0;
    Wrapping wrapping = Wrapping::None;
    std::optional<QString> body; ///< as it is, with {{event}} for the id of its event

    bool operator==(const SendStep &) const = default;
};
struct ArmStep
{
    FaultRule rule; ///< a label as `event` means that event
    bool operator==(const ArmStep &) const = default;
};
struct DisarmStep
{
    bool operator==(const DisarmStep &) const = default;
};
struct StartStep
{
    int worker = 0; ///< 1…n; 0: all
    bool operator==(const StartStep &) const = default;
};
struct StopStep
{
    int worker = 0; ///< 1…n; 0: all
    bool operator==(const StopStep &) const = default;
};
/// Until all of these hold, each at least: a list of outcomes may have got longer, of two e-mails there may be three.
struct WaitStep
{
    QList<ScenarioCheck> until;
    bool operator==(const WaitStep &) const = default;
};
/// Looks through the dead letters: their verdicts.
struct BrowseStep
{
    bool operator==(const BrowseStep &) const = default;
};
struct ReplayStep
{
    QStringList events; ///< labels; none: all dead letters
    QString reason; ///< replays forgotten ones too
    bool canary = false;
    double perSecond = 0;
    bool operator==(const ReplayStep &) const = default;
};
/// Somebody else changes the job board.
struct BoardStep
{
    enum class What { DeleteApplication, DeleteUser, DeleteCompany, ChangeUser };
    What what = What::DeleteApplication;
    qint64 id = 0;
    QString email; ///< of ChangeUser
    bool operator==(const BoardStep &) const = default;
};
/// So many days pass, then old claims are cleaned up by hand.
struct CleanUpStep
{
    int afterDays = 0;
    bool operator==(const CleanUpStep &) const = default;
};

using ScenarioAct = std::variant<SendStep, ArmStep, DisarmStep, StartStep, StopStep, WaitStep, BrowseStep, ReplayStep,
                                 BoardStep, CleanUpStep>;

struct ScenarioStep
{
    ScenarioAct act;
    std::chrono::milliseconds timeout{20'000}; ///< of a wait
    int line = 0; ///< of the file

    bool operator==(const ScenarioStep &) const = default;
};

/// A scenario as its file has it.
struct Scenario
{
    QString name;
    QString title;
    QStringList explanation;
    WorldSettings world; ///< without a folder
    QList<ScenarioStep> steps;
    QList<ScenarioCheck> expectations;
    QString file; ///< empty: of the catalogue

    QStringList labels() const; ///< of all events, in the order of their first step
    bool operator==(const Scenario &) const = default;
};

/// In words: "send A, 2 messages".
QString describe(const ScenarioStep &step);
ScenarioInfo infoOf(const Scenario &scenario);

/// The same, `factor` times as slow, with a pause at each stage of a delivery where no fault of its own strikes: for an
/// audience.
Scenario slowedDown(const Scenario &scenario, int factor);
/// What is armed for that, before the first step.
FaultRules slowStages(const Scenario &scenario);

} // namespace sendonce
