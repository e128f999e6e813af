#pragma once

#include "ui/layoutstate.h"
#include "ui/theme.h"
#include "worker/faults/fault.h"
#include "worker/types.h"

#include <QMainWindow>
#include <QPointer>
#include <QTimer>

#include <chrono>
#include <memory>
#include <optional>

class QSettings;

namespace sendonce {

class AuditPanel;
class CheckPanel;
class CleanUpDialog;
class Coalescer;
class ComposeDialog;
class ControlBar;
class Curtain;
class DeadLetterActs;
class DeadLettersPanel;
class DoubtsPanel;
class FaultsPanel;
class HelpWindow;
class LogPanel;
class MailboxPanel;
class MatrixPanel;
class Notice;
class Panel;
class PanelDock;
class ProcessedPanel;
class QueuePanel;
class ScenariosPanel;
class SendPanel;
class StatusLine;
class WindowDocks;
struct WindowActions;

/// The profile, as the window shows it.
struct WindowSetup
{
    QString profile = QStringLiteral("Local");
    Tone profileTone = Tone::Sent; ///< the colour of its badge
    bool embedded = true; ///< mailbox and faults are this folder's; else they are not offered
    QString queueName = QStringLiteral("job-board-events");
    QString strategy; ///< in words; empty: "one transaction"
    bool readOnly = false; ///< looks, but does not act
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
    DeadLetterActs *letterActs() const { return m_letterActs; } ///< attach.h joins it to the worker itself
    DoubtsPanel *doubtsPanel() const { return m_doubts; }
    MailboxPanel *mailboxPanel() const { return m_mailbox; }
    LogPanel *logPanel() const { return m_log; }
    QueuePanel *queuePanel() const { return m_queue; }
    ScenariosPanel *scenariosPanel() const { return m_scenarios; } ///< attach.h joins it to those who run them
    MatrixPanel *matrixPanel() const { return m_matrix; } ///< so too
    FaultsPanel *faultsPanel() const { return m_faults; }
    SendPanel *sendPanel() const { return m_send; }
    CheckPanel *checkPanel() const { return m_check; }
    AuditPanel *auditPanel() const { return m_audit; }
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
    void showArmed(const sendonce::FaultRules &rules);
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
    void showDeadLetterMatches(const sendonce::DeadLetterMatches &matches);
    void showDeadLetter(const sendonce::DeadLetterDetail &letter);
    void showEventRules(const sendonce::EventRules &rules);
    void showActDone(const sendonce::ActReport &report);
    void showAudit(const sendonce::AuditPage &page);
    void showCleanUpPreview(const sendonce::CleanUp &preview);
    void showCleanUpDone(const sendonce::CleanUp &report);
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
    void disarmRequested(); ///< all that is armed
    void armRequested(const sendonce::FaultRule &rule);
    void disarmOneRequested(int id);
    void processedQueried(const sendonce::ProcessedQuery &query);
    void mailboxQueried(const QString &search, int limit);
    void mailOpenRequested(const QString &id);
    void storyRequested(const QString &eventId);
    void browseRequested(bool yes);
    void browseCancelled();
    void retryKeysRequested();
    void deadLetterRequested(const QString &messageId);
    void deadLetterSearchRequested(const QString &text, quint64 ticket);
    void auditQueried(qint64 beforeId, int limit);
    void auditExportRequested(const QString &path);
    void cleanUpPreviewQueried();
    void cleanUpRequested();
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
    void connectActions();
    void connectPanels();
    void flush();
    void tick();
    void updateActions();
    void jumpTo(const QString &eventId);
    void storeLayout();
    void compose();
    void askToCleanUp();
    void checkServices();
    void showFaultRefused(const QString &text);
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
    DeadLetterActs *m_letterActs;
    DoubtsPanel *m_doubts;
    MailboxPanel *m_mailbox;
    LogPanel *m_log;
    FaultsPanel *m_faults;
    ScenariosPanel *m_scenarios;
    MatrixPanel *m_matrix;
    CheckPanel *m_check; ///< its dock is hidden until somebody asks for it
    AuditPanel *m_audit;
    WindowDocks *m_docks;
    QPointer<ComposeDialog> m_compose;
    QPointer<CleanUpDialog> m_cleanUp;
    Notice *m_notice;
    Curtain *m_curtain;
    HelpWindow *m_help = nullptr;
    Coalescer *m_updates;
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
    bool m_readOnly = false;
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
