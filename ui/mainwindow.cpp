#include "ui/mainwindow.h"

#include "ui/auditpanel.h"
#include "ui/checkpanel.h"
#include "ui/cleanupdialog.h"
#include "ui/coalescer.h"
#include "ui/composedialog.h"
#include "ui/consolestyle.h"
#include "ui/controlbar.h"
#include "ui/deadletteracts.h"
#include "ui/deadletterspanel.h"
#include "ui/displaytext.h"
#include "ui/doubtspanel.h"
#include "ui/faultspanel.h"
#include "ui/helpwindow.h"
#include "ui/icons.h"
#include "ui/letteractions.h"
#include "ui/letterfiltermenu.h"
#include "ui/logmodel.h"
#include "ui/logpanel.h"
#include "ui/mailboxpanel.h"
#include "ui/matrixpanel.h"
#include "ui/notice.h"
#include "ui/paneldock.h"
#include "ui/processedpanel.h"
#include "ui/queuepanel.h"
#include "ui/rights.h"
#include "ui/rowtable.h"
#include "ui/scenariospanel.h"
#include "ui/searchfield.h"
#include "ui/sendpanel.h"
#include "ui/statusline.h"
#include "ui/windowactions.h"
#include "ui/windowdocks.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QCloseEvent>
#include <QMenu>
#include <QMenuBar>
#include <QMetaMethod>
#include <QSettings>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {
namespace {

constexpr int TicksPerLook = 10; ///< at the events in doubt: other workers make some too
constexpr int LayoutVersion = 2; ///< raise it when docks come or go: an old layout has no place for them
constexpr int SmallestText = 75;
constexpr int LargestText = 200;

/// Style and fonts come before the widgets that take their sizes from them.
QWidget *themed(QWidget *parent)
{
    if (!qobject_cast<ConsoleStyle *>(QApplication::style()))
        applyTheme(*qApp, ThemeChoice::System);
    return parent;
}

} // namespace

MainWindow::MainWindow(const WindowSetup &setup, QWidget *parent)
    : QMainWindow(themed(parent))
    , m_actions(std::make_unique<WindowActions>(this))
    , m_status(new StatusLine)
    , m_updates(new Coalescer(UpdateInterval, this))
    , m_storyChanges(new Coalescer(300ms, this))
{
    setObjectName(u"mainWindow"_s);
    setWindowIcon(applicationIcon());
    m_bar = new ControlBar(*m_actions, this);
    addToolBar(Qt::TopToolBarArea, m_bar);
    setStatusBar(m_status);
    m_docks = new WindowDocks(this, m_actions->panels);
    m_queue = m_docks->queue;
    m_send = m_docks->send;
    m_processed = m_docks->processed;
    m_deadLetters = m_docks->deadLetters;
    m_doubts = m_docks->doubts;
    m_mailbox = m_docks->mailbox;
    m_log = m_docks->log;
    m_faults = m_docks->faults;
    m_scenarios = m_docks->scenarios;
    m_matrix = m_docks->matrix;
    m_check = m_docks->check;
    m_audit = m_docks->audit;
    m_letterActs = new DeadLetterActs(m_deadLetters, this);
    m_actions->addLetterActs(*m_deadLetters->acts());
    m_actions->deadLetters->addSeparator();
    m_actions->deadLetters->addMenu(m_deadLetters->filterMenu());
    m_actions->addTestActs(m_scenarios->acts());
    m_actions->addTestActs(m_matrix->acts());
    m_notice = new Notice(this, m_status->sizeHint().height());
    m_curtain = new Curtain(this);
    connectActions();
    connectPanels();

    connect(m_updates, &Coalescer::due, this, &MainWindow::flush);
    connect(m_storyChanges, &Coalescer::due, this, [this] { Q_EMIT storyRequested(m_selectedEvent); });
    m_clock.setInterval(1s);
    connect(&m_clock, &QTimer::timeout, this, &MainWindow::tick);
    m_closing.setSingleShot(true);
    connect(&m_closing, &QTimer::timeout, this, &MainWindow::workerClosed);

    showProfile(setup);
    resize(1280, 800);
    m_docks->arrange();
    m_bar->showWords(tr("opening…"), Tone::Muted);
    tick();
    updateActions();
}

