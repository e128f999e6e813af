#include "worker/local/sqsquery.h"
#include "worker/local/sqsxml.h"

#include <QRegularExpression>
#include <QTest>
#include <QXmlStreamReader>

#include <random>

using namespace sendonce;
using namespace sendonce::local;
using namespace Qt::StringLiterals;

namespace {

std::variant<SqsRequest, SqsError> read(const QByteArray &form, const QByteArray &urlQuery = {},
                                        const QString &pathQueue = {}, const QString &trace = {})
{
    const auto parsed = SqsQuery::parse(form, urlQuery);
    if (const auto *error = std::get_if<SqsError>(&parsed))
        return *error;
    return std::get<SqsQuery>(parsed).read(pathQueue, trace);
}

template <typename Request>
Request request(const QByteArray &form, const QByteArray &urlQuery = {}, const QString &pathQueue = {},
                const QString &trace = {})
{
    const auto result = read(form, urlQuery, pathQueue, trace);
    if (const auto *error = std::get_if<SqsError>(&result)) {
        QTest::qFail(qPrintable(error->message), __FILE__, __LINE__);
        return {};
    }
    return std::get<Request>(std::get<SqsRequest>(result));
}

QString errorCode(const QByteArray &form, const QString &pathQueue = {})
{
    const auto result = read(form, {}, pathQueue);
    const auto *error = std::get_if<SqsError>(&result);
    return error ? error->queryCode : QString();
}

const QString Origin = u"http://127.0.0.1:9324"_s;

} // namespace

class TestSqsQuery : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    // requests
    void textIsDecoded_data();
    void textIsDecoded();
    void brokenFormsAreRefused_data();
    void brokenFormsAreRefused();
    void listsMayHaveGaps();
    void listsOfOneWithoutANumber();
    void emptyListsOfSdks();
    void namesOfBothLists();
    void mapsAndTags();
    void messageAttributes();
    void attributeGivenTwiceIsRefused();
    void sendBatch();
    void entriesWithAHandle();
    void bodyBeatsUrl();
    void queueComesFromParameterOrPath();
    void operationsAreNamed_data();
    void operationsAreNamed();
    void missingMembersStayMissing();
    void moreThan2000ParametersAreRefused();
    void damagedFormsAreReadOrRefused();

    // answers
    void answers_data();
    void answers();
    void receivedMessages();
    void everyTextSurvivesAParser_data();
    void everyTextSurvivesAParser();
    void errors();
};

void TestSqsQuery::textIsDecoded_data()
{
    QTest::addColumn<QByteArray>("sent");
    QTest::addColumn<QString>("body");
    QTest::newRow("of the reference") << "a+b%26c%3D%C3%A9%0A"_ba << u"a b&c=é\n"_s;
    QTest::newRow("%20") << "a%20b"_ba << u"a b"_s;
    QTest::newRow("%2B") << "1%2b1"_ba << u"1+1"_s;
    QTest::newRow("CR LF") << "a%0D%0Ab%0Dc"_ba << u"a\r\nb\rc"_s;
    QTest::newRow("unescaped UTF-8") << "h\xC3\xA9"_ba << u"hé"_s;
    QTest::newRow("unescaped =") << "a=b"_ba << u"a=b"_s;
    QTest::newRow("emoji") << "%F0%9F%98%80"_ba << u"\U0001F600"_s;
    QTest::newRow("U+FEFF at the start") << "%EF%BB%BFx"_ba << u"\uFEFFx"_s;
    QTest::newRow("twice U+FEFF") << "%EF%BB%BF%EF%BB%BF"_ba << u"\uFEFF\uFEFF"_s;
    QTest::newRow("NUL, which the queue refuses") << "%00"_ba << QString(QChar(0));
}

void TestSqsQuery::textIsDecoded()
{
    QFETCH(QByteArray, sent);
    QFETCH(QString, body);
    const auto got = request<SendMessageRequest>("Action=SendMessage&QueueUrl=q&MessageBody=" + sent);
    QCOMPARE(got.message.body, body);
    QCOMPARE(got.queue, u"q"_s);
}

