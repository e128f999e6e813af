#pragma once

#include "worker/types.h"

#include <QWidget>

class QPushButton;

namespace sendonce {

class PlainLabel;

/// One replay in a line over the table: what is done, left, failed and became of it, and pause, resume, cancel. Stays
/// until it is closed, which can be done when the replay is over.
class RunStrip : public QWidget
{
    Q_OBJECT
public:
    explicit RunStrip(QWidget *parent = nullptr);

    /// \param others replays beside it that are not over
    void show(const sendonce::ReplayProgress &run, int others);
    void setReadOnly(bool readOnly);
    qint64 run() const { return m_run.run; }

Q_SIGNALS:
    void pauseRequested(qint64 run);
    void resumeRequested(qint64 run);
    void cancelRequested(qint64 run);
    void allRequested(); ///< all replays, and the letters of each
    void closed(qint64 run);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    void follow();

    ReplayProgress m_run;
    int m_others = 0;
    bool m_readOnly = false;
    PlainLabel *m_name;
    PlainLabel *m_state;
    PlainLabel *m_counts;
    QPushButton *m_pause;
    QPushButton *m_resume;
    QPushButton *m_cancel;
    QPushButton *m_all;
    QPushButton *m_close;
};

} // namespace sendonce
