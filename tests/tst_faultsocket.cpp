#include "worker/faults/faultsocket.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QLocalServer>
#include <QLocalSocket>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

using namespace sendonce;
using namespace Qt::StringLiterals;

namespace {

/// The other end: keeps the lines it gets, says what the test wants said.
class ControlEnd
{
public:
    explicit ControlEnd(const QString &path)
    {
        QObject::connect(&m_server, &QLocalServer::newConnection, &m_server, [this] {
            m_socket = m_server.nextPendingConnection();
            ++connections;
            QObject::connect(m_socket, &QLocalSocket::readyRead, &m_server, [this, socket = m_socket] {
                while (socket->canReadLine())
                    lines.append(socket->readLine().trimmed());
            });
        });
        listening = m_server.listen(path);
    }
    void say(const QByteArray &bytes) { m_socket->write(bytes); }
    void hangUp() { m_socket->disconnectFromServer(); }

    bool listening = false;
    int connections = 0;
    QList<QByteArray> lines;

private:
    QLocalServer m_server;
    QLocalSocket *m_socket = nullptr;
};

/// The next three mails are refused; `struck` of them were.
FaultRule three(int struck = 0)
{
    FaultRule rule;
    rule.id = 7;
    rule.text = u"4.3.0 try later"_s;
    rule.times = 3;
    rule.struck = struck;
    return rule;
}

QByteArray armedLine(int struck = 0)
{
    return R"({"armed":[{"id":7,"where":"mail.end","what":"reply","code":451,"text":"4.3.0 try later","times":3,"struck":)"
        + QByteArray::number(struck) + "}]}\n";
}

} // namespace

class TestFaultSocket : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();

    void asksWhatIsArmed();
    void saysOnlyChanges();
    void armsAndDisarms();
    void refusalIsHeard();
    void actBeforeTheConnection();
    void actWithoutServicesFails();
    void actThatIsCutOffFails();
    void comesBackAfterALoss();
    void piecesOfLines();
    void garbageIsNothing();
    void endlessLineIsCutOff();

private:
    QString path() const { return m_folder->filePath(u"control"_s); }
    void connectBoth();

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ControlEnd> m_end;
    std::unique_ptr<FaultSocket> m_socket;
    std::unique_ptr<QSignalSpy> m_armed, m_failed;

    FaultRules lastArmed() const { return m_armed->last().first().value<FaultRules>(); }
};

void TestFaultSocket::init()
{
    QTest::failOnWarning(QRegularExpression(u".*"_s));
    m_folder = std::make_unique<QTemporaryDir>();
    m_end = std::make_unique<ControlEnd>(path());
    QVERIFY(m_end->listening);
    m_socket = std::make_unique<FaultSocket>(path());
    m_armed = std::make_unique<QSignalSpy>(m_socket.get(), &FaultSocket::armedChanged);
    m_failed = std::make_unique<QSignalSpy>(m_socket.get(), &FaultSocket::failed);
}

void TestFaultSocket::cleanup()
{
    m_armed.reset();
    m_failed.reset();
    m_socket.reset();
    m_end.reset();
    m_folder.reset();
}

void TestFaultSocket::connectBoth()
{
    m_socket->open();
    QTRY_COMPARE(m_end->lines, QList<QByteArray>{R"({"status":true})"_ba});
    m_end->lines.clear();
}

void TestFaultSocket::asksWhatIsArmed()
{
    connectBoth();
    m_end->say(armedLine());
    QTRY_COMPARE(m_armed->size(), 1);
    QCOMPARE(lastArmed(), FaultRules{three()});
    m_socket->open(); // once is enough
    QCOMPARE(m_end->connections, 1);
}

void TestFaultSocket::saysOnlyChanges()
{
    connectBoth();
    m_end->say(R"({"armed":[]})"
               "\n"_ba);
    QTRY_COMPARE(m_armed->size(), 1);
    QCOMPARE(lastArmed(), FaultRules());
    m_end->say(armedLine() + armedLine() + armedLine(1));
    QTRY_COMPARE(m_armed->size(), 3);
    QCOMPARE(lastArmed(), FaultRules{three(1)});
}

