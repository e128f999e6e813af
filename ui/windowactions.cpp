#include "ui/windowactions.h"

#include "ui/icons.h"
#include "ui/letteractions.h"
#include "ui/theme.h"

#include <QAction>
#include <QActionGroup>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

QAction *add(QMenu *menu, const QString &text, const QKeySequence &keys, const QIcon &image, const QString &tip)
{
    auto *action = new QAction(image, text, menu->parentWidget());
    action->setShortcut(keys);
    action->setStatusTip(tip);
    action->setIconVisibleInMenu(true);
    menu->addAction(action);
    return action;
}

} // namespace

WindowActions::WindowActions(QMainWindow *window)
{
    QMenuBar *bar = window->menuBar();
    bar->setNativeMenuBar(false);

    auto *file = new QMenu(tr("&File"), window);
    auto *worker = new QMenu(tr("&Worker"), window);
    auto *queue = new QMenu(tr("&Queue"), window);
    deadLetters = new QMenu(tr("&Dead letters"), window);
    test = new QMenu(tr("&Test"), window);
    auto *view = new QMenu(tr("&View"), window);
    auto *helpMenu = new QMenu(tr("&Help"), window);
    for (QMenu *menu : {file, worker, queue, deadLetters, test, view, helpMenu})
        bar->addMenu(menu);

    saveMail = add(file, tr("&Save e-mail as…"), QKeySequence::Save, icon(u"save"_s),
                   tr("Save the e-mail that is open in Mailbox"));
    file->addSeparator();
    quit = add(file, tr("&Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q), {}, tr("Stop the worker and close the window"));

    start =
        add(worker, tr("&Start"), QKeySequence(Qt::CTRL | Qt::Key_R), icon(u"play"_s), tr("Begin to receive messages"));
    stop = add(worker, tr("S&top"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R), icon(u"stop"_s),
               tr("Stop receiving; what is in work is settled first"));
    retryKeys = add(worker, tr("&Retry the keys"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F5), icon(u"refresh"_s),
                    tr("Read the AWS keys anew and try them, when the queue does not accept them"));
    worker->addSeparator();
    check = add(worker, tr("&Check the services…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_K), icon(u"check"_s),
                tr("Look at queue, database and mail server, and say what to put right"));

    send =
        add(queue, tr("&Send one event"), QKeySequence(Qt::CTRL | Qt::Key_N), icon(u"send"_s), tr("Send a new event"));
    compose = add(queue, tr("C&ompose…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_N), icon(u"log"_s),
                  tr("Send an event of your own: fields, copies, delay, attributes, JSON"));
    duplicate = add(queue, tr("Inject &duplicate"), QKeySequence(Qt::CTRL | Qt::Key_D), icon(u"duplicate"_s),
                    tr("Send a new event as two messages"));
    duplicateThis =
        add(queue, tr("Inject duplicate of the &chosen event"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_D), {},
            tr("Send one more message of the chosen event"));
    queue->addSeparator();
    browse = add(deadLetters, tr("&Browse dead letters…"), QKeySequence(Qt::CTRL | Qt::Key_B), icon(u"browse"_s),
                 tr("Look into the dead letter queue"));
    doubtArrived = add(queue, tr("In doubt: it arri&ved…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Y),
                       icon(u"check"_s), tr("Mark the chosen events in doubt as handled"));
    doubtAgain = add(queue, tr("In doubt: send a&gain…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_G),
                     icon(u"replay"_s), tr("Let the chosen events in doubt be sent again"));
    doubtAsk = add(queue, tr("In doubt: &ask the mailbox…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_L),
                   icon(u"inbox"_s), tr("Look for the e-mails of the chosen events in doubt where they should be"));

    queue->addSeparator();
    cleanUp = add(queue, tr("Clean &up processed events…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_X), {},
                  tr("Forget old events that no message can bring back, after a look at how many"));

    failMails = add(test, tr("&Fail next mails…"), QKeySequence(Qt::CTRL | Qt::Key_M), icon(u"warning"_s),
                    tr("Let the embedded mailbox refuse the next mails"));
    disarm = add(test, tr("D&isarm all faults"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_M), icon(u"close"_s),
                 tr("Let everything through again"));

    panels = view->addMenu(tr("&Panels"));
    view->addSeparator();
    find = add(view, tr("&Find in this panel"), QKeySequence(Qt::CTRL | Qt::Key_F), icon(u"search"_s),
               tr("Search the panel in front"));
    refresh = add(view, tr("&Refresh this panel"), QKeySequence(Qt::Key_F5), icon(u"refresh"_s),
                  tr("Read the panel in front again"));
    copy = add(view, tr("&Copy chosen rows"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), icon(u"copy"_s),
               tr("Copy the chosen rows of the panel in front"));
    pauseLog = add(view, tr("P&ause log"), QKeySequence(Qt::CTRL | Qt::Key_P), icon(u"pause"_s),
                   tr("Hold new log lines back"));
    pauseLog->setCheckable(true);
    view->addSeparator();
    QMenu *themes = view->addMenu(tr("&Theme"));
    theme = new QActionGroup(window);
    for (const auto &[text, choice] :
         {std::pair(tr("&Light"), ThemeChoice::Light), std::pair(tr("&Dark"), ThemeChoice::Dark),
          std::pair(tr("&Follow system"), ThemeChoice::System)}) {
        auto *action = new QAction(choice == ThemeChoice::Light      ? icon(u"sun"_s)
                                       : choice == ThemeChoice::Dark ? icon(u"moon"_s)
                                                                     : QIcon(),
                                   text, theme);
        action->setData(int(choice));
        action->setCheckable(true);
        themes->addAction(action);
    }
    QMenu *size = view->addMenu(tr("Text si&ze"));
    larger = add(size, tr("&Larger"), QKeySequence(Qt::CTRL | Qt::Key_Plus), {}, tr("Larger text"));
    smaller = add(size, tr("&Smaller"), QKeySequence(Qt::CTRL | Qt::Key_Minus), {}, tr("Smaller text"));
    normalText = add(size, tr("&Normal"), QKeySequence(Qt::CTRL | Qt::Key_0), {}, tr("Text of the normal size"));
    // "Ctrl++" needs Shift on many keyboards.
    larger->setShortcuts({QKeySequence(Qt::CTRL | Qt::Key_Plus), QKeySequence(Qt::CTRL | Qt::Key_Equal)});
    view->addSeparator();
    workspaces = view->addMenu(tr("&Workspace"));
    demo = add(workspaces, tr("&Demo"), QKeySequence(Qt::ALT | Qt::SHIFT | Qt::Key_1), {},
               tr("Scenarios, mailbox and log, for an audience"));
    support = add(workspaces, tr("&Support"), QKeySequence(Qt::ALT | Qt::SHIFT | Qt::Key_2), {},
                  tr("Dead letters, processed events, doubts, audit; nothing that makes anything fail"));
    testing = add(workspaces, tr("&QA"), QKeySequence(Qt::ALT | Qt::SHIFT | Qt::Key_3), {},
                  tr("Faults, scenarios, matrix and log"));
    floatPanel = add(view, tr("Fl&oat this panel"), {}, icon(u"float"_s),
                     tr("Take the panel in front out of the window, or put it back"));
    resetLayout = add(view, tr("R&eset layout"), {}, {}, tr("Put every panel back to where it was at first"));

    help = add(helpMenu, tr("&Help"), QKeySequence(Qt::Key_F1), icon(u"question"_s),
               tr("What this window shows and does"));
    shortcuts =
        add(helpMenu, tr("&Keyboard shortcuts"), QKeySequence(Qt::CTRL | Qt::Key_Slash), {}, tr("Every shortcut"));
    about = add(helpMenu, tr("&About Sendonce"), {}, {}, tr("Version and licence"));
}

void WindowActions::addLetterActs(const LetterActions &acts)
{
    deadLetters->setToolTipsVisible(true); // they say why not
    for (const LetterAct act : {LetterAct::Replay, LetterAct::Canary, LetterAct::EditAndReplay, LetterAct::Delete})
        deadLetters->addAction(acts.of(act));
    deadLetters->addSeparator();
    for (const LetterAct act : {LetterAct::Export, LetterAct::Import, LetterAct::KeptCopies, LetterAct::Runs})
        deadLetters->addAction(acts.of(act));
    deadLetters->addSeparator();
    for (const LetterAct act : {LetterAct::MoveAll, LetterAct::ForgetClaim, LetterAct::Purge})
        deadLetters->addAction(acts.of(act));
    replay = acts.of(LetterAct::Replay);
}

void WindowActions::addTestActs(const QList<QAction *> &acts)
{
    test->addSeparator();
    test->addActions(acts);
}

void WindowActions::sayWhyNot(const QString &reason)
{
    for (QAction *act :
         {start, send, compose, duplicate, duplicateThis, failMails, disarm, doubtArrived, doubtAgain, doubtAsk})
        act->setStatusTip(reason);
}

} // namespace sendonce
