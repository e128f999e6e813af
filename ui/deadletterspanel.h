#pragma once

#include "ui/letteract.h"
#include "ui/letterfilter.h"
#include "ui/lettergroups.h"
#include "ui/panel.h"
#include "worker/types.h"

#include <optional>

class QPushButton;
class QSettings;

namespace sendonce {

class Coalescer;
class DeadLettersModel;
class InlineConfirm;
class LetterActions;
class LetterDetails;
class LetterFacets;
class LetterFilterMenu;
class PlainLabel;
class RowsAndDetails;
class RunStrip;

/// Dead letters: looked at when asked to (it costs a receive each), with why they failed and what a replay would do;
/// searched, counted in groups and filtered by them; what becomes of each act is in its row. It offers the acts and
/// says which are wanted of which letters; DeadLetterActs asks and has them done.
class DeadLettersPanel : public Panel
{
    Q_OBJECT
public:
    explicit DeadLettersPanel(QWidget *parent = nullptr);

    SearchField *searchField() const override { return m_search; }
    RowTable *table() const override { return m_table; }
    DeadLettersModel *model() const { return m_model; }
    LetterFilterMenu *filterMenu() const { return m_filterMenu; }
    bool revealEvent(const QString &eventId) override;

    void keepStateIn(QSettings *settings); ///< saved filters, groups shown or not; outlives it
    void showDepth(qint64 deadLetters);
    void showList(const sendonce::DeadLetterList &list);
    void showReplays(const QList<sendonce::ReplayItem> &items);
    void showMoveTasks(const sendonce::MoveTaskSupport &support);
    void showMatches(const sendonce::DeadLetterMatches &matches);
    void updateLetters(const QList<sendonce::DeadLetter> &letters);
    void showLetter(const sendonce::DeadLetterDetail &detail);
    void showStory(const sendonce::EventStory &story);
    void setNow(const QDateTime &now);
    void setReady();
    void setUnavailable(const QString &text);

    void askToBrowse(); ///< states the cost and asks
    bool isBrowsing() const { return m_browsing; }

    LetterActions *acts() const { return m_acts; }
    RunStrip *runStrip() const { return m_runStrip; }
    void setRights(bool readOnly, bool embedded); ///< of the profile
    void setQueueNames(const sendonce::QueueNames &names); ///< a queue whose name is not known is not purged
    void setFilter(const LetterFilter &filter);
    QStringList chosenIds() const; ///< of the chosen letters that can be acted on, in the order on screen
    QStringList shownIds() const; ///< of all that the filter shows and that can be acted on, in the order on screen
    int chosenCount() const; ///< as chosenIds(), cheaper
    int shownCount() const; ///< as shownIds(), cheaper
    QList<DeadLetter> letters(const QStringList &messageIds) const; ///< as listed; those not listed are left out
    void lockLetters(const QStringList &messageIds); ///< on their way from now on
    void unlockLetters(const QStringList &messageIds); ///< nothing came of it

Q_SIGNALS:
    void browseRequested(bool yes); ///< \param yes also when the queue has a redrive policy of its own
    void browseCancelled();
    void actWanted(sendonce::LetterAct act, const QStringList &messageIds);
    void storyRequested(const QString &eventId);
    void letterRequested(const QString &messageId); ///< its body is not in the list
    void searchRequested(const QString &text, quint64 ticket); ///< in the bodies: showMatches()

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    enum class Question { None, Browse, TypedBrowse, FilterName };

    void connectParts();
    void startBrowse(bool yes);
    void answered();
    void wanted(sendonce::LetterAct act);
    void showCurrent();
    void searchBodies();
    void showGroups(bool shown);
    void updateGroups();
    void updateActs();
    void updateProgress();
    void updateWords();

    DeadLettersModel *m_model;
    SearchField *m_search;
    LetterFilterMenu *m_filterMenu;
    QPushButton *m_filter;
    PlainLabel *m_progress;
    QPushButton *m_browse;
    LetterActions *m_acts;
    InlineConfirm *m_confirm;
    RunStrip *m_runStrip;
    LetterFacets *m_groups;
    RowTable *m_table;
    LetterDetails *m_details;
    RowsAndDetails *m_rows;
    PlainLabel *m_replayWay; ///< shown when it is worth a word
    Coalescer *m_groupChanges;

    bool m_readOnly = false;
    bool m_embedded = true;
    std::optional<bool> m_hasQueue; ///< nothing: not known yet
    MoveTaskSupport m_moveTasks;
    Question m_question = Question::None;
    QSettings *m_settings = nullptr;
    DeadLetterList m_list; ///< without its letters
    qint64 m_seen = 0;
    qint64 m_about = -1;
    quint64 m_ticket = 0; ///< of the newest search in the bodies
    bool m_searching = false;
    bool m_groupsWanted = false;
    bool m_groupsChosen = false; ///< by a person; else they are shown where there is room
    QDateTime m_now;
    bool m_ready = false;
    bool m_browsing = false;
    bool m_browsed = false;
    QString m_unavailable;
};

} // namespace sendonce
