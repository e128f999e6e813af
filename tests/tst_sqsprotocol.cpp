#include "worker/queue/awsendpoint.h"
#include "worker/queue/clockskew.h"
#include "worker/queue/sqserrors.h"
#include "worker/queue/sqsmd5.h"
#include "worker/queue/sqsprotocol.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

const QUrl Queue(u"http://127.0.0.1:9324/000000000000/orders"_s);

QJsonObject parse(const QByteArray &json)
{
    return QJsonDocument::fromJson(json).object();
}

/// A ReceiveMessage reply with one message whose body is this JSON string literal (without its quotes).
QByteArray receivedBody(const QByteArray &literal, const QByteArray &md5)
{
    return R"({"Messages":[{"MessageId":"m1","ReceiptHandle":"r1","Body":")" + literal + R"(","MD5OfBody":")" + md5
        + R"("}]})";
}

} // namespace

class TestSqsProtocol : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void receiveAsksForEverything();
    void receiveAsksForVisibilityOnlyWhenGiven();
    void sendCarriesAttributesDelayAndTrace();
    void bodyThatIsNotUtf8IsNotSent_data();
    void bodyThatIsNotUtf8IsNotSent();
    void bodiesSurviveTheRoundTrip_data();
    void bodiesSurviveTheRoundTrip();
    void deletesAndVisibilities();

    void received_data();
    void received();
    void attributesOfAllTypesAreRead();
    void damagedMessagesAreSetAside_data();
    void damagedMessagesAreSetAside();
    void notSqs_data();
    void notSqs();
    void queueUrl();
    void queueAttributesAreText();

    void batch_data();
    void batch();
    void sentComparesMd5s();

    void errors_data();
    void errors();
    void errorTextIsOneBearableLine();
    void everyCodeHasOneSpelling_data();
    void everyCodeHasOneSpelling();

    void clockCorrection_data();
    void clockCorrection();
    void clockIsDescribed();
    void endpoints();
};

void TestSqsProtocol::receiveAsksForEverything()
{
    const QJsonObject body = parse(sqsprotocol::receiveMessage({Queue, 7, 20s, std::nullopt}));
    const QJsonArray all{u"All"_s};
    const QJsonObject expected{
        {u"QueueUrl"_s, Queue.toString()}, {u"MaxNumberOfMessages"_s, 7},           {u"WaitTimeSeconds"_s, 20},
        {u"AttributeNames"_s, all},        {u"MessageSystemAttributeNames"_s, all}, {u"MessageAttributeNames"_s, all}};
    QCOMPARE(body, expected);
}

void TestSqsProtocol::receiveAsksForVisibilityOnlyWhenGiven()
{
    const QJsonObject body = parse(sqsprotocol::receiveMessage({Queue, 1, 0s, 0s}));
    QCOMPARE(body.value("VisibilityTimeout"_L1), QJsonValue(0));
    QCOMPARE(body.value("WaitTimeSeconds"_L1), QJsonValue(0));
}

void TestSqsProtocol::sendCarriesAttributesDelayAndTrace()
{
    SendEntry entry;
    entry.id = u"e1"_s;
    entry.body = "{}"_ba;
    entry.delaySeconds = 0;
    entry.traceHeader = u"Root=1"_s;
    entry.groupId = u"tenant-7"_s;
    entry.attributes = {{u"n"_s, {u"Number.int"_s, u"1"_s, {}}},
                        {u"b"_s, {u"Binary"_s, {}, QByteArray::fromHex("00ff")}}};
    const Result<QByteArray> json = sqsprotocol::sendMessageBatch(Queue, {entry, {u"e2"_s, "x"_ba, {}, {}, -1}});
    QVERIFY(json.ok());
    const QJsonArray entries = parse(json.value()).value("Entries"_L1).toArray();
    QCOMPARE(entries.size(), 2);
    const QJsonObject expected{
        {u"Id"_s, u"e1"_s},
        {u"MessageBody"_s, u"{}"_s},
        {u"DelaySeconds"_s, 0},
        {u"MessageGroupId"_s, u"tenant-7"_s},
        {u"MessageAttributes"_s,
         QJsonObject{{u"n"_s, QJsonObject{{u"DataType"_s, u"Number.int"_s}, {u"StringValue"_s, u"1"_s}}},
                     {u"b"_s, QJsonObject{{u"DataType"_s, u"Binary"_s}, {u"BinaryValue"_s, u"AP8="_s}}}}},
        {u"MessageSystemAttributes"_s,
         QJsonObject{
             {u"AWSTraceHeader"_s, QJsonObject{{u"DataType"_s, u"String"_s}, {u"StringValue"_s, u"Root=1"_s}}}}}};
    QCOMPARE(entries.at(0).toObject(), expected);
    QCOMPARE(entries.at(1).toObject(), (QJsonObject{{u"Id"_s, u"e2"_s}, {u"MessageBody"_s, u"x"_s}}));
}

