#pragma once

#include "ui/layoutstate.h"
#include "ui/theme.h"
#include "worker/types.h"

#include <QMainWindow>
#include <QTimer>

#include <chrono>
#include <memory>
#include <optional>

class QSettings;

namespace sendonce {

class CheckPanel;
class Coalescer;
class ControlBar;
class Curtain;
class DeadLettersPanel;
class DoubtsPanel;
class HelpWindow;
class LogPanel;
class MailboxPanel;
class Notice;
class Panel;
class PanelDock;
class ProcessedPanel;
class QueuePanel;
class SendPanel;
class StatusLine;
struct WindowActions;

/// The profile, as the window shows it.
struct WindowSetup
{
    QString profile = QStringLiteral("Local");
    Tone profileTone = Tone::Sent; ///< the colour of its badge
    bool embedded = true; ///< mailbox and faults are this folder's; else they are not offered
    QString queueName = QStringLiteral("job-board-events");
    QString strategy; ///< in words; empty: "one transaction"
};

/// The console's window. It takes values by its show…/add… slots and says what the person wants by signals; it knows no
/// worker (attach.h joins the two). Lives in the GUI thread and never blocks it.
class MainWindow : public QMainWindow
{
    Q_OBJECT
public:
    explicit MainWindow(const WindowSetup &setup = {}, QWidget *parent = nullptr);
    ~MainWindow() override;

    /// Another profile, or what was not known yet when the window was made.
    void showProfile(const WindowSetup &setup);
    /// Theme, text size and layout are read from this folder, and kept there from now on. Call it before show().
    void keepStateIn(const QString &folder);
    void setTheme(ThemeChoice choice);
    void setTextPercent(int percent); ///< 75 to 200
    void resetLayout();
    /// How long closing waits for workerClosed(); then the window goes anyway. Above the time a mail in work may take
    /// (60 s).
    void setCloseBound(std::chrono::milliseconds bound) { m_closeBound = bound; }

    ProcessedPanel *processedPanel() const { return m_processed; }
    DeadLettersPanel *deadLettersPanel() const { return m_deadLetters; }
    DoubtsPanel *doubtsPanel() const { return m_doubts; }
    MailboxPanel *mailboxPanel() const { return m_mailbox; }
    LogPanel *logPanel() const { return m_log; }
    QueuePanel *queuePanel() const { return m_queue; }
    SendPanel *sendPanel() const { return m_send; }
    CheckPanel *checkPanel() const { return m_check; }
    const WindowActions &actions() const { return *m_actions; }
    PanelDock *dockOf(const Panel *panel) const;
    /// Shows a panel, in front, with the keyboard in it.
    void bringForward(const Panel *panel);
    Panel *frontPanel() const;

public Q_SLOTS:
    void showOpened();
    void showOpenFailed(const QString &text);
    void showState(sendonce::WorkerState state);
    void showInHand(int messages);
    void showCounters(const sendonce::Counters &counters);
    void showDepth(const sendonce::QueueDepth &depth);
    void showService(const sendonce::ServiceStatus &status);
    void showArmed(const sendonce::ArmedFaults &faults);
    void addLogLine(const sendonce::LogLine &line);
    void addDelivery(const sendonce::DeliveryReport &report);
    void showSendReport(const sendonce::SendReport &report);
    void showNote(const QString &text); ///< something a person should know, such as a port that was taken
    void showActFailed(const QString &act, const QString &text);
    void showProcessedPage(const sendonce::ProcessedPage &page);
    void showMailbox(const sendonce::MailboxSnapshot &snapshot);
    void noteMailboxChange();
    void showMail(const sendonce::MailDetail &mail);
    void showStory(const sendonce::EventStory &story);
    void showDeadLetters(const sendonce::DeadLetterList &list);
    void showMoveTasks(const sendonce::MoveTaskSupport &support);
    void showReplays(const QList<sendonce::ReplayItem> &items);
    void updateDeadLetters(const QList<sendonce::DeadLetter> &letters);
    void showDeadLetter(const sendonce::DeadLetterDetail &letter);
    void showDoubts(const sendonce::DoubtList &list);
    void showDoubtsSettled(const QList<sendonce::DoubtOutcome> &outcomes);
    void showCheckLine(const sendonce::CheckLine &line);
    void showCheckFinished();
    void workerClosed();

