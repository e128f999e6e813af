#pragma once

#include "worker/scenario/scenariotypes.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <memory>

namespace sendonce {

/// The face of scenarios and guarantee matrix that ui and ctl talk to: slots in, signals of values out. Lives in a
/// thread with an event loop that nobody else needs; never blocks it for longer than opening a world. Each run has a
/// world of its own (embedded services, database, workers) in a folder below `workDir`, so nothing here touches the
/// services or the data of the window around it.
class Scenarios : public QObject
{
    Q_OBJECT
public:
    /// \param workDir evidence is kept there, one folder a run; made when it is missing (0700)
    /// \param userDir the user's own scenario files (*.json); may not exist
    Scenarios(const QString &workDir, const QString &userDir, QObject *parent = nullptr);
    ~Scenarios() override;

    /// So many runs at a time, from the next one on. 1: one after the other, as people can follow.
    void setAtOnce(int runs);

public Q_SLOTS:
    void list(); ///< listed()
    /// In their order; none named: all. runChanged() for each, then runsFinished(). Behind those that wait already.
    /// \param slowMotion a pause behind each step and each stage of a delivery, for an audience
    void run(const QStringList &names, bool slowMotion);
    void stop(); ///< the run under way ends as Stopped; those behind it are not begun
    /// Writes the runs of this process as one file; by its ending HTML, JUnit XML (.xml) or JSON lines (.json, .jsonl).
    void exportRuns(const QString &path);

    void queryMatrix(); ///< matrixKnown()
    /// Every cell `repeat` times: cellChanged() for each, matrixProgressed().
    void runMatrix(int repeat);
    void stopMatrix();
    void exportMatrix(const QString &path); ///< HTML or JSON lines

Q_SIGNALS:
    void listed(const sendonce::ScenarioList &list);
    void runChanged(const sendonce::ScenarioRun &run);
    void runsFinished();
    void matrixKnown(const sendonce::MatrixShape &shape);
    void cellChanged(const sendonce::MatrixCell &cell);
    void matrixProgressed(const sendonce::MatrixProgress &progress);
    void exported(const QString &path);
    void actFailed(const QString &act, const QString &text);

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace sendonce
