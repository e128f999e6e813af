#pragma once

#include "worker/types.h"

#include <QAbstractTableModel>
#include <QHash>

namespace sendonce {

/// The replays, newest first.
class RunsModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Glyph, Started, What, State, Done, Left, Failed, Outcome, By, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    void setRuns(const QList<sendonce::ReplayProgress> &runs);
    void setProgress(const sendonce::ReplayProgress &run); ///< of one that is listed, or a new one
    const ReplayProgress &run(int row) const { return m_runs.at(row); }
    int rowOf(qint64 run) const; ///< -1: not listed

private:
    QList<ReplayProgress> m_runs;
};

/// The letters of one replay, in their order.
class RunItemsModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Glyph, Event, MessageId, Outcome, Text, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    void setItems(const sendonce::ReplayItems &items);
    void update(const QList<sendonce::ReplayItem> &items); ///< those of the replay that is shown; others are left out
    qint64 run() const { return m_run; }

private:
    qint64 m_run = 0;
    QList<ReplayItem> m_items;
    QHash<QString, int> m_rows; ///< by message id
};

} // namespace sendonce
