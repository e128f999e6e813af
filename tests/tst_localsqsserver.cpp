#include "tests/world/httpprobe.h"
#include "tests/world/syscalls.h"
#include "worker/local/localsqsserver.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QRegularExpression>
#include <QTemporaryDir>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

using namespace sendonce;
using namespace sendonce::local;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

using Reply = HttpProbe::Reply;

QByteArray json(const QJsonObject &object)
{
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

/// {"QueueUrl":"q", …}
QByteArray on(const QString &queue, QJsonObject members = {})
{
    members.insert("QueueUrl"_L1, queue);
    return json(members);
}

QByteArray sendOne(const QString &body, const QString &queue = u"q"_s)
{
    return on(queue, {{u"MessageBody"_s, body}});
}

QByteArray receiveSome(int wait = 0, const QString &queue = u"q"_s)
{
    return on(queue, {{u"WaitTimeSeconds"_s, wait}, {u"MaxNumberOfMessages"_s, 10}});
}

QJsonArray messagesOf(const Reply &reply)
{
    return reply.json().value("Messages"_L1).toArray();
}

QStringList bodiesOf(const Reply &reply)
{
    QStringList bodies;
    for (const QJsonValue &message : messagesOf(reply))
        bodies += message.toObject().value("Body"_L1).toString();
    return bodies;
}

QString handleOf(const Reply &reply)
{
    return messagesOf(reply).at(0).toObject().value("ReceiptHandle"_L1).toString();
}

} // namespace

class TestLocalSqsServer : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();

    // the protocol
    void sendReceiveDelete();
    void messageAttributesAreFiltered();
    void systemAttributesByBothLists();
    void traceHeaderComesFromTheRequestToo();
    void batchesLeaveEmptyListsOut();
    void errorsAreWrittenAsAmazonDoes();
    void operationsThatAreNotThere_data();
    void operationsThatAreNotThere();
    void malformedMembers_data();
    void malformedMembers();
    void unknownMembersAndNullsAreIgnored();
    void queueUrlShapes_data();
    void queueUrlShapes();
    void queueUrlsNameTheHostThatWasAsked();
    void textOfEveryKindComesBackUnchanged();
    void queryProtocol();
    void queryByUrl();
    void queryErrors();
    void otherProtocolsAreAnswered();

    // who is let in
    void strangeHostsAreRefused_data();
    void strangeHostsAreRefused();
    void webPagesAreRefused_data();
    void webPagesAreRefused();
    void listensOnLoopbackOnly();
    void saysItsId();

    // HTTP
    void keepsTheConnection();
    void pipelinedRequestsAreAnsweredInOrder();
    void requestInSingleBytes();
    void continuesWhenAsked();
    void closesWhenAsked();
    void malformedRequestsAreRefused();
    void silentConnectionsAreClosed();
    void slowRequestsAreCut();
    void connectionsAreLimitedBeyondLongPolls();
    void withoutDescriptorsItWaits();
    void limitsHoldForTheQueryProtocol();
    void lettersOfTwoBytesMakeAMebibyte();

    // long polls
    void longPollWakesOnSend();
    void longPollEndsEmpty();
    void longPollWakesWhenSomethingBecomesVisible_data();
    void longPollWakesWhenSomethingBecomesVisible();
    void longPollOnTheDlqWakesOnRedrive();
    void longPollEndsWithItsQueue();
    void longPollsAreServedInTurn();
    void whoHungUpGetsNoMessage();
    void whoHangsUpInTheSameMomentGetsNoMessage_data();
    void whoHangsUpInTheSameMomentGetsNoMessage();
    void tooManyLongPollsAreAnsweredAtOnce();
    void shutdownAnswersLongPolls();

    // the store
    void answersAreWrittenFirst();
    void requestsOfOneRoundShareASync();
    void fullDiskAcknowledgesNothing();
    void failingDiskAcknowledgesNothing_data();
    void failingDiskAcknowledgesNothing();
    void restartKeepsEverything();
    void damagedFileIsSetAside_data();
    void damagedFileIsSetAside();
    void newerFileIsLeftAlone();
    void olderFileIsTakenUp();

    // move tasks
    void moveTasksInBothProtocols();
    void movedMessagesKeepTheirContent();
    void moveTasksKeepTheirPace();
    void othersAreServedWhileMessagesMove();
    void movesThatCannotBeWrittenAreTriedLater();

private:
    void open();
    void create(const QString &queue, const QMap<QString, QString> &attributes = {});
    Reply call(const QByteArray &operation, const QByteArray &json, const QByteArray &headers = {});
    /// A request of the query protocol.
    Reply query(const QByteArray &form, const QByteArray &path = "/", const QByteArray &headers = {});
    /// "visible/in flight/delayed"
    QString depth(const QString &queue = u"q"_s);
    /// A queue `dead` with messages of which each came from `q`, which dies there after one receive.
    void createDeadLetters(int messages);
    /// Of the newest task of `dead`.
    QJsonObject moveTask();
    QString file() const { return m_folder->filePath(u"queue.db"_s); }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<LocalSqsServer> m_server;
    LocalSqsServer::Limits m_limits;
    QueueTime m_skew; ///< added to the system's clocks
    std::function<void()> m_onClock; ///< what happens when the server looks at its clock: at the start of a turn
    quint16 m_port = 0;
};

void TestLocalSqsServer::init()
{
    QTest::failOnWarning(QRegularExpression(u".*"_s));
    m_folder = std::make_unique<QTemporaryDir>();
    m_limits = {};
    m_skew = {};
    m_onClock = {};
    open();
    create(u"q"_s);
}

void TestLocalSqsServer::cleanup()
{
    syscalls::failWrites = syscalls::failSyncs = 0;
    m_server.reset();
    m_folder.reset();
}

void TestLocalSqsServer::open()
{
    m_server.reset();
    m_server = std::make_unique<LocalSqsServer>(u"an-id"_s);
    m_server->setLimits(m_limits);
    m_server->setClock([this, system = systemQueueClock()] {
        if (m_onClock)
            m_onClock();
        const QueueTime now = system();
        return QueueTime{now.steady + m_skew.steady, now.wall + m_skew.wall};
    });
    const auto opened = m_server->open(file());
    QVERIFY2(opened.ok(), opened.ok() ? "" : qPrintable(opened.error().text));
    const auto listening = m_server->listen(0);
    QVERIFY(listening.ok());
    m_port = listening.value();
}

void TestLocalSqsServer::create(const QString &queue, const QMap<QString, QString> &attributes)
{
    const SqsReply reply = m_server->execute(CreateQueueRequest{queue, attributes, {}});
    QVERIFY(std::holds_alternative<SqsResult>(reply));
}

Reply TestLocalSqsServer::call(const QByteArray &operation, const QByteArray &body, const QByteArray &headers)
{
    return HttpProbe(m_port).call(operation, body, headers);
}

Reply TestLocalSqsServer::query(const QByteArray &form, const QByteArray &path, const QByteArray &headers)
{
    HttpProbe client(m_port);
    client.write(client.form(form, headers, path));
    return client.reply();
}

QString TestLocalSqsServer::depth(const QString &queue)
{
    const QJsonObject all = call("GetQueueAttributes", on(queue, {{u"AttributeNames"_s, QJsonArray{u"All"_s}}}))
                                .json()
                                .value("Attributes"_L1)
                                .toObject();
    return u"%1/%2/%3"_s.arg(all.value("ApproximateNumberOfMessages"_L1).toString(),
                             all.value("ApproximateNumberOfMessagesNotVisible"_L1).toString(),
                             all.value("ApproximateNumberOfMessagesDelayed"_L1).toString());
}

// ---- the protocol -----------------------------------------------------------------------------------------

void TestLocalSqsServer::sendReceiveDelete()
{
    HttpProbe client(m_port);
    const Reply sent = client.call("SendMessage", sendOne(u"héllo"_s));
    QCOMPARE(sent.status, 200);
    QCOMPARE(sent.headers.value("content-type"), "application/x-amz-json-1.0"_ba);
    QCOMPARE(sent.headers.value("x-amzn-requestid").size(), 36);
    QVERIFY(sent.headers.contains("date"));
    QCOMPARE(sent.json().keys(), QStringList({u"MD5OfMessageBody"_s, u"MessageId"_s}));
    QCOMPARE(sent.json().value("MD5OfMessageBody"_L1), u"be50e8478cf24ff3595bc7307fb91b50"_s);

    const Reply received = client.call("ReceiveMessage", receiveSome());
    QCOMPARE(received.status, 200);
    QCOMPARE(messagesOf(received).size(), 1);
    const QJsonObject message = messagesOf(received).at(0).toObject();
    QCOMPARE(message.keys(), QStringList({u"Body"_s, u"MD5OfBody"_s, u"MessageId"_s, u"ReceiptHandle"_s}));
    QCOMPARE(message.value("Body"_L1), u"héllo"_s);
    QCOMPARE(message.value("MD5OfBody"_L1), u"be50e8478cf24ff3595bc7307fb91b50"_s);
    QCOMPARE(message.value("MessageId"_L1), sent.json().value("MessageId"_L1));

    const Reply empty = client.call("ReceiveMessage", receiveSome());
    QCOMPARE(empty.status, 200);
    QCOMPARE(empty.body, "{}"_ba);

    const Reply deleted = client.call("DeleteMessage", on(u"q"_s, {{u"ReceiptHandle"_s, handleOf(received)}}));
    QCOMPARE(deleted.status, 200);
    QCOMPARE(deleted.body, "{}"_ba);
    QCOMPARE(depth(), u"0/0/0"_s);
}

void TestLocalSqsServer::messageAttributesAreFiltered()
{
    const QJsonObject attributes{
        {u"attempt"_s, QJsonObject{{u"DataType"_s, u"Number.int"_s}, {u"StringValue"_s, u"1"_s}}},
        {u"blob"_s, QJsonObject{{u"DataType"_s, u"Binary"_s}, {u"BinaryValue"_s, u"AP8="_s}}},
        {u"event_id"_s, QJsonObject{{u"DataType"_s, u"String"_s}, {u"StringValue"_s, u"evt-42"_s}}},
    };
    const Reply sent =
        call("SendMessage", on(u"q"_s, {{u"MessageBody"_s, u"a"_s}, {u"MessageAttributes"_s, attributes}}));
    QCOMPARE(sent.json().value("MD5OfMessageAttributes"_L1), u"526ac51008ab065632161c750ee1f5ea"_s);

    const auto receive = [this](const QJsonArray &names) {
        return messagesOf(call("ReceiveMessage",
                               on(u"q"_s, {{u"MessageAttributeNames"_s, names}, {u"VisibilityTimeout"_s, 0}})))
            .at(0)
            .toObject();
    };
    for (const QString &everything : {u"All"_s, u".*"_s, u"*"_s}) {
        const QJsonObject message = receive({everything});
        QCOMPARE(message.value("MessageAttributes"_L1).toObject(), attributes);
        QCOMPARE(message.value("MD5OfMessageAttributes"_L1), u"526ac51008ab065632161c750ee1f5ea"_s);
    }
    QCOMPARE(receive({u"event_id"_s, u"nothing"_s}).value("MessageAttributes"_L1).toObject().keys(),
             QStringList{u"event_id"_s});
    QCOMPARE(receive({u"b.*"_s}).value("MessageAttributes"_L1).toObject().keys(), QStringList{u"blob"_s});
    // The digest is of what is returned.
    QVERIFY(receive({u"blob"_s}).value("MD5OfMessageAttributes"_L1)
            != QJsonValue(u"526ac51008ab065632161c750ee1f5ea"_s));
    for (const QJsonArray &names : {QJsonArray{}, QJsonArray{u"nothing"_s}, QJsonArray{u"..illegal.."_s}}) {
        const QJsonObject message = receive(names);
        QVERIFY(!message.contains("MessageAttributes"_L1));
        QVERIFY(!message.contains("MD5OfMessageAttributes"_L1));
    }
}

