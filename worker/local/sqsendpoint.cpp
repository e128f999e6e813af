#include "worker/local/sqsendpoint.h"

#include "worker/local/sqsjson.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QUuid>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

constexpr auto TargetPrefix = "AmazonSQS."_L1;

QByteArray newRequestId()
{
    return QUuid::createUuid().toByteArray(QUuid::WithoutBraces);
}

HttpReply jsonReply(const QByteArray &body)
{
    return {200, "application/x-amz-json-1.0"_ba, body, {{"x-amzn-RequestId"_ba, newRequestId()}}, false};
}

HttpReply jsonReply(const HttpRequest &request, const SqsError &error)
{
    HttpReply reply = jsonReply(toSqsJson(error));
    reply.status = error.httpStatus;
    // SDKs that once spoke the query protocol ask for its code, so that programs that compare it still work.
    if (request.header("x-amzn-query-mode"_ba).toLower() == "true"_ba)
        reply.headers +=
            {"x-amzn-query-error"_ba, error.queryCode.toLatin1() + (error.senderFault ? ";Sender" : ";Receiver")};
    return reply;
}

/// An error in the words of the query protocol (sqs.md, 6.2), which is not spoken here yet.
HttpReply xmlReply(const SqsError &error)
{
    const QByteArray requestId = newRequestId();
    const QByteArray body =
        "<?xml version=\"1.0\"?><ErrorResponse xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\"><Error>"
        "<Type>Sender</Type><Code>"
        + error.queryCode.toHtmlEscaped().toUtf8() + "</Code><Message>" + error.message.toHtmlEscaped().toUtf8()
        + "</Message><Detail/></Error><RequestId>" + requestId + "</RequestId></ErrorResponse>";
    return {error.httpStatus, "text/xml"_ba, body, {{"x-amzn-RequestId"_ba, requestId}}, false};
}

} // namespace

std::optional<HttpReply> refuseStrangers(const HttpRequest &request, const EndpointIdentity &identity)
{
    const QByteArray port = QByteArray::number(identity.port);
    const QByteArray host = request.header("host"_ba).toLower();
    const bool known = host == "127.0.0.1:" + port || host == "localhost:" + port || host == "[::1]:" + port;
    if (!known || request.count("host"_ba) != 1)
        return textReply(403, "Only requests to 127.0.0.1:" + port + " or localhost:" + port + " are answered.", true);
    for (const QByteArray &name : {"origin"_ba, "sec-fetch-site"_ba}) {
        if (request.count(name) > 0)
            return textReply(403, "Requests from a web page are not answered.", true);
    }
    return {};
}

std::variant<SqsRequest, HttpReply> readCall(const HttpRequest &request, const EndpointIdentity &identity)
{
    if (request.path == "/_sendonce/id"_ba) {
        if (request.method != "GET"_ba)
            return textReply(405, "GET only.", true);
        return HttpReply{200,
                         "application/json"_ba,
                         QJsonDocument(QJsonObject{{u"id"_s, identity.id}}).toJson(QJsonDocument::Compact),
                         {},
                         false};
    }
    if (request.path.startsWith("/_sendonce/"_ba))
        return textReply(404, "There is nothing here.", true);

    const QString pathQueue = queueNameOf(QString::fromLatin1(request.path));
    const QString target = QString::fromLatin1(request.header("x-amz-target"_ba));
    if (target.startsWith(TargetPrefix)) {
        if (request.method != "POST"_ba)
            return textReply(405, "POST only.", true);
        auto read = readSqsJson(target.sliced(TargetPrefix.size()).toLatin1(), request.body, pathQueue,
                                QString::fromLatin1(request.header("x-amzn-trace-id"_ba)));
        if (const auto *error = std::get_if<SqsError>(&read))
            return jsonReply(request, *error);
        return std::get<SqsRequest>(std::move(read));
    }
    const QByteArray contentType = request.header("content-type"_ba).toLower();
    if (contentType.startsWith("application/x-amz-json"_ba) || !target.isEmpty())
        return jsonReply(request, invalidAction(target.isEmpty() ? u"without X-Amz-Target"_s : target));
    const auto hasAction = [](const QByteArray &form) {
        return form.startsWith("Action=") || form.contains("&Action=");
    };
    if (hasAction(request.query)
        || (contentType.startsWith("application/x-www-form-urlencoded"_ba) && hasAction(request.body)))
        return xmlReply(unsupportedOperation(
            u"The query protocol is not supported by this endpoint; a client that speaks AWS JSON 1.0 is needed."_s));
    // Recorded for a queue's URL without an Action.
    return HttpReply{404,
                     "text/xml"_ba,
                     "<UnknownOperationException/>"_ba,
                     {{"x-amzn-RequestId"_ba, newRequestId()}},
                     request.method != "GET"_ba && request.method != "POST"_ba};
}

HttpReply replyTo(const HttpRequest &request, const SqsReply &outcome, const QList<ReceivedMessage> &messages)
{
    if (const auto *error = std::get_if<SqsError>(&outcome))
        return jsonReply(request, *error);
    const SqsResult &result = std::get<SqsResult>(outcome);
    if (std::holds_alternative<ReceivedMessages>(result))
        return jsonReply(toSqsJson(messages));
    // The caller's own name for us: through a port forward it is another one than ours.
    return jsonReply(toSqsJson(result, u"http://"_s + QString::fromLatin1(request.header("host"_ba))));
}

} // namespace sendonce::local
