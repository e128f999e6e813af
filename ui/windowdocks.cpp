#include "ui/windowdocks.h"

#include "ui/auditpanel.h"
#include "ui/checkpanel.h"
#include "ui/coalescer.h"
#include "ui/column.h"
#include "ui/deadletterspanel.h"
#include "ui/doubtspanel.h"
#include "ui/faultspanel.h"
#include "ui/keptwidth.h"
#include "ui/logpanel.h"
#include "ui/mailboxpanel.h"
#include "ui/matrixpanel.h"
#include "ui/paneldock.h"
#include "ui/processedpanel.h"
#include "ui/queuepanel.h"
#include "ui/rowtable.h"
#include "ui/scenariospanel.h"
#include "ui/sendpanel.h"

#include <QAction>
#include <QApplication>
#include <QMainWindow>
#include <QMenu>
#include <QTabBar>

#include <algorithm>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {
namespace {

constexpr int LeftWidth = 268; // at the default font
constexpr int TopShare = 54; // per cent of the height, where two rows of panels lie

} // namespace

WindowDocks::WindowDocks(QMainWindow *window, QMenu *menu)
    : QObject(window)
    , queue(new QueuePanel)
    , send(new SendPanel)
    , processed(new ProcessedPanel)
    , deadLetters(new DeadLettersPanel)
    , doubts(new DoubtsPanel)
    , mailbox(new MailboxPanel)
    , log(new LogPanel)
    , faults(new FaultsPanel)
    , scenarios(new ScenariosPanel)
    , matrix(new MatrixPanel)
    , check(new CheckPanel)
    , audit(new AuditPanel)
    , m_window(window)
    , m_changes(new Coalescer(0ms, this))
{
    window->setDockOptions(QMainWindow::AllowTabbedDocks | QMainWindow::AllowNestedDocks
                           | QMainWindow::GroupedDragging);
    window->setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    window->setDocumentMode(true);
    window->setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    window->setCorner(Qt::TopLeftCorner, Qt::LeftDockWidgetArea);
    m_docks = {
        new PanelDock(u"queue"_s, tr("Queue"), queue, new Column(queue)),
        new PanelDock(u"send"_s, tr("Send and inject"), send, new Column(send)),
        new PanelDock(u"processed"_s, tr("Processed events"), processed),
        new PanelDock(u"deadletters"_s, tr("Dead letters"), deadLetters),
        new PanelDock(u"doubts"_s, tr("In doubt"), doubts),
        new PanelDock(u"mailbox"_s, tr("Mailbox"), mailbox),
        new PanelDock(u"log"_s, tr("Log"), log),
        new PanelDock(u"check"_s, tr("Check"), check),
        new PanelDock(u"audit"_s, tr("Audit"), audit),
        new PanelDock(u"faults"_s, tr("Faults"), faults),
        new PanelDock(u"scenarios"_s, tr("Scenarios"), scenarios),
        new PanelDock(u"matrix"_s, tr("Guarantee matrix"), matrix),
    };
    for (PanelDock *dock : std::as_const(m_docks)) {
        connect(dock, &QDockWidget::dockLocationChanged, m_changes, &Coalescer::schedule);
        connect(dock, &QDockWidget::topLevelChanged, m_changes, &Coalescer::schedule);
        connect(dock, &QDockWidget::visibilityChanged, m_changes, &Coalescer::schedule);
    }
    connect(m_changes, &Coalescer::due, this, &WindowDocks::follow);
    new KeptWidth(window, dockOf(queue));
    fillMenu(menu);
}

QList<Panel *> WindowDocks::panels() const
{
    QList<Panel *> panels;
    for (const PanelDock *dock : m_docks)
        panels += dock->panel();
    return panels;
}

PanelDock *WindowDocks::dockOf(const Panel *panel) const
{
    const auto dock =
        std::find_if(m_docks.cbegin(), m_docks.cend(), [panel](PanelDock *d) { return d->panel() == panel; });
    return dock == m_docks.cend() ? nullptr : *dock;
}

void WindowDocks::bringForward(const Panel *panel)
{
    PanelDock *dock = dockOf(panel);
    if (!dock)
        return;
    dock->show();
    dock->raise();
    if (panel->table())
        panel->table()->setFocus();
    else if (panel->focusProxy())
        panel->focusProxy()->setFocus();
}