void TestLocalSqsServer::systemAttributesByBothLists()
{
    call("SendMessage", on(u"q"_s, {{u"MessageBody"_s, u"a"_s}, {u"MessageGroupId"_s, u"tenant"_s}}));
    const auto receive = [this](const QJsonArray &old, const QJsonArray &current) {
        return messagesOf(call("ReceiveMessage",
                               on(u"q"_s,
                                  {{u"AttributeNames"_s, old},
                                   {u"MessageSystemAttributeNames"_s, current},
                                   {u"VisibilityTimeout"_s, 0}})))
            .at(0)
            .toObject();
    };
    const QStringList all{u"ApproximateFirstReceiveTimestamp"_s, u"ApproximateReceiveCount"_s, u"MessageGroupId"_s,
                          u"SenderId"_s, u"SentTimestamp"_s};
    const QJsonObject attributes = receive({u"All"_s}, {}).value("Attributes"_L1).toObject();
    QCOMPARE(attributes.keys(), all);
    QCOMPARE(attributes.value("ApproximateReceiveCount"_L1), u"1"_s);
    QCOMPARE(attributes.value("MessageGroupId"_L1), u"tenant"_s);
    QCOMPARE(attributes.value("SentTimestamp"_L1).toString().size(), 13);
    QCOMPARE(receive({}, {u"All"_s}).value("Attributes"_L1).toObject().keys(), all);
    QCOMPARE(receive({u"SenderId"_s}, {u"SentTimestamp"_s}).value("Attributes"_L1).toObject().keys(),
             QStringList({u"SenderId"_s, u"SentTimestamp"_s}));
    QVERIFY(!receive({}, {}).contains("Attributes"_L1));
    QVERIFY(!receive({u"AWSTraceHeader"_s}, {}).contains("Attributes"_L1));
}

void TestLocalSqsServer::traceHeaderComesFromTheRequestToo()
{
    const QString trace = u"Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"_s;
    const Reply byHeader = call("SendMessage", sendOne(u"a"_s), "X-Amzn-Trace-Id: " + trace.toLatin1() + "\r\n");
    QCOMPARE(byHeader.json().value("MD5OfMessageSystemAttributes"_L1), u"5ae4d5d7636402d80f4eb6d213245a88"_s);
    const QJsonObject member{
        {u"AWSTraceHeader"_s, QJsonObject{{u"DataType"_s, u"String"_s}, {u"StringValue"_s, trace}}}};
    const Reply byMember =
        call("SendMessage", on(u"q"_s, {{u"MessageBody"_s, u"a"_s}, {u"MessageSystemAttributes"_s, member}}),
             "X-Amzn-Trace-Id: Root=other\r\n");
    QCOMPARE(byMember.json().value("MD5OfMessageSystemAttributes"_L1), u"5ae4d5d7636402d80f4eb6d213245a88"_s);
    const Reply received =
        call("ReceiveMessage",
             on(u"q"_s, {{u"MaxNumberOfMessages"_s, 2}, {u"AttributeNames"_s, QJsonArray{u"AWSTraceHeader"_s}}}));
    for (const QJsonValue &message : messagesOf(received))
        QCOMPARE(message.toObject().value("Attributes"_L1).toObject().value("AWSTraceHeader"_L1), trace);
}

void TestLocalSqsServer::batchesLeaveEmptyListsOut()
{
    const auto entries = [](const QJsonArray &list) { return on(u"q"_s, {{u"Entries"_s, list}}); };
    const Reply good = call("SendMessageBatch", entries({QJsonObject{{u"Id"_s, u"1"_s}, {u"MessageBody"_s, u"a"_s}}}));
    QCOMPARE(good.json().keys(), QStringList{u"Successful"_s});
    QCOMPARE(good.json().value("Successful"_L1).toArray().at(0).toObject().keys(),
             QStringList({u"Id"_s, u"MD5OfMessageBody"_s, u"MessageId"_s}));
    const Reply bad =
        call("DeleteMessageBatch", entries({QJsonObject{{u"Id"_s, u"1"_s}, {u"ReceiptHandle"_s, u"garbage"_s}}}));
    QCOMPARE(bad.status, 200);
    QCOMPARE(bad.json().keys(), QStringList{u"Failed"_s});
    const QJsonObject failed = bad.json().value("Failed"_L1).toArray().at(0).toObject();
    QCOMPARE(failed.value("Id"_L1), u"1"_s);
    QCOMPARE(failed.value("SenderFault"_L1), QJsonValue(true));
    QCOMPARE(failed.value("Code"_L1), u"ReceiptHandleIsInvalid"_s);
    QVERIFY(!failed.value("Message"_L1).toString().isEmpty());
    const Reply received = call("ReceiveMessage", receiveSome());
    const Reply visible = call(
        "ChangeMessageVisibilityBatch",
        entries(
            {QJsonObject{{u"Id"_s, u"v"_s}, {u"ReceiptHandle"_s, handleOf(received)}, {u"VisibilityTimeout"_s, 0}}}));
    QCOMPARE(visible.body, R"({"Successful":[{"Id":"v"}]})"_ba);
    QCOMPARE(depth(), u"1/0/0"_s);
    QCOMPARE(call("ListQueues", json({{u"QueueNamePrefix"_s, u"zzz"_s}})).body, "{}"_ba);
    QCOMPARE(call("GetQueueAttributes", on(u"q"_s)).body, "{}"_ba);
    QCOMPARE(call("SetQueueAttributes", on(u"q"_s, {{u"Attributes"_s, QJsonObject{{u"DelaySeconds"_s, u"0"_s}}}})).body,
             "{}"_ba);
}

void TestLocalSqsServer::errorsAreWrittenAsAmazonDoes()
{
    const Reply asked = call("SendMessage", sendOne(u"a"_s, u"none"_s), "x-amzn-query-mode: true\r\n");
    QCOMPARE(asked.status, 400);
    QCOMPARE(asked.headers.value("content-type"), "application/x-amz-json-1.0"_ba);
    QCOMPARE(asked.headers.value("x-amzn-query-error"), "AWS.SimpleQueueService.NonExistentQueue;Sender"_ba);
    QCOMPARE(asked.headers.value("x-amzn-requestid").size(), 36);
    QCOMPARE(asked.body,
             R"({"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"The specified queue does not exist."})"_ba);
    const Reply notAsked = call("SendMessage", sendOne(u"a"_s, u"none"_s));
    QVERIFY(!notAsked.headers.contains("x-amzn-query-error"));

    const Reply handle =
        call("DeleteMessage", on(u"q"_s, {{u"ReceiptHandle"_s, u"garbage"_s}}), "x-amzn-query-mode: true\r\n");
    QCOMPARE(handle.status, 404);
    QCOMPARE(handle.headers.value("x-amzn-query-error"), "ReceiptHandleIsInvalid;Sender"_ba);
    const Reply value =
        call("ReceiveMessage", on(u"q"_s, {{u"MaxNumberOfMessages"_s, 11}}), "x-amzn-query-mode: true\r\n");
    QCOMPARE(value.status, 400);
    QCOMPARE(value.headers.value("x-amzn-query-error"), "InvalidParameterValue;Sender"_ba);
    QCOMPARE(value.json().value("__type"_L1), u"com.amazonaws.sqs#InvalidParameterValueException"_s);
    call("PurgeQueue", on(u"q"_s));
    const Reply purge = call("PurgeQueue", on(u"q"_s));
    QCOMPARE(purge.status, 403);
}

void TestLocalSqsServer::operationsThatAreNotThere_data()
{
    QTest::addColumn<QByteArray>("operation");
    QTest::addColumn<QString>("type");
    const char *const unsupported[] = {"TagQueue", "UntagQueue", "ListQueueTags", "AddPermission", "RemovePermission"};
    for (const char *operation : unsupported)
        QTest::newRow(operation) << QByteArray(operation) << u"com.amazonaws.sqs#UnsupportedOperation"_s;
    QTest::newRow("no operation of SQS") << "Foo"_ba << u"com.amazonaws.sqs#InvalidAction"_s;
    QTest::newRow("case matters") << "sendmessage"_ba << u"com.amazonaws.sqs#InvalidAction"_s;
    QTest::newRow("empty") << ""_ba << u"com.amazonaws.sqs#InvalidAction"_s;
}

void TestLocalSqsServer::operationsThatAreNotThere()
{
    QFETCH(QByteArray, operation);
    QFETCH(QString, type);
    const Reply reply = call(operation, on(u"q"_s));
    QCOMPARE(reply.status, 400);
    QCOMPARE(reply.json().value("__type"_L1), type);
    QVERIFY(reply.json().value("message"_L1).toString().contains(QString::fromLatin1(operation)));
}

void TestLocalSqsServer::malformedMembers_data()
{
    QTest::addColumn<QByteArray>("operation");
    QTest::addColumn<QByteArray>("body");
    QTest::newRow("no JSON") << "SendMessage"_ba
                             << "{"_ba;
    QTest::newRow("a list") << "SendMessage"_ba
                            << "[]"_ba;
    QTest::newRow("invalid UTF-8") << "SendMessage"_ba
                                   << "{\"QueueUrl\":\"q\",\"MessageBody\":\"\xff\"}"_ba;
    QTest::newRow("number as body") << "SendMessage"_ba
                                    << R"({"QueueUrl":"q","MessageBody":1})"_ba;
    QTest::newRow("delay as text") << "SendMessage"_ba
                                   << R"({"QueueUrl":"q","MessageBody":"a","DelaySeconds":"1"})"_ba;
    QTest::newRow("delay with a fraction") << "SendMessage"_ba
                                           << R"({"QueueUrl":"q","MessageBody":"a","DelaySeconds":1.5})"_ba;
    QTest::newRow("delay beyond int") << "SendMessage"_ba
                                      << R"({"QueueUrl":"q","MessageBody":"a","DelaySeconds":1e10})"_ba;
    QTest::newRow("attributes as list") << "SendMessage"_ba
                                        << R"({"QueueUrl":"q","MessageBody":"a","MessageAttributes":[1]})"_ba;
    QTest::newRow("attribute as text") << "SendMessage"_ba
                                       << R"({"QueueUrl":"q","MessageBody":"a","MessageAttributes":{"x":"y"}})"_ba;
    QTest::newRow("broken base64")
        << "SendMessage"_ba
        << R"({"QueueUrl":"q","MessageBody":"a","MessageAttributes":{"x":{"DataType":"Binary","BinaryValue":"%"}}})"_ba;
    QTest::newRow("queue attribute as number") << "CreateQueue"_ba
                                               << R"({"QueueName":"n","Attributes":{"DelaySeconds":1}})"_ba;
    QTest::newRow("names as text") << "GetQueueAttributes"_ba
                                   << R"({"QueueUrl":"q","AttributeNames":"All"})"_ba;
    QTest::newRow("number among names") << "GetQueueAttributes"_ba
                                        << R"({"QueueUrl":"q","AttributeNames":["All",1]})"_ba;
    QTest::newRow("entries as object") << "SendMessageBatch"_ba
                                       << R"({"QueueUrl":"q","Entries":{}})"_ba;
    QTest::newRow("text among entries") << "SendMessageBatch"_ba
                                        << R"({"QueueUrl":"q","Entries":["a"]})"_ba;
}

