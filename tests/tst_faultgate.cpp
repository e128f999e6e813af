#include "worker/faults/crashpoint.h"
#include "worker/faults/faultgate.h"
#include "worker/local/controlserver.h"
#include "worker/local/faultboard.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QLocalServer>
#include <QLocalSocket>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <csignal>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto ChildOption = "--reach-every-stage"; // with the name of the crash point, or "none"

/// What a delivery does, as far as a gate sees it: each stage in its order, its number on stdout.
int reachEveryStage(const QString &crashAt)
{
    const FaultGate gate({}, FaultGate::Death::Process, crashStage(crashAt));
    for (int stage = 0; stage < StageCount; ++stage) {
        std::printf("%d\n", stage);
        std::fflush(stdout);
        const auto point = faultPointOf(Stage(stage));
        const auto fault = point ? gate.ask(*point, {}) : std::nullopt;
        if (fault && fault->what == FaultEffect::Crash)
            gate.die();
    }
    return 0;
}

/// The embedded services' part of it, on a thread of its own as there.
class Services
{
public:
    explicit Services(const QString &dataDir)
    {
        m_thread.start();
        m_context.moveToThread(&m_thread);
        run([&] {
            m_board = std::make_unique<FaultBoard>();
            m_server = std::make_unique<ControlServer>(m_board.get());
            if (auto listening = m_server->listen(dataDir))
                m_path = listening.take();
        });
    }
    ~Services()
    {
        run([this] {
            m_server.reset();
            m_board.reset();
        });
        m_thread.quit();
        m_thread.wait();
    }

    void run(const std::function<void()> &work)
    {
        QMetaObject::invokeMethod(&m_context, work, Qt::BlockingQueuedConnection);
    }
    void arm(const FaultRule &rule)
    {
        run([&] { QVERIFY(m_board->arm(rule)); });
    }
    FaultRules armed()
    {
        FaultRules rules;
        run([&] { rules = m_board->armed(); });
        return rules;
    }
    QString path() const { return m_path; }

private:
    QThread m_thread;
    QObject m_context;
    QString m_path;
    std::unique_ptr<FaultBoard> m_board;
    std::unique_ptr<ControlServer> m_server;
};

FaultRule slowness(FaultPoint where = FaultPoint::WorkerClaimed)
{
    FaultRule rule;
    rule.where = where;
    rule.what = FaultEffect::Slow;
    rule.delay = 20ms;
    return rule;
}

} // namespace

class TestFaultGate : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Services> m_services;

    QString socketOfOurs() const { return m_folder->filePath(u"s"_s); }

