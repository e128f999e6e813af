#pragma once

#include "ui/panel.h"
#include "worker/types.h"

class QPushButton;
class QStackedWidget;

namespace sendonce {

class Coalescer;
class FactList;
class PlainLabel;
class ProcessedModel;
class StoryView;

/// Processed events: the table as the database has it, newest first, and the story of the chosen event.
class ProcessedPanel : public Panel
{
    Q_OBJECT
public:
    explicit ProcessedPanel(QWidget *parent = nullptr);

    SearchField *searchField() const override { return m_search; }
    RowTable *table() const override { return m_table; }
    void refresh() override;
    ProcessedModel *model() const { return m_model; }

    void showPage(const sendonce::ProcessedPage &page);
    void addDeliveries(const QList<sendonce::DeliveryReport> &reports);
    void showStory(const sendonce::EventStory &story);
    /// From when on questions are answered; the first time it is shown it asks.
    void setReady();
    /// The worker cannot work: why, and what to do.
    void setUnavailable(const QString &text);

Q_SIGNALS:
    void queried(const sendonce::ProcessedQuery &query);
    void duplicateRequested(const QString &eventId);
    void sendRequested(); ///< from the words of the empty table
    void storyRequested(const QString &eventId);
    void cleanUpRequested();

protected:
    void showEvent(QShowEvent *event) override;

private:
    QWidget *makeDetails();
    void showCurrent();
    void updateWords();

    ProcessedModel *m_model;
    SearchField *m_search;
    PlainLabel *m_count;
    RowTable *m_table;
    QStackedWidget *m_details;
    PlainLabel *m_hint;
    FactList *m_facts;
    StoryView *m_story;
    QPushButton *m_duplicate;
    QPushButton *m_copy;
    Coalescer *m_live;
    Coalescer *m_settle;
    bool m_ready = false;
    QString m_unavailable;
};

} // namespace sendonce
