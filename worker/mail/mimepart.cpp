#include "worker/mail/mimepart.h"

#include <QCryptographicHash>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr qsizetype MaxLine = 76;

void appendEncoded(QByteArray *result, char c)
{
    static constexpr char Hex[] = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    const char encoded[] = {'=', Hex[byte >> 4], Hex[byte & 0xf]};
    result->append(encoded, sizeof encoded);
}

/// One line without its CRLF.
void appendQuoted(QByteArray *result, QByteArrayView line)
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
            result->append("=\r\n");
            column = 0;
            literal = printable && !isRisky();
        }
        if (literal)
            result->append(c);
        else
            appendEncoded(result, c);
        column += literal ? 1 : 3;
    }
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
    result.reserve(text.size() + text.size() / 8 + 16);
    qsizetype begin = 0;
    while (begin < text.size()) {
        const qsizetype found = text.indexOf("\r\n", begin);
        const qsizetype end = found < 0 ? text.size() : found;
        appendQuoted(&result, QByteArrayView(text).sliced(begin, end - begin));
        result += "\r\n";
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
        const QByteArray boundary = "=_" + QCryptographicHash::hash(seed, QCryptographicHash::Sha256).toHex().first(32);
        if (std::none_of(parts.cbegin(), parts.cend(), [&](const QByteArray &part) { return part.contains(boundary); }))
            return boundary;
    }
}

} // namespace sendonce