void TestSqsProtocol::bodyThatIsNotUtf8IsNotSent_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::newRow("Latin-1") << "h\xe9llo"_ba;
    QTest::newRow("cut in a character") << "\xc3"_ba;
    QTest::newRow("lone surrogate") << "\xed\xa0\x80"_ba;
    QTest::newRow("overlong") << "\xc0\xaf"_ba;
}

void TestSqsProtocol::bodyThatIsNotUtf8IsNotSent()
{
    QFETCH(QByteArray, body);
    const Result<QByteArray> json = sqsprotocol::sendMessageBatch(Queue, {{u"e7"_s, body, {}, {}, -1}});
    QVERIFY(!json.ok());
    QCOMPARE(json.error().kind, ErrorKind::Invalid);
    QVERIFY(json.error().text.contains("e7"_L1));
}

void TestSqsProtocol::bodiesSurviveTheRoundTrip_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::newRow("JSON in JSON") << R"({"a":"b\"c\\d"})"_ba;
    QTest::newRow("line ends and tabs") << "a\r\nb\nc\rd\te"_ba;
    QTest::newRow("not ASCII") << u"h\u00e9llo \u6f22\u5b57 \U0001F600"_s.toUtf8();
    QTest::newRow("byte order mark first") << "\xef\xbb\xbf{}"_ba;
    QTest::newRow("byte order mark inside") << "a\xef\xbb\xbf{}"_ba;
    QTest::newRow("U+FFFD and U+FFFE") << "\xef\xbf\xbd\xef\xbf\xbe"_ba;
    QTest::newRow("NUL") << QByteArray("a\0b", 3);
    QTest::newRow("line separator") << "a\xe2\x80\xa8z"_ba;
}

void TestSqsProtocol::bodiesSurviveTheRoundTrip()
{
    QFETCH(QByteArray, body);
    const Result<QByteArray> json = sqsprotocol::sendMessageBatch(Queue, {{u"e1"_s, body, {}, {}, -1}});
    QVERIFY(json.ok());
    // As the string literal went out, it comes in.
    const qsizetype from = json->indexOf(R"("MessageBody":")") + 15;
    const QByteArray literal = json->mid(from, json->lastIndexOf("\"}],\"QueueUrl") - from);
    const auto received = sqsprotocol::readReceived(receivedBody(literal, sqsmd5::ofBody(body)));
    QVERIFY(received.ok());
    QCOMPARE(received->damaged, QStringList());
    QCOMPARE(received->messages.size(), 1);
    QCOMPARE(received->messages.first().body, body);
}

void TestSqsProtocol::deletesAndVisibilities()
{
    const QJsonObject deletes = parse(sqsprotocol::deleteMessageBatch(Queue, {{u"a"_s, u"r1"_s}, {u"b"_s, u"r2"_s}}));
    QCOMPARE(deletes.value("QueueUrl"_L1).toString(), Queue.toString());
    QCOMPARE(deletes.value("Entries"_L1).toArray(),
             (QJsonArray{QJsonObject{{u"Id"_s, u"a"_s}, {u"ReceiptHandle"_s, u"r1"_s}},
                         QJsonObject{{u"Id"_s, u"b"_s}, {u"ReceiptHandle"_s, u"r2"_s}}}));
    const QJsonObject visibilities = parse(sqsprotocol::changeMessageVisibilityBatch(Queue, {{u"a"_s, u"r1"_s, 30s}}));
    QCOMPARE(visibilities.value("Entries"_L1).toArray(),
             (QJsonArray{QJsonObject{{u"Id"_s, u"a"_s}, {u"ReceiptHandle"_s, u"r1"_s}, {u"VisibilityTimeout"_s, 30}}}));
}

