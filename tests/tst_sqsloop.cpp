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

/// Our client against our own endpoint: the two are written apart, so that each is a witness for the other.
class TestSqsLoop : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();

    void queueIsFoundByName();
    void queueSaysWhatItIs();
    void messageGoesRound_data();
    void messageGoesRound();
    void attributesGoRound();
    void bodyOfAMebibyte();
    void bodyTooLongIsRefused();
    void visibilityIsChanged();
    void messageOftenReceivedDies();
    void deletedTwiceIsFine();
    void notAHandle();
    void longPollWakesUp();
    void longPollEndsEmpty();
    void abortedLongPollTakesNothing();
    void purged();
    void unknownQueue();
    void faultsAreArmed();

private:
    /// The result of one call; fails the test when none comes.
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
            loop.enterLoopMSecs(5000);
        return answer ? *answer : Error{ErrorKind::Unreachable, u"the test waited in vain"_s, {}};
    }
    Result<QList<BatchEntryResult>> send(const QList<SendEntry> &entries)
    {
        return wait<QList<BatchEntryResult>>([&](auto done) { m_client->sendBatch(m_queue, entries, this, done); });
    }
    QString sendOne(const QByteArray &body)
    {
        const auto sent = send({{u"a"_s, body, {}, {}, -1}});
        return sent.ok() && sent->first().ok ? sent->first().messageId : QString();
    }
    Result<QList<Message>> receive(const QUrl &queue, std::chrono::seconds longPoll = 0s,
                                   std::optional<std::chrono::seconds> visibility = std::nullopt)
    {
        return wait<QList<Message>>([&](auto done) {
            m_client->receive({queue, 10, longPoll, visibility}, this, done);
        });
    }
    Result<QList<BatchEntryResult>> remove(const QStringList &handles)
    {
        QList<DeleteEntry> entries;
        for (const QString &handle : handles)
            entries.append({u"e%1"_s.arg(entries.size()), handle});
        return wait<QList<BatchEntryResult>>([&](auto done) { m_client->deleteBatch(m_queue, entries, this, done); });
    }

    QTemporaryDir m_folder;
    std::unique_ptr<LocalServices> m_services;
    LocalAddresses m_addresses;
    QUrl m_queue;
    std::unique_ptr<SqsClient> m_client;
};

void TestSqsLoop::initTestCase()
{
    QTest::failOnWarning(QRegularExpression(u".*"_s));
    LocalSettings settings;
    settings.dataDir = m_folder.path();
    settings.sqsPort = 0;
    settings.smtpPort = 0;
    m_services = std::make_unique<LocalServices>();
    const Result<LocalAddresses> addresses = m_services->start(settings);
    QVERIFY2(addresses.ok(), addresses.ok() ? "" : qPrintable(addresses.error().text));
    m_addresses = addresses.value();
    m_queue = m_addresses.queueUrl();
}

void TestSqsLoop::init()
{
    m_client = std::make_unique<SqsClient>(
        SqsSettings{m_addresses.endpoint(), u"us-east-1"_s, {u"test"_s, u"test"_s, {}}, 5s});
    // What a test before may have left.
    for (const QUrl &queue : {m_queue, m_addresses.dlqUrl()}) {
        for (auto left = receive(queue, 0s, 0s); left.ok() && !left->isEmpty(); left = receive(queue, 0s, 0s)) {
            for (const Message &message : left.value()) {
                const auto removed = wait<QList<BatchEntryResult>>([&](auto done) {
                    m_client->deleteBatch(queue, {{u"a"_s, message.receiptHandle}}, this, done);
                });
                QVERIFY(removed.ok());
            }
        }
    }
}

void TestSqsLoop::queueIsFoundByName()
{
    const auto url = wait<QUrl>([&](auto done) { m_client->getQueueUrl(u"job-board-events"_s, this, done); });
    QVERIFY(url.ok());
    QCOMPARE(url.value(), m_queue);
}

void TestSqsLoop::queueSaysWhatItIs()
{
    const auto attributes =
        wait<QMap<QString, QString>>([&](auto done) { m_client->getQueueAttributes(m_queue, {u"All"_s}, this, done); });
    QVERIFY(attributes.ok());
    QCOMPARE(attributes->value(u"VisibilityTimeout"_s), u"30"_s);
    QVERIFY(attributes->value(u"RedrivePolicy"_s).contains("job-board-events-dlq"_L1));
    QVERIFY(attributes->contains(u"ApproximateNumberOfMessages"_s));
}

void TestSqsLoop::messageGoesRound_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::newRow("event") << R"({"type":"application.status_changed","event_id":"e","application_id":3})"_ba;
    QTest::newRow("not ASCII, outside the BMP") << u"h\u00e9llo \u6f22 \U0001F600"_s.toUtf8();
    QTest::newRow("U+FEFF at the start") << u"\uFEFF{}\uFEFF"_s.toUtf8();
    QTest::newRow("line ends, tabs, quotes") << "a\r\nb\nc\rd\te\"f\\g"_ba;
}

