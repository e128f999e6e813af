#include "tests/world/queueworld.h"
#include "worker/local/receipthandle.h"

#include <QRandomGenerator>
#include <QRegularExpression>

using namespace sendonce;
using namespace sendonce::local;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

const QString Q = u"orders"_s;
const QString Dlq = u"dead"_s;

OutgoingMessage message(const QString &body, std::optional<int> delay = {})
{
    OutgoingMessage outgoing;
    outgoing.body = body;
    outgoing.delaySeconds = delay;
    return outgoing;
}

OutgoingMessage entry(const QString &id, const QString &body)
{
    OutgoingMessage outgoing = message(body);
    outgoing.id = id;
    return outgoing;
}

ReceiveMessageRequest receive(int most = 10, std::optional<int> visibility = {}, const QString &queue = Q)
{
    ReceiveMessageRequest request;
    request.queue = queue;
    request.maxNumberOfMessages = most;
    request.visibilityTimeout = visibility;
    return request;
}

QString redrive(int count, const QString &dlq = Dlq)
{
    return u"{\"deadLetterTargetArn\":\"%1\",\"maxReceiveCount\":\"%2\"}"_s.arg(QueueSettings::arn(dlq)).arg(count);
}

/// A world with the queues `orders` and `dead`.
struct TwoQueues : QueueWorld
{
    explicit TwoQueues(const QMap<QString, QString> &attributes = {}, quint64 seed = 1) : QueueWorld(seed)
    {
        ok<QueueNamed>(CreateQueueRequest{Dlq, {{u"MessageRetentionPeriod"_s, u"1209600"_s}}, {}});
        ok<QueueNamed>(CreateQueueRequest{Q, attributes, {}});
    }
    QString send(const QString &body, std::optional<int> delay = {})
    {
        return ok<SentMessage>(SendMessageRequest{Q, message(body, delay)}).messageId;
    }
    QList<HandedOut> receiveAll(const ReceiveMessageRequest &request) { return ok<ReceivedMessages>(request).messages; }
    HandedOut receiveOne(std::optional<int> visibility = {})
    {
        const auto got = receiveAll(receive(1, visibility));
        return got.isEmpty() ? HandedOut{} : got.constFirst();
    }
    QString attribute(const QString &name, const QString &queue = Q)
    {
        return ok<QueueAttributes>(GetQueueAttributesRequest{queue, {name}}).attributes.value(name);
    }
    /// "visible/in flight/delayed"
    QString depth(const QString &queue = Q)
    {
        const LocalQueue *found = queues().find(queue);
        return u"%1/%2/%3"_s.arg(found->visibleCount()).arg(found->inFlightCount()).arg(found->delayedCount());
    }
    void changeVisibility(const QString &handle, int timeout)
    {
        ok<Nothing>(ChangeMessageVisibilityRequest{Q, {{}, handle, timeout}});
    }
};

} // namespace

class TestLocalQueue : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    // queues
    void createAgainGivesTheSameQueue();
    void createWithAnotherValueIsNameExists();
    void queueNames_data();
    void queueNames();
    void attributeValues_data();
    void attributeValues();
    void allAttributesOfAPlainQueue();
    void unknownAttributesAreNamed();
    void notSupportedSaysSo();
    void deletedNameIsFreeAfterAMinute();
    void listsByPrefixAndPage();
    void setAttributesChangesOnlyWhatIsGiven();
    void redrivePolicyNeedsAWillingTarget();
    void policiesAreTakenOffByEmptyText();
    void missingQueueIsSaidByEveryOperation();

    // sending
    void refusedMessages_data();
    void refusedMessages();
    void sizeLimitCountsAttributes();
    void batchRules_data();
    void batchRules();
    void aBadEntryLeavesTheOthersAlone();
    void delayHides();

    // receiving
    void receiveHidesAndCounts();
    void receiveParameters_data();
    void receiveParameters();
    void visibilityZeroStaysVisibleAndCounts();
    void callBeatsQueueAttribute();
    void inFlightLimit();
    void longPollIsToldWhatToWaitFor();

    // handles
    void deleteWithTheNewestHandle();
    void deleteAfterTheTimeout();
    void deleteWithAnOlderHandleChangesNothing();
    void deleteAgainIsNoError();
    void notAHandle();
    void visibilityCountsFromNow();
    void visibilityOfATimedOutMessage();
    void visibilityOfADeletedMessage();
    void visibilityBeyondTwelveHours();

    // dead letters, retention, purge
    void redriveInsideTheReceive();
    void redriveLooksOnAfterMoving();
    void deadLetterKeepsItsAgeAndCount();
    void sourceHandleIsNoGoodInTheDlq();
    void chainedDlqCountsItsOwnReceives();
    void deletedDlqMeansDeliveringOn();
    void retentionCountsFromTheSend();
    void purgeEmptiesOnceAMinute();

    // what faults do
    void newestFirst();
    void newestFirstOverARedrive();
    void struckEntriesAreCheckedLikeOthers();
    void aForgottenReceiveComesAgain();
    void hiddenForMilliseconds();
    void rollbackUndoesFaultsToo();

    // turns, clocks, restarts
    void rollbackUndoesEverything();
    void receivesNeedNotBeSynced();
    void clockNeverGoesBack();
    void wallClockOnlyShows();
    void restartKeepsWhatIsLeftOfTheTimeout();
    void restartNeverHidesLongerThanAsked();
    void restartAfterTheClockWasSetForward();
    void restartWithAnEarlierClockKeepsMessages();
    void randomWalk();
};

// ---- queues -----------------------------------------------------------------------------------------------

void TestLocalQueue::createAgainGivesTheSameQueue()
{
    TwoQueues world({{u"VisibilityTimeout"_s, u"5"_s}, {u"RedrivePolicy"_s, redrive(3)}});
    world.send(u"a"_s);
    world.ok<QueueNamed>(CreateQueueRequest{Q, {}, {}});
    world.ok<QueueNamed>(CreateQueueRequest{Q, {{u"VisibilityTimeout"_s, u"5"_s}}, {}});
    // The same policy, spelled with a number.
    const QString respelled =
        u"{ \"maxReceiveCount\": 3, \"deadLetterTargetArn\": \"%1\" }"_s.arg(QueueSettings::arn(Dlq));
    world.ok<QueueNamed>(CreateQueueRequest{Q, {{u"RedrivePolicy"_s, respelled}}, {}});
    QCOMPARE(world.attribute(u"VisibilityTimeout"_s), u"5"_s);
    QCOMPARE(world.depth(), u"1/0/0"_s);
}

void TestLocalQueue::createWithAnotherValueIsNameExists()
{
    TwoQueues world({{u"RedrivePolicy"_s, redrive(3)}});
    const SqsError error = world.error(CreateQueueRequest{Q, {{u"VisibilityTimeout"_s, u"31"_s}}, {}});
    QCOMPARE(error.shape, u"QueueNameExists"_s);
    QCOMPARE(error.queryCode, u"QueueAlreadyExists"_s);
    QCOMPARE(error.message,
             u"A queue already exists with the same name and a different value for attribute VisibilityTimeout"_s);
    QCOMPARE(world.error(CreateQueueRequest{Q, {{u"RedrivePolicy"_s, redrive(4)}}, {}}).shape, u"QueueNameExists"_s);
    // It is the current value that counts, not the one at creation.
    world.ok<Nothing>(SetQueueAttributesRequest{Q, {{u"VisibilityTimeout"_s, u"31"_s}}});
    world.ok<QueueNamed>(CreateQueueRequest{Q, {{u"VisibilityTimeout"_s, u"31"_s}}, {}});
}

void TestLocalQueue::queueNames_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("code");
    QTest::newRow("letters, digits, hyphen, underscore") << u"Az09-_"_s << u""_s;
    QTest::newRow("80 long") << QString(80, u'a') << u""_s;
    QTest::newRow("81 long") << QString(81, u'a') << u"InvalidParameterValue"_s;
    QTest::newRow("empty") << u""_s << u"MissingParameter"_s;
    QTest::newRow("blank") << u"a b"_s << u"InvalidParameterValue"_s;
    QTest::newRow("umlaut") << u"ä"_s << u"InvalidParameterValue"_s;
    QTest::newRow("dot") << u"a.b"_s << u"InvalidParameterValue"_s;
    QTest::newRow("FIFO") << u"a.fifo"_s << u"AWS.SimpleQueueService.UnsupportedOperation"_s;
}

void TestLocalQueue::queueNames()
{
    QFETCH(QString, name);
    QFETCH(QString, code);
    QueueWorld world;
    if (code.isEmpty())
        QCOMPARE(world.ok<QueueNamed>(CreateQueueRequest{name, {}, {}}).name, name);
    else
        QCOMPARE(world.error(CreateQueueRequest{name, {}, {}}).queryCode, code);
}

