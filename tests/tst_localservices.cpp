#include "tests/world/httpprobe.h"
#include "worker/local/localservices.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QRegularExpression>
#include <QTcpServer>
#include <QTemporaryDir>

#include <sys/stat.h>

using namespace sendonce;
using namespace Qt::StringLiterals;

class TestLocalServices : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();

    void bothServicesAnswer();
    void theDefaultQueuesAreThere();
    void existingQueuesAreLeftAsTheyAre();
    void localJsonSaysWhereAndGoesAway();
    void filesAreTheOwnersOnly();
    void aSecondSetIsRefusedWithThePid();
    void aTakenDefaultPortIsReplaced();
    void aTakenExplicitPortIsAnError_data();
    void aTakenExplicitPortIsAnError();
    void stopAndStartInAnyOrder();
    void findBelievesNobodyElse_data();
    void findBelievesNobodyElse();
    void localJsonIsNotWrittenThroughALink();

private:
    LocalSettings settings() const;
    QString path(const QString &name) const { return m_folder->filePath(name); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestLocalServices::init()
{
    QTest::failOnWarning(QRegularExpression(u".*"_s));
    m_folder = std::make_unique<QTemporaryDir>();
}

LocalSettings TestLocalServices::settings() const
{
    LocalSettings settings;
    settings.dataDir = m_folder->path();
    settings.sqsPort = 0;
    settings.smtpPort = 0;
    return settings;
}

void TestLocalServices::bothServicesAnswer()
{
    LocalServices services;
    const auto started = services.start(settings());
    QVERIFY(started.ok());
    QCOMPARE(started->endpoint(), QUrl(u"http://127.0.0.1:%1"_s.arg(started->sqsPort)));
    QCOMPARE(started->mailUrl(), QUrl(u"smtp://127.0.0.1:%1"_s.arg(started->smtpPort)));
    QVERIFY(!started->controlSocket.isEmpty());
    QCOMPARE(started->pid, QCoreApplication::applicationPid());
    HttpProbe sqs(started->sqsPort);
    QCOMPARE(sqs.call("ListQueues", "{}").json().value("QueueUrls"_L1).toArray(),
             QJsonArray({started->queueUrl().toString(), started->dlqUrl().toString()}));
    QTcpSocket mail;
    mail.connectToHost(QHostAddress(QHostAddress::LocalHost), started->smtpPort);
    QTRY_VERIFY(mail.canReadLine());
    QVERIFY(mail.readLine().startsWith("220 "));
}

void TestLocalServices::theDefaultQueuesAreThere()
{
    LocalServices services;
    LocalSettings wanted = settings();
    wanted.visibilityTimeoutSeconds = 2;
    wanted.maxReceiveCount = 5;
    const auto started = services.start(wanted);
    QVERIFY(started.ok());
    HttpProbe sqs(started->sqsPort);
    const auto attributesOf = [&sqs](const char *queue) {
        return sqs
            .call("GetQueueAttributes", "{\"QueueUrl\":\"" + QByteArray(queue) + "\",\"AttributeNames\":[\"All\"]}")
            .json()
            .value("Attributes"_L1)
            .toObject();
    };
    const QJsonObject queue = attributesOf("job-board-events");
    QCOMPARE(queue.value("VisibilityTimeout"_L1), u"2"_s);
    QCOMPARE(
        queue.value("RedrivePolicy"_L1),
        u"{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:job-board-events-dlq\",\"maxReceiveCount\":5}"_s);
    QCOMPARE(attributesOf("job-board-events-dlq").value("MessageRetentionPeriod"_L1), u"1209600"_s);
}

void TestLocalServices::existingQueuesAreLeftAsTheyAre()
{
    LocalServices services;
    const auto first = services.start(settings());
    QVERIFY(first.ok());
    HttpProbe(first->sqsPort)
        .call("SetQueueAttributes", R"({"QueueUrl":"job-board-events","Attributes":{"VisibilityTimeout":"99"}})");
    HttpProbe(first->sqsPort).call("SendMessage", R"({"QueueUrl":"job-board-events","MessageBody":"kept"})");
    services.stop();
    const auto second = services.start(settings());
    QVERIFY(second.ok());
    HttpProbe sqs(second->sqsPort);
    const QJsonObject attributes =
        sqs.call("GetQueueAttributes", R"({"QueueUrl":"job-board-events","AttributeNames":["All"]})")
            .json()
            .value("Attributes"_L1)
            .toObject();
    QCOMPARE(attributes.value("VisibilityTimeout"_L1), u"99"_s);
    QCOMPARE(attributes.value("ApproximateNumberOfMessages"_L1), u"1"_s);
}

void TestLocalServices::localJsonSaysWhereAndGoesAway()
{
    LocalServices services;
    const auto started = services.start(settings());
    QVERIFY(started.ok());
    const auto found = LocalServices::find(m_folder->path());
    QVERIFY(found.ok());
    QCOMPARE(found.value(), started.value());
    QCOMPARE(found->id.size(), 36);
    services.stop();
    QVERIFY(!QFile::exists(path(u"local.json"_s)));
    QCOMPARE(LocalServices::find(m_folder->path()).error().kind, ErrorKind::NotFound);
    // Another run, another id.
    const auto again = services.start(settings());
    QVERIFY(again.ok());
    QVERIFY(again->id != started->id);
}

void TestLocalServices::filesAreTheOwnersOnly()
{
    const mode_t mask = ::umask(022);
    LocalServices services;
    const auto started = services.start(settings());
    ::umask(mask);
    QVERIFY(started.ok());
    for (const QString &name : {u"local.json"_s, u"local.lock"_s, u"queue.db"_s, u"queue.db-wal"_s}) {
        const QFile::Permissions others = QFile::permissions(path(name))
            & (QFile::ReadGroup | QFile::WriteGroup | QFile::ReadOther | QFile::WriteOther);
        QVERIFY2(QFile::exists(path(name)), qPrintable(name));
        QVERIFY2(!others, qPrintable(name));
    }
}

void TestLocalServices::aSecondSetIsRefusedWithThePid()
{
    LocalServices first;
    QVERIFY(first.start(settings()).ok());
    LocalServices second;
    const auto refused = second.start(settings());
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().kind, ErrorKind::Refused);
    QVERIFY(refused.error().text.contains(QString::number(QCoreApplication::applicationPid())));
    // The first is none the worse.
    QVERIFY(LocalServices::find(m_folder->path()).ok());
    first.stop();
    QVERIFY(second.start(settings()).ok());
}

