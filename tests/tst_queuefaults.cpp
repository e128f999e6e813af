#include "tests/world/httpprobe.h"
#include "worker/faults/faultsocket.h"
#include "worker/local/faultboard.h"
#include "worker/local/localservices.h"
#include "worker/local/localsqsserver.h"
#include "worker/queue/sqsclient.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTestEventLoop>

#include <memory>
#include <optional>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

using Effect = FaultEffect;
using Batch = Result<QList<BatchEntryResult>>;

namespace {

QByteArray bodyOf(const QString &eventId)
{
    return R"({"type":"application.status_changed","event_id":")" + eventId.toUtf8() + R"("})";
}

FaultRule rule(FaultPoint where, Effect what, int times = 1)
{
    FaultRule rule;
    rule.where = where;
    rule.what = what;
    rule.times = times;
    return rule;
}

} // namespace

/// The true client at the true endpoint, with one try at each call: what it is told is what the endpoint said.
class TestQueueFaults : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();

    void everyPointAndEffectHasATest();
    void everyOperationInBothProtocols_data();
    void everyOperationInBothProtocols();

    // requests
    void requestFails();
    void requestIsThrottled();
    void requestIsNotAnswered();
    void theEndpointIsDownForAWhile();
    void itsIdIsAnsweredInAnyCase();
    void lookingUsesUpWhatStrikesRequestsOnly();

    // sends
    void sendFails();
    void sendIsThrottled();
    void oneEntryOfASendFails();
    void aBatchIsCheckedAllTheSame();

    // receives
    void receiveFails();
    void receiveIsThrottled();
    void emptyThoughItIsNot();
    void aWaitingReceiveIsKeptEmptyToo();
    void whatIsArmedMeanwhileStrikesAWaitingReceive_data();
    void whatIsArmedMeanwhileStrikesAWaitingReceive();
    void aWaitingReceiveIsDrawnOnce();
    void nothingIsUsedUpWithoutEffect();
    void duplicateDelivery();
    void noDeleteEndsADuplicate();
    void duplicatesDieOfTheirReceives();
    void newestFirst();
    void comesBackEarly();
    void visibilityIsChangedAfterThat();

    // deletes
    void deleteFails();
    void deleteIsThrottled();
    void oneEntryOfADeleteFails();
    void handlesExpire();

    // for whom
    void onlyForThatEvent();
    void wholeBatchesForOneEvent();
    void aReceiveAsAWholeIsForNobody();
    void whoseTurnItIsGoesOn();

private:
    template <typename T, typename Call>
    Result<T> wait(Call call)
    {
        std::optional<Result<T>> answer;
        QTestEventLoop loop;
        call([&](Result<T> result) {
            answer = std::move(result);
            loop.exitLoop();
        });
        if (!answer)
            loop.enterLoopMSecs(10'000);
        return answer ? *answer : Error{ErrorKind::Unreachable, u"the test waited in vain"_s, {}};
    }
    Batch send(const QStringList &events)
    {
        QList<SendEntry> entries;
        for (const QString &event : events)
            entries.append({u"e%1"_s.arg(entries.size()), bodyOf(event), {}, {}, -1});
        return wait<QList<BatchEntryResult>>([&](auto done) { m_client->sendBatch(m_queue, entries, this, done); });
    }
    Result<QList<Message>> receive(int most = 10, std::chrono::seconds longPoll = 0s)
    {
        return wait<QList<Message>>([&](auto done) { m_client->receive({m_queue, most, longPoll, 30s}, this, done); });
    }
    Batch remove(const QList<Message> &messages)
    {
        QList<DeleteEntry> entries;
        for (const Message &message : messages)
            entries.append({u"e%1"_s.arg(entries.size()), message.receiptHandle});
        return wait<QList<BatchEntryResult>>([&](auto done) { m_client->deleteBatch(m_queue, entries, this, done); });
    }
    /// One request of either protocol, as it is on the wire.
    HttpProbe::Reply call(bool query, const QByteArray &operation, QJsonObject members)
    {
        HttpProbe probe(m_addresses.sqsPort);
        members.insert(u"QueueUrl"_s, m_queue.toString());
        if (!query)
            return probe.call(operation, QJsonDocument(members).toJson());
        QByteArray form = "Action=" + operation;
        const auto add = [&form](const QString &name, const QJsonValue &value) {
            form += '&' + name.toLatin1() + '=' + QUrl::toPercentEncoding(value.toString());
        };
        for (auto member = members.constBegin(); member != members.constEnd(); ++member) {
            if (!member->isArray())
                add(member.key(), *member);
            const QJsonObject first = member->toArray().at(0).toObject();
            for (auto each = first.constBegin(); each != first.constEnd(); ++each)
                add(QString::fromLatin1(operation) + u"RequestEntry.1."_s + each.key(), *each);
        }
        probe.write(probe.form(form));
        return probe.reply();
    }
    /// Visible and in flight.
    int left()
    {
        const QStringList names = {u"ApproximateNumberOfMessages"_s, u"ApproximateNumberOfMessagesNotVisible"_s};
        const auto got =
            wait<QMap<QString, QString>>([&](auto done) { m_client->getQueueAttributes(m_queue, names, this, done); });
        return got ? got->value(names[0]).toInt() + got->value(names[1]).toInt() : -1;
    }
    static QStringList eventsOf(const Result<QList<Message>> &messages)
    {
        QStringList events;
        if (messages) {
            for (const Message &message : messages.value())
                events.append(QJsonDocument::fromJson(message.body)["event_id"_L1].toString());
        }
        return events;
    }
    void arm(const FaultRule &rule)
    {
        m_faults->arm(rule);
        QTRY_VERIFY(!m_armed.isEmpty() && m_armed.last().id > m_lastArmed);
        m_lastArmed = m_armed.last().id;
    }
    /// All that was armed has struck as often as it should, and does so no more.
    void verifyItIsOver() { QTRY_COMPARE(m_armed, FaultRules()); }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<LocalServices> m_services;
    std::unique_ptr<FaultSocket> m_faults;
    FaultRules m_armed;
    int m_lastArmed = 0;
    LocalAddresses m_addresses;
    QUrl m_queue;
    std::unique_ptr<SqsClient> m_client;
};