MainWindow::~MainWindow() = default;

void MainWindow::showProfile(const WindowSetup &setup)
{
    m_embedded = setup.embedded;
    setWindowTitle(tr("Sendonce — %1").arg(setup.profile));
    m_bar->showProfile(setup.profile, setup.profileTone,
                       setup.strategy.isEmpty() ? tr("one transaction") : setup.strategy);
    dockOf(m_queue)->setHeading(tr("Queue · %1").arg(setup.queueName));
    m_send->setFaultsOffered(m_embedded);
    m_readOnly = setup.readOnly;
    m_letterActs->setRights(setup.readOnly, m_embedded);
    m_doubts->setReadOnly(setup.readOnly);
    m_scenarios->setRefused(m_embedded ? QString() : tr("Demonstrations run in the profile Local"));
    m_matrix->setRefused(m_embedded ? QString() : tr("Demonstrations run in the profile Local"));
    m_faults->setRefused(!m_embedded ? tr("Faults are armed only where queue, database and mailbox are this window's "
                                          "own. The profile %1 has services of somebody's.")
                                           .arg(setup.profile)
                             : m_readOnly ? readOnlyReason()
                                          : QString());
    if (m_readOnly)
        m_actions->sayWhyNot(readOnlyReason());
    updateActions();
}

void MainWindow::keepStateIn(const QString &folder)
{
    m_layoutStore.emplace(folder);
    const std::optional<WindowLayout> layout = m_layoutStore->begin();
    m_settings = std::make_unique<QSettings>(folder + u"/console.ini"_s, QSettings::IniFormat);
    m_textPercent = std::clamp(m_settings->value("textPercent"_L1, 100).toInt(), SmallestText, LargestText);
    const int theme = m_settings->value("theme"_L1, int(ThemeChoice::System)).toInt();
    m_theme = theme == int(ThemeChoice::Light) ? ThemeChoice::Light
        : theme == int(ThemeChoice::Dark)      ? ThemeChoice::Dark
                                               : ThemeChoice::System;
    setTheme(m_theme);
    m_deadLetters->keepStateIn(m_settings.get());
    m_restored = layout && restoreGeometry(layout->geometry) && restoreState(layout->state, LayoutVersion);
    if (layout && !m_restored)
        resetLayout();
    m_docks->follow();
}

void MainWindow::setTheme(ThemeChoice choice)
{
    m_theme = choice;
    applyTheme(*qApp, choice, m_textPercent);
    for (QAction *action : m_actions->theme->actions())
        action->setChecked(action->data().toInt() == int(choice));
    if (m_settings)
        m_settings->setValue("theme"_L1, int(choice));
}

void MainWindow::setTextPercent(int percent)
{
    m_textPercent = std::clamp(percent, SmallestText, LargestText);
    applyTheme(*qApp, m_theme, m_textPercent);
    if (m_settings)
        m_settings->setValue("textPercent"_L1, m_textPercent);
    m_actions->larger->setEnabled(m_textPercent < LargestText);
    m_actions->smaller->setEnabled(m_textPercent > SmallestText);
}

void MainWindow::resetLayout()
{
    m_docks->arrange();
}

PanelDock *MainWindow::dockOf(const Panel *panel) const
{
    return m_docks->dockOf(panel);
}

void MainWindow::bringForward(const Panel *panel)
{
    m_docks->bringForward(panel);
}

Panel *MainWindow::frontPanel() const
{
    for (QWidget *widget = QApplication::focusWidget(); widget; widget = widget->parentWidget()) {
        if (auto *panel = qobject_cast<Panel *>(widget); panel && panel->table())
            return panel;
    }
    for (Panel *panel : m_docks->panels()) {
        if (panel->table() && panel->isVisible() && !panel->visibleRegion().isEmpty())
            return panel;
    }
    return nullptr;
}