void TestLocalServices::aTakenDefaultPortIsReplaced()
{
    QTcpServer other;
    QVERIFY(other.listen(QHostAddress::LocalHost));
    LocalSettings wanted = settings();
    wanted.sqsPort = wanted.smtpPort = other.serverPort();
    LocalServices services;
    const auto started = services.start(wanted);
    QVERIFY(started.ok());
    QVERIFY(started->sqsPort != other.serverPort());
    QVERIFY(started->smtpPort != other.serverPort());
    QVERIFY(LocalServices::find(m_folder->path()).ok());
}

void TestLocalServices::aTakenExplicitPortIsAnError_data()
{
    QTest::addColumn<bool>("sqs");
    QTest::newRow("queue") << true;
    QTest::newRow("mail") << false;
}

void TestLocalServices::aTakenExplicitPortIsAnError()
{
    QFETCH(bool, sqs);
    QTcpServer other;
    QVERIFY(other.listen(QHostAddress::LocalHost));
    LocalSettings wanted = settings();
    (sqs ? wanted.sqsPort : wanted.smtpPort) = other.serverPort();
    (sqs ? wanted.sqsPortExplicit : wanted.smtpPortExplicit) = true;
    LocalServices services;
    const auto refused = services.start(wanted);
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().kind, ErrorKind::Unreachable);
    QVERIFY(refused.error().text.contains(QString::number(other.serverPort())));
    // Nothing is left of the attempt.
    QVERIFY(!QFile::exists(path(u"local.json"_s)));
    QVERIFY(services.start(settings()).ok());
}

void TestLocalServices::stopAndStartInAnyOrder()
{
    LocalServices services;
    services.stop();
    QVERIFY(services.start(settings()).ok());
    QCOMPARE(services.start(settings()).error().kind, ErrorKind::Invalid);
    services.stop();
    services.stop();
    const auto started = services.start(settings());
    QVERIFY(started.ok());
    {
        HttpProbe waiting(started->sqsPort);
        waiting.ask("ReceiveMessage", R"({"QueueUrl":"job-board-events","WaitTimeSeconds":20})");
        QElapsedTimer elapsed;
        elapsed.start();
        services.stop();
        QVERIFY(elapsed.elapsed() < 1000);
        QTRY_VERIFY(waiting.isClosed());
    }
    auto destroyed = std::make_unique<LocalServices>();
    QVERIFY(destroyed->start(settings()).ok());
    destroyed.reset();
    QVERIFY(services.start(settings()).ok());
}

void TestLocalServices::findBelievesNobodyElse_data()
{
    QTest::addColumn<QByteArray>("json"); // PORT, PID and ID stand for those of services that do run
    QTest::newRow("no JSON") << "{"_ba;
    QTest::newRow("empty") << "{}"_ba;
    QTest::newRow("another id") << R"({"id":"other","pid":PID,"sqsPort":PORT,"smtpPort":1})"_ba;
    QTest::newRow("dead process") << R"({"id":"ID","pid":999999999,"sqsPort":PORT,"smtpPort":1})"_ba;
    QTest::newRow("no process") << R"({"id":"ID","pid":0,"sqsPort":PORT,"smtpPort":1})"_ba;
    QTest::newRow("nobody there") << R"({"id":"ID","pid":PID,"sqsPort":1,"smtpPort":1})"_ba;
}

void TestLocalServices::findBelievesNobodyElse()
{
    QFETCH(QByteArray, json);
    LocalServices services;
    const auto started = services.start(settings());
    QVERIFY(started.ok());
    json.replace("PORT", QByteArray::number(started->sqsPort));
    json.replace("PID", QByteArray::number(started->pid));
    json.replace("\"ID\"", '"' + started->id.toLatin1() + '"');
    QFile file(path(u"local.json"_s));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(json);
    file.close();
    QCOMPARE(LocalServices::find(m_folder->path()).error().kind, ErrorKind::NotFound);
}

void TestLocalServices::localJsonIsNotWrittenThroughALink()
{
    QFile precious(path(u"precious"_s));
    QVERIFY(precious.open(QIODevice::WriteOnly));
    precious.write("kept");
    precious.close();
    QVERIFY(precious.link(path(u"local.json"_s)));
    LocalServices services;
    QVERIFY(services.start(settings()).ok());
    QVERIFY(precious.open(QIODevice::ReadOnly));
    QCOMPARE(precious.readAll(), "kept"_ba);
    QVERIFY(!QFileInfo(path(u"local.json"_s)).isSymLink());
}

QTEST_GUILESS_MAIN(TestLocalServices)
#include "tst_localservices.moc"
