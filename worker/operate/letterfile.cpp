#include "worker/operate/letterfile.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStringDecoder>

namespace sendonce::letterfile {

using namespace Qt::StringLiterals;

namespace {

Error invalid(const QString &text)
{
    return {ErrorKind::Invalid, text, {}};
}

/// Text that JSON brings back byte for byte.
bool isPlain(const QByteArray &bytes)
{
    const QString text = QString::fromUtf8(bytes);
    if (text.toUtf8() != bytes || text.contains(QChar(u'\0')))
        return false;
    for (const QChar c : text) {
        if (c.isNonCharacter())
            return false;
    }
    return true;
}

void addText(QJsonObject &object, const QString &name, const QByteArray &bytes)
{
    if (isPlain(bytes))
        object.insert(name, QString::fromUtf8(bytes));
    else
        object.insert(name + u"Base64"_s, QString::fromLatin1(bytes.toBase64()));
}

Result<QByteArray> fromBase64(const QJsonValue &value, const QString &name)
{
    const auto decoded =
        QByteArray::fromBase64Encoding(value.toString().toLatin1(), QByteArray::AbortOnBase64DecodingErrors);
    if (!value.isString() || !decoded)
        return invalid(u"%1 is no base64"_s.arg(name));
    return *decoded;
}

/// A member that is text, or its name + "Base64".
Result<QByteArray> textOf(const QJsonObject &object, const QString &name)
{
    const QString encoded = name + u"Base64"_s;
    if (object.contains(encoded))
        return fromBase64(object.value(encoded), encoded);
    if (!object.value(name).isString())
        return invalid(u"%1 is missing, or no text"_s.arg(name));
    return object.value(name).toString().toUtf8();
}

QString isoTime(const QDateTime &time)
{
    return time.isValid() ? time.toUTC().toString(Qt::ISODateWithMs) : QString();
}

QByteArray cell(const QString &text)
{
    static const QString Dangerous = u"=+-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20"_s;
    qsizetype first = 0;
    while (first < text.size() && (text[first] == u' ' || text[first] == u'"' || text[first] == u'\u00A0'))
        ++first;
    QString safe = text;
    safe.remove(QChar(u'\0'));
    if (first < text.size() && Dangerous.contains(text[first]))
        safe.prepend(u'\'');
    if (safe.contains(u',') || safe.contains(u'"') || safe.contains(u'\r') || safe.contains(u'\n')
        || safe.startsWith(u' ') || safe.contains(u';'))
        safe = u'"' + safe.replace(u'"', u"\"\""_s) + u'"';
    return safe.toUtf8();
}

QByteArray csv(const QStringList &cells)
{
    QByteArray line;
    for (const QString &each : cells) {
        if (!line.isEmpty() || &each != &cells.first())
            line += ',';
        line += cell(each);
    }
    return line + "\r\n";
}

} // namespace

QString verdictName(Verdict verdict)
{
    switch (verdict) {
    case Verdict::NotHandled:
        return u"not handled"_s;
    case Verdict::Handled:
        return u"handled"_s;
    case Verdict::InDoubt:
        return u"in doubt"_s;
    case Verdict::Unknown:
        return u"unknown"_s;
    case Verdict::Invalid:
        return u"invalid"_s;
    }
    return {};
}

QByteArray jsonLine(const DeadLetter &letter)
{
    QJsonObject object;
    object.insert(u"messageId"_s, letter.message.messageId);
    object.insert(u"eventId"_s, letter.eventId);
    object.insert(u"type"_s, letter.eventType);
    object.insert(u"application"_s, letter.applicationId);
    object.insert(u"verdict"_s, verdictName(letter.verdict));
    object.insert(u"reason"_s, letter.reason);
    object.insert(u"receiveCount"_s, letter.receiveCount);
    object.insert(u"timesBack"_s, letter.timesBack);
    object.insert(u"sentAt"_s, isoTime(letter.sentAt));
    object.insert(u"firstFailedAt"_s, isoTime(letter.firstFailedAt));
    object.insert(u"diedAt"_s, isoTime(letter.diedAt));
    object.insert(u"expiresAt"_s, isoTime(letter.expiresAt));
    addText(object, u"body"_s, letter.message.body);
    QJsonObject system;
    for (auto it = letter.message.systemAttributes.cbegin(); it != letter.message.systemAttributes.cend(); ++it)
        system.insert(it.key(), it.value());
    object.insert(u"systemAttributes"_s, system);
    QJsonObject attributes;
    for (auto it = letter.message.attributes.cbegin(); it != letter.message.attributes.cend(); ++it) {
        QJsonObject attribute{{u"dataType"_s, it->dataType}};
        if (it->dataType.startsWith("Binary"_L1))
            attribute.insert(u"binaryValue"_s, QString::fromLatin1(it->binaryValue.toBase64()));
        else
            addText(attribute, u"stringValue"_s, it->stringValue.toUtf8());
        attributes.insert(it.key(), attribute);
    }
    object.insert(u"attributes"_s, attributes);
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

Result<Message> messageOf(const QByteArray &jsonLine)
{
    QJsonParseError problem;
    const QJsonDocument document = QJsonDocument::fromJson(jsonLine, &problem);
    if (problem.error != QJsonParseError::NoError || !document.isObject())
        return invalid(u"this is no JSON object: %1"_s.arg(problem.errorString()));
    const QJsonObject object = document.object();
    Message message;
    message.messageId = object.value("messageId"_L1).toString();
    const auto body = textOf(object, u"body"_s);
    if (!body)
        return body.error();
    if (body->isEmpty())
        return invalid(u"body is empty"_s);
    message.body = body.value();
    const QJsonObject system = object.value("systemAttributes"_L1).toObject();
    for (auto it = system.begin(); it != system.end(); ++it)
        message.systemAttributes.insert(it.key(), it.value().toString());
    const QJsonObject attributes = object.value("attributes"_L1).toObject();
    if (attributes.size() > 10)
        return invalid(u"there are %1 attributes; 10 are accepted"_s.arg(attributes.size()));
    for (auto it = attributes.begin(); it != attributes.end(); ++it) {
        const QJsonObject given = it.value().toObject();
        MessageAttribute attribute;
        attribute.dataType = given.value("dataType"_L1).toString();
        if (attribute.dataType.startsWith("Binary"_L1)) {
            const auto bytes = fromBase64(given.value("binaryValue"_L1), u"attribute %1"_s.arg(it.key()));
            if (!bytes)
                return bytes.error();
            attribute.binaryValue = bytes.value();
        } else if (attribute.dataType.startsWith("String"_L1) || attribute.dataType.startsWith("Number"_L1)) {
            const auto text = textOf(given, u"stringValue"_s);
            if (!text)
                return invalid(u"attribute %1: %2"_s.arg(it.key(), text.error().text));
            // Not fromUtf8(): that drops a byte order mark at the start.
            attribute.stringValue = given.contains("stringValue"_L1)
                ? given.value("stringValue"_L1).toString()
                : QStringDecoder(QStringDecoder::Utf8, QStringDecoder::Flag::ConvertInitialBom)(text.value());
        } else {
            return invalid(u"attribute %1 is of type “%2”; String, Number and Binary are accepted"_s.arg(
                it.key(), attribute.dataType));
        }
        if (attribute.dataType.startsWith("Binary"_L1) ? attribute.binaryValue.isEmpty()
                                                       : attribute.stringValue.isEmpty())
            return invalid(u"attribute %1 has no value"_s.arg(it.key()));
        message.attributes.insert(it.key(), attribute);
    }
    return message;
}

QByteArray csvHeading()
{
    return csv({u"messageId"_s, u"eventId"_s, u"type"_s, u"application"_s, u"verdict"_s, u"reason"_s, u"receiveCount"_s,
                u"timesBack"_s, u"sentAt"_s, u"firstFailedAt"_s, u"diedAt"_s, u"expiresAt"_s, u"body"_s});
}

QByteArray csvLine(const DeadLetter &letter)
{
    return csv({letter.message.messageId, letter.eventId, letter.eventType, letter.applicationId,
                verdictName(letter.verdict), letter.reason, QString::number(letter.receiveCount),
                QString::number(letter.timesBack), isoTime(letter.sentAt), isoTime(letter.firstFailedAt),
                isoTime(letter.diedAt), isoTime(letter.expiresAt), QString::fromUtf8(letter.message.body)});
}

QByteArray jsonLine(const AuditEntry &entry)
{
    const QJsonObject object{{u"id"_s, entry.id},
                             {u"at"_s, isoTime(entry.at)},
                             {u"who"_s, entry.who},
                             {u"host"_s, entry.host},
                             {u"profile"_s, entry.profile},
                             {u"act"_s, entry.act},
                             {u"ids"_s, QJsonArray::fromStringList(entry.ids)},
                             {u"text"_s, entry.text},
                             {u"outcome"_s, entry.outcome}};
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

} // namespace sendonce::letterfile