void TestLocalQueue::attributeValues_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("code");
    const auto bounds = [](const char *name, qint64 least, qint64 most) {
        const QString attribute = QString::fromLatin1(name);
        const QString bad = u"InvalidAttributeValue"_s;
        QTest::addRow("%s least", name) << attribute << QString::number(least) << QString();
        QTest::addRow("%s most", name) << attribute << QString::number(most) << QString();
        QTest::addRow("%s too small", name) << attribute << QString::number(least - 1) << bad;
        QTest::addRow("%s too large", name) << attribute << QString::number(most + 1) << bad;
        QTest::addRow("%s no number", name) << attribute << u"1e2"_s << bad;
        QTest::addRow("%s empty", name) << attribute << QString() << bad;
    };
    bounds("VisibilityTimeout", 0, 43200);
    bounds("MessageRetentionPeriod", 60, 1209600);
    bounds("DelaySeconds", 0, 900);
    bounds("ReceiveMessageWaitTimeSeconds", 0, 20);
    bounds("MaximumMessageSize", 1024, 1048576);
    bounds("KmsDataKeyReusePeriodSeconds", 60, 86400);
    const QString policy = u"RedrivePolicy"_s;
    const QString refused = u"InvalidParameterValue"_s;
    const QString arn = QueueSettings::arn(Dlq);
    QTest::newRow("redrive, count as text") << policy << redrive(3) << QString();
    QTest::newRow("redrive, count as number")
        << policy << u"{\"deadLetterTargetArn\":\"%1\",\"maxReceiveCount\":1000}"_s.arg(arn) << QString();
    QTest::newRow("redrive, any region and account")
        << policy << u"{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-west-1:123456789012:dead\",\"maxReceiveCount\":1}"_s
        << QString();
    QTest::newRow("redrive, count 0") << policy << redrive(0) << refused;
    QTest::newRow("redrive, count 1001") << policy << redrive(1001) << refused;
    QTest::newRow("redrive, count 1.5") << policy
                                        << u"{\"deadLetterTargetArn\":\"%1\",\"maxReceiveCount\":1.5}"_s.arg(arn)
                                        << refused;
    QTest::newRow("redrive, no count") << policy << u"{\"deadLetterTargetArn\":\"%1\"}"_s.arg(arn) << refused;
    QTest::newRow("redrive, no target") << policy << u"{\"maxReceiveCount\":3}"_s << refused;
    QTest::newRow("redrive, no ARN") << policy << u"{\"deadLetterTargetArn\":\"dead\",\"maxReceiveCount\":3}"_s
                                     << refused;
    QTest::newRow("redrive, further key")
        << policy << u"{\"deadLetterTargetArn\":\"%1\",\"maxReceiveCount\":3,\"x\":1}"_s.arg(arn) << refused;
    QTest::newRow("redrive, no JSON") << policy << u"{"_s << refused;
    const QString allow = u"RedriveAllowPolicy"_s;
    QTest::newRow("allow all") << allow << u"{\"redrivePermission\":\"allowAll\"}"_s << QString();
    QTest::newRow("deny all") << allow << u"{\"redrivePermission\":\"denyAll\"}"_s << QString();
    QTest::newRow("by queue") << allow << u"{\"redrivePermission\":\"byQueue\",\"sourceQueueArns\":[\"%1\"]}"_s.arg(arn)
                              << QString();
    QTest::newRow("by queue, none") << allow << u"{\"redrivePermission\":\"byQueue\"}"_s << refused;
    QTest::newRow("another permission") << allow << u"{\"redrivePermission\":\"some\"}"_s << refused;
    QTest::newRow("Policy") << u"Policy"_s << u"{\"Version\":\"2012-10-17\"}"_s << QString();
    QTest::newRow("Policy, no JSON") << u"Policy"_s << u"yes"_s << u"InvalidAttributeValue"_s;
    QTest::newRow("Policy, U+FFFE in it") << u"Policy"_s << u"{\"a\":\"\uFFFE\"}"_s << u"InvalidAttributeValue"_s;
    QTest::newRow("KmsMasterKeyId, a control character")
        << u"KmsMasterKeyId"_s << u"\u0001"_s << u"InvalidAttributeValue"_s;
    QTest::newRow("SSE") << u"SqsManagedSseEnabled"_s << u"false"_s << QString();
    QTest::newRow("SSE, no word") << u"SqsManagedSseEnabled"_s << u"no"_s << u"InvalidAttributeValue"_s;
    QTest::newRow("read only") << u"QueueArn"_s << u"x"_s << u"InvalidAttributeName"_s;
    QTest::newRow("unknown") << u"Foobar"_s << u"x"_s << u"InvalidAttributeName"_s;
    QTest::newRow("into FIFO") << u"FifoQueue"_s << u"true"_s << u"InvalidAttributeValue"_s;
}

void TestLocalQueue::attributeValues()
{
    QFETCH(QString, name);
    QFETCH(QString, value);
    QFETCH(QString, code);
    TwoQueues world;
    if (!code.isEmpty()) {
        QCOMPARE(world.error(SetQueueAttributesRequest{Q, {{name, value}}}).queryCode, code);
        return;
    }
    world.ok<Nothing>(SetQueueAttributesRequest{Q, {{name, value}}});
    if (name != u"KmsDataKeyReusePeriodSeconds"_s) // shown with a key only
        QCOMPARE(world.attribute(name), value);
    world.restart();
    if (name != u"KmsDataKeyReusePeriodSeconds"_s)
        QCOMPARE(world.attribute(name), value);
}

void TestLocalQueue::allAttributesOfAPlainQueue()
{
    TwoQueues world;
    const auto all = world.ok<QueueAttributes>(GetQueueAttributesRequest{Q, {u"All"_s}}).attributes;
    const QMap<QString, QString> expected{
        {u"ApproximateNumberOfMessages"_s, u"0"_s},
        {u"ApproximateNumberOfMessagesDelayed"_s, u"0"_s},
        {u"ApproximateNumberOfMessagesNotVisible"_s, u"0"_s},
        {u"CreatedTimestamp"_s, u"1700000000"_s},
        {u"DelaySeconds"_s, u"0"_s},
        {u"LastModifiedTimestamp"_s, u"1700000000"_s},
        {u"MaximumMessageSize"_s, u"1048576"_s},
        {u"MessageRetentionPeriod"_s, u"345600"_s},
        {u"QueueArn"_s, u"arn:aws:sqs:us-east-1:000000000000:orders"_s},
        {u"ReceiveMessageWaitTimeSeconds"_s, u"0"_s},
        {u"SqsManagedSseEnabled"_s, u"true"_s},
        {u"VisibilityTimeout"_s, u"30"_s},
    };
    QCOMPARE(all, expected);
    QVERIFY(world.ok<QueueAttributes>(GetQueueAttributesRequest{Q, {}}).attributes.isEmpty());
}

void TestLocalQueue::unknownAttributesAreNamed()
{
    TwoQueues world;
    const SqsError error = world.error(GetQueueAttributesRequest{Q, {u"VisibilityTimeout"_s, u"Foobar"_s}});
    QCOMPARE(error.shape, u"InvalidAttributeName"_s);
    QCOMPARE(error.message, u"Unknown Attribute Foobar."_s);
    QCOMPARE(world.error(CreateQueueRequest{u"x"_s, {{u"FifoQueue"_s, u"false"_s}}, {}}).message,
             u"Unknown Attribute FifoQueue."_s);
    ReceiveMessageRequest request = receive();
    request.systemAttributeNames = QStringList{u"SentTimestamp"_s, u"Nonsense"_s};
    QCOMPARE(world.error(request).message, u"Unknown Attribute Nonsense."_s);
    // Known, not set: just not there.
    QVERIFY(world.ok<QueueAttributes>(GetQueueAttributesRequest{Q, {u"RedrivePolicy"_s}}).attributes.isEmpty());
}

void TestLocalQueue::notSupportedSaysSo()
{
    QueueWorld world;
    const SqsError tags = world.error(CreateQueueRequest{u"x"_s, {}, {{u"team"_s, u"blue"_s}}});
    QCOMPARE(tags.shape, u"UnsupportedOperation"_s);
    QVERIFY(tags.message.contains(u"Tags"_s));
    const SqsError fifo = world.error(CreateQueueRequest{u"x.fifo"_s, {{u"FifoQueue"_s, u"true"_s}}, {}});
    QCOMPARE(fifo.shape, u"UnsupportedOperation"_s);
    QVERIFY(fifo.message.contains(u"FIFO"_s));
}

void TestLocalQueue::deletedNameIsFreeAfterAMinute()
{
    TwoQueues world;
    world.send(u"a"_s);
    world.ok<Nothing>(DeleteQueueRequest{Q});
    QCOMPARE(world.error(GetQueueUrlRequest{Q, {}}).queryCode, u"AWS.SimpleQueueService.NonExistentQueue"_s);
    world.advance(59999ms);
    QCOMPARE(world.error(CreateQueueRequest{Q, {}, {}}).queryCode, u"AWS.SimpleQueueService.QueueDeletedRecently"_s);
    world.advance(1ms);
    // Nothing of the old one comes back, in no queue, now or later.
    world.restart();
    for (const QString &name : {Q, u"other"_s, u"another"_s}) {
        world.ok<QueueNamed>(CreateQueueRequest{name, {}, {}});
        QCOMPARE(world.depth(name), u"0/0/0"_s);
    }
    world.restart();
    for (const QString &name : {Q, u"other"_s, u"another"_s})
        QCOMPARE(world.depth(name), u"0/0/0"_s);
}

void TestLocalQueue::listsByPrefixAndPage()
{
    QueueWorld world;
    for (const QString &name : {u"b1"_s, u"a2"_s, u"a3"_s, u"a1"_s, u"c"_s})
        world.ok<QueueNamed>(CreateQueueRequest{name, {}, {}});
    const auto all = world.ok<QueueList>(ListQueuesRequest{});
    QCOMPARE(all.names, QStringList({u"a1"_s, u"a2"_s, u"a3"_s, u"b1"_s, u"c"_s}));
    QVERIFY(all.nextToken.isEmpty());
    const auto first = world.ok<QueueList>(ListQueuesRequest{u"a"_s, 2, {}});
    QCOMPARE(first.names, QStringList({u"a1"_s, u"a2"_s}));
    const auto second = world.ok<QueueList>(ListQueuesRequest{u"a"_s, 2, first.nextToken});
    QCOMPARE(second.names, QStringList({u"a3"_s}));
    QVERIFY(second.nextToken.isEmpty());
    QVERIFY(world.ok<QueueList>(ListQueuesRequest{u"z"_s, {}, {}}).names.isEmpty());
    QCOMPARE(world.error(ListQueuesRequest{{}, 0, {}}).queryCode, u"InvalidParameterValue"_s);
    QCOMPARE(world.error(ListQueuesRequest{{}, 1001, {}}).queryCode, u"InvalidParameterValue"_s);
    QCOMPARE(world.error(ListQueuesRequest{{}, 1, u"???"_s}).queryCode, u"InvalidParameterValue"_s);
}

