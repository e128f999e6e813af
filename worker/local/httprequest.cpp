#include "worker/local/httprequest.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

constexpr qsizetype HeadLimit = 16 * 1024;
// A message of 1 MiB in letters of two bytes takes 3 MiB as JSON (\u00e9) or as a form (%C3%A9); around it the rest.
constexpr qsizetype BodyLimit = (3 * 1024 + 64) * 1024;
constexpr qsizetype HeaderCountLimit = 100;

struct Refusal
{
    int status;
    const char *reason;
};

bool isTokenChar(char c)
{
    // RFC 9110, 5.6.2
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
        || (c != '\0' && std::strchr("!#$%&'*+-.^_`|~", c));
}

bool isToken(QByteArrayView text)
{
    return !text.isEmpty() && std::all_of(text.begin(), text.end(), isTokenChar);
}

QByteArrayView trimmed(QByteArrayView text)
{
    const auto isBlank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.isEmpty() && isBlank(text.front()))
        text = text.sliced(1);
    while (!text.isEmpty() && isBlank(text.back()))
        text.chop(1);
    return text;
}

std::optional<Refusal> readRequestLine(QByteArrayView line, HttpRequest *request)
{
    const qsizetype first = line.indexOf(' ');
    const qsizetype second = first < 0 ? -1 : line.indexOf(' ', first + 1);
    if (second < 0)
        return Refusal{400, "malformed request line"};
    const QByteArrayView method = line.first(first);
    const QByteArrayView target = line.sliced(first + 1, second - first - 1);
    const QByteArrayView version = line.sliced(second + 1);
    if (!isToken(method))
        return Refusal{400, "malformed method"};
    const auto isTargetChar = [](char c) { return c > ' ' && c < '\x7f'; };
    if (!target.startsWith('/') || !std::all_of(target.begin(), target.end(), isTargetChar))
        return Refusal{400, "the request target must be a path"};
    if (version.size() != 8 || !version.startsWith("HTTP/"_ba) || version.at(6) != '.')
        return Refusal{400, "malformed HTTP version"};
    if (version.at(5) != '1' || (version.at(7) != '1' && version.at(7) != '0'))
        return Refusal{505, "only HTTP/1.1 and HTTP/1.0 are spoken here"};
    request->method = method.toByteArray();
    const qsizetype mark = target.indexOf('?');
    request->path = (mark < 0 ? target : target.first(mark)).toByteArray();
    if (mark >= 0)
        request->query = target.sliced(mark + 1).toByteArray();
    request->minorVersion = version.at(7) - '0';
    return {};
}

std::optional<Refusal> readHeader(QByteArrayView line, HttpRequest *request)
{
    if (line.startsWith(' ') || line.startsWith('\t'))
        return Refusal{400, "folded header lines are not accepted"};
    const qsizetype colon = line.indexOf(':');
    if (colon < 0 || !isToken(line.first(colon)))
        return Refusal{400, "malformed header line"};
    const QByteArrayView value = trimmed(line.sliced(colon + 1));
    const auto isControl = [](char c) { return (uchar(c) < 0x20 && c != '\t') || c == '\x7f'; };
    if (std::any_of(value.begin(), value.end(), isControl))
        return Refusal{400, "control character in a header"};
    if (request->headers.size() == HeaderCountLimit)
        return Refusal{431, "too many headers"};
    request->headers += {line.first(colon).toByteArray().toLower(), value.toByteArray()};
    return {};
}

/// What the head says of the body's length; RFC 9112, 6.
std::optional<Refusal> readLength(const HttpRequest &request, qsizetype *length)
{
    *length = 0;
    const qsizetype lengths = request.count("content-length"_ba);
    if (request.count("transfer-encoding"_ba) > 0) {
        if (lengths > 0)
            return Refusal{400, "Content-Length together with Transfer-Encoding"};
        return Refusal{411, "a Content-Length is needed; transfer codings are not accepted"};
    }
    if (lengths > 1)
        return Refusal{400, "more than one Content-Length"};
    if (lengths == 1) {
        const QByteArray text = request.header("content-length"_ba);
        if (text.isEmpty() || !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
            return Refusal{400, "malformed Content-Length"};
        bool ok = false;
        *length = text.toLongLong(&ok);
        if (!ok || *length > BodyLimit)
            return Refusal{413, "the body is longer than 3 MiB and 64 KiB"};
    }
    const QByteArray expect = request.header("expect"_ba);
    if (request.count("expect"_ba) > 0 && expect.compare("100-continue"_ba, Qt::CaseInsensitive) != 0)
        return Refusal{417, "unknown expectation"};
    return {};
}

} // namespace

qsizetype HttpRequest::count(QByteArrayView name) const
{
    return std::count_if(headers.cbegin(), headers.cend(),
                         [name](const HttpHeader &header) { return header.name == name; });
}

QByteArray HttpRequest::header(QByteArrayView name) const
{
    const auto it = std::find_if(headers.cbegin(), headers.cend(),
                                 [name](const HttpHeader &header) { return header.name == name; });
    return it == headers.cend() ? QByteArray() : it->value;
}

bool HttpRequest::keepsAlive() const
{
    bool close = minorVersion == 0;
    for (const HttpHeader &header : headers) {
        if (header.name != "connection"_ba)
            continue;
        for (const QByteArray &option : header.value.toLower().split(',')) {
            if (option.trimmed() == "close"_ba)
                return false;
            if (option.trimmed() == "keep-alive"_ba)
                close = false;
        }
    }
    return !close;
}

HttpParse parseHttpRequest(QByteArrayView bytes)
{
    HttpParse parse;
    const auto refuse = [&parse](Refusal refusal) {
        parse.status = HttpParse::Status::Refused;
        parse.refusal = refusal.status;
        parse.reason = refusal.reason;
        return parse;
    };
    // Line by line from the front, so that the first thing wrong is found first however much has come already.
    qsizetype position = 0;
    bool haveRequestLine = false;
    for (;;) {
        const qsizetype end = bytes.indexOf('\n', position);
        if (end < 0 || end >= HeadLimit) {
            if (std::max(end, bytes.size()) > HeadLimit)
                return refuse({431, "the head is longer than 16 KiB"});
            parse.needed = bytes.size() + 1;
            return parse;
        }
        QByteArrayView line = bytes.sliced(position, end - position);
        if (!line.endsWith('\r'))
            return refuse({400, "a line must end in CR LF"});
        line.chop(1);
        const bool atStart = position == 0;
        position = end + 1;
        if (!haveRequestLine) {
            if (line.isEmpty() && atStart)
                continue; // RFC 9112, 2.2: one empty line before the request line is to be ignored
            if (const auto refusal = readRequestLine(line, &parse.request))
                return refuse(*refusal);
            haveRequestLine = true;
        } else if (line.isEmpty()) {
            break;
        } else if (const auto refusal = readHeader(line, &parse.request)) {
            return refuse(*refusal);
        }
    }
    qsizetype length = 0;
    if (const auto refusal = readLength(parse.request, &length))
        return refuse(*refusal);
    if (bytes.size() - position < length) {
        parse.needed = position + length;
        parse.awaitsContinue = parse.request.count("expect"_ba) > 0 && parse.request.minorVersion == 1;
        return parse;
    }
    parse.status = HttpParse::Status::Complete;
    parse.request.body = bytes.sliced(position, length).toByteArray();
    parse.used = position + length;
    return parse;
}

} // namespace sendonce::local
