#include "tests/world/scriptedhttp.h"
#include "worker/events/eventtype.h"
#include "worker/operate/deadletters.h"
#include "worker/operate/movetaskprobe.h"
#include "worker/operate/storytelling.h"
#include "worker/store/processedevents.h"

#include <QCryptographicHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <optional>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

QString operationOf(const ScriptedHttp::Request &request)
{
    return QString::fromLatin1(request.header("X-Amz-Target"_ba)).section(u'.', 1);
}

ScriptedHttp::Step json(const QJsonObject &body)
{
    return ScriptedHttp::reply(200, QJsonDocument(body).toJson(QJsonDocument::Compact));
}

QString md5(const QByteArray &bytes)
{
    return QString::fromLatin1(QCryptographicHash::hash(bytes, QCryptographicHash::Md5).toHex());
}

/// {MyAttribute: String foobar}, recorded from AWS (sqs.md, section 10).
const QString AttributeMd5 = QStringLiteral("adb59cd4678ea5a855436b949cd07ab6");
const QString WrongMd5 = QStringLiteral("00000000000000000000000000000000");

} // namespace

/// Browse and replay against a queue that does as it is told: what reaches it, in which order, and what does not.
class TestDeadLetters : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<ScriptedHttp> m_server;
    std::unique_ptr<SqsClient> m_client;
    std::unique_ptr<Database> m_database;
    std::unique_ptr<Journal> m_journal;
    std::unique_ptr<EventTypes> m_types;
    std::unique_ptr<DeadLetters> m_letters;
    Config m_config;
    bool m_browsed = false;
    QString m_bodyMd5, m_attributeMd5; ///< told for what is sent; empty: the right ones
    int m_letterCount = 1;

    static QByteArray bodyOf(int number) { return "{\"event_id\":\"e" + QByteArray::number(number) + "\"}"; }

    ScriptedHttp::Step answer(const ScriptedHttp::Request &request)
    {
        const QString operation = operationOf(request);
        const QJsonObject body = QJsonDocument::fromJson(request.body).object();
        if (operation == "ReceiveMessage"_L1) {
            if (std::exchange(m_browsed, true))
                return ScriptedHttp::reply(200, "{}"_ba);
            QJsonArray messages;
            for (int number = 0; number < m_letterCount; ++number) {
                const QJsonObject attribute{{u"DataType"_s, u"String"_s}, {u"StringValue"_s, u"foobar"_s}};
                messages.append(QJsonObject{{u"MessageId"_s, u"m%1"_s.arg(number)},
                                            {u"ReceiptHandle"_s, u"r%1"_s.arg(number)},
                                            {u"Body"_s, QString::fromUtf8(bodyOf(number))},
                                            {u"MessageAttributes"_s, QJsonObject{{u"MyAttribute"_s, attribute}}}});
            }
            return json({{u"Messages"_s, messages}});
        }
        QJsonArray successful;
        for (const QJsonValue entry : body.value("Entries"_L1).toArray()) {
            const QString id = entry["Id"_L1].toString();
            QJsonObject done{{u"Id"_s, id}};
            if (operation == "SendMessageBatch"_L1) {
                const bool first = id == "0"_L1; // the wrong ones are told of the first entry
                const QByteArray sent = entry["MessageBody"_L1].toString().toUtf8();
                done.insert(u"MessageId"_s, u"new"_s + id);
                done.insert(u"MD5OfMessageBody"_s, first && !m_bodyMd5.isEmpty() ? m_bodyMd5 : md5(sent));
                done.insert(u"MD5OfMessageAttributes"_s,
                            first && !m_attributeMd5.isEmpty() ? m_attributeMd5 : AttributeMd5);
            }
            successful.append(done);
        }
        return successful.isEmpty() ? ScriptedHttp::reply(200, "{\"Attributes\":{}}"_ba)
                                    : json({{u"Successful"_s, successful}});
    }

    QList<QJsonObject> requestsOf(const QString &operation) const
    {
        QList<QJsonObject> found;
        for (const auto &request : m_server->requests()) {
            if (operationOf(request) == operation)
                found.append(QJsonDocument::fromJson(request.body).object());
        }
        return found;
    }

    void browse()
    {
        QSignalSpy lists(m_letters.get(), &DeadLetters::listChanged);
        m_letters->browse(false);
        QTRY_VERIFY(!lists.isEmpty() && lists.last().at(0).value<DeadLetterList>().finished);
        QCOMPARE(lists.last().at(0).value<DeadLetterList>().letters.size(), m_letterCount);
    }

    void replay(const QStringList &messageIds)
    {
        ReplayOrder order;
        order.messageIds = messageIds;
        m_letters->replay(order);
    }
    static QList<ReplayItem> told(const QSignalSpy &spy)
    {
        QList<ReplayItem> items;
        for (const auto &each : spy)
            items += each.at(0).value<QList<ReplayItem>>();
        return items;
    }

