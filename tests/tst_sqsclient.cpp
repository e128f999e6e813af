#include "tests/world/scriptedhttp.h"
#include "worker/queue/sigv4.h"
#include "worker/queue/sqsclient.h"

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QNetworkProxy>
#include <QSignalSpy>
#include <QTcpServer>
#include <QTest>
#include <QTestEventLoop>

#include <memory>
#include <optional>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

const AwsCredentials Keys{u"AKIDEXAMPLE"_s, u"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"_s, {}};
const QByteArray OneMessage = R"({"Messages":[{"MessageId":"m1","ReceiptHandle":"r1","Body":"message",)"
                              R"("MD5OfBody":"78e731027d8fd50ed642340b7c9a63b3"}]})"_ba;

/// Where a call's result goes; empty until its callback has run, and a second run is a failure.
template <typename T>
class Answer
{
public:
    SqsClient::Done<T> done()
    {
        return [this](Result<T> result) {
            ++m_runs;
            m_result = std::move(result);
            m_loop.exitLoop();
        };
    }
    bool wait()
    {
        if (!arrived())
            m_loop.enterLoopMSecs(5000);
        return arrived();
    }
    bool arrived() const { return m_result.has_value(); }
    int runs() const { return m_runs; }
    const Result<T> &operator*() const { return *m_result; }
    const Result<T> *operator->() const { return &*m_result; }

private:
    std::optional<Result<T>> m_result;
    int m_runs = 0;
    QTestEventLoop m_loop;
};

using Attributes = QMap<QString, QString>;
using Batch = QList<BatchEntryResult>;

/// What the server computes to check a signature: the same from what arrived.
bool signatureIsRight(const ScriptedHttp::Request &request, const AwsCredentials &keys, const QByteArray &region)
{
    const QByteArray authorization = request.header("Authorization"_ba);
    const qsizetype from = authorization.indexOf("SignedHeaders=") + 14;
    const QList<QByteArray> names = authorization.mid(from, authorization.indexOf(',', from) - from).split(';');
    sigv4::Request seen{request.method, request.target, {}, request.body};
    for (const QByteArray &name : names)
        seen.headers.append({name, request.header(name)});
    QDateTime time =
        QDateTime::fromString(QString::fromLatin1(request.header("X-Amz-Date"_ba)), u"yyyyMMdd'T'HHmmss'Z'"_s);
    time.setTimeSpec(Qt::UTC);
    const sigv4::Scope scope{time, region, "sqs"_ba};
    return authorization
        == sigv4::authorization(seen, scope, keys.accessKeyId.toLatin1(),
                                sigv4::signingKey(keys.secretAccessKey.toLatin1(), scope));
}

} // namespace

class TestSqsClient : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();

    void everyOperation();
    void requestsAreSigned_data();
    void requestsAreSigned();
    void requestsCarryNothingElse();
    void emptyEndpointGoesToTheQueuesHost();
    void noEndpointAtAllIsInvalid();

    void faultReachesTheServerOnce_data();
    void faultReachesTheServerOnce();
    void faultIsRetried_data();
    void faultIsRetried();
    void receiveIsNotRetried();
    void stallIsRetried_data();
    void stallIsRetried();
    void refusedConnectionIsRetried();
    void eachAttemptIsSigned();
    void retriesEndWithAnEmptyBucket();
    void abortEndsAWaitingRetry();
    void clientGoesWithARetryWaiting();
    void wrongClockCostsNoAttempt();
    void connectionClosedWhileIdleIsNoError();
    void connectionClosedAsTheNextRequestLeaves();
    void redirectGoesNowhere_data();
    void redirectGoesNowhere();
    void refusedConnection();
    void noTlsThere();
    void tooLargeReplyIsCut_data();
    void tooLargeReplyIsCut();

    void stallEndsInTime();
    void receiveWaitsBeyondItsLongPoll();
    void abortedLongPollEndsAtOnce();
    void answerIsToldOfBeforeItIsRead();
    void whoeverHearsOfAnAnswerMayAbort();
    void abortAllEndsEverything();
    void abortAfterTheEndDoesNothing();
    void longPollsDoNotBlockDeletes();
    void connectionsAreKept();

    void partialFailuresComeThrough();
    void wrongMd5IsNotReceived();
    void damagedMessageIsLoggedWhenNobodyListens();
    void errorsNameTheEndpointAndNoSecret();
    void bodyThatIsNotUtf8FailsLaterAndSendsNothing();

    void clockIsCorrectedOnce();
    void clockIsNotCorrectedTwice();
    void wrongKeyIsNoWrongClock();

    void noCallbackWithoutItsContext();
    void callbackMayDeleteTheClient();
    void clientGoesWithCallsUnderWay();
    void noProxyForLoopback();

private:
    /// One attempt per call, so that one request more is Qt's.
    SqsSettings settings() const { return {m_server->url(), u"eu-west-1"_s, Keys, 5s, 1}; }
    SqsSettings patient() const
    {
        SqsSettings result = settings();
        result.maxAttempts = SqsSettings().maxAttempts;
        result.retryStep = 1ms;
        return result;
    }
    QUrl queue() const { return m_server->url("/000000000000/orders"_ba); }

    std::unique_ptr<ScriptedHttp> m_server;
    std::unique_ptr<SqsClient> m_client;
};

void TestSqsClient::init()
{
    QTest::failOnWarning(QRegularExpression(u".*"_s)); // lasts for one function
    m_server = std::make_unique<ScriptedHttp>();
    m_client = std::make_unique<SqsClient>(settings());
}

void TestSqsClient::cleanup()
{
    m_client.reset();
    m_server.reset();
}

