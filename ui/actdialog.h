#pragma once

#include "ui/theme.h"
#include "worker/types.h"

#include <QDialog>

class QHBoxLayout;
class QPushButton;
class QVBoxLayout;

namespace sendonce {

class PlainLabel;
class PlainTextView;

/// What the dialogs of acts have in common: a heading, words, a place for fields, a line that says what is wrong or
/// what came of it, and two buttons, one of them filled. Deletes itself when it is closed. Shown by show() where a
/// person wants to look at the table meanwhile, else by open(); never by exec().
class ActDialog : public QDialog
{
    Q_OBJECT
public:
    QString words() const;
    QString note() const;
    /// What became of it, with a line for each failure; after it there is only closing.
    void showReport(const sendonce::ActReport &report);
    /// Nothing came of it, and it can be tried again.
    void showFailure(const QString &text);

protected:
    ActDialog(const QString &title, const QString &yes, QWidget *parent);

    void setHeading(const QString &text);
    void setWords(const QString &text); ///< line ends stay
    void setNote(const QString &text, Tone tone);
    QVBoxLayout *fields() const { return m_fields; }
    QPushButton *yesButton() const { return m_yes; }
    QPushButton *noButton() const { return m_no; }
    /// Beside the two buttons, at the left.
    QPushButton *addButton(const QString &text);
    /// Enabled when `why` is empty; else that is its tool tip.
    void setPossible(const QString &why);
    /// Until showReport() or showFailure(): nothing can be pressed twice.
    void setBusy(const QString &text);
    bool isBusy() const { return m_isBusy; }

    void showEvent(QShowEvent *event) override;

Q_SIGNALS:
    void confirmed(); ///< the filled button; the dialog stays until somebody closes it

private:
    void fit(); ///< as high as its content, unless somebody made it higher

    PlainLabel *m_heading;
    PlainLabel *m_words;
    PlainLabel *m_note;
    PlainTextView *m_problems;
    QVBoxLayout *m_fields;
    QHBoxLayout *m_buttons;
    QPushButton *m_yes;
    QPushButton *m_no;
    int m_fitted = -1; ///< height that fit() chose
    bool m_isBusy = false;
};

} // namespace sendonce
