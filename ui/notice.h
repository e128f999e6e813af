#pragma once

#include "ui/theme.h"

#include <QTimer>
#include <QWidget>

class QPushButton;
class QToolButton;

namespace sendonce {

class PlainLabel;

/// What has no place of its own to be said, such as an act that failed: a note over the lower edge of the window, until
/// it is closed. It moves nothing.
class Notice : public QWidget
{
    Q_OBJECT
public:
    /// \param bottomMargin px that stay free below it
    Notice(QWidget *window, int bottomMargin);

    /// \param act words of a button that does something about it; empty: there is none
    void say(const QString &text, Tone tone, const QString &act = {});
    /// The button was pressed and there is no answer yet: it says so and takes no other click.
    void setActing(const QString &words);
    QString text() const;
    bool offersAct() const;

Q_SIGNALS:
    void acted();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    void place();

    PlainLabel *m_text;
    QPushButton *m_act;
    QToolButton *m_close;
    int m_bottomMargin;
    Tone m_tone = Tone::Failed;
    QTimer m_over;
};

/// Covers the window while the worker is stopping for good.
class Curtain : public QWidget
{
    Q_OBJECT
public:
    explicit Curtain(QWidget *window);

    void drop(const QString &title, const QString &text);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    PlainLabel *m_title;
    PlainLabel *m_text;
};

} // namespace sendonce