void MainWindow::showOpened()
{
    m_opened = true;
    m_openFailure.clear();
    m_processed->setReady();
    m_deadLetters->setReady();
    m_letterActs->setReady();
    m_audit->setReady();
    m_doubts->setReady();
    m_mailbox->setReady();
    m_faults->setReady();
    m_send->setReady(!m_readOnly, m_readOnly ? readOnlyReason() : QString());
    showBar();
    updateActions();
}

void MainWindow::showOpenFailed(const QString &text)
{
    m_opened = false;
    m_openFailure = text;
    m_processed->setUnavailable(text);
    m_deadLetters->setUnavailable(text);
    m_doubts->setUnavailable(text);
    m_audit->setUnavailable(text);
    m_mailbox->setUnavailable(text);
    m_queue->setUnavailable(text);
    m_send->setReady(false);
    m_bar->showWords(tr("cannot work"), Tone::Failed);
    m_notice->say(text, Tone::Failed);
    updateActions();
}

void MainWindow::showState(WorkerState state)
{
    m_state = state;
    showBar();
    updateActions();
}

void MainWindow::showInHand(int messages)
{
    m_inHand = messages;
    m_updates->schedule();
}

void MainWindow::showCounters(const Counters &counters)
{
    m_newCounters = counters;
    m_updates->schedule();
}

void MainWindow::showDepth(const QueueDepth &depth)
{
    m_newDepth = depth;
    m_updates->schedule();
}

void MainWindow::showService(const ServiceStatus &status)
{
    m_status->showService(status);
    if (status.service == ServiceStatus::Service::Queue)
        showKeys(status);
}

/// Nothing is received while the queue refuses the keys: said in a note that stays, with the way out.
void MainWindow::showKeys(const ServiceStatus &queue)
{
    const bool refused = queue.health == ServiceStatus::Health::Paused;
    if (!refused && !m_keysRefused)
        return;
    // Closed by the person it stays closed, until that person asks for a try.
    const bool wanted = !m_keysRefused || m_notice->offersAct() || m_retryAsked;
    m_keysRefused = refused;
    m_tryingKeys = refused && !queue.nextTry.isValid();
    if (!refused) {
        m_retryAsked = false;
        m_notice->say(queue.health == ServiceStatus::Health::Ok ? tr("The queue accepts the keys; the worker goes on.")
                                                                : tr("The keys were tried: %1").arg(queue.detail),
                      queue.health == ServiceStatus::Health::Ok ? Tone::Sent : Tone::Failed);
    } else if (m_tryingKeys) {
        m_notice->setActing(tr("Trying…"));
    } else if (wanted) {
        m_retryAsked = false;
        m_notice->say(tr("Paused: the queue does not accept the keys, so nothing is received.\n%1\n"
                         "Tried again by itself at %2, and when AWS's files change.")
                          .arg(queue.detail, clockTime(queue.nextTry)),
                      Tone::InDoubt, tr("Retry"));
    }
    showBar();
    updateActions();
}

/// The worker's state; while the keys are refused that, for then it only seems to run.
void MainWindow::showBar()
{
    if (m_keysRefused)
        m_bar->showWords(m_tryingKeys ? tr("paused · trying the keys…") : tr("paused · keys not accepted"),
                         Tone::InDoubt);
    else if (m_opened)
        m_bar->showState(m_state, m_inHand);
    else if (m_openFailure.isEmpty())
        m_bar->showWords(tr("opening…"), Tone::Muted);
}

void MainWindow::showArmed(const FaultRules &rules)
{
    m_armed = !rules.isEmpty();
    const QDateTime now = QDateTime::currentDateTimeUtc();
    m_bar->showArmed(rules, now);
    m_faults->showArmed(rules, now);
    m_send->showArmed(rules);
    dockOf(m_faults)->setBadge(rules.size());
    updateActions();
}

void MainWindow::addLogLine(const LogLine &line)
{
    m_newLines += line;
    m_updates->schedule();
}

void MainWindow::addDelivery(const DeliveryReport &report)
{
    m_newDeliveries += report;
    m_updates->schedule();
}

