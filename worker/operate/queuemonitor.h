#pragma once

#include "worker/queue/sqsclient.h"

#include <QObject>
#include <QTimer>

namespace sendonce {

/// Samples the approximate numbers of the queue and its DLQ; a sample starts only after the last one ended. Looking is
/// GetQueueAttributes alone: nothing is received. Lives in the worker thread.
class QueueMonitor : public QObject
{
    Q_OBJECT
public:
    QueueMonitor(SqsClient &client, QObject *parent = nullptr);

    void watch(const QUrl &queueUrl, const QUrl &dlqUrl, std::chrono::milliseconds interval);
    void stop();
    /// The queue refuses our keys: no samples until resume(), but those asked for.
    void pause();
    void resume();
    void sample();

Q_SIGNALS:
    void sampled(const sendonce::QueueDepth &depth);
    void failed(const sendonce::Error &error);

private:
    void sampleDeadLetters(QueueDepth depth);
    void finish();

    SqsClient &m_client;
    QUrl m_queueUrl, m_dlqUrl;
    std::chrono::milliseconds m_interval{1000};
    QTimer m_timer;
    bool m_paused = false;
    bool m_sampling = false;
};

} // namespace sendonce