void TestQueueFaults::init()
{
    QTest::failOnWarning(QRegularExpression(u".*"_s));
    m_folder = std::make_unique<QTemporaryDir>();
    LocalSettings settings;
    settings.dataDir = m_folder->path();
    settings.sqsPort = 0;
    settings.smtpPort = 0;
    m_services = std::make_unique<LocalServices>();
    const Result<LocalAddresses> addresses = m_services->start(settings);
    QVERIFY2(addresses.ok(), addresses.ok() ? "" : qPrintable(addresses.error().text));
    m_addresses = addresses.value();
    m_queue = m_addresses.queueUrl();
    SqsSettings once{m_addresses.endpoint(), u"us-east-1"_s, {u"test"_s, u"test"_s, {}}, 5s};
    once.maxAttempts = 1;
    m_client = std::make_unique<SqsClient>(once);
    m_armed.clear();
    m_lastArmed = 0;
    m_faults = std::make_unique<FaultSocket>(m_addresses.controlSocket);
    connect(m_faults.get(), &FaultSocket::armedChanged, this, [this](const FaultRules &rules) { m_armed = rules; });
    connect(m_faults.get(), &FaultSocket::failed, this, [](const QString &text) { QFAIL(qPrintable(text)); });
}

void TestQueueFaults::cleanup()
{
    m_faults.reset();
    m_client.reset();
    m_services.reset();
    m_folder.reset();
}

/// Whoever adds one to fault.cpp is reminded of its test.
void TestQueueFaults::everyPointAndEffectHasATest()
{
    const QMap<FaultPoint, QList<Effect>> tested = {
        {FaultPoint::QueueRequest, {Effect::Fail, Effect::Throttle, Effect::Close}},
        {FaultPoint::QueueSend, {Effect::Fail, Effect::Throttle, Effect::FailEntry}},
        {FaultPoint::QueueReceive,
         {Effect::Fail, Effect::Throttle, Effect::Empty, Effect::Duplicate, Effect::Disorder, Effect::ShortVisibility}},
        {FaultPoint::QueueDelete, {Effect::Fail, Effect::Throttle, Effect::FailEntry, Effect::ExpiredHandle}},
    };
    for (int i = 0; i < FaultPointCount; ++i) {
        if (faultPointName(FaultPoint(i)).startsWith(u"queue."_s))
            QCOMPARE(faultEffectsAt(FaultPoint(i)), tested.value(FaultPoint(i)));
    }
}

void TestQueueFaults::everyOperationInBothProtocols_data()
{
    QTest::addColumn<FaultPoint>("point");
    QTest::addColumn<Effect>("effect");
    QTest::addColumn<QByteArray>("operation");
    QTest::addColumn<int>("status"); ///< 200: of the batch, with an entry that fails
    QTest::addColumn<QString>("code");
    QTest::addColumn<bool>("query");
    const auto add = [](FaultPoint point, Effect effect, const QByteArray &operation, int status, const QString &code) {
        for (const bool query : {false, true}) {
            QTest::addRow("%s %s, %s, %s", qPrintable(faultPointName(point)), qPrintable(faultEffectName(effect)),
                          operation.constData(), query ? "query" : "JSON")
                << point << effect << operation << status << code << query;
        }
    };
    using Operations = QList<QByteArray>;
    const Operations sends{"SendMessage", "SendMessageBatch"}, deletes{"DeleteMessage", "DeleteMessageBatch"};
    for (const auto &[point, operations] :
         {std::pair(FaultPoint::QueueRequest, Operations{"GetQueueAttributes", "ChangeMessageVisibility"}),
          std::pair(FaultPoint::QueueSend, sends), std::pair(FaultPoint::QueueReceive, Operations{"ReceiveMessage"}),
          std::pair(FaultPoint::QueueDelete, deletes)}) {
        for (const QByteArray &operation : operations) {
            add(point, Effect::Fail, operation, 500, u"InternalFailure"_s);
            add(point, Effect::Throttle, operation, 400, u"ThrottlingException"_s);
        }
    }
    add(FaultPoint::QueueSend, Effect::FailEntry, "SendMessage", 500, u"InternalError"_s);
    add(FaultPoint::QueueSend, Effect::FailEntry, "SendMessageBatch", 200, u"InternalError"_s);
    add(FaultPoint::QueueDelete, Effect::FailEntry, "DeleteMessage", 500, u"InternalError"_s);
    add(FaultPoint::QueueDelete, Effect::FailEntry, "DeleteMessageBatch", 200, u"InternalError"_s);
    add(FaultPoint::QueueDelete, Effect::ExpiredHandle, "DeleteMessage", 404, u"ReceiptHandleIsInvalid"_s);
    add(FaultPoint::QueueDelete, Effect::ExpiredHandle, "DeleteMessageBatch", 200, u"ReceiptHandleIsInvalid"_s);
}