void TestSqsClient::everyOperation()
{
    m_server->next(ScriptedHttp::reply(200, R"({"QueueUrl":"http://127.0.0.1:9324/000000000000/orders"})"_ba));
    m_server->next(ScriptedHttp::reply(200, R"({"Attributes":{"VisibilityTimeout":"30"}})"_ba));
    m_server->next(ScriptedHttp::reply(200, OneMessage));
    m_server->next(ScriptedHttp::reply(
        200,
        R"({"Successful":[{"Id":"a","MessageId":"m1","MD5OfMessageBody":"78e731027d8fd50ed642340b7c9a63b3"}]})"_ba));
    m_server->next(ScriptedHttp::reply(200, R"({"Successful":[{"Id":"a"}]})"_ba));
    m_server->next(ScriptedHttp::reply(200, R"({"Successful":[{"Id":"a"}]})"_ba));
    m_server->next(ScriptedHttp::reply(200, {}));

    Answer<QUrl> url;
    m_client->getQueueUrl(u"orders"_s, this, url.done());
    QVERIFY(url.wait());
    QCOMPARE(url->value(), QUrl(u"http://127.0.0.1:9324/000000000000/orders"_s));

    Answer<Attributes> attributes;
    m_client->getQueueAttributes(queue(), {u"All"_s}, this, attributes.done());
    QVERIFY(attributes.wait());
    QCOMPARE(attributes->value(), (Attributes{{u"VisibilityTimeout"_s, u"30"_s}}));

    Answer<QList<Message>> messages;
    m_client->receive({queue(), 10, 20s, std::nullopt}, this, messages.done());
    QVERIFY(!messages.arrived()); // never before the call has returned
    QVERIFY(messages.wait());
    QCOMPARE(messages->value().size(), 1);
    QCOMPARE(messages->value().first().body, "message"_ba);

    Answer<Batch> sent;
    m_client->sendBatch(queue(), {{u"a"_s, "message"_ba, {}, {}, -1}}, this, sent.done());
    QVERIFY(sent.wait());
    QCOMPARE(sent->value(), Batch({{u"a"_s, true, u"m1"_s, {}, {}, false}}));

    Answer<Batch> deleted;
    m_client->deleteBatch(queue(), {{u"a"_s, u"r1"_s}}, this, deleted.done());
    QVERIFY(deleted.wait());
    QVERIFY(deleted->value().first().ok);

    Answer<Batch> hidden;
    m_client->changeVisibilityBatch(queue(), {{u"a"_s, u"r1"_s, 0s}}, this, hidden.done());
    QVERIFY(hidden.wait());
    QVERIFY(hidden->value().first().ok);

    Answer<bool> purged;
    m_client->purgeQueue(queue(), this, purged.done());
    QVERIFY(purged.wait());
    QVERIFY(purged->value());

    QList<QByteArray> targets;
    for (const auto &request : m_server->requests())
        targets.append(request.header("X-Amz-Target"_ba));
    QCOMPARE(
        targets,
        QList<QByteArray>({"AmazonSQS.GetQueueUrl"_ba, "AmazonSQS.GetQueueAttributes"_ba, "AmazonSQS.ReceiveMessage"_ba,
                           "AmazonSQS.SendMessageBatch"_ba, "AmazonSQS.DeleteMessageBatch"_ba,
                           "AmazonSQS.ChangeMessageVisibilityBatch"_ba, "AmazonSQS.PurgeQueue"_ba}));
    QCOMPARE(m_client->requestCount(), 7);
    QTRY_VERIFY(m_client->findChildren<SqsCall *>().isEmpty()); // ended calls are gone
}

void TestSqsClient::requestsAreSigned_data()
{
    QTest::addColumn<QString>("token");
    QTest::newRow("plain keys") << QString();
    QTest::newRow("session token") << u"IQoJb3JpZ2luX2VjEXAMPLETOKEN//////////wEaCXVzLWVhc3QtMQ=="_s;
}

void TestSqsClient::requestsAreSigned()
{
    QFETCH(QString, token);
    AwsCredentials keys = Keys;
    keys.sessionToken = token;
    SqsClient client({m_server->url(), u"eu-west-1"_s, keys, 5s, 1});
    Answer<Attributes> answer;
    client.getQueueAttributes(queue(), {u"All"_s}, this, answer.done());
    QVERIFY(answer.wait());
    QVERIFY(answer->ok());

    const ScriptedHttp::Request &request = m_server->requests().first();
    QCOMPARE(request.method, "POST"_ba);
    QCOMPARE(request.target, "/"_ba);
    QCOMPARE(request.header("Host"_ba), m_server->url().authority().toLatin1());
    QCOMPARE(request.header("Content-Type"_ba), "application/x-amz-json-1.0"_ba);
    QCOMPARE(request.header("Content-Length"_ba), QByteArray::number(request.body.size()));
    QCOMPARE(request.header("X-Amz-Security-Token"_ba), token.toLatin1());
    const QByteArray authorization = request.header("Authorization"_ba);
    QVERIFY(authorization.contains(token.isEmpty()
                                       ? "SignedHeaders=content-type;host;x-amz-date;x-amz-target;x-amzn-query-mode,"
                                       : "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target;"
                                         "x-amzn-query-mode,"));
    QVERIFY(signatureIsRight(request, keys, "eu-west-1"_ba));
    AwsCredentials others = keys;
    others.secretAccessKey += u'x';
    QVERIFY(!signatureIsRight(request, others, "eu-west-1"_ba));
}

void TestSqsClient::requestsCarryNothingElse()
{
    m_server->next(ScriptedHttp::reply(200, "{}"_ba, {{"Set-Cookie"_ba, "track=me; Path=/"_ba}}));
    for (int i = 0; i < 2; ++i) {
        Answer<Attributes> answer;
        m_client->getQueueAttributes(queue(), {u"All"_s}, this, answer.done());
        QVERIFY(answer.wait());
    }
    const ScriptedHttp::Request &second = m_server->requests().at(1);
    QCOMPARE(second.header("Cookie"_ba), QByteArray());
    QCOMPARE(second.header("Accept-Encoding"_ba), "identity"_ba);
    QVERIFY(second.header("User-Agent"_ba).startsWith("Sendonce/"));
    QCOMPARE(second.header("Upgrade"_ba), QByteArray());
}

void TestSqsClient::emptyEndpointGoesToTheQueuesHost()
{
    SqsClient client({QUrl(), u"eu-west-1"_s, Keys});
    Answer<Attributes> answer;
    client.getQueueAttributes(queue(), {u"All"_s}, this, answer.done());
    QVERIFY(answer.wait());
    QCOMPARE(m_server->requests().size(), 1);
    QCOMPARE(m_server->requests().first().target, "/"_ba);
}

void TestSqsClient::noEndpointAtAllIsInvalid()
{
    SqsClient client({QUrl(), u"nowhere"_s, Keys});
    Answer<QUrl> answer;
    client.getQueueUrl(u"orders"_s, this, answer.done());
    QVERIFY(!answer.arrived());
    QVERIFY(answer.wait());
    QCOMPARE(answer->error().kind, ErrorKind::Invalid);
}

void TestSqsClient::faultReachesTheServerOnce_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<ScriptedHttp::After>("after");
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("text");

    using After = ScriptedHttp::After;
    const QString closed = u"queue endpoint %1 closed the connection before it had answered ReceiveMessage"_s;
    const QString garbage = u"queue endpoint %1 answered ReceiveMessage with something that is not HTTP"_s;
    QTest::newRow("close before the reply") << QByteArray() << After::Close << ErrorKind::Unreachable << closed;
    QTest::newRow("reset before the reply") << QByteArray() << After::Reset << ErrorKind::Unreachable << closed;
    QTest::newRow("close after half a status line") << "HTTP/1"_ba << After::Close << ErrorKind::Unreachable << closed;
    QTest::newRow("close in the headers")
        << "HTTP/1.1 200 OK\r\nContent-Le"_ba << After::Close << ErrorKind::Unreachable << closed;
    QTest::newRow("close after half a reply") << "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"Messages\":["_ba
                                              << After::Close << ErrorKind::Unreachable << closed;
    QTest::newRow("reset after half a reply") << "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"Messages\":["_ba
                                              << After::Reset << ErrorKind::Unreachable << closed;
    QTest::newRow("close in a chunk") << "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{\"Messages\""_ba
                                      << After::Close << ErrorKind::Unreachable << closed;
    QTest::newRow("garbage") << "220 mail.example ESMTP\r\n\r\n"_ba << After::Keep << ErrorKind::Unreachable << garbage;
    QTest::newRow("garbage, then closed")
        << "220 mail.example ESMTP\r\n\r\n"_ba << After::Close << ErrorKind::Unreachable << garbage;
    QTest::newRow("garbage for a status")
        << "HTTP/1.1 well\r\n\r\n"_ba << After::Keep << ErrorKind::Unreachable << garbage;
    QTest::newRow("garbage in JSON's place")
        << ScriptedHttp::reply(200, "<html>hello</html>"_ba).bytes << After::Keep << ErrorKind::Protocol
        << u"queue endpoint %1 answered ReceiveMessage with something that is not an SQS reply: illegal value at byte 1 of 18"_s;
    QTest::newRow("503") << ScriptedHttp::reply(503, "<html>busy</html>"_ba, {{"Connection"_ba, "close"_ba}}).bytes
                         << After::Close << ErrorKind::Unreachable
                         << u"queue endpoint %1 answered ReceiveMessage with HTTP 503 without an SQS error"_s;
    QTest::newRow("500 from SQS") << ScriptedHttp::reply(500, R"({"__type":"InternalFailure"})"_ba).bytes << After::Keep
                                  << ErrorKind::Unreachable
                                  << u"queue endpoint %1 answered ReceiveMessage with InternalFailure"_s;
    QTest::newRow("throttled as 403")
        << ScriptedHttp::reply(403, R"({"__type":"com.amazonaws.sqs#RequestThrottled","message":"slow"})"_ba).bytes
        << After::Keep << ErrorKind::Throttled
        << u"queue endpoint %1 answered ReceiveMessage with RequestThrottled: slow"_s;
    QTest::newRow("throttled as 400") << ScriptedHttp::reply(400, R"({"__type":"ThrottlingException"})"_ba).bytes
                                      << After::Keep << ErrorKind::Throttled
                                      << u"queue endpoint %1 answered ReceiveMessage with ThrottlingException"_s;
    QTest::newRow("wants a password")
        << ScriptedHttp::reply(401, {}, {{"WWW-Authenticate"_ba, "Basic realm=\"x\""_ba}}).bytes << After::Keep
        << ErrorKind::Refused << u"queue endpoint %1 answered ReceiveMessage with HTTP 401 without an SQS error"_s;
    QTest::newRow("request time-out of a server")
        << "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"_ba << After::Close
        << ErrorKind::Unreachable << u"queue endpoint %1 answered ReceiveMessage with HTTP 408 without an SQS error"_s;
}

void TestSqsClient::faultReachesTheServerOnce()
{
    QFETCH(QByteArray, bytes);
    QFETCH(ScriptedHttp::After, after);
    QFETCH(ErrorKind, kind);
    QFETCH(QString, text);

    for (const bool keptAlive : {false, true}) {
        init();
        int before = 0;
        if (keptAlive) {
            m_server->next(ScriptedHttp::reply(200, OneMessage));
            Answer<QList<Message>> first;
            m_client->receive({queue(), 10, 20s, std::nullopt}, this, first.done());
            QVERIFY(first.wait());
            before = 1;
        }
        m_server->next({bytes, after});
        Answer<QList<Message>> answer;
        m_client->receive({queue(), 10, 20s, std::nullopt}, this, answer.done());
        QVERIFY(answer.wait());
        QVERIFY(!answer->ok());
        QCOMPARE(answer->error().text, text.arg(m_server->url().authority()));
        QCOMPARE(answer->error().kind, kind);
        QCOMPARE(m_server->requests().size(), before + 1);
        if (keptAlive)
            QCOMPARE(m_server->requests().at(0).connection, m_server->requests().at(1).connection);

        // What Qt might have up its sleeve would come before this one.
        Answer<QList<Message>> next;
        m_client->receive({queue(), 10, 20s, std::nullopt}, this, next.done());
        QVERIFY(next.wait());
        QVERIFY(next->ok());
        QCOMPARE(m_server->requests().size(), before + 2);
        QCOMPARE(m_client->requestCount(), before + 2);
        QCOMPARE(answer.runs(), 1);
    }
}

void TestSqsClient::faultIsRetried_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<ScriptedHttp::After>("after");
    QTest::addColumn<int>("requests");
    QTest::addColumn<ErrorKind>("kind");

    using After = ScriptedHttp::After;
    const auto error = [](int status, const QByteArray &code) {
        return ScriptedHttp::reply(status, R"({"__type":"com.amazonaws.sqs#)" + code + R"("})").bytes;
    };
    const QByteArray half = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"Successful\":["_ba;
    QTest::newRow("close before the reply") << QByteArray() << After::Close << 3 << ErrorKind::Unreachable;
    QTest::newRow("reset before the reply") << QByteArray() << After::Reset << 3 << ErrorKind::Unreachable;
    QTest::newRow("close after half a reply") << half << After::Close << 3 << ErrorKind::Unreachable;
    QTest::newRow("reset after half a reply") << half << After::Reset << 3 << ErrorKind::Unreachable;
    QTest::newRow("close in the headers") << "HTTP/1.1 400 Bad"_ba << After::Close << 3 << ErrorKind::Unreachable;
    QTest::newRow("garbage") << "220 mail.example ESMTP\r\n\r\n"_ba << After::Close << 3 << ErrorKind::Unreachable;
    QTest::newRow("close behind the headers")
        << "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"_ba << After::Close << 3 << ErrorKind::Unreachable;
    QTest::newRow("close in a chunk") << "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{\"Succ"_ba
                                      << After::Close << 3 << ErrorKind::Unreachable;
    QTest::newRow("garbage, kept open") << "220 mail.example ESMTP\r\n\r\n"_ba << After::Keep << 3
                                        << ErrorKind::Unreachable;
    QTest::newRow("garbage for a status") << "HTTP/1.1 well\r\n\r\n"_ba << After::Keep << 3 << ErrorKind::Unreachable;
    QTest::newRow("half an error") << "HTTP/1.1 400 Bad Request\r\nContent-Length: 100\r\n\r\n{\"__type\":"_ba
                                   << After::Close << 3 << ErrorKind::Unreachable;
    QTest::newRow("500") << error(500, "InternalFailure") << After::Keep << 3 << ErrorKind::Unreachable;
    QTest::newRow("502") << ScriptedHttp::reply(502, "<html>"_ba).bytes << After::Keep << 3 << ErrorKind::Unreachable;
    QTest::newRow("503") << ScriptedHttp::reply(503, "<html>"_ba).bytes << After::Keep << 3 << ErrorKind::Unreachable;
    QTest::newRow("503, closed") << ScriptedHttp::reply(503, {}, {{"Connection"_ba, "close"_ba}}).bytes << After::Close
                                 << 3 << ErrorKind::Unreachable;
    QTest::newRow("504") << ScriptedHttp::reply(504, {}).bytes << After::Keep << 3 << ErrorKind::Unreachable;
    QTest::newRow("throttled as 400") << error(400, "ThrottlingException") << After::Keep << 3 << ErrorKind::Throttled;
    QTest::newRow("throttled as 403") << error(403, "RequestThrottled") << After::Keep << 3 << ErrorKind::Throttled;

    QTest::newRow("throttled as 429") << error(429, "TooManyRequestsException") << After::Keep << 3
                                      << ErrorKind::Throttled;
    QTest::newRow("a time-out by its code")
        << error(400, "RequestTimeout") << After::Keep << 3 << ErrorKind::Unreachable;

    QTest::newRow("429 without a code") << ScriptedHttp::reply(429, {}).bytes << After::Keep << 1
                                        << ErrorKind::Throttled;
    QTest::newRow("408 without a code") << ScriptedHttp::reply(408, {}).bytes << After::Keep << 1
                                        << ErrorKind::Unreachable;
    QTest::newRow("403 without a code") << ScriptedHttp::reply(403, "<html>"_ba).bytes << After::Keep << 1
                                        << ErrorKind::Refused;
    QTest::newRow("too many in flight") << error(403, "OverLimit") << After::Keep << 1 << ErrorKind::Throttled;
    QTest::newRow("expired keys") << error(403, "ExpiredToken") << After::Keep << 1 << ErrorKind::Refused;
    QTest::newRow("501") << ScriptedHttp::reply(501, {}).bytes << After::Keep << 1 << ErrorKind::Unreachable;
    QTest::newRow("no such queue") << error(400, "QueueDoesNotExist") << After::Keep << 1 << ErrorKind::NotFound;
    QTest::newRow("denied") << error(403, "AccessDenied") << After::Keep << 1 << ErrorKind::Refused;
    QTest::newRow("purged within the minute")
        << error(403, "PurgeQueueInProgress") << After::Keep << 1 << ErrorKind::Throttled;
    for (const int status : {300, 301, 302, 303, 304, 307, 308}) {
        QTest::addRow("redirect %d", status)
            << ScriptedHttp::reply(status, {}, {{"Location"_ba, "http://127.0.0.1:1/"_ba}}).bytes << After::Keep << 1
            << ErrorKind::Protocol;
    }
    QTest::newRow("garbage in JSON's place")
        << ScriptedHttp::reply(200, "<html>hello</html>"_ba).bytes << After::Keep << 1 << ErrorKind::Protocol;
}

void TestSqsClient::faultIsRetried()
{
    QFETCH(QByteArray, bytes);
    QFETCH(ScriptedHttp::After, after);
    QFETCH(int, requests);
    QFETCH(ErrorKind, kind);
    const auto remove = [this](SqsClient &client, Answer<Batch> &answer) {
        client.deleteBatch(queue(), {{u"a"_s, u"r1"_s}}, this, answer.done());
        return answer.wait();
    };

    SqsClient client(patient());
    for (int i = 0; i < requests; ++i)
        m_server->next({bytes, after});
    Answer<Batch> always;
    QVERIFY(remove(client, always));
    QVERIFY(!always->ok());
    QCOMPARE(always->error().kind, kind);
    QCOMPARE(m_server->requests().size(), requests);

    // What else were to come would come before this one. And here the last attempt that is left succeeds.
    const QByteArray body = m_server->requests().first().body;
    for (int i = 0; i < requests - 1; ++i)
        m_server->next({bytes, after});
    m_server->next(ScriptedHttp::reply(200, R"({"Successful":[{"Id":"a"}]})"_ba));
    Answer<Batch> inTheEnd;
    QVERIFY(remove(client, inTheEnd));
    QVERIFY(inTheEnd->ok());
    QVERIFY(inTheEnd->value().first().ok);
    QCOMPARE(m_server->requests().size(), 2 * requests);
    QCOMPARE(client.requestCount(), 2 * requests);
    for (const auto &request : m_server->requests())
        QCOMPARE(request.body, body);
    QCOMPARE(always.runs(), 1);
    QCOMPARE(inTheEnd.runs(), 1);
    QTRY_VERIFY(client.findChildren<SqsCall *>().isEmpty());
}

void TestSqsClient::receiveIsNotRetried()
{
    SqsClient client(patient());
    m_server->next({{}, ScriptedHttp::After::Close});
    Answer<QList<Message>> answer;
    client.receive({queue(), 10, 20s, std::nullopt}, this, answer.done());
    QVERIFY(answer.wait());
    QVERIFY(!answer->ok());
    Answer<QList<Message>> next;
    client.receive({queue(), 10, 20s, std::nullopt}, this, next.done());
    QVERIFY(next.wait());
    QVERIFY(next->ok());
    QCOMPARE(m_server->requests().size(), 2);
}

void TestSqsClient::stallIsRetried_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("nothing comes") << QByteArray();
    QTest::newRow("half the headers") << "HTTP/1.1 200 OK\r\nContent-Le"_ba;
    QTest::newRow("half a reply") << "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"Successful\":["_ba;
    QTest::newRow("a reply without its end") << "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"_ba;
}

void TestSqsClient::stallIsRetried()
{
    QFETCH(QByteArray, bytes);
    SqsSettings impatient = patient();
    impatient.answerTimeout = 100ms;
    SqsClient client(impatient);
    for (int i = 0; i < 3; ++i)
        m_server->next({bytes, ScriptedHttp::After::Keep});
    Answer<Batch> answer;
    client.deleteBatch(queue(), {{u"a"_s, u"r1"_s}}, this, answer.done());
    QVERIFY(answer.wait());
    QCOMPARE(
        answer->error().text,
        u"queue endpoint %1 gave no answer to DeleteMessageBatch within 100 ms"_s.arg(m_server->url().authority()));
    QCOMPARE(m_server->requests().size(), 3);
    QTRY_COMPARE(m_server->openConnections(), 0);
    Answer<Batch> next;
    client.deleteBatch(queue(), {{u"a"_s, u"r1"_s}}, this, next.done());
    QVERIFY(next.wait());
    QCOMPARE(m_server->requests().size(), 4);
}

void TestSqsClient::refusedConnectionIsRetried()
{
    QTcpServer port;
    QVERIFY(port.listen(QHostAddress::LocalHost));
    SqsSettings elsewhere = patient();
    elsewhere.endpoint.setPort(port.serverPort());
    port.close();
    SqsClient client(elsewhere);
    Answer<QUrl> answer;
    client.getQueueUrl(u"orders"_s, this, answer.done());
    QVERIFY(answer.wait());
    QCOMPARE(answer->error().kind, ErrorKind::Unreachable);
    QCOMPARE(client.requestCount(), 3);
}

void TestSqsClient::eachAttemptIsSigned()
{
    SqsClient client(patient());
    m_server->next(ScriptedHttp::reply(503, {}));
    m_server->next(ScriptedHttp::reply(503, {}));
    Answer<Attributes> answer;
    client.getQueueAttributes(queue(), {u"All"_s}, this, answer.done());
    QVERIFY(answer.wait());
    QVERIFY(answer->ok());
    QCOMPARE(m_server->requests().size(), 3);
    for (const auto &request : m_server->requests())
        QVERIFY(signatureIsRight(request, Keys, "eu-west-1"_ba));
}

void TestSqsClient::retriesEndWithAnEmptyBucket()
{
    SqsClient client(patient());
    const auto ask = [this, &client] {
        const qsizetype before = m_server->requests().size();
        Answer<Attributes> answer;
        client.getQueueAttributes(queue(), {u"All"_s}, this, answer.done());
        return answer.wait() ? m_server->requests().size() - before : -1;
    };
    for (int i = 0; i < 151; ++i)
        m_server->next(ScriptedHttp::reply(503, {}));
    for (int i = 0; i < 50; ++i)
        QCOMPARE(ask(), 3); // 2 retries of 5 tokens each
    QCOMPARE(ask(), 1);
    for (int i = 0; i < 5; ++i)
        QCOMPARE(ask(), 1); // good ones
    for (int i = 0; i < 2; ++i)
        m_server->next(ScriptedHttp::reply(503, {}));
    QCOMPARE(ask(), 2);
}

void TestSqsClient::abortEndsAWaitingRetry()
{
    SqsSettings slow = patient();
    slow.retryStep = 1h;
    SqsClient client(slow);
    Answer<Batch> answer;
    Answer<Batch> other;
    m_server->next({{}, ScriptedHttp::After::Close});
    SqsCall *call = client.deleteBatch(queue(), {{u"a"_s, u"r1"_s}}, this, answer.done());
    QTRY_COMPARE(m_server->requests().size(), 1);
    QTRY_COMPARE(m_server->openConnections(), 0);
    m_server->next({{}, ScriptedHttp::After::Close});
    client.deleteBatch(queue(), {{u"a"_s, u"r1"_s}}, this, other.done());
    QTRY_COMPARE(m_server->requests().size(), 2);
    QTRY_COMPARE(m_server->openConnections(), 0);
    QVERIFY(!answer.arrived());
    call->abort();
    QVERIFY(answer.arrived());
    QCOMPARE(answer->error().kind, ErrorKind::Aborted);
    client.abortAll();
    QVERIFY(other.arrived());
    QCOMPARE(other->error().kind, ErrorKind::Aborted);
    QTRY_VERIFY(client.findChildren<SqsCall *>().isEmpty());
    QCOMPARE(answer.runs(), 1);
    QCOMPARE(m_server->requests().size(), 2);
}

void TestSqsClient::clientGoesWithARetryWaiting()
{
    Answer<Batch> answer;
    {
        SqsSettings slow = patient();
        slow.retryStep = 1h;
        SqsClient client(slow);
        m_server->next({{}, ScriptedHttp::After::Close});
        client.deleteBatch(queue(), {{u"a"_s, u"r1"_s}}, this, answer.done());
        QTRY_COMPARE(m_server->requests().size(), 1);
        QTRY_COMPARE(m_server->openConnections(), 0);
    }
    QVERIFY(!answer.arrived());
    QCOMPARE(m_server->requests().size(), 1);
}

void TestSqsClient::connectionClosedWhileIdleIsNoError()
{
    // The end has arrived, but the client's event loop may not have run since: it asks the kernel. Both orders occur in
    // these rounds.
    for (int round = 1; round <= 30; ++round) {
        m_server->next(ScriptedHttp::reply(200, OneMessage, {}, ScriptedHttp::After::Close));
        Answer<QList<Message>> first;
        m_client->receive({queue(), 10, 20s, std::nullopt}, this, first.done());
        QVERIFY(first.wait());
        QVERIFY(first->ok());
        QTRY_COMPARE(m_server->openConnections(), 0);

        m_server->next(ScriptedHttp::reply(200, OneMessage, {}, ScriptedHttp::After::Close));
        Answer<QList<Message>> second;
        m_client->receive({queue(), 10, 20s, std::nullopt}, this, second.done());
        QVERIFY(second.wait());
        QVERIFY2(second->ok(), second->ok() ? "" : qPrintable(second->error().text));
        QTRY_COMPARE(m_server->openConnections(), 0);
        QCOMPARE(m_server->requests().size(), 2 * round);
        QCOMPARE(m_server->connectionCount(), 2 * round);
    }
}

void TestSqsClient::connectionClosedAsTheNextRequestLeaves()
{
    // The FIN and the next request cross: either side may be first. At most one request may arrive, and if none did it
    // is an error.
    for (int round = 0; round < 50; ++round) {
        init();
        m_server->next(ScriptedHttp::reply(200, OneMessage, {}, ScriptedHttp::After::Close));
        Answer<QList<Message>> second;
        m_client->receive({queue(), 10, 20s, std::nullopt}, this, [&](const Result<QList<Message>> &) {
            m_client->receive({queue(), 10, 20s, std::nullopt}, this, second.done());
        });
        QVERIFY(second.wait());
        if (second->ok())
            QCOMPARE(m_server->requests().size(), 2);
        else
            QCOMPARE(second->error().kind, ErrorKind::Unreachable);
        QVERIFY(m_server->requests().size() <= 2);
    }
}

void TestSqsClient::redirectGoesNowhere_data()
{
    QTest::addColumn<int>("status");
    for (const int status : {301, 302, 303, 307, 308})
        QTest::addRow("%d", status) << status;
}

void TestSqsClient::redirectGoesNowhere()
{
    QFETCH(int, status);
    ScriptedHttp elsewhere;
    QUrl target = elsewhere.url("/steal"_ba);
    target.setHost(u"localhost"_s);
    target.setUserInfo(u"user:secret"_s);
    m_server->next(ScriptedHttp::reply(status, {}, {{"Location"_ba, target.toEncoded()}}));
    Answer<QList<Message>> answer;
    m_client->receive({queue(), 10, 20s, std::nullopt}, this, answer.done());
    QVERIFY(answer.wait());
    QCOMPARE(answer->error().kind, ErrorKind::Protocol);
    QCOMPARE(answer->error().text,
             u"queue endpoint %1 redirects ReceiveMessage to localhost (HTTP %2); signed requests are not redirected"_s
                 .arg(m_server->url().authority())
                 .arg(status));

    Answer<QList<Message>> next;
    m_client->receive({queue(), 10, 20s, std::nullopt}, this, next.done());
    QVERIFY(next.wait());
    QCOMPARE(m_server->requests().size(), 2);
    QCOMPARE(elsewhere.connectionCount(), 0);
}

void TestSqsClient::refusedConnection()
{
    QTcpServer port;
    QVERIFY(port.listen(QHostAddress::LocalHost));
    QUrl url = m_server->url();
    url.setPort(port.serverPort());
    port.close();
    SqsClient client({url, u"us-east-1"_s, Keys, 5s, 1});
    Answer<QUrl> answer;
    client.getQueueUrl(u"orders"_s, this, answer.done());
    QVERIFY(answer.wait());
    QCOMPARE(answer->error().kind, ErrorKind::Unreachable);
    QCOMPARE(answer->error().text, u"queue endpoint 127.0.0.1:%1 refused the connection"_s.arg(url.port()));
}

void TestSqsClient::noTlsThere()
{
    QTcpServer plain;
    QVERIFY(plain.listen(QHostAddress::LocalHost));
    connect(&plain, &QTcpServer::newConnection, this, [&plain] {
        QTcpSocket *socket = plain.nextPendingConnection();
        connect(socket, &QTcpSocket::readyRead, socket,
                [socket] { socket->write("HTTP/1.1 400 Bad Request\r\n\r\n"); });
    });
    SqsClient client({QUrl(u"https://127.0.0.1:%1"_s.arg(plain.serverPort())), u"us-east-1"_s, Keys, 5s, 1});
    Answer<QUrl> answer;
    client.getQueueUrl(u"orders"_s, this, answer.done());
    QVERIFY(answer.wait());
    QCOMPARE(answer->error().kind, ErrorKind::Unreachable);
    QVERIFY2(answer->error().text.contains("no secure connection"_L1), qPrintable(answer->error().text));
}

void TestSqsClient::tooLargeReplyIsCut_data()
{
    QTest::addColumn<bool>("receive");
    QTest::addColumn<QString>("limit");
    QTest::newRow("receive") << true << u"more than 64 MiB"_s;
    QTest::newRow("others") << false << u"more than 1 MiB"_s;
}

void TestSqsClient::tooLargeReplyIsCut()
{
    QFETCH(bool, receive);
    QFETCH(QString, limit);
    m_server->next({"HTTP/1.1 200 OK\r\n\r\n" + QByteArray(1 << 20, ' '), ScriptedHttp::After::Keep, true});
    Answer<QList<Message>> messages;
    Answer<Attributes> attributes;
    if (receive)
        m_client->receive({queue(), 10, 20s, std::nullopt}, this, messages.done());
    else
        m_client->getQueueAttributes(queue(), {u"All"_s}, this, attributes.done());
    QTRY_VERIFY(messages.arrived() || attributes.arrived());
    const Error error = receive ? messages->error() : attributes->error();
    QCOMPARE(error.kind, ErrorKind::Protocol);
    QVERIFY2(error.text.contains(limit), qPrintable(error.text));
    QTRY_COMPARE(m_server->openConnections(), 0);
}

void TestSqsClient::stallEndsInTime()
{
    m_server->next(ScriptedHttp::stall());
    SqsSettings impatient = settings();
    impatient.answerTimeout = 200ms;
    SqsClient client(impatient);
    Answer<Batch> answer;
    QElapsedTimer timer;
    timer.start();
    client.deleteBatch(queue(), {{u"a"_s, u"r1"_s}}, this, answer.done());
    QVERIFY(answer.wait());
    QVERIFY2(timer.elapsed() < 400, qPrintable(QString::number(timer.elapsed())));
    QCOMPARE(answer->error().kind, ErrorKind::Unreachable);
    QCOMPARE(
        answer->error().text,
        u"queue endpoint %1 gave no answer to DeleteMessageBatch within 200 ms"_s.arg(m_server->url().authority()));
    QTRY_COMPARE(m_server->openConnections(), 0);
    QCOMPARE(m_server->requests().size(), 1);
}

void TestSqsClient::receiveWaitsBeyondItsLongPoll()
{
    m_server->next(ScriptedHttp::stall());
    SqsSettings impatient = settings();
    impatient.answerTimeout = 200ms;
    SqsClient client(impatient);
    Answer<QList<Message>> answer;
    QElapsedTimer timer;
    timer.start();
    client.receive({queue(), 10, 1s, std::nullopt}, this, answer.done());
    QVERIFY(answer.wait());
    QVERIFY2(timer.elapsed() >= 1100 && timer.elapsed() < 1500, qPrintable(QString::number(timer.elapsed())));
    QCOMPARE(m_server->requests().size(), 1);
}

void TestSqsClient::abortedLongPollEndsAtOnce()
{
    m_server->next(ScriptedHttp::stall());
    Answer<QList<Message>> answer;
    SqsCall *call = m_client->receive({queue(), 10, 20s, std::nullopt}, this, answer.done());
    QSignalSpy gone(call, &QObject::destroyed);
    QTRY_COMPARE(m_server->requests().size(), 1);

    QElapsedTimer timer;
    timer.start();
    call->abort();
    QVERIFY(answer.arrived());
    QVERIFY2(timer.elapsed() < 50, qPrintable(QString::number(timer.elapsed())));
    QCOMPARE(answer->error().kind, ErrorKind::Aborted);
    call->abort(); // still there, but over
    QTRY_COMPARE(m_server->openConnections(), 0);
    QTRY_COMPARE(gone.size(), 1);
    QCOMPARE(answer.runs(), 1);
    QCOMPARE(m_server->requests().size(), 1);
}

void TestSqsClient::answerIsToldOfBeforeItIsRead()
{
    m_server->next(ScriptedHttp::reply(200, "{}"_ba));
    Answer<QList<Message>> answer;
    SqsCall *call = m_client->receive({queue(), 10, 20s, std::nullopt}, this, answer.done());
    int told = 0;
    bool wasRead = false;
    connect(call, &SqsCall::answering, this, [&] {
        ++told;
        wasRead = answer.arrived();
    });
    QVERIFY(answer.wait());
    QVERIFY(answer->ok());
    QCOMPARE(told, 1);
    QVERIFY(!wasRead);
}

void TestSqsClient::whoeverHearsOfAnAnswerMayAbort()
{
    m_server->next(ScriptedHttp::reply(200, "{}"_ba));
    Answer<QList<Message>> answer;
    SqsCall *call = m_client->receive({queue(), 10, 20s, std::nullopt}, this, answer.done());
    QSignalSpy gone(call, &QObject::destroyed);
    connect(call, &SqsCall::answering, call, &SqsCall::abort);
    QVERIFY(answer.wait());
    QCOMPARE(answer->error().kind, ErrorKind::Aborted);
    QTRY_COMPARE(gone.size(), 1);
    QCOMPARE(answer.runs(), 1);
    QTRY_COMPARE(m_server->openConnections(), 0);
}

void TestSqsClient::abortAllEndsEverything()
{
    for (int i = 0; i < 3; ++i)
        m_server->next(ScriptedHttp::stall());
    QList<ErrorKind> ends;
    const auto note = [&ends](const auto &result) { ends.append(result.error().kind); };
    m_client->receive({queue(), 10, 20s, std::nullopt}, this, note);
    m_client->receive({queue(), 10, 20s, std::nullopt}, this, note);
    m_client->deleteBatch(queue(), {{u"a"_s, u"r1"_s}}, this, note);
    QTRY_COMPARE(m_server->requests().size(), 3);
    m_client->abortAll();
    QCOMPARE(ends, QList<ErrorKind>(3, ErrorKind::Aborted));
    QTRY_COMPARE(m_server->openConnections(), 0);

    Answer<Attributes> after;
    m_client->getQueueAttributes(queue(), {u"All"_s}, this, after.done());
    QVERIFY(after.wait());
    QVERIFY(after->ok());
}

void TestSqsClient::abortAfterTheEndDoesNothing()
{
    SqsCall *call = nullptr;
    Answer<Attributes> answer;
    call = m_client->getQueueAttributes(queue(), {u"All"_s}, this, [&](Result<Attributes> result) {
        call->abort();
        answer.done()(std::move(result));
    });
    QVERIFY(answer.wait());
    QVERIFY(answer->ok());
    QCOMPARE(answer.runs(), 1);
}

void TestSqsClient::longPollsDoNotBlockDeletes()
{
    constexpr int Polls = 6; // as many as Qt has connections to a host
    for (int i = 0; i < Polls; ++i) {
        m_server->next(ScriptedHttp::stall());
        m_client->receive({queue(), 10, 20s, std::nullopt}, this, [](const Result<QList<Message>> &) {});
    }
    QTRY_COMPARE(m_server->requests().size(), Polls);
    m_server->next(ScriptedHttp::reply(200, R"({"Successful":[{"Id":"a"}]})"_ba));
    Answer<Batch> answer;
    m_client->deleteBatch(queue(), {{u"a"_s, u"r1"_s}}, this, answer.done());
    QVERIFY(answer.wait());
    QVERIFY(answer->value().first().ok);
}

void TestSqsClient::connectionsAreKept()
{
    for (int i = 0; i < 20; ++i) {
        Answer<Attributes> answer;
        m_client->getQueueAttributes(queue(), {u"All"_s}, this, answer.done());
        QVERIFY(answer.wait());
    }
    QCOMPARE(m_server->requests().size(), 20);
    QCOMPARE(m_server->connectionCount(), 1);
}

void TestSqsClient::partialFailuresComeThrough()
{
    m_server->next(ScriptedHttp::reply(
        200,
        R"({"Successful":[{"Id":"a"}],"Failed":[{"Id":"b","SenderFault":false,"Code":"InternalError","Message":"later"},)"
        R"({"Id":"c","SenderFault":true,"Code":"ReceiptHandleIsInvalid","Message":"no"}]})"_ba));
    Answer<Batch> answer;
    m_client->deleteBatch(queue(), {{u"a"_s, u"r1"_s}, {u"b"_s, u"r2"_s}, {u"c"_s, u"r3"_s}}, this, answer.done());
    QVERIFY(answer.wait());
    QCOMPARE(answer->value(),
             Batch({{u"a"_s, true, {}, {}, {}, false},
                    {u"b"_s, false, {}, u"InternalError"_s, u"later"_s, false},
                    {u"c"_s, false, {}, u"ReceiptHandleIsInvalid"_s, u"no"_s, true}}));
}

void TestSqsClient::wrongMd5IsNotReceived()
{
    m_server->next(ScriptedHttp::reply(
        200,
        R"({"Messages":[{"MessageId":"m1","ReceiptHandle":"r1","Body":"message","MD5OfBody":"00000000000000000000000000000000"},)"
        R"({"MessageId":"m2","ReceiptHandle":"r2","Body":"message","MD5OfBody":"78e731027d8fd50ed642340b7c9a63b3"}]})"_ba));
    QSignalSpy warned(m_client.get(), &SqsClient::warned);
    Answer<QList<Message>> answer;
    m_client->receive({queue(), 10, 20s, std::nullopt}, this, answer.done());
    QVERIFY(answer.wait());
    QCOMPARE(answer->value().size(), 1);
    QCOMPARE(answer->value().first().messageId, u"m2"_s);
    QCOMPARE(warned.size(), 1);
    QVERIFY(warned.first().first().toString().startsWith("message m1 of queue orders arrived damaged"_L1));
}

void TestSqsClient::damagedMessageIsLoggedWhenNobodyListens()
{
    m_server->next(ScriptedHttp::reply(200, R"({"Messages":[{"MessageId":"m1"}]})"_ba));
    QTest::ignoreMessage(QtWarningMsg, QRegularExpression(u"^message m1 of queue orders arrived damaged"_s));
    Answer<QList<Message>> answer;
    m_client->receive({queue(), 10, 20s, std::nullopt}, this, answer.done());
    QVERIFY(answer.wait());
    QVERIFY(answer->value().isEmpty());
}

void TestSqsClient::errorsNameTheEndpointAndNoSecret()
{
    AwsCredentials keys = Keys;
    keys.sessionToken = u"IQoJb3JpZ2luX2VjEXAMPLETOKEN"_s;
    QUrl withPassword = m_server->url();
    withPassword.setUserInfo(u"user:hunter2hunter2hunter2"_s);
    SqsClient client({withPassword, u"eu-west-1"_s, keys});
    m_server->next(ScriptedHttp::reply(
        403,
        R"({"__type":"SignatureDoesNotMatch","message":"wrong: wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY, IQoJb3JpZ2luX2VjEXAMPLETOKEN"})"_ba));
    Answer<Attributes> answer;
    client.getQueueAttributes(queue(), {u"All"_s}, this, answer.done());
    QVERIFY(answer.wait());
    QCOMPARE(answer->error().kind, ErrorKind::Refused);
    QCOMPARE(answer->error().code, u"SignatureDoesNotMatch"_s);
    QCOMPARE(
        answer->error().text,
        u"queue endpoint %1 answered GetQueueAttributes with SignatureDoesNotMatch: wrong: …, …; check the access key"_s
            .arg(m_server->url().authority()));
    QVERIFY(!m_server->requests().first().header("Host"_ba).contains("hunter2"));
}

void TestSqsClient::bodyThatIsNotUtf8FailsLaterAndSendsNothing()
{
    Answer<Batch> answer;
    m_client->sendBatch(queue(), {{u"a"_s, "\xff"_ba, {}, {}, -1}}, this, answer.done());
    QVERIFY(!answer.arrived());
    QVERIFY(answer.wait());
    QCOMPARE(answer->error().kind, ErrorKind::Invalid);
    QCOMPARE(m_client->requestCount(), 0);
    QCOMPARE(m_server->connectionCount(), 0);
}

namespace {

QByteArray httpDate(const QDateTime &time)
{
    return QLocale::c().toString(time.toUTC(), u"ddd, dd MMM yyyy hh:mm:ss 'GMT'"_s).toLatin1();
}

ScriptedHttp::Step tooSkewed(const QDateTime &serverTime)
{
    return ScriptedHttp::reply(403, R"({"__type":"RequestTimeTooSkewed","message":"too far off"})"_ba,
                               {{"Date"_ba, httpDate(serverTime)}});
}

} // namespace

void TestSqsClient::clockIsCorrectedOnce()
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    m_server->next(tooSkewed(now.addSecs(3600)));
    QSignalSpy warned(m_client.get(), &SqsClient::warned);
    Answer<Attributes> answer;
    m_client->getQueueAttributes(queue(), {u"All"_s}, this, answer.done());
    QVERIFY(answer.wait());
    QVERIFY(answer->ok());
    QCOMPARE(m_server->requests().size(), 2);
    QCOMPARE(m_client->requestCount(), 2);
    QCOMPARE(warned.size(), 1);
    QVERIFY2(warned.first().first().toString().contains("clock is"_L1), qPrintable(warned.first().first().toString()));

    // The next one uses it from the start.
    Answer<Attributes> next;
    m_client->getQueueAttributes(queue(), {u"All"_s}, this, next.done());
    QVERIFY(next.wait());
    QCOMPARE(m_server->requests().size(), 3);
    for (const qsizetype i : {1, 2}) {
        const auto &request = m_server->requests().at(i);
        QDateTime signedAt =
            QDateTime::fromString(QString::fromLatin1(request.header("X-Amz-Date"_ba)), u"yyyyMMdd'T'HHmmss'Z'"_s);
        signedAt.setTimeSpec(Qt::UTC);
        QVERIFY(qAbs(signedAt.secsTo(now.addSecs(3600))) < 60);
        QVERIFY(signatureIsRight(request, Keys, "eu-west-1"_ba));
    }
}

