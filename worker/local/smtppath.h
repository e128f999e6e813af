#pragma once

#include <QByteArray>
#include <QByteArrayView>

namespace sendonce {

/// A path as MAIL and RCPT carry it: `<address>`, what follows it, or why it is none. Pure. RFC 5321, 4.1.2.
struct SmtpPath
{
    QByteArray address; ///< without brackets; empty for <>
    QByteArray rest; ///< after the closing bracket: empty, or parameters with their leading space
    QByteArray error; ///< for people; empty: good

    /// \param utf8 whether non-ASCII is allowed (RFC 6531); it must be well-formed and without control characters then
    static SmtpPath parse(QByteArrayView text, bool utf8);
};

} // namespace sendonce