void MainWindow::showSendReport(const SendReport &report)
{
    m_send->showReport(report);
    if (m_compose)
        m_compose->showSent(report);
}

void MainWindow::showNote(const QString &text)
{
    m_notice->say(text, Tone::InFlight);
}

void MainWindow::showActFailed(const QString &act, const QString &text)
{
    if (act == "faults"_L1)
        showFaultRefused(text);
    else
        m_notice->say(tr("%1 failed: %2").arg(act, text), Tone::Failed);
    m_doubts->showActFailed(act);
    m_letterActs->showActFailed(act, text);
    if (m_cleanUp && act == "clean up"_L1)
        m_cleanUp->showActFailed(text);
}

/// Where the click was.
void MainWindow::showFaultRefused(const QString &text)
{
    if (m_faults->isActing())
        m_faults->showActFailed(text);
    else if (m_send->isArming())
        m_send->showFailure(text);
    else
        m_notice->say(text, Tone::Failed);
}

void MainWindow::showProcessedPage(const ProcessedPage &page)
{
    m_processed->showPage(page);
}

void MainWindow::showMailbox(const MailboxSnapshot &snapshot)
{
    m_mailbox->showSnapshot(snapshot);
}

void MainWindow::noteMailboxChange()
{
    m_mailbox->noteChange();
}

void MainWindow::showMail(const MailDetail &mail)
{
    m_mailbox->showMail(mail);
}

void MainWindow::showStory(const EventStory &story)
{
    m_processed->showStory(story);
    m_deadLetters->showStory(story);
    m_doubts->showStory(story);
}

void MainWindow::showDeadLetters(const DeadLetterList &list)
{
    m_deadLetters->showList(list);
    updateActions();
}

void MainWindow::showMoveTasks(const MoveTaskSupport &support)
{
    m_deadLetters->showMoveTasks(support);
}

void MainWindow::updateDeadLetters(const QList<DeadLetter> &letters)
{
    m_deadLetters->updateLetters(letters);
    m_letterActs->updateLetters(letters);
}

void MainWindow::showDeadLetterMatches(const DeadLetterMatches &matches)
{
    m_deadLetters->showMatches(matches);
}

void MainWindow::showDeadLetter(const DeadLetterDetail &letter)
{
    m_deadLetters->showLetter(letter);
    m_letterActs->showLetter(letter);
}

void MainWindow::showReplays(const QList<ReplayItem> &items)
{
    m_deadLetters->showReplays(items);
    m_letterActs->updateItems(items);
    m_audit->noteAct();
    const bool aboutSelected = std::any_of(items.cbegin(), items.cend(), [this](const ReplayItem &item) {
        return !item.eventId.isEmpty() && item.eventId == m_selectedEvent;
    });
    if (aboutSelected)
        m_storyChanges->schedule();
}

void MainWindow::showEventRules(const EventRules &rules)
{
    m_letterActs->setRules(rules);
    if (m_compose)
        m_compose->setRules(rules);
}

void MainWindow::showActDone(const ActReport &report)
{
    if (report.act == "export audit"_L1)
        m_audit->showExported(report);
    else
        m_letterActs->showActDone(report);
    m_audit->noteAct();
}

void MainWindow::showAudit(const AuditPage &page)
{
    m_audit->showPage(page);
}

void MainWindow::showCleanUpPreview(const CleanUp &preview)
{
    if (m_cleanUp)
        m_cleanUp->showPreview(preview);
}

void MainWindow::showCleanUpDone(const CleanUp &report)
{
    if (m_cleanUp)
        m_cleanUp->showDone(report);
    if (report.rows > 0)
        m_processed->refresh();
    m_audit->noteAct();
}

void MainWindow::showDoubts(const DoubtList &list)
{
    m_doubts->showList(list);
}

void MainWindow::showDoubtsSettled(const QList<DoubtOutcome> &outcomes)
{
    m_doubts->showOutcomes(outcomes);
}

void MainWindow::showCheckLine(const CheckLine &line)
{
    m_check->addLine(line);
}

void MainWindow::showCheckFinished()
{
    m_check->finish();
}

