#include "worker/queue/awskeyreplies.h"

#include "worker/queue/sqserrors.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QMap>
#include <QUrl>
#include <QXmlStreamReader>

using namespace Qt::StringLiterals;

namespace sendonce::awskeys {

namespace {

Error refused(const QString &text, const QString &code = {})
{
    return {ErrorKind::Refused, text, code};
}

ErrorKind kindOf(int status, const QString &code)
{
    if (code.contains("Throttl"_L1))
        return ErrorKind::Throttled;
    return status >= 500 ? ErrorKind::Unreachable : ErrorKind::Refused;
}

} // namespace

QDateTime readTime(const QString &text)
{
    QDateTime time = QDateTime::fromString(text.trimmed(), Qt::ISODateWithMs);
    if (time.timeSpec() == Qt::LocalTime)
        time.setTimeSpec(Qt::UTC);
    return time.toUTC();
}

Result<TimedKeys> readProcessOutput(const QByteArray &json)
{
    const QJsonDocument document = QJsonDocument::fromJson(json);
    if (!document.isObject())
        return refused(u"printed something that is not a JSON object"_s);
    const QJsonObject object = document.object();
    if (object.value("Version"_L1).toInt() != 1)
        return refused(u"printed JSON without “Version”: 1, the only version there is"_s);
    TimedKeys result;
    result.keys = {object.value("AccessKeyId"_L1).toString(), object.value("SecretAccessKey"_L1).toString(),
                   object.value("SessionToken"_L1).toString()};
    if (result.keys.accessKeyId.isEmpty() || result.keys.secretAccessKey.isEmpty())
        return refused(u"printed JSON without AccessKeyId or SecretAccessKey"_s);
    if (const QString time = object.value("Expiration"_L1).toString(); !time.isEmpty()) {
        result.expiration = readTime(time);
        if (!result.expiration.isValid())
            return refused(u"printed an Expiration that is no time of ISO 8601"_s);
    }
    return result;
}

QByteArray assumeRoleForm(const AwsRole &role)
{
    QByteArray form = "Action=AssumeRole&Version=2011-06-15";
    const auto add = [&form](const char *name, const QString &value) {
        if (!value.isEmpty())
            form += '&' + QByteArray(name) + '=' + QUrl::toPercentEncoding(value);
    };
    add("RoleArn", role.arn);
    add("RoleSessionName", role.sessionName.isEmpty() ? u"sendonce"_s : role.sessionName);
    add("ExternalId", role.externalId);
    add("DurationSeconds", role.durationSeconds > 0 ? QString::number(role.durationSeconds) : QString());
    return form;
}

Result<TimedKeys> readAssumedRole(int status, const QByteArray &xml)
{
    QMap<QString, QString> texts;
    QXmlStreamReader reader(xml);
    static const QStringList leaves = {u"AccessKeyId"_s, u"SecretAccessKey"_s, u"SessionToken"_s, u"Expiration"_s,
                                       u"Code"_s,        u"Message"_s};
    while (!reader.atEnd()) {
        if (reader.readNext() != QXmlStreamReader::StartElement)
            continue;
        if (const QString name = reader.name().toString(); leaves.contains(name))
            texts.insert(name, reader.readElementText(QXmlStreamReader::SkipChildElements));
    }
    if (status < 200 || status >= 300) {
        const QString code = sqserrors::oneLine(texts.value(u"Code"_s));
        QString text = code.isEmpty() ? u"HTTP %1"_s.arg(status) : code;
        if (const QString message = sqserrors::oneLine(texts.value(u"Message"_s)); !message.isEmpty())
            text += u": "_s + message;
        return Error{kindOf(status, code), text, code};
    }
    TimedKeys result;
    result.keys = {texts.value(u"AccessKeyId"_s), texts.value(u"SecretAccessKey"_s), texts.value(u"SessionToken"_s)};
    result.expiration = readTime(texts.value(u"Expiration"_s));
    if (reader.hasError() || result.keys.accessKeyId.isEmpty() || result.keys.secretAccessKey.isEmpty()
        || result.keys.sessionToken.isEmpty() || !result.expiration.isValid())
        return Error{ErrorKind::Protocol, u"something that is not STS's"_s, {}};
    return result;
}

} // namespace sendonce::awskeys
