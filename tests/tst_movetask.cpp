#include "tests/world/queueworld.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>

using namespace sendonce;
using namespace sendonce::local;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

const QString A = u"orders"_s;
const QString B = u"invoices"_s;
const QString Dlq = u"dead"_s;
const QString Elsewhere = u"elsewhere"_s;

/// Two queues with one dead-letter queue, and another queue.
struct MoveWorld : QueueWorld
{
    MoveWorld()
    {
        ok<QueueNamed>(CreateQueueRequest{Dlq, {{u"MessageRetentionPeriod"_s, u"1209600"_s}}, {}});
        ok<QueueNamed>(CreateQueueRequest{Elsewhere, {}, {}});
        const QString policy = u"{\"deadLetterTargetArn\":\"%1\",\"maxReceiveCount\":1}"_s.arg(QueueSettings::arn(Dlq));
        for (const QString &queue : {A, B})
            ok<QueueNamed>(CreateQueueRequest{queue, {{u"RedrivePolicy"_s, policy}}, {}});
    }
    QString send(const QString &queue, const QString &body = u"x"_s)
    {
        OutgoingMessage message;
        message.body = body;
        return ok<SentMessage>(SendMessageRequest{queue, message}).messageId;
    }
    QList<HandedOut> receive(const QString &queue, int visibility = 0, int most = 10)
    {
        ReceiveMessageRequest request;
        request.queue = queue;
        request.maxNumberOfMessages = most;
        request.visibilityTimeout = visibility;
        return ok<ReceivedMessages>(request).messages;
    }
    /// Sends to a queue and lets them die there, one after the other.
    void kill(const QString &queue, int messages)
    {
        for (int i = 0; i < messages; ++i) {
            send(queue);
            receive(queue);
            receive(queue);
        }
    }
    SqsReply tryToStart(const QString &destination = {}, std::optional<int> perSecond = {})
    {
        return queues().apply(StartMessageMoveTaskRequest{
            QueueSettings::arn(Dlq), destination.isEmpty() ? QString() : QueueSettings::arn(destination), perSecond});
    }
    QString start(const QString &destination = {}, std::optional<int> perSecond = {})
    {
        const SqsReply reply = tryToStart(destination, perSecond);
        commit();
        const auto *result = std::get_if<SqsResult>(&reply);
        return result ? std::get<MoveTaskStarted>(*result).taskHandle : QString();
    }
    /// One turn of the endpoint.
    void turn()
    {
        queues().moveMessages();
        commit();
    }
    /// Turns whenever one is due, for so long.
    void run(std::chrono::milliseconds time)
    {
        const qint64 end = now() + time.count();
        for (auto next = queues().nextMoveAt(); next && *next <= end; next = queues().nextMoveAt()) {
            advance(std::chrono::milliseconds(std::max<qint64>(0, *next - now())));
            turn();
        }
        advance(std::chrono::milliseconds(end - now()));
    }
    MoveTaskReport report()
    {
        return ok<MoveTaskList>(ListMessageMoveTasksRequest{QueueSettings::arn(Dlq), {}}).tasks.value(0);
    }
    /// "status moved/to move"
    QString progress()
    {
        const MoveTaskReport task = report();
        return u"%1 %2/%3"_s.arg(task.status).arg(task.moved).arg(task.toMove);
    }
    qint64 count(const QString &queue) { return queues().find(queue)->count(); }
};

} // namespace

