#include "worker/local/sqsendpoint.h"

#include "worker/local/sqsjson.h"
#include "worker/local/sqsquery.h"
#include "worker/local/sqsrequest.h"
#include "worker/local/sqsxml.h"

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

HttpReply jsonReply(const SqsCaller &caller, const SqsError &error)
{
    HttpReply reply = jsonReply(toSqsJson(error));
    reply.status = error.httpStatus;
    // SDKs that once spoke the query protocol ask for its code, so that programs that compare it still work.
    if (caller.wantsQueryError)
        reply.headers +=
            {"x-amzn-query-error"_ba, error.queryCode.toLatin1() + (error.senderFault ? ";Sender" : ";Receiver")};
    return reply;
}

HttpReply xmlReply(int status, const QByteArray &requestId, const QByteArray &body)
{
    return {status, "text/xml"_ba, body, {{"x-amzn-RequestId"_ba, requestId}}, false};
}

/// The caller's own name for us: through a port forward it is another one than ours.
QString originOf(const SqsCaller &caller)
{
    return u"http://"_s + QString::fromLatin1(caller.host);
}

HttpReply errorReply(const SqsCaller &caller, const SqsError &error)
{
    if (caller.protocol == SqsCaller::Protocol::Json)
        return jsonReply(caller, error);
    const QByteArray requestId = newRequestId();
    return xmlReply(error.httpStatus, requestId, toSqsXml(error, requestId));
}

std::variant<SqsCall, HttpReply> readJsonCall(const HttpRequest &request, SqsCaller caller, const QString &pathQueue)
{
    const QString target = QString::fromLatin1(request.header("x-amz-target"_ba));
    if (request.method != "POST"_ba)
        return textReply(405, "POST only.", true);
    if (!target.startsWith(TargetPrefix))
        return errorReply(caller, invalidAction(target.isEmpty() ? u"without X-Amz-Target"_s : target));
    caller.operation = target.sliced(TargetPrefix.size()).toLatin1();
    auto read = readSqsJson(caller.operation, request.body, pathQueue,
                            QString::fromLatin1(request.header("x-amzn-trace-id"_ba)));
    if (const auto *error = std::get_if<SqsError>(&read))
        return errorReply(caller, *error);
    return SqsCall{std::get<SqsRequest>(std::move(read)), caller};
}

std::variant<SqsCall, HttpReply> readQueryCall(const HttpRequest &request, SqsCaller caller, const QString &pathQueue)
{
    const bool post = request.method == "POST"_ba;
    const bool isForm = request.header("content-type"_ba).toLower().startsWith("application/x-www-form-urlencoded"_ba);
    const auto parsed = SqsQuery::parse(post && isForm ? request.body : QByteArray(), request.query);
    if (const auto *error = std::get_if<SqsError>(&parsed))
        return errorReply(caller, *error);
    const SqsQuery &query = std::get<SqsQuery>(parsed);
    caller.operation = query.action();
    if (caller.operation.isEmpty()) {
        // Recorded for a queue's URL without an Action.
        const bool expected = post || request.method == "GET"_ba;
        HttpReply reply = xmlReply(404, newRequestId(), "<UnknownOperationException/>"_ba);
        reply.close = !expected;
        return reply;
    }
    if (!post && request.method != "GET"_ba)
        return textReply(405, "GET and POST only.", true);
    auto read = query.read(pathQueue, QString::fromLatin1(request.header("x-amzn-trace-id"_ba)));
    if (const auto *error = std::get_if<SqsError>(&read))
        return errorReply(caller, *error);
    return SqsCall{std::get<SqsRequest>(std::move(read)), caller};
}

} // namespace

std::optional<HttpReply> refuseStrangers(const HttpRequest &request, const EndpointIdentity &identity)
{
    const QByteArray port = QByteArray::number(identity.port);
    const QByteArray host = request.header("host"_ba).toLower();
    const bool known = host == "127.0.0.1:" + port || host == "localhost:" + port || host == "[::1]:" + port;
    if (!known || request.count("host"_ba) != 1)
        return textReply(403, "Only requests to 127.0.0.1:" + port + " or localhost:" + port + " are answered.", true);
    // What a browser adds by itself and no other client does; Referer for the browsers that know no Sec-Fetch-Site.
    for (const QByteArray &name : {"origin"_ba, "sec-fetch-site"_ba, "referer"_ba}) {
        if (request.count(name) > 0)
            return textReply(403, "Requests from a web page are not answered.", true);
    }
    return {};
}

std::variant<SqsCall, HttpReply> readCall(const HttpRequest &request, const EndpointIdentity &identity)
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
    SqsCaller caller;
    caller.host = request.header("host"_ba);
    caller.wantsQueryError = request.header("x-amzn-query-mode"_ba).toLower() == "true"_ba;
    if (request.count("x-amz-target"_ba) > 0
        || request.header("content-type"_ba).toLower().startsWith("application/x-amz-json"_ba))
        return readJsonCall(request, caller, pathQueue);
    caller.protocol = SqsCaller::Protocol::Query;
    return readQueryCall(request, caller, pathQueue);
}

HttpReply replyTo(const SqsCaller &caller, const SqsReply &outcome, const QList<ReceivedMessage> &messages)
{
    if (const auto *error = std::get_if<SqsError>(&outcome))
        return errorReply(caller, *error);
    const SqsResult &result = std::get<SqsResult>(outcome);
    const bool received = std::holds_alternative<ReceivedMessages>(result);
    if (caller.protocol == SqsCaller::Protocol::Json)
        return jsonReply(received ? toSqsJson(messages) : toSqsJson(result, originOf(caller)));
    const QByteArray requestId = newRequestId();
    return xmlReply(200, requestId,
                    received ? toSqsXml(messages, requestId)
                             : toSqsXml(caller.operation, result, originOf(caller), requestId));
}

} // namespace sendonce::local