void TestSqsClient::clockIsNotCorrectedTwice()
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    m_server->next(tooSkewed(now.addSecs(3600)));
    m_server->next(tooSkewed(now.addSecs(7200)));
    QSignalSpy warned(m_client.get(), &SqsClient::warned);
    Answer<Attributes> answer;
    m_client->getQueueAttributes(queue(), {u"All"_s}, this, answer.done());
    QVERIFY(answer.wait());
    QCOMPARE(answer->error().kind, ErrorKind::Refused);
    QCOMPARE(answer->error().code, u"RequestTimeTooSkewed"_s);
    QCOMPARE(m_server->requests().size(), 2);
}

void TestSqsClient::wrongClockCostsNoAttempt()
{
    SqsClient client(patient());
    QSignalSpy warned(&client, &SqsClient::warned);
    m_server->next(ScriptedHttp::reply(503, {}));
    m_server->next(tooSkewed(QDateTime::currentDateTimeUtc().addSecs(3600)));
    m_server->next(ScriptedHttp::reply(503, {}));
    Answer<Attributes> answer;
    client.getQueueAttributes(queue(), {u"All"_s}, this, answer.done());
    QVERIFY(answer.wait());
    QVERIFY(answer->ok());
    QCOMPARE(m_server->requests().size(), 4);
    QCOMPARE(warned.size(), 1);
}

