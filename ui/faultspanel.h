#pragma once

#include "ui/panel.h"
#include "ui/theme.h"
#include "worker/faults/fault.h"

#include <QDateTime>

class QPushButton;

namespace sendonce {

class FaultForm;
class FaultsModel;
class PlainLabel;
class TextTabs;

/// What is armed to fail on purpose, and how to arm it: ready-made faults by one click, or one of one's own.
class FaultsPanel : public Panel
{
    Q_OBJECT
public:
    explicit FaultsPanel(QWidget *parent = nullptr);

    RowTable *table() const override { return m_table; }
    FaultsModel *model() const { return m_model; }

    void showArmed(const sendonce::FaultRules &rules, const QDateTime &now);
    void setNow(const QDateTime &now); ///< counts down
    void setReady(); ///< there is a worker to arm it for
    /// \param why nothing can be armed; empty: it can
    void setRefused(const QString &why);
    bool isActing() const { return m_acting; } ///< a click is not answered yet
    void showActFailed(const QString &text);

public Q_SLOTS:
    void disarmChosen();

Q_SIGNALS:
    void armRequested(const sendonce::FaultRule &rule);
    void disarmRequested(int id);
    void disarmAllRequested();

private:
    QWidget *makePresets();
    void arm(const FaultRule &rule);
    void beginAct(const QString &words, const QString &done);
    void say(const QString &text, Tone tone);
    void follow();

    FaultsModel *m_model;
    RowTable *m_table;
    PlainLabel *m_words;
    PlainLabel *m_outcome;
    QPushButton *m_disarm;
    QPushButton *m_disarmAll;
    TextTabs *m_ways; ///< to arm one
    FaultForm *m_form;
    QList<QPushButton *> m_presets;
    QString m_refusal;
    QString m_done; ///< what will be said once the act under way is answered
    bool m_ready = false;
    bool m_acting = false;
};

} // namespace sendonce