void TestQueueFaults::everyOperationInBothProtocols()
{
    QFETCH(FaultPoint, point);
    QFETCH(Effect, effect);
    QFETCH(QByteArray, operation);
    QFETCH(int, status);
    QFETCH(QString, code);
    QFETCH(bool, query);

    QVERIFY(send({u"A"_s}));
    const auto received = receive();
    QCOMPARE(received->size(), 1);
    const QString handle = received->first().receiptHandle;
    QVERIFY(send({u"B"_s}));
    QJsonObject members;
    if (operation == "SendMessage")
        members.insert(u"MessageBody"_s, u"C"_s);
    else if (operation == "SendMessageBatch")
        members.insert(u"Entries"_s, QJsonArray{QJsonObject{{u"Id"_s, u"x"_s}, {u"MessageBody"_s, u"C"_s}}});
    else if (operation == "DeleteMessage")
        members.insert(u"ReceiptHandle"_s, handle);
    else if (operation == "DeleteMessageBatch")
        members.insert(u"Entries"_s, QJsonArray{QJsonObject{{u"Id"_s, u"x"_s}, {u"ReceiptHandle"_s, handle}}});
    else if (operation == "ChangeMessageVisibility")
        members = {{u"ReceiptHandle"_s, handle}, {u"VisibilityTimeout"_s, query ? QJsonValue(u"30"_s) : 30}};

    arm(rule(point, effect));
    const HttpProbe::Reply struck = call(query, operation, members);
    QCOMPARE(struck.status, status);
    const bool isSender = code != "InternalFailure"_L1 && code != "InternalError"_L1;
    if (query) {
        QVERIFY2(struck.body.contains("<Code>" + code.toLatin1() + "</Code>"), struck.body.constData());
        const QByteArray fault = status == 200 ? isSender ? "<SenderFault>true" : "<SenderFault>false"
            : isSender                         ? "<Type>Sender"
                                               : "<Type>Receiver";
        QVERIFY2(struck.body.contains(fault), struck.body.constData());
    } else if (status == 200) {
        const QJsonObject failed = struck.json()["Failed"_L1][0].toObject();
        QCOMPARE(failed["Id"_L1], u"x"_s);
        QCOMPARE(failed["Code"_L1], code);
        QCOMPARE(failed["SenderFault"_L1], isSender);
        QVERIFY(!struck.json().contains("Successful"_L1));
    } else {
        QCOMPARE(struck.json()["__type"_L1].toString().section(u'#', -1), code);
    }
    QCOMPARE(left(), 2); // nothing was sent or deleted
    verifyItIsOver();
    const HttpProbe::Reply again = call(query, operation, members);
    QCOMPARE(again.status, 200);
    QVERIFY2(!again.body.contains("Failed") && !again.body.contains("<Code>"), again.body.constData());
    QCOMPARE(left(), operation.startsWith("Send") ? 3 : operation.startsWith("Delete") ? 1 : 2);
}

void TestQueueFaults::requestFails()
{
    arm(rule(FaultPoint::QueueRequest, Effect::Fail));
    const Batch sent = send({u"A"_s});
    QVERIFY(!sent);
    QCOMPARE(sent.error().code, u"InternalFailure"_s);
    QVERIFY2(sent.error().text.contains(u"armed fault"_s), qPrintable(sent.error().text));
    QCOMPARE(left(), 0);
    QVERIFY(send({u"A"_s}));
    verifyItIsOver();
}

void TestQueueFaults::requestIsThrottled()
{
    arm(rule(FaultPoint::QueueRequest, Effect::Throttle));
    const Batch sent = send({u"A"_s});
    QVERIFY(!sent);
    QCOMPARE(sent.error().kind, ErrorKind::Throttled);
    QCOMPARE(left(), 0);
    verifyItIsOver();
}