void TestSqsProtocol::received_data()
{
    QTest::addColumn<QByteArray>("reply");
    QTest::addColumn<int>("messages");
    QTest::newRow("AWS, nothing there") << "{}"_ba << 0;
    QTest::newRow("ElasticMQ, nothing there") << R"({"Messages":[]})"_ba << 0;
    QTest::newRow("null for nothing") << R"({"Messages":null})"_ba << 0;
    QTest::newRow("AWS")
        << R"({"Messages":[{"Attributes":{"ApproximateReceiveCount":"2","SentTimestamp":"1756728000123"},"Body":"message",)"
           R"("MD5OfBody":"78e731027d8fd50ed642340b7c9a63b3","MessageId":"5fea7756-0ea4-451a-a703-a558b933e274",)"
           R"("ReceiptHandle":"AQEB+/="}]})"_ba
        << 1;
    QTest::newRow("moto, with numbers as numbers and unknown members")
        << R"({"Messages": [{"MessageId": "5fea7756-0ea4-451a-a703-a558b933e274", "ReceiptHandle": "AQEB+/=", )"
           R"("MD5OfBody": "78e731027d8fd50ed642340b7c9a63b3", "Body": "message", "New": {"a": [1]}, "Attributes": )"
           R"({"ApproximateReceiveCount": 2, "SentTimestamp": 1756728000123}}], "ResponseMetadata": {}})"_ba
        << 1;
    QTest::newRow("without any MD5, upper-case elsewhere")
        << R"({"Messages":[{"Body":"message","MessageId":"5fea7756-0ea4-451a-a703-a558b933e274","ReceiptHandle":"AQEB+/=",)"
           R"("MD5OfBody":null,"Attributes":{"ApproximateReceiveCount":"2","SentTimestamp":"1756728000123"}}]})"_ba
        << 1;
}

void TestSqsProtocol::received()
{
    QFETCH(QByteArray, reply);
    QFETCH(int, messages);
    const auto received = sqsprotocol::readReceived(reply);
    QVERIFY(received.ok());
    QCOMPARE(received->damaged, QStringList());
    QCOMPARE(received->messages.size(), messages);
    if (messages == 0)
        return;
    const Message message = received->messages.first();
    QCOMPARE(message.messageId, u"5fea7756-0ea4-451a-a703-a558b933e274"_s);
    QCOMPARE(message.receiptHandle, u"AQEB+/="_s);
    QCOMPARE(message.body, "message"_ba);
    QCOMPARE(message.receiveCount(), 2);
    QCOMPARE(message.sentAt(), QDateTime(QDate(2025, 9, 1), QTime(12, 0, 0, 123), Qt::UTC));
}

void TestSqsProtocol::attributesOfAllTypesAreRead()
{
    const auto received = sqsprotocol::readReceived(
        R"({"Messages":[{"MessageId":"m","ReceiptHandle":"r","Body":"b","MD5OfMessageAttributes":"526ac51008ab065632161c750ee1f5ea",)"
        R"("MessageAttributes":{"attempt":{"DataType":"Number.int","StringValue":"1"},"blob":{"DataType":"Binary","BinaryValue":"AP8="},)"
        R"("event_id":{"DataType":"String","StringValue":"evt-42"}}}]})"_ba);
    QVERIFY(received.ok());
    QCOMPARE(received->messages.size(), 1);
    const MessageAttributes expected{{u"attempt"_s, {u"Number.int"_s, u"1"_s, {}}},
                                     {u"blob"_s, {u"Binary"_s, {}, QByteArray::fromHex("00ff")}},
                                     {u"event_id"_s, {u"String"_s, u"evt-42"_s, {}}}};
    QCOMPARE(received->messages.first().attributes, expected);
}

void TestSqsProtocol::damagedMessagesAreSetAside_data()
{
    QTest::addColumn<QByteArray>("message");
    QTest::newRow("wrong MD5 of the body")
        << R"({"MessageId":"m2","ReceiptHandle":"r2","Body":"message","MD5OfBody":"00000000000000000000000000000000"})"_ba;
    QTest::newRow("wrong MD5 of the attributes")
        << R"({"MessageId":"m2","ReceiptHandle":"r2","Body":"test","MD5OfBody":"098f6bcd4621d373cade4e832627b4f6",)"
           R"("MD5OfMessageAttributes":"00000000000000000000000000000000","MessageAttributes":{"a":{"DataType":"String","StringValue":"x"}}})"_ba;
    QTest::newRow("no receipt handle") << R"({"MessageId":"m2","Body":"test"})"_ba;
    QTest::newRow("lone surrogate") << R"({"MessageId":"m2","ReceiptHandle":"r2","Body":"a\ud800b"})"_ba;
}