class TestMoveTask : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void eachGoesBackToItsOwnQueue();
    void allGoToTheDestination();
    void movedMessageIsANewOne();
    void oldHandleIsNoGood();
    void oldestFirst();
    void hiddenOnesStay();
    void laterOnesStay();
    void emptyQueueCompletesAtOnce();
    void startIsRefused_data();
    void startIsRefused();
    void oneTaskPerQueue();
    void atMostAHundredTasks();
    void velocityIsRespected_data();
    void velocityIsRespected();
    void lostTimeIsNotMadeUpFor();
    void unlimitedGoesInSlices();
    void cancelKeepsWhatWasMoved();
    void cancelIsRefused();
    void destinationGone();
    void originGone();
    void sentDirectlyHasNoOrigin();
    void sourceGone();
    void after36HoursItFails();
    void purgeEndsIt();
    void newestFirstAndTenKept();
    void listIsRefused();
    void restartGoesOn();
    void restartKeepsTheEnd();
    void rollbackUndoesAMove();
    void handleIsAmazons();
    void sourceQueuesAreListed();
};

void TestMoveTask::eachGoesBackToItsOwnQueue()
{
    MoveWorld world;
    world.kill(A, 2);
    world.kill(B, 3);
    QCOMPARE(world.count(Dlq), 5);
    QVERIFY(!world.start().isEmpty());
    QCOMPARE(world.progress(), u"RUNNING 0/5"_s);
    QVERIFY(!world.report().taskHandle.isEmpty());
    world.turn();
    QCOMPARE(world.progress(), u"COMPLETED 5/5"_s);
    QCOMPARE(world.count(A), 2);
    QCOMPARE(world.count(B), 3);
    QCOMPARE(world.count(Dlq), 0);
    const MoveTaskReport report = world.report();
    QCOMPARE(report.taskHandle, QString());
    QCOMPARE(report.destinationArn, QString());
    QCOMPARE(report.messagesPerSecond, 0);
    QCOMPARE(report.sourceArn, QueueSettings::arn(Dlq));
    QCOMPARE(report.startedMsec, world.now());
    QVERIFY(!world.queues().nextMoveAt());
}

void TestMoveTask::allGoToTheDestination()
{
    MoveWorld world;
    world.kill(A, 1);
    world.kill(B, 1);
    world.send(Dlq); // has no origin, needs none
    world.start(Elsewhere);
    world.turn();
    QCOMPARE(world.progress(), u"COMPLETED 3/3"_s);
    QCOMPARE(world.count(Elsewhere), 3);
    QCOMPARE(world.report().destinationArn, QueueSettings::arn(Elsewhere));
}

void TestMoveTask::movedMessageIsANewOne()
{
    MoveWorld world;
    const QString id = world.send(A);
    world.receive(A);
    world.receive(A);
    world.advance(3 * 24h);
    world.start();
    world.turn();
    const qint64 moved = world.now();
    world.advance(1h);
    const HandedOut got = world.receive(A).value(0);
    QVERIFY(got.messageId != id);
    QCOMPARE(QUuid::fromString(got.messageId).version(), QUuid::Random);
    QCOMPARE(got.sentMsec, moved);
    QCOMPARE(got.firstReceivedMsec, world.now());
    QCOMPARE(got.receiveCount, 1u);
    QCOMPARE(got.deadLetterSourceArn, QString());
    // Retention starts afresh.
    world.advance(4 * 24h - 1h - 1ms);
    QCOMPARE(world.count(A), 1);
    world.advance(1ms);
    QCOMPARE(world.count(A), 0);
}

void TestMoveTask::oldHandleIsNoGood()
{
    MoveWorld world;
    world.kill(A, 1);
    const QString handle = world.receive(Dlq).value(0).receiptHandle;
    world.start();
    world.turn();
    world.ok<Nothing>(DeleteMessageRequest{Dlq, handle});
    QCOMPARE(world.count(A), 1);
    QCOMPARE(world.error(DeleteMessageRequest{A, handle}).shape, u"ReceiptHandleIsInvalid"_s);
}

void TestMoveTask::oldestFirst()
{
    MoveWorld world;
    QStringList bodies;
    for (int i = 0; i < 5; ++i)
        world.send(Elsewhere);
    world.kill(A, 3);
    world.kill(B, 3);
    world.receive(Dlq); // now the newest is behind the oldest in the order of becoming visible
    world.receive(Dlq, 0, 1);
    world.start({}, 1);
    for (int i = 1; i <= 6; ++i) {
        world.turn();
        QCOMPARE(world.count(A), std::min(i, 3));
        QCOMPARE(world.count(B), std::max(0, i - 3));
        world.advance(1s);
    }
}

