#include "worker/local/sqsjson.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QUrl>

#include <cmath>
#include <limits>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

using Read = std::variant<SqsRequest, SqsError>;

/// Takes typed members out of a JSON object and keeps the first error. null counts as absent; unknown members are
/// nobody's business.
class Members
{
public:
    Members(const QJsonObject &object, std::optional<SqsError> *error) : m_object(object), m_error(error) { }

    QString string(QLatin1StringView name) { return optionalString(name).value_or(QString()); }

    std::optional<QString> optionalString(QLatin1StringView name)
    {
        const QJsonValue value = member(name);
        if (value.isUndefined())
            return {};
        if (!value.isString()) {
            fail(name, "a string"_L1);
            return {};
        }
        return value.toString();
    }

    std::optional<int> integer(QLatin1StringView name)
    {
        const QJsonValue value = member(name);
        if (value.isUndefined())
            return {};
        const double number = value.toDouble(std::numeric_limits<double>::quiet_NaN());
        if (!(std::abs(number) <= std::numeric_limits<int>::max()) || number != std::floor(number)) {
            fail(name, "a whole number"_L1);
            return {};
        }
        return int(number);
    }

    QStringList strings(QLatin1StringView name)
    {
        QStringList list;
        for (const QJsonValue &value : array(name)) {
            if (!value.isString())
                fail(name, "a list of strings"_L1);
            list += value.toString();
        }
        return list;
    }

    QMap<QString, QString> stringMap(QLatin1StringView name)
    {
        QMap<QString, QString> map;
        const QJsonObject members = object(name);
        for (auto it = members.begin(); it != members.end(); ++it) {
            if (!it->isString())
                fail(name, "a map of strings"_L1);
            map.insert(it.key(), it->toString());
        }
        return map;
    }

    MessageAttributes attributes(QLatin1StringView name)
    {
        MessageAttributes attributes;
        const QJsonObject all = object(name);
        for (auto it = all.begin(); it != all.end(); ++it) {
            if (!it->isObject()) {
                fail(name, "a map of attributes"_L1);
                continue;
            }
            Members members(it->toObject(), m_error);
            MessageAttribute attribute;
            attribute.dataType = members.string("DataType"_L1);
            attribute.stringValue = members.string("StringValue"_L1);
            attribute.binaryValue = members.bytes("BinaryValue"_L1);
            if (!members.array("StringListValues"_L1).isEmpty() || !members.array("BinaryListValues"_L1).isEmpty())
                refuse(unsupportedOperation(u"Message attribute list values are not supported."_s));
            attributes.insert(it.key(), attribute);
        }
        return attributes;
    }

    template <typename Entry>
    QList<Entry> entries(Entry (*read)(Members))
    {
        QList<Entry> list;
        for (const QJsonValue &value : array("Entries"_L1)) {
            if (!value.isObject())
                fail("Entries"_L1, "a list of objects"_L1);
            list += read(Members(value.toObject(), m_error));
        }
        return list;
    }

    void refuse(const SqsError &error)
    {
        if (!*m_error)
            *m_error = error;
    }

private:
    QJsonValue member(QLatin1StringView name) const
    {
        const QJsonValue value = m_object.value(name);
        return value.isNull() ? QJsonValue(QJsonValue::Undefined) : value;
    }

    QJsonArray array(QLatin1StringView name)
    {
        const QJsonValue value = member(name);
        if (!value.isUndefined() && !value.isArray())
            fail(name, "a list"_L1);
        return value.toArray();
    }

    QJsonObject object(QLatin1StringView name)
    {
        const QJsonValue value = member(name);
        if (!value.isUndefined() && !value.isObject())
            fail(name, "a map"_L1);
        return value.toObject();
    }

    QByteArray bytes(QLatin1StringView name)
    {
        const auto decoded = QByteArray::fromBase64Encoding(
            string(name).toLatin1(), QByteArray::Base64Encoding | QByteArray::AbortOnBase64DecodingErrors);
        if (!decoded)
            fail(name, "base64"_L1);
        return decoded ? *decoded : QByteArray();
    }