void TestLocalQueue::setAttributesChangesOnlyWhatIsGiven()
{
    TwoQueues world({{u"VisibilityTimeout"_s, u"7"_s}, {u"DelaySeconds"_s, u"2"_s}});
    world.advance(5s);
    world.ok<Nothing>(SetQueueAttributesRequest{Q, {{u"DelaySeconds"_s, u"3"_s}}});
    QCOMPARE(world.attribute(u"VisibilityTimeout"_s), u"7"_s);
    QCOMPARE(world.attribute(u"DelaySeconds"_s), u"3"_s);
    QCOMPARE(world.attribute(u"LastModifiedTimestamp"_s), u"1700000005"_s);
    QCOMPARE(world.attribute(u"CreatedTimestamp"_s), u"1700000000"_s);
    // One bad value, nothing set.
    world.error(SetQueueAttributesRequest{Q, {{u"DelaySeconds"_s, u"4"_s}, {u"VisibilityTimeout"_s, u"x"_s}}});
    QCOMPARE(world.attribute(u"DelaySeconds"_s), u"3"_s);
    QCOMPARE(world.error(SetQueueAttributesRequest{Q, {}}).queryCode, u"MissingParameter"_s);
}

void TestLocalQueue::redrivePolicyNeedsAWillingTarget()
{
    TwoQueues world;
    const auto set = [](const QString &queue, const QString &name, const QString &value) {
        return SetQueueAttributesRequest{queue, {{name, value}}};
    };
    const QString policy = u"RedrivePolicy"_s;
    const QString allow = u"RedriveAllowPolicy"_s;
    const SqsError nobody = world.error(set(Q, policy, redrive(3, u"nobody"_s)));
    QCOMPARE(nobody.queryCode, u"InvalidParameterValue"_s);
    QVERIFY(nobody.message.contains(u"Dead letter target does not exist."_s));
    world.error(CreateQueueRequest{u"x"_s, {{policy, redrive(3, u"nobody"_s)}}, {}});
    world.error(set(Q, policy, redrive(3, Q)));

    world.ok<Nothing>(set(Dlq, allow, u"{\"redrivePermission\":\"denyAll\"}"_s));
    world.error(set(Q, policy, redrive(3)));
    world.ok<Nothing>(set(
        Dlq, allow, u"{\"redrivePermission\":\"byQueue\",\"sourceQueueArns\":[\"%1\"]}"_s.arg(QueueSettings::arn(Q))));
    world.ok<Nothing>(set(Q, policy, redrive(3)));
    world.error(CreateQueueRequest{u"other"_s, {{policy, redrive(3)}}, {}});
}

void TestLocalQueue::policiesAreTakenOffByEmptyText()
{
    TwoQueues world({{u"RedrivePolicy"_s, redrive(1)}, {u"Policy"_s, u"{}"_s}});
    world.ok<Nothing>(SetQueueAttributesRequest{Q, {{u"RedrivePolicy"_s, u""_s}, {u"Policy"_s, u""_s}}});
    QVERIFY(world.ok<QueueAttributes>(GetQueueAttributesRequest{Q, {u"RedrivePolicy"_s, u"Policy"_s}})
                .attributes.isEmpty());
    world.send(u"a"_s);
    for (int i = 1; i <= 5; ++i)
        QCOMPARE(world.receiveOne(0).receiveCount, quint32(i));
}

void TestLocalQueue::missingQueueIsSaidByEveryOperation()
{
    QueueWorld world;
    const QString none = u"none"_s;
    const SqsRequest requests[] = {
        GetQueueUrlRequest{none, {}},
        GetQueueAttributesRequest{none, {u"All"_s}},
        SetQueueAttributesRequest{none, {{u"DelaySeconds"_s, u"1"_s}}},
        DeleteQueueRequest{none},
        PurgeQueueRequest{none},
        SendMessageRequest{none, message(u"a"_s)},
        SendMessageBatchRequest{none, {entry(u"1"_s, u"a"_s)}},
        receive(1, {}, none),
        DeleteMessageRequest{none, u"x"_s},
        DeleteMessageBatchRequest{none, {{u"1"_s, u"x"_s}}},
        ChangeMessageVisibilityRequest{none, {{}, u"x"_s, 1}},
        ChangeMessageVisibilityBatchRequest{none, {{u"1"_s, u"x"_s, 1}}},
    };
    for (const SqsRequest &request : requests) {
        const SqsError error = world.error(request);
        QCOMPARE(error.shape, u"QueueDoesNotExist"_s);
        QCOMPARE(error.httpStatus, 400);
    }
    TwoQueues other;
    QCOMPARE(other.error(GetQueueUrlRequest{Q, u"123456789012"_s}).shape, u"QueueDoesNotExist"_s);
    other.ok<QueueNamed>(GetQueueUrlRequest{Q, u"000000000000"_s});
}

// ---- sending ----------------------------------------------------------------------------------------------

void TestLocalQueue::refusedMessages_data()
{
    QTest::addColumn<OutgoingMessage>("outgoing");
    QTest::addColumn<QString>("code");
    const QString value = u"InvalidParameterValue"_s;
    const auto withAttribute = [](const QString &name, const QString &type, const QString &text,
                                  const QByteArray &binary = {}) {
        OutgoingMessage outgoing = message(u"a"_s);
        outgoing.attributes.insert(name, {type, text, binary});
        return outgoing;
    };
    const auto body = [](const QString &text) { return message(text); };
    QTest::newRow("tab, line feed, return") << body(u"\t\n\r"_s) << QString();
    QTest::newRow("emoji") << body(u"\U0001F600"_s) << QString();
    QTest::newRow("empty") << body(u""_s) << u"MissingParameter"_s;
    QTest::newRow("NUL") << body(QString(QChar(0))) << u"InvalidMessageContents"_s;
    QTest::newRow("U+0008") << body(u"\u0008"_s) << u"InvalidMessageContents"_s;
    QTest::newRow("U+FFFE") << body(QString(QChar(0xFFFE))) << u"InvalidMessageContents"_s;
    QTest::newRow("U+FFFD") << body(QString(QChar(0xFFFD))) << QString();
    QTest::newRow("lone high surrogate") << body(u"a"_s + QChar(0xD800)) << u"InvalidMessageContents"_s;
    QTest::newRow("lone low surrogate") << body(QString(QChar(0xDC00))) << u"InvalidMessageContents"_s;
    QTest::newRow("delay 900") << message(u"a"_s, 900) << QString();
    QTest::newRow("delay 901") << message(u"a"_s, 901) << value;
    QTest::newRow("delay -1") << message(u"a"_s, -1) << value;
    OutgoingMessage group = message(u"a"_s);
    group.groupId = u"tenant-1!"_s;
    QTest::newRow("group id") << group << QString();
    group.groupId = u"a b"_s;
    QTest::newRow("group id with a blank") << group << value;
    group.groupId = QString(129, u'a');
    QTest::newRow("group id of 129") << group << value;
    group.groupId = u""_s;
    QTest::newRow("group id empty") << group << value;
    OutgoingMessage deduplicated = message(u"a"_s);
    deduplicated.deduplicationId = u"d"_s;
    QTest::newRow("deduplication id") << deduplicated << value;

    QTest::newRow("String") << withAttribute(u"a"_s, u"String"_s, u"x"_s) << QString();
    QTest::newRow("label") << withAttribute(u"a"_s, u"String.my label"_s, u"x"_s) << QString();
    QTest::newRow("Binary") << withAttribute(u"a"_s, u"Binary.gif"_s, {}, "\0\xff"_ba) << QString();
    QTest::newRow("type with nothing behind the dot") << withAttribute(u"a"_s, u"String."_s, u"x"_s) << value;
    QTest::newRow("type of 257") << withAttribute(u"a"_s, u"String."_s + QString(250, u'x'), u"x"_s) << value;
    QTest::newRow("type of 256") << withAttribute(u"a"_s, u"String."_s + QString(249, u'x'), u"x"_s) << QString();
    QTest::newRow("unknown type") << withAttribute(u"a"_s, u"Text"_s, u"x"_s) << value;
    QTest::newRow("no type") << withAttribute(u"a"_s, u""_s, u"x"_s) << value;
    QTest::newRow("empty String") << withAttribute(u"a"_s, u"String"_s, u""_s) << value;
    QTest::newRow("empty Binary") << withAttribute(u"a"_s, u"Binary"_s, {}) << value;
    QTest::newRow("text in a Binary") << withAttribute(u"a"_s, u"Binary"_s, u"x"_s, "x"_ba) << value;
    QTest::newRow("illegal character") << withAttribute(u"a"_s, u"String"_s, QString(QChar(1))) << value;
    const char *const goodNumbers[] = {"0",
                                       "-1",
                                       "+1",
                                       "1.5",
                                       ".5",
                                       "5.",
                                       "1e10",
                                       "1E-128",
                                       "1e126",
                                       "0e999",
                                       "12345678901234567890123456789012345678",
                                       "1000000000000000000000000000000000000000"};
    for (const char *number : goodNumbers)
        QTest::addRow("number %s", number)
            << withAttribute(u"a"_s, u"Number.int"_s, QString::fromLatin1(number)) << QString();
    const char *const badNumbers[] = {"x",
                                      "1x",
                                      "",
                                      ".",
                                      "e5",
                                      "1e127",
                                      "1.1e126",
                                      "1e-129",
                                      "0x10",
                                      " 1",
                                      "1,5",
                                      "NaN",
                                      "123456789012345678901234567890123456789"};
    for (const char *number : badNumbers)
        QTest::addRow("no number \"%s\"", number)
            << withAttribute(u"a"_s, u"Number"_s, QString::fromLatin1(number)) << value;
    const char *const goodNames[] = {"a", "A.b-c_9", "aws"};
    for (const char *name : goodNames)
        QTest::addRow("name %s", name) << withAttribute(QString::fromLatin1(name), u"String"_s, u"x"_s) << QString();
    const char *const badNames[] = {"", ".a", "a.", "a..b", "a b", "AWS.x", "aws.x", "Amazon.x", "aMAZON.x", "a/b"};
    for (const char *name : badNames)
        QTest::addRow("bad name \"%s\"", name)
            << withAttribute(QString::fromLatin1(name), u"String"_s, u"x"_s) << value;
    QTest::newRow("name of 256") << withAttribute(QString(256, u'a'), u"String"_s, u"x"_s) << QString();
    QTest::newRow("name of 257") << withAttribute(QString(257, u'a'), u"String"_s, u"x"_s) << value;
    OutgoingMessage many = message(u"a"_s);
    for (int i = 0; i < 10; ++i)
        many.attributes.insert(QString::number(i), {u"String"_s, u"x"_s, {}});
    QTest::newRow("10 attributes") << many << QString();
    many.attributes.insert(u"10"_s, {u"String"_s, u"x"_s, {}});
    QTest::newRow("11 attributes") << many << value;

    OutgoingMessage traced = message(u"a"_s);
    traced.systemAttributes.insert(u"AWSTraceHeader"_s, {u"String"_s, u"Root=1"_s, {}});
    QTest::newRow("trace header") << traced << QString();
    traced.systemAttributes.insert(u"SenderId"_s, {u"String"_s, u"me"_s, {}});
    QTest::newRow("another system attribute") << traced << value;
}