void TestMoveTask::hiddenOnesStay()
{
    MoveWorld world;
    world.kill(A, 12);
    world.receive(Dlq, 60, 5);
    world.start();
    QCOMPARE(world.progress(), u"RUNNING 0/7"_s);
    world.turn();
    QCOMPARE(world.progress(), u"COMPLETED 7/7"_s);
    QCOMPARE(world.count(Dlq), 5);
}

void TestMoveTask::laterOnesStay()
{
    MoveWorld world;
    world.kill(A, 3);
    world.start({}, 1);
    world.turn();
    // What was moved dies again, what is new dies for the first time: a task must not go round for ever.
    world.receive(A);
    world.receive(A);
    world.kill(A, 1);
    world.run(1h);
    QCOMPARE(world.progress(), u"COMPLETED 3/3"_s);
    QCOMPARE(world.count(Dlq), 2);
    QCOMPARE(world.count(A), 2);
}

void TestMoveTask::emptyQueueCompletesAtOnce()
{
    MoveWorld world;
    world.start(Elsewhere, 1);
    world.turn();
    QCOMPARE(world.progress(), u"COMPLETED 0/0"_s);
}

void TestMoveTask::startIsRefused_data()
{
    QTest::addColumn<StartMessageMoveTaskRequest>("request");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("message");
    const QString dlq = QueueSettings::arn(Dlq);
    const QString none = QueueSettings::arn(u"none"_s);
    const QString value = u"InvalidParameterValue"_s;
    const QString missing = u"ResourceNotFoundException"_s;
    const QString range = u"Must be between 1 and 500, if provided."_s;
    QTest::newRow("no source") << StartMessageMoveTaskRequest{} << u"MissingParameter"_s << u"SourceArn"_s;
    QTest::newRow("source is no ARN") << StartMessageMoveTaskRequest{Dlq, {}, {}} << value << u"arn:<partition>"_s;
    QTest::newRow("destination is no ARN") << StartMessageMoveTaskRequest{dlq, A, {}} << value << u"DestinationArn"_s;
    QTest::newRow("source is missing") << StartMessageMoveTaskRequest{
        none, {}, {}} << missing << u"The resource that you specified for the SourceArn parameter doesn't exist."_s;
    QTest::newRow("destination is missing")
        << StartMessageMoveTaskRequest{dlq, none, {}} << missing
        << u"The resource that you specified for the DestinationArn parameter doesn't exist."_s;
    QTest::newRow("source is no DLQ") << StartMessageMoveTaskRequest{QueueSettings::arn(A), {}, {}} << value
                                      << u"Source queue must be configured as a Dead Letter Queue."_s;
    QTest::newRow("to itself") << StartMessageMoveTaskRequest{dlq, dlq, {}} << value << u"cannot be the same"_s;
    QTest::newRow("velocity 0") << StartMessageMoveTaskRequest{dlq, {}, 0} << value << range;
    QTest::newRow("velocity -1") << StartMessageMoveTaskRequest{dlq, {}, -1} << value << range;
    QTest::newRow("velocity 501") << StartMessageMoveTaskRequest{dlq, {}, 501} << value << range;
}

void TestMoveTask::startIsRefused()
{
    QFETCH(StartMessageMoveTaskRequest, request);
    QFETCH(QString, code);
    QFETCH(QString, message);
    MoveWorld world;
    world.kill(A, 1);
    const SqsError error = world.error(request);
    QCOMPARE(error.queryCode, code);
    QCOMPARE(error.httpStatus, code == "ResourceNotFoundException"_L1 ? 404 : 400);
    QVERIFY2(error.message.contains(message), qPrintable(error.message));
    QVERIFY(!world.queues().nextMoveAt());
}