    void fail(QLatin1StringView name, QLatin1StringView wanted)
    {
        refuse(serialization(u"%1 must be %2."_s.arg(name, wanted)));
    }

    QJsonObject m_object;
    std::optional<SqsError> *m_error;
};

OutgoingMessage readOutgoing(Members members)
{
    OutgoingMessage message;
    message.id = members.string("Id"_L1);
    message.body = members.string("MessageBody"_L1);
    message.delaySeconds = members.integer("DelaySeconds"_L1);
    message.attributes = members.attributes("MessageAttributes"_L1);
    message.systemAttributes = members.attributes("MessageSystemAttributes"_L1);
    message.groupId = members.optionalString("MessageGroupId"_L1);
    message.deduplicationId = members.optionalString("MessageDeduplicationId"_L1);
    return message;
}

DeleteEntry readDelete(Members members)
{
    return {members.string("Id"_L1), members.string("ReceiptHandle"_L1)};
}

VisibilityEntry readVisibility(Members members)
{
    return {members.string("Id"_L1), members.string("ReceiptHandle"_L1), members.integer("VisibilityTimeout"_L1)};
}

/// The queue that is meant: the member QueueUrl, else the path's.
QString readQueue(Members &members, const QString &pathQueue)
{
    const QString url = members.string("QueueUrl"_L1);
    if (url.isEmpty()) {
        if (pathQueue.isEmpty())
            members.refuse(missingParameter(u"QueueUrl"_s));
        return pathQueue;
    }
    const QString name = queueNameOf(url);
    if (name.isEmpty())
        members.refuse(invalidAddress(url));
    return name;
}

/// A header stands in where the message itself brings no trace header.
void addTraceHeader(OutgoingMessage &message, const QString &traceHeader)
{
    const QString name = u"AWSTraceHeader"_s;
    if (!traceHeader.isEmpty() && !message.systemAttributes.contains(name))
        message.systemAttributes.insert(name, {u"String"_s, traceHeader, {}});
}

std::optional<SqsRequest> readOperation(const QByteArray &operation, Members &members, const QString &pathQueue,
                                        const QString &traceHeader)
{
    if (operation == "CreateQueue"_ba)
        return CreateQueueRequest{members.string("QueueName"_L1), members.stringMap("Attributes"_L1),
                                  members.stringMap("tags"_L1)};
    if (operation == "GetQueueUrl"_ba)
        return GetQueueUrlRequest{members.string("QueueName"_L1), members.string("QueueOwnerAWSAccountId"_L1)};
    if (operation == "ListQueues"_ba)
        return ListQueuesRequest{members.string("QueueNamePrefix"_L1), members.integer("MaxResults"_L1),
                                 members.string("NextToken"_L1)};
    if (operation == "GetQueueAttributes"_ba)
        return GetQueueAttributesRequest{readQueue(members, pathQueue), members.strings("AttributeNames"_L1)};
    if (operation == "SetQueueAttributes"_ba)
        return SetQueueAttributesRequest{readQueue(members, pathQueue), members.stringMap("Attributes"_L1)};
    if (operation == "DeleteQueue"_ba)
        return DeleteQueueRequest{readQueue(members, pathQueue)};
    if (operation == "PurgeQueue"_ba)
        return PurgeQueueRequest{readQueue(members, pathQueue)};
    if (operation == "SendMessage"_ba) {
        SendMessageRequest request{readQueue(members, pathQueue), readOutgoing(members)};
        request.message.id.clear(); // Id is a batch entry's
        addTraceHeader(request.message, traceHeader);
        return request;
    }
    if (operation == "SendMessageBatch"_ba) {
        SendMessageBatchRequest request{readQueue(members, pathQueue), members.entries(&readOutgoing)};
        for (OutgoingMessage &entry : request.entries)
            addTraceHeader(entry, traceHeader);
        return request;
    }
    if (operation == "ReceiveMessage"_ba) {
        ReceiveMessageRequest request;
        request.queue = readQueue(members, pathQueue);
        request.maxNumberOfMessages = members.integer("MaxNumberOfMessages"_L1);
        request.visibilityTimeout = members.integer("VisibilityTimeout"_L1);
        request.waitTimeSeconds = members.integer("WaitTimeSeconds"_L1);
        request.systemAttributeNames =
            members.strings("AttributeNames"_L1) + members.strings("MessageSystemAttributeNames"_L1);
        request.messageAttributeNames = members.strings("MessageAttributeNames"_L1);
        request.attemptId = members.optionalString("ReceiveRequestAttemptId"_L1);
        return request;
    }
    if (operation == "DeleteMessage"_ba)
        return DeleteMessageRequest{readQueue(members, pathQueue), members.string("ReceiptHandle"_L1)};
    if (operation == "DeleteMessageBatch"_ba)
        return DeleteMessageBatchRequest{readQueue(members, pathQueue), members.entries(&readDelete)};
    if (operation == "ChangeMessageVisibility"_ba)
        return ChangeMessageVisibilityRequest{readQueue(members, pathQueue), readVisibility(members)};
    if (operation == "ChangeMessageVisibilityBatch"_ba)
        return ChangeMessageVisibilityBatchRequest{readQueue(members, pathQueue), members.entries(&readVisibility)};
    return {};
}

