#include "worker/queue/awsendpoint.h"

#include <QRegularExpression>

using namespace Qt::StringLiterals;

namespace sendonce::awsendpoint {

namespace {

int impliedPort(const QString &scheme)
{
    if (scheme == "https"_L1)
        return 443;
    return scheme == "http"_L1 ? 80 : -1;
}

} // namespace

QUrl regional(const QString &region, const QString &service)
{
    static const QRegularExpression shape(u"\\A[a-z]{2,}(-[a-z0-9]+)+\\z"_s);
    if (!shape.match(region).hasMatch())
        return {};
    const QString suffix = region.startsWith("cn-"_L1) ? u".amazonaws.com.cn"_s : u".amazonaws.com"_s;
    QUrl url;
    url.setScheme(u"https"_s);
    url.setHost(service + u'.' + region + suffix);
    return url;
}

QString regionOf(const QString &host)
{
    static const QRegularExpression current(
        u"\\Asqs(?:-fips)?\\.([a-z0-9-]+)\\.(?:amazonaws\\.com|amazonaws\\.com\\.cn|api\\.aws|api\\.amazonwebservices\\.com\\.cn)\\z"_s);
    static const QRegularExpression old(u"\\A(?:([a-z0-9-]+)\\.)?queue\\.amazonaws\\.com(?:\\.cn)?\\z"_s);
    const QString name = host.toLower();
    if (const auto match = current.match(name); match.hasMatch())
        return match.captured(1);
    if (const auto match = old.match(name); match.hasMatch())
        return match.captured(1).isEmpty() ? u"us-east-1"_s : match.captured(1);
    return {};
}

QUrl origin(const QUrl &url)
{
    QUrl result;
    result.setScheme(url.scheme());
    result.setHost(url.host());
    if (url.port() != impliedPort(url.scheme()))
        result.setPort(url.port());
    return result;
}

QByteArray hostHeader(const QUrl &url)
{
    return origin(url).authority(QUrl::FullyEncoded).toLatin1();
}

} // namespace sendonce::awsendpoint
