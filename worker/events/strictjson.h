#pragma once

#include "worker/result.h"

#include <QByteArray>
#include <QList>
#include <QString>
#include <QStringList>
#include <QStringView>

#include <optional>

namespace sendonce {

/// A JSON value that loses nothing: numbers as they were written, keys in their order. QJsonValue would round integers
/// beyond qint64 and take 3.0 for 3 (reliability.md, finding 4).
struct JsonValue
{
    enum class Kind { Null, False, True, Number, Text, Array, Object };

    Kind kind = Kind::Null;
    int line = 1; ///< where it starts, from 1
    QString text; ///< Text: the characters; Number: as written
    QStringList keys; ///< Object: the names of `items`, each once
    QList<JsonValue> items; ///< Array and Object

    bool isText() const { return kind == Kind::Text; }
    bool isObject() const { return kind == Kind::Object; }
    /// The member of an object; nullptr when there is none or this is no object.
    const JsonValue *find(QStringView key) const;
    /// A number written without fraction and exponent that fits; else nothing.
    std::optional<qint64> integer() const;
    /// For errors: "null", "a text (“3”)", "a number (3.0)", "an array" …
    QString described() const;
};

/// How deeply arrays and objects may lie within one another.
constexpr int JsonDepthLimit = 64;

/// Parses exactly RFC 8259, and less: a key given twice, half of a surrogate pair, invalid UTF-8, a byte order mark and
/// more than JsonDepthLimit levels are refused. Pure. Invalid: "line 1, column 9: …"; columns count characters, from 1.
Result<JsonValue> parseStrictJson(const QByteArray &text);

/// What stands before the first error, as far as it is complete; for looking only, never for deciding.
JsonValue parseJsonPrefix(const QByteArray &text);

/// Without blanks, keys sorted by code units, numbers as they were written, only what must be escaped escaped.
QByteArray canonicalJson(const JsonValue &value);

/// A JSON string literal with its quotes. Half surrogates become \uXXXX, so that nothing is replaced silently.
QByteArray jsonLiteral(QStringView text);

} // namespace sendonce