void TestSqsClient::wrongKeyIsNoWrongClock()
{
    m_server->next(ScriptedHttp::reply(403, R"({"__type":"SignatureDoesNotMatch"})"_ba,
                                       {{"Date"_ba, httpDate(QDateTime::currentDateTimeUtc())}}));
    Answer<Attributes> answer;
    m_client->getQueueAttributes(queue(), {u"All"_s}, this, answer.done());
    QVERIFY(answer.wait());
    QCOMPARE(answer->error().code, u"SignatureDoesNotMatch"_s);
    QCOMPARE(m_server->requests().size(), 1);
}

void TestSqsClient::noCallbackWithoutItsContext()
{
    m_server->next(ScriptedHttp::stall());
    auto context = std::make_unique<QObject>();
    Answer<QList<Message>> answer;
    QSignalSpy gone(m_client->receive({queue(), 10, 20s, std::nullopt}, context.get(), answer.done()),
                    &QObject::destroyed);
    QTRY_COMPARE(m_server->requests().size(), 1);
    context.reset();
    QTRY_COMPARE(gone.size(), 1);
    QTRY_COMPARE(m_server->openConnections(), 0);
    QVERIFY(!answer.arrived());
}

void TestSqsClient::callbackMayDeleteTheClient()
{
    for (const bool tooLarge : {false, true}) {
        init();
        if (tooLarge)
            m_server->next({"HTTP/1.1 200 OK\r\n\r\n" + QByteArray(1 << 20, ' '), ScriptedHttp::After::Keep, true});
        m_client->getQueueAttributes(queue(), {u"All"_s}, this,
                                     [this](const Result<Attributes> &) { m_client.reset(); });
        QTRY_VERIFY(!m_client);
        QTRY_COMPARE(m_server->openConnections(), 0);
    }
    init();
    m_server->next(ScriptedHttp::stall());
    SqsCall *call = m_client->receive({queue(), 10, 20s, std::nullopt}, this,
                                      [this](const Result<QList<Message>> &) { m_client.reset(); });
    QTRY_COMPARE(m_server->requests().size(), 1);
    call->abort();
    QVERIFY(!m_client);
}