void TestSqsQuery::brokenFormsAreRefused_data()
{
    QTest::addColumn<QByteArray>("member");
    QTest::newRow("half an escape") << "MessageBody=%4"_ba;
    QTest::newRow("lone %") << "MessageBody=100%"_ba;
    QTest::newRow("no digits") << "MessageBody=%zz"_ba;
    QTest::newRow("no UTF-8") << "MessageBody=%FF"_ba;
    QTest::newRow("cut UTF-8") << "MessageBody=a%C3"_ba;
    QTest::newRow("overlong UTF-8") << "MessageBody=%C0%80"_ba;
    QTest::newRow("encoded surrogate") << "MessageBody=%ED%A0%BD"_ba;
    QTest::newRow("broken name") << "%=a&MessageBody=a"_ba;
    QTest::newRow("delay is no number") << "MessageBody=a&DelaySeconds=x"_ba;
    QTest::newRow("delay is empty") << "MessageBody=a&DelaySeconds="_ba;
    QTest::newRow("delay with a blank") << "MessageBody=a&DelaySeconds=+1"_ba;
    QTest::newRow("delay with a fraction") << "MessageBody=a&DelaySeconds=1.5"_ba;
    QTest::newRow("delay beyond int") << "MessageBody=a&DelaySeconds=9999999999"_ba;
    QTest::newRow("broken base64")
        << "MessageBody=a&MessageAttribute.1.Name=b&MessageAttribute.1.Value.BinaryValue=%25"_ba;
}

void TestSqsQuery::brokenFormsAreRefused()
{
    QFETCH(QByteArray, member);
    QCOMPARE(errorCode("Action=SendMessage&QueueUrl=q&" + member), u"MalformedInput"_s);
}

void TestSqsQuery::listsMayHaveGaps()
{
    const auto got = request<GetQueueAttributesRequest>("Action=GetQueueAttributes&QueueUrl=q&AttributeName.10=d&"
                                                        "AttributeName.2=b&AttributeName.7=c&AttributeName.1=a&"
                                                        "AttributeName.x=no&AttributeNames.3=no&AttributeName.=no");
    QCOMPARE(got.names, QStringList({u"a"_s, u"b"_s, u"c"_s, u"d"_s}));
}

void TestSqsQuery::listsOfOneWithoutANumber()
{
    const auto got = request<GetQueueAttributesRequest>("Action=GetQueueAttributes&QueueUrl=q&AttributeName=All");
    QCOMPARE(got.names, QStringList{u"All"_s});
    const auto set = request<SetQueueAttributesRequest>(
        "Action=SetQueueAttributes&QueueUrl=q&Attribute.Name=VisibilityTimeout&Attribute.Value=35");
    QCOMPARE(set.attributes, (QMap<QString, QString>{{u"VisibilityTimeout"_s, u"35"_s}}));
}

void TestSqsQuery::emptyListsOfSdks()
{
    const auto got = request<ReceiveMessageRequest>(
        "Action=ReceiveMessage&QueueUrl=q&AttributeName=&MessageAttributeName=&MessageSystemAttributeName=");
    QVERIFY(got.systemAttributeNames.isEmpty());
    QVERIFY(got.messageAttributeNames.isEmpty());
    QVERIFY(request<SendMessageBatchRequest>("Action=SendMessageBatch&QueueUrl=q&SendMessageBatchRequestEntry=")
                .entries.isEmpty());
}

void TestSqsQuery::namesOfBothLists()
{
    const auto got = request<ReceiveMessageRequest>(
        "Action=ReceiveMessage&QueueUrl=q&AttributeName.1=SenderId&MessageSystemAttributeName.1=SentTimestamp&"
        "MessageAttributeName.1=a.*&MessageAttributeName.2=All&MaxNumberOfMessages=7&VisibilityTimeout=0&"
        "WaitTimeSeconds=20&ReceiveRequestAttemptId=x");
    QCOMPARE(got.systemAttributeNames, QStringList({u"SenderId"_s, u"SentTimestamp"_s}));
    QCOMPARE(got.messageAttributeNames, QStringList({u"a.*"_s, u"All"_s}));
    QCOMPARE(got.maxNumberOfMessages, 7);
    QCOMPARE(got.visibilityTimeout, 0);
    QCOMPARE(got.waitTimeSeconds, 20);
    QCOMPARE(got.attemptId, u"x"_s);
}

