#pragma once

#include "worker/config.h"
#include "worker/queue/retrypolicy.h"
#include "worker/queue/sqscall.h"
#include "worker/queue/sqsrequests.h"
#include "worker/queue/sqssigner.h"
#include "worker/result.h"
#include "worker/types.h"

#include <QList>
#include <QMap>
#include <QObject>
#include <QStringList>
#include <QUrl>

#include <chrono>
#include <functional>

namespace sendonce {

class Credentials;
class HttpClient;

/// Where requests go and how they are signed.
struct SqsSettings
{
    /// Origin ("http://127.0.0.1:9324"); empty: that of each request's queue URL, else AWS's own in the region.
    QUrl endpoint;
    QString region; ///< a host that names another region wins
    AwsCredentials credentials; ///< with an origin they are renewed, by each client for itself (credentials.h)
    /// Of every attempt; a receive waits that much beyond its long poll.
    std::chrono::milliseconds answerTimeout{10'000};
    int maxAttempts = 3; ///< at one call, retries and all; a receive has one in any case
    std::chrono::milliseconds retryStep{1'000}; ///< upper limit of the wait before the second attempt, half of the next
};

/// Talks to an SQS endpoint: AWS JSON 1.0, signed with SigV4, asynchronous; lives in one thread with an event loop.
///
/// Each attempt puts exactly one POST on the wire (httpclient.h). What fails on the way, by overload or in the server
/// is tried again, up to three times in all (retrypolicy.h), each time signed anew. Not so a receive: whoever polls
/// waits between polls anyway. A batch of sends whose reply was lost may so be in the queue twice, under two message
/// ids; consumers see the same event. Beside that, a request that the server calls too old or too new is signed again
/// with the server's time, once, if the clocks do differ; and one whose keys it calls expired or unknown with new keys,
/// once, if there are any.
///
/// The callback runs exactly once, in the client's thread, never before the call has returned (abort() apart); it does
/// not run when `context` is gone, which also stops the request, nor when the client is. The callback may delete the
/// client. Every attempt has a time-out: 10 s, for a receive its wait + 10 s.
///
/// Errors: Unreachable (no connection, no answer in time, closed before the reply, 5xx), Protocol (an answer that is
/// not SQS, any 3xx), NotFound (queue does not exist), Throttled, Refused, Invalid; `code` is the service's own code in
/// its JSON spelling. Every text names the endpoint.
class SqsClient : public QObject
{
    Q_OBJECT
public:
    template <typename T>
    using Done = std::function<void(Result<T>)>;

    explicit SqsClient(SqsSettings settings, QObject *parent = nullptr);
    ~SqsClient() override;

    SqsCall *getQueueUrl(const QString &name, QObject *context, Done<QUrl> done);
    SqsCall *getQueueAttributes(const QUrl &queueUrl, const QStringList &names, QObject *context,
                                Done<QMap<QString, QString>> done);
    /// Messages whose MD5s are wrong are left out (not received, not deleted) and named by warned(). Receives have
    /// connections of their own, up to 8 at a time, so that no long poll keeps a delete waiting.
    SqsCall *receive(const ReceiveRequest &request, QObject *context, Done<QList<Message>> done);
    /// 1…10 entries, at most 1 MiB together. MD5s of body and attributes are compared: a wrong one makes the entry not
    /// ok.
    SqsCall *sendBatch(const QUrl &queueUrl, const QList<SendEntry> &entries, QObject *context,
                       Done<QList<BatchEntryResult>> done);
    SqsCall *deleteBatch(const QUrl &queueUrl, const QList<DeleteEntry> &entries, QObject *context,
                         Done<QList<BatchEntryResult>> done);
    SqsCall *changeVisibilityBatch(const QUrl &queueUrl, const QList<VisibilityEntry> &entries, QObject *context,
                                   Done<QList<BatchEntryResult>> done);
    SqsCall *purgeQueue(const QUrl &queueUrl, QObject *context, Done<bool> done);

    // Move tasks name queues by ARN, and go to the endpoint of `queueUrl`. Not every endpoint has them: it then says
    // UnsupportedOperation, InvalidAction or something that is no SQS error (code "HTTP 500").
    /// Gives the task's handle. Never sent twice, or two tasks might be asked for.
    SqsCall *startMessageMoveTask(const QUrl &queueUrl, const MoveRequest &request, QObject *context,
                                  Done<QString> done);
    /// \param maxResults 1…10; the most recent ones, that one first
    SqsCall *listMessageMoveTasks(const QUrl &queueUrl, const QString &sourceArn, int maxResults, QObject *context,
                                  Done<QList<MoveTask>> done);
    /// Gives how many were moved so far, -1 when that is not told; they stay moved, and a few more may follow.
    SqsCall *cancelMessageMoveTask(const QUrl &queueUrl, const QString &taskHandle, QObject *context,
                                   Done<qint64> done);
    /// All queues whose redrive policy names this one, over as many pages as there are.
    void listDeadLetterSourceQueues(const QUrl &deadLetterQueueUrl, QObject *context, Done<QList<QUrl>> done);

    void abortAll();
    /// Keys that can be renewed are, before the next request: somebody says that they have put them right.
    void renewKeys();
    /// The queue does not accept our keys, or there are none, after they were renewed if they can be. Of a receive this
    /// is a denial too: another try is of no use until a person or a key program has done something.
    static bool refusesKeys(const Error &error, bool ofReceive);
    /// Requests put on the wire so far, for the figure "SQS requests per 1,000 messages".
    qint64 requestCount() const;
    /// Of them, by operation ("ReceiveMessage").
    const QMap<QString, qint64> &requestCounts() const { return m_requestCounts; }

Q_SIGNALS:
    /// One line that a person should see although nothing failed: a damaged message, a wrong clock. Goes to the log
    /// category sendonce.queue when nobody is connected.
    void warned(const QString &text);

private:
    template <typename T>
    using Read = std::function<Result<T>(const QByteArray &)>; ///< its error's text completes "the endpoint answered …"

    void listSources(const QUrl &queueUrl, const QString &nextToken, QList<QUrl> found, QObject *context,
                     Done<QList<QUrl>> done);
    QUrl endpointFor(const QUrl &queueUrl) const;
    void warn(const QString &text);
    template <typename T>
    SqsCall *post(const char *operation, const Result<QByteArray> &json, const QUrl &queueUrl, QObject *context,
                  Read<T> read, Done<T> done, std::chrono::seconds longPoll = {});

    SqsSettings m_settings;
    SqsSigner m_signer;
    retrypolicy::Bucket m_retries; ///< of all calls together
    HttpClient *m_http = nullptr;
    HttpClient *m_receiveHttp = nullptr;
    Credentials *m_credentials = nullptr;
    QMap<QString, qint64> m_requestCounts;
};

} // namespace sendonce