void TestLocalQueue::refusedMessages()
{
    QFETCH(OutgoingMessage, outgoing);
    QFETCH(QString, code);
    TwoQueues world;
    if (code.isEmpty())
        world.ok<SentMessage>(SendMessageRequest{Q, outgoing});
    else
        QCOMPARE(world.error(SendMessageRequest{Q, outgoing}).queryCode, code);
    QCOMPARE(world.queues().find(Q)->count(), code.isEmpty() ? 1 : 0);
    // In a batch the same is that entry's failure.
    outgoing.id = u"1"_s;
    const auto batch = world.ok<SentBatch>(SendMessageBatchRequest{Q, {outgoing, entry(u"2"_s, u"b"_s)}});
    QCOMPARE(batch.successful.size(), code.isEmpty() ? 2 : 1);
    if (!code.isEmpty()) {
        QCOMPARE(batch.failed.constFirst().error.queryCode, code);
        QVERIFY(batch.failed.constFirst().error.senderFault);
    }
}

void TestLocalQueue::sizeLimitCountsAttributes()
{
    TwoQueues world({{u"MaximumMessageSize"_s, u"1024"_s}});
    world.ok<SentMessage>(SendMessageRequest{Q, message(QString(1024, u'a'))});
    world.ok<SentMessage>(SendMessageRequest{Q, message(QString(512, u'ä'))});
    const SqsError error = world.error(SendMessageRequest{Q, message(QString(1025, u'a'))});
    QCOMPARE(error.message, u"One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes."_s);
    QCOMPARE(error.queryCode, u"InvalidParameterValue"_s);
    world.error(SendMessageRequest{Q, message(QString(513, u'ä'))});

    OutgoingMessage outgoing = message(QString(1024 - 2 - 6 - 3, u'a'));
    outgoing.attributes.insert(u"ab"_s, {u"Binary"_s, {}, "123"_ba});
    outgoing.systemAttributes.insert(u"AWSTraceHeader"_s, {u"String"_s, u"does not count"_s, {}});
    world.ok<SentMessage>(SendMessageRequest{Q, outgoing});
    outgoing.body += u'a';
    world.error(SendMessageRequest{Q, outgoing});

    const auto batch = world.ok<SentBatch>(SendMessageBatchRequest{Q, {entry(u"1"_s, QString(1025, u'a'))}});
    QCOMPARE(batch.failed.constFirst().error.message,
             u"One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes."_s);
}

void TestLocalQueue::batchRules_data()
{
    QTest::addColumn<QList<OutgoingMessage>>("entries");
    QTest::addColumn<QString>("shape");
    QTest::addColumn<QString>("text");
    QList<OutgoingMessage> many;
    for (int i = 0; i < 20; ++i)
        many += entry(QString::number(i), u"a"_s);
    QTest::newRow("ten") << many.first(10) << QString() << QString();
    QTest::newRow("none") << QList<OutgoingMessage>() << u"EmptyBatchRequest"_s << QString();
    QTest::newRow("twenty") << many << u"TooManyEntriesInBatchRequest"_s
                            << u"Maximum number of entries per request are 10. You have sent 20."_s;
    QTest::newRow("same id") << QList<OutgoingMessage>{entry(u"a"_s, u"a"_s), entry(u"a"_s, u"b"_s)}
                             << u"BatchEntryIdsNotDistinct"_s << QString();
    QTest::newRow("id with a dot") << QList<OutgoingMessage>{entry(u"a.b"_s, u"a"_s)} << u"InvalidBatchEntryId"_s
                                   << u"A batch entry id can only contain alphanumeric characters, hyphens and "
                                      "underscores. It can be at most 80 letters long."_s;
    QTest::newRow("id of 81") << QList<OutgoingMessage>{entry(QString(81, u'a'), u"a"_s)} << u"InvalidBatchEntryId"_s
                              << QString();
    QTest::newRow("id empty") << QList<OutgoingMessage>{entry(u""_s, u"a"_s)} << u"InvalidBatchEntryId"_s << QString();
    const QString half(524288, u'a');
    QTest::newRow("1 MiB in all") << QList<OutgoingMessage>{entry(u"a"_s, half), entry(u"b"_s, half)} << QString()
                                  << QString();
    QTest::newRow("1 MiB and a byte")
        << QList<OutgoingMessage>{entry(u"a"_s, half), entry(u"b"_s, half + u'a')} << u"BatchRequestTooLong"_s
        << u"Batch requests cannot be longer than 1048576 bytes. You have sent 1048577 bytes."_s;
}

void TestLocalQueue::batchRules()
{
    QFETCH(QList<OutgoingMessage>, entries);
    QFETCH(QString, shape);
    QFETCH(QString, text);
    TwoQueues world;
    if (shape.isEmpty()) {
        QCOMPARE(world.ok<SentBatch>(SendMessageBatchRequest{Q, entries}).successful.size(), entries.size());
        return;
    }
    const SqsError error = world.error(SendMessageBatchRequest{Q, entries});
    QCOMPARE(error.shape, shape);
    QCOMPARE(error.queryCode, u"AWS.SimpleQueueService."_s + shape);
    if (!text.isEmpty())
        QCOMPARE(error.message, text);
}

void TestLocalQueue::aBadEntryLeavesTheOthersAlone()
{
    TwoQueues world;
    const auto sent = world.ok<SentBatch>(
        SendMessageBatchRequest{Q, {entry(u"1"_s, u"a"_s), entry(u"2"_s, QString(QChar(0))), entry(u"3"_s, u"c"_s)}});
    QCOMPARE(sent.successful.size(), 2);
    QCOMPARE(sent.failed.size(), 1);
    QCOMPARE(sent.failed.constFirst().id, u"2"_s);
    QCOMPARE(world.depth(), u"2/0/0"_s);

    const auto got = world.receiveAll(receive());
    const auto visibility = world.ok<DoneBatch>(ChangeMessageVisibilityBatchRequest{
        Q, {{u"a"_s, got.at(0).receiptHandle, 0}, {u"b"_s, u"garbage"_s, 0}, {u"c"_s, got.at(1).receiptHandle, {}}}});
    QCOMPARE(visibility.successful, QStringList{u"a"_s});
    QCOMPARE(visibility.failed.at(0).error.shape, u"ReceiptHandleIsInvalid"_s);
    QCOMPARE(visibility.failed.at(1).error.queryCode, u"MissingParameter"_s);
    QCOMPARE(world.depth(), u"1/1/0"_s);
    const auto deleted = world.ok<DoneBatch>(DeleteMessageBatchRequest{
        Q, {{u"a"_s, got.at(0).receiptHandle}, {u"b"_s, u"garbage"_s}, {u"c"_s, got.at(1).receiptHandle}}});
    QCOMPARE(deleted.successful, QStringList({u"a"_s, u"c"_s}));
    QCOMPARE(deleted.failed.constFirst().id, u"b"_s);
    QCOMPARE(world.depth(), u"0/0/0"_s);
}

void TestLocalQueue::delayHides()
{
    TwoQueues world({{u"DelaySeconds"_s, u"5"_s}});
    world.send(u"queue's"_s);
    world.send(u"own"_s, 2);
    world.send(u"none"_s, 0);
    QCOMPARE(world.depth(), u"1/0/2"_s);
    QCOMPARE(world.queues().nextVisibleAt(Q), std::optional(world.now() + 2000));
    world.advance(1999ms);
    QCOMPARE(world.depth(), u"1/0/2"_s);
    world.advance(1ms);
    QCOMPARE(world.depth(), u"2/0/1"_s);
    world.advance(3s);
    QCOMPARE(world.depth(), u"3/0/0"_s);
    // Not retroactive.
    world.ok<Nothing>(SetQueueAttributesRequest{Q, {{u"DelaySeconds"_s, u"900"_s}}});
    QCOMPARE(world.depth(), u"3/0/0"_s);
    QCOMPARE(world.receiveAll(receive()).size(), 3);
}

// ---- receiving --------------------------------------------------------------------------------------------

void TestLocalQueue::receiveHidesAndCounts()
{
    TwoQueues world;
    const QString id = world.send(u"a"_s);
    const qint64 sent = world.now();
    world.advance(1s);
    const HandedOut first = world.receiveOne();
    const qint64 received = world.now();
    QCOMPARE(first.messageId, id);
    QCOMPARE(first.receiveCount, 1u);
    QCOMPARE(first.sentMsec, sent);
    QCOMPARE(first.firstReceivedMsec, received);
    QVERIFY(world.receiveAll(receive()).isEmpty());
    QCOMPARE(world.depth(), u"0/1/0"_s);
    world.advance(29999ms);
    QVERIFY(world.receiveAll(receive()).isEmpty());
    world.advance(1ms);
    const HandedOut second = world.receiveOne();
    QCOMPARE(second.messageId, id);
    QCOMPARE(second.receiveCount, 2u);
    QCOMPARE(second.sentMsec, sent);
    QCOMPARE(second.firstReceivedMsec, received);
    QVERIFY(second.receiptHandle != first.receiptHandle);
    QVERIFY(second.receiptHandle.size() <= 1024);
}