void TestFaultSocket::armsAndDisarms()
{
    connectBoth();
    m_socket->arm(three());
    m_socket->disarm(7);
    m_socket->disarmAll();
    QTRY_COMPARE(m_end->lines.size(), 3);
    const QJsonObject armed = QJsonDocument::fromJson(m_end->lines[0]).object().value("arm"_L1).toObject();
    QCOMPARE(faultRule(armed).value(), three());
    QCOMPARE(m_end->lines[1], R"({"disarm":7})"_ba);
    QCOMPARE(m_end->lines[2], R"({"disarm":"all"})"_ba);
    QCOMPARE(m_failed->size(), 0);
}

void TestFaultSocket::refusalIsHeard()
{
    connectBoth();
    m_socket->arm(three());
    m_end->say(R"({"error":"code must be a whole number from 400 to 599, not 200"})"
               "\n"_ba);
    QTRY_COMPARE(m_failed->size(), 1);
    QCOMPARE(m_failed->first().first().toString(), u"code must be a whole number from 400 to 599, not 200"_s);
}

void TestFaultSocket::actBeforeTheConnection()
{
    m_socket->disarmAll(); // opens by itself
    QTRY_COMPARE(m_end->lines, QList<QByteArray>({R"({"status":true})"_ba, R"({"disarm":"all"})"_ba}));
    QCOMPARE(m_failed->size(), 0);
}

void TestFaultSocket::actWithoutServicesFails()
{
    m_end.reset();
    m_socket->open();
    QCOMPARE(m_failed->size(), 0); // looking alone fails for nobody
    m_socket->arm(three());
    QTRY_COMPARE(m_failed->size(), 1);
    QVERIFY(m_failed->first().first().toString().startsWith("the control socket of the embedded services"_L1));
    QCOMPARE(m_armed->size(), 0);
}

void TestFaultSocket::actThatIsCutOffFails()
{
    connectBoth();
    m_end->say(R"({"armed":[]})"
               "\n"_ba);
    QTRY_COMPARE(m_armed->size(), 1);
    m_socket->arm(three());
    QTRY_COMPARE(m_end->lines.size(), 1);
    m_end->hangUp();
    QTRY_COMPARE(m_failed->size(), 1);
}

void TestFaultSocket::comesBackAfterALoss()
{
    connectBoth();
    m_end->say(armedLine());
    QTRY_COMPARE(m_armed->size(), 1);
    m_end.reset();
    QTRY_COMPARE(m_armed->size(), 2); // who has gone has nothing armed
    QCOMPARE(lastArmed(), FaultRules());

    m_end = std::make_unique<ControlEnd>(path());
    QVERIFY(m_end->listening);
    QTRY_COMPARE(m_end->connections, 1); // within a second or so
    QTRY_COMPARE(m_end->lines, QList<QByteArray>{R"({"status":true})"_ba});
    m_end->say(R"({"armed":[]})"
               "\n"_ba);
    QTRY_COMPARE(m_armed->size(), 3);
    QCOMPARE(m_failed->size(), 0); // no act was lost
}

void TestFaultSocket::piecesOfLines()
{
    connectBoth();
    const QByteArray line = armedLine();
    for (const char byte : line) {
        QCOMPARE(m_armed->size(), 0);
        m_end->say(QByteArray(1, byte));
        QCoreApplication::processEvents();
    }
    QTRY_COMPARE(m_armed->size(), 1);
    QCOMPARE(lastArmed(), FaultRules{three()});
}

void TestFaultSocket::garbageIsNothing()
{
    connectBoth();
    m_end->say("hello\n[]\n{}\n{\"armed\":7}\n\xff\n\n"_ba + armedLine());
    QTRY_COMPARE(m_armed->size(), 1);
    QCOMPARE(m_failed->size(), 0);
}

void TestFaultSocket::endlessLineIsCutOff()
{
    connectBoth();
    m_end->say(QByteArray(100'000, 'x'));
    QTRY_COMPARE(m_end->connections, 2); // it hangs up, and comes back later
}

QTEST_GUILESS_MAIN(TestFaultSocket)
#include "tst_faultsocket.moc"