void TestLocalSqsServer::malformedMembers()
{
    QFETCH(QByteArray, operation);
    QFETCH(QByteArray, body);
    const Reply reply = call(operation, body);
    QCOMPARE(reply.status, 400);
    QCOMPARE(reply.json().value("__type"_L1), u"com.amazonaws.sqs#SerializationException"_s);
    QCOMPARE(depth(), u"0/0/0"_s);
}

void TestLocalSqsServer::unknownMembersAndNullsAreIgnored()
{
    const Reply sent =
        call("SendMessage",
             R"({"QueueUrl":"q","MessageBody":"a","DelaySeconds":null,"MessageAttributes":null,"New":{"x":[1]}})");
    QCOMPARE(sent.status, 200);
    QCOMPARE(call("ListQueues", "").status, 200);
    QCOMPARE(call("SendMessage", R"({"QueueUrl":"q","MessageBody":null})").json().value("message"_L1),
             u"The request must contain the parameter MessageBody."_s);
    QCOMPARE(call("SendMessage", R"({"MessageBody":"a"})").json().value("message"_L1),
             u"The request must contain the parameter QueueUrl."_s);
}

void TestLocalSqsServer::queueUrlShapes_data()
{
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<QString>("url");
    QTest::addColumn<QString>("error");
    const QString none = u"com.amazonaws.sqs#QueueDoesNotExist"_s;
    QTest::newRow("our own") << "/"_ba << u"http://127.0.0.1:9324/000000000000/q"_s << QString();
    QTest::newRow("another host and account")
        << "/"_ba << u"https://sqs.eu-west-1.amazonaws.com/123456789012/q"_s << QString();
    QTest::newRow("LocalStack's path") << "/"_ba << u"http://localhost:4566/queue/us-east-1/000000000000/q"_s
                                       << QString();
    QTest::newRow("ElasticMQ's path") << "/"_ba << u"http://localhost:9324/queue/q"_s << QString();
    QTest::newRow("bare name") << "/"_ba << u"q"_s << QString();
    QTest::newRow("percent-encoded") << "/"_ba << u"http://x/000000000000/%71"_s << QString();
    QTest::newRow("by path") << "/000000000000/q"_ba << QString() << QString();
    QTest::newRow("by path, any account") << "/1/q"_ba << QString() << QString();
    QTest::newRow("by path, LocalStack's") << "/queue/us-east-1/000000000000/q"_ba << QString() << QString();
    QTest::newRow("by path, ElasticMQ's") << "/queue/q"_ba << QString() << QString();
    QTest::newRow("by path, bare name") << "/q"_ba << QString() << QString();
    QTest::newRow("member beats path") << "/000000000000/none"_ba << u"q"_s << QString();
    QTest::newRow("member beats path, missing") << "/000000000000/q"_ba << u"none"_s << none;
    QTest::newRow("nothing") << "/"_ba << QString() << u"com.amazonaws.sqs#MissingRequiredParameterException"_s;
    QTest::newRow("no name at the end") << "/"_ba << u"http://x/000000000000/"_s
                                        << u"com.amazonaws.sqs#InvalidAddress"_s;
    QTest::newRow("case matters") << "/"_ba << u"Q"_s << none;
    QTest::newRow("path by path") << "/"_ba << u"../../q"_s << QString();
}

void TestLocalSqsServer::queueUrlShapes()
{
    QFETCH(QByteArray, path);
    QFETCH(QString, url);
    QFETCH(QString, error);
    HttpProbe client(m_port);
    QJsonObject members{{u"MessageBody"_s, u"a"_s}};
    if (!url.isEmpty())
        members.insert("QueueUrl"_L1, url);
    client.write(client.request("SendMessage", json(members), {}, path));
    const Reply reply = client.reply();
    QCOMPARE(reply.json().value("__type"_L1).toString(), error);
    QCOMPARE(depth(), error.isEmpty() ? u"1/0/0"_s : u"0/0/0"_s);
    // The same in the query protocol.
    QByteArray form = "Action=SendMessage&MessageBody=a";
    if (!url.isEmpty())
        form += "&QueueUrl=" + url.toUtf8().toPercentEncoding();
    QCOMPARE(query(form, path).status, reply.status);
    QCOMPARE(depth(), error.isEmpty() ? u"2/0/0"_s : u"0/0/0"_s);
}

void TestLocalSqsServer::queueUrlsNameTheHostThatWasAsked()
{
    HttpProbe client(m_port);
    const QByteArray localhost = "localhost:" + QByteArray::number(m_port);
    client.write(client.request("GetQueueUrl", json({{u"QueueName"_s, u"q"_s}})).replace(client.host(), localhost));
    QCOMPARE(client.reply().json().value("QueueUrl"_L1).toString(),
             u"http://%1/000000000000/q"_s.arg(QString::fromLatin1(localhost)));
    const Reply created = client.call("CreateQueue", json({{u"QueueName"_s, u"another"_s}}));
    const QString base = u"http://%1/000000000000/"_s.arg(QString::fromLatin1(client.host()));
    QCOMPARE(created.json().value("QueueUrl"_L1).toString(), base + u"another"_s);
    QCOMPARE(client.call("ListQueues", "{}").json().value("QueueUrls"_L1).toArray(),
             QJsonArray({base + u"another"_s, base + u"q"_s}));
    // On a queue's own path only what is about that queue.
    for (const char *operation : {"ListQueues", "CreateQueue"}) {
        client.write(client.request(operation, "{}", {}, "/000000000000/q"));
        const Reply refused = client.reply();
        QCOMPARE(refused.json().value("__type"_L1), u"com.amazonaws.sqs#InvalidAction"_s);
        QCOMPARE(refused.json().value("message"_L1),
                 u"The action %1 is not valid for this endpoint."_s.arg(QLatin1StringView(operation)));
    }
    client.write(client.request("GetQueueUrl", json({{u"QueueName"_s, u"q"_s}}), {}, "/000000000000/q"));
    QCOMPARE(client.reply().status, 200);
}

void TestLocalSqsServer::textOfEveryKindComesBackUnchanged()
{
    const QStringList texts{u"a b&c=é\n"_s,
                            u"\t\r\n\"\\/<>&"_s,
                            u"\U0001F600\U0010FFFD\uFFFD"_s,
                            u"{\"json\":\"\\u00e9\"}"_s,
                            u"\u2028\u2029\u202e"_s,
                            u"\uFEFFx\"\uFEFF\\\uFEFF"_s,
                            u"\uFEFF"_s,
                            QString(1048576, u'x')};
    HttpProbe client(m_port);
    for (const QString &text : texts) {
        QCOMPARE(client.call("SendMessage", sendOne(text)).status, 200);
        QCOMPARE(bodiesOf(client.call("ReceiveMessage", receiveSome())), QStringList{text});
    }
    // boto3 writes everything outside ASCII as \u, and pairs of them.
    client.call("SendMessage", R"({"QueueUrl":"q","MessageBody":"\u00e9\ud83d\ude00"})");
    QCOMPARE(bodiesOf(client.call("ReceiveMessage", receiveSome())), QStringList{u"é\U0001F600"_s});
    const Reply lone = client.call("SendMessage", R"({"QueueUrl":"q","MessageBody":"\ud83d"})");
    QCOMPARE(lone.json().value("__type"_L1), u"com.amazonaws.sqs#InvalidMessageContents"_s);
}

void TestLocalSqsServer::queryProtocol()
{
    const Reply sent = query("Action=SendMessage&Version=2012-11-05&QueueUrl=http%3A%2F%2Fx%2F000000000000%2Fq&"
                             "MessageBody=h%C3%A9llo");
    QCOMPARE(sent.status, 200);
    QCOMPARE(sent.headers.value("content-type"), "text/xml"_ba);
    QCOMPARE(sent.headers.value("x-amzn-requestid").size(), 36);
    QVERIFY(sent.body.contains("<RequestId>" + sent.headers.value("x-amzn-requestid") + "</RequestId>"));
    QVERIFY(sent.body.contains("<MD5OfMessageBody>be50e8478cf24ff3595bc7307fb91b50</MD5OfMessageBody>"));

    const Reply received = query("Action=ReceiveMessage&AttributeName.1=ApproximateReceiveCount&"
                                 "MessageSystemAttributeName.1=SenderId&WaitTimeSeconds=20",
                                 "/000000000000/q");
    QCOMPARE(received.status, 200);
    QVERIFY(received.body.contains("<Body>héllo</Body><Attribute><Name>ApproximateReceiveCount</Name><Value>1</Value>"
                                   "</Attribute><Attribute><Name>SenderId</Name>"));
    const qsizetype begin = received.body.indexOf("<ReceiptHandle>") + 15;
    const QByteArray handle = received.body.mid(begin, received.body.indexOf('<', begin) - begin);
    QVERIFY(query("Action=DeleteMessage&QueueUrl=q&ReceiptHandle=" + handle)
                .body.startsWith("<?xml version=\"1.0\"?><DeleteMessageResponse "));
    QCOMPARE(depth(), u"0/0/0"_s);

    // A long poll, and what comes by the other protocol.
    HttpProbe waiting(m_port);
    waiting.write(waiting.form("Action=ReceiveMessage&QueueUrl=q&WaitTimeSeconds=20"));
    QTRY_COMPARE(m_server->longPollCount(), 1);
    call("SendMessage", sendOne(u"json"_s));
    QVERIFY(waiting.reply().body.contains("<Body>json</Body>"));
}

void TestLocalSqsServer::queryByUrl()
{
    HttpProbe client(m_port);
    const auto get = [&client](const QByteArray &target) {
        client.write("GET " + target + " HTTP/1.1\r\nHost: " + client.host() + "\r\n\r\n");
        return client.reply();
    };
    QCOMPARE(get("/000000000000/q?Action=SendMessage&MessageBody=a+b").status, 200);
    QVERIFY(get("/?Action=ReceiveMessage&QueueUrl=q").body.contains("<Body>a b</Body>"));
    QVERIFY(get("/queue/us-east-1/000000000000/q?Action=GetQueueUrl&QueueName=q")
                .body.contains("<QueueUrl>http://" + client.host() + "/000000000000/q</QueueUrl>"));
    const Reply list = get("/000000000000/q?Action=ListQueues");
    QCOMPARE(list.status, 400);
    QVERIFY(list.body.contains("<Code>InvalidAction</Code><Message>The action ListQueues is not valid for this "
                               "endpoint.</Message>"));
    // Parameters in the URL of a POST, the body being something else.
    client.write("POST /q?Action=SendMessage&MessageBody=url HTTP/1.1\r\nHost: " + client.host()
                 + "\r\nContent-Length: 0\r\n\r\n");
    QCOMPARE(client.reply().status, 200);
    HttpProbe head(m_port);
    head.write("DELETE /q?Action=DeleteQueue HTTP/1.1\r\nHost: " + head.host() + "\r\n\r\n");
    QCOMPARE(head.reply().status, 405);
    QCOMPARE(depth(), u"1/1/0"_s);
}

