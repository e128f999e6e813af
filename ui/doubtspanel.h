#pragma once

#include "ui/panel.h"
#include "ui/theme.h"
#include "worker/types.h"

#include <optional>

class QPushButton;
class QSortFilterProxyModel;

namespace sendonce {

class Coalescer;
class DoubtsModel;
class FactList;
class InlineConfirm;
class PlainLabel;
class RowsAndDetails;
class StoryView;

/// Events in doubt: what is known of each, what policy and people did, and the three things a person can do about them,
/// each with a question before and its outcome beside the button and in the row.
class DoubtsPanel : public Panel
{
    Q_OBJECT
public:
    explicit DoubtsPanel(QWidget *parent = nullptr);

    SearchField *searchField() const override { return m_search; }
    RowTable *table() const override { return m_table; }
    DoubtsModel *model() const { return m_model; }

    void refresh() override; ///< reads them; while it is being read, once more behind it
    void noteDeliveries(const QList<sendonce::DeliveryReport> &reports); ///< reads soon when they change something
    void showList(const sendonce::DoubtList &list);
    void showOutcomes(const QList<sendonce::DoubtOutcome> &outcomes);
    void showActFailed(const QString &act); ///< "settle": the one under way will not be answered
    void showStory(const sendonce::EventStory &story);
    void setNow(const QDateTime &now);
    void setReady();
    void setReadOnly(bool readOnly); ///< the profile looks, but does not act
    void setUnavailable(const QString &text);

    void ask(DoubtAct act); ///< says what will happen to the chosen ones, and asks
    bool canSettle(DoubtAct act) const;

Q_SIGNALS:
    void queried(int limit);
    void settleRequested(const QStringList &eventIds, sendonce::DoubtAct act);
    void storyRequested(const QString &eventId);
    void waitingChanged(qint64 waiting); ///< events that somebody should decide about
    void canSettleChanged();

private:
    QWidget *makeDetails();
    void answered();
    QStringList chosen() const; ///< event ids of the chosen rows that can be decided
    void showCurrent();
    void updateActs();
    void updateWords();
    void say(const QString &text, Tone tone);

    DoubtsModel *m_model;
    QSortFilterProxyModel *m_filter;
    SearchField *m_search;
    QPushButton *m_over;
    PlainLabel *m_outcome;
    QPushButton *m_ask;
    QPushButton *m_again;
    QPushButton *m_arrived;
    InlineConfirm *m_confirm;
    RowTable *m_table;
    RowsAndDetails *m_rows;
    FactList *m_facts;
    StoryView *m_story;
    Coalescer *m_soon;

    std::optional<DoubtAct> m_question;
    QStringList m_questioned; ///< whom the question is about
    QString m_maildir;
    QString m_unavailable, m_error;
    qint64 m_waiting = 0;
    bool m_ready = false;
    bool m_readOnly = false;
    bool m_read = false; ///< at least once
    bool m_reading = false;
    bool m_readAgain = false;
};

} // namespace sendonce
