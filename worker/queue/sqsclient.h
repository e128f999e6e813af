#pragma once

#include "worker/config.h"
#include "worker/result.h"
#include "worker/types.h"

#include <QHash>
#include <QObject>
#include <QPointer>

#include <functional>

class QNetworkAccessManager;

namespace sendonce {

/// Where requests go and how they are signed.
struct SqsSettings
{
    QUrl endpoint; ///< origin ("http://127.0.0.1:9324"); empty: the origin of each request's queue URL
    QString region;
    AwsCredentials credentials;
};

struct ReceiveRequest
{
    QUrl queueUrl;
    int maxMessages = 10; ///< 1…10
    std::chrono::seconds wait{20}; ///< long poll, 0…20
    std::optional<std::chrono::seconds> visibilityTimeout; ///< absent: the queue's own
};

/// One entry of a batch and what became of it. A batch is HTTP 200 even when entries failed: always walk the list.
struct BatchEntryResult
{
    QString id;
    bool ok = false;
    QString messageId; ///< for sends
    QString code, text; ///< when not ok
    bool senderFault = false; ///< true: sending the same again is useless

    bool operator==(const BatchEntryResult &) const = default;
};

struct SendEntry
{
    QString id; ///< 1…80 of A-Za-z0-9_-, unique in the batch
    QByteArray body; ///< UTF-8
    MessageAttributes attributes;
    QString traceHeader; ///< AWSTraceHeader, the one system attribute that can be sent; empty: none
    int delaySeconds = -1; ///< -1: the queue's own
};
struct DeleteEntry
{
    QString id;
    QString receiptHandle;
};
struct VisibilityEntry
{
    QString id;
    QString receiptHandle;
    std::chrono::seconds timeout{0};
};

/// One request under way. Owned by its client, deletes itself after its end.
class SqsCall : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;
    /// Ends the call at once; its callback runs with ErrorKind::Aborted before abort() returns. After its end: nothing.
    virtual void abort() = 0;
};

/// Talks to an SQS endpoint: AWS JSON 1.0, signed with SigV4, asynchronous; lives in one thread with an event loop.
///
/// Each call puts exactly one POST on the wire: QNetworkAccessManager's silent second POST and its redirects are switched off
/// (architecture.md, "Qt facts"). No retries here in this version: who calls decides. The callback runs exactly once, in the
/// client's thread, never before the call has returned (abort() apart); it does not run when `context` is gone.
/// Every call has a time-out: 10 s, for a receive its wait + 10 s.
/// Errors: Unreachable (no connection, no answer in time, closed before the reply), Protocol (an answer that is not SQS, MD5
/// mismatch, any 3xx), NotFound (queue does not exist), Throttled, Refused, Invalid; `code` is the service's own code.
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
    /// Messages whose MD5OfBody is wrong are left out (not received, not deleted) and named in a warning.
    SqsCall *receive(const ReceiveRequest &request, QObject *context, Done<QList<Message>> done);
    /// 1…10 entries, at most 1 MiB together. MD5s of body and attributes are compared: a wrong one makes the entry not ok.
    SqsCall *sendBatch(const QUrl &queueUrl, const QList<SendEntry> &entries, QObject *context,
                       Done<QList<BatchEntryResult>> done);
    SqsCall *deleteBatch(const QUrl &queueUrl, const QList<DeleteEntry> &entries, QObject *context,
                         Done<QList<BatchEntryResult>> done);
    SqsCall *changeVisibilityBatch(const QUrl &queueUrl, const QList<VisibilityEntry> &entries, QObject *context,
                                   Done<QList<BatchEntryResult>> done);
    SqsCall *purgeQueue(const QUrl &queueUrl, QObject *context, Done<bool> done);

    void abortAll();
    /// Requests put on the wire so far, for the figure "SQS requests per 1,000 messages".
    qint64 requestCount() const { return m_requestCount; }

private:
    class Call;
    Call *post(const QByteArray &operation, const QByteArray &json, const QUrl &queueUrl, std::chrono::milliseconds timeout,
               QObject *context, std::function<void(Result<QByteArray>)> done);

    SqsSettings m_settings;
    QNetworkAccessManager *m_network = nullptr;
    qint64 m_requestCount = 0;
};

} // namespace sendonce