void TestSqsQuery::mapsAndTags()
{
    const auto got = request<CreateQueueRequest>(
        "Action=CreateQueue&QueueName=n&Attribute.1.Name=DelaySeconds&Attribute.1.Value=5&Attribute.5.Value=&"
        "Attribute.5.Name=Policy&Tag.1.Key=team&Tag.1.Value=blue&Tag.2.Key=empty");
    QCOMPARE(got.name, u"n"_s);
    QCOMPARE(got.attributes, (QMap<QString, QString>{{u"DelaySeconds"_s, u"5"_s}, {u"Policy"_s, QString()}}));
    QCOMPARE(got.tags, (QMap<QString, QString>{{u"team"_s, u"blue"_s}, {u"empty"_s, QString()}}));
    QCOMPARE(errorCode("Action=CreateQueue&QueueName=n&Attribute.1.Value=5"), u"MissingParameter"_s);
}

void TestSqsQuery::messageAttributes()
{
    const auto got = request<SendMessageRequest>(
        "Action=SendMessage&QueueUrl=q&MessageBody=a&Id=no&MessageGroupId=g&MessageDeduplicationId=&"
        "MessageAttribute.3.Name=n&MessageAttribute.3.Value.DataType=Number.int&MessageAttribute.3.Value.StringValue=1&"
        "MessageAttribute.9.Name=b&MessageAttribute.9.Value.DataType=Binary&MessageAttribute.9.Value.BinaryValue=AP8%2B"
        "&MessageSystemAttribute.1.Name=AWSTraceHeader&MessageSystemAttribute.1.Value.DataType=String&"
        "MessageSystemAttribute.1.Value.StringValue=Root%3D1",
        {}, {}, u"Root=2"_s);
    const MessageAttributes expected{{u"n"_s, {u"Number.int"_s, u"1"_s, {}}},
                                     {u"b"_s, {u"Binary"_s, {}, QByteArray("\x00\xFF\x3E", 3)}}};
    QCOMPARE(got.message.attributes, expected);
    const MessageAttributes system{{u"AWSTraceHeader"_s, {u"String"_s, u"Root=1"_s, {}}}};
    QCOMPARE(got.message.systemAttributes, system);
    QCOMPARE(got.message.id, QString());
    QCOMPARE(got.message.groupId, u"g"_s);
    QCOMPARE(got.message.deduplicationId, QString()); // given, though empty: the queue refuses it
    QVERIFY(got.message.deduplicationId.has_value());

    // The header stands in; an attribute without a name is not lost on the way to the rules.
    const auto other = request<SendMessageRequest>(
        "Action=SendMessage&QueueUrl=q&MessageBody=a&MessageAttribute.1.Value.StringValue=x", {}, {}, u"Root=2"_s);
    QCOMPARE(other.message.systemAttributes.value(u"AWSTraceHeader"_s).stringValue, u"Root=2"_s);
    QVERIFY(other.message.attributes.contains(QString()));
    QCOMPARE(errorCode("Action=SendMessage&QueueUrl=q&MessageBody=a&MessageAttribute.1.Name=x&"
                       "MessageAttribute.1.Value.StringListValue.1=y"),
             u"AWS.SimpleQueueService.UnsupportedOperation"_s);
}

void TestSqsQuery::attributeGivenTwiceIsRefused()
{
    QCOMPARE(errorCode("Action=SendMessage&QueueUrl=q&MessageBody=a&MessageAttribute.1.Name=x&"
                       "MessageAttribute.1.Value.DataType=String&MessageAttribute.1.Value.StringValue=1&"
                       "MessageAttribute.2.Name=x&MessageAttribute.2.Value.DataType=String&"
                       "MessageAttribute.2.Value.StringValue=2"),
             u"InvalidParameterValue"_s);
}

