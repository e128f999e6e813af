#pragma once

#include "worker/config.h"
#include "worker/events/eventtype.h"
#include "worker/operate/mailboxindex.h"
#include "worker/queue/sqsclient.h"
#include "worker/store/database.h"
#include "worker/store/journal.h"
#include "worker/store/processedevents.h"
#include "worker/types.h"

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

#include <atomic>
#include <memory>
#include <optional>

namespace sendonce {

class DeadLetters;
class Doubts;
class LetterActs;
class MoveTaskRun;
class PreflightRun;
class Retention;

/// What operators ask and do, on a thread of its own with its own SQL connection and SqsClient: it may block there, on
/// SQL and files, without holding up the worker or the window. Owned and ended by Worker.
class Operator : public QObject
{
    Q_OBJECT
public:
    Operator(Config config, SqsSettings sqs, std::shared_ptr<const EventTypes> types);
    ~Operator() override;

    /// From any thread, before this one's is ended: a check does not hold it up.
    void abandonCheck() { m_checkAbandoned = true; }

    /// From any thread: the opening agrees on the strategy as well, so that the lanes need not wait for what else it
    /// does.
    void expectWork(bool isExpected) { m_workIsExpected = isExpected; }

public Q_SLOTS:
    /// Opens the connections in this thread and looks for handover slots of dead processes. databaseOpened() comes as
    /// soon as lanes may claim.
    void open();
    /// For whoever is about to work, not for those who only look: strategyAgreed() or strategyRefused() follows.
    void agreeOnStrategy();
    void setQueues(const QUrl &queueUrl, const QUrl &dlqUrl, int maxReceiveCount);
    void queryProcessed(const sendonce::ProcessedQuery &query);
    void queryMailbox(const QString &search, int limit);
    void openMail(const QString &id);
    void queryStory(const QString &eventId);
    // The dead letters: see worker.h. What changes something is refused by a profile that is read-only.
    void browseDeadLetters(bool yes);
    void cancelBrowse();
    void openDeadLetter(const QString &messageId);
    void findInDeadLetters(const QString &text, quint64 ticket);
    void replay(const sendonce::ReplayOrder &order);
    void pauseReplay(qint64 run);
    void resumeReplay(qint64 run);
    void cancelReplay(qint64 run);
    void queryReplays();
    void queryReplayItems(qint64 run);
    void startMoveTask(int perSecond);
    void queryMoveTask();
    void cancelMoveTask();
    void deleteDeadLetters(const QStringList &messageIds);
    void editAndReplay(const sendonce::EditOrder &order);
    void queryKeptLetters(int limit);
    void putBackLetters(const QList<qint64> &keptIds);
    void purgeDeadLetters(const QString &typedName);
    void exportDeadLetters(const QStringList &messageIds, const QString &path, bool csv);
    void importDeadLetters(const QString &path, bool toSource);
    void forgetClaim(const QString &eventId, const QString &reason);
    /// Once a day from now on, unless the profile is read-only.
    /// What lanes have left in the handover file that died, of this process or another: possiblyMailedTwice() for each.
    void collectHandover();
    void scheduleCleanUps();
    /// Both leave the claims of the last browse's letters alone.
    void previewCleanUp();
    void cleanUp();
    void queryAudit(qint64 beforeId, int limit);
    void exportAudit(const QString &path);
    void queryDoubts(int limit);
    void settleDoubts(const QStringList &eventIds, sendonce::DoubtAct act);
    void recordSend(const sendonce::SendReport &report);
    /// Once more while one runs: nothing. Works without open databases too, for it is there to say why they are not.
    void check();
    /// For the end of the worker: what is under way with dead letters is brought to rest; left() follows.
    void leave();

Q_SIGNALS:
    void openFailed(const sendonce::Error &error);
    void strategyAgreed();
    void strategyRefused(const sendonce::Error &error);
    /// \param connections that the server has room for beside ours; 0: there is no such limit
    void databaseOpened(const QString &displayName, int connections);
    void databaseAway(const sendonce::Error &error); ///< before databaseOpened(): tried again and again
    void warned(const QString &text);
    void tablesMissing(const QString &text); ///< what is worse without them, and what to do
    /// A worker died while it handed this mail over.
    void possiblyMailedTwice(const QString &eventId, const QString &messageId);
    void processedPage(const sendonce::ProcessedPage &page);
    void mailboxSnapshot(const sendonce::MailboxSnapshot &snapshot);
    void mailboxChanged();
    void mailOpened(const sendonce::MailDetail &mail);
    void story(const sendonce::EventStory &story);
    void deadLettersChanged(const sendonce::DeadLetterList &list);
    /// Once for each dead letter queue; again before a browse while it is not known.
    void moveTasksProbed(const sendonce::MoveTaskSupport &support);
    void deadLettersUpdated(const QList<sendonce::DeadLetter> &letters);
    void deadLetterOpened(const sendonce::DeadLetterDetail &letter);
    void deadLettersFound(const sendonce::DeadLetterMatches &matches);
    void replayChanged(const QList<sendonce::ReplayItem> &items);
    void replayProgressed(const sendonce::ReplayProgress &progress);
    void replaysListed(const QList<sendonce::ReplayProgress> &replays);
    void replayItemsListed(const sendonce::ReplayItems &items);
    void moveTaskChanged(const sendonce::MoveTaskProgress &progress);
    void keptLettersListed(const sendonce::KeptLetters &letters);
    void auditListed(const sendonce::AuditPage &page);
    void cleanUpPreviewed(const sendonce::CleanUp &preview);
    void cleanUpDone(const sendonce::CleanUp &report);
    void actDone(const sendonce::ActReport &report);
    void doubtsListed(const sendonce::DoubtList &list);
    void doubtsSettled(const QList<sendonce::DoubtOutcome> &outcomes);
    void actFailed(const QString &act, const QString &text);
    void checkLine(const sendonce::CheckLine &line);
    void checkFinished();
    void left(); ///< within some 10 s of leave()

private:
    Result<void> openDatabase();
    void openForOperators();
    Result<void> openJournal();
    void tellMissingTables();
    void probeForMoveTasks();
    /// The dead letters, or nothing, which is told: no database, or an act that this profile may not do.
    enum class Right { Look, Act };
    DeadLetters *lettersFor(const QString &act, Right right);
    void writeSends();
    void watchMailbox();
    void lookIntoMailbox();