    void selectEvent(const QString &eventId);

Q_SIGNALS:
    void startRequested();
    void stopRequested();
    void closeRequested(); ///< the person closes the window: stop everything, then call workerClosed()
    void sendRequested(const sendonce::SendRequest &request);
    void injectDuplicateRequested(const QString &eventId);
    void failNextMailsRequested(int times, int replyCode);
    void disarmRequested();
    void processedQueried(const sendonce::ProcessedQuery &query);
    void mailboxQueried(const QString &search, int limit);
    void mailOpenRequested(const QString &id);
    void storyRequested(const QString &eventId);
    void browseRequested();
    void browseCancelled();
    void replayRequested(const QStringList &messageIds);
    void retryKeysRequested();
    void deadLetterRequested(const QString &messageId);
    void doubtsQueried(int limit);
    void settleDoubtsRequested(const QStringList &eventIds, sendonce::DoubtAct act);
    void checkRequested();
    void eventSelected(const QString &eventId);

protected:
    void closeEvent(QCloseEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void changeEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void keyReleaseEvent(QKeyEvent *event) override;
    QMenu *createPopupMenu() override;

private:
    void makeDocks();
    void connectActions();
    void connectPanels();
    void defaultLayout();
    void defaultSizes();
    void followDocks();
    void flush();
    void tick();
    void updateActions();
    void jumpTo(const QString &eventId);
    void storeLayout();
    void checkServices();
    void showKeys(const sendonce::ServiceStatus &queue);
    void showBar();
    QList<Panel *> eventPanels() const;

    std::unique_ptr<WindowActions> m_actions;
    std::unique_ptr<QSettings> m_settings;
    std::optional<LayoutStore> m_layoutStore;
    ControlBar *m_bar;
    StatusLine *m_status;
    QueuePanel *m_queue;
    SendPanel *m_send;
    ProcessedPanel *m_processed;
    DeadLettersPanel *m_deadLetters;
    DoubtsPanel *m_doubts;
    MailboxPanel *m_mailbox;
    LogPanel *m_log;
    CheckPanel *m_check; ///< its dock is hidden until somebody asks for it
    QList<PanelDock *> m_docks; ///< in the order of the menu
    Notice *m_notice;
    Curtain *m_curtain;
    HelpWindow *m_help = nullptr;
    Coalescer *m_updates;
    Coalescer *m_dockChanges;
    Coalescer *m_storyChanges;
    QTimer m_clock;
    QTimer m_closing;

    QList<LogLine> m_newLines;
    QList<DeliveryReport> m_newDeliveries;
    std::optional<QueueDepth> m_newDepth;
    std::optional<Counters> m_newCounters;
    WorkerState m_state = WorkerState::Stopped;
    int m_inHand = 0;
    int m_ticks = 0; ///< of the clock, one a second
    bool m_opened = false;
    bool m_armed = false;
    bool m_keysRefused = false;
    bool m_tryingKeys = false;
    bool m_retryAsked = false; ///< by a person, who wants the outcome
    bool m_embedded = true;
    bool m_workerClosed = false;
    bool m_firstShow = true;
    bool m_restored = false; ///< the layout came from the folder
    QString m_selectedEvent;
    QString m_openFailure; ///< why nothing could be opened; empty: it could, or is not known yet
    ThemeChoice m_theme = ThemeChoice::System;
    int m_textPercent = 100;
    std::chrono::milliseconds m_closeBound{75'000};
};

} // namespace sendonce