void TestSqsQuery::sendBatch()
{
    const QByteArray e = "SendMessageBatchRequestEntry.";
    const auto got = request<SendMessageBatchRequest>(
        "Action=SendMessageBatch&QueueUrl=q&" + e + "2.Id=b&" + e + "2.MessageBody=two&" + e + "2.DelaySeconds=5&" + e
        + "2.MessageGroupId=g&" + e + "2.MessageAttribute.1.Name=x&" + e + "2.MessageAttribute.1.Value.DataType=String&"
        + e + "2.MessageAttribute.1.Value.StringValue=y&" + e + "11.Id=c&" + e + "11.MessageBody=three&" + e + "1.Id=a&"
        + e + "1.MessageBody=one");
    QCOMPARE(got.entries.size(), 3);
    QCOMPARE(got.entries.at(0).body, u"one"_s);
    QCOMPARE(got.entries.at(1).id, u"b"_s);
    QCOMPARE(got.entries.at(1).body, u"two"_s);
    QCOMPARE(got.entries.at(1).delaySeconds, 5);
    QCOMPARE(got.entries.at(1).groupId, u"g"_s);
    QCOMPARE(got.entries.at(1).attributes, (MessageAttributes{{u"x"_s, {u"String"_s, u"y"_s, {}}}}));
    QVERIFY(got.entries.at(0).attributes.isEmpty());
    QCOMPARE(got.entries.at(2).body, u"three"_s);
}

void TestSqsQuery::entriesWithAHandle()
{
    const auto deleted = request<DeleteMessageBatchRequest>(
        "Action=DeleteMessageBatch&QueueUrl=q&DeleteMessageBatchRequestEntry.1.Id=a&"
        "DeleteMessageBatchRequestEntry.1.ReceiptHandle=h&SendMessageBatchRequestEntry.2.Id=no");
    QCOMPARE(deleted.entries.size(), 1);
    QCOMPARE(deleted.entries.at(0).receiptHandle, u"h"_s);
    const auto changed = request<ChangeMessageVisibilityBatchRequest>(
        "Action=ChangeMessageVisibilityBatch&QueueUrl=q&ChangeMessageVisibilityBatchRequestEntry.1.Id=a&"
        "ChangeMessageVisibilityBatchRequestEntry.1.ReceiptHandle=h&"
        "ChangeMessageVisibilityBatchRequestEntry.1.VisibilityTimeout=9");
    QCOMPARE(changed.entries.at(0).visibilityTimeout, 9);
    const auto one = request<ChangeMessageVisibilityRequest>(
        "Action=ChangeMessageVisibility&QueueUrl=q&ReceiptHandle=h&VisibilityTimeout=0");
    QCOMPARE(one.change.visibilityTimeout, 0);
    QCOMPARE(request<DeleteMessageRequest>("Action=DeleteMessage&QueueUrl=q&ReceiptHandle=h").receiptHandle, u"h"_s);
}

void TestSqsQuery::bodyBeatsUrl()
{
    const auto got = request<SendMessageRequest>("MessageBody=body&QueueUrl=q",
                                                 "Action=SendMessage&MessageBody=url&MessageBody=again");
    QCOMPARE(got.message.body, u"body"_s);
    QCOMPARE(request<SendMessageRequest>({}, "Action=SendMessage&QueueUrl=q&MessageBody=1&MessageBody=2").message.body,
             u"1"_s);
}

void TestSqsQuery::queueComesFromParameterOrPath()
{
    const QByteArray form = "Action=PurgeQueue&QueueUrl=http%3A%2F%2Fsqs.eu-west-1.amazonaws.com%2F123456789012%2Fq";
    QCOMPARE(request<PurgeQueueRequest>(form).queue, u"q"_s);
    QCOMPARE(request<PurgeQueueRequest>(form, {}, u"other"_s).queue, u"q"_s);
    QCOMPARE(request<PurgeQueueRequest>("Action=PurgeQueue", {}, u"path"_s).queue, u"path"_s);
    QCOMPARE(errorCode("Action=PurgeQueue"), u"MissingParameter"_s);
    QCOMPARE(errorCode("Action=ListQueues", u"path"_s), u"InvalidAction"_s);
    QCOMPARE(errorCode("Action=CreateQueue&QueueName=n", u"path"_s), u"InvalidAction"_s);
    QCOMPARE(request<GetQueueUrlRequest>("Action=GetQueueUrl&QueueName=n", {}, u"path"_s).name, u"n"_s);
}

