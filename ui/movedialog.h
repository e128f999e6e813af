#pragma once

#include "ui/actdialog.h"

class QCheckBox;
class QProgressBar;
class QSpinBox;

namespace sendonce {

/// Everything in the dead letter queue back by a message move task of the endpoint's: what that cannot do, the speed,
/// how far it is, and cancelling. The task goes on when this is closed.
class MoveDialog : public ActDialog
{
    Q_OBJECT
public:
    /// \param about dead letters; -1: not known
    MoveDialog(const QString &queueName, qint64 about, QWidget *parent);

    void showProgress(const sendonce::MoveTaskProgress &progress);

Q_SIGNALS:
    void queried(); ///< how the newest task is doing
    void startWanted(int perSecond);
    void cancelWanted();

private:
    QCheckBox *m_limit;
    QSpinBox *m_perSecond;
    QProgressBar *m_bar;
    QPushButton *m_cancel;
    bool m_started = false; ///< from here, while it stood open
};

} // namespace sendonce