void TestSqsProtocol::damagedMessagesAreSetAside()
{
    QFETCH(QByteArray, message);
    const auto received =
        sqsprotocol::readReceived(R"({"Messages":[{"MessageId":"m1","ReceiptHandle":"r1","Body":"ok"},)" + message
                                  + R"(,{"MessageId":"m3","ReceiptHandle":"r3","Body":"ok"}]})");
    QVERIFY(received.ok());
    QCOMPARE(received->damaged, QStringList{u"m2"_s});
    QCOMPARE(received->messages.size(), 2);
    QCOMPARE(received->messages.at(0).messageId, u"m1"_s);
    QCOMPARE(received->messages.at(1).messageId, u"m3"_s);
}

void TestSqsProtocol::notSqs_data()
{
    QTest::addColumn<QByteArray>("reply");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("HTML") << "<html><body>Welcome</body></html>"_ba;
    QTest::newRow("cut") << R"({"Messages":[{"MessageId":"m1")"_ba;
    QTest::newRow("a list") << "[]"_ba;
    QTest::newRow("another type") << R"({"Messages":"none","Successful":7})"_ba;
    QTest::newRow("broken UTF-8") << "{\"Messages\":[],\"Successful\":[],\"x\":\"\xff\"}"_ba;
    QTest::newRow("deep") << QByteArray(100'000, '[');
}

void TestSqsProtocol::notSqs()
{
    QFETCH(QByteArray, reply);
    const auto received = sqsprotocol::readReceived(reply);
    QVERIFY(!received.ok());
    QCOMPARE(received.error().kind, ErrorKind::Protocol);
    const auto batch = sqsprotocol::readBatch(reply, {u"a"_s});
    QVERIFY(!batch.ok());
    QCOMPARE(batch.error().kind, ErrorKind::Protocol);
}

void TestSqsProtocol::queueUrl()
{
    const auto url = sqsprotocol::readQueueUrl(R"({"QueueUrl":"http://127.0.0.1:9324/000000000000/orders"})"_ba);
    QVERIFY(url.ok());
    QCOMPARE(url.value(), Queue);
    QVERIFY(!sqsprotocol::readQueueUrl("{}"_ba).ok());
    QVERIFY(!sqsprotocol::readQueueUrl(R"({"QueueUrl":"orders"})"_ba).ok());
}

void TestSqsProtocol::queueAttributesAreText()
{
    const auto attributes = sqsprotocol::readQueueAttributes(
        R"({"Attributes":{"VisibilityTimeout":30,"CreatedTimestamp":"1796132087.642464","SqsManagedSseEnabled":true,)"
        R"("Big":1756728000123,"Fraction":1.5}})"_ba);
    QVERIFY(attributes.ok());
    const QMap<QString, QString> expected{{u"VisibilityTimeout"_s, u"30"_s},
                                          {u"CreatedTimestamp"_s, u"1796132087.642464"_s},
                                          {u"SqsManagedSseEnabled"_s, u"true"_s},
                                          {u"Big"_s, u"1756728000123"_s},
                                          {u"Fraction"_s, u"1.5"_s}};
    QCOMPARE(attributes.value(), expected);
    QVERIFY(sqsprotocol::readQueueAttributes("{}"_ba)->isEmpty());
}

void TestSqsProtocol::batch_data()
{
    QTest::addColumn<QByteArray>("reply");
    QTest::addColumn<QList<bool>>("ok");
    QTest::addColumn<QString>("code");
    QTest::newRow("AWS, all well") << R"({"Successful":[{"Id":"a"},{"Id":"b"}]})"_ba << QList<bool>{true, true}
                                   << u""_s;
    QTest::newRow("empty list of failures")
        << R"({"Successful":[{"Id":"b"},{"Id":"a"}],"Failed":[]})"_ba << QList<bool>{true, true} << u""_s;
    QTest::newRow("one failed")
        << R"({"Successful":[{"Id":"a"}],"Failed":[{"Id":"b","SenderFault":true,"Code":"ReceiptHandleIsInvalid","Message":"no"}]})"_ba
        << QList<bool>{true, false} << u"ReceiptHandleIsInvalid"_s;
    QTest::newRow("the other spelling, fault as text")
        << R"({"Successful":[{"Id":"a"}],"Failed":[{"Id":"b","SenderFault":"true","Code":"AWS.SimpleQueueService.MessageNotInflight"}]})"_ba
        << QList<bool>{true, false} << u"MessageNotInflight"_s;
    QTest::newRow("only failures")
        << R"({"Failed":[{"Id":"a","SenderFault":true},{"Id":"b","SenderFault":true,"Code":"X"}]})"_ba
        << QList<bool>{false, false} << u"X"_s;
    QTest::newRow("one in both lists counts as failed")
        << R"({"Successful":[{"Id":"a"},{"Id":"b"}],"Failed":[{"Id":"b","SenderFault":true,"Code":"X"}]})"_ba
        << QList<bool>{true, false} << u"X"_s;
}

void TestSqsProtocol::batch()
{
    QFETCH(QByteArray, reply);
    QFETCH(QList<bool>, ok);
    QFETCH(QString, code);
    const auto results = sqsprotocol::readBatch(reply, {u"a"_s, u"b"_s});
    QVERIFY(results.ok());
    QCOMPARE(results->size(), 2);
    QCOMPARE(results->at(0).id, u"a"_s);
    QCOMPARE(results->at(1).id, u"b"_s);
    QCOMPARE(results->at(0).ok, ok.at(0));
    QCOMPARE(results->at(1).ok, ok.at(1));
    QCOMPARE(results->at(1).code, code);
    if (!ok.at(1)) {
        QVERIFY(results->at(1).senderFault);
        QVERIFY(!results->at(1).text.isEmpty());
    }

    // Of an entry that is not mentioned nothing is known, so that it is not done, and may be repeated.
    const auto unmentioned = sqsprotocol::readBatch(reply, {u"c"_s});
    QVERIFY(!unmentioned->first().ok);
    QVERIFY(!unmentioned->first().senderFault);
}

void TestSqsProtocol::sentComparesMd5s()
{
    SendEntry plain{u"a"_s, "message"_ba, {}, {}, -1};
    SendEntry attributed{u"b"_s, "test"_ba, {{u"MyAttribute"_s, {u"String"_s, u"foobar"_s, {}}}}, {}, -1};
    const QByteArray reply =
        R"({"Successful":[{"Id":"a","MessageId":"m1","MD5OfMessageBody":"78e731027d8fd50ed642340b7c9a63b3"},)"
        R"({"Id":"b","MessageId":"m2","MD5OfMessageBody":"098f6bcd4621d373cade4e832627b4f6",)"
        R"("MD5OfMessageAttributes":"adb59cd4678ea5a855436b949cd07ab6"}]})"_ba;
    const auto right = sqsprotocol::readSent(reply, {plain, attributed});
    QVERIFY(right.ok());
    QCOMPARE(right->at(0), (BatchEntryResult{u"a"_s, true, u"m1"_s, {}, {}, false}));
    QCOMPARE(right->at(1), (BatchEntryResult{u"b"_s, true, u"m2"_s, {}, {}, false}));

    plain.body = "another"_ba;
    attributed.attributes[u"MyAttribute"_s].stringValue = u"other"_s;
    const auto wrong = sqsprotocol::readSent(reply, {plain, attributed});
    for (const BatchEntryResult &result : wrong.value()) {
        QVERIFY(!result.ok);
        QVERIFY(!result.messageId.isEmpty()); // it is in the queue all the same
        QVERIFY(result.text.contains("MD5"_L1));
    }
}

void TestSqsProtocol::errors_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QByteArray>("queryError");
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("text");

    const QString gone = u"QueueDoesNotExist: The specified queue does not exist."_s;
    QTest::newRow("AWS")
        << 400
        << R"({"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"The specified queue does not exist."})"_ba
        << "AWS.SimpleQueueService.NonExistentQueue;Sender"_ba << ErrorKind::NotFound << u"QueueDoesNotExist"_s << gone;
    QTest::newRow("fauxqs: prefix in the type")
        << 400
        << R"({"__type":"AWS.SimpleQueueService.NonExistentQueue","message":"The specified queue does not exist."})"_ba
        << QByteArray() << ErrorKind::NotFound << u"QueueDoesNotExist"_s << gone;
    QTest::newRow("ElasticMQ: Message, and the shape in the header")
        << 400
        << R"({"__type":"com.amazonaws.sqs#QueueDoesNotExist","Message":"The specified queue does not exist."})"_ba
        << "com.amazonaws.sqs#QueueDoesNotExist"_ba << ErrorKind::NotFound << u"QueueDoesNotExist"_s << gone;
    QTest::newRow("bare type with a URI") << 400 << R"({"__type":"QueueDoesNotExist:http://x/#y"})"_ba << QByteArray()
                                          << ErrorKind::NotFound << u"QueueDoesNotExist"_s << u"QueueDoesNotExist"_s;
    QTest::newRow("header alone") << 400 << QByteArray() << "AWS.SimpleQueueService.NonExistentQueue;Sender"_ba
                                  << ErrorKind::NotFound << u"QueueDoesNotExist"_s << u"QueueDoesNotExist"_s;
    QTest::newRow("throttling as 403") << 403
                                       << R"({"__type":"com.amazonaws.sqs#RequestThrottled","message":"slow"})"_ba
                                       << QByteArray() << ErrorKind::Throttled << u"RequestThrottled"_s
                                       << u"RequestThrottled: slow"_s;
    QTest::newRow("throttling as 400") << 400 << R"({"__type":"ThrottlingException"})"_ba << QByteArray()
                                       << ErrorKind::Throttled << u"ThrottlingException"_s << u"ThrottlingException"_s;
    QTest::newRow("in flight limit, 403") << 403 << R"({"__type":"OverLimit"})"_ba << QByteArray()
                                          << ErrorKind::Throttled << u"OverLimit"_s << u"OverLimit"_s;
    QTest::newRow("purge twice, 403") << 403 << R"({"__type":"com.amazonaws.sqs#PurgeQueueInProgress"})"_ba
                                      << "AWS.SimpleQueueService.PurgeQueueInProgress;Sender"_ba << ErrorKind::Throttled
                                      << u"PurgeQueueInProgress"_s << u"PurgeQueueInProgress"_s;
    for (const int status : {400, 404}) {
        QTest::addRow("receipt handle, %d", status)
            << status << R"({"__type":"com.amazonaws.sqs#ReceiptHandleIsInvalid"})"_ba << QByteArray()
            << ErrorKind::Invalid << u"ReceiptHandleIsInvalid"_s << u"ReceiptHandleIsInvalid"_s;
    }
    QTest::newRow("not modelled") << 400 << R"({"__type":"com.amazonaws.sqs#InvalidParameterValueException"})"_ba
                                  << "InvalidParameterValue;Sender"_ba << ErrorKind::Invalid
                                  << u"InvalidParameterValue"_s << u"InvalidParameterValue"_s;
    QTest::newRow("credentials") << 403 << R"({"__type":"InvalidClientTokenId","message":"no such key"})"_ba
                                 << QByteArray() << ErrorKind::Refused << u"InvalidClientTokenId"_s
                                 << u"InvalidClientTokenId: no such key"_s;
    QTest::newRow("access denied as 400")
        << 400 << R"({"__type":"AccessDeniedException"})"_ba << QByteArray() << ErrorKind::Refused
        << u"AccessDeniedException"_s << u"AccessDeniedException"_s;
    QTest::newRow("not supported") << 400 << R"({"__type":"AWS.SimpleQueueService.UnsupportedOperation"})"_ba
                                   << QByteArray() << ErrorKind::Refused << u"UnsupportedOperation"_s
                                   << u"UnsupportedOperation"_s;
    QTest::newRow("internal failure") << 500 << R"({"__type":"InternalFailure"})"_ba << QByteArray()
                                      << ErrorKind::Unreachable << u"InternalFailure"_s << u"InternalFailure"_s;
    QTest::newRow("unknown code goes by status")
        << 503 << R"({"__type":"Novel"})"_ba << QByteArray() << ErrorKind::Unreachable << u"Novel"_s << u"Novel"_s;
    QTest::newRow("moto's HTML") << 500 << "<!doctype html>\n<title>500 Internal Server Error</title>"_ba
                                 << QByteArray() << ErrorKind::Unreachable << u"HTTP 500"_s
                                 << u"HTTP 500 without an SQS error"_s;
    QTest::newRow("a proxy's HTML 503") << 503 << "<html>busy</html>"_ba << QByteArray() << ErrorKind::Unreachable
                                        << u"HTTP 503"_s << u"HTTP 503 without an SQS error"_s;
    QTest::newRow("a proxy's 429") << 429 << "slow down"_ba << QByteArray() << ErrorKind::Throttled << u"HTTP 429"_s
                                   << u"HTTP 429 without an SQS error"_s;
    QTest::newRow("a gateway's 403") << 403 << QByteArray() << QByteArray() << ErrorKind::Refused << u"HTTP 403"_s
                                     << u"HTTP 403 without an SQS error"_s;
    QTest::newRow("another web server") << 404 << "<html>Not Found</html>"_ba << QByteArray() << ErrorKind::Protocol
                                        << u"HTTP 404"_s << u"HTTP 404 without an SQS error"_s;
    QTest::newRow("JSON without a code") << 400 << R"({"message":"no"})"_ba << QByteArray() << ErrorKind::Invalid
                                         << u"HTTP 400"_s << u"HTTP 400: no"_s;
}