void TestMoveTask::oneTaskPerQueue()
{
    MoveWorld world;
    world.kill(A, 2);
    const QString handle = world.start({}, 1);
    world.turn();
    const StartMessageMoveTaskRequest again{QueueSettings::arn(Dlq), {}, {}};
    const SqsError error = world.error(again);
    QCOMPARE(error.queryCode, u"InvalidParameterValue"_s);
    QCOMPARE(error.message,
             u"There is already a task running. Only one active task is allowed for a source queue arn "
             "at a given time."_s);
    world.ok<MoveTaskCancelled>(CancelMessageMoveTaskRequest{handle});
    QCOMPARE(world.error(again).queryCode, u"InvalidParameterValue"_s); // still cancelling
    world.turn();
    QVERIFY(!world.start().isEmpty());
}

void TestMoveTask::atMostAHundredTasks()
{
    MoveWorld world;
    for (int i = 0; i < 101; ++i) {
        const QString dlq = u"dlq-%1"_s.arg(i);
        world.ok<QueueNamed>(CreateQueueRequest{dlq, {}, {}});
        world.ok<QueueNamed>(CreateQueueRequest{
            u"queue-%1"_s.arg(i),
            {{u"RedrivePolicy"_s,
              u"{\"deadLetterTargetArn\":\"%1\",\"maxReceiveCount\":1}"_s.arg(QueueSettings::arn(dlq))}},
            {}});
        const StartMessageMoveTaskRequest request{QueueSettings::arn(dlq), {}, 1};
        if (i < 100)
            world.ok<MoveTaskStarted>(request);
        else
            QCOMPARE(world.error(request).shape, u"OverLimit"_s);
    }
}

void TestMoveTask::velocityIsRespected_data()
{
    QTest::addColumn<int>("perSecond");
    for (const int perSecond : {1, 3, 7, 100, 500})
        QTest::addRow("%d", perSecond) << perSecond;
}

void TestMoveTask::velocityIsRespected()
{
    QFETCH(int, perSecond);
    MoveWorld world;
    world.kill(A, perSecond * 3 + 1);
    world.start({}, perSecond);
    // The first goes at once, the others evenly behind it.
    for (int second = 0; second <= 3; ++second) {
        world.run(0ms);
        QVERIFY(qAbs(world.report().moved - (perSecond * second + 1)) <= second);
        if (second < 3) {
            world.run(500ms);
            QVERIFY(qAbs(world.report().moved - (perSecond * (2 * second + 1) / 2 + 1)) <= 2);
            world.run(500ms - 1ms);
            QVERIFY(world.report().moved <= perSecond * (second + 1) + 1);
            world.run(1ms);
        }
    }
    QCOMPARE(world.report().messagesPerSecond, perSecond);
}

void TestMoveTask::lostTimeIsNotMadeUpFor()
{
    MoveWorld world;
    world.kill(A, 60);
    world.start({}, 20);
    world.turn();
    world.advance(1h); // a machine that slept
    for (int i = 0; i < 10; ++i)
        world.turn();
    QCOMPARE(world.report().moved, 2);
    world.run(1s);
    QVERIFY(world.report().moved <= 22);
}

void TestMoveTask::unlimitedGoesInSlices()
{
    MoveWorld world;
    world.kill(A, 25);
    world.start();
    QCOMPARE(*world.queues().nextMoveAt() <= world.now(), true);
    world.turn();
    QCOMPARE(world.progress(), u"RUNNING 10/25"_s);
    world.turn();
    world.turn();
    QCOMPARE(world.progress(), u"COMPLETED 25/25"_s);
}

