#include "tests/world/httpprobe.h"
#include "worker/faults/faultsocket.h"
#include "worker/local/localservices.h"
#include "worker/queue/sqsclient.h"

#include <QElapsedTimer>
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
    void requestFails();
    void requestIsThrottled();
    void requestIsNotAnswered();
    void theEndpointIsDownForAWhile();
    void itsIdIsAnsweredInAnyCase();
    void queryProtocolHearsTheSame();
    void sendFails();
    void sendIsThrottled();
    void oneEntryOfASendFails();
    void receiveFails();
    void receiveIsThrottled();
    void emptyThoughItIsNot();
    void aWaitingReceiveIsKeptEmptyToo();
    void nothingIsUsedUpByAnEmptyQueue();
    void duplicateDelivery();
    void newestFirst();
    void comesBackEarly();
    void deleteFails();
    void deleteIsThrottled();
    void oneEntryOfADeleteFails();
    void handlesExpire();
    void onlyForThatEvent();

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
        QTRY_VERIFY(!m_armed.isEmpty());
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<LocalServices> m_services;
    std::unique_ptr<FaultSocket> m_faults;
    FaultRules m_armed;
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

void TestQueueFaults::requestFails()
{
    arm(rule(FaultPoint::QueueRequest, Effect::Fail));
    const Batch sent = send({u"A"_s});
    QVERIFY(!sent);
    QCOMPARE(sent.error().code, u"InternalFailure"_s);
    QVERIFY2(sent.error().text.contains(u"armed fault"_s), qPrintable(sent.error().text));
    QCOMPARE(left(), 0);
    QVERIFY(send({u"A"_s}));
}

void TestQueueFaults::requestIsThrottled()
{
    arm(rule(FaultPoint::QueueRequest, Effect::Throttle));
    const Batch sent = send({u"A"_s});
    QVERIFY(!sent);
    QCOMPARE(sent.error().kind, ErrorKind::Throttled);
    QCOMPARE(left(), 0);
}

void TestQueueFaults::requestIsNotAnswered()
{
    arm(rule(FaultPoint::QueueRequest, Effect::Close));
    const Batch sent = send({u"A"_s});
    QVERIFY(!sent);
    QCOMPARE(sent.error().kind, ErrorKind::Unreachable);
    QCOMPARE(left(), 0); // and nothing of it was done
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

void TestQueueFaults::queryProtocolHearsTheSame()
{
    arm(rule(FaultPoint::QueueReceive, Effect::Throttle));
    HttpProbe probe(m_addresses.sqsPort);
    probe.write("GET /000000000000/job-board-events?Action=ReceiveMessage HTTP/1.1\r\nHost: " + probe.host()
                + "\r\n\r\n");
    const HttpProbe::Reply reply = probe.reply();
    QCOMPARE(reply.status, 400);
    QVERIFY2(reply.body.contains("<Code>ThrottlingException</Code>"), reply.body.constData());
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
}

void TestQueueFaults::sendIsThrottled()
{
    arm(rule(FaultPoint::QueueSend, Effect::Throttle));
    const Batch sent = send({u"A"_s});
    QVERIFY(!sent);
    QCOMPARE(sent.error().kind, ErrorKind::Throttled);
    QCOMPARE(left(), 0);
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
    QCOMPARE(left(), 2);
}

void TestQueueFaults::receiveFails()
{
    QVERIFY(send({u"A"_s}));
    arm(rule(FaultPoint::QueueReceive, Effect::Fail));
    QVERIFY(!receive());
    QCOMPARE(eventsOf(receive()), QStringList{u"A"_s});
}

void TestQueueFaults::receiveIsThrottled()
{
    QVERIFY(send({u"A"_s}));
    arm(rule(FaultPoint::QueueReceive, Effect::Throttle));
    const auto received = receive();
    QVERIFY(!received);
    QCOMPARE(received.error().kind, ErrorKind::Throttled);
    QCOMPARE(eventsOf(receive()), QStringList{u"A"_s});
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

void TestQueueFaults::nothingIsUsedUpByAnEmptyQueue()
{
    for (const Effect effect : {Effect::Empty, Effect::Disorder, Effect::Duplicate})
        m_faults->arm(rule(FaultPoint::QueueReceive, effect));
    QTRY_COMPARE(m_armed.size(), 3);
    QVERIFY(receive());
    m_faults->arm(rule(FaultPoint::QueueRequest, Effect::Close)); // behind whatever was pushed
    QTRY_COMPARE(m_armed.size(), 4);
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
}

void TestQueueFaults::newestFirst()
{
    for (const QString &event : {u"A"_s, u"B"_s, u"C"_s})
        QVERIFY(send({event}));
    arm(rule(FaultPoint::QueueReceive, Effect::Disorder));
    QCOMPARE(eventsOf(receive(1)), QStringList{u"C"_s});
    QCOMPARE(eventsOf(receive()), QStringList({u"B"_s, u"A"_s}));
}

void TestQueueFaults::comesBackEarly()
{
    QVERIFY(send({u"A"_s}));
    FaultRule early = rule(FaultPoint::QueueReceive, Effect::ShortVisibility);
    early.delay = 1s;
    arm(early);
    const auto first = receive(); // for 30 s, it asks
    QCOMPARE(eventsOf(first), QStringList{u"A"_s});
    QCOMPARE(eventsOf(receive()), QStringList());
    const auto second = receive(10, 5s);
    QCOMPARE(eventsOf(second), QStringList{u"A"_s});
    QCOMPARE(second->first().receiveCount(), 2);
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
            QCOMPARE(entry.code, u"InternalFailure"_s);
    }
    QCOMPARE(removed->size(), 3);
    QCOMPARE(left(), 1);
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

QTEST_GUILESS_MAIN(TestQueueFaults)
#include "tst_queuefaults.moc"
