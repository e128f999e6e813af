#include "worker/local/sqsxml.h"

#include "worker/local/sqsrequest.h"

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

constexpr auto Start = "<?xml version=\"1.0\"?>";
constexpr auto Namespace = "http://queue.amazonaws.com/doc/2012-11-05/";

/// Adds elements to a text.
class XmlText
{
public:
    void open(const char *name) { m_bytes.append('<').append(name).append('>'); }
    void close(const char *name) { m_bytes.append("</").append(name).append('>'); }
    void element(const char *name, const QByteArray &utf8)
    {
        open(name);
        escape(utf8);
        close(name);
    }
    void element(const char *name, const QString &text) { element(name, text.toUtf8()); }
    /// Only where there is something to say.
    void optional(const char *name, const QByteArray &utf8)
    {
        if (!utf8.isEmpty())
            element(name, utf8);
    }
    void optional(const char *name, const QString &text) { optional(name, text.toUtf8()); }
    void raw(const QByteArray &bytes) { m_bytes += bytes; }
    QByteArray take() { return std::move(m_bytes); }

private:
    void escape(const QByteArray &utf8)
    {
        m_bytes.reserve(m_bytes.size() + utf8.size() + 64);
        for (qsizetype i = 0; i < utf8.size(); ++i) {
            const char c = utf8.at(i);
            if (c == '&')
                m_bytes += "&amp;";
            else if (c == '<')
                m_bytes += "&lt;";
            else if (c == '>')
                m_bytes += "&gt;";
            else if (c == '\r')
                m_bytes += "&#13;";
            else if (uchar(c) < 0x20 && c != '\t' && c != '\n')
                m_bytes += "\xEF\xBF\xBD";
            else if (c == '\xEF' && (utf8.mid(i, 3) == "\xEF\xBF\xBE" || utf8.mid(i, 3) == "\xEF\xBF\xBF")) {
                m_bytes += "\xEF\xBF\xBD";
                i += 2;
            } else
                m_bytes += c;
        }
    }

    QByteArray m_bytes;
};

void writeMap(XmlText &xml, const char *element, const QMap<QString, QString> &map)
{
    for (auto it = map.cbegin(); it != map.cend(); ++it) {
        xml.open(element);
        xml.element("Name", it.key());
        xml.element("Value", *it);
        xml.close(element);
    }
}

void writeFailures(XmlText &xml, const QList<BatchFailure> &failed)
{
    for (const BatchFailure &failure : failed) {
        xml.open("BatchResultErrorEntry");
        xml.element("Id", failure.id);
        xml.element("SenderFault", failure.error.senderFault ? "true"_ba : "false"_ba);
        xml.element("Code", failure.error.queryCode);
        xml.element("Message", failure.error.message);
        xml.close("BatchResultErrorEntry");
    }
}

void writeSent(XmlText &xml, const SentMessage &sent)
{
    xml.optional("Id", sent.id);
    xml.element("MessageId", sent.messageId);
    xml.element("MD5OfMessageBody", sent.bodyMd5);
    xml.optional("MD5OfMessageAttributes", sent.attributesMd5);
    xml.optional("MD5OfMessageSystemAttributes", sent.systemAttributesMd5);
}

void writeMessage(XmlText &xml, const ReceivedMessage &message)
{
    xml.open("Message");
    xml.element("MessageId", message.messageId);
    xml.element("ReceiptHandle", message.receiptHandle);
    xml.element("MD5OfBody", message.bodyMd5);
    xml.element("Body", message.body);
    writeMap(xml, "Attribute", message.systemAttributes);
    xml.optional("MD5OfMessageAttributes", message.attributesMd5);
    for (auto it = message.attributes.cbegin(); it != message.attributes.cend(); ++it) {
        xml.open("MessageAttribute");
        xml.element("Name", it.key());
        xml.open("Value");
        xml.element("DataType", it->dataType);
        if (it->binaryValue.isEmpty())
            xml.element("StringValue", it->stringValue);
        else
            xml.element("BinaryValue", it->binaryValue.toBase64());
        xml.close("Value");
        xml.close("MessageAttribute");
    }
    xml.close("Message");
}

/// Writes what stands inside <ActionResult>.
struct ResultWriter
{
    XmlText &xml;
    const QByteArray &action;
    const QString &origin;

