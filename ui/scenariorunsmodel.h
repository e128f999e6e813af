#pragma once

#include "worker/scenario/scenariotypes.h"

#include <QAbstractTableModel>

namespace sendonce {

/// The runs since the window was opened, newest first.
class ScenarioRunsModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { At, Title, Verdict, Time, ColumnCount };
    static constexpr int Bound = 500; ///< rows; older ones go

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    void takeRun(const ScenarioRun &run); ///< a new one, or a newer state of one
    const ScenarioRun &run(int row) const { return m_runs.at(row); }
    const ScenarioRun *newestOf(const QString &scenario) const; ///< null: it was not run
    const ScenarioRun *byId(qint64 id) const; ///< null: too long ago
    int rowOf(qint64 id) const; ///< -1: not there
    int count(ScenarioRun::State state) const;

private:
    QList<ScenarioRun> m_runs;
};

} // namespace sendonce
