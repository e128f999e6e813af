#pragma once

#include "worker/scenario/scenariotypes.h"

#include <QAbstractTableModel>
#include <QHash>

namespace sendonce {

/// The catalogue, each scenario with its last run.
class ScenariosModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Title, Verdict, Time, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    void setScenarios(const QList<ScenarioInfo> &scenarios);
    void takeRun(const ScenarioRun &run); ///< of some scenario; the newest one stays
    const ScenarioInfo &scenario(int row) const { return m_scenarios.at(row); }
    int rowOf(const QString &name) const; ///< -1: not in the catalogue

private:
    QList<ScenarioInfo> m_scenarios;
    QHash<QString, ScenarioRun> m_lastRuns; ///< by the scenario's name
};

} // namespace sendonce
