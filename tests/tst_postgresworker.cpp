#include "app/config/embedded.h"
#include "app/config/settings.h"
#include "tests/world/postgres.h"
#include "tests/world/scriptedsmtp.h"
#include "worker/store/pgconnection.h"
#include "worker/worker.h"

#include <QtTest>

#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>

#include <numeric>

using namespace sendonce;
using namespace sendonce::world;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

/// The worker on a PostgreSQL server that restarts, freezes, cuts connections and goes away where it hurts most.
class PostgresWorkerTest : public QObject
{
    Q_OBJECT

    Postgres m_postgres;
    QString m_database;
    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<LocalServices> m_services;
    std::unique_ptr<Worker> m_worker;
    std::unique_ptr<QSignalSpy> m_delivered, m_noted, m_logged, m_counters;

    void startServices(int visibilitySeconds)
    {
        m_services.reset();
        m_services = std::make_unique<LocalServices>();
        LocalSettings settings;
        settings.dataDir = m_dir->path();
        settings.sqsPort = settings.smtpPort = 0;
        settings.visibilityTimeoutSeconds = visibilitySeconds;
        auto started = startEmbedded(*m_services, settings);
        QVERIFY2(started, started ? "" : qPrintable(started.error().text));
        m_addresses = started.value();
    }
    LocalAddresses m_addresses;

    void open(QMap<QString, QString> flags = {}, int visibilitySeconds = 2)
    {
        startServices(visibilitySeconds);
        if (!flags.contains(u"database-url"_s))
            flags.insert(u"database-url"_s, m_postgres.url(m_database));
        auto config = resolve(gather(flags, {}), {}, m_dir->path(), m_addresses);
        QVERIFY2(config, config ? "" : qPrintable(config.error().text));
        m_worker = std::make_unique<Worker>(config.value());
        m_delivered = std::make_unique<QSignalSpy>(m_worker.get(), &Worker::delivered);
        m_logged = std::make_unique<QSignalSpy>(m_worker.get(), &Worker::logged);
        m_counters = std::make_unique<QSignalSpy>(m_worker.get(), &Worker::countersChanged);
        m_noted = std::make_unique<QSignalSpy>(m_worker.get(), &Worker::noted);
        QSignalSpy opened(m_worker.get(), &Worker::opened);
        m_worker->open();
        QTRY_COMPARE(opened.size(), 1);
    }
    void openWith(const ScriptedSmtp &server, int visibilitySeconds = 2, const QString &lockTimeout = u"1500ms"_s)
    {
        open({{u"mail-url"_s, u"smtp://127.0.0.1:%1"_s.arg(server.port())},
              {u"lock-timeout"_s, lockTimeout},
              {u"mail-timeout"_s, u"2s"_s},
              {u"mail-final-timeout"_s, u"2s"_s}},
             visibilitySeconds);
    }

    DeliveryReport report(int index) const { return (*m_delivered)[index].at(0).value<DeliveryReport>(); }
    Counters counters() const
    {
        return m_counters->isEmpty() ? Counters() : m_counters->last().at(0).value<Counters>();
    }
    int logged(LogLevel level, const QString &text) const
    {
        return int(std::count_if(m_logged->cbegin(), m_logged->cend(), [&](const QList<QVariant> &each) {
            const auto line = each.at(0).value<LogLine>();
            return line.level == level && line.text.contains(text);
        }));
    }
    QString sql(const QString &statement) { return m_postgres.sql(m_database, statement); }
    QString claims() { return sql(u"SELECT count(*) FROM jobs_processedevent"_s); }

