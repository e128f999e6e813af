#pragma once

#include <QList>
#include <QObject>

class QDockWidget;
class QMainWindow;
class QMenu;

namespace sendonce {

class AuditPanel;
class CheckPanel;
class Coalescer;
class DeadLettersPanel;
class DoubtsPanel;
class FaultsPanel;
class LogPanel;
class MailboxPanel;
class MatrixPanel;
class Panel;
class PanelDock;
class ProcessedPanel;
class QueuePanel;
class ScenariosPanel;
class SendPanel;

/// How the docks lie, by what somebody is here for.
enum class Workspace { Standard, Demo, Support, Testing };

/// The panels of the window and the docks they lie in: how they lie at first, their titles, their places in the menu.
/// Owned by the window, which connects the panels.
class WindowDocks : public QObject
{
    Q_OBJECT
public:
    /// \param menu gets an action for each panel
    WindowDocks(QMainWindow *window, QMenu *menu);

    QueuePanel *queue;
    SendPanel *send;
    ProcessedPanel *processed;
    DeadLettersPanel *deadLetters;
    DoubtsPanel *doubts;
    MailboxPanel *mailbox;
    LogPanel *log;
    FaultsPanel *faults;
    ScenariosPanel *scenarios;
    MatrixPanel *matrix;
    CheckPanel *check; ///< its dock is hidden until somebody asks for it
    AuditPanel *audit;

    QList<Panel *> panels() const; ///< in the order of the menu
    PanelDock *dockOf(const Panel *panel) const;
    /// Shows a panel, in front, with the keyboard in it.
    void bringForward(const Panel *panel);
    void arrange(Workspace workspace = Workspace::Standard);
    void settleSizes(); ///< of arrange(), once everything has its style and font
    void follow(); ///< call it when the docks may lie in another way
    void followSoon();

private:
    void fillMenu(QMenu *menu);

    QMainWindow *m_window;
    QList<PanelDock *> m_docks; ///< in the order of the menu
    PanelDock *m_top = nullptr; ///< of the workspace's panels that are tabs, the first
    QList<QDockWidget *> m_foot; ///< those in a row below them, from the left
    Coalescer *m_changes;
};

} // namespace sendonce
