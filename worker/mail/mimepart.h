#pragma once

#include <QByteArray>
#include <QByteArrayList>
#include <QString>

namespace sendonce {

/// The content of one text part, made safe for a 7-bit way. RFC 2045, section 6.
struct MimePart
{
    QByteArray encoding; ///< "quoted-printable" or "base64", whichever is shorter
    QByteArray bytes; ///< lines of at most 76 characters with CRLF, the last one too

    /// Line ends of any kind in `text` become CRLF.
    static MimePart fromText(const QString &text);
};

/// RFC 2045, 6.7; beyond it a "." or "From " at the start of a line is encoded. `text` has CRLF line ends.
QByteArray quotedPrintable(const QByteArray &text);

/// A multipart boundary that is the same for every mail of an event and occurs in none of the parts.
QByteArray boundaryFor(const QString &eventId, const QByteArrayList &parts);

} // namespace sendonce