/// Operations that SQS has and this endpoint does not.
bool isKnownElsewhere(const QByteArray &operation)
{
    static const QList<QByteArray> known{"TagQueue"_ba,
                                         "UntagQueue"_ba,
                                         "ListQueueTags"_ba,
                                         "AddPermission"_ba,
                                         "RemovePermission"_ba,
                                         "ListDeadLetterSourceQueues"_ba,
                                         "StartMessageMoveTask"_ba,
                                         "ListMessageMoveTasks"_ba,
                                         "CancelMessageMoveTask"_ba};
    return known.contains(operation);
}

QByteArray compact(const QJsonObject &object)
{
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

QString latin1(const QByteArray &text)
{
    return QString::fromLatin1(text);
}

QString queueUrl(const QString &origin, const QString &name)
{
    return origin + u"/000000000000/"_s + name;
}

QJsonObject toObject(const QMap<QString, QString> &map)
{
    QJsonObject object;
    for (auto it = map.cbegin(); it != map.cend(); ++it)
        object.insert(it.key(), *it);
    return object;
}

QJsonObject toObject(const SentMessage &sent)
{
    QJsonObject object{{u"MessageId"_s, sent.messageId}, {u"MD5OfMessageBody"_s, latin1(sent.bodyMd5)}};
    if (!sent.id.isEmpty())
        object.insert("Id"_L1, sent.id);
    if (!sent.attributesMd5.isEmpty())
        object.insert("MD5OfMessageAttributes"_L1, latin1(sent.attributesMd5));
    if (!sent.systemAttributesMd5.isEmpty())
        object.insert("MD5OfMessageSystemAttributes"_L1, latin1(sent.systemAttributesMd5));
    return object;
}

QJsonObject toObject(const BatchFailure &failure)
{
    return {{u"Id"_s, failure.id},
            {u"SenderFault"_s, failure.error.senderFault},
            {u"Code"_s, failure.error.queryCode},
            {u"Message"_s, failure.error.message}};
}

QJsonObject toObject(const ReceivedMessage &message)
{
    QJsonObject object{{u"MessageId"_s, message.messageId},
                       {u"ReceiptHandle"_s, message.receiptHandle},
                       {u"MD5OfBody"_s, latin1(message.bodyMd5)},
                       {u"Body"_s, QString::fromUtf8(message.body)}};
    if (!message.systemAttributes.isEmpty())
        object.insert("Attributes"_L1, toObject(message.systemAttributes));
    if (!message.attributes.isEmpty()) {
        QJsonObject attributes;
        for (auto it = message.attributes.cbegin(); it != message.attributes.cend(); ++it) {
            QJsonObject attribute{{u"DataType"_s, it->dataType}};
            if (it->binaryValue.isEmpty())
                attribute.insert("StringValue"_L1, it->stringValue);
            else
                attribute.insert("BinaryValue"_L1, latin1(it->binaryValue.toBase64()));
            attributes.insert(it.key(), attribute);
        }
        object.insert("MessageAttributes"_L1, attributes);
        object.insert("MD5OfMessageAttributes"_L1, latin1(message.attributesMd5));
    }
    return object;
}

template <typename List>
void insertList(QJsonObject &object, QLatin1StringView name, const List &list)
{
    if (list.isEmpty())
        return;
    QJsonArray array;
    for (const auto &item : list)
        array.append(toObject(item));
    object.insert(name, array);
}

QJsonObject resultObject(const Nothing &, const QString &)
{
    return {};
}

QJsonObject resultObject(const QueueNamed &result, const QString &origin)
{
    return {{u"QueueUrl"_s, queueUrl(origin, result.name)}};
}

QJsonObject resultObject(const QueueList &result, const QString &origin)
{
    QJsonObject object;
    QJsonArray urls;
    for (const QString &name : result.names)
        urls.append(queueUrl(origin, name));
    if (!urls.isEmpty())
        object.insert("QueueUrls"_L1, urls);
    if (!result.nextToken.isEmpty())
        object.insert("NextToken"_L1, result.nextToken);
    return object;
}

QJsonObject resultObject(const QueueAttributes &result, const QString &)
{
    if (result.attributes.isEmpty())
        return {};
    return {{u"Attributes"_s, toObject(result.attributes)}};
}

QJsonObject resultObject(const SentMessage &result, const QString &)
{
    return toObject(result);
}

QJsonObject resultObject(const SentBatch &result, const QString &)
{
    QJsonObject object;
    insertList(object, "Successful"_L1, result.successful);
    insertList(object, "Failed"_L1, result.failed);
    return object;
}

QJsonObject resultObject(const ReceivedMessages &, const QString &)
{
    Q_UNREACHABLE(); // they need their contents: the other overload
    return {};
}

QJsonObject resultObject(const DoneBatch &result, const QString &)
{
    QJsonObject object;
    QJsonArray successful;
    for (const QString &id : result.successful)
        successful.append(QJsonObject{{u"Id"_s, id}});
    if (!successful.isEmpty())
        object.insert("Successful"_L1, successful);
    insertList(object, "Failed"_L1, result.failed);
    return object;
}

} // namespace

