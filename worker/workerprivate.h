#pragma once

#include "worker/consume/consumer.h"
#include "worker/faults/faultgate.h"
#include "worker/faults/faultsocket.h"
#include "worker/keypause.h"
#include "worker/operate/queuemonitor.h"
#include "worker/operatorthread.h"
#include "worker/queueinquiry.h"
#include "worker/worker.h"

#include <memory>
#include <optional>

namespace sendonce {

/// What stands behind the worker's face: its parts, how they are joined, and what is known of the services.
struct Worker::Private
{
    Private(Worker *worker, Config settings);

    Worker *const q;
    const Config config;
    const SqsSettings sqs;
    int lanes; ///< as many as wanted, and as the database has room for
    const std::shared_ptr<FaultGate> gate; ///< for the lanes
    bool databaseKnown = false; ///< it was opened once
    bool strategyAgreed = false; ///< with the other workers on this database
    bool databaseFailed = false; ///< told, and not yet that it is back

    std::shared_ptr<const EventTypes> types;
    std::unique_ptr<SqsClient> client;
    QMap<QString, qint64> requestsBefore; ///< its counts when the consumer was started
    std::unique_ptr<QueueMonitor> monitor;
    std::unique_ptr<FaultSocket> faults;
    std::unique_ptr<Consumer> consumer;
    std::unique_ptr<QueueInquiry> inquiry;
    std::unique_ptr<OperatorThread> operations;
    KeyPause keyPause;
    bool samplingKeys = false; ///< the try of the keys is a sample
    LaneSettings laneSettings;
    std::optional<QueueFacts> facts; ///< once known
    bool startWanted = false;
    bool closing = false;
    bool leaving = false; ///< the operator comes to rest
    QString unusable; ///< why not even the operator could be started: a setting
    WorkerState state = WorkerState::Stopped;
    Counters counters;
    qint64 halted = 0; ///< the replay whose halt was logged
    ServiceStatus queueStatus, databaseStatus, mailStatus;

    /// Nothing while there is no operator.
    template <typename Act>
    void ask(Act act)
    {
        if (operations)
            operations->ask(act);
    }
    void log(LogLevel level, const QString &text, const QString &eventId = {});
    bool mayArm();
    void crashed(const DeliveryReport &report, FaultPoint at);
    void setState(WorkerState next);
    void setHealth(ServiceStatus &status, ServiceStatus::Health health, const QString &detail = {});
    bool prepare();
    void startOperator();
    void logCleanUp(const CleanUp &report);
    void logReplay(const ReplayItem &item);
    void startInquiry();
    void factsComplete(const QueueFacts &known);
    void databaseOpened(int connections);
    void databaseFailing(const Error &error);
    void startWhenReady();
    void makeConsumer();
    void startConsumer();
    void keysRefused(const Error &error);
    void tryKeys();
    void triedKeys(const std::optional<Error> &error);
    void sampleEnded(const std::optional<Error> &error);
    void consumerStopped();
    void account(const DeliveryReport &report);
    void finishClose();
    void leftBehind();
};

} // namespace sendonce
