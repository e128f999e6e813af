#include "worker/operate/queuemonitor.h"

#include "worker/queue/sqserrors.h"

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds DeniedPause = 60s;

} // namespace

QueueMonitor::QueueMonitor(SqsClient &client, QObject *parent) : QObject(parent), m_client(client)
{
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &QueueMonitor::sample);
}

void QueueMonitor::watch(const QUrl &queueUrl, const QUrl &dlqUrl, std::chrono::milliseconds interval)
{
    m_queueUrl = queueUrl;
    m_dlqUrl = dlqUrl;
    m_interval = interval;
    sample();
}

void QueueMonitor::stop()
{
    m_timer.stop();
    m_queueUrl.clear();
}

void QueueMonitor::pause()
{
    m_paused = true;
    m_timer.stop();
}

void QueueMonitor::resume()
{
    m_paused = false;
    if (!m_queueUrl.isEmpty() && !m_sampling)
        sample();
}

void QueueMonitor::sample()
{
    if (m_sampling)
        return;
    m_sampling = true;
    static const QStringList Names = {u"ApproximateNumberOfMessages"_s, u"ApproximateNumberOfMessagesNotVisible"_s,
                                      u"ApproximateNumberOfMessagesDelayed"_s};
    m_client.getQueueAttributes(m_queueUrl, Names, this, [this](const Result<QMap<QString, QString>> &attributes) {
        if (!attributes) {
            finish(); // first: whoever hears it may pause or sample
            if (sqserrors::isDenial(attributes.error().code) && m_timer.isActive())
                m_timer.start(std::max(m_interval, DeniedPause)); // until somebody changes a policy
            Q_EMIT failed(attributes.error());
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
            finish();
            Q_EMIT sampled(depth);
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
            finish();
            Q_EMIT sampled(depth);
        });
}

void QueueMonitor::finish()
{
    m_sampling = false;
    if (!m_queueUrl.isEmpty() && !m_paused)
        m_timer.start(m_interval);
}

} // namespace sendonce
