#pragma once

#include "ui/actdialog.h"
#include "worker/types.h"

class QCheckBox;
class QDoubleSpinBox;
class QLineEdit;
class QSpinBox;

namespace sendonce {

/// "41 will send, 6 will be skipped, 2 will fail again"; what nobody knows is named as such.
QString forecastWords(const ReplayForecast &forecast);

/// The confirmation of a replay: how many, with which verdicts, and how. Its set was frozen when it was made.
class ReplayDialog : public ActDialog
{
    Q_OBJECT
public:
    /// \param canary ticked at first
    ReplayDialog(const QList<DeadLetter> &letters, bool canary, QWidget *parent);

    /// Judged anew meanwhile; those that are not of the set are left out.
    void update(const QList<sendonce::DeadLetter> &letters);

Q_SIGNALS:
    void ordered(const sendonce::ReplayOrder &order);

private:
    void say();
    void order();

    QList<DeadLetter> m_letters; ///< the frozen set, in its order
    QCheckBox *m_canary;
    QCheckBox *m_stop;
    QSpinBox *m_failures;
    QCheckBox *m_limit;
    QDoubleSpinBox *m_perSecond;
    QLineEdit *m_reason;
};

} // namespace sendonce
