#pragma once

#include "ui/theme.h"
#include "worker/types.h"

#include <QAbstractTableModel>
#include <QHash>

namespace sendonce {

/// The dead letters of the last browse, and what became of those that were replayed.
class DeadLettersModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Glyph, Event, Type, Application, Verdict, Reason, Received, Died, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    /// While a browse runs, what it has seen is added to what was there; when it has finished, the list is what it saw.
    void setList(const sendonce::DeadLetterList &list);
    void setReplay(const sendonce::ReplayItem &item);
    /// Rows that were judged anew; those that are not here are left out.
    void update(const QList<sendonce::DeadLetter> &letters);
    /// Forgets the outcomes of letters that are no longer on their way; before a new browse.
    void forgetOutcomes();
    /// Marks them as on their way at once, before the worker answers, so that no second click can follow.
    void lock(const QStringList &messageIds);
    /// For the ages in the column Died.
    void setNow(const QDateTime &now);

    const DeadLetter &letter(int row) const { return m_letters.at(row); }
    /// Not on its way, and not gone from the queue already.
    bool canReplay(int row) const;

private:
    QVariant glyphCell(const DeadLetter &letter, int role) const;
    QString verdictText(const DeadLetter &letter) const;
    Tone toneOf(const DeadLetter &letter) const;
    QString glyphOf(const DeadLetter &letter) const;

    QList<DeadLetter> m_letters;
    QHash<QString, ReplayItem> m_replays; ///< by message id
    QDateTime m_now;
};

} // namespace sendonce
