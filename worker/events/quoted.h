#pragma once

#include <QString>
#include <QStringView>

namespace sendonce {

/// Text of strangers for an error line: in quotes, what would not show or would disturb the line (controls, line ends,
/// bidi and other format characters, half surrogates) as \uXXXX, cut to 60 code points.
QString quoted(QStringView text);

/// The first `count` UTF-16 units, never half of a pair.
QString cutTo(const QString &text, qsizetype count);

} // namespace sendonce
