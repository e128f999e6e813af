#include "worker/queue/sqspost.h"

#include "worker/queue/awsendpoint.h"
#include "worker/queue/clockskew.h"
#include "worker/queue/credentials.h"
#include "worker/queue/sequentialbody.h"
#include "worker/queue/sqserrors.h"
#include "worker/queue/sqssigner.h"

#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QNetworkRequest>
#include <QRandomGenerator>

#include <utility>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

/// Errors of the way there and back, as opposed to Qt's names for HTTP statuses (ProtocolInvalidOperationError is 400).
bool isTransportError(QNetworkReply::NetworkError error)
{
    return (error > QNetworkReply::NoError && error <= QNetworkReply::UnknownProxyError)
        || error == QNetworkReply::ContentReSendError || error == QNetworkReply::ProtocolUnknownError
        || error == QNetworkReply::ProtocolFailure;
}

QString durationText(std::chrono::milliseconds duration)
{
    return duration.count() % 1000 == 0 ? u"%1 s"_s.arg(duration.count() / 1000) : u"%1 ms"_s.arg(duration.count());
}

} // namespace

void forbidQtsOwnIdeas(QNetworkRequest *request)
{
    request->setAttribute(QNetworkRequest::DoNotBufferUploadDataAttribute, true);
    request->setAttribute(QNetworkRequest::RedirectPolicyAttribute, QNetworkRequest::ManualRedirectPolicy);
    request->setAttribute(QNetworkRequest::Http2AllowedAttribute, false);
    request->setAttribute(QNetworkRequest::CookieLoadControlAttribute, QNetworkRequest::Manual);
    request->setAttribute(QNetworkRequest::CookieSaveControlAttribute, QNetworkRequest::Manual);
    request->setAttribute(QNetworkRequest::AuthenticationReuseAttribute, QNetworkRequest::Manual);
    request->setAttribute(QNetworkRequest::CacheLoadControlAttribute, QNetworkRequest::AlwaysNetwork);
    request->setAttribute(QNetworkRequest::CacheSaveControlAttribute, false);
    request->setRawHeader("Accept-Encoding"_ba,
                          "identity"_ba); // so that the cap on a reply holds for what it unpacks to
    request->setRawHeader("User-Agent"_ba, "Sendonce/" SENDONCE_VERSION ""_ba);
}

QString endpointText(const QUrl &endpoint)
{
    return u"queue endpoint "_s + QString::fromLatin1(awsendpoint::hostHeader(endpoint));
}

SqsPost::SqsPost(Order order, QObject *context, Finish finish, QObject *parent)
    : SqsCall(parent)
    , m_order(std::move(order))
    , m_context(context)
    , m_finish(std::move(finish))
{
    m_timer.setSingleShot(true);
    m_pause.setSingleShot(true);
    connect(&m_pause, &QTimer::timeout, this, &SqsPost::attempt);
    connect(context, &QObject::destroyed, this, [this] {
        m_finish = nullptr;
        m_timer.stop();
        m_pause.stop();
        dropReply();
        deleteLater();
    });
}

SqsPost::~SqsPost()
{
    m_finish = nullptr;
    dropReply();
}

void SqsPost::send(QNetworkAccessManager *network, SqsSigner *signer, Credentials *credentials,
                   retrypolicy::Bucket *bucket)
{
    m_network = network;
    m_signer = signer;
    m_credentials = credentials;
    m_bucket = bucket;
    connect(&m_timer, &QTimer::timeout, this, [this] {
        const QString text = u"%1 gave no answer to %2 within %3"_s.arg(
            endpointText(m_order.url), QString::fromLatin1(m_order.operation), durationText(m_order.timeout));
        attemptFailed({Error{ErrorKind::Unreachable, text, {}}, 0, true});
    });
    attempt();
}

void SqsPost::failLater(Error error)
{
    connect(&m_timer, &QTimer::timeout, this, [this, error = std::move(error)] { end(error); });
    m_timer.start(0);
}