void TestMoveTask::cancelKeepsWhatWasMoved()
{
    MoveWorld world;
    world.kill(A, 5);
    const QString handle = world.start({}, 1);
    world.turn();
    world.advance(1s);
    world.turn();
    QCOMPARE(world.ok<MoveTaskCancelled>(CancelMessageMoveTaskRequest{handle}).moved, 2);
    QCOMPARE(world.progress(), u"CANCELLING 2/5"_s);
    QCOMPARE(world.report().taskHandle, QString());
    world.advance(1s);
    world.turn();
    QCOMPARE(world.progress(), u"CANCELLED 2/5"_s);
    world.run(1h);
    QCOMPARE(world.count(A), 2);
    QCOMPARE(world.count(Dlq), 3);
}

void TestMoveTask::cancelIsRefused()
{
    MoveWorld world;
    const auto code = [&world](const QString &handle) {
        return world.error(CancelMessageMoveTaskRequest{handle}).queryCode;
    };
    const QString arn = QueueSettings::arn(Dlq);
    QCOMPARE(code({}), u"MissingParameter"_s);
    QCOMPARE(world.error(CancelMessageMoveTaskRequest{u"!"_s}).message,
             u"Value for parameter TaskHandle is invalid."_s);
    QCOMPARE(code(QString::fromLatin1("{\"taskId\":\"x\"}"_ba.toBase64())), u"InvalidParameterValue"_s);
    const SqsError unknown = world.error(
        CancelMessageMoveTaskRequest{MoveTaskHandle{QUuid(1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2), arn}.toString()});
    QCOMPARE(unknown.shape, u"ResourceNotFoundException"_s);
    QCOMPARE(unknown.message, u"Task does not exist."_s);
    world.kill(A, 1);
    const QString handle = world.start();
    MoveTaskHandle other = *MoveTaskHandle::fromString(handle);
    other.sourceArn = QueueSettings::arn(A);
    QCOMPARE(code(other.toString()), u"ResourceNotFoundException"_s);
    world.turn();
    QCOMPARE(code(handle), u"InvalidParameterValue"_s); // completed
}

void TestMoveTask::destinationGone()
{
    MoveWorld world;
    world.kill(A, 3);
    world.start(Elsewhere, 1);
    world.turn();
    world.ok<Nothing>(DeleteQueueRequest{Elsewhere});
    world.run(5s);
    QCOMPARE(world.progress(), u"FAILED 1/3"_s);
    QCOMPARE(world.report().failureReason, u"AWS.SimpleQueueService.NonExistentQueue"_s);
    QCOMPARE(world.report().taskHandle, QString());
    QCOMPARE(world.count(Dlq), 2);
}

void TestMoveTask::originGone()
{
    MoveWorld world;
    world.kill(A, 1);
    world.kill(B, 1);
    world.ok<Nothing>(DeleteQueueRequest{B});
    world.start();
    world.turn();
    QCOMPARE(world.progress(), u"FAILED 1/2"_s);
    QCOMPARE(world.report().failureReason, u"AWS.SimpleQueueService.NonExistentQueue"_s);
    QCOMPARE(world.count(A), 1);
    QCOMPARE(world.count(Dlq), 1);
}

void TestMoveTask::sentDirectlyHasNoOrigin()
{
    MoveWorld world;
    world.send(Dlq);
    world.start();
    world.turn();
    QCOMPARE(world.progress(), u"FAILED 0/1"_s);
    QCOMPARE(world.report().failureReason, u"CouldNotDetermineMessageSource"_s);
    QCOMPARE(world.count(Dlq), 1);
}

void TestMoveTask::sourceGone()
{
    MoveWorld world;
    world.kill(A, 3);
    const QString handle = world.start({}, 1);
    world.ok<Nothing>(DeleteQueueRequest{Dlq});
    QVERIFY(!world.queues().nextMoveAt());
    QCOMPARE(world.error(CancelMessageMoveTaskRequest{handle}).shape, u"ResourceNotFoundException"_s);
    // A new queue of the old name begins without tasks, also after a restart.
    world.restart();
    world.advance(60s);
    world.ok<QueueNamed>(CreateQueueRequest{Dlq, {}, {}});
    QCOMPARE(world.progress(), u" 0/0"_s);
}