void WindowDocks::arrange(Workspace workspace)
{
    for (PanelDock *dock : std::as_const(m_docks)) {
        dock->setFloating(false);
        m_window->removeDockWidget(dock); // out of the tabs and splits that it lay in
    }
    m_window->addDockWidget(Qt::LeftDockWidgetArea, dockOf(queue));
    m_window->addDockWidget(Qt::LeftDockWidgetArea, dockOf(send));
    m_window->splitDockWidget(dockOf(queue), dockOf(send), Qt::Vertical);
    // Every panel has its place, also those that are hidden: shown, they come as a tab.
    QList<Panel *> top, bottom, hidden; // the top ones are tabs
    switch (workspace) {
    case Workspace::Standard:
        top = {processed, deadLetters, doubts, mailbox, log, faults, scenarios, matrix, audit, check};
        hidden = {check};
        break;
    case Workspace::Demo:
        top = {scenarios, matrix, processed, deadLetters, doubts, faults, audit, check};
        bottom = {mailbox, log};
        hidden = {processed, deadLetters, doubts, faults, audit, check};
        break;
    case Workspace::Support:
        top = {deadLetters, processed, doubts, audit, log, mailbox, faults, scenarios, matrix, check};
        hidden = {send, mailbox, faults, scenarios, matrix, check};
        break;
    case Workspace::Testing:
        top = {faults, scenarios, matrix, deadLetters, processed, doubts, mailbox, audit, check};
        bottom = {log};
        hidden = {audit, check};
        break;
    }
    // First the split, then the tabs: beside a tab Qt would not split, but add one more tab.
    m_top = dockOf(top.first());
    m_foot.clear();
    m_window->addDockWidget(Qt::RightDockWidgetArea, m_top);
    for (const Panel *panel : std::as_const(bottom)) {
        if (m_foot.isEmpty())
            m_window->splitDockWidget(m_top, dockOf(panel), Qt::Vertical);
        else
            m_window->splitDockWidget(m_foot.last(), dockOf(panel), Qt::Horizontal);
        m_foot += dockOf(panel);
    }
    // One by one: all of them one over the other would make the window higher than a screen.
    for (const Panel *panel : top.mid(1)) {
        m_window->addDockWidget(Qt::RightDockWidgetArea, dockOf(panel));
        m_window->tabifyDockWidget(m_top, dockOf(panel));
    }
    for (PanelDock *dock : std::as_const(m_docks))
        dock->setVisible(!hidden.contains(dock->panel()));
    m_top->raise();
    follow();
    if (m_window->isVisible())
        settleSizes(); // else when it is shown: before, nothing has its size
}

void WindowDocks::settleSizes()
{
    PanelDock *queueDock = dockOf(queue);
    const int left = LeftWidth * QApplication::font().pixelSize() / 13;
    if (QDockWidget *beside = KeptWidth::neighbour(m_window))
        m_window->resizeDocks({queueDock, beside}, {left, std::max(left, m_window->width() - left - 1)},
                              Qt::Horizontal);
    if (!m_foot.isEmpty())
        m_window->resizeDocks({m_top, m_foot.first()}, {TopShare, 100 - TopShare}, Qt::Vertical);
    if (m_foot.size() > 1) // Qt would give most to whoever wants most: the log, whose lines are long
        m_window->resizeDocks(m_foot, QList<int>(m_foot.size(), (m_window->width() - left) / int(m_foot.size())),
                              Qt::Horizontal);
    PanelDock *sendDock = dockOf(send);
    if (sendDock->isHidden())
        return;
    // The chart gives way first.
    const int room = queueDock->height() + sendDock->height();
    const int title = queueDock->sizeHint().height() - queue->sizeHint().height();
    const int most = queue->sizeHint().height() + title;
    const int least = std::min(queue->minimumSizeHint().height() + title, most);
    const int wanted = std::clamp(room - sendDock->sizeHint().height(), least, most);
    m_window->resizeDocks({queueDock, sendDock}, {std::max(1, wanted), std::max(1, room - wanted)}, Qt::Vertical);
}

/// Titles follow how the docks lie; the tab bars, which QMainWindow makes and unmakes, get their names.
void WindowDocks::follow()
{
    for (PanelDock *dock : std::as_const(m_docks))
        dock->updateTitle();
    const QList<QTabBar *> bars = m_window->findChildren<QTabBar *>(QString(), Qt::FindDirectChildrenOnly);
    for (QTabBar *bar : bars) {
        bar->setAccessibleName(tr("Panels"));
        bar->setExpanding(false);
        bar->setElideMode(Qt::ElideNone); // rather scroll than hide a count
        bar->setUsesScrollButtons(true);
    }
}

void WindowDocks::followSoon()
{
    m_changes->schedule();
}

void WindowDocks::fillMenu(QMenu *menu)
{
    const QHash<const Panel *, QKeySequence> letters{
        {faults, QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F)},
        {scenarios, QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S)},
        {matrix, QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_A)},
    }; // there are more panels than digits
    int number = 0;
    for (PanelDock *dock : std::as_const(m_docks)) {
        auto *action = new QAction(dock->plainTitle(), m_window);
        const QKeySequence digit(QKeyCombination(Qt::ControlModifier, Qt::Key(Qt::Key_1 + number++)));
        action->setShortcut(letters.value(dock->panel(), digit));
        action->setStatusTip(tr("Show this panel in front"));
        connect(action, &QAction::triggered, this, [this, dock] { bringForward(dock->panel()); });
        menu->addAction(action);
    }
    menu->addSeparator();
    for (PanelDock *dock : std::as_const(m_docks)) {
        QAction *toggle = dock->toggleViewAction();
        // The dock's own action would repeat the count of the tab.
        auto *shown = new QAction(tr("Show %1").arg(dock->plainTitle()), m_window);
        shown->setCheckable(true);
        shown->setChecked(toggle->isChecked());
        connect(toggle, &QAction::toggled, shown, &QAction::setChecked);
        connect(shown, &QAction::triggered, toggle, &QAction::trigger);
        menu->addAction(shown);
    }
}

} // namespace sendonce
