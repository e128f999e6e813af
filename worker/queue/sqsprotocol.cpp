#include "worker/queue/sqsprotocol.h"

#include "worker/queue/jsonreply.h"
#include "worker/queue/sqserrors.h"
#include "worker/queue/sqsmd5.h"

#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStringDecoder>

using namespace Qt::StringLiterals;

namespace sendonce::sqsprotocol {

using namespace jsonreply;

namespace {

/// Text of UTF-8 bytes, or nothing when they are not UTF-8. A leading U+FEFF is a character like any other here.
std::optional<QString> decode(const QByteArray &utf8)
{
    QStringDecoder decoder(QStringDecoder::Utf8,
                           QStringDecoder::Flag::Stateless | QStringDecoder::Flag::ConvertInitialBom);
    const QString text = decoder(utf8);
    if (decoder.hasError() || text.toUtf8() != utf8)
        return std::nullopt;
    return text;
}

QJsonObject toJson(const MessageAttribute &attribute)
{
    QJsonObject value{{u"DataType"_s, attribute.dataType}};
    if (attribute.dataType.startsWith("Binary"_L1))
        value.insert(u"BinaryValue"_s, QString::fromLatin1(attribute.binaryValue.toBase64()));
    else
        value.insert(u"StringValue"_s, attribute.stringValue);
    return value;
}

bool truth(const QJsonValue &value)
{
    return text(value).compare("true"_L1, Qt::CaseInsensitive) == 0;
}

QMap<QString, QString> readMap(const QJsonValue &value)
{
    QMap<QString, QString> map;
    const QJsonObject object = value.toObject();
    for (auto member = object.begin(); member != object.end(); ++member)
        map.insert(member.key(), text(member.value()));
    return map;
}

MessageAttributes readMessageAttributes(const QJsonValue &value)
{
    MessageAttributes attributes;
    const QJsonObject object = value.toObject();
    for (auto member = object.begin(); member != object.end(); ++member) {
        const QJsonObject parts = member.value().toObject();
        attributes.insert(member.key(),
                          {text(parts.value("DataType"_L1)), text(parts.value("StringValue"_L1)),
                           QByteArray::fromBase64(text(parts.value("BinaryValue"_L1)).toLatin1())});
    }
    return attributes;
}

/// An MD5 that was not sent cannot be wrong.
bool md5Matches(const QJsonValue &sent, const QByteArray &computed)
{
    const QString claimed = text(sent);
    return claimed.isEmpty() || claimed.compare(QLatin1StringView(computed), Qt::CaseInsensitive) == 0;
}

BatchEntryResult readFailure(const QString &id, const QJsonObject &failure)
{
    BatchEntryResult result;
    result.id = id;
    result.code = sqserrors::canonicalCode(text(failure.value("Code"_L1)));
    result.text = sqserrors::oneLine(text(failure.value("Message"_L1)));
    if (result.text.isEmpty())
        result.text = result.code.isEmpty() ? u"refused without a reason"_s : result.code;
    result.senderFault = truth(failure.value("SenderFault"_L1));
    return result;
}

/// Successful and Failed by entry id.
struct Batch
{
    QHash<QString, QJsonObject> successful, failed;
};

Result<Batch> readBatchLists(const QByteArray &body)
{
    const Result<QJsonObject> object = readObject(body);
    if (!object)
        return object.error();
    const Result<QJsonArray> successful = readList(object.value(), u"Successful"_s);
    if (!successful)
        return successful.error();
    const Result<QJsonArray> failed = readList(object.value(), u"Failed"_s);
    if (!failed)
        return failed.error();
    Batch batch;
    for (const QJsonValue entry : successful.value())
        batch.successful.insert(text(entry["Id"_L1]), entry.toObject());
    for (const QJsonValue entry : failed.value())
        batch.failed.insert(text(entry["Id"_L1]), entry.toObject());
    return batch;
}

/// What the lists say of one entry. Named in both, it counts as failed: repeating a delete or a send is the harmless
/// error.
BatchEntryResult entryResult(const Batch &batch, const QString &id)
{
    if (const auto failed = batch.failed.constFind(id); failed != batch.failed.cend())
        return readFailure(id, *failed);
    const auto successful = batch.successful.constFind(id);
    if (successful == batch.successful.cend())
        return {id, false, {}, {}, u"the reply does not mention this entry"_s, false};
    return {id, true, text(successful->value("MessageId"_L1)), {}, {}, false};
}

} // namespace

QByteArray getQueueUrl(const QString &name)
{
    return compact({{u"QueueName"_s, name}});
}

QByteArray getQueueAttributes(const QUrl &queueUrl, const QStringList &names)
{
    QJsonObject body = forQueue(queueUrl);
    body.insert(u"AttributeNames"_s, QJsonArray::fromStringList(names));
    return compact(body);
}

QByteArray receiveMessage(const ReceiveRequest &request)
{
    static const QJsonArray all = {u"All"_s};
    QJsonObject body = forQueue(request.queueUrl);
    body.insert(u"MaxNumberOfMessages"_s, request.maxMessages);
    body.insert(u"WaitTimeSeconds"_s, qint64(request.wait.count()));
    if (request.visibilityTimeout)
        body.insert(u"VisibilityTimeout"_s, qint64(request.visibilityTimeout->count()));
    // Emulators older than 2024-05 know only the first of these two names for the same thing.
    body.insert(u"AttributeNames"_s, all);
    body.insert(u"MessageSystemAttributeNames"_s, all);
    body.insert(u"MessageAttributeNames"_s, all);
    return compact(body);
}

Result<QByteArray> sendMessageBatch(const QUrl &queueUrl, const QList<SendEntry> &entries)
{
    QJsonArray list;
    for (const SendEntry &entry : entries) {
        const std::optional<QString> text = decode(entry.body);
        if (!text)
            return Error{ErrorKind::Invalid, u"the body of message %1 is not UTF-8"_s.arg(entry.id), {}};
        QJsonObject item{{u"Id"_s, entry.id}, {u"MessageBody"_s, *text}};
        if (entry.delaySeconds >= 0)
            item.insert(u"DelaySeconds"_s, entry.delaySeconds);
        if (!entry.attributes.isEmpty()) {
            QJsonObject attributes;
            for (auto attribute = entry.attributes.cbegin(); attribute != entry.attributes.cend(); ++attribute)
                attributes.insert(attribute.key(), toJson(*attribute));
            item.insert(u"MessageAttributes"_s, attributes);
        }
        if (!entry.groupId.isEmpty())
            item.insert(u"MessageGroupId"_s, entry.groupId);
        if (!entry.traceHeader.isEmpty()) {
            const MessageAttribute trace{u"String"_s, entry.traceHeader, {}};
            item.insert(u"MessageSystemAttributes"_s, QJsonObject{{u"AWSTraceHeader"_s, toJson(trace)}});
        }
        list.append(item);
    }
    QJsonObject body = forQueue(queueUrl);
    body.insert(u"Entries"_s, list);
    return compact(body);
}

QByteArray deleteMessageBatch(const QUrl &queueUrl, const QList<DeleteEntry> &entries)
{
    QJsonArray list;
    for (const DeleteEntry &entry : entries)
        list.append(QJsonObject{{u"Id"_s, entry.id}, {u"ReceiptHandle"_s, entry.receiptHandle}});
    QJsonObject body = forQueue(queueUrl);
    body.insert(u"Entries"_s, list);
    return compact(body);
}

QByteArray changeMessageVisibilityBatch(const QUrl &queueUrl, const QList<VisibilityEntry> &entries)
{
    QJsonArray list;
    for (const VisibilityEntry &entry : entries) {
        list.append(QJsonObject{{u"Id"_s, entry.id},
                                {u"ReceiptHandle"_s, entry.receiptHandle},
                                {u"VisibilityTimeout"_s, qint64(entry.timeout.count())}});
    }
    QJsonObject body = forQueue(queueUrl);
    body.insert(u"Entries"_s, list);
    return compact(body);
}

QByteArray purgeQueue(const QUrl &queueUrl)
{
    return compact(forQueue(queueUrl));
}

Result<QUrl> readQueueUrl(const QByteArray &body)
{
    const Result<QJsonObject> object = readObject(body);
    if (!object)
        return object.error();
    const QUrl url(text(object->value("QueueUrl"_L1)), QUrl::StrictMode);
    if (!url.isValid() || url.host().isEmpty())
        return notSqs(u"no QueueUrl in it"_s);
    return url;
}

Result<QMap<QString, QString>> readQueueAttributes(const QByteArray &body)
{
    const Result<QJsonObject> object = readObject(body);
    if (!object)
        return object.error();
    return readMap(object->value("Attributes"_L1));
}

Result<Received> readReceived(const QByteArray &body)
{
    const Result<QJsonObject> object = readObject(body);
    if (!object)
        return object.error();
    const Result<QJsonArray> list = readList(object.value(), u"Messages"_s);
    if (!list)
        return list.error();
    Received received;
    for (const QJsonValue item : list.value()) {
        Message message;
        message.messageId = text(item["MessageId"_L1]);
        message.receiptHandle = text(item["ReceiptHandle"_L1]);
        const QString bodyText = text(item["Body"_L1]);
        message.body = bodyText.toUtf8();
        message.systemAttributes = readMap(item["Attributes"_L1]);
        message.attributes = readMessageAttributes(item["MessageAttributes"_L1]);
        // A lone surrogate has no UTF-8: two texts would become one (reliability.md, finding 4).
        const bool usable = !message.receiptHandle.isEmpty() && bodyText.isValidUtf16()
            && md5Matches(item["MD5OfBody"_L1], sqsmd5::ofBody(message.body))
            && md5Matches(item["MD5OfMessageAttributes"_L1], sqsmd5::ofAttributes(message.attributes));
        if (usable)
            received.messages.append(message);
        else
            received.damaged.append(message.messageId);
    }
    return received;
}

Result<QList<BatchEntryResult>> readSent(const QByteArray &body, const QList<SendEntry> &entries)
{
    const Result<Batch> batch = readBatchLists(body);
    if (!batch)
        return batch.error();
    QList<BatchEntryResult> results;
    for (const SendEntry &entry : entries) {
        BatchEntryResult result = entryResult(batch.value(), entry.id);
        const QJsonObject answer = batch->successful.value(entry.id);
        if (result.ok
            && (!md5Matches(answer.value("MD5OfMessageBody"_L1), sqsmd5::ofBody(entry.body))
                || !md5Matches(answer.value("MD5OfMessageAttributes"_L1), sqsmd5::ofAttributes(entry.attributes)))) {
            result.ok = false;
            result.text =
                u"the queue has stored something else than was sent (wrong MD5), as message "_s + result.messageId;
        }
        results.append(result);
    }
    return results;
}

Result<QList<BatchEntryResult>> readBatch(const QByteArray &body, const QStringList &ids)
{
    const Result<Batch> batch = readBatchLists(body);
    if (!batch)
        return batch.error();
    QList<BatchEntryResult> results;
    for (const QString &id : ids)
        results.append(entryResult(batch.value(), id));
    return results;
}

} // namespace sendonce::sqsprotocol
