#pragma once

#include "worker/config.h"
#include "worker/faults/fault.h"
#include "worker/result.h"
#include "worker/types.h"

#include <QObject>

#include <memory>

namespace sendonce {

/// The face that ui and ctl talk to: slots in, signals of values out. Lives in the worker thread (or, in tests, in the
/// test's); never blocks. Its lanes and its operator have threads of their own, started and ended by it.
class Worker : public QObject
{
    Q_OBJECT
public:
    explicit Worker(Config config, QObject *parent = nullptr);
    ~Worker() override;

public Q_SLOTS:
    /// Starts looking: depth samples, what is armed, mailbox watch; nothing is received from the queue. Emits opened()
    /// or openFailed().
    void open();
    void start(); ///< begins to receive; while stopping: starts again after it
    void stop(); ///< aborts the long poll at once, settles what is in work within a bound; then stateChanged(Stopped)
    void close(); ///< stop, end every thread, then closed(); the object can be deleted afterwards

    void send(const sendonce::SendRequest &request);
    /// A second message of this event; empty: a new event, sent twice.
    void injectDuplicate(const QString &eventId);
    // ---- faults: where queue, database and mail are the embedded ones
    void failNextMails(int times, int replyCode); ///< arms that: refused after their final dot
    void arm(const sendonce::FaultRule &rule); ///< armedChanged(), or actFailed()
    void disarm(int id);
    void disarmAll();

    void queryProcessed(const sendonce::ProcessedQuery &query);
    void queryMailbox(const QString &search, int limit);
    void openMail(const QString &id);
    void queryStory(const QString &eventId);

    // ---- dead letters. What changes something is refused (actFailed) by a profile that is read-only, and is in the
    // audit before it begins and when it has ended.
    /// Looks through the whole DLQ, which counts as a receive of each letter: deadLettersChanged(), to the end. Its
    /// letters are hidden from others meanwhile, if this process is killed for at most 10 minutes. \param yes also when
    /// the DLQ has a redrive policy of its own (else it ends with needsYes)
    void browseDeadLetters(bool yes = false);
    void cancelBrowse();
    void openDeadLetter(const QString &messageId); ///< of the last browse: deadLetterOpened(), whole
    void findInDeadLetters(const QString &text, quint64 ticket); ///< bodies too: deadLettersFound()
    /// Of the last browse: replayChanged() for each step of each letter, replayProgressed() for the whole. A letter is
    /// locked from here to its outcome: named again meanwhile, nothing happens.
    void replay(const sendonce::ReplayOrder &order);
    void pauseReplay(qint64 run);
    void resumeReplay(qint64 run); ///< paused, halted, or of a dead process; 0: the newest of those that died
    void cancelReplay(qint64 run); ///< what is under way is settled; the others stay dead letters
    void queryReplays(); ///< replaysListed(): newest first, those of dead processes Interrupted
    void queryReplayItems(qint64 run); ///< replayItemsListed()
    /// Lets the endpoint move everything in the DLQ back, where it can (moveTasksProbed): moveTaskChanged() until it is
    /// over. No verdicts, no outcome of each letter. \param perSecond 1 to 500; 0: as the service sees fit
    void startMoveTask(int perSecond);
    void queryMoveTask(); ///< moveTaskChanged() with the newest one; while one is under way, until it is over
    void cancelMoveTask(); ///< what was moved stays moved
    void deleteDeadLetters(const QStringList &messageIds); ///< keeps copies; replayChanged() as for a replay
    void editAndReplay(const sendonce::EditOrder &order); ///< keeps a copy; replayChanged() as for a replay
    void queryKeptLetters(int limit); ///< keptLettersListed()
    void putBackLetters(const QList<qint64> &keptIds); ///< into the DLQ, as new messages: actDone()
    void purgeDeadLetters(const QString &typedName); ///< no copies; the DLQ's name typed; embedded only: actDone()
    /// Of the last browse, none named: all. JSON lines lose nothing and can be imported: actDone()
    void exportDeadLetters(const QStringList &messageIds, const QString &path, bool csv);
    void importDeadLetters(const QString &path, bool toSource); ///< into the DLQ, or the source queue: actDone()
    /// Forgets claims that are older than the setting says, and no message can bring back: cleanUpPreviewed() and
    /// cleanUpDone(). The events of the last browse's dead letters stay.
    void previewCleanUp();
    void cleanUp();
    void forgetClaim(const QString &eventId, const QString &reason); ///< that event can mail again: actDone()
    void queryAudit(qint64 beforeId, int limit); ///< 0: from the newest: auditListed()
    void exportAudit(const QString &path); ///< JSON lines, oldest first: actDone()

