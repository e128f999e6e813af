#include "worker/local/smtppath.h"

#include <QString>
#include <QStringDecoder>

#include <algorithm>

namespace sendonce {

namespace {

constexpr int MaxLocalPart = 64;
constexpr int MaxDomain = 255;
constexpr int MaxPath = 256; // with brackets

bool isAtomByte(char c)
{
    const auto u = static_cast<unsigned char>(c);
    return u >= 0x80 || (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') || (u >= 'a' && u <= 'z')
        || QByteArrayView("!#$%&'*+-/=?^_`{|}~.").contains(c);
}

bool isDomainByte(char c)
{
    const auto u = static_cast<unsigned char>(c);
    return u >= 0x80 || (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') || (u >= 'a' && u <= 'z') || c == '-'
        || c == '.';
}

bool hasControlOrBrokenText(QByteArrayView bytes)
{
    QStringDecoder decoder(QStringDecoder::Utf8);
    const QString text = decoder(bytes);
    return decoder.hasError() || std::any_of(text.cbegin(), text.cend(), [](QChar c) {
               return c.category() == QChar::Other_Control || c.category() == QChar::Separator_Line
                   || c.category() == QChar::Separator_Paragraph;
           });
}

/// Where the bracket that closes the path is: one inside a quoted local part does not count. -1: nowhere.
qsizetype closingBracket(QByteArrayView text)
{
    bool quoted = false;
    for (qsizetype i = 1; i < text.size(); ++i) {
        if (quoted && text[i] == '\\')
            ++i;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && text[i] == '>')
            return i;
    }
    return -1;
}

QByteArray addressError(QByteArrayView address)
{
    const qsizetype at = address.lastIndexOf('@');
    if (at < 0)
        return "no @ in the address";
    const QByteArrayView local = address.first(at);
    const QByteArrayView domain = address.sliced(at + 1);
    if (local.isEmpty() || local.size() > MaxLocalPart)
        return "the part before the @ must have 1 to 64 octets";
    if (domain.isEmpty() || domain.size() > MaxDomain)
        return "the part behind the @ must have 1 to 255 octets";

    if (local.front() == '"') {
        if (local.size() < 2 || local.back() != '"')
            return "the quotes do not close";
        for (qsizetype i = 1; i < local.size() - 1; ++i) {
            if (local[i] == '"' || (local[i] == '\\' && ++i == local.size() - 1))
                return "the quotes do not close";
        }
    } else if (!std::all_of(local.begin(), local.end(), isAtomByte)) {
        return "a character before the @ is not allowed there";
    }

    if (domain.front() == '[') {
        const QByteArrayView literal = domain.sliced(1);
        const bool closed = literal.endsWith(']');
        if (!closed || literal.size() < 2 || std::any_of(literal.begin(), literal.end() - 1, [](char c) {
                return c == '[' || c == ']' || c == '\\' || c == ' ';
            }))
            return "that is no address literal";
    } else if (!std::all_of(domain.begin(), domain.end(), isDomainByte)) {
        return "a character behind the @ is not allowed there";
    }
    return {};
}

} // namespace

SmtpPath SmtpPath::parse(QByteArrayView text, bool utf8)
{
    SmtpPath path;
    const qsizetype end = text.startsWith('<') ? closingBracket(text) : -1;
    if (end < 0) {
        path.error = "an address in < > is expected, without a space before it";
        return path;
    }
    const QByteArrayView address = text.sliced(1, end - 1);
    path.rest = text.sliced(end + 1).toByteArray();
    if (address.size() + 2 > MaxPath)
        path.error = "a path has at most 256 octets";
    else if (!path.rest.isEmpty() && path.rest.front() != ' ')
        path.error = "a space is expected behind the address";
    else if (!utf8 && std::any_of(address.begin(), address.end(), [](char c) { return (c & 0x80) != 0; }))
        path.error = "a non-ASCII address needs SMTPUTF8";
    else if (hasControlOrBrokenText(address))
        path.error = "control characters and broken UTF-8 are not allowed";
    else if (!address.isEmpty() && address.compare("postmaster", Qt::CaseInsensitive) != 0)
        path.error = addressError(address);
    path.address = address.toByteArray();
    return path;
}

} // namespace sendonce
