#pragma once

#include "ui/theme.h"
#include "worker/types.h"

#include <QAbstractTableModel>
#include <QHash>
#include <QSet>

namespace sendonce {

/// The events in doubt, newest first, and what became of those that somebody decided about.
class DoubtsModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Glyph, Event, Application, Since, Known, Done, MailId, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    void setList(const sendonce::DoubtList &list);
    /// Also those that are over and were not decided here.
    void setShowOver(bool show);
    void setOutcomes(const QList<sendonce::DoubtOutcome> &outcomes);
    /// Marks them as being decided at once, before the worker answers, so that no second click can follow.
    void lock(const QStringList &eventIds);
    void unlock(); ///< none of them will be answered
    /// For the ages in the column Since.
    void setNow(const QDateTime &now);

    const Doubt &doubt(int row) const { return m_shown.at(row); }
    bool canSettle(int row) const; ///< not over, and not being decided
    int overCount() const; ///< in the list, shown or not

private:
    QVariant glyphCell(const Doubt &doubt, int role) const;
    QString doneText(const Doubt &doubt) const;
    Tone toneOf(const Doubt &doubt) const;
    QString glyphOf(const Doubt &doubt) const;
    void follow();
    void changed(const QString &eventId);

    QList<Doubt> m_all; ///< newest first
    QList<Doubt> m_shown;
    QHash<QString, DoubtOutcome> m_outcomes; ///< by event id
    QSet<QString> m_locked;
    QDateTime m_now;
    bool m_showOver = false;
};

} // namespace sendonce
