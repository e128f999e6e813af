#pragma once

#include "ui/letteract.h"
#include "ui/letteractions.h"
#include "ui/letterfilter.h"
#include "ui/lettergroups.h"

#include <QListWidget>

#include <functional>
#include <optional>

namespace sendonce {

/// The groups of dead letters with their counts: a click on one shows only its letters, on another one adds that, again
/// takes it out. One list for verdicts, reasons and types; keys as in any list.
class LetterFacets : public QListWidget
{
    Q_OBJECT
public:
    explicit LetterFacets(QWidget *parent = nullptr);

    /// What there is, and which of it the filter names. Chosen groups stay, with no letters too.
    void show(const LetterGroups &groups, const LetterFilter &filter);
    using QListWidget::show;
    std::optional<LetterGroups::Group> currentGroup() const;
    void follow(const LetterActState &state) { m_actState = state; } ///< what is not possible is not offered
    /// \param count asked when a group's menu opens: how many of its letters are not under way
    void setActable(std::function<qsizetype(const LetterGroups::Group &)> count) { m_actable = std::move(count); }

    QSize sizeHint() const override;

Q_SIGNALS:
    void filterChosen(const sendonce::LetterFilter &filter); ///< its text is that of the last show()
    void actWanted(sendonce::LetterAct act); ///< on all letters of currentGroup()

protected:
    void contextMenuEvent(QContextMenuEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    struct Line
    {
        QString heading; ///< not empty: no group
        LetterGroups::Group group;
        bool note = false; ///< the heading is a note below a long list
    };
    void put(QListWidgetItem *item, const Line &line);
    void tell();

    QList<Line> m_lines; ///< as the items
    LetterFilter m_filter;
    LetterActState m_actState;
    std::function<qsizetype(const LetterGroups::Group &)> m_actable;
    bool m_filling = false;
};

} // namespace sendonce
