#include "app/config/embedded.h"
#include "app/config/settings.h"
#include "tests/world/scriptedhttp.h"
#include "worker/keypause.h"
#include "worker/queue/awscredentials.h"
#include "worker/worker.h"

#include <QtTest>

#include <QTemporaryDir>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

/// What the worker does when the queue refuses its keys, seen from the wire and from the window: a scripted server in
/// the queue's place, true embedded services for the rest.
class WorkerKeysTest : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<LocalServices> m_services;
    std::unique_ptr<ScriptedHttp> m_queue;
    std::unique_ptr<Worker> m_worker;
    LocalAddresses m_addresses;
    QString m_goodKey; ///< whose requests are answered
    QByteArray m_refusal; ///< the code that all others get
    bool m_refusesReceivesOnly = false;
    bool m_deniesAttributes = false;
    bool m_holdsDeletes = false; ///< a delete makes the key bad
    int m_messages = 0; ///< left to be received; then receives stall

    static QString operationOf(const ScriptedHttp::Request &request)
    {
        return QString::fromLatin1(request.header("X-Amz-Target"_ba)).section(u'.', 1);
    }

    int count(const QString &operation) const
    {
        const auto &requests = m_queue->requests();
        return int(std::count_if(requests.cbegin(), requests.cend(),
                                 [&operation](const auto &each) { return operationOf(each) == operation; }));
    }

    ScriptedHttp::Step answer(const ScriptedHttp::Request &request)
    {
        const QString operation = operationOf(request);
        const QString key =
            QString::fromLatin1(request.header("Authorization"_ba)).section(u"Credential="_s, 1).section(u'/', 0, 0);
        if (m_holdsDeletes && operation == "DeleteMessageBatch"_L1 && key == m_goodKey)
            m_goodKey = u"NEW"_s;
        if (key != m_goodKey && (!m_refusesReceivesOnly || operation == "ReceiveMessage"_L1))
            return ScriptedHttp::reply(403, R"({"__type":")" + m_refusal + R"(","message":"no"})");
        if (operation == "GetQueueAttributes"_L1 && m_deniesAttributes)
            return ScriptedHttp::reply(403, R"({"__type":"AccessDenied","message":"no"})");
        if (operation == "GetQueueAttributes"_L1) {
            return ScriptedHttp::reply(
                200, R"({"Attributes":{"VisibilityTimeout":"30","ApproximateNumberOfMessages":"1"}})"_ba);
        }
        if (operation == "DeleteMessageBatch"_L1)
            return ScriptedHttp::reply(200, R"({"Successful":[{"Id":"0"}]})"_ba);
        if (operation != "ReceiveMessage"_L1)
            return ScriptedHttp::reply(200, "{}"_ba);
        if (m_messages > 0) {
            const QByteArray body = R"({\"type\":\"application.status_changed\",\"event_id\":\"e)"
                + QByteArray::number(m_messages)
                + R"(\",\"application_id\":3,\"old_status\":\"a\",\"new_status\":\"b\"})";
            return ScriptedHttp::reply(
                200,
                R"({"Messages":[{"MessageId":"m)" + QByteArray::number(m_messages--)
                    + R"(","ReceiptHandle":"r","Attributes":{"SentTimestamp":"1700000000000"},"Body":")" + body
                    + R"("}]})");
        }
        return request.body.contains(R"("WaitTimeSeconds":0)") ? ScriptedHttp::reply(200, "{}"_ba)
                                                               : ScriptedHttp::stall();
    }

    void writeKeys(const QByteArray &id, const QByteArray &more = {})
    {
        QFile file(m_dir->filePath(u"credentials"_s));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("[work]\n"
                   + (more.isEmpty() ? "aws_access_key_id = " + id + "\naws_secret_access_key = s\n" : more));
    }

    void open(const QString &key = u"OLD"_s)
    {
        auto config = resolve(gather({{u"queue-url"_s, m_queue->url("/000000000000/q"_ba).toString()}}, {}), {},
                              m_dir->path(), m_addresses);
        QVERIFY2(config, config ? "" : qPrintable(config.error().text));
        config->endpoint = m_queue->url();
        config->depthInterval = 100ms;
        config->credentials = {key, key.isEmpty() ? QString() : u"s"_s, {}};
        const QMap<QString, QString> environment{{u"AWS_CONFIG_FILE"_s, m_dir->filePath(u"config"_s)},
                                                 {u"AWS_SHARED_CREDENTIALS_FILE"_s, m_dir->filePath(u"credentials"_s)}};
        config->credentials.origin =
            std::make_shared<const AwsKeyOrigin>(AwsKeyOrigin{environment, u"work"_s, {}, u"do something"_s});
        m_worker = std::make_unique<Worker>(config.value());
        connect(m_worker.get(), &Worker::logged, this, [this](const LogLine &line) {
            if (line.level >= LogLevel::Warning)
                m_lines.append(line);
        });
        connect(m_worker.get(), &Worker::serviceChanged, this, [this](const ServiceStatus &status) {
            if (status.service == ServiceStatus::Service::Queue)
                m_status = status;
        });
        m_worker->open();
    }

    bool paused() const { return m_status.health == ServiceStatus::Health::Paused; }
    QList<LogLine> m_lines; ///< warnings and errors
    ServiceStatus m_status;

    /// Time in which a flood would show: the depth is sampled every 100 ms, a receive is tried again after 1 s.
    static void letTimePass(std::chrono::milliseconds time = 600ms)
    {
        QTimer timer;
        QSignalSpy over(&timer, &QTimer::timeout);
        timer.start(time);
        QTRY_VERIFY(!over.isEmpty());
    }

