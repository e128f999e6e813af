#include "worker/local/jsontext.h"

#include <QStringDecoder>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

/// Replaces U+FEFF by its escape where it follows a quotation mark. Outside strings it is not allowed, and is not
/// made so; behind an escaped mark inside a string it means the same.
QByteArray escapedBom(const QByteArray &json)
{
    const QByteArray raw = "\"\xEF\xBB\xBF"_ba;
    if (!json.contains(raw))
        return json;
    return QByteArray(json).replace(raw, "\"\\ufeff"_ba);
}

} // namespace

QJsonDocument parseJson(const QByteArray &utf8, QJsonParseError *error)
{
    return QJsonDocument::fromJson(escapedBom(utf8), error);
}

QByteArray toJson(const QJsonObject &object)
{
    return escapedBom(QJsonDocument(object).toJson(QJsonDocument::Compact));
}

QString fromUtf8(const QByteArray &utf8)
{
    return QStringDecoder(QStringDecoder::Utf8, QStringDecoder::Flag::ConvertInitialBom)(utf8);
}

} // namespace sendonce::local
