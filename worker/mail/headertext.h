#pragma once

#include "worker/mail/mimemessage.h"

#include <QByteArray>
#include <QString>

namespace sendonce {

/// Why `text` must not reach a header or an envelope, in words that name `what` ("subject holds U+000A, a control
/// character"); empty when it may. Refused, never stripped: control characters (CR, LF, NUL, C1 …), U+2028, U+2029,
/// lone surrogates.
QString refusedInHeader(const QString &what, const QString &text);

/// `Name: text` with its CRLF: as it is where that is printable ASCII, folded at blanks, else as RFC 2047 words. Lines
/// have at most 76 characters. `text` has passed refusedInHeader().
QByteArray textHeader(const QByteArray &name, const QString &text);

/// `Name: Display Name <user@host>` with its CRLF; the display name as atoms, quoted, or as RFC 2047 words. Lines have
/// at most 76 characters unless the address alone is longer, which cannot be folded.
QByteArray addressHeader(const QByteArray &name, const MailAddress &address);

/// RFC 2047 words of at most 75 characters, parted by CRLF SP, none splitting a character. `column` is where the first
/// begins.
QByteArray encodedWords(const QString &text, qsizetype column);

} // namespace sendonce