void TestMoveTask::after36HoursItFails()
{
    MoveWorld world;
    world.kill(A, 2);
    world.start({}, 1);
    world.turn();
    world.advance(36h + 1ms);
    world.turn();
    QCOMPARE(world.progress(), u"FAILED 1/2"_s);
    QCOMPARE(world.report().failureReason, u"TimedOut"_s);
}

void TestMoveTask::purgeEndsIt()
{
    MoveWorld world;
    world.kill(A, 3);
    world.start({}, 1);
    world.turn();
    world.ok<Nothing>(PurgeQueueRequest{Dlq});
    world.run(5s);
    QCOMPARE(world.progress(), u"COMPLETED 1/3"_s);
}

void TestMoveTask::newestFirstAndTenKept()
{
    MoveWorld world;
    for (int i = 1; i <= 12; ++i) {
        world.kill(A, 1);
        world.start(Elsewhere, i);
        world.turn();
        world.receive(A);
    }
    for (int round = 0; round < 2; ++round) {
        const auto tasks = world.ok<MoveTaskList>(ListMessageMoveTasksRequest{QueueSettings::arn(Dlq), 10}).tasks;
        QCOMPARE(tasks.size(), 10);
        for (int i = 0; i < 10; ++i)
            QCOMPARE(tasks.at(i).messagesPerSecond, 12 - i);
        world.restart();
    }
    QCOMPARE(world.ok<MoveTaskList>(ListMessageMoveTasksRequest{QueueSettings::arn(Dlq), {}}).tasks.size(), 1);
    QCOMPARE(world.ok<MoveTaskList>(ListMessageMoveTasksRequest{QueueSettings::arn(Dlq), 3}).tasks.size(), 3);
    QVERIFY(world.ok<MoveTaskList>(ListMessageMoveTasksRequest{QueueSettings::arn(A), 3}).tasks.isEmpty());
}

void TestMoveTask::listIsRefused()
{
    MoveWorld world;
    const auto code = [&world](const QString &arn, std::optional<int> most) {
        return world.error(ListMessageMoveTasksRequest{arn, most}).queryCode;
    };
    QCOMPARE(code({}, {}), u"MissingParameter"_s);
    QCOMPARE(code(Dlq, {}), u"InvalidParameterValue"_s);
    QCOMPARE(code(QueueSettings::arn(u"none"_s), {}), u"ResourceNotFoundException"_s);
    QCOMPARE(code(QueueSettings::arn(Dlq), 0), u"InvalidParameterValue"_s);
    QCOMPARE(code(QueueSettings::arn(Dlq), 11), u"InvalidParameterValue"_s);
}

void TestMoveTask::restartGoesOn()
{
    MoveWorld world;
    world.kill(A, 4);
    world.kill(B, 4);
    const QString handle = world.start({}, 2);
    for (int i = 0; i < 3; ++i) {
        QCOMPARE(world.count(A) + world.count(B), 2 * i);
        QCOMPARE(world.count(Dlq), 8 - 2 * i);
        QCOMPARE(world.report().taskHandle, handle);
        world.run(500ms);
        world.restart();
    }
    world.run(1s);
    QCOMPARE(world.progress(), u"COMPLETED 8/8"_s);
    QCOMPARE(world.count(A), 4);
    QCOMPARE(world.count(B), 4);
}

void TestMoveTask::restartKeepsTheEnd()
{
    MoveWorld world;
    world.kill(A, 3);
    const QString handle = world.start(Elsewhere, 5);
    world.turn();
    world.ok<MoveTaskCancelled>(CancelMessageMoveTaskRequest{handle});
    const MoveTaskReport before = world.report();
    world.restart();
    world.turn();
    const MoveTaskReport after = world.report();
    QCOMPARE(after.status, u"CANCELLED"_s);
    QCOMPARE(after.moved, before.moved);
    QCOMPARE(after.toMove, 3);
    QCOMPARE(after.startedMsec, before.startedMsec);
    QCOMPARE(after.destinationArn, QueueSettings::arn(Elsewhere));
    world.restart();
    QCOMPARE(world.report().status, u"CANCELLED"_s);
    QVERIFY(!world.queues().nextMoveAt());
}

