#include "worker/queue/jsonreply.h"

#include <QJsonDocument>
#include <QJsonParseError>

#include <cmath>

using namespace Qt::StringLiterals;

namespace sendonce::jsonreply {

namespace {

/// Qt 6.4 drops a U+FEFF at the beginning of a JSON string when it reads one (measured), and the MD5 is then wrong;
/// written as an escape it stays. Servers may be made with Qt as well, so this goes for both directions.
QByteArray withEscapedBom(QByteArray json)
{
    return json.replace("\xef\xbb\xbf"_ba, "\\ufeff"_ba);
}

} // namespace

QByteArray compact(const QJsonObject &object)
{
    return withEscapedBom(QJsonDocument(object).toJson(QJsonDocument::Compact));
}

QJsonObject forQueue(const QUrl &queueUrl)
{
    return {{u"QueueUrl"_s, queueUrl.toString(QUrl::FullyEncoded)}};
}

Error notSqs(const QString &what)
{
    return {ErrorKind::Protocol, u"something that is not an SQS reply: "_s + what, {}};
}

Result<QJsonObject> readObject(const QByteArray &body)
{
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(withEscapedBom(body), &error);
    if (error.error != QJsonParseError::NoError)
        return notSqs(u"%1 at byte %2 of %3"_s.arg(error.errorString()).arg(error.offset).arg(body.size()));
    if (!document.isObject())
        return notSqs(u"JSON without an object"_s);
    return document.object();
}

Result<QJsonArray> readList(const QJsonObject &object, const QString &name)
{
    const QJsonValue value = object.value(name);
    if (value.isUndefined() || value.isNull())
        return QJsonArray();
    if (!value.isArray())
        return notSqs(name + u" is not a list"_s);
    return value.toArray();
}

QString text(const QJsonValue &value)
{
    switch (value.type()) {
    case QJsonValue::String:
        return value.toString();
    case QJsonValue::Double: {
        const double number = value.toDouble();
        return number == std::floor(number) && std::abs(number) < 9e15 ? QString::number(qint64(number))
                                                                       : QString::number(number, 'g', 17);
    }
    case QJsonValue::Bool:
        return value.toBool() ? u"true"_s : u"false"_s;
    default:
        return {};
    }
}

std::optional<qint64> number(const QJsonValue &value)
{
    bool ok = false;
    const double given = text(value).toDouble(&ok);
    if (!ok || !(std::abs(given) < 9e15))
        return std::nullopt;
    return qint64(given);
}

} // namespace sendonce::jsonreply
