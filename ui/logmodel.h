#pragma once

#include "worker/types.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include <deque>

namespace sendonce {

/// The last log lines, oldest first; never more than Bound, so that a worker can run for weeks.
class LogModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Time, Level, Text, ColumnCount };
    static constexpr int Bound = 20'000;

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    void append(const QList<sendonce::LogLine> &lines);
    const LogLine &line(int row) const { return m_lines.at(size_t(row)); }

private:
    std::deque<LogLine> m_lines;
};

/// Lines of at least a level whose text or event id contains a text, whatever its case.
class LogFilter : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

    void setMinimumLevel(LogLevel level);
    void setText(const QString &text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;

private:
    LogLevel m_level = LogLevel::Debug;
    QString m_text;
};

} // namespace sendonce
