#include "worker/mail/mimepart.h"

#include <QCryptographicHash>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr qsizetype MaxLine = 76;

QByteArray encodedByte(char c)
{
    static const char hex[] = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    return {QByteArray(1, '=') + hex[byte >> 4] + hex[byte & 0xf]};
}

/// One line without its CRLF.
QByteArray quotedLine(QByteArrayView line)
{
    QByteArray result;
    qsizetype column = 0;
    for (qsizetype i = 0; i < line.size(); ++i) {
        const char c = line[i];
        const bool last = i == line.size() - 1;
        const bool blank = c == ' ' || c == '\t';
        // Leading dots are SMTP's, "From " is the mbox format's.
        const bool risky = (c == '.' || line.sliced(i).startsWith("From "));
        const bool literal = blank ? !last : c > ' ' && c <= '~' && c != '=';
        const qsizetype room = MaxLine - (last ? 0 : 1) - column;
        const qsizetype size = literal && !(column == 0 && risky) ? 1 : 3;
        if (size > room) {
            result += "=\r\n";
            column = 0;
        }
        const QByteArray out = literal && !(column == 0 && risky) ? QByteArray(1, c) : encodedByte(c);
        result += out;
        column += out.size();
    }
    return result;
}

QByteArray base64Lines(const QByteArray &bytes)
{
    const QByteArray all = bytes.toBase64();
    QByteArray lines;
    for (qsizetype i = 0; i < all.size(); i += MaxLine)
        lines += all.mid(i, MaxLine) + "\r\n";
    return lines;
}

} // namespace

QByteArray quotedPrintable(const QByteArray &text)
{
    QByteArray result;
    qsizetype begin = 0;
    while (begin < text.size()) {
        const qsizetype found = text.indexOf("\r\n", begin);
        const qsizetype end = found < 0 ? text.size() : found;
        result += quotedLine(QByteArrayView(text).sliced(begin, end - begin)) + "\r\n";
        begin = end + 2;
    }
    return result;
}

MimePart MimePart::fromText(const QString &text)
{
    QString lines = text;
    lines.replace("\r\n"_L1, "\n"_L1).replace(u'\r', u'\n');
    if (!lines.endsWith(u'\n'))
        lines += u'\n';
    const QByteArray bytes = lines.replace(u'\n', "\r\n"_L1).toUtf8();
    const MimePart quoted{"quoted-printable", quotedPrintable(bytes)};
    const MimePart base64{"base64", base64Lines(bytes)};
    return quoted.bytes.size() <= base64.bytes.size() ? quoted : base64;
}

QByteArray boundaryFor(const QString &eventId, const QByteArrayList &parts)
{
    // Neither encoding writes "=_": in quoted-printable a "=" is followed by a digit, A to F or CRLF.
    for (int attempt = 0;; ++attempt) {
        const QByteArray seed = "boundary " + QByteArray::number(attempt) + ' ' + eventId.toUtf8();
        const QByteArray boundary = "=_" + QCryptographicHash::hash(seed, QCryptographicHash::Sha256).toHex().first(32);
        if (std::none_of(parts.cbegin(), parts.cend(), [&](const QByteArray &part) { return part.contains(boundary); }))
            return boundary;
    }
}

} // namespace sendonce
