#pragma once

#include <QByteArray>
#include <QString>
#include <QUrl>

/// Which host a request goes to and which region it is signed for, pure. sigv4.md in short: the host of a real endpoint
/// names its region, and that one counts; emulators do not care.
namespace sendonce::awsendpoint {

/// "https://sqs.eu-west-1.amazonaws.com"; empty for text that is no region.
QUrl regional(const QString &region, const QString &service = QStringLiteral("sqs"));

/// The region that an AWS host names: "sqs.eu-west-1.amazonaws.com", "sqs-fips.…", "sqs.….api.aws", the old
/// "eu-west-1.queue.amazonaws.com". Empty for every other host.
QString regionOf(const QString &host);

/// Scheme, host and port alone: no path, no user, no password, no port that the scheme implies.
QUrl origin(const QUrl &url);

/// The Host header of requests to this URL, as it must be signed: lower-case, with a port unless the scheme implies it.
QByteArray hostHeader(const QUrl &url);

} // namespace sendonce::awsendpoint