void TestSqsQuery::operationsAreNamed_data()
{
    QTest::addColumn<QByteArray>("action");
    QTest::addColumn<QString>("code");
    QTest::newRow("no operation") << "FooBar"_ba << u"InvalidAction"_s;
    QTest::newRow("case matters") << "sendMessage"_ba << u"InvalidAction"_s;
    QTest::newRow("empty") << ""_ba << u"InvalidAction"_s;
    for (const char *action : {"TagQueue", "UntagQueue", "ListQueueTags", "AddPermission", "RemovePermission"})
        QTest::newRow(action) << QByteArray(action) << u"AWS.SimpleQueueService.UnsupportedOperation"_s;
}

void TestSqsQuery::operationsAreNamed()
{
    QFETCH(QByteArray, action);
    QFETCH(QString, code);
    QCOMPARE(errorCode("QueueUrl=q&Version=2012-11-05&Action=" + action), code);
}

void TestSqsQuery::missingMembersStayMissing()
{
    const auto got = request<ReceiveMessageRequest>("Version=1999-01-01&Action=ReceiveMessage&QueueUrl=q&New.1.X=y");
    QVERIFY(!got.maxNumberOfMessages && !got.visibilityTimeout && !got.waitTimeSeconds && !got.attemptId);
    const auto list = request<ListQueuesRequest>("Action=ListQueues&QueueNamePrefix=p&MaxResults=5&NextToken=t");
    QCOMPARE(list.prefix, u"p"_s);
    QCOMPARE(list.maxResults, 5);
    QCOMPARE(list.nextToken, u"t"_s);
}

void TestSqsQuery::moreThan2000ParametersAreRefused()
{
    QByteArray form = "Action=ListQueues";
    for (int i = 0; i < 1999; ++i)
        form += "&x." + QByteArray::number(i) + '=';
    QCOMPARE(errorCode(form), QString());
    QCOMPARE(errorCode(form + "&y"), u"InvalidParameterValue"_s);
}

void TestSqsQuery::damagedFormsAreReadOrRefused()
{
    const QByteArray e = "SendMessageBatchRequestEntry.1.";
    const QByteArray form = "Action=SendMessageBatch&QueueUrl=q&" + e + "Id=b&" + e + "MessageBody=%C3%A9+two&" + e
        + "DelaySeconds=5&" + e + "MessageAttribute.1.Name=x&" + e + "MessageAttribute.1.Value.DataType=Binary&" + e
        + "MessageAttribute.1.Value.BinaryValue=AP8%3D";
    std::mt19937 dice(1);
    int good = 0;
    for (int i = 0; i < 5000; ++i) {
        QByteArray damaged = form;
        for (unsigned n = dice() % 4; n > 0; --n) {
            const auto at = qsizetype(dice() % size_t(damaged.size()));
            switch (dice() % 3) {
            case 0:
                damaged[at] = char(dice());
                break;
            case 1:
                damaged.remove(at, 1 + dice() % 10);
                break;
            default:
                damaged.insert(at, "%&=.+1"[dice() % 6]);
            }
        }
        const auto result = read(damaged, damaged.left(dice() % 50));
        if (std::holds_alternative<SqsRequest>(result))
            ++good;
        else
            QVERIFY(!std::get<SqsError>(result).message.isEmpty());
    }
    QVERIFY(good > 1000 && good < 5000);
}

