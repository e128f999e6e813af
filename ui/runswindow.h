#pragma once

#include "worker/types.h"

#include <QDialog>

class QPushButton;

namespace sendonce {

class PlainLabel;
class RowTable;
class RunItemsModel;
class RunsModel;

/// All replays that the journal knows, those of dead processes too, and the letters of the chosen one with what became
/// of each. Stands beside the window; hidden, not deleted, when it is closed.
class RunsWindow : public QDialog
{
    Q_OBJECT
public:
    explicit RunsWindow(QWidget *parent = nullptr);

    void setReadOnly(bool readOnly);
    void showRuns(const QList<sendonce::ReplayProgress> &runs);
    void showProgress(const sendonce::ReplayProgress &run);
    void showItems(const sendonce::ReplayItems &items);
    void updateItems(const QList<sendonce::ReplayItem> &items);

Q_SIGNALS:
    void itemsQueried(qint64 run);
    void pauseRequested(qint64 run);
    void resumeRequested(qint64 run);
    void cancelRequested(qint64 run);

private:
    const ReplayProgress *chosen() const;
    void showCurrent();
    void follow();

    RunsModel *m_runs;
    RunItemsModel *m_items;
    RowTable *m_table;
    RowTable *m_letters;
    PlainLabel *m_error;
    QPushButton *m_pause;
    QPushButton *m_resume;
    QPushButton *m_cancel;
    bool m_readOnly = false;
    qint64 m_shown = 0; ///< whose letters were asked for
};

} // namespace sendonce
