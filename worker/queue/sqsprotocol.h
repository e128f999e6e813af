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

// ---- errors --------------------------------------------------------------------------------------------------------

/// An HTTP reply that is not 2xx, as far as SQS puts an error into it.
struct ErrorReply
{
    int status = 0;
    QByteArray body; ///< JSON with __type and message; HTML from proxies and crashed emulators
    QByteArray queryError; ///< header x-amzn-query-error, "AWS.SimpleQueueService.NonExistentQueue;Sender"
    QByteArray errorType; ///< header x-amzn-errortype
};

/// Kind by code first, by status only where there is no known code (throttling comes as 403). `code` is the JSON name
/// whatever spelling came ("QueueDoesNotExist", never "AWS.SimpleQueueService.NonExistentQueue"); empty when there was
/// none. The text completes "the endpoint answered …". Only the first line of what the server says goes into it:
/// SignatureDoesNotMatch repeats the signed headers, with the session token, in the lines after it.
Error readError(const ErrorReply &reply);

/// One spelling for the two that each error has (sqs.md, 6.3).
QString canonicalCode(const QString &code);

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
