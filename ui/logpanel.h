#pragma once

#include "ui/panel.h"
#include "worker/types.h"

class QComboBox;
class QPushButton;

namespace sendonce {

class LogFilter;
class LogModel;

/// The live log. Follows only while its end is in view; else a button says how many lines came.
class LogPanel : public Panel
{
    Q_OBJECT
public:
    explicit LogPanel(QWidget *parent = nullptr);

    SearchField *searchField() const override { return m_search; }
    RowTable *table() const override { return m_table; }
    LogModel *model() const { return m_model; }

    void append(const QList<sendonce::LogLine> &lines);
    bool isPaused() const;
    void setPaused(bool paused);
    /// Scrolls to the newest line that is about the event, whatever is paused or filtered out stays so.
    bool revealEvent(const QString &eventId) override;

Q_SIGNALS:
    void jumpRequested(const QString &eventId); ///< double click on a line that is about an event
    void pausedChanged(bool paused);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void pauseToggled(bool paused);
    bool atEnd() const;
    void add(const QList<LogLine> &lines);
    void toEnd();
    void updateNew();
    void updateWords();

    LogModel *m_model;
    LogFilter *m_filter;
    SearchField *m_search;
    QComboBox *m_level;
    QPushButton *m_pause;
    QPushButton *m_copy;
    RowTable *m_table;
    QPushButton *m_new;
    QList<LogLine> m_held; ///< while paused
    int m_unseen = 0;
};

} // namespace sendonce
