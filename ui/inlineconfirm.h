#pragma once

#include <QWidget>

class QPushButton;

namespace sendonce {

class PlainLabel;

/// A question in the place where the act was asked for, instead of a box over the window: words, yes, no. Esc says no.
class InlineConfirm : public QWidget
{
    Q_OBJECT
public:
    explicit InlineConfirm(QWidget *parent = nullptr);

    void ask(const QString &text, const QString &yes);
    void dismiss();
    QString text() const;

Q_SIGNALS:
    void confirmed();
    void dismissed();

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    PlainLabel *m_text;
    QPushButton *m_yes;
    QPushButton *m_no;
};

} // namespace sendonce
