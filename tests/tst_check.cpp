#include "app/config/embedded.h"
#include "app/config/settings.h"
#include "tests/world/scriptedhttp.h"
#include "tests/world/scriptedsmtp.h"
#include "worker/operate/preflightrun.h"
#include "worker/worker.h"

#include <QtTest>

#include <QTcpServer>
#include <QTemporaryDir>
#include <QtSql/QSqlQuery>

using namespace sendonce;
using namespace sendonce::world;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using Level = CheckLine::Level;

/// A check of the services as it is run: on the true embedded ones, and on ones that are broken in one place each.
class CheckTest : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<LocalServices> m_services;
    Config m_config;
    QList<CheckLine> m_lines;

    /// A port of 127.0.0.1 where nobody listens.
    static quint16 closedPort()
    {
        QTcpServer server;
        return server.listen(QHostAddress::LocalHost) ? server.serverPort() : 1;
    }

    void run()
    {
        const std::atomic_bool never = false;
        PreflightRun check(m_config, never);
        QSignalSpy finished(&check, &PreflightRun::finished);
        m_lines.clear();
        connect(&check, &PreflightRun::line, this, [this](const CheckLine &line) { m_lines.append(line); });
        check.start();
        QTRY_COMPARE_WITH_TIMEOUT(finished.size(), 1, 20'000);
    }

    /// The lines that are not ok: "error queue.redrive".
    QStringList complaints() const
    {
        QStringList found;
        for (const CheckLine &line : m_lines) {
            if (line.level != Level::Ok)
                found.append((line.level == Level::Error ? u"error "_s : u"warning "_s) + line.id);
        }
        return found;
    }

    CheckLine lineOf(const QString &id) const
    {
        for (const CheckLine &line : m_lines) {
            if (line.id == id)
                return line;
        }
        return {};
    }

    void sql(const QString &statement)
    {
        auto database = Database::open(m_config.databaseUrl);
        QVERIFY(database);
        QSqlQuery query(database->handle());
        QVERIFY(query.exec(u"PRAGMA foreign_keys=OFF"_s)); // a table that others refer to goes too
        QVERIFY2(query.exec(statement), qPrintable(statement));
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
        auto config = resolve({}, {}, m_dir->path(), started.value());
        QVERIFY2(config, config ? "" : qPrintable(config.error().text));
        m_config = config.take();
    }

    void cleanup() { m_services.reset(); }

    void theEmbeddedServicesAreInOrder()
    {
        run();
        QCOMPARE(complaints(), QStringList());
        QStringList ids;
        for (const CheckLine &line : std::as_const(m_lines))
            ids.append(line.id);
        for (const QString &id : {u"folder.private"_s,
                                  u"folder.free"_s,
                                  u"database.open"_s,
                                  u"database.claims"_s,
                                  u"database.unique"_s,
                                  u"database.bodies"_s,
                                  u"database.synchronous"_s,
                                  u"events.lookup.application.status_changed"_s,
                                  u"mail.server"_s,
                                  u"mail.sender"_s,
                                  u"queue.reachable"_s,
                                  u"queue.permission.GetQueueAttributes"_s,
                                  u"queue.permission.DeleteMessage"_s,
                                  u"queue.permission.ChangeMessageVisibility"_s,
                                  u"queue.permission.ReceiveMessage"_s,
                                  u"queue.permission.SendMessage"_s,
                                  u"queue.redrive"_s,
                                  u"queue.receives"_s,
                                  u"dlq.reachable"_s,
                                  u"dlq.permission.GetQueueAttributes"_s,
                                  u"dlq.permission.DeleteMessage"_s,
                                  u"dlq.permission.ChangeMessageVisibility"_s,
                                  u"dlq.permission.ReceiveMessage"_s,
                                  u"dlq.retention"_s,
                                  u"dlq.move-tasks"_s,
                                  u"timeouts.mail"_s,
                                  u"timeouts.lock"_s,
                                  u"timeouts.heartbeat"_s})
            QVERIFY2(ids.count(id) == 1, qPrintable(id));
    }

    void aCheckTakesAndAddsNothing()
    {
        SqsClient client({m_config.endpoint, m_config.region, m_config.credentials});
        int done = 0;
        client.sendBatch(m_config.queueUrl, {{u"a"_s, "body", {}, {}, -1}}, this, [&done](const auto &) { ++done; });
        QTRY_COMPARE(done, 1);
        run();
        QMap<QString, QString> numbers;
        client.getQueueAttributes(m_config.queueUrl, {u"All"_s}, this,
                                  [&](const Result<QMap<QString, QString>> &attributes) {
                                      numbers = attributes.value();
                                      ++done;
                                  });
        QTRY_COMPARE(done, 2);
        QCOMPARE(numbers.value(u"ApproximateNumberOfMessages"_s), u"1"_s);
        QCOMPARE(numbers.value(u"ApproximateNumberOfMessagesNotVisible"_s), u"0"_s);
        QVERIFY(QDir(m_dir->filePath(u"mailbox/new"_s)).isEmpty());
    }

    void aQueueWithoutRedrivePolicy()
    {
        // The dead letter queue itself has none.
        m_config.queueUrl = QUrl(m_config.queueUrl.toString() + u"-dlq"_s);
        m_config.dlqUrl.clear();
        run();
        QCOMPARE(complaints(), QStringList{u"error queue.redrive"_s});
        QVERIFY(!lineOf(u"timeouts.lock"_s).id.isEmpty());
    }

    void aQueueThatDoesNotExist()
    {
        m_config.queueUrl = QUrl(m_config.queueUrl.toString() + u"-elsewhere"_s);
        run();
        QCOMPARE(complaints(), QStringList{u"error queue.reachable"_s});
        QVERIFY(!lineOf(u"queue.reachable"_s).unreachable);
        QVERIFY(lineOf(u"queue.reachable"_s).text.contains(u"-elsewhere"_s));
    }

    void aQueueThatDoesNotAnswer()
    {
        m_config.endpoint = QUrl(u"http://127.0.0.1:%1"_s.arg(closedPort()));
        run();
        QCOMPARE(complaints(), QStringList{u"error queue.reachable"_s});
        QVERIFY(lineOf(u"queue.reachable"_s).unreachable);
    }

    void aDeadLetterQueueThatDoesNotExist()
    {
        m_config.dlqUrl = QUrl(m_config.queueUrl.toString() + u"-elsewhere"_s);
        run();
        QCOMPARE(complaints(), QStringList{u"error dlq.reachable"_s});
    }

    void aDeniedPermissionIsNamed()
    {
        ScriptedHttp http;
        const auto reply = [](int status, const QByteArray &body) { return ScriptedHttp::reply(status, body); };
        const QByteArray denied = R"({"__type":"com.amazon.coral.service#AccessDenied","message":"not you"})";
        const QByteArray handle =
            R"({"Failed":[{"Id":"check","SenderFault":true,"Code":"ReceiptHandleIsInvalid","Message":"bad handle"}]})";
        http.next(reply(200, R"({"Attributes":{"VisibilityTimeout":"30","QueueArn":"arn:q"}})"));
        http.next(reply(200, handle));
        http.next(reply(403, denied));
        m_config.endpoint = http.url();
        m_config.dlqUrl.clear();
        run();
        QCOMPARE(complaints(), QStringList({u"error queue.permission.DeleteMessage"_s, u"error queue.redrive"_s}));
        QVERIFY(lineOf(u"queue.permission.DeleteMessage"_s).text.contains(u"not you"_s));
        QCOMPARE(lineOf(u"queue.permission.ChangeMessageVisibility"_s).level, Level::Ok);
        QCOMPARE(http.requests().size(), 3); // nothing received, nothing sent
        for (const ScriptedHttp::Request &request : http.requests())
            QVERIFY(!request.header("X-Amz-Target").contains("Send")
                    && !request.header("X-Amz-Target").contains("Receive"));
    }

    void aDatabaseWithoutTheUniqueConstraint_data()
    {
        QTest::addColumn<QString>("index");
        QTest::newRow("none") << QString();
        QTest::newRow("not unique") << u"CREATE INDEX i ON jobs_processedevent (event_id)"_s;
        QTest::newRow("over two columns") << u"CREATE UNIQUE INDEX i ON jobs_processedevent (event_id, event_type)"_s;
        QTest::newRow("of a part")
            << u"CREATE UNIQUE INDEX i ON jobs_processedevent (event_id) WHERE event_type = 'a'"_s;
    }

    void aDatabaseWithoutTheUniqueConstraint()
    {
        QFETCH(QString, index);
        sql(u"DROP TABLE jobs_processedevent"_s);
        sql(u"CREATE TABLE jobs_processedevent (id integer PRIMARY KEY, event_id varchar(64), event_type varchar(100), processed_at datetime)"_s);
        if (!index.isEmpty())
            sql(index);
        run();
        QCOMPARE(complaints(), QStringList{u"error database.unique"_s});
        sql(u"CREATE UNIQUE INDEX whole ON jobs_processedevent (event_id)"_s); // as the remedy says
        run();
        QCOMPARE(complaints(), QStringList());
    }

    void tablesThatAreMissing()
    {
        sql(u"DROP TABLE sendonce_claimbody"_s);
        run();
        QCOMPARE(complaints(), QStringList{u"warning database.bodies"_s});
        sql(u"DROP TABLE jobs_candidate"_s);
        run();
        QVERIFY(complaints().contains(u"error events.lookup.application.status_changed"_s));
        QVERIFY(lineOf(u"database.unique"_s).level == Level::Ok);
        QVERIFY(lineOf(u"events.lookup.application.status_changed"_s).text.contains(u"jobs_candidate"_s));
    }

    void aDatabaseThatIsNotThereIsNotMade()
    {
        m_config.databaseUrl = u"sqlite:///"_s + m_dir->filePath(u"none.db"_s);
        run();
        QCOMPARE(complaints(), QStringList{u"error database.open"_s});
        QVERIFY(lineOf(u"database.open"_s).unreachable);
        QVERIFY(!QFile::exists(m_dir->filePath(u"none.db"_s)));
    }

    void aMailPortThatIsClosed()
    {
        m_config.mailUrl = QUrl(u"smtp://127.0.0.1:%1"_s.arg(closedPort()));
        run();
        QCOMPARE(complaints(), QStringList{u"error mail.server"_s});
        QVERIFY(lineOf(u"mail.server"_s).unreachable);
    }

    void aMailServerThatRefusesUs()
    {
        ScriptedSmtp smtp({SmtpScript().send("554 5.7.1 no service for you\r\n")});
        m_config.mailUrl = QUrl(u"smtp://127.0.0.1:%1"_s.arg(smtp.port()));
        run();
        QCOMPARE(complaints(), QStringList{u"error mail.server"_s});
        QVERIFY(!lineOf(u"mail.server"_s).unreachable);
        QVERIFY(lineOf(u"mail.server"_s).text.contains(u"no service for you"_s));
    }

    void aMailServerIsAskedForNoMail()
    {
        ScriptedSmtp smtp({SmtpScript::hello().expect("QUIT").send("221 2.0.0 bye\r\n")});
        m_config.mailUrl = QUrl(u"smtp://127.0.0.1:%1"_s.arg(smtp.port()));
        run();
        QCOMPARE(complaints(), QStringList());
        QCOMPARE(smtp.problem(), QString());
        QCOMPARE(smtp.lines().size(), 2);
    }

    void aFolderThatOthersCanRead()
    {
        QVERIFY(QFile::setPermissions(m_dir->path(),
                                      QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner | QFile::ReadOther));
        run();
        QCOMPARE(complaints(), QStringList{u"error folder.private"_s});
    }

    void anEmptyOrderOfTimeOutsIsAWarning()
    {
        m_config.heartbeat = false;
        m_config.lockTimeout = 31s;
        run();
        QCOMPARE(complaints(), QStringList({u"warning timeouts.lock"_s, u"warning timeouts.heartbeat"_s}));
    }

    void theWorkerChecksOnItsOperatorThread()
    {
        Worker worker(m_config);
        QSignalSpy lines(&worker, &Worker::checkLine);
        QSignalSpy finished(&worker, &Worker::checkFinished);
        QSignalSpy closed(&worker, &Worker::closed);
        worker.open();
        worker.check();
        QTRY_COMPARE(finished.size(), 1);
        const qsizetype once = lines.size();
        QVERIFY(once > 20);
        worker.check();
        QTRY_COMPARE(finished.size(), 2);
        QCOMPARE(lines.size(), 2 * once);
        worker.close();
        QTRY_COMPARE(closed.size(), 1);
    }

    void theWorkerChecksAlthoughItCannotWork()
    {
        m_config.databaseUrl = u"sqlite:///"_s + m_dir->filePath(u"no/such/folder.db"_s);
        Worker worker(m_config);
        QSignalSpy failed(&worker, &Worker::openFailed);
        QSignalSpy finished(&worker, &Worker::checkFinished);
        QSignalSpy closed(&worker, &Worker::closed);
        connect(&worker, &Worker::checkLine, this, [this](const CheckLine &line) { m_lines.append(line); });
        m_lines.clear();
        worker.open();
        QTRY_COMPARE(failed.size(), 1);
        worker.check();
        QTRY_COMPARE(finished.size(), 1);
        QCOMPARE(complaints(), QStringList{u"error database.open"_s});
        worker.close();
        QTRY_COMPARE(closed.size(), 1);
    }

    void aSettingThatStopsTheWorkerIsTold()
    {
        m_config.mailFrom = u"nobody"_s;
        Worker worker(m_config);
        QSignalSpy finished(&worker, &Worker::checkFinished);
        connect(&worker, &Worker::checkLine, this, [this](const CheckLine &line) { m_lines.append(line); });
        m_lines.clear();
        worker.open();
        worker.check();
        QCOMPARE(finished.size(), 1);
        QCOMPARE(complaints(), QStringList{u"error settings"_s});
        QVERIFY(m_lines.first().text.contains(u"--mail-from"_s));
    }

    void closingDoesNotWaitForASilentMailServer()
    {
        ScriptedSmtp smtp({SmtpScript().hold()});
        m_config.mailUrl = QUrl(u"smtp://127.0.0.1:%1"_s.arg(smtp.port()));
        Worker worker(m_config);
        QSignalSpy closed(&worker, &Worker::closed);
        worker.open();
        worker.check();
        QTRY_COMPARE(smtp.connections(), 1);
        QElapsedTimer waited;
        waited.start();
        worker.close();
        QTRY_COMPARE(closed.size(), 1);
        QVERIFY2(waited.elapsed() < 2000, qPrintable(QString::number(waited.elapsed())));
    }
};

QTEST_GUILESS_MAIN(CheckTest)
#include "tst_check.moc"
