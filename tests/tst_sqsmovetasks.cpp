#include "tests/world/scriptedhttp.h"
#include "worker/queue/sqsclient.h"
#include "worker/queue/sqsmovetasks.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <memory>
#include <optional>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

/// Move tasks: bodies and replies, in AWS's spelling and in those of emulators (sqs.md, sections 12 and 17).
class TestSqsMoveTasks : public QObject
{
    Q_OBJECT

    std::unique_ptr<ScriptedHttp> m_server;
    std::unique_ptr<SqsClient> m_client;
    const QString m_arn = u"arn:aws:sqs:eu-west-1:000000000000:dead"_s;

    QUrl queue() const { return m_server->url("/000000000000/dead"_ba); }
    QString operationOf(qsizetype request) const
    {
        return QString::fromLatin1(m_server->requests().at(request).header("X-Amz-Target"_ba)).section(u'.', 1);
    }
    QJsonObject bodyOf(qsizetype request) const
    {
        return QJsonDocument::fromJson(m_server->requests().at(request).body).object();
    }

    template <typename T, typename Call>
    Result<T> ask(Call call)
    {
        std::optional<Result<T>> answer;
        call([&answer](Result<T> result) { answer = std::move(result); });
        if (!QTest::qWaitFor([&answer] { return answer.has_value(); }))
            return Error{ErrorKind::Io, u"the test waited in vain"_s, {}};
        return *answer;
    }
    Result<QList<MoveTask>> list()
    {
        return ask<QList<MoveTask>>(
            [this](auto done) { m_client->listMessageMoveTasks(queue(), m_arn, 10, this, done); });
    }

private Q_SLOTS:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(u".*"_s));
        m_server = std::make_unique<ScriptedHttp>();
        m_client = std::make_unique<SqsClient>(
            SqsSettings{m_server->url(), u"eu-west-1"_s, {u"test"_s, u"test"_s, {}}, 5s, 3, 1ms});
    }
    void cleanup()
    {
        m_client.reset();
        m_server.reset();
    }

    void everyOperation()
    {
        m_server->next(ScriptedHttp::reply(200, R"({"TaskHandle":"h"})"_ba));
        m_server->next(ScriptedHttp::reply(200, R"({"TaskHandle":"h2"})"_ba));
        m_server->next(ScriptedHttp::reply(200, R"({"ApproximateNumberOfMessagesMoved":2})"_ba));
        const auto started = ask<QString>([this](auto done) {
            m_client->startMessageMoveTask(queue(), {m_arn, {}, 0}, this, done);
        });
        QVERIFY(started);
        QCOMPARE(started.value(), u"h"_s);
        const auto slow = ask<QString>([this](auto done) {
            m_client->startMessageMoveTask(queue(), {m_arn, u"to"_s, 50}, this, done);
        });
        QCOMPARE(slow.value(), u"h2"_s);
        const auto moved =
            ask<qint64>([this](auto done) { m_client->cancelMessageMoveTask(queue(), u"h2"_s, this, done); });
        QCOMPARE(moved.value(), 2);

        QCOMPARE(operationOf(0), u"StartMessageMoveTask"_s);
        QCOMPARE(bodyOf(0), (QJsonObject{{u"SourceArn"_s, m_arn}})); // neither an empty destination nor a rate of 0
        QCOMPARE(bodyOf(1),
                 (QJsonObject{{u"SourceArn"_s, m_arn},
                              {u"DestinationArn"_s, u"to"_s},
                              {u"MaxNumberOfMessagesPerSecond"_s, 50}}));
        QCOMPARE(operationOf(2), u"CancelMessageMoveTask"_s);
        QCOMPARE(bodyOf(2), (QJsonObject{{u"TaskHandle"_s, u"h2"_s}}));
    }

    void tasksAreRead_data()
    {
        QTest::addColumn<QByteArray>("reply");
        QTest::addColumn<QList<MoveTask>>("tasks");
        using State = MoveTask::State;
        const QDateTime started = QDateTime::fromMSecsSinceEpoch(1700000000123, Qt::UTC);
        QTest::newRow("running, as AWS")
            << R"({"Results":[{"TaskHandle":"h","Status":"RUNNING","SourceArn":"s","DestinationArn":"d",)"
               R"("MaxNumberOfMessagesPerSecond":5,"ApproximateNumberOfMessagesMoved":2,)"
               R"("ApproximateNumberOfMessagesToMove":9,"StartedTimestamp":1700000000123}]})"_ba
            << QList<MoveTask>{{State::Running, u"h"_s, u"s"_s, u"d"_s, 5, 2, 9, started, {}}};
        QTest::newRow("numbers as strings")
            << R"({"Results":[{"TaskHandle":"h","Status":"running","MaxNumberOfMessagesPerSecond":"5",)"
               R"("ApproximateNumberOfMessagesMoved":"2","ApproximateNumberOfMessagesToMove":"9",)"
               R"("StartedTimestamp":"1700000000123.25"}]})"_ba
            << QList<MoveTask>{{State::Running, u"h"_s, {}, {}, 5, 2, 9, started, {}}};
        QTest::newRow("missing fields") << R"({"Results":[{"Status":"COMPLETED"},{}]})"_ba
                                        << QList<MoveTask>{{State::Completed, {}, {}, {}, 0, 0, -1, {}, {}},
                                                           {State::Unknown, {}, {}, {}, 0, 0, -1, {}, {}}};
        QTest::newRow("fields of the wrong kind")
            << R"({"Results":[{"Status":7,"TaskHandle":[],"ApproximateNumberOfMessagesMoved":"many",)"
               R"("StartedTimestamp":{},"ApproximateNumberOfMessagesToMove":1e300}]})"_ba
            << QList<MoveTask>{{State::Unknown, {}, {}, {}, 0, 0, -1, {}, {}}};
        QTest::newRow("failed, cancelled") << R"({"Results":[{"Status":"FAILED","FailureReason":"AWS.X\nmore"},)"
                                              R"({"Status":"CANCELLING"},{"Status":"CANCELLED"}]})"_ba
                                           << QList<MoveTask>{{State::Failed, {}, {}, {}, 0, 0, -1, {}, u"AWS.X"_s},
                                                              {State::Cancelling, {}, {}, {}, 0, 0, -1, {}, {}},
                                                              {State::Cancelled, {}, {}, {}, 0, 0, -1, {}, {}}};
        QTest::newRow("none") << R"({"Results":[]})"_ba << QList<MoveTask>();
        QTest::newRow("no list") << "{}"_ba << QList<MoveTask>();
        QTest::newRow("null") << R"({"Results":null})"_ba << QList<MoveTask>();
    }

    void tasksAreRead()
    {
        QFETCH(QByteArray, reply);
        m_server->next(ScriptedHttp::reply(200, reply));
        const auto tasks = list();
        QVERIFY2(tasks, tasks ? "" : qPrintable(tasks.error().text));
        QTEST(tasks.value(), "tasks");
        QCOMPARE(operationOf(0), u"ListMessageMoveTasks"_s);
        QCOMPARE(bodyOf(0), (QJsonObject{{u"SourceArn"_s, m_arn}, {u"MaxResults"_s, 10}}));
    }

    void endpointsWithoutThem_data()
    {
        QTest::addColumn<int>("status");
        QTest::addColumn<QByteArray>("reply");
        QTest::addColumn<ErrorKind>("kind");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("requests");
        QTest::newRow("moto: 500 with HTML") << 500 << "<!doctype html><title>500 Internal Server Error</title>"_ba
                                             << ErrorKind::Unreachable << u"HTTP 500"_s << 3;
        QTest::newRow("unsupported") << 400
                                     << R"({"__type":"com.amazonaws.sqs#UnsupportedOperation","message":"no"})"_ba
                                     << ErrorKind::Refused << u"UnsupportedOperation"_s << 1;
        QTest::newRow("fauxqs") << 400 << R"({"__type":"AWS.SimpleQueueService.InvalidAction","message":"no"})"_ba
                                << ErrorKind::Refused << u"InvalidAction"_s << 1;
        QTest::newRow("unknown operation") << 404 << R"({"__type":"UnknownOperationException"})"_ba
                                           << ErrorKind::Refused << u"UnknownOperationException"_s << 1;
        QTest::newRow("no such page") << 404 << "<html>"_ba << ErrorKind::Protocol << u"HTTP 404"_s << 1;
        QTest::newRow("200 with HTML") << 200 << "<html>"_ba << ErrorKind::Protocol << u""_s << 1;
        QTest::newRow("a list that is none") << 200 << R"({"Results":7})"_ba << ErrorKind::Protocol << u""_s << 1;
    }

    void endpointsWithoutThem()
    {
        QFETCH(int, status);
        QFETCH(QByteArray, reply);
        QFETCH(int, requests);
        for (int i = 0; i < requests; ++i)
            m_server->next(ScriptedHttp::reply(status, reply));
        const auto tasks = list();
        QVERIFY(!tasks);
        QTEST(tasks.error().kind, "kind");
        QTEST(tasks.error().code, "code");
        QCOMPARE(m_server->requests().size(), requests);
    }

    void aStartIsNeverSentTwice()
    {
        m_server->next({{}, ScriptedHttp::After::Close});
        const auto started = ask<QString>([this](auto done) {
            m_client->startMessageMoveTask(queue(), {m_arn, {}, 0}, this, done);
        });
        QVERIFY(!started);
        QCOMPARE(started.error().kind, ErrorKind::Unreachable);
        QVERIFY(list()); // what else were to come would come before this one
        QCOMPARE(m_server->requests().size(), 2);
    }

    void aStartWithoutAHandleIsAnError()
    {
        m_server->next(ScriptedHttp::reply(200, "{}"_ba));
        const auto started = ask<QString>([this](auto done) {
            m_client->startMessageMoveTask(queue(), {m_arn, {}, 0}, this, done);
        });
        QVERIFY(!started);
        QCOMPARE(started.error().kind, ErrorKind::Protocol);
        QVERIFY2(started.error().text.endsWith("no TaskHandle in it"_L1), qPrintable(started.error().text));
    }

    void aCountThatIsNotToldIsNotKnown()
    {
        QCOMPARE(sqsmovetasks::readMoved("{}"_ba).value(), -1);
        QCOMPARE(sqsmovetasks::readMoved(R"({"ApproximateNumberOfMessagesMoved":"12"})"_ba).value(), 12);
        QVERIFY(!sqsmovetasks::readMoved("<html>"_ba));
    }

    void sourcesComeOverAllPages()
    {
        m_server->next(
            ScriptedHttp::reply(200, R"({"queueUrls":["http:\/\/h\/1\/a","http:\/\/h\/1\/b"],"NextToken":"t"})"_ba));
        m_server->next(ScriptedHttp::reply(200, R"({"queueUrls":["http:\/\/h\/1\/c"]})"_ba));
        const auto sources =
            ask<QList<QUrl>>([this](auto done) { m_client->listDeadLetterSourceQueues(queue(), this, done); });
        QVERIFY(sources);
        QCOMPARE(sources.value(),
                 (QList<QUrl>{QUrl(u"http://h/1/a"_s), QUrl(u"http://h/1/b"_s), QUrl(u"http://h/1/c"_s)}));
        QCOMPARE(operationOf(0), u"ListDeadLetterSourceQueues"_s);
        QCOMPARE(bodyOf(0), (QJsonObject{{u"QueueUrl"_s, queue().toString()}, {u"MaxResults"_s, 1000}}));
        QCOMPARE(bodyOf(1).value("NextToken"_L1).toString(), u"t"_s);
    }

    void aTokenThatLeadsNowhereEndsTheList()
    {
        for (int i = 0; i < 2; ++i)
            m_server->next(ScriptedHttp::reply(200, R"({"QueueUrls":["http:\/\/h\/1\/a"],"NextToken":"t"})"_ba));
        const auto sources =
            ask<QList<QUrl>>([this](auto done) { m_client->listDeadLetterSourceQueues(queue(), this, done); });
        QVERIFY(sources);
        QCOMPARE(m_server->requests().size(), 2);
    }

    void sourcesThatCannotBeListed()
    {
        m_server->next(ScriptedHttp::reply(400, R"({"__type":"InvalidAction"})"_ba));
        const auto sources =
            ask<QList<QUrl>>([this](auto done) { m_client->listDeadLetterSourceQueues(queue(), this, done); });
        QVERIFY(!sources);
        QCOMPARE(sources.error().code, u"InvalidAction"_s);
    }
};

QTEST_GUILESS_MAIN(TestSqsMoveTasks)
#include "tst_sqsmovetasks.moc"
