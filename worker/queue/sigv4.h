#pragma once

#include <QByteArray>
#include <QDateTime>
#include <QList>
#include <QPair>

/// AWS Signature Version 4 in a header, pure: bytes in, bytes out. IAM User Guide, "Create a signed AWS API request";
/// every service but S3, whose paths are encoded differently.
namespace sendonce::sigv4 {

/// What a signature covers of a request, exactly as it goes on the wire.
struct Request
{
    QByteArray method;
    QByteArray target; ///< path and query, "/" or "/000000000000/name?a=b"
    /// Every one of them is signed, so only what no library or proxy on the way changes; Host and all X-Amz-* must be
    /// here.
    QList<QPair<QByteArray, QByteArray>> headers;
    QByteArray body;

    bool operator==(const Request &) const = default;
};

/// When and for what a signature holds. The time must be that of the X-Amz-Date header.
struct Scope
{
    QDateTime time;
    QByteArray region;
    QByteArray service;

    QByteArray date() const; ///< "20250901", UTC
    QByteArray text() const; ///< "20250901/us-east-1/sqs/aws4_request"
};

QByteArray amzDate(const QDateTime &time); ///< "20250901T120000Z", UTC

QByteArray signedHeaders(const Request &request); ///< "content-type;host;x-amz-date"
QByteArray canonicalRequest(const Request &request);
QByteArray stringToSign(const QByteArray &canonicalRequest, const Scope &scope);
/// Good for one date, region and service; the caller may keep it that long (it is a secret).
QByteArray signingKey(const QByteArray &secretAccessKey, const Scope &scope);
QByteArray signature(const QByteArray &signingKey, const QByteArray &stringToSign); ///< 64 lower-case hex digits

/// The value of the Authorization header.
QByteArray authorization(const Request &request, const Scope &scope, const QByteArray &accessKeyId,
                         const QByteArray &signingKey);

} // namespace sendonce::sigv4
