#include "worker/local/controlserver.h"
#include "worker/local/mailfaults.h"

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
        MailFaults faults;
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
        MailFaults faults;
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
                MailFaults faults;
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
            MailFaults faults;
            ControlServer server(&faults);
            ::_exit(server.listen(dataDir()) ? 0 : 1);
        }
        int status = -1;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QCOMPARE(status, 0);
        QVERIFY(QFile::exists(path));

        MailFaults faults;
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
        QCOMPARE(ask(&client, R"({"status":true})"), QJsonObject({{u"armed"_s, QJsonArray()}}));
        const QJsonObject armed{{u"where"_s, u"mail"_s},
                                {u"remaining"_s, 3},
                                {u"code"_s, 451},
                                {u"text"_s, u"4.3.0 mail server down (armed fault)"_s}};
        QCOMPARE(ask(&client, R"({"arm":"mail","times":3,"code":451})"),
                 QJsonObject({{u"armed"_s, QJsonArray{armed}}}));
        QCOMPARE(running.faults.armed().first().remaining, 3);
        QCOMPARE(ask(&client, R"({"status":true})"), QJsonObject({{u"armed"_s, QJsonArray{armed}}}));
        QCOMPARE(ask(&client, R"({"disarm":"all"})"), QJsonObject({{u"armed"_s, QJsonArray()}}));
        QCOMPARE(running.faults.armed(), ArmedFaults());
        ask(&client, R"({"arm":"mail","times":1,"code":550,"text":"5.1.1 no such user"})");
        QCOMPARE(running.faults.armed().first().text, u"5.1.1 no such user"_s);
        QVERIFY(!client.canReadLine());
    }

    void tellsEveryClientWhenSomethingChanges()
    {
        Running running(dataDir());
        QLocalSocket one;
        QLocalSocket two;
        running.join(&one);
        running.join(&two);
        ask(&one, R"({"arm":"mail","times":2,"code":451})");
        QCOMPARE(remaining(line(&two)), 2);
        QVERIFY(running.faults.takeFault());
        QCOMPARE(remaining(line(&one)), 1);
        QCOMPARE(remaining(line(&two)), 1);
        QVERIFY(running.faults.takeFault());
        QCOMPARE(remaining(line(&one)), 0);
        QCOMPARE(remaining(line(&two)), 0);
    }

    void saysWhatWasWrongAndWhatIsAccepted_data()
    {
        QTest::addColumn<QByteArray>("request");
        QTest::addColumn<QStringList>("words");
        const auto row = [](const char *name, const QByteArray &request, const QStringList &words) {
            QTest::newRow(name) << request << words;
        };
        const QStringList times{u"times"_s, u"1 to 1000000"_s};
        const QStringList code{u"code"_s, u"400 to 599"_s};
        row("no JSON", "arm mail", {u"JSON object"_s});
        row("an array", "[1]", {u"JSON object"_s});
        row("nothing asked", "{}", {u"arm, disarm and status"_s});
        row("two things asked", R"({"status":true,"disarm":"all"})", {u"exactly one"_s});
        row("arm what", R"({"arm":"queue","times":1,"code":451})", {u"\"mail\""_s, u"\"queue\""_s});
        row("times 0", R"({"arm":"mail","times":0,"code":451})", times + QStringList{u"not 0"_s});
        row("times too many", R"({"arm":"mail","times":1000001,"code":451})", times);
        row("times a fraction", R"({"arm":"mail","times":1.5,"code":451})", times + QStringList{u"1.5"_s});
        row("times a text", R"({"arm":"mail","times":"3","code":451})", times + QStringList{u"\"3\""_s});
        row("times missing", R"({"arm":"mail","code":451})", times + QStringList{u"nothing"_s});
        row("times huge", R"({"arm":"mail","times":1e300,"code":451})", times);
        row("code 399", R"({"arm":"mail","times":1,"code":399})", code);
        row("code 600", R"({"arm":"mail","times":1,"code":600})", code);
        row("code missing", R"({"arm":"mail","times":1})", code);
        row("text with a line end", R"({"arm":"mail","times":1,"code":451,"text":"a\r\n250 ok"})", {u"text"_s});
        row("text too long", R"({"arm":"mail","times":1,"code":451,"text":")" + QByteArray(401, 'x') + R"("})",
            {u"400"_s});
        row("unknown member", R"({"arm":"mail","times":1,"code":451,"where":"x"})", {u"where"_s, u"times"_s});
        row("disarm what", R"({"disarm":true})", {u"\"all\""_s, u"true"_s});
        row("status what", R"({"status":1})", {u"true"_s, u"1"_s});
    }

    void saysWhatWasWrongAndWhatIsAccepted()
    {
        QFETCH(const QByteArray, request);
        QFETCH(const QStringList, words);
        Running running(dataDir());
        running.faults.failNext(7, 451);
        QLocalSocket client;
        running.join(&client);
        const QJsonObject answer = ask(&client, request);
        QCOMPARE(answer.keys(), QStringList{u"error"_s});
        for (const QString &word : words)
            QVERIFY2(answer.value(u"error"_s).toString().contains(word),
                     qPrintable(answer.value(u"error"_s).toString()));
        QCOMPARE(running.faults.armed().first().remaining, 7);
    }

    void requestsMayComeInPiecesAndTogether()
    {
        Running running(dataDir());
        QLocalSocket client;
        running.join(&client);
        for (const char byte : QByteArray(R"({"arm":"mail",)")) {
            client.write(&byte, 1);
            client.flush();
            QCoreApplication::processEvents();
        }
        client.write("\"times\":4,\"code\":451}\n\n{\"disarm\":\"mail\"}\n");
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
        QCOMPARE(remaining(ask(&client, R"({"arm":"mail","times":1,"code":451})")), 1);
        QVERIFY(running.faults.takeFault());
        QCOMPARE(remaining(line(&client)), 0);
    }

private:
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

        MailFaults faults;
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
        return armed.toArray().isEmpty() ? 0 : armed.toArray().first().toObject().value(u"remaining"_s).toInt();
    }

    QString dataDir() const { return m_folder->path() + "/data"_L1; }

    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_runtime;
};

QTEST_GUILESS_MAIN(TestControlServer)
#include "tst_controlserver.moc"
