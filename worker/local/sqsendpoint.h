#pragma once

#include "worker/local/httpreply.h"
#include "worker/local/httprequest.h"
#include "worker/local/receivedmessage.h"

#include <optional>

/// Between HTTP and the operations of SQS: who is let in, which protocol a request speaks, what a reply looks like.
/// Pure.
namespace sendonce::local {

/// What the endpoint knows of itself.
struct EndpointIdentity
{
    quint16 port = 0;
    QString id; ///< random; answered by GET /_sendonce/id
};

/// Keeps browsers out (DNS rebinding, cross-site requests): Host must be a loopback name with our port, given once; no
/// Origin, no Sec-Fetch-Site, no Referer, whatever the method and the protocol. The reply to a request that is not let
/// in; nothing for the others.
std::optional<HttpReply> refuseStrangers(const HttpRequest &request, const EndpointIdentity &identity);

/// What a reply needs to know of its request.
struct SqsCaller
{
    enum class Protocol { Json, Query };
    Protocol protocol = Protocol::Json;
    QByteArray operation;
    QByteArray host; ///< as the caller calls us
    bool wantsQueryError = false; ///< JSON: x-amzn-query-mode
};
struct SqsCall
{
    SqsRequest request;
    SqsCaller caller;
};

/// What a request that was let in asks: an operation of SQS, in whichever protocol (sqs.md, 1.1), or something that is
/// answered at once.
std::variant<SqsCall, HttpReply> readCall(const HttpRequest &request, const EndpointIdentity &identity);

/// The reply to an operation. \param messages for ReceivedMessages, in its order, with their contents
HttpReply replyTo(const SqsCaller &caller, const SqsReply &outcome, const QList<ReceivedMessage> &messages = {});

} // namespace sendonce::local
