#include "worker/mail/mimereader.h"

#include <QStringDecoder>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr int MaxDepth = 20;

QString decodeCharset(const QByteArray &bytes, const QByteArray &charset)
{
    const QByteArray name = charset.trimmed().toLower();
    if (name == "iso-8859-1" || name == "latin1" || name == "us-ascii")
        return QString::fromLatin1(bytes);
    QStringDecoder decoder(name.isEmpty() ? "UTF-8" : name.constData());
    if (!decoder.isValid())
        return QString::fromUtf8(bytes);
    return decoder(bytes);
}

QByteArray decodeQuotedPrintable(const QByteArray &bytes, bool word)
{
    QByteArray out;
    out.reserve(bytes.size());
    for (qsizetype i = 0; i < bytes.size(); ++i) {
        const char c = bytes[i];
        if (word && c == '_') {
            out += ' ';
        } else if (c != '=') {
            out += c;
        } else if (bytes.mid(i + 1, 2) == "\r\n") { // soft line break
            i += 2;
        } else if (i + 1 < bytes.size() && bytes[i + 1] == '\n') {
            i += 1;
        } else {
            bool ok = false;
            const int value = bytes.mid(i + 1, 2).toInt(&ok, 16);
            if (ok && i + 2 < bytes.size()) {
                out += char(value);
                i += 2;
            } else {
                out += c;
            }
        }
    }
    return out;
}

/// RFC 2047: =?charset?B|Q?text?=; white space between two encoded words vanishes.
QString decodeWords(const QByteArray &value)
{
    QString out;
    qsizetype at = 0;
    bool afterWord = false;
    while (at < value.size()) {
        const qsizetype begin = value.indexOf("=?", at);
        const qsizetype first = begin < 0 ? -1 : value.indexOf('?', begin + 2);
        const qsizetype second = first < 0 ? -1 : value.indexOf('?', first + 1);
        const qsizetype end = second < 0 ? -1 : value.indexOf("?=", second + 1);
        if (end < 0 || second != first + 2) {
            if (begin < 0 || end < 0) {
                out += QString::fromUtf8(value.mid(at));
                break;
            }
            out += QString::fromUtf8(value.mid(at, begin + 2 - at));
            at = begin + 2;
            afterWord = false;
            continue;
        }
        const QByteArray between = value.mid(at, begin - at);
        if (!afterWord || !between.trimmed().isEmpty())
            out += QString::fromUtf8(between);
        const QByteArray payload = value.mid(second + 1, end - second - 1);
        const QByteArray charset = value.mid(begin + 2, first - begin - 2).split('*').first();
        const char encoding = value[first + 1];
        if (encoding == 'B' || encoding == 'b')
            out += decodeCharset(QByteArray::fromBase64(payload), charset);
        else
            out += decodeCharset(decodeQuotedPrintable(payload, true), charset);
        at = end + 2;
        afterWord = true;
    }
    return out;
}

struct Part
{
    QList<QPair<QByteArray, QByteArray>> headers;
    QByteArray body;
};

Part split(const QByteArray &raw)
{
    Part part;
    qsizetype at = 0;
    while (at < raw.size()) {
        qsizetype end = raw.indexOf('\n', at);
        if (end < 0)
            end = raw.size();
        QByteArray line = raw.mid(at, end - at);
        at = end + 1;
        if (line.endsWith('\r'))
            line.chop(1);
        if (line.isEmpty())
            break;
        if ((line.front() == ' ' || line.front() == '\t') && !part.headers.isEmpty()) {
            part.headers.last().second += ' ' + line.trimmed();
            continue;
        }
        const qsizetype colon = line.indexOf(':');
        if (colon > 0)
            part.headers.append({line.first(colon).trimmed(), line.mid(colon + 1).trimmed()});
    }
    part.body = raw.mid(std::min(at, raw.size()));
    return part;
}

QByteArray headerOf(const Part &part, const QByteArray &name)
{
    for (const auto &[key, value] : part.headers) {
        if (key.compare(name, Qt::CaseInsensitive) == 0)
            return value;
    }
    return {};
}

QByteArray parameter(const QByteArray &value, const QByteArray &name)
{
    const QList<QByteArray> parts = value.split(';');
    for (qsizetype i = 1; i < parts.size(); ++i) {
        const QByteArray each = parts[i].trimmed();
        const qsizetype equals = each.indexOf('=');
        if (equals < 0 || each.first(equals).trimmed().compare(name, Qt::CaseInsensitive) != 0)
            continue;
        QByteArray text = each.mid(equals + 1).trimmed();
        if (text.size() >= 2 && text.startsWith('"') && text.endsWith('"'))
            text = text.mid(1, text.size() - 2);
        return text;
    }
    return {};
}

void readPart(const Part &part, ReadMail &mail, int depth)
{
    const QByteArray type = headerOf(part, "Content-Type");
    const QByteArray kind = type.split(';').first().trimmed().toLower();
    if (kind.startsWith("multipart/") && depth < MaxDepth) {
        const QByteArray boundary = "--" + parameter(type, "boundary");
        if (boundary.size() == 2)
            return;
        qsizetype begin = part.body.startsWith(boundary) ? 0 : part.body.indexOf('\n' + boundary) + 1;
        while (begin >= 0 && begin < part.body.size()) {
            const qsizetype start = part.body.indexOf('\n', begin);
            if (start < 0 || part.body.mid(begin + boundary.size(), 2) == "--")
                return;
            const qsizetype next = part.body.indexOf('\n' + boundary, start);
            QByteArray inner = part.body.mid(start + 1, next < 0 ? -1 : next - start - 1);
            if (inner.endsWith('\r'))
                inner.chop(1); // the line end before a boundary belongs to the boundary
            readPart(split(inner), mail, depth + 1);
            if (next < 0)
                return;
            begin = next + 1;
        }
        return;
    }
    QString *target = kind == "text/html" ? &mail.html : kind.isEmpty() || kind == "text/plain" ? &mail.text : nullptr;
    if (!target || !target->isEmpty())
        return;
    const QByteArray encoding = headerOf(part, "Content-Transfer-Encoding").toLower();
    QByteArray bytes = part.body;
    if (encoding == "base64")
        bytes = QByteArray::fromBase64(bytes);
    else if (encoding == "quoted-printable")
        bytes = decodeQuotedPrintable(bytes, false);
    *target = decodeCharset(bytes, parameter(type, "charset"));
    target->replace(u"\r\n"_s, u"\n"_s);
}

ReadMail headersOf(const Part &part)
{
    ReadMail mail;
    for (const auto &[name, value] : part.headers)
        mail.headers.append({QString::fromUtf8(name), decodeWords(value)});
    return mail;
}

} // namespace

QString ReadMail::header(const QString &name) const
{
    for (const auto &[key, value] : headers) {
        if (key.compare(name, Qt::CaseInsensitive) == 0)
            return value;
    }
    return {};
}

ReadMail readMail(const QByteArray &raw)
{
    const Part part = split(raw);
    ReadMail mail = headersOf(part);
    readPart(part, mail, 0);
    return mail;
}

ReadMail readHeaders(const QByteArray &raw)
{
    return headersOf(split(raw));
}

} // namespace sendonce