void TestSqsProtocol::errors()
{
    QFETCH(int, status);
    QFETCH(QByteArray, body);
    QFETCH(QByteArray, queryError);
    QFETCH(ErrorKind, kind);
    QFETCH(QString, code);
    QFETCH(QString, text);
    const Error error = sqserrors::readError({status, body, queryError, {}});
    QCOMPARE(error.kind, kind);
    QCOMPARE(error.code, code);
    QCOMPARE(error.text, text);
}

void TestSqsProtocol::errorTextIsOneBearableLine()
{
    const QByteArray body =
        R"({"__type":"SignatureDoesNotMatch","message":"It does not match.\n\nThe Canonical String should have been\n)"
        R"(x-amz-security-token:SECRETTOKEN"})"_ba;
    QCOMPARE(sqserrors::readError({403, body, {}, {}}).text, u"SignatureDoesNotMatch: It does not match."_s);

    const QByteArray hostile = R"({"__type":"X","message":"a\u001b[31m\u202eb)" + QByteArray(5000, 'z') + "\"}";
    const QString text = sqserrors::readError({400, hostile, {}, {}}).text;
    QVERIFY(text.size() <= 310);
    QVERIFY(!text.contains(QChar(0x1b)));
    QVERIFY(!text.contains(QChar(0x202e)));
}

