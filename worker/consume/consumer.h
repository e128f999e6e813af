#pragma once

#include "worker/consume/acknowledger.h"
#include "worker/consume/backlog.h"
#include "worker/consume/consumermachine.h"
#include "worker/consume/heartbeat.h"
#include "worker/consume/journalwriter.h"
#include "worker/consume/lanethread.h"
#include "worker/queue/sqsclient.h"

#include <QHash>
#include <QObject>
#include <QPointer>
#include <QSet>
#include <QTimer>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace sendonce {

/// What the queue says about itself, read before the first receive.
struct QueueFacts
{
    QUrl queueUrl;
    QUrl dlqUrl; ///< empty: no redrive policy
    std::chrono::seconds visibility{30};
    int maxReceiveCount = 0; ///< 0: no redrive policy
};

/// Receives, hands to lanes, settles: carries out what ConsumerMachine decides. Lives in the worker thread, never
/// blocks; its lanes and the journal have threads of their own, built here and ended in the destructor.
class Consumer : public QObject
{
    Q_OBJECT
public:
    Consumer(SqsClient &client, const QueueFacts &facts, const LaneSettings &laneSettings, int lanes,
             QObject *parent = nullptr);
    ~Consumer() override; ///< waits for the lanes; call stop() and wait for stopped() first

    void start();
    /// Idle: stopped() follows at once. Else what is not handed over is abandoned, the rest settled within both mail
    /// time-outs.
    void stop();
    /// The queue refuses our keys: nothing is asked of it until resume(). What the lanes have goes on; what they finish
    /// is deleted after it.
    void pause();
    void resume();
    /// While paused: receives once, without waiting for messages; its end is triedKeys(). False: there is nothing to
    /// receive for.
    bool tryKeys();
    int inHand() const { return m_machine.inHand(); }
    bool running() const { return m_machine.running(); }
    bool databaseAway() const { return m_databaseAway; }

Q_SIGNALS:
    void stopped();
    void deliveryStarted(int lane, const QString &messageId, int receiveCount);
    void delivered(const sendonce::DeliveryReport &report); ///< and the journal has it
    void deleted(const QStringList &messageIds); ///< after their delivered()
    void inHandChanged(int messages);
    /// The first of a row of failed receives; error.text says what is wrong.
    void receiveFailing(const sendonce::Error &error);
    void receiveWorking(); ///< the first success after that
    void databaseFailing(const sendonce::Error &error); ///< nothing is received until databaseWorking()
    void databaseWorking();
    void keysRefused(const sendonce::Error &error); ///< for whatever was asked; paused already
    void triedKeys(const std::optional<sendonce::Error> &error); ///< nothing: they are accepted
    void warned(const QString &text);
    /// As if its process had died there (a fault was armed): there is no delivered() for this delivery, but where it
    /// was deleted.
    void crashed(const sendonce::DeliveryReport &report, sendonce::FaultPoint at);

private:
    void step(const std::function<ConsumerCommands()> &step);
    void catchUp();
    void carryOut(const ConsumerCommands &commands);
    void receive(int count, bool longPoll);
    void received(const Result<QList<Message>> &result, int asked, bool tried);
    void refused(const Error &error);
    void databaseLost(int lane, const Error &error);
    void databaseBack();
    ConsumerCommands laneEnded(const LaneReport &report);
    void crashAtDelete(const QStringList &messageIds);
    void settle(const DeliveryReport &report);
    LaneThread &threadOf(int lane) { return *m_threads[size_t((lane - 1) / m_lanesOfThread)]; }
    void giveBack(const QString &messageId, const QString &receiptHandle, std::chrono::seconds hideFor);
    void tellDeleted(const QStringList &messageIds);
    void recorded(const QList<DeliveryReport> &reports);
    void finishStop();

    SqsClient &m_client;
    QueueFacts m_facts;
    ConsumerMachine m_machine;
    Acknowledger m_acknowledger;
    Heartbeat m_heartbeat;
    std::shared_ptr<const FaultGate> m_faults;
    std::shared_ptr<std::atomic_bool> m_stopFlag;
    const std::shared_ptr<Backlog> m_backlog;
    const int m_lanesOfThread;
    std::vector<std::unique_ptr<LaneThread>> m_threads;
    QList<QPointer<SqsCall>> m_receives; ///< under way
    QTimer m_backOff;
    QTimer m_rateTimer;
    QThread *m_journalThread = nullptr;
    JournalWriter *m_journal = nullptr; ///< lives in m_journalThread
    int m_journalling = 0; ///< reports that it has not written yet
    QHash<QString, DeliveryReport> m_deleting; ///< by message: not answered yet
    QSet<QString> m_untold; ///< their messages
    QSet<QString> m_deletedEarly; ///< of those: deleted already
    int m_givingBack = 0;
    bool m_paused = false;
    bool m_databaseAway = false;
    bool m_trying = false; ///< the next receive is tryKeys()'s
    bool m_stopPending = false; ///< the lanes are free, deletes and give-backs are still on the wire
};

} // namespace sendonce
