#pragma once

#include <QObject>
#include <QSize>
#include <QTimer>

class QDockWidget;
class QMainWindow;

namespace sendonce {

/// Keeps a dock as wide as it was left while its window changes size: what a wide screen adds belongs to the tables. Qt
/// would share it out in proportion.
class KeptWidth : public QObject
{
    Q_OBJECT
public:
    KeptWidth(QMainWindow *window, QDockWidget *dock);

    /// A dock at the other side of the divider, which takes what is left: Qt moves a divider only when both sides are
    /// told. Null: there is none.
    static QDockWidget *neighbour(const QMainWindow *window);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void settle();

    QMainWindow *m_window;
    QDockWidget *m_dock;
    QTimer m_settling; ///< after the layout of the new size
    QSize m_windowSize; ///< of the window when its docks were last in place
    int m_width = 0;
};

} // namespace sendonce