void MainWindow::workerClosed()
{
    m_workerClosed = true;
    if (m_curtain->isVisible() || m_closing.isActive())
        close();
}

/// One selection: whatever was chosen is marked everywhere, and its story is asked for once.
void MainWindow::selectEvent(const QString &eventId)
{
    if (eventId == m_selectedEvent)
        return;
    m_selectedEvent = eventId;
    const auto *chosenIn = qobject_cast<Panel *>(sender());
    for (Panel *panel : eventPanels()) {
        panel->highlightEvent(eventId);
        if (panel != chosenIn)
            panel->revealEvent(eventId);
    }
    updateActions();
    Q_EMIT eventSelected(eventId);
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    const bool attached = isSignalConnected(QMetaMethod::fromSignal(&MainWindow::closeRequested));
    if (m_workerClosed || !attached) {
        m_closing.stop();
        m_clock.stop();
        storeLayout();
        if (m_help)
            m_help->close();
        event->accept();
        return;
    }
    event->ignore();
    if (m_closing.isActive())
        return; // asked again while stopping
    m_closing.start(m_closeBound);
    m_curtain->drop(tr("Stopping…"), tr("A mail that is being sent is settled first; the window closes by itself."));
    Q_EMIT closeRequested();
}

void MainWindow::showEvent(QShowEvent *event)
{
    QMainWindow::showEvent(event);
    m_clock.start();
    m_docks->followSoon();
    if (m_firstShow && !m_restored) // sizes are right only once everything has its style and font
        QTimer::singleShot(0, m_docks, &WindowDocks::settleSizes);
    if (m_firstShow && m_layoutStore)
        QTimer::singleShot(1s, this, [this] { m_layoutStore->finished(); }); // laid out, painted, and still alive
    m_firstShow = false;
}

void MainWindow::changeEvent(QEvent *event)
{
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::ThemeChange && m_theme == ThemeChoice::System)
        applyTheme(*qApp, m_theme, m_textPercent);
}

void MainWindow::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Alt)
        menuBar()->update(); // shows its mnemonics
    if (event->key() == Qt::Key_Escape) {
        if (const Panel *panel = frontPanel(); panel && panel->searchField())
            panel->searchField()->search({});
        return;
    }
    QMainWindow::keyPressEvent(event);
}

void MainWindow::keyReleaseEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Alt)
        menuBar()->update();
    QMainWindow::keyReleaseEvent(event);
}

QMenu *MainWindow::createPopupMenu()
{
    return nullptr; // View > Panels has them
}