void TestSqsLoop::messageGoesRound()
{
    QFETCH(QByteArray, body);
    const QString messageId = sendOne(body);
    QVERIFY(!messageId.isEmpty());
    const auto received = receive(m_queue);
    QVERIFY(received.ok());
    QCOMPARE(received->size(), 1);
    const Message message = received->first();
    QCOMPARE(message.messageId, messageId);
    QCOMPARE(message.body, body);
    QCOMPARE(message.receiveCount(), 1);
    QVERIFY(qAbs(message.sentAt().secsTo(QDateTime::currentDateTimeUtc())) < 60);
    const auto removed = remove({message.receiptHandle});
    QVERIFY(removed.ok());
    QVERIFY(removed->first().ok);
    QVERIFY(receive(m_queue, 0s, 0s)->isEmpty());
}

void TestSqsLoop::attributesGoRound()
{
    const MessageAttributes attributes{{u"attempt"_s, {u"Number.int"_s, u"1"_s, {}}},
                                       {u"blob"_s, {u"Binary"_s, {}, QByteArray::fromHex("00ff")}},
                                       {u"event_id"_s, {u"String"_s, u"evt-42"_s, {}}}};
    const auto sent = send({{u"a"_s, "x"_ba, attributes, u"Root=1-5759e988-bd862e3fe1be46a994272793"_s, 0}});
    QVERIFY(sent.ok());
    QVERIFY2(sent->first().ok, qPrintable(sent->first().text));
    const auto received = receive(m_queue);
    QCOMPARE(received->size(), 1);
    QCOMPARE(received->first().attributes, attributes);
    QCOMPARE(received->first().systemAttributes.value(u"AWSTraceHeader"_s),
             u"Root=1-5759e988-bd862e3fe1be46a994272793"_s);
}

void TestSqsLoop::bodyOfAMebibyte()
{
    const QByteArray body(1 << 20, '"'); // twice as long in JSON
    QVERIFY(!sendOne(body).isEmpty());
    const auto received = receive(m_queue);
    QVERIFY2(received.ok(), received.ok() ? "" : qPrintable(received.error().text));
    QCOMPARE(received->size(), 1);
    QVERIFY(received->first().body == body);
}

void TestSqsLoop::bodyTooLongIsRefused()
{
    const auto sent = send({{u"long"_s, QByteArray((1 << 20) + 1, 'x'), {}, {}, -1}});
    const Error whole = sent.ok() ? Error{} : sent.error();
    const QString code = sent.ok() ? sent->first().code : whole.code;
    QVERIFY2(code == "InvalidParameterValue"_L1 || code == "BatchRequestTooLong"_L1, qPrintable(code));
    QVERIFY(receive(m_queue, 0s, 0s)->isEmpty());
}

void TestSqsLoop::visibilityIsChanged()
{
    QVERIFY(!sendOne("x"_ba).isEmpty());
    const auto first = receive(m_queue);
    QCOMPARE(first->size(), 1);
    QVERIFY(receive(m_queue)->isEmpty());
    const auto changed = wait<QList<BatchEntryResult>>([&](auto done) {
        m_client->changeVisibilityBatch(m_queue, {{u"a"_s, first->first().receiptHandle, 0s}}, this, done);
    });
    QVERIFY(changed.ok());
    QVERIFY(changed->first().ok);
    const auto second = receive(m_queue);
    QCOMPARE(second->size(), 1);
    QCOMPARE(second->first().receiveCount(), 2);
    QVERIFY(second->first().receiptHandle != first->first().receiptHandle);
}

void TestSqsLoop::messageOftenReceivedDies()
{
    const QString messageId = sendOne("poison"_ba);
    for (int count = 1; count <= 3; ++count) {
        const auto received = receive(m_queue, 0s, 0s);
        QCOMPARE(received->size(), 1);
        QCOMPARE(received->first().receiveCount(), count);
    }
    QVERIFY(receive(m_queue, 0s, 0s)->isEmpty());
    const auto dead = receive(m_addresses.dlqUrl());
    QCOMPARE(dead->size(), 1);
    QCOMPARE(dead->first().messageId, messageId);
    QVERIFY(dead->first().systemAttributes.value(u"DeadLetterQueueSourceArn"_s).endsWith(":job-board-events"_L1));
}

void TestSqsLoop::deletedTwiceIsFine()
{
    QVERIFY(!sendOne("x"_ba).isEmpty());
    const QString handle = receive(m_queue)->first().receiptHandle;
    QVERIFY(remove({handle})->first().ok);
    QVERIFY(remove({handle})->first().ok);
}

