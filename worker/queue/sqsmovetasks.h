#pragma once

#include "worker/queue/sqsrequests.h"
#include "worker/result.h"

#include <QByteArray>
#include <QList>

/// Message move tasks ("redrive") and the sources of a dead letter queue, pure: bodies of requests out, replies in. As
/// lenient as sqsprotocol.h, and with the same kind of errors. sqs.md, section 12.
namespace sendonce::sqsmovetasks {

QByteArray startMessageMoveTask(const MoveRequest &request);
QByteArray listMessageMoveTasks(const QString &sourceArn, int maxResults);
QByteArray cancelMessageMoveTask(const QString &taskHandle);
QByteArray listDeadLetterSourceQueues(const QUrl &deadLetterQueueUrl, const QString &nextToken);

Result<QString> readTaskHandle(const QByteArray &body);
Result<QList<MoveTask>> readTasks(const QByteArray &body); ///< the most recent one first
Result<qint64> readMoved(const QByteArray &body); ///< -1: the endpoint does not say

struct SourcePage
{
    QList<QUrl> queueUrls;
    QString nextToken; ///< empty: this was the last one

    bool operator==(const SourcePage &) const = default;
};
Result<SourcePage> readSources(const QByteArray &body);

} // namespace sendonce::sqsmovetasks
