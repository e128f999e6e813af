#pragma once

#include "worker/scenario/demonstrationworker.h"
#include "worker/scenario/matrixdesigns.h"
#include "worker/scenario/matrixhazards.h"
#include "worker/scenario/scenariotypes.h"
#include "worker/scenario/world.h"

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QStringList>

#include <memory>
#include <vector>

namespace sendonce {

/// What one cell is about.
struct MatrixOrder
{
    Design design;
    Hazard hazard;
    bool suppressing = false; ///< the receiving side drops copies
    bool byChance = false; ///< nobody is held to make the timing certain
    QString folder; ///< for its world and its evidence; what a former run has left there goes
};

/// Runs one cell once, in a world of its own: one event, one thing that goes wrong, and then as long as it takes until
/// nothing more can happen. Counts the e-mails in the world's Maildir, writes the evidence down and closes. Lives in
/// one thread with an event loop.
class MatrixCellRun : public QObject
{
    Q_OBJECT
public:
    explicit MatrixCellRun(MatrixOrder order, QObject *parent = nullptr);
    ~MatrixCellRun() override;

    void start();
    void stop(); ///< ends early, as not measured
    const MatrixOrder &order() const { return m_order; }
    const MatrixCell &cell() const { return m_cell; } ///< whole when finished()
    bool hasMissed() const { return m_hasMissed; } ///< what was to go wrong did not, so nothing was measured

Q_SIGNALS:
    void finished(); ///< once

private:
    void begin();
    void nextStep();
    void carryOut(const HazardStep &step);
    void stepEnded(const Result<void> &result);
    void armSuppression();
    void arm(const FaultRule &rule);
    void send();
    void sendDead();
    void startWorkers();
    void redrive();
    void awaitQuiet();
    void quiet();
    void measure();
    void fail(const QString &why);
    void end();
    void writeEvidence() const;

    void await(World::Condition condition, std::chrono::milliseconds time, const QString &otherwise);
    void inHand(int worker, int messages);
    bool isQuiet() const;
    bool hasStruck(FaultPoint where) const;
    QString notStruck() const;
    void note(int worker, const LogLine &line);

    const MatrixOrder m_order;
    const QList<HazardStep> m_steps;
    MatrixCell m_cell;
    QElapsedTimer m_time;
    QString m_eventId;
    std::unique_ptr<World> m_world;
    std::vector<std::unique_ptr<DemonstrationWorker>> m_demonstrations;
    std::vector<int> m_inHand; ///< of each worker
    bool m_wereAtOnce = false; ///< two workers had messages in hand
    bool m_hasMissed = false;
    int m_stopped = 0; ///< demonstrations
    qsizetype m_step = 0; ///< the next one
    QStringList m_log;
    bool m_ended = false;
};

/// In words, as a cell shows it: mark and text of what was measured.
void judge(MatrixCell &cell);

} // namespace sendonce