void TestLocalSqsServer::queryErrors()
{
    const Reply none = query("Action=SendMessage&QueueUrl=none&MessageBody=a");
    QCOMPARE(none.status, 400);
    QCOMPARE(none.headers.value("content-type"), "text/xml"_ba);
    QVERIFY(!none.headers.contains("x-amzn-query-error"));
    QVERIFY(none.body.contains("<Code>AWS.SimpleQueueService.NonExistentQueue</Code><Message>The specified queue does "
                               "not exist for this wsdl version.</Message>"));
    QVERIFY(none.body.contains("<RequestId>" + none.headers.value("x-amzn-requestid") + "</RequestId>"));
    QCOMPARE(query("Action=DeleteMessage&QueueUrl=q&ReceiptHandle=garbage").status, 404);
    QCOMPARE(query("Action=PurgeQueue&QueueUrl=q").status, 200);
    const Reply purge = query("Action=PurgeQueue&QueueUrl=q");
    QCOMPARE(purge.status, 403);
    QVERIFY(purge.body.contains("<Code>AWS.SimpleQueueService.PurgeQueueInProgress</Code>"));
    QVERIFY(query("Action=Nonsense").body.contains("<Code>InvalidAction</Code>"));
    QCOMPARE(query("Nothing=Nonsense").status, 404);
}

void TestLocalSqsServer::otherProtocolsAreAnswered()
{
    HttpProbe client(m_port);
    client.write("GET /000000000000/q HTTP/1.1\r\nHost: " + client.host() + "\r\n\r\n");
    const Reply get = client.reply();
    QCOMPARE(get.status, 404);
    QCOMPARE(get.body, "<UnknownOperationException/>"_ba);
    client.write("POST / HTTP/1.1\r\nHost: " + client.host()
                 + "\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n\r\n{}");
    QCOMPARE(client.reply().json().value("__type"_L1), u"com.amazonaws.sqs#InvalidAction"_s);
    client.write(client.request("ListQueues", "{}").replace("POST", "PUT "));
    QCOMPARE(client.reply().status, 400); // "PUT  /" has a blank too many
    HttpProbe put(m_port);
    put.write(put.request("ListQueues", "{}").replace("POST ", "PUT "));
    QCOMPARE(put.reply().status, 405);
}

// ---- who is let in ----------------------------------------------------------------------------------------

void TestLocalSqsServer::strangeHostsAreRefused_data()
{
    QTest::addColumn<QByteArray>("hosts"); // header lines; PORT stands for ours
    QTest::addColumn<bool>("good");
    QTest::newRow("127.0.0.1") << "Host: 127.0.0.1:PORT\r\n"_ba << true;
    QTest::newRow("localhost") << "Host: localhost:PORT\r\n"_ba << true;
    QTest::newRow("LOCALHOST") << "host: LOCALHOST:PORT\r\n"_ba << true;
    QTest::newRow("[::1]") << "Host: [::1]:PORT\r\n"_ba << true;
    QTest::newRow("evil.com") << "Host: evil.com\r\n"_ba << false;
    QTest::newRow("evil.com, our port") << "Host: evil.com:PORT\r\n"_ba << false;
    QTest::newRow("rebound name") << "Host: 127.0.0.1.nip.io:PORT\r\n"_ba << false;
    QTest::newRow("localhost.evil.com") << "Host: localhost.evil.com:PORT\r\n"_ba << false;
    QTest::newRow("another port") << "Host: 127.0.0.1:1\r\n"_ba << false;
    QTest::newRow("no port") << "Host: 127.0.0.1\r\n"_ba << false;
    QTest::newRow("0.0.0.0") << "Host: 0.0.0.0:PORT\r\n"_ba << false;
    QTest::newRow("another loopback address") << "Host: 127.0.0.2:PORT\r\n"_ba << false;
    QTest::newRow("host.docker.internal") << "Host: host.docker.internal:PORT\r\n"_ba << false;
    QTest::newRow("with a user") << "Host: x@127.0.0.1:PORT\r\n"_ba << false;
    QTest::newRow("empty") << "Host:\r\n"_ba << false;
    QTest::newRow("missing") << ""_ba << false;
    QTest::newRow("twice") << "Host: 127.0.0.1:PORT\r\nHost: 127.0.0.1:PORT\r\n"_ba << false;
    QTest::newRow("good, then evil") << "Host: 127.0.0.1:PORT\r\nHost: evil.com\r\n"_ba << false;
}

void TestLocalSqsServer::strangeHostsAreRefused()
{
    QFETCH(QByteArray, hosts);
    QFETCH(bool, good);
    hosts.replace("PORT", QByteArray::number(m_port));
    HttpProbe client(m_port);
    client.write(client.request("SendMessage", sendOne(u"a"_s)).replace("Host: " + client.host() + "\r\n", hosts));
    QCOMPARE(client.reply().status, good ? 200 : 403);
    QCOMPARE(depth(), good ? u"1/0/0"_s : u"0/0/0"_s);
    HttpProbe form(m_port);
    form.write(
        form.form("Action=SendMessage&QueueUrl=q&MessageBody=a").replace("Host: " + form.host() + "\r\n", hosts));
    QCOMPARE(form.reply().status, good ? 200 : 403);
    HttpProbe get(m_port);
    get.write("GET /000000000000/q?Action=SendMessage&MessageBody=a HTTP/1.1\r\n" + hosts + "\r\n");
    QCOMPARE(get.reply().status, good ? 200 : 403);
    QCOMPARE(depth(), good ? u"3/0/0"_s : u"0/0/0"_s);
    HttpProbe id(m_port);
    id.write("GET /_sendonce/id HTTP/1.1\r\n" + hosts + "\r\n");
    QCOMPARE(id.reply().status, good ? 200 : 403);
}

void TestLocalSqsServer::webPagesAreRefused_data()
{
    QTest::addColumn<QByteArray>("method"); // or the query protocol
    QTest::addColumn<QByteArray>("header");
    for (const char *method : {"POST", "GET", "OPTIONS", "PUT", "DELETE", "HEAD", "form", "URL", "plain text"}) {
        for (const char *header : {"Origin: http://evil.com", "Origin: null", "Origin:", "Sec-Fetch-Site: cross-site",
                                   "Sec-Fetch-Site: none", "sec-fetch-site: same-origin", "Referer: http://evil.com/"})
            QTest::addRow("%s, %s", method, header) << QByteArray(method) << QByteArray(header) + "\r\n";
        QTest::addRow("%s, our own origin", method) << QByteArray(method) << "Origin: http://127.0.0.1:PORT\r\n"_ba;
    }
}

void TestLocalSqsServer::webPagesAreRefused()
{
    QFETCH(QByteArray, method);
    QFETCH(QByteArray, header);
    header.replace("PORT", QByteArray::number(m_port));
    HttpProbe client(m_port);
    const QByteArray form = "Action=SendMessage&QueueUrl=q&MessageBody=a";
    if (method == "form")
        client.write(client.form(form, header));
    else if (method == "plain text") // which a page may send anywhere without asking
        client.write(client.form(form, header).replace("application/x-www-form-urlencoded", "text/plain"));
    else if (method == "URL")
        client.write("GET /?" + form + " HTTP/1.1\r\nHost: " + client.host() + "\r\n" + header + "\r\n");
    else
        client.write(client.request("SendMessage", sendOne(u"a"_s), header).replace("POST ", method + ' '));
    const Reply reply = client.reply();
    QCOMPARE(reply.status, 403);
    for (const QByteArray &name : reply.headers.keys())
        QVERIFY(!name.startsWith("access-control"));
    QCOMPARE(depth(), u"0/0/0"_s);
}

void TestLocalSqsServer::listensOnLoopbackOnly()
{
    QFile table(u"/proc/net/tcp"_s);
    if (!table.open(QIODevice::ReadOnly))
        QSKIP("no /proc/net/tcp here");
    const QByteArray port = QByteArray::number(m_port, 16).toUpper().rightJustified(4, '0');
    int listeners = 0;
    for (const QByteArray &line : table.readAll().split('\n')) {
        const QList<QByteArray> fields = line.simplified().split(' ');
        if (fields.value(3) != "0A" || !fields.value(1).endsWith(':' + port))
            continue;
        ++listeners;
        QCOMPARE(fields.at(1), "0100007F:" + port);
    }
    QCOMPARE(listeners, 1);
}

void TestLocalSqsServer::saysItsId()
{
    HttpProbe client(m_port);
    client.write("GET /_sendonce/id HTTP/1.1\r\nHost: " + client.host() + "\r\n\r\n");
    const Reply reply = client.reply();
    QCOMPARE(reply.status, 200);
    QCOMPARE(reply.headers.value("content-type"), "application/json"_ba);
    QCOMPARE(reply.body, R"({"id":"an-id"})"_ba);
    client.write("GET /_sendonce/other HTTP/1.1\r\nHost: " + client.host() + "\r\n\r\n");
    QCOMPARE(client.reply().status, 404);
}

// ---- HTTP -------------------------------------------------------------------------------------------------

void TestLocalSqsServer::keepsTheConnection()
{
    HttpProbe client(m_port);
    for (int i = 0; i < 5; ++i) {
        const Reply reply = client.call("SendMessage", sendOne(u"a"_s));
        QCOMPARE(reply.status, 200);
        QVERIFY(!reply.headers.contains("connection"));
    }
    // An error is an answer like any other.
    QCOMPARE(client.call("SendMessage", sendOne(u""_s)).status, 400);
    QCOMPARE(client.call("SendMessage", sendOne(u"a"_s)).status, 200);
    QCOMPARE(m_server->connectionCount(), 1);
}

void TestLocalSqsServer::pipelinedRequestsAreAnsweredInOrder()
{
    HttpProbe client(m_port);
    QByteArray bytes;
    for (int i = 0; i < 20; ++i)
        bytes += client.request("SendMessage", sendOne(QString::number(i)));
    bytes += client.request("ReceiveMessage", receiveSome());
    bytes += client.request("ReceiveMessage", receiveSome());
    client.write(bytes);
    for (int i = 0; i < 20; ++i) {
        QCOMPARE(client.reply().json().value("MD5OfMessageBody"_L1).toString().toLatin1(),
                 QCryptographicHash::hash(QByteArray::number(i), QCryptographicHash::Md5).toHex());
    }
    QStringList bodies = bodiesOf(client.reply()) + bodiesOf(client.reply());
    QCOMPARE(bodies.size(), 20);
    QCOMPARE(bodies.removeDuplicates(), 0);
}

void TestLocalSqsServer::requestInSingleBytes()
{
    HttpProbe client(m_port);
    for (const char byte : client.request("SendMessage", sendOne(u"a"_s))) {
        client.write(QByteArray(1, byte));
        QCoreApplication::processEvents();
    }
    QCOMPARE(client.reply().status, 200);
    QCOMPARE(depth(), u"1/0/0"_s);
}

