#pragma once

#include <QByteArray>
#include <QList>
#include <QPair>
#include <QString>

namespace sendonce {

/// What a person sees of a stored mail. Pure, never fails: what cannot be decoded is shown as it stands. Reads what the
/// mailbox keeps, from any sender: parts nested to a depth of 20, quoted-printable, base64, RFC 2047 words, UTF-8 and
/// Latin-1.
struct ReadMail
{
    QList<QPair<QString, QString>> headers; ///< in their order, unfolded and decoded
    QString text; ///< first text/plain part
    QString html; ///< first text/html part

    QString header(const QString &name) const; ///< first of that name, case-insensitive; empty when there is none
    bool operator==(const ReadMail &) const = default;
};

ReadMail readMail(const QByteArray &raw);
/// The headers alone, for lists: stops at the empty line.
ReadMail readHeaders(const QByteArray &raw);

} // namespace sendonce