void TestLocalQueue::receiveParameters_data()
{
    QTest::addColumn<ReceiveMessageRequest>("request");
    QTest::addColumn<QString>("text");
    const auto with = [](auto member, int value) {
        ReceiveMessageRequest request = receive(1);
        request.*member = value;
        return request;
    };
    using R = ReceiveMessageRequest;
    QTest::newRow("0 messages") << with(
        &R::maxNumberOfMessages,
        0) << u"Value 0 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided."_s;
    QTest::newRow("11 messages")
        << with(&R::maxNumberOfMessages, 11)
        << u"Value 11 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided."_s;
    QTest::newRow("wait 21") << with(
        &R::waitTimeSeconds,
        21) << u"Value 21 for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided."_s;
    QTest::newRow("wait -1") << with(
        &R::waitTimeSeconds,
        -1) << u"Value -1 for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided."_s;
    QTest::newRow("visibility 43201")
        << with(&R::visibilityTimeout, 43201)
        << u"Value 43201 for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200, if provided."_s;
    ReceiveMessageRequest attempt = receive(1);
    attempt.attemptId = u"x"_s;
    QTest::newRow("attempt id")
        << attempt
        << u"Value x for parameter ReceiveRequestAttemptId is invalid. Reason: The request include "
           "parameter that is not valid for this queue type."_s;
}

void TestLocalQueue::receiveParameters()
{
    QFETCH(ReceiveMessageRequest, request);
    QFETCH(QString, text);
    TwoQueues world;
    world.send(u"a"_s);
    const SqsError error = world.error(request);
    QCOMPARE(error.queryCode, u"InvalidParameterValue"_s);
    QCOMPARE(error.message, text);
    QCOMPARE(world.depth(), u"1/0/0"_s);
}

void TestLocalQueue::visibilityZeroStaysVisibleAndCounts()
{
    TwoQueues world;
    world.send(u"a"_s);
    world.send(u"b"_s);
    // Each once, although both stay visible.
    const auto got = world.receiveAll(receive(10, 0));
    QCOMPARE(got.size(), 2);
    QVERIFY(got.at(0).messageId != got.at(1).messageId);
    QCOMPARE(world.depth(), u"2/0/0"_s);
    QCOMPARE(world.receiveOne().receiveCount, 2u);
    // The handle of a receive that hid nothing deletes all the same.
    world.ok<Nothing>(DeleteMessageRequest{Q, got.at(1).receiptHandle});
    QCOMPARE(world.depth(), u"0/1/0"_s);
}

void TestLocalQueue::callBeatsQueueAttribute()
{
    TwoQueues world({{u"VisibilityTimeout"_s, u"5"_s}, {u"ReceiveMessageWaitTimeSeconds"_s, u"3"_s}});
    world.send(u"a"_s);
    world.receiveOne(60);
    world.advance(59s);
    QCOMPARE(world.depth(), u"0/1/0"_s);
    world.advance(1s);
    world.receiveOne();
    world.advance(5s);
    QCOMPARE(world.depth(), u"1/0/0"_s);
    ReceiveMessageRequest request = receive();
    QCOMPARE(world.queues().receiveWait(request), 3s);
    request.waitTimeSeconds = 0;
    QCOMPARE(world.queues().receiveWait(request), 0s);
}

void TestLocalQueue::inFlightLimit()
{
    TwoQueues world;
    LocalQueues &queues = world.queues();
    for (qint64 i = 0; i <= LocalQueues::InFlightLimit; ++i)
        queues.apply(SendMessageRequest{Q, message(u"a"_s)});
    world.commit();
    for (qint64 i = 0; i < LocalQueues::InFlightLimit / 10; ++i)
        queues.apply(receive());
    world.commit();
    QCOMPARE(world.depth(), u"1/120000/0"_s);
    const SqsError error = world.error(receive());
    QCOMPARE(error.shape, u"OverLimit"_s);
    QCOMPARE(error.httpStatus, 403);
    ReceiveMessageRequest longPoll = receive();
    longPoll.waitTimeSeconds = 20;
    QVERIFY(world.receiveAll(longPoll).isEmpty());
    QVERIFY(!queues.isWorthReceiving(Q));
    world.advance(30s);
    QVERIFY(queues.isWorthReceiving(Q));
    QCOMPARE(world.receiveAll(receive()).size(), 10);
}

void TestLocalQueue::longPollIsToldWhatToWaitFor()
{
    TwoQueues world;
    QVERIFY(!world.queues().isWorthReceiving(Q));
    QVERIFY(!world.queues().nextVisibleAt(Q));
    world.send(u"a"_s);
    QVERIFY(world.queues().isWorthReceiving(Q));
    const HandedOut got = world.receiveOne();
    QVERIFY(!world.queues().isWorthReceiving(Q));
    QCOMPARE(world.queues().nextVisibleAt(Q), std::optional(world.now() + 30000));
    world.changeVisibility(got.receiptHandle, 3);
    QCOMPARE(world.queues().nextVisibleAt(Q), std::optional(world.now() + 3000));
    QVERIFY(world.queues().isWorthReceiving(u"none"_s)); // there is an error to be had
}

// ---- handles ----------------------------------------------------------------------------------------------

void TestLocalQueue::deleteWithTheNewestHandle()
{
    TwoQueues world;
    world.send(u"a"_s);
    world.ok<Nothing>(DeleteMessageRequest{Q, world.receiveOne().receiptHandle});
    QCOMPARE(world.depth(), u"0/0/0"_s);
    world.restart();
    QCOMPARE(world.depth(), u"0/0/0"_s);
}

void TestLocalQueue::deleteAfterTheTimeout()
{
    TwoQueues world;
    world.send(u"a"_s);
    const HandedOut got = world.receiveOne();
    world.advance(31s);
    QCOMPARE(world.depth(), u"1/0/0"_s);
    world.ok<Nothing>(DeleteMessageRequest{Q, got.receiptHandle});
    QCOMPARE(world.depth(), u"0/0/0"_s);
}

void TestLocalQueue::deleteWithAnOlderHandleChangesNothing()
{
    TwoQueues world;
    world.send(u"a"_s);
    const HandedOut first = world.receiveOne(0);
    const HandedOut second = world.receiveOne();
    world.ok<Nothing>(DeleteMessageRequest{Q, first.receiptHandle});
    QCOMPARE(world.depth(), u"0/1/0"_s);
    world.ok<Nothing>(DeleteMessageRequest{Q, second.receiptHandle});
    QCOMPARE(world.depth(), u"0/0/0"_s);
}

void TestLocalQueue::deleteAgainIsNoError()
{
    TwoQueues world;
    world.send(u"a"_s);
    const HandedOut got = world.receiveOne();
    world.ok<Nothing>(DeleteMessageRequest{Q, got.receiptHandle});
    world.ok<Nothing>(DeleteMessageRequest{Q, got.receiptHandle});
    world.send(u"b"_s);
    const HandedOut other = world.receiveOne();
    world.ok<Nothing>(PurgeQueueRequest{Q});
    world.ok<Nothing>(DeleteMessageRequest{Q, other.receiptHandle});
}

void TestLocalQueue::notAHandle()
{
    TwoQueues world;
    world.send(u"a"_s);
    const SqsError error = world.error(DeleteMessageRequest{Q, u"garbage"_s});
    QCOMPARE(error.shape, u"ReceiptHandleIsInvalid"_s);
    QCOMPARE(error.httpStatus, 404);
    QCOMPARE(error.message, u"The input receipt handle \"garbage\" is not a valid receipt handle."_s);
    QCOMPARE(world.error(DeleteMessageRequest{Q, u""_s}).queryCode, u"MissingParameter"_s);
    QCOMPARE(world.error(ChangeMessageVisibilityRequest{Q, {{}, u"garbage"_s, 1}}).shape, u"ReceiptHandleIsInvalid"_s);
    const QString handle = world.receiveOne().receiptHandle;
    // Another queue's.
    QCOMPARE(world.error(DeleteMessageRequest{Dlq, handle}).shape, u"ReceiptHandleIsInvalid"_s);
    // Any character changed.
    for (qsizetype i = 0; i < handle.size() - 1; ++i) {
        QString broken = handle;
        broken[i] = broken.at(i) == u'A' ? u'B' : u'A';
        QCOMPARE(world.error(DeleteMessageRequest{Q, broken}).shape, u"ReceiptHandleIsInvalid"_s);
    }
    // Well-formed, of no receive: nobody has one for a message that was never received.
    world.send(u"b"_s);
    const LocalQueue *queue = world.queues().find(Q);
    const QString forged = ReceiptHandle{queue->number, queue->firstVisible()->row, 0}.toString();
    world.ok<Nothing>(DeleteMessageRequest{Q, forged});
    world.error(ChangeMessageVisibilityRequest{Q, {{}, forged, 5}});
    QCOMPARE(world.depth(), u"1/1/0"_s);
}

void TestLocalQueue::visibilityCountsFromNow()
{
    TwoQueues world;
    world.send(u"a"_s);
    const HandedOut got = world.receiveOne();
    world.advance(20s);
    world.changeVisibility(got.receiptHandle, 30);
    world.advance(29999ms);
    QCOMPARE(world.depth(), u"0/1/0"_s);
    world.advance(1ms);
    QCOMPARE(world.depth(), u"1/0/0"_s);
    // The next receive goes by the queue's value again.
    const HandedOut again = world.receiveOne();
    QCOMPARE(again.receiveCount, 2u);
    world.changeVisibility(again.receiptHandle, 0);
    QCOMPARE(world.depth(), u"1/0/0"_s);
    QCOMPARE(world.receiveOne().receiveCount, 3u);
    world.advance(30s);
    QCOMPARE(world.depth(), u"1/0/0"_s);
    QCOMPARE(world.error(ChangeMessageVisibilityRequest{Q, {{}, again.receiptHandle, 43201}}).queryCode,
             u"InvalidParameterValue"_s);
}

void TestLocalQueue::visibilityOfATimedOutMessage()
{
    TwoQueues world;
    world.send(u"a"_s);
    const HandedOut got = world.receiveOne();
    world.advance(31s);
    QCOMPARE(world.depth(), u"1/0/0"_s);
    world.changeVisibility(got.receiptHandle, 10);
    QCOMPARE(world.depth(), u"0/1/0"_s);
    QVERIFY(world.receiveAll(receive()).isEmpty());
    world.advance(10s);
    QCOMPARE(world.receiveOne().receiveCount, 2u);
}

