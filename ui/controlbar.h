#pragma once

#include "ui/theme.h"
#include "worker/faults/fault.h"
#include "worker/types.h"

#include <QDateTime>
#include <QToolBar>

class QPushButton;

namespace sendonce {

struct WindowActions;
class PlainLabel;
class ProfileBadge;

/// The bar at the top: which profile, start and stop, what the worker is doing, what is armed.
class ControlBar : public QToolBar
{
    Q_OBJECT
public:
    explicit ControlBar(const WindowActions &actions, QWidget *parent = nullptr);

    void showProfile(const QString &profile, Tone tone, const QString &strategy);
    void showState(sendonce::WorkerState state, int inHand);
    void showArmed(const sendonce::FaultRules &rules, const QDateTime &now);
    void setNow(const QDateTime &now); ///< counts down
    /// Words instead of the state while there is none.
    void showWords(const QString &words, Tone tone);

private:
    void followArmed();

    PlainLabel *m_profile;
    ProfileBadge *m_badge;
    PlainLabel *m_state;
    PlainLabel *m_strategy;
    QPushButton *m_armed;
    FaultRules m_rules;
    QDateTime m_toldAt, m_now;
};

} // namespace sendonce