void TestQueueFaults::requestIsNotAnswered()
{
    arm(rule(FaultPoint::QueueRequest, Effect::Close));
    HttpProbe probe(m_addresses.sqsPort);
    probe.ask("SendMessage",
              QJsonDocument(QJsonObject{{u"QueueUrl"_s, m_queue.toString()}, {u"MessageBody"_s, u"A"_s}}).toJson());
    QTRY_VERIFY(probe.isClosed());
    QCOMPARE(probe.unread(), QByteArray());
    QCOMPARE(left(), 0); // and nothing of it was done
    verifyItIsOver();

    arm(rule(FaultPoint::QueueRequest, Effect::Close));
    const Batch sent = send({u"A"_s});
    QVERIFY(!sent);
    QCOMPARE(sent.error().kind, ErrorKind::Unreachable);
    QCOMPARE(left(), 0);
}

void TestQueueFaults::theEndpointIsDownForAWhile()
{
    FaultRule down = rule(FaultPoint::QueueRequest, Effect::Close, 0);
    down.lasts = 300ms;
    arm(down);
    for (int i = 0; i < 3; ++i)
        QVERIFY(!send({u"A"_s}));
    QTRY_VERIFY(m_armed.isEmpty());
    QVERIFY(send({u"A"_s}));
    QCOMPARE(left(), 1);
}

void TestQueueFaults::itsIdIsAnsweredInAnyCase()
{
    arm(rule(FaultPoint::QueueRequest, Effect::Close, 0));
    QVERIFY(LocalServices::find(m_folder->path()));
    QCOMPARE(m_armed.first().struck, 0);
}

void TestQueueFaults::lookingUsesUpWhatStrikesRequestsOnly()
{
    QVERIFY(send({u"A"_s}));
    for (const FaultPoint point : {FaultPoint::QueueSend, FaultPoint::QueueReceive, FaultPoint::QueueDelete})
        arm(rule(point, Effect::Fail));
    QCOMPARE(left(), 1);
    QVERIFY(wait<QUrl>([&](auto done) { m_client->getQueueUrl(u"job-board-events"_s, this, done); }));
    QSignalSpy counted(m_services.get(), &LocalServices::counted);
    m_services->count();
    QTRY_COMPARE(counted.size(), 1);
    arm(rule(FaultPoint::QueueRequest, Effect::Fail)); // behind whatever was pushed
    for (const FaultRule &each : std::as_const(m_armed))
        QCOMPARE(each.struck, 0);
    m_services->count(); // beside the wire
    QTRY_COMPARE(counted.size(), 2);
    QCOMPARE(counted.last(), (QVariantList{1, 0}));
    QCOMPARE(left(), -1);
    QCOMPARE(left(), 1);
}

void TestQueueFaults::sendFails()
{
    arm(rule(FaultPoint::QueueSend, Effect::Fail));
    QVERIFY(receive()); // another operation
    const Batch sent = send({u"A"_s, u"B"_s});
    QVERIFY(!sent);
    QCOMPARE(sent.error().code, u"InternalFailure"_s);
    QCOMPARE(left(), 0);
    QVERIFY(send({u"A"_s}));
    verifyItIsOver();
}

void TestQueueFaults::sendIsThrottled()
{
    arm(rule(FaultPoint::QueueSend, Effect::Throttle));
    const Batch sent = send({u"A"_s});
    QVERIFY(!sent);
    QCOMPARE(sent.error().kind, ErrorKind::Throttled);
    QCOMPARE(left(), 0);
    QVERIFY(send({u"A"_s}));
    verifyItIsOver();
}

void TestQueueFaults::oneEntryOfASendFails()
{
    arm(rule(FaultPoint::QueueSend, Effect::FailEntry, 2));
    const Batch sent = send({u"A"_s, u"B"_s, u"C"_s});
    QVERIFY(sent);
    QHash<QString, bool> ok;
    for (const BatchEntryResult &entry : sent.value())
        ok.insert(entry.id, entry.ok);
    QCOMPARE(ok, (QHash<QString, bool>{{u"e0"_s, false}, {u"e1"_s, true}, {u"e2"_s, true}}));
    QCOMPARE(left(), 2);
    const Batch alone = send({u"A"_s}); // the only entry of a batch
    QVERIFY(alone);
    QVERIFY(!alone->first().ok);
    QCOMPARE(alone->first().code, u"InternalError"_s);
    QVERIFY(!alone->first().senderFault); // so it may be tried again
    QCOMPARE(left(), 2);
    verifyItIsOver();

    FaultRule second = rule(FaultPoint::QueueSend, Effect::FailEntry);
    second.event = u"B"_s;
    arm(second);
    const Batch aimed = send({u"A"_s, u"B"_s});
    QVERIFY(aimed);
    for (const BatchEntryResult &entry : aimed.value())
        QCOMPARE(entry.ok, entry.id == u"e0"_s);
    QCOMPARE(left(), 3);
}