    void operator()(const Nothing &) const { }
    void operator()(const QueueNamed &result) const { xml.element("QueueUrl", queueUrlOf(origin, result.name)); }
    void operator()(const QueueList &result) const
    {
        for (const QString &name : result.names)
            xml.element("QueueUrl", queueUrlOf(origin, name));
        xml.optional("NextToken", result.nextToken);
    }
    void operator()(const SourceQueueList &result) const { (*this)(result.list); }
    void operator()(const QueueAttributes &result) const { writeMap(xml, "Attribute", result.attributes); }
    void operator()(const SentMessage &result) const { writeSent(xml, result); }
    void operator()(const SentBatch &result) const
    {
        for (const SentMessage &sent : result.successful) {
            xml.open("SendMessageBatchResultEntry");
            writeSent(xml, sent);
            xml.close("SendMessageBatchResultEntry");
        }
        writeFailures(xml, result.failed);
    }
    void operator()(const ReceivedMessages &) const
    {
        Q_UNREACHABLE(); // they need their contents: the other overload
    }
    void operator()(const DoneBatch &result) const
    {
        const QByteArray entry = action + "ResultEntry";
        for (const QString &id : result.successful) {
            xml.open(entry.constData());
            xml.element("Id", id);
            xml.close(entry.constData());
        }
        writeFailures(xml, result.failed);
    }
    void operator()(const MoveTaskStarted &result) const { xml.element("TaskHandle", result.taskHandle); }
    void operator()(const MoveTaskList &result) const
    {
        for (const MoveTaskReport &task : result.tasks) {
            xml.open("ListMessageMoveTasksResultEntry");
            xml.optional("TaskHandle", task.taskHandle);
            xml.element("Status", task.status);
            xml.element("SourceArn", task.sourceArn);
            xml.optional("DestinationArn", task.destinationArn);
            if (task.messagesPerSecond > 0)
                xml.element("MaxNumberOfMessagesPerSecond", QByteArray::number(task.messagesPerSecond));
            xml.element("ApproximateNumberOfMessagesMoved", QByteArray::number(task.moved));
            xml.element("ApproximateNumberOfMessagesToMove", QByteArray::number(task.toMove));
            xml.optional("FailureReason", task.failureReason);
            xml.element("StartedTimestamp", QByteArray::number(task.startedMsec));
            xml.close("ListMessageMoveTasksResultEntry");
        }
    }
    void operator()(const MoveTaskCancelled &result) const
    {
        xml.element("ApproximateNumberOfMessagesMoved", QByteArray::number(result.moved));
    }
};

QByteArray response(const QByteArray &action, const QByteArray &inside, const QByteArray &requestId)
{
    return Start + ("<" + action) + "Response xmlns=\"" + Namespace + "\">" + inside + "<ResponseMetadata><RequestId>"
        + requestId + "</RequestId></ResponseMetadata></" + action + "Response>";
}

QByteArray inResult(const QByteArray &action, const QByteArray &inside)
{
    return '<' + action + "Result>" + inside + "</" + action + "Result>";
}

} // namespace

QByteArray toSqsXml(const QByteArray &action, const SqsResult &result, const QString &origin,
                    const QByteArray &requestId)
{
    if (std::holds_alternative<Nothing>(result))
        return response(action, {}, requestId);
    XmlText xml;
    std::visit(ResultWriter{xml, action, origin}, result);
    return response(action, inResult(action, xml.take()), requestId);
}

QByteArray toSqsXml(const QList<ReceivedMessage> &messages, const QByteArray &requestId)
{
    XmlText xml;
    for (const ReceivedMessage &message : messages)
        writeMessage(xml, message);
    return response("ReceiveMessage"_ba, inResult("ReceiveMessage"_ba, xml.take()), requestId);
}

QByteArray toSqsXml(const SqsError &error, const QByteArray &requestId)
{
    XmlText xml;
    xml.raw(Start);
    xml.raw("<ErrorResponse xmlns=\""_ba + Namespace + "\"><Error>");
    xml.element("Type", error.senderFault ? "Sender"_ba : "Receiver"_ba);
    xml.element("Code", error.queryCode);
    // This one differs between the protocols (recorded).
    xml.element("Message",
                error == queueDoesNotExist() ? u"The specified queue does not exist for this wsdl version."_s
                                             : error.message);
    xml.raw("<Detail/></Error><RequestId>" + requestId + "</RequestId></ErrorResponse>");
    return xml.take();
}

} // namespace sendonce::local
