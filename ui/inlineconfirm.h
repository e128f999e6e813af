#pragma once

#include <QWidget>

class QLineEdit;
class QPushButton;

namespace sendonce {

class PlainLabel;

/// A question in the place where the act was asked for, instead of a box over the window: words, yes, no, and where it
/// has to be something typed. Esc says no.
class InlineConfirm : public QWidget
{
    Q_OBJECT
public:
    explicit InlineConfirm(QWidget *parent = nullptr);

    void ask(const QString &text, const QString &yes);
    /// Yes can be pressed once the word stands there.
    void askForWord(const QString &text, const QString &word, const QString &yes);
    /// Yes can be pressed once anything stands there: typed().
    void askForText(const QString &text, const QString &fieldName, const QString &yes);
    QString typed() const; ///< trimmed
    void dismiss();
    QString text() const;

Q_SIGNALS:
    void confirmed();
    void dismissed();

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    void open(const QString &text, const QString &yes);
    void updateYes();

    PlainLabel *m_text;
    QLineEdit *m_field;
    QPushButton *m_yes;
    QPushButton *m_no;
    QString m_word; ///< that must be typed
};

} // namespace sendonce
