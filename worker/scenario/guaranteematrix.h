#pragma once

#include "worker/scenario/matrixcellrun.h"
#include "worker/scenario/scenariotypes.h"

#include <QElapsedTimer>
#include <QHash>
#include <QList>
#include <QMap>
#include <QObject>
#include <QString>
#include <QStringList>

#include <vector>

namespace sendonce {

/// The guarantee matrix: every design under every hazard, each cell measured by running it in a World of its own,
/// several at once. Makes its own services and can be pointed at nothing else. Lives in one thread with an event loop,
/// which it blocks for no longer than opening a world takes.
class GuaranteeMatrix : public QObject
{
    Q_OBJECT
public:
    static constexpr int WorldsAtOnce = 16; ///< a cell mostly waits: for visibility time-outs, and for leases

    struct Choice
    {
        QStringList designs; ///< ids of rows, or of designs for both rows; none: all
        QStringList hazards; ///< none: all
        int repeat = 1; ///< more: where the timing decides it is left to chance, and the cell shows rates
    };

    /// \param workDir evidence goes there, a folder for each design and in it for each hazard: of its last run
    explicit GuaranteeMatrix(const QString &workDir, QObject *parent = nullptr);
    ~GuaranteeMatrix() override;

    static MatrixShape shape();
    /// Why a choice cannot be run, with what is accepted: unknown ids, a repeat out of 1 to 10,000. Empty: it can.
    static QString problemOf(const Choice &choice);

    /// What could not be chosen by problemOf() is left out; while it runs already: nothing happens.
    void run(const Choice &choice);
    void stop(); ///< what runs is ended, the rest is not begun; then progressed(), finished
    bool isRunning() const { return m_progress.total > 0 && !m_progress.finished; }
    /// Those of the newest run that were measured, in the order of shape(): by row.
    QList<MatrixCell> cells() const;

Q_SIGNALS:
    void cellChanged(const sendonce::MatrixCell &cell);
    void progressed(const sendonce::MatrixProgress &progress); ///< after each run of a cell

private:
    QList<MatrixOrder> ordersOf(const Choice &choice) const;
    void fill();
    void fillSoon();
    void ended(MatrixCellRun *run);
    void count(const MatrixCell &measured);
    void tell();

    const QString m_workDir;
    QList<MatrixOrder> m_round; ///< each chosen cell once
    int m_roundsLeft = 0;
    QList<MatrixOrder> m_waiting; ///< of the rounds begun
    std::vector<MatrixCellRun *> m_running; ///< children
    struct Counted
    {
        MatrixCell cell;
        QMap<int, int> mails; ///< how often there were so many
    };
    QHash<QString, Counted> m_counted; ///< by row and hazard
    QHash<QString, int> m_missed; ///< how often in a row, by folder
    MatrixProgress m_progress;
    QElapsedTimer m_time;
};

/// A production design lost an e-mail, or doubled one without a word.
bool isGuaranteeBroken(const MatrixCell &cell);

} // namespace sendonce
