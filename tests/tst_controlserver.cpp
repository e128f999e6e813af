#include "worker/local/controlserver.h"
#include "worker/local/faultboard.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocalSocket>
#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace sendonce;
using namespace Qt::StringLiterals;

class TestControlServer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>(u"/tmp/so-XXXXXX"_s);
        m_runtime = m_folder->path() + "/run"_L1;
        QVERIFY(QDir().mkdir(m_runtime));
        QVERIFY(QDir().mkdir(dataDir()));
        qputenv("XDG_RUNTIME_DIR", m_runtime.toUtf8());
    }

    void listensInTheRuntimeFolderForTheOwnerAlone()
    {
        FaultBoard faults;
        ControlServer server(&faults);
        const Result<QString> path = server.listen(dataDir());
        QVERIFY2(path, path ? "" : qPrintable(path.error().text));
        const QByteArray hash = QCryptographicHash::hash(dataDir().toUtf8(), QCryptographicHash::Sha256).toHex();
        QCOMPARE(path.value(), m_runtime + "/sendonce-"_L1 + QString::fromLatin1(hash.first(16)) + ".sock"_L1);
        struct stat status = {};
        QCOMPARE(::stat(QFile::encodeName(path.value()).constData(), &status), 0);
        QCOMPARE(int(status.st_mode & 077), 0);
        server.close();
        QVERIFY(!QFile::exists(path.value()));
    }

    void anotherWayToNameTheFolderIsTheSameSocket()
    {
        QCOMPARE(ControlServer::socketPath(dataDir() + "/../data/"_L1, m_runtime).value(),
                 ControlServer::socketPath(dataDir(), m_runtime).value());
        QVERIFY(ControlServer::socketPath(dataDir() + u'2', m_runtime).value()
                != ControlServer::socketPath(dataDir(), m_runtime).value());
    }

    void withoutARuntimeFolderItIsInTheDataFolder()
    {
        for (const QString &runtime :
             {QString(), m_folder->path() + "/missing"_L1, m_runtime + u'/' + QString(90, u'x')})
            QCOMPARE(ControlServer::socketPath(dataDir(), runtime).value(), dataDir() + "/control.sock"_L1);
        qunsetenv("XDG_RUNTIME_DIR");
        FaultBoard faults;
        ControlServer server(&faults);
        QVERIFY(server.listen(dataDir()));
        QVERIFY(QFile::exists(dataDir() + "/control.sock"_L1));
    }

    void thePathFitsASocketOrIsAClearError()
    {
        // Every length around the limit of 107 octets: what socketPath() gives can be listened at.
        for (qsizetype length = 80; length < 112; ++length) {
            const QString deep = m_folder->path() + u'/' + QString(length - m_folder->path().size() - 1, u'd');
            QVERIFY(QDir().mkpath(deep));
            const Result<QString> path = ControlServer::socketPath(deep, {});
            if (path) {
                qunsetenv("XDG_RUNTIME_DIR");
                FaultBoard faults;
                ControlServer server(&faults);
                const Result<QString> listening = server.listen(deep);
                QVERIFY2(listening, listening ? "" : qPrintable(listening.error().text));
                QVERIFY(listening.value().startsWith(deep) || listening.value().startsWith(u"/run/user/"_s));
            } else {
                QVERIFY(length > 80);
                QCOMPARE(path.error().kind, ErrorKind::Invalid);
                QVERIFY2(path.error().text.contains(u"--data-dir"_s), qPrintable(path.error().text));
            }
        }
    }

    void aSocketOfADeadProcessIsReplacedALivingOneNot()
    {
        const QString path = ControlServer::socketPath(dataDir(), m_runtime).value();
        const pid_t child = ::fork();
        if (child == 0) { // dies without closing: the socket stays
            FaultBoard faults;
            ControlServer server(&faults);
            ::_exit(server.listen(dataDir()) ? 0 : 1);
        }
        int status = -1;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QCOMPARE(status, 0);
        QVERIFY(QFile::exists(path));

        FaultBoard faults;
        ControlServer server(&faults);
        QVERIFY(server.listen(dataDir()));
        ControlServer second(&faults);
        const Result<QString> refused = second.listen(dataDir());
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::Refused);
        QVERIFY(QFile::exists(path));
    }

    void answersEveryRequest()
    {
        Running running(dataDir());
        QLocalSocket client;
        running.join(&client);
        const QJsonObject nothing{{u"armed"_s, QJsonArray()}};
        QCOMPARE(ask(&client, R"({"status":true})"), nothing);
        const QJsonObject armed{{u"id"_s, 1},
                                {u"where"_s, u"mail.end"_s},
                                {u"what"_s, u"reply"_s},
                                {u"code"_s, 451},
                                {u"text"_s, u"4.3.0 mail server down (armed fault)"_s},
                                {u"times"_s, 3}};
        QCOMPARE(ask(&client, R"({"arm":{"where":"mail.end","what":"reply","code":451,"times":3}})"),
                 QJsonObject({{u"armed"_s, QJsonArray{armed}}, {u"id"_s, 1}}));
        QCOMPARE(running.faults.armed().first().remaining(), 3);
        QCOMPARE(ask(&client, R"({"status":true})"), QJsonObject({{u"armed"_s, QJsonArray{armed}}}));
        QCOMPARE(ask(&client, R"({"disarm":1})"), nothing);
        ask(&client, R"({"arm":{"where":"mail.rcpt","what":"reply","code":550,"text":"5.1.1 no such user"}})");
        QCOMPARE(running.faults.armed().first().text, u"5.1.1 no such user"_s);
        QCOMPARE(ask(&client, R"({"disarm":"all"})"), nothing);
        QCOMPARE(running.faults.armed(), FaultRules());
        QVERIFY(!client.canReadLine());
    }

    void tellsWhatStrikesWhomAndUsesItUp()
    {
        Running running(dataDir());
        QLocalSocket client;
        running.join(&client);
        ask(&client, R"({"arm":{"where":"worker.claimed","what":"slow","delayMs":20,"event":"E*"}})");
        const QJsonObject none{{u"fault"_s, QJsonValue()}};
        QCOMPARE(ask(&client, R"({"ask":"worker.claimed","event":"F"})"), none);
        QCOMPARE(ask(&client, R"({"ask":"worker.received","event":"E1"})"), none);
        const QJsonObject struck =
            ask(&client, R"({"ask":"worker.claimed","event":"E1","recipient":"","type":"t","key":"m"})");
        const Fault slow{FaultEffect::Slow, 451, {}, std::chrono::milliseconds(20)};
        QCOMPARE(faultFromJson(struck.value(u"fault"_s).toObject()).value(), slow);
        QTRY_VERIFY(client.canReadLine()); // it is used up, which this client wants to hear of
        QCOMPARE(line(&client), QJsonObject({{u"armed"_s, QJsonArray()}}));
        QCOMPARE(ask(&client, R"({"ask":"worker.claimed","event":"E2"})"), none);
    }

    void tellsEveryClientWhenSomethingChanges()
    {
        Running running(dataDir());
        QLocalSocket one;
        QLocalSocket two;
        running.join(&one);
        running.join(&two);
        ask(&one, Refusals);
        QCOMPARE(remaining(line(&two)), 2);
        QVERIFY(running.faults.ask(FaultPoint::MailEnd));
        QCOMPARE(remaining(line(&one)), 1);
        QCOMPARE(remaining(line(&two)), 1);
        QVERIFY(running.faults.ask(FaultPoint::MailEnd));
        QCOMPARE(remaining(line(&one)), 0);
        QCOMPARE(remaining(line(&two)), 0);
    }

    void whoOnlyAsksWhatStrikesIsToldNothingElse()
    {
        Running running(dataDir());
        QLocalSocket watching, asking;
        running.join(&watching);
        asking.connectToServer(running.path);
        QVERIFY(asking.waitForConnected(5000));
        QVERIFY(ask(&asking, R"({"ask":"worker.claimed"})").contains(u"fault"_s));
        QVERIFY(running.faults.arm({}));
        QCOMPARE(remaining(line(&watching)), 1);
        QVERIFY(ask(&asking, R"({"ask":"mail.end"})").contains(u"fault"_s));
        QCOMPARE(remaining(line(&watching)), 0);
        QVERIFY(!asking.canReadLine());
    }

    void strikesAreToldInPortions()
    {
        Running running(dataDir());
        QLocalSocket client;
        running.join(&client);
        ask(&client, R"({"arm":{"where":"mail.end","what":"reply","times":1000}})");
        for (int i = 0; i < 1000; ++i)
            QVERIFY(running.faults.ask(FaultPoint::MailEnd));
        QCOMPARE(remaining(line(&client)), 0); // all of them in one line
        QVERIFY(!client.canReadLine());
    }

    void theEndOfItsTimeIsTold()
    {
        Running running(dataDir());
        QLocalSocket client;
        running.join(&client);
        QCOMPARE(remaining(ask(&client, R"({"arm":{"where":"mail.end","what":"reply","lastsMs":50}})")), 1);
        QCOMPARE(remaining(line(&client)), 0);
        // Also when somebody asks just before the timer sees it.
        QCOMPARE(remaining(ask(&client, R"({"arm":{"where":"mail.end","what":"reply","lastsMs":20}})")), 1);
        while (!running.faults.armed().isEmpty()) // this thread's timers do not run meanwhile
            ;
        QVERIFY(!running.faults.ask(FaultPoint::MailEnd));
        QCOMPARE(remaining(line(&client)), 0);
    }

    void aWholeCrowdIsAnswered()
    {
        Running running(dataDir());
        std::vector<std::unique_ptr<QLocalSocket>> crowd;
        for (int i = 0; i < 150; ++i) { // lanes of several workers, at one point at once
            crowd.push_back(std::make_unique<QLocalSocket>());
            crowd.back()->connectToServer(running.path);
            QTRY_COMPARE(crowd.back()->state(), QLocalSocket::ConnectedState);
            crowd.back()->write("{\"ask\":\"worker.claimed\"}\n");
        }
        for (const auto &client : crowd)
            QCOMPARE(line(client.get()), QJsonObject({{u"fault"_s, QJsonValue()}}));
    }

    void saysWhatWasWrongAndWhatIsAccepted_data()
    {
        QTest::addColumn<QByteArray>("request");
        QTest::addColumn<QStringList>("words");
        const auto row = [](const char *name, const QByteArray &request, const QStringList &words) {
            QTest::newRow(name) << request << words;
        };
        row("no JSON", "arm mail", {u"JSON object"_s});
        row("an array", "[1]", {u"JSON object"_s});
        row("nothing asked", "{}", {u"arm, disarm, status, ask"_s});
        row("two things asked", R"({"status":true,"disarm":"all"})", {u"exactly one"_s});
        row("arm a name", R"({"arm":"mail"})", {u"arm"_s, u"where and what"_s, u"\"mail\""_s});
        // What a rule may say is asked in tst_fault; that it is asked is seen here.
        row("arm where", R"({"arm":{"where":"mail","what":"reply"}})", {u"where is \"mail\""_s, u"mail.end"_s});
        row("arm what", R"({"arm":{"where":"mail.end","what":"crash"}})",
            {u"what is \"crash\""_s, u"store-then-close"_s});
        row("arm how often", R"({"arm":{"where":"mail.end","what":"reply","times":1.5}})",
            {u"times"_s, u"0 to 1000000"_s, u"not 1.5"_s});
        row("unknown member", R"({"status":true,"where":"x"})", {u"where"_s, u"accepted are status"_s});
        row("disarm what", R"({"disarm":true})", {u"\"all\""_s, u"true"_s});
        row("disarm a stranger", R"({"disarm":77})", {u"77"_s});
        row("disarm a fraction", R"({"disarm":1.5})", {u"\"all\""_s, u"1.5"_s});
        row("status what", R"({"status":1})", {u"true"_s, u"1"_s});
        row("ask where", R"({"ask":"worker"})", {u"ask is \"worker\""_s, u"worker.claimed"_s});
        row("ask a number", R"({"ask":5})", {u"ask is 5"_s, u"worker.claimed"_s});
        row("ask more", R"({"ask":"worker.claimed","lane":1})", {u"lane"_s, u"ask, event, recipient, type, key"_s});
        row("ask for whom", R"({"ask":"worker.claimed","event":5})", {u"event"_s, u"text"_s, u"5"_s});
    }

    void saysWhatWasWrongAndWhatIsAccepted()
    {
        QFETCH(const QByteArray, request);
        QFETCH(const QStringList, words);
        Running running(dataDir());
        FaultRule seven;
        seven.times = 7;
        QVERIFY(running.faults.arm(seven));
        QLocalSocket client;
        running.join(&client);
        const QJsonObject answer = ask(&client, request);
        QCOMPARE(answer.keys(), QStringList{u"error"_s});
        for (const QString &word : words)
            QVERIFY2(answer.value(u"error"_s).toString().contains(word),
                     qPrintable(answer.value(u"error"_s).toString()));
        QCOMPARE(running.faults.armed().first().remaining(), 7);
    }

    void requestsMayComeInPiecesAndTogether()
    {
        Running running(dataDir());
        QLocalSocket client;
        running.join(&client);
        for (const char byte : QByteArray(R"({"arm":{"where":"mail.end",)")) {
            client.write(&byte, 1);
            client.flush();
            QCoreApplication::processEvents();
        }
        client.write("\"what\":\"reply\",\"times\":4}}\n\n{\"disarm\":\"all\"}\n");
        QCOMPARE(remaining(line(&client)), 4);
        QCOMPARE(remaining(line(&client)), 0);
    }

    void aRequestWithoutEndIsRefused()
    {
        Running running(dataDir());
        QLocalSocket client;
        running.join(&client);
        client.write(QByteArray(100'000, 'x'));
        QVERIFY(line(&client).contains(u"error"_s));
        QTRY_COMPARE(client.state(), QLocalSocket::UnconnectedState);
    }

    void aClientThatGoesIsForgotten()
    {
        Running running(dataDir());
        {
            QLocalSocket gone;
            running.join(&gone);
            gone.write("{\"arm\":");
            gone.flush();
        }
        QLocalSocket client;
        running.join(&client);
        QCOMPARE(remaining(ask(&client, Refusals)), 2);
        QVERIFY(running.faults.ask(FaultPoint::MailEnd));
        QCOMPARE(remaining(line(&client)), 1);
    }

private:
    static constexpr auto Refusals = R"({"arm":{"where":"mail.end","what":"reply","code":451,"times":2}})";

    struct Running
    {
        explicit Running(const QString &dataDir) : path(server.listen(dataDir).value()) { }
        void join(QLocalSocket *client)
        {
            client->connectToServer(path);
            QVERIFY(client->waitForConnected(5000));
            // Whoever was answered has been accepted.
            QVERIFY(ask(client, R"({"status":true})").contains(u"armed"_s));
        }

        FaultBoard faults;
        ControlServer server{&faults};
        QString path;
    };

    static QJsonObject line(QLocalSocket *client)
    {
        if (!QTest::qWaitFor([client] { return client->canReadLine(); }, 5000))
            return {};
        return QJsonDocument::fromJson(client->readLine()).object();
    }

    static QJsonObject ask(QLocalSocket *client, const QByteArray &request)
    {
        client->write(request + '\n');
        return line(client);
    }

    /// Of the one armed fault; 0: none; -1: that is no list of faults.
    static int remaining(const QJsonObject &answer)
    {
        const QJsonValue armed = answer.value(u"armed"_s);
        if (!armed.isArray())
            return -1;
        const auto rule = faultRule(armed.toArray().first().toObject());
        return armed.toArray().isEmpty() ? 0 : rule ? rule->remaining() : -1;
    }

    QString dataDir() const { return m_folder->path() + "/data"_L1; }

    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_runtime;
};

QTEST_GUILESS_MAIN(TestControlServer)
#include "tst_controlserver.moc"
