#pragma once

#include "worker/faults/fault.h"

#include <QAbstractTableModel>
#include <QDateTime>

namespace sendonce {

/// What is armed, the oldest first; of several that could strike that one does.
class FaultsModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Where, What, Often, ForWhom, Until, Struck, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    void setRules(const FaultRules &rules, const QDateTime &now);
    void setNow(const QDateTime &now); ///< counts down
    const FaultRules &rules() const { return m_rules; }

private:
    std::chrono::milliseconds left(int row) const;

    FaultRules m_rules;
    QDateTime m_toldAt, m_now;
};

} // namespace sendonce
