#pragma once

#include "worker/types.h"

#include <QAbstractTableModel>

namespace sendonce {

/// The e-mails the embedded mailbox got, newest first. More than one copy for an event stands out.
class MailboxModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    /// Copies are the proof: they are seen in a narrow panel as well.
    enum Column { To, Copies, Subject, Event, Received, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    void setRows(const QList<sendonce::MailRow> &rows);
    const MailRow &row(int index) const { return m_rows.at(index); }

private:
    QList<MailRow> m_rows;
};

} // namespace sendonce