void SqsPost::abort()
{
    end(Error{ErrorKind::Aborted, QString::fromLatin1(m_order.operation) + u" was aborted"_s, {}});
}

void SqsPost::attempt()
{
    if (m_credentials->areFresh(QDateTime::currentDateTimeUtc()))
        post();
    else
        waitForKeys();
}

void SqsPost::waitForKeys()
{
    m_timer.stop(); // renewing has its own limit
    connect(m_credentials, &Credentials::renewalEnded, this, &SqsPost::keysCame, Qt::SingleShotConnection);
    m_credentials->renew();
}

void SqsPost::keysCame()
{
    if (!m_finish)
        return;
    if (m_refusal && m_credentials->keys() == m_signedWith) {
        const QString why = m_credentials->problem() ? m_credentials->problem()->text : m_credentials->remedy();
        end(Error{m_refusal->kind, m_refusal->text + u"; "_s + why, m_refusal->code});
        return;
    }
    if (m_credentials->areUsable(QDateTime::currentDateTimeUtc())) {
        post();
        return;
    }
    const Error none{ErrorKind::Refused, u"there are no AWS credentials"_s, {}};
    attemptFailed({m_credentials->problem().value_or(none), 0, false});
}

void SqsPost::post()
{
    m_timer.start(m_order.timeout);
    m_signedWith = m_credentials->keys();
    m_signer->setCredentials(m_signedWith);
    QNetworkRequest request(m_order.url);
    forbidQtsOwnIdeas(&request);
    request.setHeader(QNetworkRequest::ContentLengthHeader, m_order.json.size());
    m_signedWithOffset = m_signer->clockOffset();
    const SqsSigner::Headers headers =
        m_signer->headers(m_order.url, m_order.operation, m_order.json, QDateTime::currentDateTimeUtc());
    for (const auto &[name, value] : headers)
        request.setRawHeader(name, value);

    auto *body = new SequentialBody(m_order.json);
    m_reply = m_network->post(request, body);
    body->setParent(m_reply);
    m_received.clear();
    connect(m_reply, &QNetworkReply::readyRead, this, &SqsPost::read);
    // Queued: the callback may delete the client and with it this reply, which would still be emitting.
    // By then it may belong to an attempt that is over.
    connect(
        m_reply, &QNetworkReply::finished, this,
        [this, reply = m_reply] {
            if (reply == m_reply)
                replyFinished();
        },
        Qt::QueuedConnection);
    Q_EMIT sent();
}

void SqsPost::attemptFailed(const retrypolicy::Failure &failure)
{
    const auto retry = retrypolicy::decide(++m_failures, failure, *m_bucket,
                                           QRandomGenerator::global()->generateDouble(), m_order.retry);
    if (!retry) {
        end(failure.error);
        return;
    }
    m_tokens = retry->tokens;
    m_timer.stop();
    dropReply();
    m_pause.start(retry->wait);
}

void SqsPost::read()
{
    if (m_tooLarge)
        return;
    m_received += m_reply->readAll();
    if (m_received.size() > m_order.maxReplyBytes) {
        m_tooLarge = true;
        m_received.clear();
        m_reply->abort(); // emits finished
    }
}