void TestLocalSqsServer::continuesWhenAsked()
{
    HttpProbe client(m_port);
    const QByteArray request = client.request("SendMessage", sendOne(u"a"_s), "Expect: 100-continue\r\n");
    const qsizetype head = request.indexOf("\r\n\r\n") + 4;
    client.write(request.first(head));
    QCOMPARE(client.reply().status, 100);
    client.write(request.sliced(head, 5));
    client.write(request.sliced(head + 5));
    QCOMPARE(client.reply().status, 200);
    QVERIFY(client.unread().isEmpty()); // said once
    // Who does not wait is not kept waiting.
    client.write(request);
    const Reply reply = client.reply();
    QCOMPARE(reply.status == 100 ? client.reply().status : reply.status, 200);
}

void TestLocalSqsServer::closesWhenAsked()
{
    m_limits.timeouts.drain = 60s; // not by running out of patience
    open();
    HttpProbe client(m_port);
    const Reply reply = client.call("SendMessage", sendOne(QString(300000, u'a')), "Connection: close\r\n");
    QCOMPARE(reply.status, 200);
    QCOMPARE(reply.headers.value("connection"), "close"_ba);
    QTRY_VERIFY(client.isClosed());
    QTRY_COMPARE(m_server->connectionCount(), 0);
    // All of a large reply arrives first.
    HttpProbe old(m_port);
    old.write(old.request("ReceiveMessage", receiveSome()).replace("HTTP/1.1", "HTTP/1.0"));
    QCOMPARE(bodiesOf(old.reply()), QStringList{QString(300000, u'a')});
    QTRY_VERIFY(old.isClosed());
}

void TestLocalSqsServer::malformedRequestsAreRefused()
{
    m_limits.timeouts.drain = 60s;
    open();
    const QByteArray requests[] = {
        "nonsense\r\n\r\n"_ba,
        "GET / HTTP/1.1\nHost: x\n\n"_ba,
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"_ba,
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"_ba,
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n"_ba,
    };
    for (const QByteArray &request : requests) {
        HttpProbe client(m_port);
        client.write(request + "GET /_sendonce/id HTTP/1.1\r\nHost: " + client.host() + "\r\n\r\n");
        const Reply reply = client.reply();
        QCOMPARE(reply.status, 400);
        QCOMPARE(reply.headers.value("connection"), "close"_ba);
        QTRY_VERIFY(client.isClosed());
        QVERIFY(client.unread().isEmpty()); // what came behind it was not looked at
    }
    HttpProbe large(m_port);
    large.write("POST / HTTP/1.1\r\nHost: " + large.host() + "\r\nContent-Length: 4000000\r\n\r\n"
                + QByteArray(200000, 'x'));
    QCOMPARE(large.reply().status, 413);
    QCOMPARE(call("SendMessage", sendOne(u"a"_s)).status, 200);
}

void TestLocalSqsServer::silentConnectionsAreClosed()
{
    m_limits.timeouts.idle = m_limits.timeouts.request = 100ms;
    open();
    HttpProbe silent(m_port);
    HttpProbe used(m_port);
    QCOMPARE(used.call("ListQueues", "{}").status, 200);
    HttpProbe waiting(m_port);
    waiting.ask("ReceiveMessage", receiveSome(20));
    QTRY_COMPARE(m_server->longPollCount(), 1);
    HttpProbe later(m_port);
    QTRY_VERIFY(silent.isClosed());
    QTRY_VERIFY(used.isClosed());
    QTRY_VERIFY(later.isClosed());
    QVERIFY(used.unread().isEmpty());
    // A long poll is no silence.
    QVERIFY(!waiting.isClosed());
    QCOMPARE(m_server->longPollCount(), 1);
}

void TestLocalSqsServer::slowRequestsAreCut()
{
    m_limits.timeouts.request = 200ms;
    open();
    HttpProbe slow(m_port);
    const QByteArray request = slow.request("SendMessage", sendOne(QString(1000, u'a')));
    QElapsedTimer elapsed;
    elapsed.start();
    // A byte now and then does not help.
    for (qsizetype i = 0; i < request.size() && !slow.hasReply() && elapsed.elapsed() < 5000; ++i) {
        slow.write(request.sliced(i, 1));
        QTest::qWait(10);
    }
    QCOMPARE(slow.reply().status, 408);
    QTRY_VERIFY(slow.isClosed());
    QCOMPARE(depth(), u"0/0/0"_s);
}

void TestLocalSqsServer::connectionsAreLimitedBeyondLongPolls()
{
    m_limits.connections = 3;
    open();
    std::vector<std::unique_ptr<HttpProbe>> waiting;
    for (int i = 0; i < 5; ++i) {
        waiting.push_back(std::make_unique<HttpProbe>(m_port));
        waiting.back()->ask("ReceiveMessage", receiveSome(20));
        QTRY_COMPARE(m_server->longPollCount(), i + 1);
    }
    std::vector<std::unique_ptr<HttpProbe>> idle;
    for (int i = 0; i < 3; ++i) {
        idle.push_back(std::make_unique<HttpProbe>(m_port));
        QTRY_COMPARE(m_server->connectionCount(), 6 + i);
    }
    HttpProbe tooMany(m_port);
    QCOMPARE(tooMany.reply().status, 503);
    QTRY_VERIFY(tooMany.isClosed());
    // The others live, and when one leaves there is room again.
    QCOMPARE(idle[0]->call("ListQueues", "{}").status, 200);
    idle.clear();
    QTRY_COMPARE(m_server->connectionCount(), 5);
    QCOMPARE(call("ListQueues", "{}").status, 200);
}

void TestLocalSqsServer::limitsHoldForTheQueryProtocol()
{
    m_limits.connections = 3;
    m_limits.timeouts.idle = m_limits.timeouts.request = 200ms;
    open();
    const QByteArray send = "Action=SendMessage&QueueUrl=q&MessageBody=a";
    QCOMPARE(query(send, "/", "X-Long: " + QByteArray(16 * 1024, 'x') + "\r\n").status, 431);
    HttpProbe target(m_port);
    target.write("GET /?" + send + QByteArray(16 * 1024, 'a') + " HTTP/1.1\r\n");
    QCOMPARE(target.reply().status, 431);
    HttpProbe large(m_port);
    large.write("POST / HTTP/1.1\r\nHost: " + large.host()
                + "\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3300000\r\n\r\n" + send);
    QCOMPARE(large.reply().status, 413);
    HttpProbe slow(m_port);
    slow.write(slow.form(send).chopped(1));
    QCOMPARE(slow.reply().status, 408);
    QTRY_COMPARE(m_server->connectionCount(), 0);

    std::vector<std::unique_ptr<HttpProbe>> probes;
    for (int i = 0; i < 4; ++i) {
        probes.push_back(std::make_unique<HttpProbe>(m_port));
        probes.back()->write(probes.back()->form("Action=ReceiveMessage&QueueUrl=q&WaitTimeSeconds=20"));
        QTRY_COMPARE(m_server->longPollCount(), i + 1);
    }
    for (int i = 0; i < 3; ++i) {
        probes.push_back(std::make_unique<HttpProbe>(m_port));
        QTRY_COMPARE(m_server->connectionCount(), 5 + i);
    }
    HttpProbe tooMany(m_port);
    QCOMPARE(tooMany.reply().status, 503);
    // The silent ones are hung up on, the long polls are not.
    QTRY_COMPARE(m_server->connectionCount(), 4);
    QCOMPARE(m_server->longPollCount(), 4);
    QCOMPARE(depth(), u"0/0/0"_s);
}

void TestLocalSqsServer::lettersOfTwoBytesMakeAMebibyte()
{
    const auto sentWith = [this](qsizetype letters) {
        // As boto3 writes them, in one protocol and in the other.
        const Reply asJson =
            call("SendMessage", R"({"QueueUrl":"q","MessageBody":")" + QByteArray("\\u00e9").repeated(letters) + "\"}");
        const Reply asForm =
            query("Action=SendMessage&QueueUrl=q&MessageBody=" + QByteArray("%C3%A9").repeated(letters));
        return QPair(asJson.status, asForm.status);
    };
    QCOMPARE(sentWith(524288), QPair(200, 200));
    QCOMPARE(sentWith(524289), QPair(400, 400));
    const Reply got = query("Action=ReceiveMessage&QueueUrl=q&MaxNumberOfMessages=2");
    QCOMPARE(got.body.count("<MD5OfBody>a44e56b7f9cc48007439b40bd68183d1</MD5OfBody>"), 2);
    QCOMPARE(got.body.count("é"), 1048576);
}