void TestSqsClient::clientGoesWithCallsUnderWay()
{
    m_server->next(ScriptedHttp::stall());
    Answer<QList<Message>> answer;
    m_client->receive({queue(), 10, 20s, std::nullopt}, this, answer.done());
    QTRY_COMPARE(m_server->requests().size(), 1);
    QElapsedTimer timer;
    timer.start();
    m_client.reset();
    QVERIFY2(timer.elapsed() < 100, qPrintable(QString::number(timer.elapsed())));
    QTRY_COMPARE(m_server->openConnections(), 0);
    QVERIFY(!answer.arrived());
}

void TestSqsClient::noProxyForLoopback()
{
    ScriptedHttp proxy;
    QNetworkProxy::setApplicationProxy(
        QNetworkProxy(QNetworkProxy::HttpProxy, u"127.0.0.1"_s, quint16(proxy.url().port())));
    const auto undo = qScopeGuard([] { QNetworkProxy::setApplicationProxy(QNetworkProxy::NoProxy); });
    Answer<Attributes> answer;
    m_client->getQueueAttributes(queue(), {u"All"_s}, this, answer.done());
    QVERIFY(answer.wait());
    QVERIFY(answer->ok());
    QCOMPARE(proxy.connectionCount(), 0);
    QCOMPARE(m_server->requests().size(), 1);
}

QTEST_GUILESS_MAIN(TestSqsClient)
#include "tst_sqsclient.moc"
