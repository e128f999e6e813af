#pragma once

#include "worker/types.h"

#include <QAbstractTableModel>
#include <QList>

namespace sendonce {

/// The lines of the last check of the services, in the order they came.
class CheckModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Level, Text, Remedy, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    void clear();
    void append(const CheckLine &line);
    const CheckLine &line(int row) const { return m_lines.at(row); }
    int count(CheckLine::Level level) const;
    int firstOf(CheckLine::Level level) const; ///< row; -1: there is none

private:
    QList<CheckLine> m_lines;
};

} // namespace sendonce