void TestLocalQueue::visibilityOfADeletedMessage()
{
    TwoQueues world;
    world.send(u"a"_s);
    const HandedOut got = world.receiveOne();
    world.ok<Nothing>(DeleteMessageRequest{Q, got.receiptHandle});
    const SqsError error = world.error(ChangeMessageVisibilityRequest{Q, {{}, got.receiptHandle, 1}});
    QCOMPARE(error.queryCode, u"InvalidParameterValue"_s);
    QCOMPARE(error.message,
             u"Value %1 for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for "
             "visibility timeout change."_s.arg(got.receiptHandle));
}

void TestLocalQueue::visibilityBeyondTwelveHours()
{
    TwoQueues world;
    world.send(u"a"_s);
    const HandedOut got = world.receiveOne(43200);
    world.advance(1s);
    const SqsError error = world.error(ChangeMessageVisibilityRequest{Q, {{}, got.receiptHandle, 43200}});
    QCOMPARE(error.queryCode, u"InvalidParameterValue"_s);
    QCOMPARE(error.message, u"Total VisibilityTimeout for the message is beyond the limit [43200 seconds]"_s);
    world.changeVisibility(got.receiptHandle, 43199);
}

// ---- dead letters, retention, purge -----------------------------------------------------------------------

void TestLocalQueue::redriveInsideTheReceive()
{
    TwoQueues world({{u"RedrivePolicy"_s, redrive(2)}});
    const QString id = world.send(u"a"_s);
    world.receiveOne();
    world.advance(30s);
    world.receiveOne();
    world.advance(30s);
    // Nobody receives, nothing moves.
    QCOMPARE(world.depth(), u"1/0/0"_s);
    QCOMPARE(world.depth(Dlq), u"0/0/0"_s);
    QVERIFY(world.receiveAll(receive()).isEmpty());
    QCOMPARE(world.depth(), u"0/0/0"_s);
    QCOMPARE(world.depth(Dlq), u"1/0/0"_s);
    world.restart();
    QCOMPARE(world.depth(Dlq), u"1/0/0"_s);
    const auto dead = world.receiveAll(receive(10, {}, Dlq));
    QCOMPARE(dead.constFirst().messageId, id);
    QCOMPARE(dead.constFirst().deadLetterSourceArn, QueueSettings::arn(Q));
}

void TestLocalQueue::redriveLooksOnAfterMoving()
{
    TwoQueues world({{u"RedrivePolicy"_s, redrive(1)}});
    for (int i = 0; i < 3; ++i)
        world.send(u"old"_s);
    world.receiveAll(receive(10, 0));
    const QString fresh = world.send(u"new"_s);
    const auto got = world.receiveAll(receive());
    QCOMPARE(got.size(), 1);
    QCOMPARE(got.constFirst().messageId, fresh);
    QCOMPARE(world.depth(Dlq), u"3/0/0"_s);
}

void TestLocalQueue::deadLetterKeepsItsAgeAndCount()
{
    TwoQueues world({{u"RedrivePolicy"_s, redrive(1)}});
    world.send(u"a"_s);
    const qint64 sent = world.now();
    const HandedOut first = world.receiveOne(1);
    world.advance(3 * 24h);
    world.receiveAll(receive());
    const HandedOut dead = world.receiveAll(receive(1, 0, Dlq)).constFirst();
    QCOMPARE(dead.receiveCount, 2u);
    QCOMPARE(dead.sentMsec, sent);
    QCOMPARE(dead.firstReceivedMsec, first.firstReceivedMsec);
    // The DLQ's retention runs from the first send.
    world.advance(11 * 24h - 1ms);
    QCOMPARE(world.depth(Dlq), u"1/0/0"_s);
    world.advance(1ms);
    QCOMPARE(world.depth(Dlq), u"0/0/0"_s);
}

void TestLocalQueue::sourceHandleIsNoGoodInTheDlq()
{
    TwoQueues world({{u"RedrivePolicy"_s, redrive(1)}});
    world.send(u"a"_s);
    const HandedOut got = world.receiveOne(0);
    world.receiveAll(receive());
    QCOMPARE(world.depth(Dlq), u"1/0/0"_s);
    world.ok<Nothing>(DeleteMessageRequest{Q, got.receiptHandle});
    QCOMPARE(world.error(DeleteMessageRequest{Dlq, got.receiptHandle}).shape, u"ReceiptHandleIsInvalid"_s);
    QCOMPARE(world.error(ChangeMessageVisibilityRequest{Q, {{}, got.receiptHandle, 5}}).queryCode,
             u"InvalidParameterValue"_s);
    ReceiptHandle forged = *ReceiptHandle::fromString(got.receiptHandle);
    forged.queue = world.queues().find(Dlq)->number;
    world.ok<Nothing>(DeleteMessageRequest{Dlq, forged.toString()});
    QCOMPARE(world.depth(Dlq), u"1/0/0"_s);
}

void TestLocalQueue::chainedDlqCountsItsOwnReceives()
{
    QueueWorld world;
    const QString last = u"last"_s;
    world.ok<QueueNamed>(CreateQueueRequest{last, {}, {}});
    world.ok<QueueNamed>(CreateQueueRequest{Dlq, {{u"RedrivePolicy"_s, redrive(1, last)}}, {}});
    world.ok<QueueNamed>(CreateQueueRequest{Q, {{u"RedrivePolicy"_s, redrive(2)}}, {}});
    world.ok<SentMessage>(SendMessageRequest{Q, message(u"a"_s)});
    for (int i = 0; i < 3; ++i)
        world.ok<ReceivedMessages>(receive(1, 0));
    const auto dead = world.ok<ReceivedMessages>(receive(1, 0, Dlq)).messages;
    QCOMPARE(dead.size(), 1);
    QCOMPARE(dead.constFirst().receiveCount, 3u);
    QVERIFY(world.ok<ReceivedMessages>(receive(1, 0, Dlq)).messages.isEmpty());
    const auto end = world.ok<ReceivedMessages>(receive(1, 0, last)).messages;
    QCOMPARE(end.constFirst().deadLetterSourceArn, QueueSettings::arn(Dlq));
}

void TestLocalQueue::deletedDlqMeansDeliveringOn()
{
    TwoQueues world({{u"RedrivePolicy"_s, redrive(1)}});
    world.send(u"a"_s);
    world.ok<Nothing>(DeleteQueueRequest{Dlq});
    for (int i = 1; i <= 3; ++i)
        QCOMPARE(world.receiveOne(0).receiveCount, quint32(i));
    QCOMPARE(world.attribute(u"RedrivePolicy"_s), redrive(1));
}

void TestLocalQueue::retentionCountsFromTheSend()
{
    TwoQueues world({{u"MessageRetentionPeriod"_s, u"60"_s}});
    world.send(u"visible"_s);
    world.send(u"delayed"_s, 900);
    world.send(u"in flight"_s);
    world.receiveOne(600);
    world.advance(30s);
    world.send(u"younger"_s);
    world.advance(29999ms);
    QCOMPARE(world.queues().find(Q)->count(), 4);
    world.advance(1ms);
    QCOMPARE(world.depth(), u"1/0/0"_s);
    world.commit();
    world.restart();
    QCOMPARE(world.depth(), u"1/0/0"_s);
    QCOMPARE(world.depth(Dlq), u"0/0/0"_s); // not the way to the DLQ
}

void TestLocalQueue::purgeEmptiesOnceAMinute()
{
    TwoQueues world;
    world.send(u"visible"_s);
    world.send(u"delayed"_s, 60);
    world.send(u"in flight"_s);
    world.receiveOne();
    world.ok<Nothing>(PurgeQueueRequest{Q});
    QCOMPARE(world.depth(), u"0/0/0"_s);
    const QString later = world.send(u"later"_s);
    const SqsError error = world.error(PurgeQueueRequest{Q});
    QCOMPARE(error.shape, u"PurgeQueueInProgress"_s);
    QCOMPARE(error.httpStatus, 403);
    QCOMPARE(error.message, u"Only one PurgeQueue operation on orders is allowed every 60 seconds."_s);
    world.restart();
    QCOMPARE(world.depth(), u"1/0/0"_s);
    QCOMPARE(world.receiveOne().messageId, later);
    world.advance(60s);
    world.ok<Nothing>(PurgeQueueRequest{Q});
    world.restart();
    QCOMPARE(world.queues().find(Q)->count(), 0);
}

// ---- what faults do ---------------------------------------------------------------------------------------

void TestLocalQueue::newestFirst()
{
    TwoQueues world;
    QStringList ids;
    for (const QString &body : {u"a"_s, u"b"_s, u"c"_s, u"d"_s, u"e"_s})
        ids += world.send(body);
    const HandedOut oldest = world.receiveOne();
    QCOMPARE(oldest.messageId, ids[0]);
    ReceiveMessageRequest newest = receive(2, 0); // both stay visible, and neither comes twice
    newest.newestFirst = true;
    QList<HandedOut> got = world.receiveAll(newest);
    QCOMPARE(got.size(), 2);
    QCOMPARE(got[0].messageId, ids[4]);
    QCOMPARE(got[1].messageId, ids[3]);
    newest.maxNumberOfMessages = 10;
    newest.visibilityTimeout = 5;
    got = world.receiveAll(newest);
    QCOMPARE(got.size(), 4);
    QCOMPARE(got[3].messageId, ids[1]);
    QCOMPARE(world.receiveAll(newest).size(), 0);
}

void TestLocalQueue::newestFirstOverARedrive()
{
    TwoQueues world({{u"RedrivePolicy"_s, redrive(1)}});
    world.send(u"a"_s);
    world.receiveOne(0);
    world.send(u"b"_s);
    world.receiveAll(receive(1, 0)); // moves a, hands b out
    QCOMPARE(world.depth(Dlq), u"1/0/0"_s);
    const QString c = world.send(u"c"_s);
    world.send(u"d"_s);
    ReceiveMessageRequest newest = receive();
    newest.newestFirst = true;
    const QList<HandedOut> got = world.receiveAll(newest);
    QCOMPARE(got.size(), 2);
    QCOMPARE(got[1].messageId, c);
    QCOMPARE(world.depth(Dlq), u"2/0/0"_s);
}

