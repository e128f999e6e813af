#include "worker/operate/queuemonitor.h"

namespace sendonce {

using namespace Qt::StringLiterals;

QueueMonitor::QueueMonitor(SqsClient &client, QObject *parent) : QObject(parent), m_client(client)
{
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &QueueMonitor::sample);
}

void QueueMonitor::watch(const QUrl &queueUrl, const QUrl &dlqUrl, std::chrono::milliseconds interval)
{
    m_queueUrl = queueUrl;
    m_dlqUrl = dlqUrl;
    m_timer.setInterval(interval);
    sample();
}

void QueueMonitor::stop()
{
    m_timer.stop();
    m_queueUrl.clear();
}

void QueueMonitor::sample()
{
    static const QStringList Names = {u"ApproximateNumberOfMessages"_s, u"ApproximateNumberOfMessagesNotVisible"_s,
                                      u"ApproximateNumberOfMessagesDelayed"_s};
    m_client.getQueueAttributes(m_queueUrl, Names, this, [this](const Result<QMap<QString, QString>> &attributes) {
        if (!attributes) {
            Q_EMIT failed(attributes.error());
            finish();
            return;
        }
        const auto number = [&attributes](const QString &name) {
            return attributes->value(name, u"-1"_s).toLongLong();
        };
        QueueDepth depth;
        depth.visible = number(Names[0]);
        depth.inFlight = number(Names[1]);
        depth.delayed = number(Names[2]);
        depth.sampledAt = QDateTime::currentDateTimeUtc();
        if (m_dlqUrl.isEmpty()) {
            Q_EMIT sampled(depth);
            finish();
        } else {
            sampleDeadLetters(depth);
        }
    });
}

void QueueMonitor::sampleDeadLetters(QueueDepth depth)
{
    // Dead letters that somebody looks at are in flight: they are dead all the same.
    static const QStringList Names = {u"ApproximateNumberOfMessages"_s, u"ApproximateNumberOfMessagesNotVisible"_s};
    m_client.getQueueAttributes(
        m_dlqUrl, Names, this, [this, depth](const Result<QMap<QString, QString>> &attributes) mutable {
            if (attributes) {
                depth.deadLetters = attributes->value(Names[0]).toLongLong() + attributes->value(Names[1]).toLongLong();
            }
            Q_EMIT sampled(depth);
            finish();
        });
}

void QueueMonitor::finish()
{
    if (!m_queueUrl.isEmpty())
        m_timer.start();
}

} // namespace sendonce