void SqsPost::replyFinished()
{
    if (!m_finish || !m_reply)
        return;
    const QString who = endpointText(m_order.url);
    const QString operation = QString::fromLatin1(m_order.operation);
    if (m_tooLarge) {
        end(Error{ErrorKind::Protocol,
                  u"%1 answered %2 with more than %3 MiB"_s.arg(who, operation).arg(m_order.maxReplyBytes >> 20),
                  {}});
        return;
    }
    const int status = m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    // Before the errors: of a 307 Qt says that it could not send the request again.
    if (status >= 300 && status < 400) {
        // Following it would hand the signature and the token to another host (reliability.md, finding 2).
        const QUrl target = m_reply->attribute(QNetworkRequest::RedirectionTargetAttribute).toUrl();
        const QString where = target.host().isEmpty() ? u"elsewhere"_s : u"to "_s + target.host().left(255);
        end(Error{ErrorKind::Protocol,
                  u"%1 redirects %2 %3 (HTTP %4); signed requests are not redirected"_s.arg(who, operation, where,
                                                                                            QString::number(status)),
                  {}});
        return;
    }
    if (isTransportError(m_reply->error())) {
        attemptFailed({transportError(), 0, false});
        return;
    }
    read();
    if (status >= 200 && status < 300) {
        retrypolicy::succeeded(*m_bucket, m_tokens);
        end(m_received);
        return;
    }
    Error error = sqserrors::readError(
        {status, m_received, m_reply->rawHeader("x-amzn-query-error"_ba), m_reply->rawHeader("x-amzn-errortype"_ba)});
    if (repeatWithServerTime(error.code))
        return;
    error.text = u"%1 answered %2 with %3"_s.arg(who, operation, m_signer->redacted(error.text));
    if (sqserrors::wantsNewKeys(error.code)) {
        if (repeatWithNewKeys(error))
            return;
        error.text += u"; "_s + m_credentials->remedy();
    }
    attemptFailed({error, status, false});
}

bool SqsPost::repeatWithServerTime(const QString &code)
{
    if (m_repeated)
        return false;
    const auto offset = clockskew::correction(code, m_reply->rawHeader("Date"_ba), m_reply->rawHeader("Age"_ba),
                                              QDateTime::currentDateTimeUtc(), m_signedWithOffset);
    if (!offset)
        return false;
    m_repeated = true;
    m_signer->setClockOffset(*offset);
    Q_EMIT clockCorrected(*offset);
    dropReply();
    post();
    return true;
}

bool SqsPost::repeatWithNewKeys(const Error &error)
{
    if (m_refusal || !m_credentials->canBeRenewed())
        return false;
    m_refusal = error;
    dropReply();
    if (m_credentials->keys() == m_signedWith)
        waitForKeys();
    else
        post(); // another call has renewed them meanwhile
    return true;
}

Error SqsPost::transportError() const
{
    const QString who = endpointText(m_order.url);
    const QString operation = QString::fromLatin1(m_order.operation);
    switch (m_reply->error()) {
    case QNetworkReply::ConnectionRefusedError:
        return {ErrorKind::Unreachable, who + u" refused the connection"_s, {}};
    case QNetworkReply::HostNotFoundError:
        return {ErrorKind::Unreachable, who + u": no such host is known"_s, {}};
    case QNetworkReply::RemoteHostClosedError:
    case QNetworkReply::ContentReSendError: { // how Qt says that it would have liked to send the request again
        // Garbage is a closed connection to Qt as well, so that we cannot tell when there is no status.
        const bool http = m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).isValid();
        return {ErrorKind::Unreachable,
                u"%1 closed the connection before it had answered %2%3"_s.arg(
                    who, operation, http ? QString() : u", or does not speak HTTP"_s),
                {}};
    }
    case QNetworkReply::SslHandshakeFailedError:
        return {ErrorKind::Unreachable, u"%1: no secure connection: %2"_s.arg(who, m_reply->errorString()), {}};
    case QNetworkReply::ProtocolUnknownError:
    case QNetworkReply::ProtocolFailure:
        return {ErrorKind::Protocol, u"%1 answered %2 with something that is not HTTP"_s.arg(who, operation), {}};
    default:
        return {ErrorKind::Unreachable, u"%1: %2"_s.arg(who, m_reply->errorString()), {}};
    }
}

void SqsPost::end(const Result<QByteArray> &result)
{
    if (!m_finish)
        return;
    const Finish finish = std::exchange(m_finish, nullptr);
    m_timer.stop();
    m_pause.stop();
    dropReply();
    deleteLater();
    if (m_context)
        finish(result); // may delete the client, and so this
}

void SqsPost::dropReply()
{
    if (!m_reply)
        return;
    m_reply->disconnect(this);
    m_reply->abort();
    m_reply->deleteLater();
    m_reply = nullptr;
}

} // namespace sendonce
