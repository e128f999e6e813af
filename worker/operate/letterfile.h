#pragma once

#include "worker/result.h"
#include "worker/types.h"

#include <QByteArray>

/// Dead letters as text, pure: JSON lines, which lose nothing and can be imported, and CSV for spreadsheets.
namespace sendonce::letterfile {

/// One line without its end. Body and attributes are those of letter.message. A body that would not come back from JSON
/// text byte for byte (a byte order mark, for one) is written as "bodyBase64".
QByteArray jsonLine(const DeadLetter &letter);

/// What can be sent again of a line: body, attributes, trace header; messageId says which it was. Other members are
/// ignored. Invalid names what is wrong.
Result<Message> messageOf(const QByteArray &jsonLine);

/// RFC 4180, CRLF. A cell that a spreadsheet would run (= + - @, TAB, CR, LF and their full-width forms, also behind
/// blanks or quotes) begins with an apostrophe.
QByteArray csvHeading();
QByteArray csvLine(const DeadLetter &letter);

/// The same for one line of the audit.
QByteArray jsonLine(const AuditEntry &entry);

/// "not handled", "handled", "in doubt", "unknown" or "invalid".
QString verdictName(Verdict verdict);

} // namespace sendonce::letterfile
