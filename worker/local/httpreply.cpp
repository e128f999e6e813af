#include "worker/local/httpreply.h"

#include <QDateTime>
#include <QLocale>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

/// RFC 9110, 15; the ones that are used here.
QByteArray reasonPhrase(int status)
{
    switch (status) {
    case 200:
        return "OK"_ba;
    case 400:
        return "Bad Request"_ba;
    case 403:
        return "Forbidden"_ba;
    case 404:
        return "Not Found"_ba;
    case 405:
        return "Method Not Allowed"_ba;
    case 408:
        return "Request Timeout"_ba;
    case 411:
        return "Length Required"_ba;
    case 413:
        return "Content Too Large"_ba;
    case 417:
        return "Expectation Failed"_ba;
    case 431:
        return "Request Header Fields Too Large"_ba;
    case 500:
        return "Internal Server Error"_ba;
    case 503:
        return "Service Unavailable"_ba;
    case 505:
        return "HTTP Version Not Supported"_ba;
    }
    return "Unknown"_ba;
}

} // namespace

QByteArray httpDate()
{
    static thread_local qint64 second = 0;
    static thread_local QByteArray text;
    const qint64 now = QDateTime::currentSecsSinceEpoch();
    if (now != second) {
        second = now;
        text = QLocale::c()
                   .toString(QDateTime::fromSecsSinceEpoch(now, Qt::UTC), u"ddd, dd MMM yyyy hh:mm:ss 'GMT'"_s)
                   .toLatin1();
    }
    return text;
}

HttpReply textReply(int status, const QByteArray &text, bool close)
{
    return {status, "text/plain; charset=utf-8"_ba, text + '\n', {}, close};
}

QByteArray toBytes(const HttpReply &reply, const QByteArray &date)
{
    QByteArray bytes;
    bytes.reserve(reply.body.size() + 512);
    bytes += "HTTP/1.1 " + QByteArray::number(reply.status) + ' ' + reasonPhrase(reply.status) + "\r\n";
    bytes += "Date: " + date + "\r\n";
    if (!reply.contentType.isEmpty())
        bytes += "Content-Type: " + reply.contentType + "\r\n";
    for (const auto &[name, value] : reply.headers)
        bytes += name + ": " + value + "\r\n";
    bytes += "Content-Length: " + QByteArray::number(reply.body.size()) + "\r\n";
    if (reply.close)
        bytes += "Connection: close\r\n";
    bytes += "\r\n";
    bytes += reply.body;
    return bytes;
}

} // namespace sendonce::local
