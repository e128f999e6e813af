#pragma once

#include "worker/config.h"
#include "worker/consume/consumer.h"
#include "worker/queue/sqsclient.h"

#include <QObject>
#include <QTimer>

namespace sendonce {

/// Asks the queue about itself, which must be known before the first receive: visibility timeout, redrive policy, the
/// URL of its dead letter queue. While it cannot be reached it is asked again, with growing pauses, for ever. Lives in
/// the worker thread.
class QueueInquiry : public QObject
{
    Q_OBJECT
public:
    QueueInquiry(SqsClient &client, const Config &config, QObject *parent = nullptr);

    void ask();
    void stop(); ///< no further attempt; what is on the wire goes with the client

Q_SIGNALS:
    void known(const sendonce::QueueFacts &facts); ///< once
    /// Before known(): these credentials may not ask for its attributes, so 30 s and no dead letter queue are assumed.
    void denied(const sendonce::Error &error);
    void unreachable(const sendonce::Error &error, bool first); ///< another attempt comes by itself
    void refused(const sendonce::Error &error); ///< asking again would be of no use
    void keysRefused(const sendonce::Error &error); ///< asking again is up to whoever hears this
    void reachableAgain(); ///< before known(), after unreachable()

private:
    void askForDeadLetterQueue(const QString &redrivePolicy);
    void complete();
    void failed(const Error &error);

    SqsClient &m_client;
    const QUrl m_dlqUrl; ///< as set
    QueueFacts m_facts;
    QTimer m_timer;
    int m_failures = 0;
};

} // namespace sendonce
