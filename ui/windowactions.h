#pragma once

#include <QCoreApplication>

class QAction;
class QActionGroup;
class QMainWindow;
class QMenu;

namespace sendonce {

class LetterActions;

/// Every act of the window as a QAction in a menu, with its shortcut or mnemonic. Made by the window, which connects
/// them.
struct WindowActions
{
    Q_DECLARE_TR_FUNCTIONS(WindowActions)
public:
    explicit WindowActions(QMainWindow *window);
    /// Into their menu; the panel made them.
    void addLetterActs(const LetterActions &acts);
    void addTestActs(const QList<QAction *> &acts); ///< behind a line
    /// What a profile may not do is disabled, and says so instead of what it does.
    void sayWhyNot(const QString &reason);

    QAction *saveMail;
    QAction *quit;

    QAction *start;
    QAction *stop;
    QAction *retryKeys;
    QAction *check;

    QAction *send;
    QAction *compose;
    QAction *duplicate;
    QAction *duplicateThis;
    QAction *failMails;
    QAction *disarm; ///< all that is armed
    QAction *cleanUp;
    QMenu *test; ///< faults, scenarios, matrix
    QMenu *deadLetters;
    QAction *browse;
    QAction *replay = nullptr; ///< since addLetterActs()
    QAction *doubtArrived;
    QAction *doubtAgain;
    QAction *doubtAsk;

    QMenu *panels; ///< the window adds an action for each
    QAction *find;
    QAction *refresh;
    QAction *copy;
    QAction *pauseLog;
    QAction *floatPanel;
    QMenu *workspaces;
    QAction *demo;
    QAction *support;
    QAction *testing;
    QActionGroup *theme; ///< data(): int(ThemeChoice)
    QAction *larger;
    QAction *smaller;
    QAction *normalText;
    QAction *resetLayout;

    QAction *help;
    QAction *shortcuts;
    QAction *about;
};

} // namespace sendonce
