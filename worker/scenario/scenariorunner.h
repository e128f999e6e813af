#pragma once

#include "worker/scenario/scenario.h"
#include "worker/scenario/scenarioreport.h"
#include "worker/scenario/scenariotypes.h"
#include "worker/scenario/world.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <memory>

namespace sendonce {

struct ScenarioRunSettings
{
    qint64 id = 0; ///< of ScenarioRun
    QString folder; ///< for its world and its evidence; must not exist yet
    bool slowMotion = false; ///< for an audience
    QList<BoardStatement> sabotage; ///< run before the first step: to see expectations fail
};

/// Runs one scenario once, in a world of its own: opens it, goes from step to step, stops the workers, compares what is
/// there with what is expected, writes the evidence down and closes. Lives in one thread with an event loop.
class ScenarioRunner : public QObject
{
    Q_OBJECT
public:
    ScenarioRunner(const Scenario &scenario, ScenarioRunSettings settings, QObject *parent = nullptr);
    ~ScenarioRunner() override;

    void start();
    void stop(); ///< ends as Stopped, as soon as its workers have stopped
    const ScenarioRun &run() const { return m_report.run; }
    /// Whole when finished().
    const ScenarioReport &report() const { return m_report; }
    const ScenarioSight &sight() const { return m_sight; } ///< what the expectations were compared with

Q_SIGNALS:
    void changed(const sendonce::ScenarioRun &run); ///< at most 20 times a second, and at its end
    void finished(); ///< once

private:
    void begin();
    void armSlowStages(const FaultRules &rules, qsizetype next);
    void nextStep();
    void stepEnded(const Result<void> &result, const QString &seen = {});
    void carryOut(const SendStep &step);
    void carryOut(const ArmStep &step);
    void carryOut(const DisarmStep &step);
    void carryOut(const StartStep &step);
    void carryOut(const StopStep &step);
    void carryOut(const WaitStep &step);
    void carryOut(const BrowseStep &step);
    void carryOut(const ReplayStep &step);
    void carryOut(const BoardStep &step);
    void carryOut(const CleanUpStep &step);
    void sendNext(const SendStep &step, qsizetype next);
    SendRequest requestOf(const SendStep &step, const QString &label) const;
    ScenarioSight look() const;
    void judgeAll();
    void compare();
    void giveUp(const QString &error);
    void close();
    void end();
    void tell();
    QString labelled(QString text) const;

    const Scenario m_scenario; ///< as it is run: slowed down, when so wanted
    const ScenarioRunSettings m_settings;
    ScenarioReport m_report;
    ScenarioSight m_sight;
    QMap<QString, QString> m_ids; ///< event ids by label
    QMap<QString, QString> m_verdicts; ///< by label
    std::unique_ptr<World> m_world;
    qsizetype m_step = -1; ///< under way; -1: none yet
    bool m_ending = false;
    bool m_ended = false;
    QElapsedTimer m_clock, m_stepClock;
    QTimer m_telling;
    QTimer m_pause;
    int m_slowRules = 0; ///< armed for the audience, not by a step
    int m_newestSlowRule = 0; ///< its id
};

} // namespace sendonce
