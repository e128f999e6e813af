#pragma once

#include "worker/scenario/scenariotypes.h"

#include <QAbstractTableModel>

namespace sendonce {

/// The steps of a scenario and what must have come of them, with a tick for each while it runs. Each of the two has a
/// heading row.
class ScenarioLinesModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Text, Seen, Time, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;

    /// Rows change where they are as long as their texts stay.
    void setLines(const QList<ScenarioLine> &steps, const QList<ScenarioLine> &expectations, bool ran);
    int runningRow() const; ///< -1: nothing is under way

private:
    bool isHeading(int row) const;
    const ScenarioLine &line(int row) const;

    QList<ScenarioLine> m_steps, m_expectations;
    bool m_ran = false; ///< else the ticks would say that nothing was done
};

} // namespace sendonce
