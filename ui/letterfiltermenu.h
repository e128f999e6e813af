#pragma once

#include "ui/letterfilter.h"
#include "ui/savedfilters.h"

#include <QMenu>

namespace sendonce {

/// What can be done with the filter of dead letters: show its groups, take it away, keep it under a name, choose or
/// delete one that was kept.
class LetterFilterMenu : public QMenu
{
    Q_OBJECT
public:
    explicit LetterFilterMenu(QWidget *parent = nullptr);

    void keepIn(QSettings *settings); ///< outlives it
    void setFilter(const LetterFilter &filter); ///< the one that is in force
    void setGroupsShown(bool shown);
    void save(const QString &name); ///< the one that is in force
    const SavedFilters &saved() const { return m_saved; }

Q_SIGNALS:
    void filterChosen(const sendonce::LetterFilter &filter);
    void saveWanted(); ///< under a name that somebody has to ask for
    void groupsToggled(bool shown);

private:
    void fill();

    SavedFilters m_saved;
    LetterFilter m_filter;
    QAction *m_groups;
    QAction *m_clear;
    QAction *m_save;
    QMenu *m_remove;
    QAction *m_savedEnd; ///< separator behind those that were kept
    QList<QAction *> m_choices;
};

} // namespace sendonce