void TestLocalQueue::struckEntriesAreCheckedLikeOthers()
{
    TwoQueues world;
    OutgoingMessage struck = entry(u"x"_s, u"a"_s);
    struck.struck = armedEntryFailure();
    QCOMPARE(world.error(SendMessageBatchRequest{Q, {struck, entry(u"x"_s, u"b"_s)}}).shape,
             u"BatchEntryIdsNotDistinct"_s);
    QCOMPARE(world.error(SendMessageBatchRequest{u"none"_s, {struck}}).shape, u"QueueDoesNotExist"_s);
    const auto sent = world.ok<SentBatch>(SendMessageBatchRequest{Q, {struck, entry(u"y"_s, u"b"_s)}});
    QCOMPARE(sent.successful.size(), 1);
    QCOMPARE(sent.failed.size(), 1);
    QCOMPARE(sent.failed[0].id, u"x"_s);
    QCOMPARE(sent.failed[0].error, armedEntryFailure());
    QCOMPARE(world.depth(), u"1/0/0"_s);
    const HandedOut got = world.receiveOne();
    const DeleteEntry removal{u"x"_s, got.receiptHandle, armedEntryFailure()};
    QCOMPARE(world.error(DeleteMessageBatchRequest{Q, {removal, removal}}).shape, u"BatchEntryIdsNotDistinct"_s);
    QCOMPARE(world.ok<DoneBatch>(DeleteMessageBatchRequest{Q, {removal}}).failed.size(), 1);
    QCOMPARE(world.depth(), u"0/1/0"_s);
}

void TestLocalQueue::aForgottenReceiveComesAgain()
{
    TwoQueues world;
    world.send(u"a"_s);
    const HandedOut first = world.receiveOne();
    world.queues().forgetReceive(Q, first.row);
    world.commit();
    QCOMPARE(world.depth(), u"1/0/0"_s);
    world.ok<Nothing>(DeleteMessageRequest{Q, first.receiptHandle}); // no error, and no effect
    QCOMPARE(world.error(ChangeMessageVisibilityRequest{Q, {{}, first.receiptHandle, 30}}).queryCode,
             u"InvalidParameterValue"_s);
    world.restart();
    const HandedOut second = world.receiveOne();
    QCOMPARE(second.messageId, first.messageId);
    QCOMPARE(second.receiveCount, 2u);
    world.ok<Nothing>(DeleteMessageRequest{Q, second.receiptHandle});
    QCOMPARE(world.depth(), u"0/0/0"_s);
}

void TestLocalQueue::hiddenForMilliseconds()
{
    TwoQueues world;
    world.send(u"a"_s);
    const HandedOut got = world.receiveOne();
    world.queues().hide(Q, got.row, 250ms);
    world.commit();
    QCOMPARE(world.queues().nextVisibleAt(Q), std::optional(world.now() + 250));
    world.advance(249ms);
    QCOMPARE(world.depth(), u"0/1/0"_s);
    world.advance(1ms);
    QCOMPARE(world.depth(), u"1/0/0"_s);
    world.changeVisibility(got.receiptHandle, 30); // as for any message that was not received again
    QCOMPARE(world.depth(), u"0/1/0"_s);
    world.ok<Nothing>(DeleteMessageRequest{Q, got.receiptHandle});
    QCOMPARE(world.depth(), u"0/0/0"_s);
}

void TestLocalQueue::rollbackUndoesFaultsToo()
{
    TwoQueues world;
    LocalQueues &queues = world.queues();
    for (const QString &body : {u"a"_s, u"b"_s})
        world.send(body);
    const HandedOut held = world.receiveOne();
    queues.forgetReceive(Q, held.row);
    ReceiveMessageRequest newest = receive();
    newest.newestFirst = true;
    const SqsReply reply = queues.apply(newest);
    for (const HandedOut &message : std::get<ReceivedMessages>(std::get<SqsResult>(reply)).messages)
        queues.hide(Q, message.row, 100ms);
    QCOMPARE(world.depth(), u"0/2/0"_s);
    queues.rollback();
    QCOMPARE(world.depth(), u"1/1/0"_s);
    world.ok<Nothing>(DeleteMessageRequest{Q, held.receiptHandle}); // its handle is good again
    QCOMPARE(world.depth(), u"1/0/0"_s);
    QCOMPARE(world.receiveOne().receiveCount, 1u);
}

// ---- turns, clocks, restarts ------------------------------------------------------------------------------

void TestLocalQueue::rollbackUndoesEverything()
{
    TwoQueues world({{u"RedrivePolicy"_s, redrive(1)}});
    LocalQueues &queues = world.queues();
    world.send(u"exhausted"_s);
    world.receiveOne(0);
    world.send(u"fresh"_s);
    world.send(u"held"_s);
    world.send(u"delayed"_s, 60);
    world.receiveOne(0);
    const auto held = world.receiveAll(receive(1)); // moves the first, hands the third out
    QCOMPARE(world.depth(), u"1/1/1"_s);
    QCOMPARE(world.depth(Dlq), u"1/0/0"_s);

    queues.apply(SendMessageRequest{Q, message(u"x"_s)});
    queues.apply(receive());
    queues.apply(ChangeMessageVisibilityRequest{Q, {{}, held.constFirst().receiptHandle, 500}});
    queues.apply(DeleteMessageRequest{Q, held.constFirst().receiptHandle});
    queues.apply(SetQueueAttributesRequest{Q, {{u"VisibilityTimeout"_s, u"1"_s}}});
    queues.apply(CreateQueueRequest{u"new"_s, {}, {}});
    queues.apply(SendMessageRequest{u"new"_s, message(u"x"_s)});
    queues.apply(PurgeQueueRequest{Q});
    queues.apply(SendMessageRequest{Q, message(u"y"_s)});
    queues.apply(DeleteQueueRequest{Dlq});
    queues.apply(DeleteQueueRequest{Q});
    QVERIFY(queues.changes().size() > 8);
    queues.rollback();
    QVERIFY(queues.changes().empty());

    QCOMPARE(world.depth(), u"1/1/1"_s);
    QCOMPARE(world.depth(Dlq), u"1/0/0"_s);
    QVERIFY(!queues.find(u"new"_s));
    QCOMPARE(world.attribute(u"VisibilityTimeout"_s), u"30"_s);
    world.advance(29999ms);
    QCOMPARE(world.depth(), u"1/1/1"_s);
    world.advance(1ms);
    QCOMPARE(world.depth(), u"2/0/1"_s);
    world.ok<Nothing>(DeleteMessageRequest{Q, held.constFirst().receiptHandle});
    QCOMPARE(world.depth(), u"1/0/1"_s);
    world.ok<Nothing>(PurgeQueueRequest{Q}); // the undone one does not count
    world.restart();
    QCOMPARE(world.queues().find(Q)->count(), 0);
}

void TestLocalQueue::receivesNeedNotBeSynced()
{
    TwoQueues world;
    LocalQueues &queues = world.queues();
    queues.apply(SendMessageRequest{Q, message(u"a"_s)});
    QVERIFY(queues.mustBeDurable());
    world.commit();
    const auto reply = queues.apply(receive());
    QVERIFY(!queues.changes().empty()); // but written
    QVERIFY(!queues.mustBeDurable());
    world.commit();
    const QString handle = std::get<ReceivedMessages>(std::get<SqsResult>(reply)).messages.constFirst().receiptHandle;
    queues.apply(ChangeMessageVisibilityRequest{Q, {{}, handle, 5}});
    QVERIFY(!queues.mustBeDurable());
    queues.apply(DeleteMessageRequest{Q, handle});
    QVERIFY(queues.mustBeDurable());
    world.commit();
    QVERIFY(!queues.mustBeDurable());
}

void TestLocalQueue::clockNeverGoesBack()
{
    TwoQueues world;
    world.send(u"a"_s);
    world.receiveOne();
    world.advance(-1h);
    QCOMPARE(world.depth(), u"0/1/0"_s);
    world.send(u"b"_s, 5);
    world.advance(6s); // by the earlier time it would be due
    QCOMPARE(world.depth(), u"0/1/1"_s);
    world.advance(1h - 6s + 5s);
    QCOMPARE(world.depth(), u"1/1/0"_s);
    world.advance(25s);
    QCOMPARE(world.depth(), u"2/0/0"_s);
}

void TestLocalQueue::wallClockOnlyShows()
{
    TwoQueues world;
    world.send(u"a"_s);
    world.setWallOffset(20 * 24h); // set forward: neither expired nor visible earlier
    QCOMPARE(world.depth(), u"1/0/0"_s);
    const HandedOut got = world.receiveOne();
    QCOMPARE(got.firstReceivedMsec, world.now() + std::chrono::milliseconds(20 * 24h).count());
    world.setWallOffset(-20 * 24h);
    world.advance(29s);
    QCOMPARE(world.depth(), u"0/1/0"_s);
    world.advance(1s);
    QCOMPARE(world.depth(), u"1/0/0"_s);
    QCOMPARE(world.receiveOne().firstReceivedMsec, got.firstReceivedMsec);
}

void TestLocalQueue::restartKeepsWhatIsLeftOfTheTimeout()
{
    TwoQueues world;
    world.send(u"in flight"_s);
    const HandedOut got = world.receiveOne(100);
    world.send(u"delayed"_s, 100);
    world.advance(40s);
    world.restart();
    QCOMPARE(world.depth(), u"0/1/1"_s);
    world.advance(59999ms);
    QCOMPARE(world.depth(), u"0/1/1"_s);
    world.advance(1ms);
    QCOMPARE(world.depth(), u"2/0/0"_s);
    // Handle and count have survived.
    const auto again = world.receiveAll(receive());
    QCOMPARE(again.size(), 2);
    const bool firstIsIt = again.at(0).messageId == got.messageId;
    QCOMPARE(again.at(firstIsIt ? 0 : 1).receiveCount, 2u);
}