private Q_SLOTS:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(u".*"_s));
        m_dir = std::make_unique<QTemporaryDir>();
        m_server = std::make_unique<ScriptedHttp>();
        m_server->answerBy([this](const ScriptedHttp::Request &request) { return answer(request); });
        m_client = std::make_unique<SqsClient>(
            SqsSettings{m_server->url(), u"eu-west-1"_s, {u"test"_s, u"test"_s, {}}, 5s, 1});
        m_config.dataDir = m_dir->path();
        auto database = Database::open(u"sqlite:///"_s + m_dir->filePath(u"board.db"_s));
        QVERIFY2(database, database ? "" : qPrintable(database.error().text));
        m_database = std::make_unique<Database>(database.take());
        auto journal = Journal::open(m_dir->path(), {});
        QVERIFY2(journal, journal ? "" : qPrintable(journal.error().text));
        m_journal = std::make_unique<Journal>(journal.take());
        auto types = EventTypes::load({});
        QVERIFY(types);
        m_types = std::make_unique<EventTypes>(types.take());
        m_letters = std::make_unique<DeadLetters>(*m_client, *m_database, *m_journal, m_types.get(), m_config);
        m_letters->setQueues(m_server->url("/1/q"_ba), m_server->url("/1/dead"_ba), 3);
        m_browsed = false;
        m_bodyMd5.clear();
        m_attributeMd5.clear();
        m_letterCount = 1;
    }
    void cleanup()
    {
        m_letters.reset();
        m_types.reset();
        m_journal.reset();
        m_database.reset();
        m_client.reset();
        m_server.reset();
    }

    void replayLocksSendsAndThenDeletes()
    {
        browse();
        QSignalSpy items(m_letters.get(), &DeadLetters::itemsChanged);
        const qsizetype before = m_server->requests().size();
        replay({u"m0"_s});
        QTRY_VERIFY(!told(items).isEmpty() && told(items).last().state == ReplayItem::State::Replayed);
        QStringList operations;
        for (qsizetype i = before; i < m_server->requests().size(); ++i)
            operations.append(operationOf(m_server->requests().at(i)));
        QCOMPARE(operations,
                 (QStringList{u"ChangeMessageVisibilityBatch"_s, u"SendMessageBatch"_s, u"DeleteMessageBatch"_s}));
        const QJsonValue sent = requestsOf(u"SendMessageBatch"_s).constFirst().value("Entries"_L1).toArray()[0];
        QCOMPARE(sent["MessageBody"_L1].toString().toUtf8(), bodyOf(0));
        QCOMPARE(sent["MessageAttributes"_L1]["MyAttribute"_L1]["StringValue"_L1].toString(), u"foobar"_s);
        const auto story = m_journal->story(u"e0"_s);
        QVERIFY(story);
        QCOMPARE(story->lines.size(), 2);
        QCOMPARE(story->lines[0].text, BeingReplayed); // before it was sent
        QCOMPARE(story->lines[1].text, u"replayed as message new0"_s);
    }

    void whatWasStoredDifferentlyIsNotDeleted_data()
    {
        QTest::addColumn<QString>("bodyMd5");
        QTest::addColumn<QString>("attributeMd5");
        QTest::newRow("body") << WrongMd5 << QString();
        QTest::newRow("attributes") << QString() << WrongMd5;
    }

    void whatWasStoredDifferentlyIsNotDeleted()
    {
        QFETCH(QString, bodyMd5);
        QFETCH(QString, attributeMd5);
        m_bodyMd5 = bodyMd5;
        m_attributeMd5 = attributeMd5;
        browse();
        QSignalSpy items(m_letters.get(), &DeadLetters::itemsChanged);
        replay({u"m0"_s});
        QTRY_VERIFY(!told(items).isEmpty() && told(items).last().state == ReplayItem::State::Failed);
        QVERIFY2(told(items).last().text.contains("wrong MD5"_L1), qPrintable(told(items).last().text));
        // The lock is taken back, so that it is a dead letter like before.
        QTRY_COMPARE(requestsOf(u"ChangeMessageVisibilityBatch"_s).size(), 3); // browse, lock, unlock
        const QJsonValue unlocked =
            requestsOf(u"ChangeMessageVisibilityBatch"_s).constLast().value("Entries"_L1).toArray()[0];
        QCOMPARE(unlocked["VisibilityTimeout"_L1].toInt(-1), 0);
        QCOMPARE(unlocked["ReceiptHandle"_L1].toString(), u"r0"_s);
        QVERIFY(requestsOf(u"DeleteMessageBatch"_s).isEmpty());
    }

    void onlyWhatWasStoredRightIsDeleted()
    {
        m_letterCount = 2;
        m_attributeMd5 = WrongMd5; // of the first
        browse();
        QSignalSpy items(m_letters.get(), &DeadLetters::itemsChanged);
        replay({u"m0"_s, u"m1"_s});
        QTRY_COMPARE(requestsOf(u"DeleteMessageBatch"_s).size(), 1);
        const QJsonArray deleted = requestsOf(u"DeleteMessageBatch"_s).constFirst().value("Entries"_L1).toArray();
        QCOMPARE(deleted.size(), 1);
        QCOMPARE(deleted[0]["ReceiptHandle"_L1].toString(), u"r1"_s);
        const auto isReplayed = [](const ReplayItem &item) {
            return item.messageId == "m1"_L1 && item.state == ReplayItem::State::Replayed;
        };
        QTRY_VERIFY([&] {
            const auto all = told(items);
            return std::any_of(all.cbegin(), all.cend(), isReplayed);
        }());
    }

    void moveTasksAreFoundOutAbout_data()
    {
        using Answer = MoveTaskSupport::Answer;
        QTest::addColumn<QList<QPair<int, QByteArray>>>("replies"); // ARN, tasks, sources
        QTest::addColumn<Answer>("answer");
        QTest::addColumn<QString>("reason");
        const QPair<int, QByteArray> arn{200, "{\"Attributes\":{\"QueueArn\":\"arn:aws:sqs:x:1:dead\"}}"_ba};
        const QPair<int, QByteArray> tasks{200, "{\"Results\":[]}"_ba};
        const auto error = [](int status, const QByteArray &code) {
            return QPair<int, QByteArray>{status, "{\"__type\":\"" + code + "\"}"};
        };
        QTest::newRow("yes") << QList{arn, tasks, {200, "{\"queueUrls\":[\"http:\\/\\/elsewhere:1\\/1\\/q\"]}"_ba}}
                             << Answer::Yes << QString();
        QTest::newRow("sources not to be had")
            << QList{arn, tasks, error(400, "InvalidAction")} << Answer::Yes << QString();
        QTest::newRow("another queue's DLQ")
            << QList{arn, tasks, {200, "{\"queueUrls\":[\"http:\\/\\/h\\/1\\/p\"]}"_ba}} << Answer::No
            << u"redrive policy of queue q does not name"_s;
        QTest::newRow("moto") << QList{arn, {500, "<html>"_ba}} << Answer::No << u"HTTP 500"_s;
        QTest::newRow("fauxqs") << QList{arn, error(400, "InvalidAction")} << Answer::No << u"InvalidAction"_s;
        QTest::newRow("unsupported") << QList{arn, error(400, "UnsupportedOperation")} << Answer::No
                                     << u"UnsupportedOperation"_s;
        QTest::newRow("no such page") << QList{arn, {404, "<html>"_ba}} << Answer::No << u"HTTP 404"_s;
        QTest::newRow("no DLQ") << QList{arn, error(400, "InvalidParameterValue")} << Answer::No
                                << u"InvalidParameterValue"_s;
        QTest::newRow("denied") << QList{arn, error(403, "AccessDenied")} << Answer::NotPermitted << u"AccessDenied"_s;
        QTest::newRow("throttled") << QList{arn, error(400, "ThrottlingException")} << Answer::Unknown
                                   << u"ThrottlingException"_s;
        QTest::newRow("busy") << QList{arn, {503, "<html>"_ba}} << Answer::Unknown << u"HTTP 503"_s;
        QTest::newRow("keys") << QList{arn, error(403, "ExpiredToken")} << Answer::Unknown << u"ExpiredToken"_s;
        QTest::newRow("no ARN") << QList<QPair<int, QByteArray>>{{200, "{}"_ba}} << Answer::Unknown << u"ARN of dead"_s;
        QTest::newRow("no attributes") << QList{error(403, "AccessDenied")} << Answer::Unknown << u"AccessDenied"_s;
    }

    void moveTasksAreFoundOutAbout()
    {
        using Answer = MoveTaskSupport::Answer;
        using Replies = QList<QPair<int, QByteArray>>;
        QFETCH(Replies, replies);
        QFETCH(Answer, answer);
        QFETCH(QString, reason);
        for (const auto &[status, body] : std::as_const(replies))
            m_server->next(ScriptedHttp::reply(status, body));
        std::optional<MoveTaskSupport> found;
        probeMoveTasks(*m_client, m_server->url("/1/q"_ba), m_server->url("/1/dead"_ba), {}, this,
                       [&found](const MoveTaskSupport &told) { found = told; });
        QTRY_VERIFY(found.has_value());
        QCOMPARE(found->answer, answer);
        QVERIFY2(found->reason.contains(reason) && found->reason.isEmpty() == reason.isEmpty(),
                 qPrintable(found->reason));
        QCOMPARE(m_server->requests().size(), replies.size()); // and nothing is started
        const auto tasks = requestsOf(u"ListMessageMoveTasks"_s);
        if (!tasks.isEmpty())
            QCOMPARE(tasks[0].value("SourceArn"_L1).toString(), u"arn:aws:sqs:x:1:dead"_s);
    }
};

QTEST_GUILESS_MAIN(TestDeadLetters)
#include "tst_deadletters.moc"