void TestSqsLoop::notAHandle()
{
    QVERIFY(!sendOne("x"_ba).isEmpty());
    const QString handle = receive(m_queue)->first().receiptHandle;
    const auto removed = remove({u"garbage"_s, handle});
    QVERIFY(removed.ok());
    QCOMPARE(removed->at(0).ok, false);
    QCOMPARE(removed->at(0).code, u"ReceiptHandleIsInvalid"_s);
    QVERIFY(removed->at(0).senderFault);
    QVERIFY(removed->at(1).ok);
}

void TestSqsLoop::longPollWakesUp()
{
    std::optional<Result<QList<Message>>> received;
    QElapsedTimer timer;
    timer.start();
    m_client->receive({m_queue, 10, 20s, std::nullopt}, this,
                      [&](Result<QList<Message>> result) { received = result; });
    // The answers of other requests pass by the waiting one.
    const auto attributes =
        wait<QMap<QString, QString>>([&](auto done) { m_client->getQueueAttributes(m_queue, {u"All"_s}, this, done); });
    QVERIFY(attributes.ok());
    QVERIFY(!received);
    const QString messageId = sendOne("x"_ba);
    QTRY_VERIFY(received);
    QCOMPARE((*received)->first().messageId, messageId);
    QVERIFY(timer.elapsed() < 5000);
}

void TestSqsLoop::longPollEndsEmpty()
{
    QElapsedTimer timer;
    timer.start();
    const auto received = receive(m_queue, 1s);
    QVERIFY(received.ok());
    QVERIFY(received->isEmpty());
    QVERIFY2(timer.elapsed() >= 900 && timer.elapsed() < 3000, qPrintable(QString::number(timer.elapsed())));
}

void TestSqsLoop::abortedLongPollTakesNothing()
{
    std::optional<ErrorKind> end;
    SqsCall *call = m_client->receive({m_queue, 10, 20s, std::nullopt}, this,
                                      [&](const Result<QList<Message>> &result) { end = result.error().kind; });
    // A second one through the same connections: when it is answered, the first has arrived.
    QVERIFY(receive(m_queue)->isEmpty());
    call->abort();
    QCOMPARE(end, ErrorKind::Aborted);
    // And one behind it: when it is answered, the end of the first has arrived too.
    QVERIFY(receive(m_queue)->isEmpty());
    const QString messageId = sendOne("x"_ba);
    const auto received = receive(m_queue, 2s);
    QCOMPARE(received->size(), 1);
    QCOMPARE(received->first().messageId, messageId);
    QCOMPARE(received->first().receiveCount(), 1);
}

void TestSqsLoop::purged()
{
    QVERIFY(!sendOne("x"_ba).isEmpty());
    const auto purged = wait<bool>([&](auto done) { m_client->purgeQueue(m_queue, this, done); });
    QVERIFY(purged.ok());
    QVERIFY(receive(m_queue)->isEmpty());
}

void TestSqsLoop::unknownQueue()
{
    QUrl other = m_queue;
    other.setPath(u"/000000000000/nowhere"_s);
    const auto received = receive(other);
    QVERIFY(!received.ok());
    QCOMPARE(received.error().kind, ErrorKind::NotFound);
    QCOMPARE(received.error().code, u"QueueDoesNotExist"_s);
    const auto url = wait<QUrl>([&](auto done) { m_client->getQueueUrl(u"nowhere"_s, this, done); });
    QCOMPARE(url.error().kind, ErrorKind::NotFound);
}

void TestSqsLoop::faultsAreArmed()
{
    FaultSocket socket(m_addresses.controlSocket);
    QSignalSpy armed(&socket, &FaultSocket::armedChanged);
    QSignalSpy failed(&socket, &FaultSocket::failed);
    socket.open();
    QTRY_COMPARE(armed.size(), 1);
    QVERIFY(armed.last().first().value<FaultRules>().isEmpty());
    FaultRule refusal;
    refusal.times = 3;
    socket.arm(refusal);
    QTRY_COMPARE(armed.size(), 2);
    const auto rules = armed.last().first().value<FaultRules>();
    QCOMPARE(rules.size(), 1);
    QCOMPARE(rules.first().remaining(), 3);
    QCOMPARE(rules.first().code, 451);
    QVERIFY(rules.first().id > 0);
    refusal.code = 200;
    socket.arm(refusal);
    QTRY_COMPARE(failed.size(), 1);
    socket.disarm(rules.first().id);
    QTRY_COMPARE(armed.size(), 3);
    QVERIFY(armed.last().first().value<FaultRules>().isEmpty());
}

QTEST_GUILESS_MAIN(TestSqsLoop)
#include "tst_sqsloop.moc"
