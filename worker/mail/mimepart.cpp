#include "worker/mail/mimepart.h"

#include "worker/digest/sha256.h"

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr qsizetype MaxLine = 76;

char *putEncoded(char *to, char c)
{
    static constexpr char Hex[] = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    *to++ = '=';
    *to++ = Hex[byte >> 4];
    *to++ = Hex[byte & 0xf];
    return to;
}

/// One line without its CRLF. It takes four bytes for each of the line's at most: three, and a share of a soft break.
char *putQuoted(char *to, QByteArrayView line)
{
    qsizetype column = 0;
    for (qsizetype i = 0; i < line.size(); ++i) {
        const char c = line[i];
        const bool last = i == line.size() - 1;
        const bool blank = c == ' ' || c == '\t';
        const bool printable = blank ? !last : c > ' ' && c <= '~' && c != '=';
        // At the beginning of a line dots are SMTP's, "From " is the mbox format's.
        const auto isRisky = [&] { return c == '.' || (c == 'F' && line.sliced(i).startsWith("From ")); };
        bool literal = printable && (column > 0 || !isRisky());
        if ((literal ? 1 : 3) > MaxLine - (last ? 0 : 1) - column) {
            to = std::copy_n("=\r\n", 3, to);
            column = 0;
            literal = printable && !isRisky();
        }
        if (literal)
            *to++ = c;
        else
            to = putEncoded(to, c);
        column += literal ? 1 : 3;
    }
    return to;
}

/// Whatever ends a line becomes CRLF, and the last line has an end as well.
QByteArray withCrLf(const QByteArray &text)
{
    QByteArray lines;
    lines.reserve(text.size() + text.size() / 16 + 16);
    for (qsizetype begin = 0; begin < text.size();) {
        const char *end =
            std::find_if(text.cbegin() + begin, text.cend(), [](char c) { return c == '\r' || c == '\n'; });
        const qsizetype length = end - (text.cbegin() + begin);
        lines.append(text.constData() + begin, length).append("\r\n");
        begin += length + (QByteArrayView(end, text.cend()).startsWith("\r\n") ? 2 : 1);
    }
    return lines.isEmpty() ? "\r\n"_ba : lines;
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
    QByteArray result(text.size() * 4 + 2, Qt::Uninitialized);
    char *to = result.data();
    qsizetype begin = 0;
    while (begin < text.size()) {
        const qsizetype found = text.indexOf("\r\n", begin);
        const qsizetype end = found < 0 ? text.size() : found;
        to = std::copy_n("\r\n", 2, putQuoted(to, QByteArrayView(text).sliced(begin, end - begin)));
        begin = end + 2;
    }
    result.truncate(to - result.constData());
    return result;
}

MimePart MimePart::fromText(const QString &text)
{
    const QByteArray bytes = withCrLf(text.toUtf8());
    MimePart quoted{"quoted-printable", quotedPrintable(bytes)};
    // Lines and their ends included, base64 takes at least so much.
    if (quoted.bytes.size() <= (bytes.size() + 2) / 3 * 4)
        return quoted;
    MimePart base64{"base64", base64Lines(bytes)};
    return quoted.bytes.size() <= base64.bytes.size() ? quoted : base64;
}

QByteArray boundaryFor(const QString &eventId, const QByteArrayList &parts)
{
    // Neither encoding writes "=_": in quoted-printable a "=" is followed by a digit, A to F or CRLF.
    for (int attempt = 0;; ++attempt) {
        const QByteArray seed = "boundary " + QByteArray::number(attempt) + ' ' + eventId.toUtf8();
        const QByteArray boundary = "=_" + sha256(seed).toHex().first(32);
        if (std::none_of(parts.cbegin(), parts.cend(), [&](const QByteArray &part) { return part.contains(boundary); }))
            return boundary;
    }
}

} // namespace sendonce