    /// Answers 250 when `between` has run: the mail is accepted, the COMMIT comes next.
    static SmtpScript acceptAfter(std::function<void()> between)
    {
        SmtpScript script = SmtpScript::hello();
        return script.upTo354().readMail().call(std::move(between)).send("250 2.0.0 Ok\r\n").close();
    }
    static SmtpScript accept()
    {
        return acceptAfter([] {});
    }

private Q_SLOTS:
    void initTestCase() { QVERIFY2(m_postgres.start(), qPrintable(m_postgres.why())); }
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_database = m_postgres.createJobBoard();
        QVERIFY2(!m_database.isEmpty(), qPrintable(m_postgres.why()));
    }
    void cleanup()
    {
        if (m_worker) {
            QSignalSpy closed(m_worker.get(), &Worker::closed);
            m_worker->close();
            QTRY_COMPARE_WITH_TIMEOUT(closed.size(), 1, 15'000);
        }
        m_worker.reset();
        m_services.reset();
    }

    void oneEventOneMailAndDjangosRow()
    {
        open();
        QSignalSpy pages(m_worker.get(), &Worker::processedPage);
        m_worker->start();
        m_worker->injectDuplicate({});
        QTRY_COMPARE(m_delivered->size(), 2);
        QCOMPARE(counters().sent, 1);
        QCOMPARE(counters().skipped, 1);
        QCOMPARE(claims(), u"1"_s);
        QCOMPARE(sql(u"SELECT count(*) FROM sendonce_claimbody"_s), u"1"_s);
        QCOMPARE(logged(LogLevel::Warning, {}), 0);
        m_worker->queryProcessed({});
        QTRY_COMPARE(pages.size(), 1);
        const auto page = pages[0].at(0).value<ProcessedPage>();
        QCOMPARE(page.error, QString());
        QCOMPARE(page.rows.size(), 1);
        QCOMPARE(page.rows[0].result, u"mailed"_s);
    }

    void lanesWithoutAConnectionLeaveTheirMessagesToThoseThatHaveOne()
    {
        open({{u"lanes"_s, u"12"_s}}, 30);
        const auto url = DatabaseUrl::parse(m_postgres.url(m_database));
        QVERIFY(url.ok());
        std::vector<std::unique_ptr<PgConnection>> taken;
        for (;;) {
            auto connection = PgConnection::open(url.value(), {QDeadlineTimer(20'000)});
            if (!connection) {
                QCOMPARE(connection.error().code, u"53300"_s);
                break;
            }
            taken.push_back(connection.take());
        }
        QVERIFY(taken.size() > 12);
        taken.resize(taken.size() - 2); // two lanes find room
        for (int i = 0; i < 3; ++i) {
            SendRequest request;
            request.copies = 10;
            m_worker->send(request);
        }
        m_worker->start();
        QTRY_COMPARE_WITH_TIMEOUT(m_delivered->size(), 30, 20'000); // well before a connection comes free
        QCOMPARE(counters().sent, 3);
        QCOMPARE(counters().skipped, 27);
        // None is burnt: on a busy server one may be given back, when a connection ends as it begins.
        for (int i = 0; i < 30; ++i)
            QVERIFY2(report(i).receiveCount <= 2, qPrintable(QString::number(report(i).receiveCount)));
    }

    void theCheckSeesAServer()
    {
        open({{u"lanes"_s, u"8"_s}});
        QSignalSpy lines(m_worker.get(), &Worker::checkLine);
        QSignalSpy finished(m_worker.get(), &Worker::checkFinished);
        m_worker->check();
        QTRY_COMPARE(finished.size(), 1);
        QMap<QString, CheckLine> byId;
        for (const QList<QVariant> &each : lines)
            byId.insert(each.at(0).value<CheckLine>().id, each.at(0).value<CheckLine>());
        for (const QString &id :
             {u"database.open"_s, u"database.claims"_s, u"database.unique"_s, u"database.bodies"_s,
              u"database.version"_s, u"database.synchronous_commit"_s, u"database.fsync"_s,
              u"database.full_page_writes"_s, u"database.idle"_s, u"database.connections"_s,
              u"events.lookup.application.status_changed"_s, u"events.lookup.application.received"_s}) {
            QVERIFY2(byId.contains(id) && byId.value(id).level == CheckLine::Level::Ok,
                     qPrintable(id + u": "_s + byId.value(id).text));
        }
    }

    void aRoleThatMayCreateNothingWorksAndGetsAScript()
    {
        const QString role = u"worker of \"jobs\""_s;
        const QString quoted = u"\"worker of \"\"jobs\"\"\""_s;
        QVERIFY2(!sql(u"CREATE ROLE %1 LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO %1; "
                      "GRANT INSERT ON jobs_processedevent TO %1"_s.arg(quoted))
                      .isNull(),
                 qPrintable(m_postgres.why()));
        const QString url = m_postgres.url(m_database)
                                .replace(u"sendonce@"_s, QString::fromLatin1(QUrl::toPercentEncoding(role)) + u'@');
        open({{u"database-url"_s, url}});
        m_worker->start();
        m_worker->injectDuplicate({});
        QTRY_COMPARE(m_delivered->size(), 2);
        QCOMPARE(counters().sent, 1);
        QCOMPARE(m_noted->size(), 1); // the window says it
        QCOMPARE(logged(LogLevel::Warning, u"may not create tables"_s), 1);
        QCOMPARE(logged(LogLevel::Warning, u"the journal is kept in "_s), 1);
        QVERIFY(QFile::exists(m_dir->filePath(u"journal.db"_s)));
        const QString script = m_dir->path() + u"/sendonce-tables.sql"_s;
        QVERIFY2(!m_postgres.sql(m_database, u"\\i "_s + script).isNull(), qPrintable(m_postgres.why()));
        // From the next start on.
        QSignalSpy closed(m_worker.get(), &Worker::closed);
        m_worker->close();
        QTRY_COMPARE(closed.size(), 1);
        open({{u"database-url"_s, url}});
        m_worker->start();
        m_worker->injectDuplicate({});
        QTRY_COMPARE(m_delivered->size(), 2);
        QCOMPARE(logged(LogLevel::Warning, {}), 0);
        QCOMPARE(sql(u"SELECT count(*) FROM sendonce_claimbody"_s), u"1"_s);
        QCOMPARE(sql(u"SELECT count(*) FROM sendonce_attempt"_s), u"2"_s);
    }

    void aConnectionCutBehindTheMailIsClaimedAgain()
    {
        ScriptedSmtp server({acceptAfter([this] { m_postgres.cutOpenTransactions(m_database); })});
        openWith(server);
        m_worker->send({});
        m_worker->start();
        QTRY_COMPARE(m_delivered->size(), 1);
        QCOMPARE(report(0).outcome, Outcome::Sent);
        QVERIFY(!report(0).possiblyMailedTwice);
        QCOMPARE(claims(), u"1"_s);
        QCOMPARE(counters().inDoubt, 0);
        QCOMPARE(server.mails().size(), 1);
    }

    void theSameWithADuplicateWaitingIsCounted()
    {
        const auto cutWhenWaitedFor = [this] {
            while (sql(u"SELECT count(*) FROM pg_locks WHERE NOT granted"_s) == "0"_L1)
                ;
            m_postgres.cutOpenTransactions(m_database);
        };
        ScriptedSmtp server({acceptAfter(cutWhenWaitedFor), accept()});
        openWith(server, 4, u"5s"_s);
        m_worker->injectDuplicate({});
        m_worker->start();
        QTRY_COMPARE_WITH_TIMEOUT(m_delivered->size(), 2, 10'000);
        QCOMPARE(report(0).outcome, Outcome::Sent);
        QCOMPARE(report(1).outcome, Outcome::Sent);
        QCOMPARE(int(report(0).possiblyMailedTwice) + int(report(1).possiblyMailedTwice), 1);
        QCOMPARE(counters().possiblyTwice, 1);
        QCOMPARE(logged(LogLevel::Warning, u"possibly mailed twice"_s), 1);
        QCOMPARE(server.mails().size(), 2);
        QCOMPARE(claims(), u"1"_s);
    }

    void aServerStoppedBehindTheMailLeavesADoubtThatIsSaid()
    {
        ScriptedSmtp server({acceptAfter([this] { m_postgres.kill(); })});
        openWith(server);
        QSignalSpy stories(m_worker.get(), &Worker::story);
        m_worker->send({});
        m_worker->start();
        QTRY_COMPARE_WITH_TIMEOUT(m_delivered->size(), 1, 10'000);
        QCOMPARE(report(0).outcome, Outcome::InDoubt);
        QVERIFY2(report(0).reason.contains(u"mailed, but the claim could not be committed"_s),
                 qPrintable(report(0).reason));
        QCOMPARE(logged(LogLevel::Warning, u"may have been mailed"_s), 1);
        m_postgres.stop(Postgres::Stop::Immediate);
        QVERIFY2(m_postgres.startAgain(), qPrintable(m_postgres.why()));
        // The journal was away with the claims, and has the doubt when it is back.
        QTRY_COMPARE_WITH_TIMEOUT(sql(u"SELECT outcome FROM sendonce_attempt LIMIT 1"_s), u"in doubt"_s, 20'000);
        const auto told = [&] {
            m_worker->queryStory(report(0).eventId);
            stories.wait(1000);
            const auto lines = stories.isEmpty() ? QList<StoryLine>() : stories.last().at(0).value<EventStory>().lines;
            return std::any_of(lines.cbegin(), lines.cend(),
                               [](const StoryLine &line) { return line.text.contains(u"perhaps mailed"_s); });
        };
        QTRY_VERIFY_WITH_TIMEOUT(told(), 10'000);
        QCOMPARE(claims(), u"0"_s);
    }

    void aFrozenServerGivesTheLaneBack_data()
    {
        QTest::addColumn<bool>("behindTheMail");
        QTest::newRow("at the claim") << false;
        QTest::newRow("at the COMMIT") << true;
    }
    void aFrozenServerGivesTheLaneBack()
    {
        QFETCH(bool, behindTheMail);
        std::atomic_bool frozen = false;
        const auto freeze = [&] {
            if (behindTheMail && !frozen.exchange(true)) // not again when the message comes back
                m_postgres.freeze();
        };
        ScriptedSmtp server({accept(), acceptAfter(freeze)});
        openWith(server, 30, u"1s"_s);
        m_worker->start();
        m_worker->send({});
        QTRY_COMPARE(m_delivered->size(), 1); // a lane has its connection
        if (!behindTheMail)
            m_postgres.freeze();
        QElapsedTimer waited;
        waited.start();
        m_worker->send({});
        constexpr int Bound = 1000 + 2000 + 2000 + 5000; // lock wait, both mail times, 5 s
        QTRY_COMPARE_WITH_TIMEOUT(m_delivered->size(), 2, Bound);
        QVERIFY(waited.elapsed() < Bound);
        QCOMPARE(report(1).outcome, behindTheMail ? Outcome::InDoubt : Outcome::GivenBack);
        QCOMPARE(logged(LogLevel::Warning, u"The database is away"_s), 1);
        QCOMPARE(frozen, behindTheMail);
        m_postgres.thaw();
        QTRY_COMPARE_WITH_TIMEOUT(logged(LogLevel::Info, u"The database is reachable again"_s), 1, 10'000);
    }

    void anOutageIsOneLineAndBurnsNoReceives()
    {
        open({}, 2);
        m_worker->start();
        m_worker->send({});
        QTRY_COMPARE(counters().sent, 1);
        QVERIFY(m_postgres.stop(Postgres::Stop::Fast));
        for (int i = 0; i < 5; ++i)
            m_worker->send({});
        QTRY_COMPARE(logged(LogLevel::Warning, u"The database is away"_s), 1);
        QTest::qWait(2500); // longer than the visibility timeout: a worker that went on would receive them again
        QCOMPARE(logged(LogLevel::Warning, u"The database is away"_s), 1);
        QCOMPARE(logged(LogLevel::Error, {}), 0);
        QVERIFY2(m_postgres.startAgain(), qPrintable(m_postgres.why()));
        QTRY_COMPARE_WITH_TIMEOUT(counters().sent, 6, 15'000);
        QCOMPARE(logged(LogLevel::Info, u"The database is reachable again"_s), 1);
        QCOMPARE(counters().failed, 0);
        for (int i = 0; i < m_delivered->size(); ++i)
            QVERIFY(report(i).receiveCount <= 2);
    }

    void aServerThatIsAwayAtTheStartIsWaitedFor()
    {
        QVERIFY(m_postgres.stop(Postgres::Stop::Fast));
        open();
        m_worker->start();
        m_worker->send({});
        QTRY_COMPARE(logged(LogLevel::Warning, u"The database is away"_s), 1);
        QVERIFY2(m_postgres.startAgain(), qPrintable(m_postgres.why()));
        QTRY_COMPARE_WITH_TIMEOUT(counters().sent, 1, 15'000);
        QCOMPARE(report(0).receiveCount, 1);
    }

    void aRestartInTheMiddleLosesNothing()
    {
        constexpr int Events = 500;
        open({{u"lanes"_s, u"8"_s}}, 5);
        QSignalSpy sent(m_worker.get(), &Worker::sendFinished);
        for (int i = 0; i < Events; ++i) {
            SendRequest request;
            request.eventId = u"event-%1"_s.arg(i);
            request.applicationId = 1 + i;
            m_worker->send(request);
        }
        QTRY_COMPARE_WITH_TIMEOUT(sent.size(), Events, 20'000);
        m_worker->start();
        QTRY_VERIFY_WITH_TIMEOUT(counters().sent > 100, 20'000);
        QVERIFY(m_postgres.stop(Postgres::Stop::Immediate));
        QVERIFY2(m_postgres.startAgain(), qPrintable(m_postgres.why()));
        QTRY_COMPARE_WITH_TIMEOUT(claims(), QString::number(Events), 40'000);
        QTRY_VERIFY_WITH_TIMEOUT(counters().sent + counters().skipped >= Events, 20'000);
        QMap<QString, int> mails;
        const QDir folder(m_dir->path() + u"/mailbox/new"_s);
        for (const QString &name : folder.entryList(QDir::Files)) {
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::ReadOnly));
            static const QRegularExpression Header(u"X-Sendonce-Event: (\\S+)"_s);
            ++mails[Header.match(QString::fromUtf8(file.readAll())).captured(1)];
        }
        QCOMPARE(mails.size(), Events);
        const int extra = std::accumulate(mails.cbegin(), mails.cend(), -Events);
        QVERIFY2(extra <= counters().inDoubt + counters().possiblyTwice, qPrintable(QString::number(extra)));
        QCOMPARE(counters().failed, 0);
        qInfo("%d second mails, %d in doubt", extra, int(counters().inDoubt));
    }
};

QTEST_GUILESS_MAIN(PostgresWorkerTest)
#include "tst_postgresworker.moc"
