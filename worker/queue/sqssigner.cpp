#include "worker/queue/sqssigner.h"

#include "worker/queue/awsendpoint.h"
#include "worker/queue/sigv4.h"

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

/// Shorter ones are dummies ("x", "test"), which stand in ordinary words too.
constexpr qsizetype ShortestSecret = 16;

} // namespace

SqsSigner::SqsSigner(const AwsCredentials &credentials, QString region) : m_region(std::move(region))
{
    if (m_region.isEmpty())
        m_region = u"us-east-1"_s;
    setCredentials(credentials);
}

void SqsSigner::setCredentials(const AwsCredentials &credentials)
{
    // Emulators read region and key id from the Authorization header, so that it must be well-formed in any case.
    const AwsCredentials next =
        credentials.accessKeyId.isEmpty() ? AwsCredentials{u"test"_s, u"test"_s, {}} : credentials;
    if (next == m_credentials)
        return;
    m_credentials = next;
    m_keyScope.clear();
}

const SqsSigner::Endpoint &SqsSigner::endpoint(const QUrl &url)
{
    if (m_endpoint.host.isEmpty() || m_endpoint.url != url) {
        const QString hostRegion = awsendpoint::regionOf(url.host());
        const QByteArray path = url.path(QUrl::FullyEncoded).toLatin1();
        m_endpoint = {url, (hostRegion.isEmpty() ? m_region : hostRegion).toLatin1(), awsendpoint::hostHeader(url),
                      path.isEmpty() ? "/"_ba : path};
    }
    return m_endpoint;
}

SqsSigner::Headers SqsSigner::headers(const QUrl &url, const QByteArray &operation, const QByteArray &body,
                                      const QDateTime &now)
{
    const Endpoint &to = endpoint(url);
    const sigv4::Scope scope{now.addSecs(m_clockOffset.count()), to.region, "sqs"_ba};
    sigv4::Request request{"POST"_ba, to.path, {}, body};
    request.headers = {{"Host"_ba, to.host},
                       {"Content-Type"_ba, "application/x-amz-json-1.0"_ba},
                       {"X-Amz-Date"_ba, sigv4::amzDate(scope.time)},
                       {"X-Amz-Target"_ba, "AmazonSQS." + operation},
                       {"x-amzn-query-mode"_ba, "true"_ba}};
    if (!m_credentials.sessionToken.isEmpty())
        request.headers.append({"X-Amz-Security-Token"_ba, m_credentials.sessionToken.toLatin1()});

    if (const QByteArray keyScope = scope.text(); m_keyScope != keyScope) {
        m_keyScope = keyScope;
        m_key = sigv4::signingKey(m_credentials.secretAccessKey.toUtf8(), scope);
    }
    Headers headers = request.headers;
    headers.append(
        {"Authorization"_ba, sigv4::authorization(request, scope, m_credentials.accessKeyId.toLatin1(), m_key)});
    return headers;
}

QString SqsSigner::redacted(const QString &text) const
{
    QString result = text;
    for (const QString &secret : {m_credentials.sessionToken, m_credentials.secretAccessKey}) {
        if (secret.size() >= ShortestSecret)
            result.replace(secret, u"…"_s);
    }
    return result;
}

} // namespace sendonce