void TestLocalQueue::restartNeverHidesLongerThanAsked()
{
    TwoQueues world;
    world.send(u"in flight"_s);
    world.receiveOne(30);
    world.send(u"delayed"_s, 50);
    world.send(u"visible"_s);
    world.setWallOffset(-1h); // the next process sees an earlier clock
    world.restart();
    QCOMPARE(world.depth(), u"1/1/1"_s);
    world.advance(30s);
    QCOMPARE(world.depth(), u"2/0/1"_s);
    world.advance(20s);
    QCOMPARE(world.depth(), u"3/0/0"_s);
}

void TestLocalQueue::restartAfterTheClockWasSetForward()
{
    TwoQueues world({{u"MessageRetentionPeriod"_s, u"86400"_s}});
    world.setWallOffset(1h);
    world.send(u"a"_s);
    world.receiveOne(30);
    world.advance(10s);
    world.restart();
    QCOMPARE(world.depth(), u"0/1/0"_s);
    world.advance(20s);
    QCOMPARE(world.depth(), u"1/0/0"_s);
    // Sent by a clock that was far ahead: as if it had been sent at the restart.
    world.setWallOffset(20 * 24h);
    world.send(u"b"_s);
    world.setWallOffset(0ms);
    world.restart();
    world.advance(24h);
    QCOMPARE(world.depth(), u"0/0/0"_s);
}

void TestLocalQueue::restartWithAnEarlierClockKeepsMessages()
{
    TwoQueues world({{u"MessageRetentionPeriod"_s, u"3600"_s}});
    world.send(u"first"_s);
    world.setWallOffset(-50min);
    world.send(u"second"_s);
    world.setWallOffset(0ms);
    world.advance(20min);
    world.restart();
    // By its own timestamp the second is 70 minutes old, but it was sent after the first, which is 20.
    world.ok<Nothing>(DeleteMessageRequest{Q, world.receiveOne().receiptHandle});
    world.advance(40min - 1ms);
    QCOMPARE(world.depth(), u"1/0/0"_s);
    world.advance(1ms);
    QCOMPARE(world.depth(), u"0/0/0"_s);
}

// ---- the random walk --------------------------------------------------------------------------------------

namespace {

/// What must be true of the two queues, kept in the most simple-minded way.
struct Model
{
    struct Item
    {
        QString id;
        bool dead = false; ///< in the DLQ
        qint64 visibleAt = 0;
        quint32 count = 0;
        quint32 countAtArrival = 0;
        QString handle; ///< newest
    };
    std::map<qint64, Item> items; // by row

    QString depth(bool dead, qint64 now) const
    {
        int visible = 0, inFlight = 0, delayed = 0;
        for (const auto &[row, item] : items) {
            if (item.dead == dead)
                ++(item.visibleAt <= now ? visible : item.handle.isEmpty() ? delayed : inFlight);
        }
        return u"%1/%2/%3"_s.arg(visible).arg(inFlight).arg(delayed);
    }
};

class Walk
{
public:
    explicit Walk(quint64 seed) : m_world({{u"RedrivePolicy"_s, redrive(MaxReceiveCount)}}, seed), m_dice(seed) { }

    void run()
    {
        for (int step = 0; step < 120 && !QTest::currentTestFailed(); ++step) {
            const Model before = m_model;
            const int operations = roll(1, 3);
            for (int i = 0; i < operations; ++i)
                act();
            if (roll(1, 10) == 1) {
                m_world.queues().rollback();
                m_model = before;
            } else {
                m_world.commit();
            }
            if (roll(1, 25) == 1)
                m_world.restart();
            if (roll(1, 3) == 1)
                m_world.advance(std::chrono::milliseconds(roll(0, 15000)));
            compare();
        }
        drain();
    }

private:
    static constexpr int MaxReceiveCount = 3;

    int roll(int least, int most) { return std::uniform_int_distribution<int>(least, most)(m_dice); }

    void act()
    {
        switch (roll(1, 10)) {
        case 1:
        case 2:
        case 3:
            return send();
        case 4:
        case 5:
        case 6:
            return receiveSome(roll(1, 4) == 1);
        case 7:
        case 8:
            return remove();
        case 9:
            return changeVisibility();
        case 10:
            if (roll(1, 15) == 1)
                purge();
        }
    }

    SqsReply apply(const SqsRequest &request) { return m_world.queues().apply(request); }

    void send()
    {
        const int delay = roll(1, 4) == 1 ? roll(1, 20) : 0;
        const auto reply = apply(SendMessageRequest{Q, message(u"x"_s, delay)});
        const auto &inserted = std::get<InsertMessage>(m_world.queues().changes().back());
        m_model.items[inserted.message.row] = {
            std::get<SentMessage>(std::get<SqsResult>(reply)).messageId, false, m_world.now() + delay * 1000, 0, 0, {}};
    }

    void receiveSome(bool dead)
    {
        const int most = roll(1, 10);
        const int timeout = roll(1, 5) == 1 ? 0 : roll(1, 30);
        const auto reply = apply(receive(most, timeout, dead ? Dlq : Q));
        const auto got = std::get<ReceivedMessages>(std::get<SqsResult>(reply)).messages;
        QSet<qint64> seen;
        for (const HandedOut &handedOut : got) {
            QVERIFY2(m_model.items.contains(handedOut.row), "handed out what is not there");
            Model::Item &item = m_model.items.at(handedOut.row);
            QCOMPARE(item.id, handedOut.messageId);
            QCOMPARE(item.dead, dead);
            QVERIFY2(item.visibleAt <= m_world.now(), "handed out while in flight or delayed");
            QVERIFY2(!seen.contains(handedOut.row), "twice in one receive");
            seen += handedOut.row;
            QVERIFY2(dead || item.count - item.countAtArrival < MaxReceiveCount, "handed out beyond maxReceiveCount");
            QCOMPARE(handedOut.receiveCount, ++item.count);
            QCOMPARE(handedOut.deadLetterSourceArn, dead ? QueueSettings::arn(Q) : QString());
            item.visibleAt = m_world.now() + timeout * 1000;
            item.handle = handedOut.receiptHandle;
            m_handles += {handedOut.receiptHandle, dead};
        }
        // What was passed over must have gone to the DLQ, and nothing that could have been had may be left.
        bool couldHaveHadMore = false;
        for (auto &[row, item] : m_model.items) {
            if (item.dead != dead || item.visibleAt > m_world.now() || seen.contains(row))
                continue;
            if (!dead && item.count - item.countAtArrival >= MaxReceiveCount) {
                if (m_world.queues().find(Dlq)->find(row)) {
                    item.dead = true;
                    item.countAtArrival = item.count;
                    item.visibleAt = m_world.now();
                    item.handle.clear();
                    continue;
                }
            }
            couldHaveHadMore = true;
        }
        QVERIFY2(!couldHaveHadMore || got.size() == most, "fewer than there were");
    }

    /// A handle seen some time, not always the newest of its message.
    std::pair<QString, bool> someHandle()
    {
        return m_handles.isEmpty() ? std::pair(QString(), false) : m_handles.at(roll(0, int(m_handles.size()) - 1));
    }

    void remove()
    {
        const auto [handle, dead] = someHandle();
        if (handle.isEmpty())
            return;
        const auto reply = apply(DeleteMessageRequest{dead ? Dlq : Q, handle});
        QVERIFY(std::holds_alternative<SqsResult>(reply));
        std::erase_if(m_model.items, [&handle = handle](const auto &item) { return item.second.handle == handle; });
    }

    void changeVisibility()
    {
        const auto [handle, dead] = someHandle();
        if (handle.isEmpty())
            return;
        const int timeout = roll(0, 30);
        const auto reply = apply(ChangeMessageVisibilityRequest{dead ? Dlq : Q, {{}, handle, timeout}});
        bool found = false;
        for (auto &[row, item] : m_model.items) {
            if (item.handle != handle)
                continue;
            found = true;
            item.visibleAt = m_world.now() + timeout * 1000;
        }
        QCOMPARE(std::holds_alternative<SqsResult>(reply), found);
    }

    void purge()
    {
        if (std::holds_alternative<SqsResult>(apply(PurgeQueueRequest{Q})))
            std::erase_if(m_model.items, [](const auto &item) { return !item.second.dead; });
    }

    void compare()
    {
        QCOMPARE(m_world.depth(Q), m_model.depth(false, m_world.now()));
        QCOMPARE(m_world.depth(Dlq), m_model.depth(true, m_world.now()));
    }

    /// Whatever is left must come out, each once, from one of the two queues.
    void drain()
    {
        m_world.restart();
        m_world.advance(60s);
        QStringList left;
        for (const QString &queue : {Q, Dlq}) {
            QList<HandedOut> got;
            do {
                got = m_world.receiveAll(receive(10, 600, queue));
                for (const HandedOut &handedOut : got)
                    left += handedOut.messageId;
            } while (!got.isEmpty());
        }
        QStringList expected;
        for (const auto &[row, item] : m_model.items)
            expected += item.id;
        left.sort();
        expected.sort();
        QCOMPARE(left, expected);
    }

    TwoQueues m_world;
    std::mt19937_64 m_dice;
    Model m_model;
    QList<std::pair<QString, bool>> m_handles;
};

} // namespace

void TestLocalQueue::randomWalk()
{
    bool given = false;
    const quint64 only = qEnvironmentVariable("SENDONCE_SEED").toULongLong(&given);
    const quint64 first = given ? only : QRandomGenerator::system()->generate();
    const int walks = given ? 1 : 1000;
    for (int i = 0; i < walks; ++i) {
        Walk walk(first + quint64(i));
        walk.run();
        if (QTest::currentTestFailed()) {
            qInfo("SENDONCE_SEED=%llu walks this walk again", qulonglong(first + quint64(i)));
            return;
        }
    }
}

Q_DECLARE_METATYPE(sendonce::local::OutgoingMessage)
Q_DECLARE_METATYPE(sendonce::local::ReceiveMessageRequest)

QTEST_GUILESS_MAIN(TestLocalQueue)
#include "tst_localqueue.moc"