    // ---- events in doubt
    void queryDoubts(int limit); ///< doubtsListed()
    /// Each is in the audit and in the event's story: doubtsSettled(), one outcome for each event.
    void settleDoubts(const QStringList &eventIds, sendonce::DoubtAct act);

    /// The queue is paused because it refuses our keys (ServiceStatus): reads them anew and tries them now.
    void retryKeys();
    /// Checks every service, also when opened() never came: a checkLine() for each finding, then checkFinished().
    /// Changes nothing.
    void check();

Q_SIGNALS:
    void opened();
    void
    openFailed(const sendonce::Error &error); ///< a setting or a service makes work impossible; the text says which
    void eventRulesKnown(const sendonce::EventRules &rules); ///< before opened()
    void queuesKnown(const sendonce::QueueNames &names); ///< once the queue has answered
    void stateChanged(sendonce::WorkerState state);
    void closed();

    void deliveryStarted(int lane, const QString &messageId, int receiveCount);
    void delivered(const sendonce::DeliveryReport &report); ///< after COMMIT or roll-back
    void deleted(const QStringList &messageIds); ///< confirmed by the queue
    void inHandChanged(int messages); ///< received and not yet settled
    void countersChanged(const sendonce::Counters &counters);
    void depthSampled(const sendonce::QueueDepth &depth);
    void serviceChanged(const sendonce::ServiceStatus &status);
    void logged(const sendonce::LogLine &line);
    void noted(const QString &text); ///< logged too: something that a person should know at the start
    void armedChanged(const sendonce::FaultRules &rules); ///< also when one strikes
    /// A delivery ended as if its worker had died there (a fault was armed); it is not delivered(), unless it was
    /// deleted.
    void crashed(int lane, const QString &messageId, const QString &eventId, sendonce::FaultPoint at);
    void sendFinished(const sendonce::SendReport &report);
    void actFailed(const QString &act, const QString &text); ///< an operator's act that has no report of its own

    void processedPage(const sendonce::ProcessedPage &page);
    void mailboxSnapshot(const sendonce::MailboxSnapshot &snapshot);
    void mailboxChanged(); ///< something arrived or went; ask again when shown
    void mailOpened(const sendonce::MailDetail &mail);
    void story(const sendonce::EventStory &story);
    void deadLettersChanged(const sendonce::DeadLetterList &list); ///< while browsing, and when finished
    void moveTasksProbed(const sendonce::MoveTaskSupport &support); ///< when opened, once for the dead letter queue
    void deadLettersUpdated(const QList<sendonce::DeadLetter> &letters); ///< rows that are judged anew, after acts
    void deadLetterOpened(const sendonce::DeadLetterDetail &letter);
    void deadLettersFound(const sendonce::DeadLetterMatches &matches);
    /// Each step of each replayed or deleted letter, in order, at most 20 times a second for each replay.
    void replayChanged(const QList<sendonce::ReplayItem> &items);
    void replayProgressed(const sendonce::ReplayProgress &progress);
    void replaysListed(const QList<sendonce::ReplayProgress> &replays);
    void replayItemsListed(const sendonce::ReplayItems &items);
    void moveTaskChanged(const sendonce::MoveTaskProgress &progress);
    void keptLettersListed(const sendonce::KeptLetters &letters);
    void auditListed(const sendonce::AuditPage &page);
    void cleanUpPreviewed(const sendonce::CleanUp &preview);
    void cleanUpDone(const sendonce::CleanUp &report); ///< also of one by schedule
    void actDone(const sendonce::ActReport &report);
    void doubtsListed(const sendonce::DoubtList &list);
    void doubtsSettled(const QList<sendonce::DoubtOutcome> &outcomes);
    void checkLine(const sendonce::CheckLine &line);
    void checkFinished();

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace sendonce
