#pragma once

#include "ui/theme.h"

#include <QTimer>
#include <QWidget>

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

    void say(const QString &text, Tone tone);
    QString text() const;

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    void place();

    PlainLabel *m_text;
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
