#pragma once

#include "worker/types.h"

#include <QAbstractTableModel>

namespace sendonce {

/// The audit, newest first, page by page.
class AuditModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { At, Who, Profile, Act, Ids, Text, Outcome, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    bool canFetchMore(const QModelIndex &parent) const override;
    void fetchMore(const QModelIndex &parent) override;

    void read(); ///< from the newest on
    void takePage(const sendonce::AuditPage &page);
    bool hasMore() const { return m_more; }
    const AuditEntry &entry(int row) const { return m_entries.at(row); }

Q_SIGNALS:
    void queried(qint64 beforeId, int limit);

private:
    QList<AuditEntry> m_entries;
    bool m_more = false;
    qint64 m_asked = -1; ///< before which id; -1: nothing is being read
};

} // namespace sendonce
