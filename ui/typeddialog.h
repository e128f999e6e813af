#pragma once

#include "ui/actdialog.h"

class QLineEdit;

namespace sendonce {

/// A question about something that cannot be undone: the thing itself has to be typed before it can be done.
class TypedDialog : public ActDialog
{
    Q_OBJECT
public:
    struct Question
    {
        QString title, words, yes;
        QString prompt; ///< what has to be typed, in words; empty: nothing has to be
        QString expected; ///< exactly this; empty: anything, but something
        bool asksReason = false; ///< a line beside it that must not be empty
        QString busy; ///< said after the click
    };
    TypedDialog(const Question &question, QWidget *parent);

Q_SIGNALS:
    void answered(const QString &typed, const QString &reason); ///< it stays for showReport()

private:
    void follow();

    const Question m_question;
    QLineEdit *m_typed;
    QLineEdit *m_reason;
};

} // namespace sendonce
