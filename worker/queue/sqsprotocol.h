#pragma once

#include "worker/queue/sqsrequests.h"
#include "worker/result.h"
#include "worker/types.h"

#include <QByteArray>
#include <QList>
#include <QMap>
#include <QString>
#include <QStringList>
#include <QUrl>

/// The AWS JSON 1.0 protocol of SQS, pure: bodies of requests out, replies in. Replies are read leniently, for
/// emulators are not AWS: a missing list is an empty one, numbers may be text, unknown members are ignored.
namespace sendonce::sqsprotocol {

// ---- requests ------------------------------------------------------------------------------------------------------

QByteArray getQueueUrl(const QString &name);
QByteArray getQueueAttributes(const QUrl &queueUrl, const QStringList &names);
QByteArray receiveMessage(const ReceiveRequest &request);
/// Invalid when a body is not UTF-8: sent anyway, it would arrive as another text.
Result<QByteArray> sendMessageBatch(const QUrl &queueUrl, const QList<SendEntry> &entries);
QByteArray deleteMessageBatch(const QUrl &queueUrl, const QList<DeleteEntry> &entries);
QByteArray changeMessageVisibilityBatch(const QUrl &queueUrl, const QList<VisibilityEntry> &entries);
QByteArray purgeQueue(const QUrl &queueUrl);

// ---- replies (bodies of 2xx) ----------------------------------------------------------------------------------------
// An error is always of kind Protocol and its text completes "the endpoint answered …".

/// What ReceiveMessage gave.
struct Received
{
    QList<Message> messages;
    /// MessageIds whose MD5 (body or attributes) is wrong, or that cannot be used (no receipt handle, text that is not
    /// Unicode): as if not received, so not deleted either.
    QStringList damaged;

    bool operator==(const Received &) const = default;
};

Result<QUrl> readQueueUrl(const QByteArray &body);
Result<QMap<QString, QString>> readQueueAttributes(const QByteArray &body);
Result<Received> readReceived(const QByteArray &body);
/// One result per entry, in their order. An entry that the reply does not mention is not ok; nor is one whose MD5
/// differs, although it is in the queue: its messageId is set.
Result<QList<BatchEntryResult>> readSent(const QByteArray &body, const QList<SendEntry> &entries);
/// The same for batches of deletes and visibilities, by the ids asked for.
Result<QList<BatchEntryResult>> readBatch(const QByteArray &body, const QStringList &ids);

} // namespace sendonce::sqsprotocol
