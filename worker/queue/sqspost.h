#pragma once

#include "worker/queue/sqscall.h"
#include "worker/result.h"

#include <QByteArray>
#include <QPointer>
#include <QTimer>
#include <QUrl>

#include <chrono>
#include <functional>

class QNetworkAccessManager;
class QNetworkReply;

namespace sendonce {

class SqsSigner;

/// One operation on the wire: a signed POST and the end of it, whichever that is. A child of its client. Sends once;
/// only when the server calls the request too old or too new, and its clock indeed differs, once more with the server's
/// time.
class SqsPost final : public SqsCall
{
    Q_OBJECT
public:
    struct Order
    {
        QUrl url; ///< of the endpoint
        QByteArray operation; ///< "ReceiveMessage"
        QByteArray json;
        std::chrono::milliseconds timeout; ///< for the whole call
        qint64 maxReplyBytes = 0;
    };
    using Finish = std::function<void(Result<QByteArray>)>; ///< body of a 2xx, or an error whose text is complete

    /// `finish` runs once, unless `context` or this call is destroyed before; both stop the request.
    SqsPost(Order order, QObject *context, Finish finish, QObject *parent);
    ~SqsPost() override;

    /// Both must outlive the call.
    void send(QNetworkAccessManager *network, SqsSigner *signer);
    void failLater(Error error); ///< instead of send(): ends with this error when the event loop comes round
    void abort() override;

Q_SIGNALS:
    void sent(); ///< a request was given to the network
    void clockCorrected(std::chrono::seconds offset);

private:
    void attempt();
    void read();
    void replyFinished();
    bool repeatWithServerTime(const QString &code);
    Error transportError() const;
    void end(const Result<QByteArray> &result);
    void dropReply();

    Order m_order;
    QPointer<QObject> m_context;
    Finish m_finish; ///< empty after the end
    QNetworkAccessManager *m_network = nullptr;
    SqsSigner *m_signer = nullptr;
    QNetworkReply *m_reply = nullptr;
    QTimer m_timer;
    QByteArray m_received;
    std::chrono::seconds m_signedWithOffset{0};
    bool m_repeated = false;
    bool m_tooLarge = false;
};

/// "queue endpoint 127.0.0.1:9324", the beginning of every error's text.
QString endpointText(const QUrl &endpoint);

} // namespace sendonce