void TestQueueFaults::aBatchIsCheckedAllTheSame()
{
    arm(rule(FaultPoint::QueueSend, Effect::FailEntry, 0));
    QJsonArray entries;
    for (int i = 0; i < 11; ++i)
        entries.append(QJsonObject{{u"Id"_s, u"e%1"_s.arg(i)}, {u"MessageBody"_s, u"A"_s}});
    const HttpProbe::Reply tooMany = call(false, "SendMessageBatch", {{u"Entries"_s, entries}});
    QCOMPARE(tooMany.status, 400);
    QVERIFY2(tooMany.body.contains("TooManyEntriesInBatchRequest"), tooMany.body.constData());
    const QJsonObject twin{{u"Id"_s, u"x"_s}, {u"MessageBody"_s, u"A"_s}};
    const HttpProbe::Reply twins = call(false, "SendMessageBatch", {{u"Entries"_s, QJsonArray{twin, twin}}});
    QCOMPARE(twins.status, 400);
    QVERIFY2(twins.body.contains("BatchEntryIdsNotDistinct"), twins.body.constData());
    QCOMPARE(left(), 0);
}

void TestQueueFaults::receiveFails()
{
    QVERIFY(send({u"A"_s}));
    arm(rule(FaultPoint::QueueReceive, Effect::Fail));
    const auto received = receive();
    QVERIFY(!received);
    QCOMPARE(received.error().code, u"InternalFailure"_s);
    const auto next = receive();
    QCOMPARE(eventsOf(next), QStringList{u"A"_s});
    QCOMPARE(next->first().receiveCount(), 1); // it was not received by what failed
    verifyItIsOver();
}

void TestQueueFaults::receiveIsThrottled()
{
    QVERIFY(send({u"A"_s}));
    arm(rule(FaultPoint::QueueReceive, Effect::Throttle));
    const auto received = receive();
    QVERIFY(!received);
    QCOMPARE(received.error().kind, ErrorKind::Throttled);
    QCOMPARE(eventsOf(receive()), QStringList{u"A"_s});
    verifyItIsOver();
}

