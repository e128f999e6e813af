#pragma once

#include "worker/config.h"
#include "worker/queue/retrypolicy.h"
#include "worker/queue/sqscall.h"
#include "worker/result.h"

#include <QByteArray>
#include <QPointer>
#include <QTimer>
#include <QUrl>

#include <chrono>
#include <functional>
#include <optional>

namespace sendonce {

class Credentials;
class HttpClient;
class HttpExchange;
class SqsSigner;

/// One operation on the wire: signed POSTs, one at a time, until one of them decides it (retrypolicy.h), and the end of
/// it, whichever that is. A child of its client. Apart from the retries: when the server calls a request too old or too
/// new, and its clock indeed differs, once more with the server's time; when it calls the keys expired or unknown, once
/// more with new ones, if there are new ones. Waits for keys that are to be renewed first.
class SqsPost final : public SqsCall
{
    Q_OBJECT
public:
    struct Order
    {
        QUrl url; ///< of the endpoint
        QByteArray operation; ///< "ReceiveMessage"
        QByteArray json;
        std::chrono::milliseconds timeout; ///< of each attempt
        qint64 maxReplyBytes = 0;
        retrypolicy::Rules retry;
        bool renewWhenDenied = false; ///< a denial is taken for one of the keys: new ones are tried once
    };
    using Finish = std::function<void(Result<QByteArray>)>; ///< body of a 2xx, or an error whose text is complete

    /// `finish` runs once, unless `context` or this call is destroyed before; both stop the request.
    SqsPost(Order order, QObject *context, Finish finish, QObject *parent);
    ~SqsPost() override;

    /// All of them must outlive the call.
    void send(HttpClient *http, SqsSigner *signer, Credentials *credentials, retrypolicy::Bucket *bucket);
    void failLater(Error error); ///< instead of send(): ends with this error when the event loop comes round
    void abort() override;

Q_SIGNALS:
    void sent(); ///< a request was given to the network
    void clockCorrected(std::chrono::seconds offset);

private:
    void attempt();
    void post();
    void waitForKeys();
    void keysCame();
    bool repeatWithNewKeys(const Error &error);
    QString remedyFor(const QString &code) const;
    void attemptFailed(const retrypolicy::Failure &failure);
    void replyFinished();
    bool repeatWithServerTime(const QString &code);
    Error transportError() const;
    void end(const Result<QByteArray> &result);
    void dropExchange();

    Order m_order;
    QPointer<QObject> m_context;
    Finish m_finish; ///< empty after the end
    HttpClient *m_http = nullptr;
    SqsSigner *m_signer = nullptr;
    HttpExchange *m_exchange = nullptr;
    Credentials *m_credentials = nullptr;
    retrypolicy::Bucket *m_bucket = nullptr;
    QTimer m_timer; ///< for the answer of the attempt under way
    QTimer m_pause; ///< until the next attempt
    int m_failures = 0;
    int m_tokens = 0; ///< that the last retry took
    std::chrono::seconds m_signedWithOffset{0};
    AwsCredentials m_signedWith;
    std::optional<Error> m_refusal; ///< of the keys; set once
    bool m_repeated = false;
};

/// "queue endpoint 127.0.0.1:9324", the beginning of every error's text.
QString endpointText(const QUrl &endpoint);

} // namespace sendonce
