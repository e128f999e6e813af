#include "worker/queue/sqspost.h"

#include "worker/queue/awsendpoint.h"
#include "worker/queue/clockskew.h"
#include "worker/queue/credentials.h"
#include "worker/queue/httpclient.h"
#include "worker/queue/sqserrors.h"
#include "worker/queue/sqssigner.h"

#include <QRandomGenerator>

#include <utility>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

QString durationText(std::chrono::milliseconds duration)
{
    return duration.count() % 1000 == 0 ? u"%1 s"_s.arg(duration.count() / 1000) : u"%1 ms"_s.arg(duration.count());
}

} // namespace

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
        dropExchange();
        deleteLater();
    });
}

SqsPost::~SqsPost()
{
    m_finish = nullptr;
    dropExchange();
}

void SqsPost::send(HttpClient *http, SqsSigner *signer, Credentials *credentials, retrypolicy::Bucket *bucket)
{
    m_http = http;
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
        const QString why = m_credentials->problem() ? m_credentials->problem()->text : remedyFor(m_refusal->code);
        end(Error{m_refusal->kind, m_refusal->text + u"; "_s + why, m_refusal->code});
        return;
    }
    if (m_credentials->areUsable(QDateTime::currentDateTimeUtc())) {
        post();
        return;
    }
    Error none = m_credentials->problem().value_or(Error{ErrorKind::Refused, u"there are no AWS credentials"_s, {}});
    if (none.kind == ErrorKind::Refused || none.kind == ErrorKind::Protocol)
        none.code = sqserrors::NoKeys; // STS's own would be taken for the queue's
    attemptFailed({none, 0, false});
}

void SqsPost::post()
{
    m_timer.start(m_order.timeout);
    m_signedWith = m_credentials->keys();
    m_signer->setCredentials(m_signedWith);
    m_signedWithOffset = m_signer->clockOffset();
    SqsSigner::Headers headers =
        m_signer->headers(m_order.url, m_order.operation, m_order.json, QDateTime::currentDateTimeUtc());
    headers.prepend({"User-Agent"_ba, "Sendonce/" SENDONCE_VERSION ""_ba});
    headers.prepend({"Accept-Encoding"_ba, "identity"_ba}); // so that the cap on a reply holds for what it unpacks to
    m_exchange = m_http->post(m_order.url, headers, m_order.json, m_order.maxReplyBytes, this);
    connect(m_exchange, &HttpExchange::answering, this, &SqsCall::answering);
    connect(m_exchange, &HttpExchange::finished, this, &SqsPost::replyFinished);
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
    dropExchange();
    m_pause.start(retry->wait);
}

void SqsPost::replyFinished()
{
    if (!m_finish || !m_exchange)
        return;
    const int status = m_exchange->response().status;
    if (m_exchange->failure() == HttpExchange::Failure::None && status >= 200 && status < 300) {
        retrypolicy::succeeded(*m_bucket, m_tokens);
        end(m_exchange->response().body);
        return;
    }
    const QString who = endpointText(m_order.url);
    const QString operation = QString::fromLatin1(m_order.operation);
    if (m_exchange->failure() == HttpExchange::Failure::TooLarge) {
        end(Error{ErrorKind::Protocol,
                  u"%1 answered %2 with more than %3 MiB"_s.arg(who, operation).arg(m_order.maxReplyBytes >> 20),
                  {}});
        return;
    }
    if (m_exchange->failure() != HttpExchange::Failure::None) {
        attemptFailed({transportError(), 0, false});
        return;
    }
    const HttpResponse response = m_exchange->response();
    if (status >= 300 && status < 400) {
        // Following it would hand the signature and the token to another host (reliability.md, finding 2).
        const QUrl target = QUrl::fromEncoded(response.header("Location"));
        const QString where = target.host().isEmpty() ? u"elsewhere"_s : u"to "_s + target.host().left(255);
        end(Error{ErrorKind::Protocol,
                  u"%1 redirects %2 %3 (HTTP %4); signed requests are not redirected"_s.arg(who, operation, where,
                                                                                            QString::number(status)),
                  {}});
        return;
    }
    Error error = sqserrors::readError(
        {status, response.body, response.header("x-amzn-query-error"), response.header("x-amzn-errortype")});
    if (repeatWithServerTime(error.code))
        return;
    error.text = u"%1 answered %2 with %3"_s.arg(who, operation, m_signer->redacted(error.text));
    if (sqserrors::wantsNewKeys(error.code) || (m_order.renewWhenDenied && sqserrors::isDenial(error.code))) {
        if (repeatWithNewKeys(error))
            return;
        error.text += u"; "_s + remedyFor(error.code);
    }
    attemptFailed({error, status, false});
}

bool SqsPost::repeatWithServerTime(const QString &code)
{
    if (m_repeated)
        return false;
    const HttpResponse &response = m_exchange->response();
    const auto offset = clockskew::correction(code, response.header("Date"), response.header("Age"),
                                              QDateTime::currentDateTimeUtc(), m_signedWithOffset);
    if (!offset)
        return false;
    m_repeated = true;
    m_signer->setClockOffset(*offset);
    Q_EMIT clockCorrected(*offset);
    dropExchange();
    post();
    return true;
}

bool SqsPost::repeatWithNewKeys(const Error &error)
{
    if (m_refusal || !m_credentials->canBeRenewed())
        return false;
    m_refusal = error;
    dropExchange();
    if (m_credentials->keys() == m_signedWith)
        waitForKeys();
    else
        post(); // another call has renewed them meanwhile
    return true;
}

QString SqsPost::remedyFor(const QString &code) const
{
    if (sqserrors::isDenial(code))
        return u"allow sqs:%1 to these keys, or use others"_s.arg(QString::fromLatin1(m_order.operation));
    return m_credentials->remedy();
}

Error SqsPost::transportError() const
{
    const QString who = endpointText(m_order.url);
    const QString operation = QString::fromLatin1(m_order.operation);
    switch (m_exchange->failure()) {
    case HttpExchange::Failure::Refused:
        return {ErrorKind::Unreachable, who + u" refused the connection"_s, {}};
    case HttpExchange::Failure::NoSuchHost:
        return {ErrorKind::Unreachable, who + u": no such host is known"_s, {}};
    case HttpExchange::Failure::Closed:
        return {
            ErrorKind::Unreachable, u"%1 closed the connection before it had answered %2"_s.arg(who, operation), {}};
    case HttpExchange::Failure::Tls:
        return {ErrorKind::Unreachable, u"%1: no secure connection: %2"_s.arg(who, m_exchange->errorText()), {}};
    case HttpExchange::Failure::NotHttp:
        // Something in between, or half a server: worth another try, as botocore's.
        return {ErrorKind::Unreachable, u"%1 answered %2 with something that is not HTTP"_s.arg(who, operation), {}};
    case HttpExchange::Failure::None:
    case HttpExchange::Failure::TooLarge:
    case HttpExchange::Failure::Other:
        break;
    }
    return {ErrorKind::Unreachable, u"%1: %2"_s.arg(who, m_exchange->errorText()), {}};
}

void SqsPost::end(const Result<QByteArray> &result)
{
    if (!m_finish)
        return;
    const Finish finish = std::exchange(m_finish, nullptr);
    m_timer.stop();
    m_pause.stop();
    dropExchange();
    deleteLater();
    if (m_context)
        finish(result); // may delete the client, and so this
}

void SqsPost::dropExchange()
{
    if (!m_exchange)
        return;
    m_exchange->disconnect(this);
    m_exchange->abort();
    m_exchange->deleteLater();
    m_exchange = nullptr;
}

} // namespace sendonce