private Q_SLOTS:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(u".*"_s));
        qunsetenv("XDG_RUNTIME_DIR");
        m_folder = std::make_unique<QTemporaryDir>(u"/tmp/so-XXXXXX"_s);
        m_services = std::make_unique<Services>(m_folder->path());
        QVERIFY(!m_services->path().isEmpty());
    }
    void cleanup() { m_services.reset(); }

    void whatIsArmedStrikesAndIsUsedUp()
    {
        FaultGate gate(m_services->path(), FaultGate::Death::Lane);
        m_services->arm(slowness());
        gate.setArmed(m_services->armed());
        const auto struck = gate.ask(FaultPoint::WorkerClaimed, {});
        QVERIFY(struck);
        QCOMPARE(struck->what, FaultEffect::Slow);
        QCOMPARE(struck->delay, 20ms);
        QVERIFY(!gate.ask(FaultPoint::WorkerClaimed, {})); // the gate was not told yet: the services know
        QCOMPARE(m_services->armed(), FaultRules());
    }

    void theSubjectIsTold()
    {
        FaultGate gate(m_services->path(), FaultGate::Death::Lane);
        FaultRule rule = slowness();
        rule.event = u"E \"1\" \u00fc*"_s;
        rule.recipient = u"sam@*"_s;
        rule.type = u"application.*"_s;
        m_services->arm(rule);
        gate.setArmed(m_services->armed());
        QVERIFY(!gate.ask(FaultPoint::WorkerClaimed, {u"E"_s, u"sam@jobs.example"_s, u"application.x"_s}));
        QVERIFY(!gate.ask(FaultPoint::WorkerClaimed, {u"E \"1\" üx"_s, {}, u"application.x"_s}));
        QVERIFY(gate.ask(FaultPoint::WorkerClaimed, {u"E \"1\" üx"_s, u"sam@jobs.example"_s, u"application.x"_s}));
    }

    void oneGateForSeveralWorkers()
    {
        // Each of two workers' lanes asks at once: three deliveries are struck, not three of each.
        FaultRule rule = slowness();
        rule.times = 3;
        m_services->arm(rule);
        FaultGate one(m_services->path(), FaultGate::Death::Lane), two(m_services->path(), FaultGate::Death::Lane);
        one.setArmed(m_services->armed());
        two.setArmed(m_services->armed());
        std::vector<std::future<int>> lanes;
        for (int lane = 0; lane < 8; ++lane) {
            lanes.push_back(std::async(std::launch::async, [&gate = lane % 2 == 0 ? one : two] {
                int struck = 0;
                for (int i = 0; i < 20; ++i)
                    struck += gate.ask(FaultPoint::WorkerClaimed, {}).has_value();
                return struck;
            }));
        }
        int struck = 0;
        for (auto &lane : lanes)
            struck += lane.get();
        QCOMPARE(struck, 3);
    }

    void nothingArmedCostsNoConnection()
    {
        QLocalServer server;
        int connections = 0;
        connect(&server, &QLocalServer::newConnection, this, [&connections] { ++connections; });
        QVERIFY(server.listen(socketOfOurs()));
        FaultGate gate(socketOfOurs(), FaultGate::Death::Lane);
        gate.setArmed({});
        QElapsedTimer time;
        time.start();
        for (int i = 0; i < 1000; ++i)
            QVERIFY(!gate.ask(FaultPoint(i % FaultPointCount), {}));
        QVERIFY(time.elapsed() < 500);
        gate.setArmed({slowness(FaultPoint::WorkerClaimed)});
        QVERIFY(!gate.ask(FaultPoint::WorkerReceived, {})); // armed elsewhere
        QLocalSocket last; // behind whatever the gate has opened
        last.connectToServer(socketOfOurs());
        QTRY_COMPARE(connections, 1);
    }

    void untilTheServicesHaveSaidWhatIsArmedAnythingMayBe()
    {
        // A worker that has just begun: its first delivery may be quicker than the answer.
        m_services->arm(slowness());
        const FaultGate gate(m_services->path(), FaultGate::Death::Lane);
        QVERIFY(!gate.ask(FaultPoint::WorkerReceived, {}));
        QVERIFY(gate.ask(FaultPoint::WorkerClaimed, {}));
    }

    void withoutServicesNothingStrikes()
    {
        FaultGate gate(m_services->path(), FaultGate::Death::Lane);
        m_services->arm(slowness());
        gate.setArmed(m_services->armed());
        m_services.reset();
        QElapsedTimer time;
        time.start();
        QVERIFY(!gate.ask(FaultPoint::WorkerClaimed, {}));
        QVERIFY(time.elapsed() < 500);
        const FaultGate none({}, FaultGate::Death::Lane);
        QVERIFY(!none.ask(FaultPoint::WorkerClaimed, {}));
        const FaultGate tooLong(u'/' + QString(200, u'x'), FaultGate::Death::Lane);
        QVERIFY(!tooLong.ask(FaultPoint::WorkerClaimed, {}));
    }

    void silentServicesTakeASecond_data()
    {
        QTest::addColumn<QByteArray>("drop"); // what comes every 100 ms; empty: nothing
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("an answer without end") << " "_ba;
    }
    void silentServicesTakeASecond()
    {
        QFETCH(QByteArray, drop);
        QLocalServer server;
        QVERIFY(server.listen(socketOfOurs()));
        QList<QLocalSocket *> clients;
        connect(&server, &QLocalServer::newConnection, this, [&] { clients.append(server.nextPendingConnection()); });
        QTimer dripping;
        connect(&dripping, &QTimer::timeout, this, [&] {
            for (QLocalSocket *client : clients)
                client->write(drop);
        });
        if (!drop.isEmpty())
            dripping.start(100ms);
        const FaultGate gate(socketOfOurs(), FaultGate::Death::Lane);
        auto asked = std::async(std::launch::async, [&gate] {
            QElapsedTimer time;
            time.start();
            return gate.ask(FaultPoint::WorkerClaimed, {}) ? -1 : time.elapsed();
        });
        QTRY_VERIFY(asked.wait_for(0s) == std::future_status::ready);
        const qint64 took = asked.get();
        QVERIFY2(took >= 900 && took < 1500, qPrintable(QString::number(took)));
    }

    void servicesThatDoNotTakeConnectionsTakeASecond()
    {
        // Their thread hangs, and the kernel's queue of connections is full.
        QLocalServer server;
        QVERIFY(server.listen(socketOfOurs()));
        std::vector<std::unique_ptr<QLocalSocket>> queue;
        for (int i = 0; i < 60; ++i) {
            queue.push_back(std::make_unique<QLocalSocket>());
            queue.back()->connectToServer(socketOfOurs());
        }
        const FaultGate gate(socketOfOurs(), FaultGate::Death::Lane);
        QElapsedTimer time;
        time.start();
        QVERIFY(!gate.ask(FaultPoint::WorkerClaimed, {}));
        QVERIFY2(time.elapsed() >= 900 && time.elapsed() < 1500, qPrintable(QString::number(time.elapsed())));
    }

    void nonsenseIsNoFault_data()
    {
        QTest::addColumn<QByteArray>("answer");
        QTest::newRow("nothing") << ""_ba;
        QTest::newRow("no JSON") << "hello\n"_ba;
        QTest::newRow("an error") << "{\"error\":\"no\"}\n"_ba;
        QTest::newRow("null") << "{\"fault\":null}\n"_ba;
        QTest::newRow("an unknown effect") << "{\"fault\":{\"what\":\"explode\"}}\n"_ba;
        QTest::newRow("an effect of elsewhere") << "{\"fault\":{\"what\":\"reply\",\"code\":451}}\n"_ba;
    }
    void nonsenseIsNoFault()
    {
        QFETCH(QByteArray, answer);
        QLocalServer server;
        QVERIFY(server.listen(socketOfOurs()));
        connect(&server, &QLocalServer::newConnection, this, [&] {
            QLocalSocket *client = server.nextPendingConnection();
            client->write(answer);
            client->disconnectFromServer();
        });
        const FaultGate gate(socketOfOurs(), FaultGate::Death::Lane);
        auto asked =
            std::async(std::launch::async, [&gate] { return gate.ask(FaultPoint::WorkerClaimed, {}).has_value(); });
        QTRY_VERIFY(asked.wait_for(0s) == std::future_status::ready);
        QVERIFY(!asked.get());
    }

    void theDeathOfALaneReturns()
    {
        const FaultGate gate({}, FaultGate::Death::Lane);
        gate.die();
        QVERIFY(true);
    }

    void theProcessDiesAtItsStage_data()
    {
        QTest::addColumn<QString>("crashAt");
        QTest::addColumn<int>("lastStage"); // of StageCount: all were reached, nothing was killed
        for (const QString &name : crashNames())
            QTest::newRow(qPrintable(name)) << name << int(*crashStage(name));
        QTest::newRow("none") << u"none"_s << StageCount - 1;
    }

    void theProcessDiesAtItsStage()
    {
        QFETCH(QString, crashAt);
        QFETCH(int, lastStage);
        QProcess child;
        child.start(QCoreApplication::applicationFilePath(), {QLatin1StringView(ChildOption), crashAt});
        QVERIFY(child.waitForFinished());
        const QList<QByteArray> lines = child.readAllStandardOutput().trimmed().split('\n');
        QCOMPARE(lines.last().toInt(), lastStage);
        QCOMPARE(lines.size(), lastStage + 1);
        if (crashAt == "none"_L1) {
            QCOMPARE(child.exitStatus(), QProcess::NormalExit);
            QCOMPARE(child.exitCode(), 0);
        } else {
            QCOMPARE(child.exitStatus(), QProcess::CrashExit);
            QCOMPARE(child.exitCode(), SIGKILL);
        }
    }
};

int main(int argc, char **argv)
{
    if (argc == 3 && qstrcmp(argv[1], ChildOption) == 0)
        return reachEveryStage(QString::fromLatin1(argv[2]));
    const QCoreApplication application(argc, argv);
    TestFaultGate test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_faultgate.moc"