void MainWindow::connectActions()
{
    const WindowActions &a = *m_actions;
    connect(a.saveMail, &QAction::triggered, m_mailbox, &MailboxPanel::askWhereToSave);
    connect(a.quit, &QAction::triggered, this, &QWidget::close);
    connect(a.start, &QAction::triggered, this, &MainWindow::startRequested);
    connect(a.stop, &QAction::triggered, this, &MainWindow::stopRequested);
    connect(a.retryKeys, &QAction::triggered, this, [this] {
        m_retryAsked = true;
        Q_EMIT retryKeysRequested();
    });
    connect(m_notice, &Notice::acted, a.retryKeys, &QAction::trigger);
    connect(a.check, &QAction::triggered, this, [this] {
        bringForward(m_check);
        m_check->check();
    });
    connect(a.send, &QAction::triggered, m_send, &SendPanel::send);
    connect(a.compose, &QAction::triggered, this, &MainWindow::compose);
    connect(m_send, &SendPanel::composeRequested, a.compose, &QAction::trigger);
    connect(a.cleanUp, &QAction::triggered, this, &MainWindow::askToCleanUp);
    connect(m_processed, &ProcessedPanel::cleanUpRequested, a.cleanUp, &QAction::trigger);
    connect(a.duplicate, &QAction::triggered, m_send, [this] { m_send->injectDuplicate(); });
    connect(a.duplicateThis, &QAction::triggered, m_send, [this] { m_send->injectDuplicate(m_selectedEvent); });
    connect(a.failMails, &QAction::triggered, this, [this] {
        dockOf(m_send)->show();
        dockOf(m_send)->raise();
        m_send->askToFailMails();
    });
    connect(a.disarm, &QAction::triggered, this, &MainWindow::disarmRequested);
    connect(a.browse, &QAction::triggered, this, [this] {
        bringForward(m_deadLetters);
        m_deadLetters->askToBrowse();
    });
    for (const auto &[action, act] :
         {std::pair(a.doubtArrived, DoubtAct::Arrived), std::pair(a.doubtAgain, DoubtAct::SendAgain),
          std::pair(a.doubtAsk, DoubtAct::Ask)}) {
        connect(action, &QAction::triggered, this, [this, act = act] {
            bringForward(m_doubts);
            m_doubts->ask(act);
        });
    }
    connect(a.find, &QAction::triggered, this, [this] {
        if (const Panel *panel = frontPanel(); panel && panel->searchField()) {
            panel->searchField()->setFocus(Qt::ShortcutFocusReason);
            panel->searchField()->selectAll();
        }
    });
    connect(a.refresh, &QAction::triggered, this, [this] {
        if (Panel *panel = frontPanel())
            panel->refresh();
    });
    connect(a.copy, &QAction::triggered, this, [this] {
        if (const Panel *panel = frontPanel())
            panel->table()->copySelection();
    });
    connect(a.pauseLog, &QAction::triggered, m_log, &LogPanel::setPaused);
    connect(m_log, &LogPanel::pausedChanged, a.pauseLog, &QAction::setChecked);
    connect(a.theme, &QActionGroup::triggered, this,
            [this](QAction *action) { setTheme(ThemeChoice(action->data().toInt())); });
    connect(a.larger, &QAction::triggered, this, [this] { setTextPercent(m_textPercent + 25); });
    connect(a.smaller, &QAction::triggered, this, [this] { setTextPercent(m_textPercent - 25); });
    connect(a.normalText, &QAction::triggered, this, [this] { setTextPercent(100); });
    connect(a.floatPanel, &QAction::triggered, this, [this] {
        if (PanelDock *dock = dockOf(frontPanel()))
            dock->setFloating(!dock->isFloating());
    });
    for (const auto &[action, workspace] :
         {std::pair(a.demo, Workspace::Demo), std::pair(a.support, Workspace::Support),
          std::pair(a.testing, Workspace::Testing)})
        connect(action, &QAction::triggered, m_docks, [this, workspace = workspace] { m_docks->arrange(workspace); });
    connect(a.resetLayout, &QAction::triggered, this, &MainWindow::resetLayout);
    const auto help = [this] {
        if (!m_help)
            m_help = new HelpWindow(menuBar(), this);
        return m_help;
    };
    connect(a.help, &QAction::triggered, this, [help] { help()->showHelp(); });
    connect(a.shortcuts, &QAction::triggered, this, [help] { help()->showShortcuts(); });
    connect(a.about, &QAction::triggered, this, [this] {
        auto *about = new AboutWindow(this);
        about->setAttribute(Qt::WA_DeleteOnClose);
        about->open();
    });
    for (QAction *action : a.theme->actions())
        action->setChecked(action->data().toInt() == int(m_theme));
}

