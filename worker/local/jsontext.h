#pragma once

#include <QByteArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QString>

/// JSON and UTF-8 in which every character is one. Qt takes U+FEFF at the start of a text for a byte order mark and
/// drops it, also at the start of each string inside JSON: a message's body would come back shorter than it was sent,
/// and its MD5 wrong. Pure.
namespace sendonce::local {

/// As QJsonDocument::fromJson(), strings unchanged.
QJsonDocument parseJson(const QByteArray &utf8, QJsonParseError *error = nullptr);
/// Compact, with \ufeff where a string begins with U+FEFF: other programs read it with Qt, too.
QByteArray toJson(const QJsonObject &object);
/// As QString::fromUtf8(), unchanged.
QString fromUtf8(const QByteArray &utf8);

} // namespace sendonce::local
