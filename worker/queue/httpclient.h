#pragma once

#include "worker/queue/httpresponse.h"

#include <QByteArray>
#include <QList>
#include <QObject>
#include <QPair>
#include <QPointer>
#include <QString>
#include <QUrl>

#include <memory>
#include <optional>
#include <vector>

class QTcpSocket;

namespace sendonce {

class HttpClient;

/// One POST and its end. Puts its request on the wire once at most, whatever happens.
class HttpExchange : public QObject
{
    Q_OBJECT
public:
    enum class Failure {
        None, ///< response() is whole; any status
        Refused,
        NoSuchHost,
        Closed, ///< before the answer was whole; statusSeen() tells whether it had begun
        Tls, ///< no secure connection; errorText() says why
        NotHttp,
        TooLarge,
        Other, ///< of the network; errorText() says what
    };

    ~HttpExchange() override;

    const HttpResponse &response() const { return m_reader.response(); }
    Failure failure() const { return m_failure; }
    const QString &errorText() const { return m_errorText; }
    bool statusSeen() const { return m_reader.response().status != 0; }

    /// Ends the connection, and finished() does not come any more.
    void abort();

Q_SIGNALS:
    void answering(); ///< the first bytes of the answer are here, unread; no time to delete the client
    void finished();

private:
    friend class HttpClient;
    HttpExchange(HttpClient *client, QUrl url, QByteArray request, qint64 maxReplyBytes, QObject *parent);

    void run(QTcpSocket *socket); ///< connected or connecting
    void begin(); ///< the connection is new, and open now
    void write();
    void read();
    void lost();
    void end(Failure failure, const QString &text = {});

    QPointer<HttpClient> m_client;
    const QUrl m_url;
    const QString m_origin;
    QByteArray m_request; ///< empty once written
    HttpResponseReader m_reader;
    QPointer<QTcpSocket> m_socket; ///< ours until the end
    Failure m_failure = Failure::None;
    QString m_errorText;
    bool m_ended = false;
};

/// POSTs over HTTP/1.1 on connections that are kept: what a queue's client needs and no more, for a seventh of the CPU
/// time of QNetworkAccessManager and without its ideas (reliability.md, findings 1 and 2): no second request of its
/// own, no redirects, cookies, caches, decompression or HTTP/2. Asynchronous; lives in one thread with an event loop.
/// Proxies are the application's, none to a loopback address. TLS: the system's certificates, host name checked.
class HttpClient : public QObject
{
    Q_OBJECT
public:
    using Headers = QList<QPair<QByteArray, QByteArray>>;

    /// \param maxConnections to be open at once; further exchanges wait for one
    explicit HttpClient(int maxConnections, QObject *parent = nullptr);
    ~HttpClient() override;

    /// `headers` are sent as they are, with Content-Length and, where there is none, Host added. finished() comes
    /// once, never before this has returned, unless aborted or deleted.
    HttpExchange *post(const QUrl &url, const Headers &headers, const QByteArray &body, qint64 maxReplyBytes,
                       QObject *parent);

private:
    friend class HttpExchange;
    struct Kept
    {
        QString origin;
        QTcpSocket *socket = nullptr;
    };

    void startWaiting();
    bool start(HttpExchange *exchange);
    QTcpSocket *takeKept(const QString &origin);
    void keep(const QString &origin, QTcpSocket *socket);
    void drop(QTcpSocket *socket);
    static QString originOf(const QUrl &url);

    const int m_maxConnections;
    int m_open = 0; ///< sockets, kept ones included
    std::vector<Kept> m_kept; ///< the newest last
    QList<QPointer<HttpExchange>> m_waiting;
};

} // namespace sendonce
