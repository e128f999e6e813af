#pragma once

#include "worker/config.h"
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
    void failNextMails(int times, int replyCode); ///< embedded mailbox only
    void disarm();

    void queryProcessed(const sendonce::ProcessedQuery &query);
    void queryMailbox(const QString &search, int limit);
    void openMail(const QString &id);
    void queryStory(const QString &eventId);
    void browseDeadLetters();
    void cancelBrowse();
    void replay(const QStringList &messageIds); ///< of the last browse
    /// The queue is paused because it refuses our keys (ServiceStatus): reads them anew and tries them now.
    void retryKeys();
    /// Checks every service, also when opened() never came: a checkLine() for each finding, then checkFinished().
    /// Changes nothing.
    void check();

Q_SIGNALS:
    void opened();
    void
    openFailed(const sendonce::Error &error); ///< a setting or a service makes work impossible; the text says which
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
    void armedChanged(const sendonce::ArmedFaults &faults);
    void sendFinished(const sendonce::SendReport &report);
    void actFailed(const QString &act, const QString &text); ///< an operator's act that has no report of its own

    void processedPage(const sendonce::ProcessedPage &page);
    void mailboxSnapshot(const sendonce::MailboxSnapshot &snapshot);
    void mailboxChanged(); ///< something arrived or went; ask again when shown
    void mailOpened(const sendonce::MailDetail &mail);
    void story(const sendonce::EventStory &story);
    void deadLettersChanged(const sendonce::DeadLetterList &list); ///< while browsing, and when finished
    void moveTasksProbed(const sendonce::MoveTaskSupport &support); ///< when opened, once for the dead letter queue
    void replayChanged(const sendonce::ReplayItem &item); ///< each step of each replayed letter
    void checkLine(const sendonce::CheckLine &line);
    void checkFinished();

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace sendonce