void TestSqsProtocol::everyCodeHasOneSpelling_data()
{
    QTest::addColumn<QString>("query");
    QTest::addColumn<QString>("json");
    QTest::newRow("queue") << u"AWS.SimpleQueueService.NonExistentQueue"_s << u"QueueDoesNotExist"_s;
    QTest::newRow("exists") << u"QueueAlreadyExists"_s << u"QueueNameExists"_s;
    QTest::newRow("batch") << u"AWS.SimpleQueueService.TooManyEntriesInBatchRequest"_s
                           << u"TooManyEntriesInBatchRequest"_s;
    QTest::newRow("key") << u"KMS.ThrottlingException"_s << u"KmsThrottled"_s;
    QTest::newRow("JSON's own") << u"com.amazonaws.sqs#OverLimit"_s << u"OverLimit"_s;
}

void TestSqsProtocol::everyCodeHasOneSpelling()
{
    QFETCH(QString, query);
    QFETCH(QString, json);
    QCOMPARE(sqserrors::canonicalCode(query), json);
    QCOMPARE(sqserrors::canonicalCode(json), json);
}

void TestSqsProtocol::clockCorrection_data()
{
    QTest::addColumn<QString>("code");
    QTest::addColumn<QByteArray>("date");
    QTest::addColumn<QByteArray>("age");
    QTest::addColumn<qint64>("assumed");
    QTest::addColumn<qint64>("offset"); // 0: no correction
    const QByteArray ahead = "Mon, 01 Sep 2025 12:10:00 GMT"_ba; // our clock: 12:00:00
    QTest::newRow("server ahead") << u"RequestTimeTooSkewed"_s << ahead << QByteArray() << 0LL << 600LL;
    QTest::newRow("server behind") << u"RequestInTheFuture"_s << "Mon, 01 Sep 2025 11:00:00 GMT"_ba << QByteArray()
                                   << 0LL << -3600LL;
    QTest::newRow("expired") << u"RequestExpired"_s << ahead << QByteArray() << 0LL << 600LL;
    QTest::newRow("from a cache") << u"RequestExpired"_s << ahead << " 20 "_ba << 0LL << 620LL;
    QTest::newRow("wrong signature, clocks differ")
        << u"InvalidSignatureException"_s << ahead << QByteArray() << 0LL << 600LL;
    QTest::newRow("wrong signature, clocks agree")
        << u"SignatureDoesNotMatch"_s << "Mon, 01 Sep 2025 12:00:03 GMT"_ba << QByteArray() << 0LL << 0LL;
    QTest::newRow("just enough") << u"RequestExpired"_s << "Mon, 01 Sep 2025 12:04:00 GMT"_ba << QByteArray() << 0LL
                                 << 240LL;
    QTest::newRow("just too little") << u"RequestExpired"_s << "Mon, 01 Sep 2025 12:03:59 GMT"_ba << QByteArray() << 0LL
                                     << 0LL;
    QTest::newRow("corrected already") << u"RequestExpired"_s << ahead << QByteArray() << 590LL << 0LL;
    QTest::newRow("corrected wrongly") << u"RequestExpired"_s << "Mon, 01 Sep 2025 12:01:00 GMT"_ba << QByteArray()
                                       << 600LL << 60LL;
    QTest::newRow("another error") << u"QueueDoesNotExist"_s << ahead << QByteArray() << 0LL << 0LL;
    QTest::newRow("no date") << u"RequestExpired"_s << QByteArray() << QByteArray() << 0LL << 0LL;
    QTest::newRow("garbage for a date") << u"RequestExpired"_s << "yesterday GMT"_ba << QByteArray() << 0LL << 0LL;
}

