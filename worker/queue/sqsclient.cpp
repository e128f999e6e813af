#include "worker/queue/sqsclient.h"

#include "worker/queue/awsendpoint.h"
#include "worker/queue/clockskew.h"
#include "worker/queue/credentials.h"
#include "worker/queue/httpclient.h"
#include "worker/queue/sqserrors.h"
#include "worker/queue/sqsmovetasks.h"
#include "worker/queue/sqspost.h"
#include "worker/queue/sqsprotocol.h"

#include <QLoggingCategory>
#include <QMetaMethod>
#include <QPointer>

#include <numeric>

using namespace Qt::StringLiterals;

namespace sendonce {

Q_LOGGING_CATEGORY(lcQueue, "sendonce.queue")

namespace {

/// Ten messages of 1 MiB, each byte as \u00xx, and something around them.
constexpr qint64 LargestReceiveReply = 64LL << 20;
constexpr qint64 LargestReply = 1LL << 20;

constexpr int MaxConnections = 8; ///< for receives, and as many for all the rest

constexpr auto ReceiveOperation = "ReceiveMessage";
constexpr auto StartMoveOperation = "StartMessageMoveTask";

template <typename Entry>
QStringList idsOf(const QList<Entry> &entries)
{
    QStringList ids;
    for (const Entry &entry : entries)
        ids.append(entry.id);
    return ids;
}

} // namespace

SqsClient::SqsClient(SqsSettings settings, QObject *parent)
    : QObject(parent)
    , m_settings(std::move(settings))
    , m_signer(m_settings.credentials, m_settings.region)
    , m_http(new HttpClient(MaxConnections, this))
    , m_receiveHttp(new HttpClient(MaxConnections, this))
    , m_credentials(new Credentials(m_settings.credentials, m_http, this))
{ }

SqsClient::~SqsClient()
{
    // Before the members that they use.
    qDeleteAll(findChildren<SqsPost *>(Qt::FindDirectChildrenOnly));
    delete m_credentials;
}

QUrl SqsClient::endpointFor(const QUrl &queueUrl) const
{
    if (!m_settings.endpoint.isEmpty())
        return awsendpoint::origin(m_settings.endpoint);
    return queueUrl.isEmpty() ? awsendpoint::regional(m_settings.region) : awsendpoint::origin(queueUrl);
}

void SqsClient::warn(const QString &text)
{
    static const QMetaMethod signal = QMetaMethod::fromSignal(&SqsClient::warned);
    if (!isSignalConnected(signal))
        qCWarning(lcQueue).noquote() << text;
    Q_EMIT warned(text);
}

template <typename T>
SqsCall *SqsClient::post(const char *operation, const Result<QByteArray> &json, const QUrl &queueUrl, QObject *context,
                         Read<T> read, Done<T> done, std::chrono::seconds longPoll)
{
    const QUrl endpoint = endpointFor(queueUrl);
    const bool receives = qstrcmp(operation, ReceiveOperation) == 0;
    const bool isOnce = receives || qstrcmp(operation, StartMoveOperation) == 0;
    auto finish = [endpoint, operation, read = std::move(read),
                   done = std::move(done)](const Result<QByteArray> &reply) {
        if (!reply) {
            done(reply.error());
            return;
        }
        Result<T> value = read(reply.value());
        if (!value) {
            Error error = value.error();
            error.text =
                u"%1 answered %2 with %3"_s.arg(endpointText(endpoint), QLatin1StringView(operation), error.text);
            done(error);
            return;
        }
        done(std::move(value));
    };

    auto *post = new SqsPost({endpoint,
                              operation,
                              json.ok() ? json.value() : QByteArray(),
                              m_settings.answerTimeout + longPoll,
                              receives ? LargestReceiveReply : LargestReply,
                              {isOnce ? 1 : m_settings.maxAttempts, m_settings.retryStep},
                              receives},
                             context ? context : this, std::move(finish), this);
    connect(post, &SqsPost::sent, this, [this, operation] { ++m_requestCounts[QString::fromLatin1(operation)]; });
    connect(post, &SqsPost::clockCorrected, this, [this, endpoint](std::chrono::seconds offset) {
        warn(u"%1, says %2; requests are signed with its time"_s.arg(clockskew::describe(offset),
                                                                     endpointText(endpoint)));
    });
    if (!json)
        post->failLater(json.error());
    else if (endpoint.scheme() != "http"_L1 && endpoint.scheme() != "https"_L1)
        post->failLater(
            {ErrorKind::Invalid, u"no queue endpoint: neither an http(s) URL nor an AWS region is given"_s, {}});
    else
        post->send(receives ? m_receiveHttp : m_http, &m_signer, m_credentials, &m_retries);
    return post;
}

SqsCall *SqsClient::getQueueUrl(const QString &name, QObject *context, Done<QUrl> done)
{
    return post<QUrl>("GetQueueUrl", sqsprotocol::getQueueUrl(name), {}, context, &sqsprotocol::readQueueUrl,
                      std::move(done));
}

SqsCall *SqsClient::getQueueAttributes(const QUrl &queueUrl, const QStringList &names, QObject *context,
                                       Done<QMap<QString, QString>> done)
{
    return post<QMap<QString, QString>>("GetQueueAttributes", sqsprotocol::getQueueAttributes(queueUrl, names),
                                        queueUrl, context, &sqsprotocol::readQueueAttributes, std::move(done));
}

SqsCall *SqsClient::receive(const ReceiveRequest &request, QObject *context, Done<QList<Message>> done)
{
    const auto read = [this, queueUrl = request.queueUrl](const QByteArray &body) -> Result<QList<Message>> {
        Result<sqsprotocol::Received> received = sqsprotocol::readReceived(body);
        if (!received)
            return received.error();
        if (!received->damaged.isEmpty()) {
            warn(u"message %1 of queue %2 arrived damaged (wrong MD5 or not readable) and is taken as not received"_s
                     .arg(received->damaged.join(", "_L1), queueUrl.fileName()));
        }
        return std::move(received.value().messages);
    };
    return post<QList<Message>>(ReceiveOperation, sqsprotocol::receiveMessage(request), request.queueUrl, context, read,
                                std::move(done), request.wait);
}

SqsCall *SqsClient::sendBatch(const QUrl &queueUrl, const QList<SendEntry> &entries, QObject *context,
                              Done<QList<BatchEntryResult>> done)
{
    const auto read = [entries](const QByteArray &body) { return sqsprotocol::readSent(body, entries); };
    return post<QList<BatchEntryResult>>("SendMessageBatch", sqsprotocol::sendMessageBatch(queueUrl, entries), queueUrl,
                                         context, read, std::move(done));
}

SqsCall *SqsClient::deleteBatch(const QUrl &queueUrl, const QList<DeleteEntry> &entries, QObject *context,
                                Done<QList<BatchEntryResult>> done)
{
    const auto read = [ids = idsOf(entries)](const QByteArray &body) { return sqsprotocol::readBatch(body, ids); };
    return post<QList<BatchEntryResult>>("DeleteMessageBatch", sqsprotocol::deleteMessageBatch(queueUrl, entries),
                                         queueUrl, context, read, std::move(done));
}

SqsCall *SqsClient::changeVisibilityBatch(const QUrl &queueUrl, const QList<VisibilityEntry> &entries, QObject *context,
                                          Done<QList<BatchEntryResult>> done)
{
    const auto read = [ids = idsOf(entries)](const QByteArray &body) { return sqsprotocol::readBatch(body, ids); };
    return post<QList<BatchEntryResult>>("ChangeMessageVisibilityBatch",
                                         sqsprotocol::changeMessageVisibilityBatch(queueUrl, entries), queueUrl,
                                         context, read, std::move(done));
}

SqsCall *SqsClient::purgeQueue(const QUrl &queueUrl, QObject *context, Done<bool> done)
{
    // Void: 200 with an empty body or {}.
    const auto read = [](const QByteArray &) -> Result<bool> { return true; };
    return post<bool>("PurgeQueue", sqsprotocol::purgeQueue(queueUrl), queueUrl, context, read, std::move(done));
}

SqsCall *SqsClient::startMessageMoveTask(const QUrl &queueUrl, const MoveRequest &request, QObject *context,
                                         Done<QString> done)
{
    return post<QString>(StartMoveOperation, sqsmovetasks::startMessageMoveTask(request), queueUrl, context,
                         &sqsmovetasks::readTaskHandle, std::move(done));
}

SqsCall *SqsClient::listMessageMoveTasks(const QUrl &queueUrl, const QString &sourceArn, int maxResults,
                                         QObject *context, Done<QList<MoveTask>> done)
{
    return post<QList<MoveTask>>("ListMessageMoveTasks", sqsmovetasks::listMessageMoveTasks(sourceArn, maxResults),
                                 queueUrl, context, &sqsmovetasks::readTasks, std::move(done));
}

SqsCall *SqsClient::cancelMessageMoveTask(const QUrl &queueUrl, const QString &taskHandle, QObject *context,
                                          Done<qint64> done)
{
    return post<qint64>("CancelMessageMoveTask", sqsmovetasks::cancelMessageMoveTask(taskHandle), queueUrl, context,
                        &sqsmovetasks::readMoved, std::move(done));
}

void SqsClient::listDeadLetterSourceQueues(const QUrl &deadLetterQueueUrl, QObject *context, Done<QList<QUrl>> done)
{
    listSources(deadLetterQueueUrl, {}, {}, context, std::move(done));
}

void SqsClient::listSources(const QUrl &queueUrl, const QString &nextToken, QList<QUrl> found, QObject *context,
                            Done<QList<QUrl>> done)
{
    using Page = sqsmovetasks::SourcePage;
    post<Page>("ListDeadLetterSourceQueues", sqsmovetasks::listDeadLetterSourceQueues(queueUrl, nextToken), queueUrl,
               context, &sqsmovetasks::readSources,
               [this, queueUrl, nextToken, found, context, done = std::move(done)](const Result<Page> &page) mutable {
                   if (!page) {
                       done(page.error());
                       return;
                   }
                   found += page->queueUrls;
                   const bool isLast = page->nextToken.isEmpty() || page->nextToken == nextToken;
                   if (isLast)
                       done(found);
                   else
                       listSources(queueUrl, page->nextToken, std::move(found), context, std::move(done));
               });
}

void SqsClient::renewKeys()
{
    m_credentials->distrust();
}

bool SqsClient::refusesKeys(const Error &error, bool ofReceive)
{
    return error.code == sqserrors::NoKeys || sqserrors::wantsNewKeys(error.code)
        || (ofReceive && sqserrors::isDenial(error.code));
}

qint64 SqsClient::requestCount() const
{
    return std::accumulate(m_requestCounts.cbegin(), m_requestCounts.cend(), Q_INT64_C(0));
}

void SqsClient::abortAll()
{
    const auto posts = findChildren<SqsPost *>(Qt::FindDirectChildrenOnly);
    QList<QPointer<SqsPost>> guarded(posts.begin(), posts.end());
    for (const QPointer<SqsPost> &post : guarded) {
        if (post) // a callback may have deleted it, with the client
            post->abort();
    }
}

} // namespace sendonce
