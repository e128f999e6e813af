#pragma once

#include <QByteArray>
#include <QList>
#include <QPair>

namespace sendonce::local {

/// A reply as a value; always with a Content-Length.
struct HttpReply
{
    int status = 200;
    QByteArray contentType; ///< empty: no body
    QByteArray body;
    QList<QPair<QByteArray, QByteArray>> headers; ///< further ones; values without line ends
    bool close = false; ///< the connection ends after it

    bool operator==(const HttpReply &) const = default;
};

/// A line of plain text.
HttpReply textReply(int status, const QByteArray &text, bool close);

/// Now, as a Date header has it (RFC 9110, 5.6.7).
QByteArray httpDate();

/// The bytes on the wire (RFC 9112, 4).
/// \param date the Date header's value; SDKs correct their clock by it
QByteArray toBytes(const HttpReply &reply, const QByteArray &date);

} // namespace sendonce::local
