#include "worker/local/sqsjson.h"

#include "worker/local/jsontext.h"
#include "worker/local/sqsrequest.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <cmath>
#include <limits>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

/// Takes typed members out of a JSON object. null counts as absent.
class JsonMembers final : public SqsMembers
{
public:
    JsonMembers(const QJsonObject &object, std::optional<SqsError> *error) : SqsMembers(error), m_object(object) { }

    std::optional<QString> optionalText(QLatin1StringView name) override
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

    std::optional<int> integer(QLatin1StringView name) override
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

    QStringList texts(QLatin1StringView name) override
    {
        QStringList list;
        for (const QJsonValue &value : array(name)) {
            if (!value.isString())
                fail(name, "a list of strings"_L1);
            list += value.toString();
        }
        return list;
    }

    QMap<QString, QString> textMap(QLatin1StringView name) override
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

    MessageAttributes attributes(QLatin1StringView name) override
    {
        MessageAttributes attributes;
        const QJsonObject all = object(name);
        for (auto it = all.begin(); it != all.end(); ++it) {
            if (!it->isObject()) {
                fail(name, "a map of attributes"_L1);
                continue;
            }
            JsonMembers members(it->toObject(), m_error);
            MessageAttribute attribute;
            attribute.dataType = members.text("DataType"_L1);
            attribute.stringValue = members.text("StringValue"_L1);
            attribute.binaryValue = members.bytes("BinaryValue"_L1);
            if (!members.array("StringListValues"_L1).isEmpty() || !members.array("BinaryListValues"_L1).isEmpty())
                refuse(unsupportedOperation(u"Message attribute list values are not supported."_s));
            attributes.insert(it.key(), attribute);
        }
        return attributes;
    }

    void forEachEntry(const std::function<void(SqsMembers &)> &read) override
    {
        for (const QJsonValue &value : array("Entries"_L1)) {
            if (!value.isObject())
                fail("Entries"_L1, "a list of objects"_L1);
            JsonMembers entry(value.toObject(), m_error);
            read(entry);
        }
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
            text(name).toLatin1(), QByteArray::Base64Encoding | QByteArray::AbortOnBase64DecodingErrors);
        if (!decoded)
            fail(name, "base64"_L1);
        return decoded ? *decoded : QByteArray();
    }

    void fail(QLatin1StringView name, QLatin1StringView wanted)
    {
        refuse(serialization(u"%1 must be %2."_s.arg(name, wanted)));
    }

    QJsonObject m_object;
};

QString latin1(const QByteArray &text)
{
    return QString::fromLatin1(text);
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
                       {u"Body"_s, fromUtf8(message.body)}};
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

QJsonObject toObject(const MoveTaskReport &task)
{
    QJsonObject object{{u"Status"_s, task.status},
                       {u"SourceArn"_s, task.sourceArn},
                       {u"ApproximateNumberOfMessagesMoved"_s, task.moved},
                       {u"ApproximateNumberOfMessagesToMove"_s, task.toMove},
                       {u"StartedTimestamp"_s, task.startedMsec}};
    const auto addIfSet = [&object](QLatin1StringView name, const QString &value) {
        if (!value.isEmpty())
            object.insert(name, value);
    };
    addIfSet("TaskHandle"_L1, task.taskHandle);
    addIfSet("DestinationArn"_L1, task.destinationArn);
    addIfSet("FailureReason"_L1, task.failureReason);
    if (task.messagesPerSecond > 0)
        object.insert("MaxNumberOfMessagesPerSecond"_L1, task.messagesPerSecond);
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
    return {{u"QueueUrl"_s, queueUrlOf(origin, result.name)}};
}

QJsonObject queueUrls(QLatin1StringView member, const QueueList &list, const QString &origin)
{
    QJsonObject object;
    QJsonArray urls;
    for (const QString &name : list.names)
        urls.append(queueUrlOf(origin, name));
    if (!urls.isEmpty())
        object.insert(member, urls);
    if (!list.nextToken.isEmpty())
        object.insert("NextToken"_L1, list.nextToken);
    return object;
}

QJsonObject resultObject(const QueueList &result, const QString &origin)
{
    return queueUrls("QueueUrls"_L1, result, origin);
}

QJsonObject resultObject(const SourceQueueList &result, const QString &origin)
{
    return queueUrls("queueUrls"_L1, result.list, origin); // spelled so by Amazon
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

QJsonObject resultObject(const MoveTaskStarted &result, const QString &)
{
    return {{u"TaskHandle"_s, result.taskHandle}};
}

QJsonObject resultObject(const MoveTaskList &result, const QString &)
{
    QJsonObject object;
    insertList(object, "Results"_L1, result.tasks);
    return object;
}

QJsonObject resultObject(const MoveTaskCancelled &result, const QString &)
{
    return {{u"ApproximateNumberOfMessagesMoved"_s, result.moved}};
}

} // namespace

std::variant<SqsRequest, SqsError> readSqsJson(const QByteArray &operation, const QByteArray &body,
                                               const QString &pathQueue, const QString &traceHeader)
{
    if (const auto refusal = checkOperation(operation, pathQueue))
        return *refusal;
    QJsonObject object;
    if (!body.isEmpty()) {
        QJsonParseError parseError;
        const QJsonDocument document = parseJson(body, &parseError);
        if (!document.isObject())
            return serialization(
                parseError.error == QJsonParseError::NoError
                    ? u"The body must be a JSON object."_s
                    : u"The body is not JSON: %1 at byte %2."_s.arg(parseError.errorString()).arg(parseError.offset));
        object = document.object();
    }
    std::optional<SqsError> error;
    JsonMembers members(object, &error);
    SqsRequest request = readSqsRequest(operation, members, pathQueue, traceHeader);
    if (error)
        return *error;
    return request;
}

QByteArray toSqsJson(const SqsResult &result, const QString &origin)
{
    return toJson(std::visit([&origin](const auto &typed) { return resultObject(typed, origin); }, result));
}

QByteArray toSqsJson(const QList<ReceivedMessage> &messages)
{
    QJsonObject object;
    insertList(object, "Messages"_L1, messages);
    return toJson(object);
}

QByteArray toSqsJson(const SqsError &error)
{
    return toJson({{u"__type"_s, u"com.amazonaws.sqs#"_s + error.shape}, {u"message"_s, error.message}});
}

} // namespace sendonce::local
