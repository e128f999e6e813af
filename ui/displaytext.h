#pragma once

#include <QByteArray>
#include <QDateTime>
#include <QString>

/// How values are written on screen. Pure functions; the text of strangers goes through shownText() or shownLines().
namespace sendonce {

/// One line that cannot act: control characters, line ends and the characters that turn the writing direction (U+202E
/// …) are written out as \n or \u202E, and what is longer than `limit` characters is cut with an ellipsis.
QString shownText(const QString &text, qsizetype limit = 1000);
/// As shownText(), but line ends and tabs stay.
QString shownLines(const QString &text, qsizetype limit = 2'000'000);
/// For setToolTip and Qt::ToolTipRole, which guess rich text: always valid as such, with every character of the text
/// escaped.
QString toolTipText(const QString &text);

QString clockTime(const QDateTime &utc); ///< 14:05:41, local
QString clockTimeMsec(const QDateTime &utc); ///< 14:05:41.123, local
QString dayAndTime(const QDateTime &utc); ///< 2026-03-01 14:05:41, local
QString utcText(const QDateTime &utc); ///< 2026-03-01 13:05:41.123 UTC
QString agoText(const QDateTime &then, const QDateTime &now); ///< "20 s ago"; empty when then is not valid

/// The time between, in its two largest units: "3 d 4 h", "12 min"; "over" when it is none.
QString spanText(const QDateTime &from, const QDateTime &to);

/// "application.status_changed" -> "status changed".
QString typeText(const QString &type);
/// "23e48c51-7f0e-4b7e-8c55-1f0e6a5d9a41" -> "23e48c51-7f0e…9a41"; what is short stays.
QString compactId(const QString &id);
/// Grouped digits; "–" for a negative number, which means "not known".
QString countText(qint64 count);

/// The JSON text with line ends and indentation; members stay in their order. Not valid JSON: a null string.
QString indentedJson(const QByteArray &json);

} // namespace sendonce