void TestSqsQuery::answers_data()
{
    QTest::addColumn<QByteArray>("action");
    QTest::addColumn<SqsResult>("result");
    QTest::addColumn<QByteArray>("inside"); // of the response, before ResponseMetadata
    const SqsError fault = receiptHandleIsInvalid(u"<x>\u0001"_s);
    QTest::newRow("nothing") << "PurgeQueue"_ba << SqsResult(Nothing{}) << ""_ba;
    QTest::newRow("url")
        << "GetQueueUrl"_ba << SqsResult(QueueNamed{u"q"_s})
        << "<GetQueueUrlResult><QueueUrl>http://127.0.0.1:9324/000000000000/q</QueueUrl></GetQueueUrlResult>"_ba;
    QTest::newRow("list")
        << "ListQueues"_ba << SqsResult(QueueList{{u"a"_s, u"b"_s}, u"token"_s})
        << "<ListQueuesResult><QueueUrl>http://127.0.0.1:9324/000000000000/a</QueueUrl><QueueUrl>http://127.0.0.1:9324/"
           "000000000000/b</QueueUrl><NextToken>token</NextToken></ListQueuesResult>"_ba;
    QTest::newRow("empty list") << "ListQueues"_ba << SqsResult(QueueList{})
                                << "<ListQueuesResult></ListQueuesResult>"_ba;
    QTest::newRow("attributes")
        << "GetQueueAttributes"_ba << SqsResult(QueueAttributes{{{u"A"_s, u"1"_s}, {u"P"_s, u"{\"a&b\"}"_s}}})
        << "<GetQueueAttributesResult><Attribute><Name>A</Name><Value>1</Value></Attribute><Attribute><Name>P</Name>"
           "<Value>{\"a&amp;b\"}</Value></Attribute></GetQueueAttributesResult>"_ba;
    QTest::newRow("sent") << "SendMessage"_ba << SqsResult(SentMessage{{}, u"id"_s, "md5", {}, {}})
                          << "<SendMessageResult><MessageId>id</MessageId><MD5OfMessageBody>md5</MD5OfMessageBody>"
                             "</SendMessageResult>"_ba;
    QTest::newRow("sent with attributes")
        << "SendMessage"_ba << SqsResult(SentMessage{{}, u"id"_s, "md5", "a", "s"})
        << "<SendMessageResult><MessageId>id</MessageId><MD5OfMessageBody>md5</MD5OfMessageBody>"
           "<MD5OfMessageAttributes>a</MD5OfMessageAttributes><MD5OfMessageSystemAttributes>s"
           "</MD5OfMessageSystemAttributes></SendMessageResult>"_ba;
    QTest::newRow("batch")
        << "SendMessageBatch"_ba << SqsResult(SentBatch{{{u"1"_s, u"id"_s, "md5", {}, {}}}, {{u"2"_s, fault}}})
        << "<SendMessageBatchResult><SendMessageBatchResultEntry><Id>1</Id><MessageId>id</MessageId><MD5OfMessageBody>"
           "md5</MD5OfMessageBody></SendMessageBatchResultEntry><BatchResultErrorEntry><Id>2</Id><SenderFault>true"
           "</SenderFault><Code>ReceiptHandleIsInvalid</Code><Message>The input receipt handle \"&lt;x&gt;\uFFFD\" is "
           "not a valid receipt handle.</Message></BatchResultErrorEntry></SendMessageBatchResult>"_ba;
    QTest::newRow("deleted") << "DeleteMessageBatch"_ba << SqsResult(DoneBatch{{u"a"_s, u"b"_s}, {}})
                             << "<DeleteMessageBatchResult><DeleteMessageBatchResultEntry><Id>a</Id>"
                                "</DeleteMessageBatchResultEntry><DeleteMessageBatchResultEntry><Id>b</Id>"
                                "</DeleteMessageBatchResultEntry></DeleteMessageBatchResult>"_ba;
    QTest::newRow("visibility")
        << "ChangeMessageVisibilityBatch"_ba << SqsResult(DoneBatch{{u"a"_s}, {}})
        << "<ChangeMessageVisibilityBatchResult><ChangeMessageVisibilityBatchResultEntry><Id>a</Id>"
           "</ChangeMessageVisibilityBatchResultEntry></ChangeMessageVisibilityBatchResult>"_ba;
}

void TestSqsQuery::answers()
{
    QFETCH(QByteArray, action);
    QFETCH(SqsResult, result);
    QFETCH(QByteArray, inside);
    QCOMPARE(toSqsXml(action, result, Origin, "request"),
             "<?xml version=\"1.0\"?><" + action + "Response xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\">"
                 + inside + "<ResponseMetadata><RequestId>request</RequestId></ResponseMetadata></" + action
                 + "Response>");
}

