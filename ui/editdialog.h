#pragma once

#include "ui/actdialog.h"

class QRadioButton;

namespace sendonce {

class EventEditor;

/// Corrects the body of one dead letter and replays it: as the same event, which is refused where that was handled, or
/// as a new one.
class EditDialog : public ActDialog
{
    Q_OBJECT
public:
    EditDialog(const DeadLetter &letter, const EventRules &rules, QWidget *parent);

    const QString messageId() const { return m_letter.message.messageId; }
    void setRules(const EventRules &rules);
    void showLetter(const sendonce::DeadLetterDetail &detail); ///< its whole body; others are left out
    void update(const QList<sendonce::DeadLetter> &letters); ///< judged anew meanwhile

Q_SIGNALS:
    void ordered(const sendonce::EditOrder &order); ///< it stays until somebody closes it or shows a failure

private:
    void follow();
    void chooseKind(bool isNew);

    DeadLetter m_letter;
    EventEditor *m_editor;
    QRadioButton *m_same;
    QRadioButton *m_new;
    bool m_isLoaded = false;
};

} // namespace sendonce
