#pragma once

#include "worker/types.h"

#include <QAbstractTableModel>

namespace sendonce {

/// The copies of deleted letters, newest first.
class KeptModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { KeptAt, By, Event, MessageId, PutBack, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    void setLetters(const QList<sendonce::KeptLetter> &letters);
    const KeptLetter &letter(int row) const { return m_letters.at(row); }

private:
    QList<KeptLetter> m_letters;
};

} // namespace sendonce