void TestSqsQuery::receivedMessages()
{
    ReceivedMessage message;
    message.messageId = u"id"_s;
    message.receiptHandle = u"h"_s;
    message.body = "a\r\n<b>";
    message.bodyMd5 = "md5";
    message.systemAttributes = {{u"SentTimestamp"_s, u"1"_s}};
    message.attributes = {{u"b"_s, {u"Binary"_s, {}, "\xFF"}}, {u"t"_s, {u"String"_s, u"\r"_s, {}}}};
    message.attributesMd5 = "amd5";
    QCOMPARE(toSqsXml({message}, "r"),
             "<?xml version=\"1.0\"?><ReceiveMessageResponse xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\">"
             "<ReceiveMessageResult><Message><MessageId>id</MessageId><ReceiptHandle>h</ReceiptHandle><MD5OfBody>md5"
             "</MD5OfBody><Body>a&#13;\n&lt;b&gt;</Body><Attribute><Name>SentTimestamp</Name><Value>1</Value>"
             "</Attribute><MD5OfMessageAttributes>amd5</MD5OfMessageAttributes><MessageAttribute><Name>b</Name><Value>"
             "<DataType>Binary</DataType><BinaryValue>/w==</BinaryValue></Value></MessageAttribute><MessageAttribute>"
             "<Name>t</Name><Value><DataType>String</DataType><StringValue>&#13;</StringValue></Value>"
             "</MessageAttribute></Message></ReceiveMessageResult><ResponseMetadata><RequestId>r</RequestId>"
             "</ResponseMetadata></ReceiveMessageResponse>"_ba);
    QCOMPARE(toSqsXml(QList<ReceivedMessage>{}, "r"),
             "<?xml version=\"1.0\"?><ReceiveMessageResponse xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\">"
             "<ReceiveMessageResult></ReceiveMessageResult><ResponseMetadata><RequestId>r</RequestId>"
             "</ResponseMetadata></ReceiveMessageResponse>"_ba);
}

void TestSqsQuery::everyTextSurvivesAParser_data()
{
    QTest::addColumn<QString>("body");
    QTest::newRow("markup") << u"<![CDATA[ ]]> <a b='c\"'>&amp;</a><!-- -->"_s;
    QTest::newRow("line ends") << u"\r\r\n\n\t \r"_s;
    QTest::newRow("blanks only") << u"  \n "_s;
    QTest::newRow("a reference") << u"&#13;&lt;"_s;
    QTest::newRow("edges of what is legal") << u"\u0085\u2028\uFEFF\uD7FF\uE000\uFFFD\U00010000\U0010FFFD"_s;
    QTest::newRow("U+FEFF first") << u"\uFEFFx"_s;
}

void TestSqsQuery::everyTextSurvivesAParser()
{
    QFETCH(QString, body);
    ReceivedMessage message;
    message.body = body.toUtf8();
    QXmlStreamReader reader(toSqsXml({message}, "r"));
    QString got;
    while (!reader.atEnd()) {
        if (reader.readNext() == QXmlStreamReader::StartElement && reader.name() == "Body"_L1)
            got = reader.readElementText();
    }
    QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
    QCOMPARE(got, body);
}

void TestSqsQuery::errors()
{
    QCOMPARE(toSqsXml(queueDoesNotExist(), "r"),
             "<?xml version=\"1.0\"?><ErrorResponse xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\"><Error><Type>"
             "Sender</Type><Code>AWS.SimpleQueueService.NonExistentQueue</Code><Message>The specified queue does not "
             "exist for this wsdl version.</Message><Detail/></Error><RequestId>r</RequestId></ErrorResponse>"_ba);
    QVERIFY(toSqsXml(internalFailure(), "r").contains("<Type>Receiver</Type><Code>InternalFailure</Code>"));
    // What a caller wrote is repeated, but never as markup, and never as something XML cannot hold.
    const QByteArray odd = toSqsXml(receiptHandleIsInvalid(u"</Message>\u0000\u001B\uFFFE\uFFFFé"_s), "r");
    QVERIFY(odd.contains("\"&lt;/Message&gt;\uFFFD\uFFFD\uFFFD\uFFFDé\""));
}

QTEST_GUILESS_MAIN(TestSqsQuery)
#include "tst_sqsquery.moc"