void TestQueueFaults::emptyThoughItIsNot()
{
    QVERIFY(send({u"A"_s}));
    arm(rule(FaultPoint::QueueReceive, Effect::Empty));
    QElapsedTimer timer;
    timer.start();
    const auto received = receive(10, 20s);
    QVERIFY(received && received->isEmpty());
    QVERIFY(timer.elapsed() < 10'000); // at once, not after its wait
    const auto next = receive();
    QCOMPARE(eventsOf(next), QStringList{u"A"_s});
    QCOMPARE(next->first().receiveCount(), 1); // it was not received by that
    verifyItIsOver();
}

void TestQueueFaults::aWaitingReceiveIsKeptEmptyToo()
{
    arm(rule(FaultPoint::QueueReceive, Effect::Empty));
    std::optional<Result<QList<Message>>> waiting;
    m_client->receive({m_queue, 10, 20s, 30s}, this,
                      [&](Result<QList<Message>> result) { waiting = std::move(result); });
    QVERIFY(send({u"A"_s}));
    QTRY_VERIFY(waiting.has_value());
    QVERIFY(waiting->ok() && waiting->value().isEmpty());
    QCOMPARE(eventsOf(receive()), QStringList{u"A"_s});
}

void TestQueueFaults::whatIsArmedMeanwhileStrikesAWaitingReceive_data()
{
    QTest::addColumn<FaultPoint>("point");
    QTest::addColumn<Effect>("effect");
    QTest::addColumn<ErrorKind>("kind");
    QTest::newRow("fails") << FaultPoint::QueueReceive << Effect::Fail << ErrorKind::Unreachable;
    QTest::newRow("throttled") << FaultPoint::QueueReceive << Effect::Throttle << ErrorKind::Throttled;
    QTest::newRow("request throttled") << FaultPoint::QueueRequest << Effect::Throttle << ErrorKind::Throttled;
    QTest::newRow("not answered") << FaultPoint::QueueRequest << Effect::Close << ErrorKind::Unreachable;
}

void TestQueueFaults::whatIsArmedMeanwhileStrikesAWaitingReceive()
{
    QFETCH(FaultPoint, point);
    QFETCH(Effect, effect);
    QFETCH(ErrorKind, kind);
    QVERIFY(send({u"A"_s}));
    const auto first = receive(10, 0s);
    QCOMPARE(first->size(), 1);
    std::optional<Result<QList<Message>>> waiting;
    m_client->receive({m_queue, 10, 20s, 30s}, this,
                      [&](Result<QList<Message>> result) { waiting = std::move(result); });
    const QList<VisibilityEntry> soon{{u"x"_s, first->first().receiptHandle, 1s}};
    QVERIFY(
        wait<QList<BatchEntryResult>>([&](auto done) { m_client->changeVisibilityBatch(m_queue, soon, this, done); }));
    arm(rule(point, effect));
    QVERIFY(!waiting);
    QTRY_VERIFY(waiting.has_value()); // when the message comes back
    QVERIFY(!waiting->ok());
    QCOMPARE(waiting->error().kind, kind);
    verifyItIsOver();
    const auto next = receive();
    QCOMPARE(eventsOf(next), QStringList{u"A"_s});
    QCOMPARE(next->first().receiveCount(), 2); // not received by what was struck
}

/// "One in n" counts requests, whether they wait or not.
void TestQueueFaults::aWaitingReceiveIsDrawnOnce()
{
    const auto answered = [this](std::chrono::seconds longPoll) {
        FaultRule some = rule(FaultPoint::QueueReceive, Effect::Throttle, 0);
        some.oneIn = 2;
        arm(some);
        QList<bool> all;
        for (int i = 0; i < 6; ++i)
            all.append(receive(10, longPoll).ok());
        m_faults->disarmAll();
        verifyItIsOver();
        return all;
    };
    const QList<bool> atOnce = answered(0s);
    QVERIFY(atOnce.contains(true) && atOnce.contains(false));
    QCOMPARE(answered(1s), atOnce);
}

void TestQueueFaults::nothingIsUsedUpWithoutEffect()
{
    for (const Effect effect : {Effect::Empty, Effect::Disorder, Effect::Duplicate})
        arm(rule(FaultPoint::QueueReceive, effect));
    QVERIFY(receive());
    arm(rule(FaultPoint::QueueRequest, Effect::Close)); // behind whatever was pushed
    for (const FaultRule &each : std::as_const(m_armed))
        QCOMPARE(each.struck, 0);
}

void TestQueueFaults::duplicateDelivery()
{
    QVERIFY(send({u"A"_s}));
    arm(rule(FaultPoint::QueueReceive, Effect::Duplicate));
    const auto first = receive();
    QCOMPARE(eventsOf(first), QStringList{u"A"_s});
    const auto second = receive();
    QCOMPARE(eventsOf(second), QStringList{u"A"_s});
    QCOMPARE(second->first().messageId, first->first().messageId);
    QVERIFY(second->first().receiptHandle != first->first().receiptHandle);
    QCOMPARE(second->first().receiveCount(), 2);
    QCOMPARE(eventsOf(receive()), QStringList()); // twice, not for ever
    QVERIFY(remove(second.value()));
    QCOMPARE(left(), 0);
    verifyItIsOver();
}

/// As with Amazon, where a copy on a server that was away outlives the delete: what is handed out twice comes twice,
/// also to a client that is quick.
void TestQueueFaults::noDeleteEndsADuplicate()
{
    QVERIFY(send({u"A"_s}));
    arm(rule(FaultPoint::QueueReceive, Effect::Duplicate));
    const auto first = receive();
    const Batch removed = remove(first.value());
    QVERIFY(removed);
    QVERIFY(removed->first().ok);
    const auto second = receive();
    QCOMPARE(eventsOf(second), QStringList{u"A"_s});
    QVERIFY(remove(second.value()));
    QCOMPARE(left(), 0);
}

/// The redrive policy counts as always.
void TestQueueFaults::duplicatesDieOfTheirReceives()
{
    QVERIFY(send({u"A"_s}));
    arm(rule(FaultPoint::QueueReceive, Effect::Duplicate, 0));
    for (int i = 1; i <= 3; ++i) {
        const auto received = receive();
        QCOMPARE(received->size(), 1);
        QCOMPARE(received->first().receiveCount(), i);
    }
    QCOMPARE(eventsOf(receive()), QStringList());
    QSignalSpy counted(m_services.get(), &LocalServices::counted);
    m_services->count();
    QTRY_COMPARE(counted.size(), 1);
    QCOMPARE(counted.first(), (QVariantList{0, 1}));
}

void TestQueueFaults::newestFirst()
{
    arm(rule(FaultPoint::QueueReceive, Effect::Disorder));
    QVERIFY(send({u"A"_s}));
    QCOMPARE(eventsOf(receive()), QStringList{u"A"_s});
    QCOMPARE(m_armed.first().struck, 0); // of one message there is no order
    for (const QString &event : {u"B"_s, u"C"_s, u"D"_s, u"E"_s, u"F"_s})
        QVERIFY(send({event}));
    QCOMPARE(eventsOf(receive(2)), QStringList({u"F"_s, u"E"_s}));
    verifyItIsOver();
    QCOMPARE(eventsOf(receive()), QStringList({u"B"_s, u"C"_s, u"D"_s}));
}

void TestQueueFaults::comesBackEarly()
{
    QVERIFY(send({u"A"_s}));
    FaultRule early = rule(FaultPoint::QueueReceive, Effect::ShortVisibility);
    early.delay = 700ms;
    arm(early);
    QElapsedTimer timer;
    const auto first = receive(); // for the queue's 30 s
    timer.start();
    QCOMPARE(eventsOf(first), QStringList{u"A"_s});
    QCOMPARE(eventsOf(receive()), QStringList());
    const auto second = receive(10, 20s);
    QVERIFY2(timer.elapsed() >= 500 && timer.elapsed() < 10'000, qPrintable(QString::number(timer.elapsed())));
    QCOMPARE(eventsOf(second), QStringList{u"A"_s});
    QCOMPARE(second->first().receiveCount(), 2);
    verifyItIsOver();
    QCOMPARE(eventsOf(receive(10, 1s)), QStringList()); // it was for one receive
}

void TestQueueFaults::visibilityIsChangedAfterThat()
{
    QVERIFY(send({u"A"_s}));
    FaultRule early = rule(FaultPoint::QueueReceive, Effect::ShortVisibility);
    early.delay = 2s;
    arm(early);
    const auto received = receive();
    QCOMPARE(received->size(), 1);
    const QList<VisibilityEntry> longer{{u"x"_s, received->first().receiptHandle, 30s}};
    const auto changed =
        wait<QList<BatchEntryResult>>([&](auto done) { m_client->changeVisibilityBatch(m_queue, longer, this, done); });
    QVERIFY(changed && changed->first().ok);
    QCOMPARE(eventsOf(receive(10, 3s)), QStringList());
    QVERIFY(remove(received.value()));
    QCOMPARE(left(), 0);
}

void TestQueueFaults::deleteFails()
{
    QVERIFY(send({u"A"_s}));
    const auto received = receive();
    arm(rule(FaultPoint::QueueDelete, Effect::Fail));
    QVERIFY(!remove(received.value()));
    QCOMPARE(left(), 1);
    QVERIFY(remove(received.value()));
    QCOMPARE(left(), 0);
    verifyItIsOver();
}

void TestQueueFaults::deleteIsThrottled()
{
    QVERIFY(send({u"A"_s}));
    const auto received = receive();
    arm(rule(FaultPoint::QueueDelete, Effect::Throttle));
    const Batch removed = remove(received.value());
    QVERIFY(!removed);
    QCOMPARE(removed.error().kind, ErrorKind::Throttled);
    QCOMPARE(left(), 1);
    QVERIFY(remove(received.value()));
    QCOMPARE(left(), 0);
    verifyItIsOver();
}

void TestQueueFaults::oneEntryOfADeleteFails()
{
    QVERIFY(send({u"A"_s, u"B"_s, u"C"_s}));
    const auto received = receive();
    QCOMPARE(received->size(), 3);
    arm(rule(FaultPoint::QueueDelete, Effect::FailEntry, 0)); // every time, but one entry of each batch
    const Batch removed = remove(received.value());
    QVERIFY(removed);
    for (const BatchEntryResult &entry : removed.value()) {
        QCOMPARE(entry.ok, entry.id != u"e0"_s);
        if (!entry.ok)
            QCOMPARE(entry.code, u"InternalError"_s);
    }
    QCOMPARE(removed->size(), 3);
    QCOMPARE(left(), 1);
    m_faults->disarmAll();
    verifyItIsOver();
    QVERIFY(remove(received.value()));
    QCOMPARE(left(), 0);
}

void TestQueueFaults::handlesExpire()
{
    QVERIFY(send({u"A"_s, u"B"_s}));
    const auto received = receive();
    FaultRule expired = rule(FaultPoint::QueueDelete, Effect::ExpiredHandle);
    expired.event = u"B"_s;
    arm(expired);
    const Batch removed = remove(received.value());
    QVERIFY(removed);
    QCOMPARE(removed->size(), 2);
    const QStringList events = eventsOf(received);
    for (const BatchEntryResult &entry : removed.value()) {
        const bool isB = events[entry.id.mid(1).toInt()] == u"B"_s;
        QCOMPARE(entry.ok, !isB);
        if (isB)
            QCOMPARE(entry.code, u"ReceiptHandleIsInvalid"_s);
    }
    QCOMPARE(left(), 1);
    verifyItIsOver();

    arm(rule(FaultPoint::QueueDelete, Effect::ExpiredHandle, 0)); // each entry for itself
    const Batch refused = remove(received.value());
    QCOMPARE(refused->size(), 2);
    for (const auto &entry : refused.value())
        QVERIFY(!entry.ok);
    QCOMPARE(left(), 1);
    m_faults->disarmAll();
    verifyItIsOver();
    QVERIFY(remove(received.value()));
    QCOMPARE(left(), 0);
}

void TestQueueFaults::onlyForThatEvent()
{
    FaultRule twice = rule(FaultPoint::QueueReceive, Effect::Duplicate, 0);
    twice.event = u"B*"_s;
    twice.type = u"application.*"_s;
    arm(twice);
    // Also what a waiting receive gets in the very turn in which it was sent.
    std::optional<Result<QList<Message>>> waiting;
    m_client->receive({m_queue, 10, 20s, 30s}, this,
                      [&](Result<QList<Message>> result) { waiting = std::move(result); });
    QVERIFY(send({u"A"_s, u"B/1"_s}));
    QTRY_VERIFY(waiting.has_value());
    QStringList first = eventsOf(*waiting);
    first.sort();
    QCOMPARE(first, QStringList({u"A"_s, u"B/1"_s}));
    QCOMPARE(eventsOf(receive()), QStringList{u"B/1"_s});
}

void TestQueueFaults::wholeBatchesForOneEvent()
{
    FaultRule aimed = rule(FaultPoint::QueueSend, Effect::Throttle);
    aimed.event = u"C"_s;
    arm(aimed);
    QVERIFY(send({u"A"_s, u"B"_s}));
    const Batch sent = send({u"A"_s, u"B"_s, u"C"_s}); // wherever it stands
    QVERIFY(!sent);
    QCOMPARE(sent.error().kind, ErrorKind::Throttled);
    QVERIFY(send({u"C"_s}));
    QCOMPARE(left(), 3);

    aimed.where = FaultPoint::QueueDelete;
    arm(aimed);
    const auto received = receive();
    QCOMPARE(eventsOf(received), QStringList({u"A"_s, u"B"_s, u"C"_s}));
    QVERIFY(remove(received->first(1)));
    QVERIFY(!remove(received->sliced(1)));
    QCOMPARE(left(), 2);
    QVERIFY(remove(received->sliced(1)));
    QCOMPARE(left(), 0);
    verifyItIsOver();
}

void TestQueueFaults::aReceiveAsAWholeIsForNobody()
{
    QVERIFY(send({u"A"_s, u"B"_s}));
    for (const Effect effect : {Effect::Fail, Effect::Throttle, Effect::Empty, Effect::Disorder}) {
        FaultRule aimed = rule(FaultPoint::QueueReceive, effect);
        aimed.event = u"*"_s;
        arm(aimed);
    }
    QCOMPARE(eventsOf(receive()), QStringList({u"A"_s, u"B"_s}));
    QCOMPARE(m_armed.size(), 4);
}

/// What is carried out in one turn shares a transaction: whom no fault strikes gets a durable answer.
void TestQueueFaults::whoseTurnItIsGoesOn()
{
    using namespace sendonce::local;
    FaultBoard board;
    const QString file = m_folder->filePath(u"turn.db"_s);
    auto server = std::make_unique<LocalSqsServer>(u"an-id"_s);
    server->setFaults(&board);
    QVERIFY(server->open(file));
    const quint16 port = server->listen(0).value();
    QVERIFY(std::holds_alternative<SqsResult>(server->execute(CreateQueueRequest{u"q"_s, {}, {}})));
    for (const auto &[event, point, effect] : {std::tuple(u"A"_s, FaultPoint::QueueSend, Effect::Fail),
                                               std::tuple(u"C"_s, FaultPoint::QueueSend, Effect::FailEntry),
                                               std::tuple(u"D"_s, FaultPoint::QueueReceive, Effect::Duplicate)}) {
        FaultRule aimed = rule(point, effect);
        aimed.event = event;
        QVERIFY(board.arm(aimed));
    }
    const QStringList events{u"A"_s, u"B"_s, u"C"_s, u"D"_s};
    std::vector<std::unique_ptr<HttpProbe>> probes;
    for (qsizetype i = 0; i < events.size(); ++i) {
        probes.push_back(std::make_unique<HttpProbe>(port));
        QVERIFY(HttpProbe::waitFor([&] { return server->connectionCount() == i + 1; }));
    }
    // All are written before the endpoint, which lives in this thread, reads any of them.
    for (qsizetype i = 0; i < events.size(); ++i) {
        const QJsonObject members{{u"QueueUrl"_s, u"/000000000000/q"_s},
                                  {u"MessageBody"_s, QString::fromUtf8(bodyOf(events[i]))}};
        probes[size_t(i)]->ask("SendMessage", QJsonDocument(members).toJson());
    }
    QCOMPARE(probes[0]->reply().status, 500);
    QCOMPARE(probes[1]->reply().status, 200);
    QCOMPARE(probes[2]->reply().status, 500);
    QCOMPARE(probes[3]->reply().status, 200);
    const QByteArray all = R"({"QueueUrl":"/000000000000/q","MaxNumberOfMessages":10})";
    QCOMPARE(probes[1]->call("ReceiveMessage", all).json()["Messages"_L1].toArray().size(), 2);
    QCOMPARE(board.armed(), FaultRules());
    // And so it is after a restart: B is in flight, D is visible again.
    server = std::make_unique<LocalSqsServer>(u"another-id"_s);
    QVERIFY(server->open(file));
    HttpProbe probe(server->listen(0).value());
    const QJsonArray left = probe.call("ReceiveMessage", all).json()["Messages"_L1].toArray();
    QCOMPARE(left.size(), 1);
    QVERIFY(left[0]["Body"_L1].toString().contains(u"\"D\""_s));
}

QTEST_GUILESS_MAIN(TestQueueFaults)
#include "tst_queuefaults.moc"
