#pragma once

#include "worker/faults/fault.h"

#include <QJsonObject>
#include <QWidget>

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace sendonce {

class PlainLabel;

/// A fault of one's own: where, what, how often, for whom, for how long. Offers what that point accepts, and says while
/// it is filled in what is wrong, in the words with which the fault would be refused.
class FaultForm : public QWidget
{
    Q_OBJECT
public:
    explicit FaultForm(QWidget *parent = nullptr);

    /// As it stands there; Invalid, with the words.
    Result<FaultRule> rule() const;
    void show(const FaultRule &rule); ///< to change something about it
    void setOffered(bool offered); ///< false: nothing can be armed

Q_SIGNALS:
    void armWanted(const sendonce::FaultRule &rule);

protected:
    void keyPressEvent(QKeyEvent *event) override;

private:
    void fillPoints();
    void followPoint();
    void followEffect();
    void followOften();
    void check();
    void arm();
    QJsonObject typed() const;
    FaultPoint point() const;
    FaultEffect effect() const;

    QComboBox *m_where;
    PlainLabel *m_whereText;
    QComboBox *m_what;
    PlainLabel *m_whatText;
    QFormLayout *m_form; ///< of it; some effects need nothing
    QFormLayout *m_whom;
    QSpinBox *m_code;
    QLineEdit *m_text;
    QDoubleSpinBox *m_delay;
    QSpinBox *m_count;
    QDoubleSpinBox *m_window;
    QWidget *m_rate;
    QComboBox *m_often;
    QSpinBox *m_times;
    QSpinBox *m_oneIn;
    QSpinBox *m_seed;
    QLineEdit *m_event;
    QLineEdit *m_recipient;
    QLineEdit *m_type;
    QDoubleSpinBox *m_lasts;
    PlainLabel *m_problem;
    QPushButton *m_arm;
    bool m_offered = true;
};

} // namespace sendonce