void MainWindow::connectPanels()
{
    connect(m_queue, &QueuePanel::deadLettersRequested, this, [this] { bringForward(m_deadLetters); });

    connect(m_send, &SendPanel::sendRequested, this, &MainWindow::sendRequested);
    connect(m_send, &SendPanel::injectDuplicateRequested, this, &MainWindow::injectDuplicateRequested);
    connect(m_send, &SendPanel::failNextMailsRequested, this, &MainWindow::failNextMailsRequested);

    connect(m_faults, &FaultsPanel::armRequested, this, &MainWindow::armRequested);
    connect(m_faults, &FaultsPanel::disarmRequested, this, &MainWindow::disarmOneRequested);
    connect(m_faults, &FaultsPanel::disarmAllRequested, this, &MainWindow::disarmRequested);

    connect(m_processed, &ProcessedPanel::queried, this, &MainWindow::processedQueried);
    connect(m_processed, &ProcessedPanel::duplicateRequested, m_send, &SendPanel::injectDuplicate);
    connect(m_processed, &ProcessedPanel::sendRequested, m_send, &SendPanel::send);
    connect(m_processed, &ProcessedPanel::storyRequested, this, &MainWindow::storyRequested);

    connect(m_deadLetters, &DeadLettersPanel::browseRequested, this, &MainWindow::browseRequested);
    connect(m_deadLetters, &DeadLettersPanel::browseCancelled, this, &MainWindow::browseCancelled);
    connect(m_deadLetters, &DeadLettersPanel::letterRequested, this, &MainWindow::deadLetterRequested);
    connect(m_deadLetters, &DeadLettersPanel::searchRequested, this, &MainWindow::deadLetterSearchRequested);
    connect(m_deadLetters, &DeadLettersPanel::storyRequested, this, &MainWindow::storyRequested);

    connect(m_doubts, &DoubtsPanel::queried, this, &MainWindow::doubtsQueried);
    connect(m_doubts, &DoubtsPanel::settleRequested, this, &MainWindow::settleDoubtsRequested);
    connect(m_doubts, &DoubtsPanel::storyRequested, this, &MainWindow::storyRequested);
    connect(m_doubts, &DoubtsPanel::waitingChanged, this,
            [this](qint64 waiting) { dockOf(m_doubts)->setBadge(waiting); });
    connect(m_doubts, &DoubtsPanel::canSettleChanged, this, &MainWindow::updateActions);

    connect(m_mailbox, &MailboxPanel::queried, this, &MainWindow::mailboxQueried);
    connect(m_mailbox, &MailboxPanel::openRequested, this, &MainWindow::mailOpenRequested);
    connect(m_mailbox, &MailboxPanel::canSaveChanged, this, &MainWindow::updateActions);

    connect(m_audit, &AuditPanel::queried, this, &MainWindow::auditQueried);
    connect(m_audit, &AuditPanel::exportWanted, this, &MainWindow::auditExportRequested);
    connect(m_letterActs, &DeadLetterActs::letterRequested, this, &MainWindow::deadLetterRequested);

    connect(m_check, &CheckPanel::checkRequested, this, &MainWindow::checkServices);
    connect(m_check, &CheckPanel::checkingChanged, this, &MainWindow::updateActions);

    connect(m_log, &LogPanel::jumpRequested, this, &MainWindow::jumpTo);

    for (Panel *panel : eventPanels())
        connect(panel, &Panel::eventSelected, this, &MainWindow::selectEvent);
}

/// At most 20 times a second, whatever comes (console.md, "Nothing blocks the window").
void MainWindow::flush()
{
    if (m_newDepth) {
        m_queue->showDepth(*m_newDepth);
        m_deadLetters->showDepth(m_newDepth->deadLetters);
        m_letterActs->showDepth(m_newDepth->deadLetters);
        dockOf(m_deadLetters)->setBadge(m_newDepth->deadLetters);
        m_newDepth.reset();
    }
    if (m_newCounters) {
        m_status->showCounters(*m_newCounters);
        m_queue->showCounters(*m_newCounters, QDateTime::currentDateTimeUtc());
        m_newCounters.reset();
    }
    if (m_opened)
        showBar();
    if (!m_newLines.isEmpty())
        m_log->append(std::exchange(m_newLines, {}));
    if (!m_newDeliveries.isEmpty()) {
        const QList<DeliveryReport> reports = std::exchange(m_newDeliveries, {});
        m_processed->addDeliveries(reports);
        m_doubts->noteDeliveries(reports);
        const bool aboutSelected = std::any_of(reports.cbegin(), reports.cend(), [this](const DeliveryReport &report) {
            return report.eventId == m_selectedEvent;
        });
        if (aboutSelected && !m_selectedEvent.isEmpty())
            m_storyChanges->schedule();
    }
}

