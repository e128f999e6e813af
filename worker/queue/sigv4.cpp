#include "worker/queue/sigv4.h"

#include "worker/digest/sha256.h"

#include <QMap>
#include <QMessageAuthenticationCode>

#include <algorithm>
#include <array>
#include <cstdio>

using namespace Qt::StringLiterals;

namespace sendonce::sigv4 {

namespace {

constexpr auto Algorithm = "AWS4-HMAC-SHA256";

QByteArray sha256Hex(const QByteArray &data)
{
    return sha256(data).toHex();
}

QByteArray hmac(const QByteArray &key, const QByteArray &data)
{
    return QMessageAuthenticationCode::hash(data, key, QCryptographicHash::Sha256);
}

/// Dot segments and empty segments go first (RFC 3986, 5.2.4, and AWS's normalize-path cases), then the path *as sent*
/// is encoded once more: a sent "%20" becomes "%2520".
QByteArray canonicalPath(const QByteArray &path)
{
    QList<QByteArray> kept;
    const QList<QByteArray> segments = path.split('/');
    for (const QByteArray &segment : segments) {
        if (segment == "..") {
            if (!kept.isEmpty())
                kept.removeLast();
        } else if (!segment.isEmpty() && segment != ".") {
            kept.append(segment.toPercentEncoding());
        }
    }
    if (kept.isEmpty())
        return "/"_ba;
    const bool directory = segments.last().isEmpty() || segments.last() == "." || segments.last() == "..";
    return '/' + kept.join('/') + (directory ? "/" : "");
}

/// Decoded before it is encoded, so that it does not matter which characters the sender had encoded.
QByteArray canonicalQuery(const QByteArray &query)
{
    QList<QPair<QByteArray, QByteArray>> parameters;
    const QList<QByteArray> pieces = query.split('&');
    for (const QByteArray &piece : pieces) {
        if (piece.isEmpty())
            continue;
        const qsizetype equals = piece.indexOf('=');
        const QByteArray name = equals < 0 ? piece : piece.left(equals);
        const QByteArray value = equals < 0 ? QByteArray() : piece.mid(equals + 1);
        parameters.append({QByteArray::fromPercentEncoding(name).toPercentEncoding(),
                           QByteArray::fromPercentEncoding(value).toPercentEncoding()});
    }
    std::sort(parameters.begin(), parameters.end());
    QByteArray result;
    for (const auto &[name, value] : std::as_const(parameters)) {
        if (!result.isEmpty())
            result += '&';
        result += name + '=' + value;
    }
    return result;
}

/// Sorted by lower-case name; the values of a repeated name are joined in their order.
using CanonicalHeaders = QMap<QByteArray, QByteArray>;

CanonicalHeaders canonicalHeaders(const Request &request)
{
    CanonicalHeaders headers;
    for (const auto &[name, value] : request.headers) {
        const QByteArray key = name.toLower();
        const auto known = headers.find(key);
        if (known == headers.end())
            headers.insert(key, value.simplified());
        else
            *known += ',' + value.simplified();
    }
    return headers;
}

QByteArray namesOf(const CanonicalHeaders &headers)
{
    return headers.keys().join(';');
}

QByteArray canonicalRequest(const Request &request, const CanonicalHeaders &headers)
{
    const qsizetype question = request.target.indexOf('?');
    const QByteArray path = question < 0 ? request.target : request.target.left(question);
    const QByteArray query = question < 0 ? QByteArray() : request.target.mid(question + 1);

    QByteArray result = request.method + '\n' + canonicalPath(path) + '\n' + canonicalQuery(query) + '\n';
    for (auto header = headers.cbegin(); header != headers.cend(); ++header)
        result += header.key() + ':' + header.value() + '\n';
    result += '\n' + namesOf(headers) + '\n' + sha256Hex(request.body);
    return result;
}

QByteArray scopeText(const QByteArray &date, const Scope &scope)
{
    return date + '/' + scope.region + '/' + scope.service + "/aws4_request";
}

} // namespace

QByteArray amzDate(const QDateTime &time)
{
    const QDateTime utc = time.toUTC();
    const QDate day = utc.date();
    const QTime at = utc.time();
    std::array<char, 32> text{};
    const int length = std::snprintf(text.data(), text.size(), "%04d%02d%02dT%02d%02d%02dZ", day.year(), day.month(),
                                     day.day(), at.hour(), at.minute(), at.second());
    return QByteArray(text.data(), length);
}

QByteArray Scope::date() const
{
    return amzDate(time).left(8);
}

QByteArray Scope::text() const
{
    return scopeText(date(), *this);
}

QByteArray signedHeaders(const Request &request)
{
    return namesOf(canonicalHeaders(request));
}

QByteArray canonicalRequest(const Request &request)
{
    return canonicalRequest(request, canonicalHeaders(request));
}

QByteArray stringToSign(const QByteArray &canonicalRequest, const Scope &scope)
{
    const QByteArray time = amzDate(scope.time);
    return Algorithm + "\n"_ba + time + '\n' + scopeText(time.left(8), scope) + '\n' + sha256Hex(canonicalRequest);
}

QByteArray signingKey(const QByteArray &secretAccessKey, const Scope &scope)
{
    const QByteArray dateKey = hmac("AWS4" + secretAccessKey, scope.date());
    return hmac(hmac(hmac(dateKey, scope.region), scope.service), "aws4_request"_ba);
}

QByteArray signature(const QByteArray &signingKey, const QByteArray &stringToSign)
{
    return hmac(signingKey, stringToSign).toHex();
}

QByteArray authorization(const Request &request, const Scope &scope, const QByteArray &accessKeyId,
                         const QByteArray &signingKey)
{
    const CanonicalHeaders headers = canonicalHeaders(request);
    const QByteArray toSign = stringToSign(canonicalRequest(request, headers), scope);
    return Algorithm + " Credential="_ba + accessKeyId + '/' + scope.text() + ", SignedHeaders=" + namesOf(headers)
        + ", Signature=" + signature(signingKey, toSign);
}

} // namespace sendonce::sigv4