void TestLocalSqsServer::withoutDescriptorsItWaits()
{
    call("ListQueues", "{}"); // QTcpServer takes every later error for its first one, which is "nobody more to accept"
    QTRY_COMPARE(m_server->connectionCount(), 0);
    // The clients' ends first, then a limit that leaves the server too few for theirs.
    int clients[20];
    for (int &client : clients)
        client = ::socket(AF_INET, SOCK_STREAM, 0);
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    rlimit scarce = before;
    scarce.rlim_cur = rlim_t(clients[19]) + 10;
    ::setrlimit(RLIMIT_NOFILE, &scarce);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(m_port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (const int client : clients)
        QCOMPARE(::connect(client, reinterpret_cast<const sockaddr *>(&address), sizeof address), 0);
    QTRY_COMPARE(m_server->connectionCount(), 9);
    syscalls::acceptsWithoutDescriptor = 0;
    int rounds = 0;
    QVERIFY(HttpProbe::waitFor([&rounds] { return ++rounds == 20; }));
    QVERIFY(syscalls::acceptsWithoutDescriptor <= 1); // not again and again
    for (const int client : clients)
        ::close(client);
    QTRY_COMPARE(m_server->connectionCount(), 0);
    QCOMPARE(call("SendMessage", sendOne(u"a"_s)).status, 200);
    ::setrlimit(RLIMIT_NOFILE, &before);
}

// ---- long polls -------------------------------------------------------------------------------------------

void TestLocalSqsServer::longPollWakesOnSend()
{
    HttpProbe waiting(m_port);
    waiting.ask("ReceiveMessage", receiveSome(20));
    QTRY_COMPARE(m_server->longPollCount(), 1);
    QCOMPARE(call("SendMessage", sendOne(u"a"_s)).status, 200);
    QCOMPARE(bodiesOf(waiting.reply(1000)), QStringList{u"a"_s});
    QCOMPARE(m_server->longPollCount(), 0);
    // What is there already is handed out without waiting.
    call("SendMessage", sendOne(u"b"_s));
    QCOMPARE(bodiesOf(waiting.call("ReceiveMessage", receiveSome(20))), QStringList{u"b"_s});
    // The queue's own wait counts when the call brings none.
    call("SetQueueAttributes",
         on(u"q"_s, {{u"Attributes"_s, QJsonObject{{u"ReceiveMessageWaitTimeSeconds"_s, u"20"_s}}}}));
    waiting.ask("ReceiveMessage", on(u"q"_s));
    QTRY_COMPARE(m_server->longPollCount(), 1);
}

void TestLocalSqsServer::longPollEndsEmpty()
{
    HttpProbe waiting(m_port);
    QElapsedTimer elapsed;
    elapsed.start();
    const Reply reply = waiting.call("ReceiveMessage", receiveSome(1));
    QCOMPARE(reply.status, 200);
    QCOMPARE(reply.body, "{}"_ba);
    QVERIFY(elapsed.elapsed() >= 990);
    QVERIFY(elapsed.elapsed() < 3000);
    QCOMPARE(waiting.call("ListQueues", "{}").status, 200); // the connection goes on
}

void TestLocalSqsServer::longPollWakesWhenSomethingBecomesVisible_data()
{
    QTest::addColumn<QString>("how");
    QTest::newRow("delay") << u"delay"_s;
    QTest::newRow("visibility") << u"visibility"_s;
    QTest::newRow("given back") << u"given back"_s;
}

void TestLocalSqsServer::longPollWakesWhenSomethingBecomesVisible()
{
    QFETCH(QString, how);
    QString handle;
    if (how == u"delay"_s) {
        call("SendMessage", on(u"q"_s, {{u"MessageBody"_s, u"a"_s}, {u"DelaySeconds"_s, 1}}));
    } else {
        call("SendMessage", sendOne(u"a"_s));
        const int timeout = how == u"visibility"_s ? 1 : 100;
        handle = handleOf(call("ReceiveMessage", on(u"q"_s, {{u"VisibilityTimeout"_s, timeout}})));
    }
    HttpProbe waiting(m_port);
    waiting.ask("ReceiveMessage", receiveSome(20));
    QTRY_COMPARE(m_server->longPollCount(), 1);
    if (how == u"given back"_s)
        call("ChangeMessageVisibility", on(u"q"_s, {{u"ReceiptHandle"_s, handle}, {u"VisibilityTimeout"_s, 0}}));
    QCOMPARE(bodiesOf(waiting.reply(3000)), QStringList{u"a"_s});
}

void TestLocalSqsServer::longPollOnTheDlqWakesOnRedrive()
{
    create(u"source"_s,
           {{u"RedrivePolicy"_s,
             u"{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:q\",\"maxReceiveCount\":1}"_s}});
    call("SendMessage", sendOne(u"a"_s, u"source"_s));
    call("ReceiveMessage", on(u"source"_s, {{u"VisibilityTimeout"_s, 1}}));
    // The DLQ's waiter came first, so it has been looked at already when the other one moves the message.
    HttpProbe onDlq(m_port);
    onDlq.ask(
        "ReceiveMessage",
        on(u"q"_s, {{u"WaitTimeSeconds"_s, 20}, {u"AttributeNames"_s, QJsonArray{u"DeadLetterQueueSourceArn"_s}}}));
    QTRY_COMPARE(m_server->longPollCount(), 1);
    HttpProbe onSource(m_port);
    onSource.ask("ReceiveMessage", receiveSome(20, u"source"_s));
    QTRY_COMPARE(m_server->longPollCount(), 2);
    const QJsonObject dead = messagesOf(onDlq.reply(3000)).at(0).toObject();
    QCOMPARE(dead.value("Body"_L1), u"a"_s);
    QCOMPARE(dead.value("Attributes"_L1).toObject().value("DeadLetterQueueSourceArn"_L1),
             u"arn:aws:sqs:us-east-1:000000000000:source"_s);
    QCOMPARE(m_server->longPollCount(), 1); // nothing for the other one
}

void TestLocalSqsServer::longPollEndsWithItsQueue()
{
    HttpProbe waiting(m_port);
    waiting.ask("ReceiveMessage", receiveSome(20));
    QTRY_COMPARE(m_server->longPollCount(), 1);
    call("DeleteQueue", on(u"q"_s));
    QCOMPARE(waiting.reply(1000).json().value("__type"_L1), u"com.amazonaws.sqs#QueueDoesNotExist"_s);
}

void TestLocalSqsServer::longPollsAreServedInTurn()
{
    std::vector<std::unique_ptr<HttpProbe>> waiting;
    for (int i = 0; i < 5; ++i) {
        waiting.push_back(std::make_unique<HttpProbe>(m_port));
        waiting.back()->ask("ReceiveMessage", receiveSome(20));
        QTRY_COMPARE(m_server->longPollCount(), i + 1);
    }
    for (int i = 0; i < 5; ++i) {
        call("SendMessage", sendOne(QString::number(i)));
        QCOMPARE(bodiesOf(waiting[size_t(i)]->reply(1000)), QStringList{QString::number(i)});
        QCOMPARE(m_server->longPollCount(), 4 - i);
    }
}

void TestLocalSqsServer::whoHungUpGetsNoMessage()
{
    auto gone = std::make_unique<HttpProbe>(m_port);
    gone->ask("ReceiveMessage", receiveSome(20));
    QTRY_COMPARE(m_server->longPollCount(), 1);
    gone.reset();
    QTRY_COMPARE(m_server->longPollCount(), 0);
    QCOMPARE(m_server->connectionCount(), 0);
    call("SendMessage", sendOne(u"a"_s));
    QCOMPARE(depth(), u"1/0/0"_s);
}

void TestLocalSqsServer::whoHangsUpInTheSameMomentGetsNoMessage_data()
{
    QTest::addColumn<bool>("reset");
    QTest::newRow("end of stream") << false;
    QTest::newRow("reset") << true;
}

void TestLocalSqsServer::whoHangsUpInTheSameMomentGetsNoMessage()
{
    QFETCH(bool, reset);
    const auto hangUp = [reset](HttpProbe &client) {
        const int socket = int(client.socket().socketDescriptor());
        if (reset) { // to no address and back: the other side gets a reset
            sockaddr none{};
            none.sa_family = AF_UNSPEC;
            ::connect(socket, &none, sizeof none);
        } else {
            ::shutdown(socket, SHUT_RDWR);
        }
    };
    HttpProbe gone(m_port);
    gone.ask("ReceiveMessage", receiveSome(20));
    QTRY_COMPARE(m_server->longPollCount(), 1);
    HttpProbe sender(m_port);
    sender.write({});
    QTRY_COMPARE(m_server->connectionCount(), 2);
    // When the turn with the message has begun: the kernel knows, the event loop does not.
    m_onClock = [&] { hangUp(gone); };
    sender.ask("SendMessage", sendOne(u"a"_s));
    QCOMPARE(sender.reply().status, 200);
    m_onClock = {};
    QCOMPARE(depth(), u"1/0/0"_s);
    QCOMPARE(m_server->longPollCount(), 0);
    // The same for a receive that need not wait.
    HttpProbe hurried(m_port);
    hurried.ask("ReceiveMessage", receiveSome());
    m_onClock = [&] { hangUp(hurried); };
    QTRY_COMPARE(m_server->connectionCount(), 1);
    m_onClock = {};
    QCOMPARE(depth(), u"1/0/0"_s);
}

void TestLocalSqsServer::tooManyLongPollsAreAnsweredAtOnce()
{
    m_limits.longPolls = 1;
    open();
    HttpProbe waiting(m_port);
    waiting.ask("ReceiveMessage", receiveSome(20));
    QTRY_COMPARE(m_server->longPollCount(), 1);
    QCOMPARE(call("ReceiveMessage", receiveSome(20)).body, "{}"_ba);
}

void TestLocalSqsServer::shutdownAnswersLongPolls()
{
    HttpProbe waiting(m_port);
    waiting.ask("ReceiveMessage", receiveSome(20));
    QTRY_COMPARE(m_server->longPollCount(), 1);
    m_server->close();
    const Reply reply = waiting.reply(1000);
    QCOMPARE(reply.status, 200);
    QCOMPARE(reply.body, "{}"_ba);
    QTRY_VERIFY(waiting.isClosed());
    m_server->close();
}

// ---- the store --------------------------------------------------------------------------------------------

void TestLocalSqsServer::answersAreWrittenFirst()
{
    using syscalls::Event;
    HttpProbe client(m_port);
    client.write({});
    const auto logOf = [&client](const QByteArray &operation, const QByteArray &body) {
        syscalls::log.clear();
        client.call(operation, body);
        return syscalls::log;
    };
    const auto isSyncedFirst = [](const QList<Event> &log) {
        // Written, synced, and nothing written behind the sync, before the reply.
        const qsizetype reply = log.indexOf(Event::Reply);
        return reply > 0 && log.lastIndexOf(Event::Sync, reply) == reply - 1 && log.first(reply).contains(Event::Write);
    };
    QVERIFY(isSyncedFirst(logOf("SendMessage", sendOne(u"a"_s))));
    QVERIFY(isSyncedFirst(logOf("SendMessage", sendOne(u"b"_s))));
    syscalls::log.clear();
    const Reply received = client.call("ReceiveMessage", on(u"q"_s));
    QVERIFY(!syscalls::log.contains(Event::Sync));
    QVERIFY(syscalls::log.indexOf(Event::Write) >= 0);
    QVERIFY(syscalls::log.indexOf(Event::Write) < syscalls::log.indexOf(Event::Reply));
    QVERIFY(isSyncedFirst(logOf("DeleteMessage", on(u"q"_s, {{u"ReceiptHandle"_s, handleOf(received)}}))));
    QVERIFY(isSyncedFirst(logOf("CreateQueue", json({{u"QueueName"_s, u"x"_s}}))));
    QVERIFY(isSyncedFirst(
        logOf("SetQueueAttributes", on(u"x"_s, {{u"Attributes"_s, QJsonObject{{u"DelaySeconds"_s, u"1"_s}}}}))));
    QVERIFY(isSyncedFirst(logOf("PurgeQueue", on(u"q"_s))));
    QVERIFY(isSyncedFirst(logOf("DeleteQueue", on(u"x"_s))));
    QCOMPARE(logOf("GetQueueUrl", json({{u"QueueName"_s, u"q"_s}})), QList{Event::Reply});
}

void TestLocalSqsServer::requestsOfOneRoundShareASync()
{
    std::vector<std::unique_ptr<HttpProbe>> clients;
    for (int i = 0; i < 8; ++i) {
        clients.push_back(std::make_unique<HttpProbe>(m_port));
        clients.back()->write({});
    }
    QTRY_COMPARE(m_server->connectionCount(), 8);
    syscalls::log.clear();
    for (const auto &client : clients)
        client->ask("SendMessage", sendOne(u"a"_s));
    for (const auto &client : clients)
        QCOMPARE(client->reply().status, 200);
    QCOMPARE(syscalls::log.count(syscalls::Event::Sync), 1);
    QCOMPARE(syscalls::log.count(syscalls::Event::Reply), 8);
    QCOMPARE(depth(), u"8/0/0"_s);
}

void TestLocalSqsServer::fullDiskAcknowledgesNothing()
{
    HttpProbe client(m_port);
    client.call("SendMessage", sendOne(u"held"_s));
    const QString handle = handleOf(client.call("ReceiveMessage", on(u"q"_s)));
    client.call("SendMessage", sendOne(u"kept"_s));

    syscalls::failWrites = ENOSPC;
    static int complaints;
    complaints = 0;
    const QtMessageHandler before =
        qInstallMessageHandler([](QtMsgType type, const QMessageLogContext &, const QString &text) {
            complaints += type == QtCriticalMsg && text.startsWith("cannot write queue.db: "_L1);
        });
    const std::pair<QByteArray, QByteArray> calls[] = {
        {"SendMessage"_ba, sendOne(u"lost"_s)},
        {"ReceiveMessage"_ba, receiveSome()},
        {"DeleteMessage"_ba, on(u"q"_s, {{u"ReceiptHandle"_s, handle}})},
        {"PurgeQueue"_ba, on(u"q"_s)},
        {"CreateQueue"_ba, json({{u"QueueName"_s, u"x"_s}})},
    };
    for (const auto &[operation, body] : calls) {
        const Reply reply = client.call(operation, body, "x-amzn-query-mode: true\r\n");
        QCOMPARE(reply.status, 500);
        QCOMPARE(reply.json().value("__type"_L1), u"com.amazonaws.sqs#InternalFailure"_s);
        QCOMPARE(reply.headers.value("x-amzn-query-error"), "InternalFailure;Receiver"_ba);
    }
    qInstallMessageHandler(before);
    QCOMPARE(complaints, 1); // not for every client that tries again
    QCOMPARE(depth(), u"1/1/0"_s); // and reading goes on
    QCOMPARE(client.call("GetQueueUrl", json({{u"QueueName"_s, u"x"_s}})).status, 400);

    syscalls::failWrites = 0;
    QTest::ignoreMessage(QtInfoMsg, QRegularExpression(u"queue.db can be written again"_s));
    QCOMPARE(client.call("DeleteMessage", on(u"q"_s, {{u"ReceiptHandle"_s, handle}})).status, 200);
    QCOMPARE(bodiesOf(client.call("ReceiveMessage", receiveSome())), QStringList{u"kept"_s});
    m_skew = {60000, 60000};
    open();
    QCOMPARE(bodiesOf(call("ReceiveMessage", receiveSome())), QStringList{u"kept"_s});
}

void TestLocalSqsServer::failingDiskAcknowledgesNothing_data()
{
    QTest::addColumn<bool>("inWrite");
    QTest::newRow("write") << true;
    QTest::newRow("sync") << false;
}

void TestLocalSqsServer::failingDiskAcknowledgesNothing()
{
    QFETCH(bool, inWrite);
    QCOMPARE(call("SendMessage", sendOne(u"before"_s)).status, 200);
    (inWrite ? syscalls::failWrites : syscalls::failSyncs) = EIO;
    QTest::ignoreMessage(QtCriticalMsg, QRegularExpression(u"cannot write queue.db: .*"_s));
    QCOMPARE(call("SendMessage", sendOne(u"lost"_s)).status, 500);
    QCOMPARE(call("SendMessage", sendOne(u"lost"_s)).status, 500);
    QCOMPARE(depth(), u"1/0/0"_s);
    syscalls::failWrites = syscalls::failSyncs = 0;
    QTest::ignoreMessage(QtInfoMsg, QRegularExpression(u"queue.db can be written again"_s));
    // A log that may have a hole is not relied on: what is in it goes to the database, with a sync, before the next
    // promise.
    syscalls::log.clear();
    QCOMPARE(call("SendMessage", sendOne(u"after"_s)).status, 200);
    QVERIFY(syscalls::log.count(syscalls::Event::Sync) >= 2);
    open();
    QCOMPARE(bodiesOf(call("ReceiveMessage", receiveSome())), QStringList({u"before"_s, u"after"_s}));
}

void TestLocalSqsServer::restartKeepsEverything()
{
    create(u"source"_s,
           {{u"RedrivePolicy"_s,
             u"{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:q\",\"maxReceiveCount\":1}"_s},
            {u"VisibilityTimeout"_s, u"77"_s}});
    const QJsonObject attributes{
        {u"blob"_s, QJsonObject{{u"DataType"_s, u"Binary.x"_s}, {u"BinaryValue"_s, u"AP8="_s}}},
        {u"mark"_s, QJsonObject{{u"DataType"_s, u"String"_s}, {u"StringValue"_s, u"\uFEFFx"_s}}},
        {u"n"_s, QJsonObject{{u"DataType"_s, u"Number"_s}, {u"StringValue"_s, u"1.50"_s}}}};
    call("SendMessage",
         on(u"source"_s,
            {{u"MessageBody"_s, u"dead é\U0001F600"_s},
             {u"MessageAttributes"_s, attributes},
             {u"MessageGroupId"_s, u"g"_s}}),
         "X-Amzn-Trace-Id: Root=1\r\n");
    call("ReceiveMessage", on(u"source"_s, {{u"VisibilityTimeout"_s, 0}}));
    call("ReceiveMessage", on(u"source"_s));
    QCOMPARE(depth(), u"1/0/0"_s);
    call("SendMessage", sendOne(u"in flight"_s, u"source"_s));
    const Reply inFlight = call("ReceiveMessage", on(u"source"_s, {{u"VisibilityTimeout"_s, 1000}}));
    call("SendMessage", on(u"source"_s, {{u"MessageBody"_s, u"delayed"_s}, {u"DelaySeconds"_s, 900}}));
    call("SendMessage", sendOne(u"deleted"_s, u"source"_s));
    const Reply deleted = call("ReceiveMessage", on(u"source"_s));
    call("DeleteMessage", on(u"source"_s, {{u"ReceiptHandle"_s, handleOf(deleted)}}));
    QCOMPARE(depth(u"source"_s), u"0/1/1"_s);
    const QByteArray all = on(u"source"_s, {{u"AttributeNames"_s, QJsonArray{u"All"_s}}});
    const QJsonObject attributesBefore = call("GetQueueAttributes", all).json();

    open();
    QCOMPARE(call("GetQueueAttributes", all).json(), attributesBefore);
    const Reply dead = call(
        "ReceiveMessage",
        on(u"q"_s, {{u"AttributeNames"_s, QJsonArray{u"All"_s}}, {u"MessageAttributeNames"_s, QJsonArray{u"All"_s}}}));
    const QJsonObject message = messagesOf(dead).at(0).toObject();
    QCOMPARE(message.value("Body"_L1), u"dead é\U0001F600"_s);
    QCOMPARE(message.value("MessageAttributes"_L1).toObject(), attributes);
    const QJsonObject system = message.value("Attributes"_L1).toObject();
    QCOMPARE(system.value("ApproximateReceiveCount"_L1), u"2"_s);
    QCOMPARE(system.value("DeadLetterQueueSourceArn"_L1), u"arn:aws:sqs:us-east-1:000000000000:source"_s);
    QCOMPARE(system.value("MessageGroupId"_L1), u"g"_s);
    QCOMPARE(system.value("AWSTraceHeader"_L1), u"Root=1"_s);
    // The handle from before is good.
    call("DeleteMessage", on(u"source"_s, {{u"ReceiptHandle"_s, handleOf(inFlight)}}));
    QCOMPARE(depth(u"source"_s), u"0/0/1"_s);
}

void TestLocalSqsServer::damagedFileIsSetAside_data()
{
    QTest::addColumn<QString>("how");
    QTest::newRow("garbage") << u"garbage"_s;
    QTest::newRow("cut short") << u"cut"_s;
    QTest::newRow("a page overwritten") << u"page"_s;
    QTest::newRow("another database") << u"foreign"_s;
    QTest::newRow("a queue's name changed") << u"name"_s;
    QTest::newRow("a queue's attributes changed") << u"attributes"_s;
}

void TestLocalSqsServer::damagedFileIsSetAside()
{
    QFETCH(QString, how);
    for (int i = 0; i < 50; ++i)
        call("SendMessage", sendOne(QString(2000, u'a')));
    m_server->close(); // all of it in one file
    QFile damaged(file());
    QVERIFY(damaged.open(QIODevice::ReadWrite));
    if (how == u"garbage"_s) {
        damaged.resize(0);
        damaged.write(QByteArray(5000, 'x'));
    } else if (how == u"cut"_s) {
        damaged.resize(damaged.size() / 2 / 4096 * 4096);
    } else if (how == u"page"_s) {
        for (qint64 at = 4096; at < damaged.size(); at += 4096) { // all but the first
            damaged.seek(at);
            damaged.write(QByteArray(64, '\xee'));
        }
    } else if (how == u"name"_s || how == u"attributes"_s) { // the structure is whole, a value is not
        const QByteArray all = damaged.readAll();
        const qsizetype attributes = all.indexOf("{\"DelaySeconds");
        const qsizetype name = attributes - 13; // two times of six bytes lie between
        QVERIFY(attributes > 0);
        QCOMPARE(all.at(name), 'q');
        damaged.seek(how == u"name"_s ? name : attributes);
        damaged.write("Q");
    } else {
        damaged.remove();
        QSqlDatabase other = QSqlDatabase::addDatabase(u"QSQLITE"_s, u"other"_s);
        other.setDatabaseName(file());
        QVERIFY(other.open());
        QVERIFY(QSqlQuery(other).exec(u"CREATE TABLE precious (x)"_s));
        other.close();
        other = {};
        QSqlDatabase::removeDatabase(u"other"_s);
        QVERIFY(damaged.open(QIODevice::ReadOnly));
    }
    damaged.seek(0);
    const QByteArray bytes = damaged.readAll();
    damaged.close();

    const QString aside = file() + u".damaged-"_s + QDateTime::currentDateTimeUtc().toString(u"yyyy-MM-dd"_s);
    const auto expectWarning = [](const QString &name) {
        QTest::ignoreMessage(QtWarningMsg,
                             QRegularExpression(u"queue\\.db was damaged \\(.+\\) and is kept as "_s
                                                + QRegularExpression::escape(name) + u";"_s));
    };
    expectWarning(aside);
    open();
    QFile kept(aside);
    QVERIFY(kept.open(QIODevice::ReadOnly));
    QCOMPARE(kept.readAll(), bytes);
    QCOMPARE(call("ListQueues", "{}").body, "{}"_ba);
    create(u"q"_s);
    QCOMPARE(call("SendMessage", sendOne(u"a"_s)).status, 200);

    // A second one of the same day has a name of its own.
    m_server->close();
    QVERIFY(damaged.open(QIODevice::WriteOnly));
    damaged.write(QByteArray(5000, 'y'));
    damaged.close();
    expectWarning(aside + u"-2"_s);
    open();
    QVERIFY(kept.seek(0));
    QCOMPARE(kept.readAll(), bytes);
}

void TestLocalSqsServer::newerFileIsLeftAlone()
{
    m_server->close();
    {
        QSqlDatabase newer = QSqlDatabase::addDatabase(u"QSQLITE"_s, u"newer"_s);
        newer.setDatabaseName(file());
        QVERIFY(newer.open());
        QVERIFY(QSqlQuery(newer).exec(u"PRAGMA user_version=3"_s));
    }
    QSqlDatabase::removeDatabase(u"newer"_s);
    LocalSqsServer server(u"x"_s);
    const auto opened = server.open(file());
    QVERIFY(!opened.ok());
    QCOMPARE(opened.error().kind, ErrorKind::Refused);
    QVERIFY(opened.error().text.contains(u"newer version"_s));
    QCOMPARE(QDir(m_folder->path()).entryList(QDir::Files).filter(u"damaged"_s).size(), 0);
}

void TestLocalSqsServer::olderFileIsTakenUp()
{
    call("SendMessage", sendOne(u"a"_s));
    m_server->close();
    {
        QSqlDatabase older = QSqlDatabase::addDatabase(u"QSQLITE"_s, u"older"_s);
        older.setDatabaseName(file());
        QVERIFY(older.open());
        for (const QString &sql : {u"DROP TABLE move_task"_s, u"PRAGMA user_version=1"_s})
            QVERIFY(QSqlQuery(older).exec(sql));
    }
    QSqlDatabase::removeDatabase(u"older"_s);
    open();
    QCOMPARE(m_server->warning(), QString());
    QCOMPARE(bodiesOf(call("ReceiveMessage", receiveSome())), QStringList{u"a"_s});
    open();
    QCOMPARE(depth(), u"0/1/0"_s);
}

// ---- move tasks -------------------------------------------------------------------------------------------

namespace {
const QString DeadArn = u"arn:aws:sqs:us-east-1:000000000000:dead"_s;
}

void TestLocalSqsServer::createDeadLetters(int messages)
{
    create(u"dead"_s);
    const QString policy = u"{\"deadLetterTargetArn\":\"%1\",\"maxReceiveCount\":1}"_s.arg(DeadArn);
    m_server->execute(SetQueueAttributesRequest{u"q"_s, {{u"RedrivePolicy"_s, policy}}});
    for (int i = 0; i < messages; i += 10) {
        SendMessageBatchRequest request;
        request.queue = u"q"_s;
        for (int j = i; j < std::min(i + 10, messages); ++j) {
            OutgoingMessage message;
            message.id = QString::number(j);
            message.body = u"message %1"_s.arg(j);
            request.entries += message;
        }
        m_server->execute(request);
    }
    ReceiveMessageRequest receive;
    receive.queue = u"q"_s;
    receive.maxNumberOfMessages = 10;
    receive.visibilityTimeout = 0;
    for (int i = 0; i < messages + 10; i += 10)
        m_server->execute(receive);
    QCOMPARE(depth(u"dead"_s), u"%1/0/0"_s.arg(messages));
}

QJsonObject TestLocalSqsServer::moveTask()
{
    return call("ListMessageMoveTasks", json({{u"SourceArn"_s, DeadArn}}))
        .json()
        .value("Results"_L1)
        .toArray()
        .at(0)
        .toObject();
}

void TestLocalSqsServer::moveTasksInBothProtocols()
{
    createDeadLetters(3);
    QCOMPARE(call("ListDeadLetterSourceQueues", on(u"dead"_s)).json().value("queueUrls"_L1).toArray().size(), 1);
    QVERIFY(
        query("Action=ListDeadLetterSourceQueues&QueueUrl=dead")
            .body.contains("<ListDeadLetterSourceQueuesResult><QueueUrl>http://127.0.0.1:" + QByteArray::number(m_port)
                           + "/000000000000/q</QueueUrl></ListDeadLetterSourceQueuesResult>"));
    QCOMPARE(call("ListMessageMoveTasks", json({{u"SourceArn"_s, DeadArn}})).body, "{}"_ba);

    const Reply started =
        call("StartMessageMoveTask", json({{u"SourceArn"_s, DeadArn}, {u"MaxNumberOfMessagesPerSecond"_s, 1}}));
    QCOMPARE(started.json().keys(), QStringList{u"TaskHandle"_s});
    const QByteArray handle = started.json().value("TaskHandle"_L1).toString().toLatin1();
    const QJsonObject running = moveTask();
    QCOMPARE(running.keys(),
             QStringList({u"ApproximateNumberOfMessagesMoved"_s, u"ApproximateNumberOfMessagesToMove"_s,
                          u"MaxNumberOfMessagesPerSecond"_s, u"SourceArn"_s, u"StartedTimestamp"_s, u"Status"_s,
                          u"TaskHandle"_s}));
    QCOMPARE(running.value("ApproximateNumberOfMessagesMoved"_L1), 1);
    QCOMPARE(running.value("ApproximateNumberOfMessagesToMove"_L1), 3);
    QVERIFY(qAbs(running.value("StartedTimestamp"_L1).toDouble() - double(QDateTime::currentMSecsSinceEpoch()))
            < 60000);
    const Reply xml = query("Action=ListMessageMoveTasks&MaxResults=10&SourceArn=" + DeadArn.toLatin1());
    QVERIFY(xml.body.contains(
        "<ListMessageMoveTasksResultEntry><TaskHandle>" + handle
        + "</TaskHandle><Status>RUNNING</Status><SourceArn>arn:aws:sqs:us-east-1:000000000000:dead</SourceArn>"
          "<MaxNumberOfMessagesPerSecond>1</MaxNumberOfMessagesPerSecond><ApproximateNumberOfMessagesMoved>1"
          "</ApproximateNumberOfMessagesMoved><ApproximateNumberOfMessagesToMove>3</ApproximateNumberOfMessagesToMove>"
          "<StartedTimestamp>"));
    const Reply twice = query("Action=StartMessageMoveTask&SourceArn=" + DeadArn.toLatin1());
    QCOMPARE(twice.status, 400);
    QVERIFY(twice.body.contains("<Code>InvalidParameterValue</Code>"));
    QVERIFY(query("Action=CancelMessageMoveTask&TaskHandle=" + handle.toPercentEncoding())
                .body.contains("<CancelMessageMoveTaskResult><ApproximateNumberOfMessagesMoved>1"
                               "</ApproximateNumberOfMessagesMoved></CancelMessageMoveTaskResult>"));
    QCOMPARE(moveTask().value("Status"_L1), u"CANCELLED"_s);

    const Reply elsewhere = query("Action=StartMessageMoveTask&MaxNumberOfMessagesPerSecond=500&SourceArn="
                                  + DeadArn.toLatin1() + "&DestinationArn=arn:aws:sqs:us-east-1:000000000000:q");
    QVERIFY(elsewhere.body.contains("<StartMessageMoveTaskResult><TaskHandle>"));
    QTRY_COMPARE(moveTask().value("Status"_L1), u"COMPLETED"_s);
    QCOMPARE(moveTask().value("DestinationArn"_L1), u"arn:aws:sqs:us-east-1:000000000000:q"_s);
    const Reply missing = call("StartMessageMoveTask", json({{u"SourceArn"_s, DeadArn + u'x'}}));
    QCOMPARE(missing.status, 404);
    QCOMPARE(missing.json().value("__type"_L1), u"com.amazonaws.sqs#ResourceNotFoundException"_s);
}

void TestLocalSqsServer::movedMessagesKeepTheirContent()
{
    createDeadLetters(0);
    const QJsonObject attributes{{u"blob"_s, QJsonObject{{u"DataType"_s, u"Binary"_s}, {u"BinaryValue"_s, u"AP8="_s}}}};
    const QString large = QString(1000000, u'x');
    for (const QString &body : {u"small"_s, large})
        call("SendMessage",
             on(u"q"_s,
                {{u"MessageBody"_s, body}, {u"MessageAttributes"_s, attributes}, {u"MessageGroupId"_s, u"g"_s}}));
    for (int i = 0; i < 2; ++i)
        call("ReceiveMessage", on(u"q"_s, {{u"VisibilityTimeout"_s, 0}, {u"MaxNumberOfMessages"_s, 10}}));
    QCOMPARE(depth(u"dead"_s), u"2/0/0"_s);
    open();
    call("StartMessageMoveTask", json({{u"SourceArn"_s, DeadArn}}));
    QTRY_COMPARE(moveTask().value("Status"_L1), u"COMPLETED"_s);
    // Whoever waits for messages is woken by a move, and what he gets is the whole message, now and after a restart.
    for (int i = 0; i < 2; ++i) {
        const QJsonArray got = messagesOf(call("ReceiveMessage",
                                               on(u"q"_s,
                                                  {{u"VisibilityTimeout"_s, 0},
                                                   {u"MaxNumberOfMessages"_s, 10},
                                                   {u"AttributeNames"_s, QJsonArray{u"All"_s}},
                                                   {u"MessageAttributeNames"_s, QJsonArray{u"All"_s}}})));
        QCOMPARE(got.size(), 2);
        QCOMPARE(got.at(0).toObject().value("Body"_L1), u"small"_s);
        QCOMPARE(got.at(1).toObject().value("Body"_L1), large);
        QCOMPARE(got.at(1).toObject().value("MessageAttributes"_L1).toObject(), attributes);
        QCOMPARE(got.at(1).toObject().value("Attributes"_L1).toObject().value("MessageGroupId"_L1), u"g"_s);
        m_server->execute(SetQueueAttributesRequest{u"q"_s, {{u"RedrivePolicy"_s, {}}}});
        open();
    }
    QCOMPARE(moveTask().value("ApproximateNumberOfMessagesMoved"_L1), 2);
    QCOMPARE(depth(u"dead"_s), u"0/0/0"_s);
}

void TestLocalSqsServer::moveTasksKeepTheirPace()
{
    createDeadLetters(200);
    HttpProbe waiting(m_port);
    waiting.ask("ReceiveMessage", receiveSome(20));
    QTRY_COMPARE(m_server->longPollCount(), 1);
    call("StartMessageMoveTask", json({{u"SourceArn"_s, DeadArn}, {u"MaxNumberOfMessagesPerSecond"_s, 100}}));
    QElapsedTimer time;
    time.start();
    QCOMPARE(bodiesOf(waiting.reply()), QStringList{u"message 0"_s}); // a move wakes
    QTRY_VERIFY(moveTask().value("ApproximateNumberOfMessagesMoved"_L1).toInt() >= 41);
    QVERIFY2(time.elapsed() >= 395, qPrintable(QString::number(time.elapsed())));
    QCOMPARE(moveTask().value("Status"_L1), u"RUNNING"_s);
    // It goes on in the next process without being asked.
    open();
    QTRY_VERIFY(moveTask().value("ApproximateNumberOfMessagesMoved"_L1).toInt() >= 60);
}

void TestLocalSqsServer::othersAreServedWhileMessagesMove()
{
    createDeadLetters(2000);
    HttpProbe client(m_port);
    call("StartMessageMoveTask", json({{u"SourceArn"_s, DeadArn}}));
    int served = 0;
    while (depth(u"dead"_s) != u"0/0/0"_s)
        ++served;
    QVERIFY2(served >= 5, qPrintable(QString::number(served)));
    QCOMPARE(depth(), u"2000/0/0"_s);
    QCOMPARE(moveTask().value("Status"_L1), u"COMPLETED"_s);
}

void TestLocalSqsServer::movesThatCannotBeWrittenAreTriedLater()
{
    createDeadLetters(50);
    call("StartMessageMoveTask", json({{u"SourceArn"_s, DeadArn}, {u"MaxNumberOfMessagesPerSecond"_s, 20}}));
    syscalls::failWrites = EIO;
    QTest::ignoreMessage(QtCriticalMsg, QRegularExpression(u"cannot write queue.db: .*"_s));
    const auto moved = [this] { return moveTask().value("ApproximateNumberOfMessagesMoved"_L1).toInt(); };
    QTest::qWait(100); // one is due
    int turns = 0;
    m_onClock = [&turns] { ++turns; };
    const int before = moved(); // others are served meanwhile
    QVERIFY(before >= 1);
    QTest::qWait(200);
    QCOMPARE(moved(), before);
    QVERIFY2(turns <= 8, qPrintable(QString::number(turns)));
    syscalls::failWrites = 0;
    QTest::ignoreMessage(QtInfoMsg, QRegularExpression(u"queue.db can be written again"_s));
    QTRY_VERIFY(moved() > before);
}

QTEST_GUILESS_MAIN(TestLocalSqsServer)
#include "tst_localsqsserver.moc"