void MainWindow::tick()
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    m_queue->setNow(now);
    m_bar->setNow(now);
    if (m_faults->isVisible())
        m_faults->setNow(now);
    if (m_deadLetters->isVisible())
        m_deadLetters->setNow(now);
    if (m_doubts->isVisible())
        m_doubts->setNow(now);
    if (++m_ticks % TicksPerLook == 0)
        m_doubts->refresh();
}

void MainWindow::updateActions()
{
    const WindowActions &a = *m_actions;
    const bool idle = m_state == WorkerState::Stopped || m_state == WorkerState::Stopping;
    const bool acts = m_opened && !m_readOnly;
    a.start->setEnabled(acts && idle);
    a.stop->setEnabled(m_opened && (m_state == WorkerState::Running || m_state == WorkerState::Starting));
    a.send->setEnabled(acts);
    a.compose->setEnabled(acts);
    a.cleanUp->setEnabled(m_opened);
    a.duplicate->setEnabled(acts);
    a.duplicateThis->setEnabled(acts && !m_selectedEvent.isEmpty());
    a.failMails->setEnabled(acts && m_embedded);
    a.disarm->setEnabled(acts && m_armed);
    a.browse->setEnabled(m_opened);
    a.browse->setText(m_deadLetters->isBrowsing() ? tr("Cancel &browsing") : tr("&Browse dead letters…"));
    a.doubtArrived->setEnabled(acts && m_doubts->canSettle(DoubtAct::Arrived));
    a.doubtAgain->setEnabled(acts && m_doubts->canSettle(DoubtAct::SendAgain));
    a.doubtAsk->setEnabled(acts && m_doubts->canSettle(DoubtAct::Ask));
    a.retryKeys->setEnabled(m_keysRefused && !m_tryingKeys);
    a.check->setEnabled(!m_check->isChecking());
    a.saveMail->setEnabled(m_mailbox->canSave());
}

/// From the log: to the row about the event, where there is one, else to a search for it.
void MainWindow::jumpTo(const QString &eventId)
{
    selectEvent(eventId);
    if (m_deadLetters->revealEvent(eventId)) {
        bringForward(m_deadLetters);
        return;
    }
    bringForward(m_processed);
    if (!m_processed->revealEvent(eventId))
        m_processed->searchField()->search(eventId);
}

void MainWindow::compose()
{
    if (!m_compose) {
        m_compose = new ComposeDialog(m_letterActs->rules(), this);
        connect(m_compose, &ComposeDialog::sendWanted, this, &MainWindow::sendRequested);
    }
    m_compose->show();
    m_compose->raise();
    m_compose->activateWindow();
}

void MainWindow::askToCleanUp()
{
    if (m_cleanUp)
        m_cleanUp->close();
    m_cleanUp = new CleanUpDialog(!m_embedded, m_readOnly ? readOnlyReason() : QString(), this);
    connect(m_cleanUp, &CleanUpDialog::previewQueried, this, &MainWindow::cleanUpPreviewQueried);
    connect(m_cleanUp, &CleanUpDialog::cleanUpWanted, this, &MainWindow::cleanUpRequested);
    m_cleanUp->open();
}

/// Without a worker nobody would answer: a port or a setting stopped everything before there was one.
void MainWindow::checkServices()
{
    if (isSignalConnected(QMetaMethod::fromSignal(&MainWindow::checkRequested))) {
        Q_EMIT checkRequested();
        return;
    }
    const bool failed = !m_openFailure.isEmpty();
    CheckLine line;
    line.id = u"settings"_s;
    line.level = failed ? CheckLine::Level::Error : CheckLine::Level::Warning;
    line.text = failed ? m_openFailure : tr("The services are still being opened");
    line.remedy = failed ? tr("Put that right, then start Sendonce again") : tr("Check again in a moment");
    m_check->addLine(line);
    m_check->finish();
}

void MainWindow::storeLayout()
{
    if (m_layoutStore && m_layoutStore->save({saveGeometry(), saveState(LayoutVersion)}))
        m_layoutStore->finished();
}

QList<Panel *> MainWindow::eventPanels() const
{
    return {m_processed, m_deadLetters, m_doubts, m_mailbox, m_log, m_audit};
}

} // namespace sendonce
