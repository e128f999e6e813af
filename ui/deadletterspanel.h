#pragma once

#include "ui/letteract.h"
#include "ui/panel.h"
#include "worker/types.h"

class QPushButton;
class QStackedWidget;

namespace sendonce {

class DeadLettersModel;
class InlineConfirm;
class LetterActions;
class PlainLabel;
class PlainTextView;
class RunStrip;
class StoryView;

/// Dead letters: looked at when asked to (it costs a receive each), with why they failed and what a replay would do;
/// what becomes of each act is in its row. It offers the acts and says which are wanted of which letters;
/// DeadLetterActs asks and has them done.
class DeadLettersPanel : public Panel
{
    Q_OBJECT
public:
    explicit DeadLettersPanel(QWidget *parent = nullptr);

    SearchField *searchField() const override { return m_search; }
    RowTable *table() const override { return m_table; }
    DeadLettersModel *model() const { return m_model; }
    bool revealEvent(const QString &eventId) override;

    void showDepth(qint64 deadLetters);
    void showList(const sendonce::DeadLetterList &list);
    void showReplays(const QList<sendonce::ReplayItem> &items);
    void showMoveTasks(const sendonce::MoveTaskSupport &support);
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
    QStringList chosenIds() const; ///< of the chosen letters that can be acted on, in the order on screen
    QStringList shownIds() const; ///< of all that the filter shows and that can be acted on, in the order on screen
    QList<DeadLetter> letters(const QStringList &messageIds) const; ///< as listed; those not listed are left out
    void lockLetters(const QStringList &messageIds); ///< on their way from now on
    void unlockLetters(const QStringList &messageIds); ///< nothing came of it

Q_SIGNALS:
    void browseRequested();
    void browseCancelled();
    void actWanted(sendonce::LetterAct act, const QStringList &messageIds);
    void storyRequested(const QString &eventId);
    void letterRequested(const QString &messageId); ///< its body is not in the list

private:
    QWidget *makeDetails();
    void startBrowse();
    void wanted(sendonce::LetterAct act);
    void showCurrent();
    void showBody();
    void updateActs();
    void updateProgress();
    void updateWords();

    DeadLettersModel *m_model;
    SearchField *m_search;
    PlainLabel *m_progress;
    QPushButton *m_browse;
    LetterActions *m_acts;
    InlineConfirm *m_confirm;
    RunStrip *m_runStrip;
    RowTable *m_table;
    PlainLabel *m_replayWay; ///< shown when it is worth a word
    QStackedWidget *m_details;
    PlainLabel *m_hint;
    PlainTextView *m_body;
    PlainLabel *m_message;
    QPushButton *m_raw;
    StoryView *m_story;

    bool m_readOnly = false;
    bool m_embedded = true;
    MoveTaskSupport m_moveTasks;
    DeadLetterList m_list; ///< without its letters
    qsizetype m_seen = 0;
    qint64 m_about = -1;
    QDateTime m_now;
    bool m_ready = false;
    bool m_browsing = false;
    bool m_browsed = false;
    QString m_unavailable;
    QString m_shownMessageId;
    Message m_whole; ///< the last one that came with its body
};

} // namespace sendonce