std::variant<SqsRequest, SqsError> readSqsJson(const QByteArray &operation, const QByteArray &body,
                                               const QString &pathQueue, const QString &traceHeader)
{
    if (isKnownElsewhere(operation))
        return unsupportedOperation(u"%1 is not supported by this endpoint."_s.arg(latin1(operation)));
    if (!pathQueue.isEmpty() && (operation == "CreateQueue"_ba || operation == "ListQueues"_ba))
        return invalidAction(latin1(operation));
    QJsonObject object;
    if (!body.isEmpty()) {
        QJsonParseError parseError;
        const QJsonDocument document = QJsonDocument::fromJson(body, &parseError);
        if (!document.isObject())
            return serialization(
                parseError.error == QJsonParseError::NoError
                    ? u"The body must be a JSON object."_s
                    : u"The body is not JSON: %1 at byte %2."_s.arg(parseError.errorString()).arg(parseError.offset));
        object = document.object();
    }
    std::optional<SqsError> error;
    Members members(object, &error);
    const auto request = readOperation(operation, members, pathQueue, traceHeader);
    if (!request)
        return invalidAction(latin1(operation));
    if (error)
        return *error;
    return *request;
}

QByteArray toSqsJson(const SqsResult &result, const QString &origin)
{
    return compact(std::visit([&origin](const auto &typed) { return resultObject(typed, origin); }, result));
}

QByteArray toSqsJson(const QList<ReceivedMessage> &messages)
{
    QJsonObject object;
    insertList(object, "Messages"_L1, messages);
    return compact(object);
}

QByteArray toSqsJson(const SqsError &error)
{
    return compact({{u"__type"_s, u"com.amazonaws.sqs#"_s + error.shape}, {u"message"_s, error.message}});
}

QString queueNameOf(const QString &queueUrl)
{
    const QString path = queueUrl.section(u'?', 0, 0);
    return QUrl::fromPercentEncoding(path.mid(path.lastIndexOf(u'/') + 1).toUtf8());
}

} // namespace sendonce::local