void TestSqsProtocol::clockCorrection()
{
    QFETCH(QString, code);
    QFETCH(QByteArray, date);
    QFETCH(QByteArray, age);
    QFETCH(qint64, assumed);
    QFETCH(qint64, offset);
    const QDateTime now(QDate(2025, 9, 1), QTime(12, 0), Qt::UTC);
    const auto correction = clockskew::correction(code, date, age, now, std::chrono::seconds(assumed));
    QCOMPARE(correction.has_value(), offset != 0);
    QCOMPARE(correction.value_or(0s).count(), offset);
}

void TestSqsProtocol::clockIsDescribed()
{
    QCOMPARE(clockskew::describe(603s), u"this computer's clock is 10 min 3 s behind"_s);
    QCOMPARE(clockskew::describe(-3660s), u"this computer's clock is 1 h 1 min ahead"_s);
    QCOMPARE(clockskew::describe(240h), u"this computer's clock is 240 h behind"_s);
}

void TestSqsProtocol::endpoints()
{
    QCOMPARE(awsendpoint::regional(u"eu-west-1"_s), QUrl(u"https://sqs.eu-west-1.amazonaws.com"_s));
    QCOMPARE(awsendpoint::regional(u"cn-north-1"_s), QUrl(u"https://sqs.cn-north-1.amazonaws.com.cn"_s));
    QCOMPARE(awsendpoint::regional(u"evil.example/"_s), QUrl());

    QCOMPARE(awsendpoint::regionOf(u"SQS.eu-west-1.amazonaws.com"_s), u"eu-west-1"_s);
    QCOMPARE(awsendpoint::regionOf(u"sqs-fips.us-east-2.amazonaws.com"_s), u"us-east-2"_s);
    QCOMPARE(awsendpoint::regionOf(u"sqs.eu-west-1.api.aws"_s), u"eu-west-1"_s);
    QCOMPARE(awsendpoint::regionOf(u"eu-west-1.queue.amazonaws.com"_s), u"eu-west-1"_s);
    QCOMPARE(awsendpoint::regionOf(u"queue.amazonaws.com"_s), u"us-east-1"_s);
    QCOMPARE(awsendpoint::regionOf(u"sqs.eu-west-1.amazonaws.com.evil.example"_s), QString());
    QCOMPARE(awsendpoint::regionOf(u"127.0.0.1"_s), QString());

    QCOMPARE(awsendpoint::hostHeader(Queue), "127.0.0.1:9324"_ba);
    QCOMPARE(awsendpoint::hostHeader(QUrl(u"https://user:secret@SQS.eu-west-1.amazonaws.com:443/1/q?x"_s)),
             "sqs.eu-west-1.amazonaws.com"_ba);
    QCOMPARE(awsendpoint::hostHeader(QUrl(u"http://[::1]:80/"_s)), "[::1]"_ba);
    QCOMPARE(awsendpoint::hostHeader(QUrl(u"http://localhost:443"_s)), "localhost:443"_ba);
}

QTEST_GUILESS_MAIN(TestSqsProtocol)
#include "tst_sqsprotocol.moc"