    const Config m_config;
    const SqsSettings m_sqs;
    const std::shared_ptr<const EventTypes> m_types;
    std::atomic_bool m_workIsExpected = false;
    bool m_lacksTables = false; ///< those beside Django's, and this role may not make them
    std::optional<Database> m_database;
    std::unique_ptr<ProcessedEvents> m_claims;
    std::optional<Journal> m_journal;
    QList<SendReport> m_sends; ///< to be noted in it
    bool m_sendsTriedAgain = false; ///< a timer runs
    QUrl m_queueUrl, m_dlqUrl; ///< once known
    int m_maxReceiveCount = 0;
    std::chrono::milliseconds m_openPause{500}; ///< until the next try
    std::unique_ptr<SqsClient> m_client;
    std::unique_ptr<DeadLetters> m_deadLetters;
    std::optional<MoveTaskSupport> m_moveTasks; ///< nothing: not asked yet, or just being asked
    std::unique_ptr<LetterActs> m_acts;
    std::unique_ptr<MoveTaskRun> m_moveTask;
    std::unique_ptr<Retention> m_retention;
    bool m_cleanUpsWanted = false;
    std::unique_ptr<Doubts> m_doubts;
    std::optional<MailboxIndex> m_mailbox;
    std::unique_ptr<QFileSystemWatcher> m_watcher;
    std::unique_ptr<QTimer> m_mailboxTimer;
    std::atomic_bool m_checkAbandoned = false;
    std::unique_ptr<PreflightRun> m_check; ///< while one runs
};

} // namespace sendonce