void TestMoveTask::rollbackUndoesAMove()
{
    MoveWorld world;
    world.kill(A, 15);
    const auto ids = [&world] {
        QStringList list;
        for (const HandedOut &each : world.receive(Dlq) + world.receive(Dlq))
            list += each.messageId;
        list.sort();
        list.removeDuplicates();
        return list;
    };
    const QStringList before = ids();
    // Start, move and fail to write.
    world.tryToStart();
    world.queues().moveMessages();
    world.queues().rollback();
    QCOMPARE(world.report().status, QString());
    QCOMPARE(world.count(Dlq), 15);
    QCOMPARE(world.count(A), 0);
    QCOMPARE(ids(), before);
    // The same with a task that was started before; the next turn does it again.
    world.start();
    world.queues().moveMessages();
    world.queues().rollback();
    QCOMPARE(world.progress(), u"RUNNING 0/15"_s);
    world.turn();
    world.turn();
    QCOMPARE(world.progress(), u"COMPLETED 15/15"_s);
    QCOMPARE(world.count(A), 15);
    // And a queue that is deleted with its tasks, but then is not.
    world.queues().apply(DeleteQueueRequest{Dlq});
    world.queues().rollback();
    QCOMPARE(world.progress(), u"COMPLETED 15/15"_s);
    world.restart();
    QCOMPARE(world.count(A), 15);
    QCOMPARE(world.count(Dlq), 0);
}

void TestMoveTask::handleIsAmazons()
{
    MoveWorld world;
    const QString handle = world.start({}, 1);
    const QJsonObject object = QJsonDocument::fromJson(QByteArray::fromBase64(handle.toLatin1())).object();
    QCOMPARE(object.keys(), QStringList({u"sourceArn"_s, u"taskId"_s}));
    QCOMPARE(object.value("sourceArn"_L1), QueueSettings::arn(Dlq));
    QCOMPARE(object.value("taskId"_L1).toString().size(), 36);
}

void TestMoveTask::sourceQueuesAreListed()
{
    MoveWorld world;
    const auto list = [&world](std::optional<int> most = {}, const QString &token = {}) {
        return world.ok<SourceQueueList>(ListDeadLetterSourceQueuesRequest{Dlq, most, token}).list;
    };
    QCOMPARE(list().names, QStringList({B, A}));
    QCOMPARE(list().nextToken, QString());
    const QueueList first = list(1);
    QCOMPARE(first.names, QStringList{B});
    const QueueList second = list(1, first.nextToken);
    QCOMPARE(second.names, QStringList{A});
    QCOMPARE(second.nextToken, QString());
    QCOMPARE(world.error(ListDeadLetterSourceQueuesRequest{u"none"_s, {}, {}}).shape, u"QueueDoesNotExist"_s);
    QCOMPARE(world.error(ListDeadLetterSourceQueuesRequest{Dlq, 0, {}}).queryCode, u"InvalidParameterValue"_s);
    QCOMPARE(world.error(ListDeadLetterSourceQueuesRequest{Dlq, {}, u"x"_s}).queryCode, u"InvalidParameterValue"_s);
    world.ok<Nothing>(SetQueueAttributesRequest{A, {{u"RedrivePolicy"_s, {}}}});
    QCOMPARE(list().names, QStringList{B});
    QVERIFY(world.ok<SourceQueueList>(ListDeadLetterSourceQueuesRequest{A, {}, {}}).list.names.isEmpty());
}

QTEST_GUILESS_MAIN(TestMoveTask)
#include "tst_movetask.moc"
