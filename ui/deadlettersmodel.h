#pragma once

#include "ui/lettercells.h"
#include "ui/letterfilter.h"
#include "ui/lettergroups.h"
#include "ui/stepwiseorder.h"
#include "worker/types.h"

#include <QAbstractTableModel>
#include <QHash>
#include <QSet>
#include <QTimer>

#include <optional>
#include <vector>

namespace sendonce {

/// The dead letters of the last browse, those of them that the filter shows in the chosen order, and what became of
/// those that were acted on. Made for a hundred thousand: what comes is put at the end, what changes stays where it is,
/// and filtering and sorting happen in steps between the window's other work.
class DeadLettersModel : public QAbstractTableModel, public LetterColumns
{
    Q_OBJECT
public:
    explicit DeadLettersModel(QObject *parent = nullptr);

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override; ///< -1: as they were seen

    /// While a browse runs, what it has seen is added to what was there; when it has finished, the list is what it saw.
    void setList(const sendonce::DeadLetterList &list);
    void setReplays(const QList<sendonce::ReplayItem> &items);
    /// Rows that were judged anew; those that are not here are left out. They stay where they are, filtered or not, so
    /// that a person sees what became of them.
    void update(const QList<sendonce::DeadLetter> &letters);
    /// Forgets the outcomes of letters that are no longer on their way; before a new browse.
    void forgetOutcomes();
    /// Marks them as on their way at once, before the worker answers, so that no second click can follow.
    void lock(const QStringList &messageIds);
    /// Nothing came of it: those that are still marked so, and by nobody else, are as before.
    void unlock(const QStringList &messageIds);
    void setFilter(const LetterFilter &filter);
    /// Letters whose body holds the filter's text, found where the bodies are.
    void setBodyMatches(const QStringList &messageIds);
    /// For the ages.
    void setNow(const QDateTime &now);

    const LetterFilter &filter() const { return m_filter; }
    const LetterGroups &groups() const { return m_groups; }
    qsizetype total() const { return qsizetype(m_letters.size()); } ///< shown or not
    bool isArranging() const { return m_order.has_value(); } ///< what is shown follows the filter in a moment
    const DeadLetter &letter(int row) const { return letterAt(m_shown.at(row)).letter; }
    const DeadLetter *letterOf(const QString &messageId) const; ///< shown or not; null: it is not here
    const ReplayItem *replayOf(const QString &messageId) const; ///< null: it was not acted on
    /// Not on its way, and not gone from the queue already. Cheap enough to be asked of all rows.
    bool canReplay(int row) const { return !m_locked[size_t(m_shown.at(row))]; }
    int rowOfEvent(const QString &eventId) const; ///< the first one shown; -1: none is
    QStringList shownIds() const; ///< MessageIds in the order shown
    QStringList groupIds(const LetterGroups::Group &group) const; ///< MessageIds, shown or not, that can be acted on

Q_SIGNALS:
    void arranged(); ///< what is shown is what the filter wants

private:
    struct Held
    {
        DeadLetter letter;
        LetterGroups::Membership groups;
        quint64 look = 0; ///< the last one that saw it
        int row = -1; ///< where it is shown
    };
    const Held &letterAt(int place) const { return m_letters[size_t(place)]; }
    void add(const QList<DeadLetter> &letters);
    void replace(int place, const DeadLetter &letter);
    void show(int from); ///< places from there on, at the end
    void dropUnseen();
    bool keeps(int place) const;
    bool before(int a, int b) const;
    void arrange();
    void arrangeMore();
    void changedRows(int first, int last);
    int lockedAsKnown(const QString &messageId);

    std::vector<Held> m_letters; ///< in the order they were first seen; an index is a place
    std::vector<char> m_locked; ///< by place; beside the letters, for all of it is looked at often
    QHash<QString, int> m_places; ///< by MessageId
    QList<int> m_shown; ///< row -> place
    QHash<QString, ReplayItem> m_replays; ///< by MessageId
    LetterGroups m_groups;
    LetterFilter m_filter;
    LetterGroups::Test m_groupTest;
    QSet<QString> m_bodyMatches;
    std::optional<StepwiseOrder> m_order;
    QTimer m_step;
    int m_sortColumn = -1;
    Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
    quint64 m_look = 0;
    quint64 m_browse = 0;
    bool m_looking = false;
    QDateTime m_now;
};

} // namespace sendonce
