#include "worker/queueinquiry.h"

#include "worker/queue/sqserrors.h"

#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

QueueInquiry::QueueInquiry(SqsClient &client, const Config &config, QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_dlqUrl(config.dlqUrl)
{
    m_facts.queueUrl = config.queueUrl;
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &QueueInquiry::ask);
}

void QueueInquiry::ask()
{
    m_client.getQueueAttributes(m_facts.queueUrl, {u"VisibilityTimeout"_s, u"RedrivePolicy"_s}, this,
                                [this](const Result<QMap<QString, QString>> &attributes) {
                                    if (!attributes && sqserrors::isDenial(attributes.error().code)) {
                                        // It can be received from all the same. What SQS takes for itself is assumed.
                                        Q_EMIT denied(attributes.error());
                                        askForDeadLetterQueue({});
                                        return;
                                    }
                                    if (!attributes) {
                                        failed(attributes.error());
                                        return;
                                    }
                                    m_facts.visibility = std::chrono::seconds(
                                        std::max(1, attributes->value(u"VisibilityTimeout"_s, u"30"_s).toInt()));
                                    askForDeadLetterQueue(attributes->value(u"RedrivePolicy"_s));
                                });
}

void QueueInquiry::stop()
{
    m_timer.stop();
}

void QueueInquiry::askForDeadLetterQueue(const QString &redrivePolicy)
{
    const QJsonObject policy = QJsonDocument::fromJson(redrivePolicy.toUtf8()).object();
    // A number or a text, both occur.
    m_facts.maxReceiveCount = policy.value("maxReceiveCount"_L1).toVariant().toInt();
    const QString arn = policy.value("deadLetterTargetArn"_L1).toString();
    if (!m_dlqUrl.isEmpty() || arn.isEmpty()) {
        m_facts.dlqUrl = m_dlqUrl;
        complete();
        return;
    }
    m_client.getQueueUrl(arn.section(u':', -1), this, [this](const Result<QUrl> &url) {
        if (!url) {
            failed(url.error());
            return;
        }
        m_facts.dlqUrl = url.value();
        complete();
    });
}

void QueueInquiry::complete()
{
    if (m_failures > 0)
        Q_EMIT reachableAgain();
    Q_EMIT known(m_facts);
}

void QueueInquiry::failed(const Error &error)
{
    if (error.kind == ErrorKind::Aborted)
        return;
    if (SqsClient::refusesKeys(error, false)) {
        Q_EMIT keysRefused(error);
        return;
    }
    if (error.kind == ErrorKind::NotFound || error.kind == ErrorKind::Invalid || error.kind == ErrorKind::Refused) {
        Q_EMIT refused(error);
        return;
    }
    Q_EMIT unreachable(error, m_failures == 0);
    ++m_failures;
    m_timer.start(std::min<std::chrono::milliseconds>(30s, 500ms * (1 << std::min(m_failures, 6))));
}

} // namespace sendonce