private Q_SLOTS:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(u".*"_s));
        m_dir = std::make_unique<QTemporaryDir>();
        m_services = std::make_unique<LocalServices>();
        LocalSettings settings;
        settings.dataDir = m_dir->path();
        settings.sqsPort = settings.smtpPort = 0;
        auto started = startEmbedded(*m_services, settings);
        QVERIFY2(started, started ? "" : qPrintable(started.error().text));
        m_addresses = started.value();
        m_queue = std::make_unique<ScriptedHttp>();
        m_queue->answerBy([this](const ScriptedHttp::Request &request) { return answer(request); });
        m_goodKey = u"OLD"_s;
        m_refusal = "ExpiredToken"_ba;
        m_refusesReceivesOnly = m_holdsDeletes = m_deniesAttributes = false;
        m_messages = 0;
        m_lines.clear();
        m_status = {};
        writeKeys("OLD");
    }

    void cleanup()
    {
        if (m_worker) {
            QSignalSpy closed(m_worker.get(), &Worker::closed);
            m_worker->close();
            QTRY_COMPARE(closed.size(), 1);
        }
        m_worker.reset();
        m_queue.reset();
        m_services.reset();
    }

    void refusedKeysPauseTheOpeningWithOneRequestAndOneLine_data()
    {
        QTest::addColumn<QByteArray>("code");
        for (const char *code :
             {"ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "UnrecognizedClientException",
              "SignatureDoesNotMatch", "MissingAuthenticationToken", "InvalidSignatureException"})
            QTest::newRow(code) << QByteArray(code);
    }

    void refusedKeysPauseTheOpeningWithOneRequestAndOneLine()
    {
        QFETCH(QByteArray, code);
        m_refusal = code;
        m_goodKey = u"NEW"_s;
        open();
        QSignalSpy openFailed(m_worker.get(), &Worker::openFailed);
        m_worker->start();
        QTRY_VERIFY(paused());
        letTimePass(code == "ExpiredToken" ? 600ms : 20ms);
        QCOMPARE(m_queue->requests().size(), 1);
        QCOMPARE(openFailed.size(), 0);
        QCOMPARE(m_lines.size(), 1);
        QCOMPARE(m_lines[0].level, LogLevel::Error);
        QVERIFY2(m_lines[0].text.startsWith("Paused: the queue does not accept the keys"_L1)
                     && m_lines[0].text.contains(QString::fromLatin1(code))
                     && m_lines[0].text.endsWith("credentials)"_L1), // what to do: new keys, into which file
                 qPrintable(m_lines[0].text));
        QVERIFY(QDateTime::currentDateTimeUtc().secsTo(m_status.nextTry) > 50);
    }

    void keysThatExpireWhileItRunsStopEveryPoll()
    {
        open();
        m_worker->start();
        QTRY_COMPARE(count(u"ReceiveMessage"_s), 1); // waits for messages
        m_goodKey = u"NEW"_s;
        QTRY_VERIFY(paused());
        const qsizetype before = m_queue->requests().size();
        letTimePass();
        QCOMPARE(m_queue->requests().size(), before);
        QCOMPARE(m_lines.size(), 1);
    }

    void aLongPollFromBeforeThatBreaksIsNoEndOfThePause()
    {
        open();
        m_worker->start();
        QTRY_COMPARE(count(u"ReceiveMessage"_s), 1);
        m_goodKey = u"NEW"_s;
        QTRY_VERIFY(paused());
        const qsizetype before = m_queue->requests().size();
        m_queue->closeAll();
        QTRY_COMPARE(m_lines.size(), 2); // its end is told like any other
        letTimePass(1100ms); // it would be tried again after 0.5 to 1 s
        QVERIFY(paused());
        QCOMPARE(m_queue->requests().size(), before);
    }

    void whoMayNotAskForAttributesWorksAllTheSame()
    {
        m_deniesAttributes = true;
        m_messages = 1;
        open();
        QSignalSpy opened(m_worker.get(), &Worker::opened);
        QSignalSpy openFailed(m_worker.get(), &Worker::openFailed);
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        m_worker->start();
        QTRY_COMPARE(delivered.size(), 1);
        QCOMPARE(opened.size(), 1);
        QCOMPARE(openFailed.size(), 0);
        QTRY_COMPARE(count(u"DeleteMessageBatch"_s), 1);
        const auto isTold = [](const LogLine &line) { return line.text.contains(u"allow sqs:GetQueueAttributes"_s); };
        QCOMPARE(std::count_if(m_lines.cbegin(), m_lines.cend(), isTold), 1);
        QTRY_VERIFY(m_status.detail.contains(u"its depth is unknown"_s));
        letTimePass();
        QCOMPARE(count(u"GetQueueAttributes"_s), 2); // at the opening, and the first sample: not ten times a second
    }

    void denialOfReceivesPausesToo()
    {
        m_refusesReceivesOnly = true;
        m_refusal = "AccessDenied"_ba;
        m_goodKey = u"NEW"_s;
        open();
        QSignalSpy opened(m_worker.get(), &Worker::opened);
        m_worker->start();
        QTRY_VERIFY(paused());
        QCOMPARE(opened.size(), 1);
        letTimePass(200ms); // the sample that was under way
        const qsizetype before = m_queue->requests().size();
        letTimePass(1100ms);
        QCOMPARE(m_queue->requests().size(), before);
        QCOMPARE(count(u"ReceiveMessage"_s), 1);
        QCOMPARE(m_lines.size(), 1);
        QVERIFY2(m_lines[0].text.endsWith("allow sqs:ReceiveMessage to these keys, or use others"_L1),
                 qPrintable(m_lines[0].text));

        // A try that is denied again: one receive, no line.
        m_worker->retryKeys();
        QTRY_COMPARE(count(u"ReceiveMessage"_s), 2);
        QTRY_VERIFY(m_status.nextTry.isValid());
        QVERIFY(paused());
        QCOMPARE(m_queue->requests().size(), before + 1);
        QCOMPARE(m_lines.size(), 1);

        m_messages = 1; // the try itself may bring one
        writeKeys("NEW");
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        m_worker->retryKeys();
        QTRY_COMPARE(delivered.size(), 1);
        QTRY_COMPARE(count(u"DeleteMessageBatch"_s), 1);
        QVERIFY(!paused());
        QTRY_COMPARE(count(u"ReceiveMessage"_s), 4);
    }

    void aProgramThatFailsPausesWithoutAnyRequest()
    {
        writeKeys({}, "credential_process = /bin/false\n"_ba);
        open({});
        QTRY_VERIFY(paused());
        QCOMPARE(m_queue->requests().size(), 0);
        QCOMPARE(m_lines.size(), 1);
        QVERIFY2(m_lines[0].text.contains(u"credential_process of profile “work” failed with exit code 1"_s),
                 qPrintable(m_lines[0].text));
    }

    void retryWithTheSameKeysIsOneRequestAndNoLine()
    {
        m_goodKey = u"NEW"_s;
        open();
        QTRY_VERIFY(paused());
        QCOMPARE(m_queue->requests().size(), 1);
        for (int round = 2; round <= 3; ++round) {
            m_worker->retryKeys();
            m_worker->retryKeys(); // a second click does nothing
            QVERIFY(!m_status.nextTry.isValid()); // a try is under way
            QTRY_VERIFY(m_status.nextTry.isValid());
            QVERIFY(paused());
            QCOMPARE(m_queue->requests().size(), round);
        }
        QCOMPARE(m_lines.size(), 1);
    }

    void afterRetryWorkGoesOn()
    {
        m_goodKey = u"NEW"_s;
        open();
        QSignalSpy opened(m_worker.get(), &Worker::opened);
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        m_worker->start();
        QTRY_VERIFY(paused());
        QCOMPARE(opened.size(), 0);
        m_messages = 1;
        writeKeys("NEW");
        m_worker->retryKeys();
        QTRY_COMPARE(opened.size(), 1);
        QTRY_COMPARE(delivered.size(), 1);
        const auto report = delivered[0].at(0).value<DeliveryReport>();
        QVERIFY2(report.outcome == Outcome::Sent, qPrintable(report.reason));
        QTRY_COMPARE(count(u"DeleteMessageBatch"_s), 1);
        QCOMPARE(m_status.health, ServiceStatus::Health::Ok);
        QCOMPARE(m_lines.size(), 1);
    }

    void newKeysInTheFileAreTriedByThemselves()
    {
        open();
        m_worker->start();
        QTRY_COMPARE(count(u"ReceiveMessage"_s), 1);
        m_goodKey = u"NEW"_s;
        QTRY_VERIFY(paused());
        writeKeys("NEWER", "# longer\naws_access_key_id = NEW\naws_secret_access_key = s\n"_ba);
        QTRY_VERIFY(!paused());
        const int samples = count(u"GetQueueAttributes"_s);
        QTRY_VERIFY(count(u"GetQueueAttributes"_s) > samples + 2);
        QCOMPARE(m_lines.size(), 1);
    }

    void aHandledMessageIsDeletedAfterThePause()
    {
        m_messages = 1;
        m_holdsDeletes = true;
        open();
        QSignalSpy delivered(m_worker.get(), &Worker::delivered);
        QSignalSpy deleted(m_worker.get(), &Worker::deleted);
        m_worker->start();
        QTRY_COMPARE(delivered.size(), 1);
        QTRY_VERIFY(paused());
        QCOMPARE(count(u"DeleteMessageBatch"_s), 1);
        writeKeys("NEW");
        m_worker->retryKeys();
        QTRY_COMPARE(deleted.size(), 1);
        QCOMPARE(deleted[0].at(0).toStringList(), QStringList(u"m1"_s));
        QCOMPARE(count(u"DeleteMessageBatch"_s), 2);
        QCOMPARE(m_lines.size(), 1);
    }

    void stopDoesNotWaitForKeys()
    {
        m_messages = 1;
        m_holdsDeletes = true;
        open();
        QSignalSpy states(m_worker.get(), &Worker::stateChanged);
        m_worker->start();
        QTRY_VERIFY(paused());
        QTRY_COMPARE(count(u"DeleteMessageBatch"_s), 1);
        m_worker->stop();
        QTRY_VERIFY(states.last().at(0).value<WorkerState>() == WorkerState::Stopped);
        QCOMPARE(count(u"DeleteMessageBatch"_s), 2); // once more, in case
        QCOMPARE(m_lines.size(), 2);
        QVERIFY2(m_lines[1].text.startsWith("Message m1 is handled but could not be deleted; it will come again"_L1),
                 qPrintable(m_lines[1].text));

        // Started again it is still paused, and tries at once.
        const qsizetype before = m_queue->requests().size();
        m_worker->start();
        QTRY_VERIFY(m_queue->requests().size() > before);
        QTRY_VERIFY(m_status.nextTry.isValid());
        QCOMPARE(m_queue->requests().size(), before + 1);
        QVERIFY(paused());
    }

    void thePauseTriesByItselfAndWhenAFileChanges()
    {
        const QString path = m_dir->filePath(u"credentials"_s);
        KeyPause pause({path, m_dir->filePath(u"not there"_s)}, {200ms, 20ms});
        QSignalSpy due(&pause, &KeyPause::due);
        pause.tryNow(); // not paused
        QCOMPARE(due.size(), 0);
        pause.refused();
        QVERIFY(pause.nextTry().isValid());
        QTRY_COMPARE(due.size(), 1); // by itself
        QVERIFY(pause.isTrying());
        QVERIFY(!pause.nextTry().isValid());
        pause.tryNow();
        QCOMPARE(due.size(), 1); // one at a time
        pause.refused();
        QElapsedTimer since;
        since.start();
        writeKeys("ANOTHER");
        QTRY_COMPARE(due.size(), 2);
        QVERIFY2(since.elapsed() < 180, qPrintable(QString::number(since.elapsed())));
        pause.end();
        writeKeys("A-THIRD");
        letTimePass(250ms);
        QCOMPARE(due.size(), 2);
    }
};

QTEST_GUILESS_MAIN(WorkerKeysTest)
#include "tst_workerkeys.moc"
