#include <QElapsedTimer>
#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRandomGenerator>
#include <QSet>
#include <QTcpSocket>
#include <QTemporaryDir>
#include <QTest>

#include <signal.h>

#include <random>
#include <thread>

using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

constexpr int Clients = 3;
const QString Queue = u"job-board-events"_s;
const QString Dlq = u"job-board-events-dlq"_s;
constexpr std::chrono::seconds Hidden = 1s; // so long a receive's handle is the newest for certain

/// A client that blocks, for a server in another process that may die at any moment.
class Client
{
public:
    explicit Client(quint16 port) : m_port(port)
    {
        m_socket.connectToHost(QHostAddress(QHostAddress::LocalHost), port);
        m_socket.waitForConnected();
    }

    /// The answer of a 200; nothing when the server has gone or said anything else.
    std::optional<QJsonObject> call(const QByteArray &operation, const QJsonObject &body)
    {
        const QByteArray json = QJsonDocument(body).toJson(QJsonDocument::Compact);
        m_socket.write("POST / HTTP/1.1\r\nHost: 127.0.0.1:" + QByteArray::number(m_port)
                       + "\r\nX-Amz-Target: AmazonSQS." + operation
                       + "\r\nContent-Length: " + QByteArray::number(json.size()) + "\r\n\r\n" + json);
        QByteArray reply;
        for (;;) {
            const qsizetype head = reply.indexOf("\r\n\r\n");
            const qsizetype at = reply.indexOf("Content-Length: ");
            if (head >= 0 && at >= 0) {
                const qsizetype length = reply.sliced(at + 16, reply.indexOf('\r', at) - at - 16).toLongLong();
                if (reply.size() >= head + 4 + length) {
                    if (!reply.startsWith("HTTP/1.1 200"))
                        return {};
                    return QJsonDocument::fromJson(reply.sliced(head + 4, length)).object();
                }
            }
            if (!m_socket.waitForReadyRead(5000))
                return {};
            reply += m_socket.readAll();
        }
    }

private:
    quint16 m_port;
    QTcpSocket m_socket;
};

/// What one client did and was told; kept on the side that does not die.
struct Ledger
{
    QSet<QString> sendTried, sent;
    QSet<QString> deleteTried, deleted;
    QHash<QString, int> received; ///< answers that carried it

    void add(const Ledger &other)
    {
        sendTried += other.sendTried;
        sent += other.sent;
        deleteTried += other.deleteTried;
        deleted += other.deleted;
        for (auto it = other.received.cbegin(); it != other.received.cend(); ++it)
            received[it.key()] += *it;
    }
};

QJsonObject receiveRequest(const QString &queue, int visibility, int wait = 0)
{
    return {{u"QueueUrl"_s, queue},
            {u"MaxNumberOfMessages"_s, 10},
            {u"WaitTimeSeconds"_s, wait},
            {u"VisibilityTimeout"_s, visibility},
            {u"AttributeNames"_s, QJsonArray{u"ApproximateReceiveCount"_s}}};
}

/// Sends, receives and deletes until the server is gone.
Ledger work(quint16 port, const QString &name, quint64 seed)
{
    std::mt19937_64 dice(seed);
    Ledger ledger;
    Client client(port);
    for (int step = 0;; ++step) {
        if (dice() % 2 == 0) {
            QJsonArray entries;
            QStringList bodies;
            for (int i = 0; i < 3; ++i) {
                bodies += u"%1-%2-%3"_s.arg(name).arg(step).arg(i);
                entries += QJsonObject{{u"Id"_s, QString::number(i)}, {u"MessageBody"_s, bodies.constLast()}};
                ledger.sendTried += bodies.constLast();
            }
            if (!client.call("SendMessageBatch", {{u"QueueUrl"_s, Queue}, {u"Entries"_s, entries}}))
                return ledger;
            ledger.sent += QSet<QString>(bodies.cbegin(), bodies.cend());
            continue;
        }
        const QString queue = dice() % 3 == 0 ? Dlq : Queue;
        const bool onlyLook = dice() % 4 == 0;
        QElapsedTimer held;
        held.start();
        const auto received = client.call("ReceiveMessage", receiveRequest(queue, onlyLook ? 0 : int(Hidden.count())));
        if (!received)
            return ledger;
        QJsonArray entries;
        QStringList bodies;
        for (const QJsonValue &value : received->value("Messages"_L1).toArray()) {
            const QJsonObject message = value.toObject();
            const QString body = message.value("Body"_L1).toString();
            ++ledger.received[body];
            if (onlyLook || dice() % 3 == 0)
                continue;
            entries += QJsonObject{{u"Id"_s, QString::number(entries.size())},
                                   {u"ReceiptHandle"_s, message.value("ReceiptHandle"_L1)}};
            bodies += body;
        }
        if (entries.isEmpty())
            continue;
        ledger.deleteTried += QSet<QString>(bodies.cbegin(), bodies.cend());
        if (!client.call("DeleteMessageBatch", {{u"QueueUrl"_s, queue}, {u"Entries"_s, entries}}))
            return ledger;
        if (held.elapsed() < std::chrono::milliseconds(Hidden).count())
            ledger.deleted += QSet<QString>(bodies.cbegin(), bodies.cend());
    }
}

} // namespace

/// kill -9 while clients send, receive and delete: nothing that was acknowledged is lost, nothing whose delete was
/// acknowledged comes back, and receives stay counted. SENDONCE_KILLS says how often, 20 when it is not set.
class TestLocalKill : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void acknowledgedMeansKept();
    void movesGoOnAndLoseNothing();

private:
    /// Starts the services; 0 when they did not come up.
    quint16 start(QProcess &process);

    QTemporaryDir m_folder;
};

quint16 TestLocalKill::start(QProcess &process)
{
    process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    process.start(QStringLiteral(SENDONCE_WORLD_LOCAL), {m_folder.path()});
    QByteArray output;
    while (!output.contains("ready\n") && process.waitForReadyRead(10000))
        output += process.readAll();
    const qsizetype colon = output.indexOf(':', output.indexOf("127.0.0.1"));
    return output.contains("ready\n") ? output.mid(colon + 1, output.indexOf('\n') - colon - 1).toUShort() : 0;
}

void TestLocalKill::acknowledgedMeansKept()
{
    bool given = false;
    quint64 seed = qEnvironmentVariable("SENDONCE_SEED").toULongLong(&given);
    if (!given)
        seed = QRandomGenerator::system()->generate();
    qInfo("SENDONCE_SEED=%llu", qulonglong(seed));
    std::mt19937_64 dice(seed);
    const int kills = qEnvironmentVariable("SENDONCE_KILLS", u"20"_s).toInt();
    QVERIFY(kills > 0);

    Ledger all;
    for (int round = 0; round < kills; ++round) {
        QProcess process;
        const quint16 port = start(process);
        QVERIFY(port != 0);
        Ledger ledgers[Clients];
        std::vector<std::thread> clients;
        for (int i = 0; i < Clients; ++i) {
            clients.emplace_back([&ledger = ledgers[i], port, name = u"%1-%2"_s.arg(round).arg(i), own = dice()] {
                ledger = work(port, name, own);
            });
        }
        std::this_thread::sleep_for(std::chrono::microseconds(20000 + dice() % 200000));
        ::kill(pid_t(process.processId()), SIGKILL);
        for (std::thread &client : clients)
            client.join();
        QVERIFY(process.waitForFinished());
        for (const Ledger &ledger : ledgers)
            all.add(ledger);
    }
    qInfo("%d kills, %lld sends and %lld deletes acknowledged", kills, qint64(all.sent.size()),
          qint64(all.deleted.size()));
    QVERIFY(all.sent.size() > kills);
    QVERIFY(!all.deleted.isEmpty());

    QProcess process;
    const quint16 port = start(process);
    QVERIFY(port != 0);
    QSet<QString> left;
    Client client(port);
    // Until what the dead process hid is visible again; the second queue's has become so meanwhile.
    for (const auto &[queue, wait] : {std::pair(Queue, int(Hidden.count()) + 1), std::pair(Dlq, 0)}) {
        for (;;) {
            const auto received = client.call("ReceiveMessage", receiveRequest(queue, 600, wait));
            QVERIFY(received);
            const QJsonArray messages = received->value("Messages"_L1).toArray();
            if (messages.isEmpty())
                break;
            for (const QJsonValue &value : messages) {
                const QString body = value.toObject().value("Body"_L1).toString();
                QVERIFY2(!left.contains(body), qPrintable(body + u" is there twice"_s));
                left += body;
                const int count = value.toObject()
                                      .value("Attributes"_L1)
                                      .toObject()
                                      .value("ApproximateReceiveCount"_L1)
                                      .toString()
                                      .toInt();
                QVERIFY2(count > all.received.value(body), qPrintable(body + u": a receive was forgotten"_s));
            }
        }
    }
    const QSet<QString> lost = QSet(all.sent).subtract(all.deleteTried).subtract(left);
    QVERIFY2(lost.isEmpty(), qPrintable(u"lost: %1"_s.arg(QStringList(lost.values()).join(u", "_s))));
    const QSet<QString> back = QSet(all.deleted).intersect(left);
    QVERIFY2(back.isEmpty(), qPrintable(u"came back: %1"_s.arg(QStringList(back.values()).join(u", "_s))));
    const QSet<QString> invented = QSet(left).subtract(all.sendTried);
    QVERIFY2(invented.isEmpty(), qPrintable(u"never sent: %1"_s.arg(QStringList(invented.values()).join(u", "_s))));
    process.terminate();
    QVERIFY(process.waitForFinished());
    QCOMPARE(process.exitCode(), 0);
}

void TestLocalKill::movesGoOnAndLoseNothing()
{
    const int messages = 3000;
    QVERIFY(m_folder.remove() && QDir().mkpath(m_folder.path()));
    std::mt19937_64 dice(QRandomGenerator::system()->generate());
    const QString dlqArn = u"arn:aws:sqs:us-east-1:000000000000:"_s + Dlq;
    const auto task = [&dlqArn](Client &client) {
        const auto list = client.call("ListMessageMoveTasks", {{u"SourceArn"_s, dlqArn}});
        return list ? list->value("Results"_L1).toArray().at(0).toObject() : QJsonObject();
    };
    // One start; what is left after a kill goes on by itself.
    int moved = 0;
    int killedAmid = 0;
    bool running = true;
    for (int round = 0; running; ++round) {
        QVERIFY(round < 50);
        QProcess process;
        const quint16 port = start(process);
        QVERIFY(port != 0);
        Client client(port);
        if (round == 0) {
            for (int i = 0; i < messages; i += 10) {
                QJsonArray entries;
                for (int j = i; j < i + 10; ++j)
                    entries += QJsonObject{{u"Id"_s, QString::number(j)}, {u"MessageBody"_s, QString::number(j)}};
                QVERIFY(client.call("SendMessageBatch", {{u"QueueUrl"_s, Dlq}, {u"Entries"_s, entries}}));
            }
            QVERIFY(client.call(
                "StartMessageMoveTask",
                {{u"SourceArn"_s, dlqArn}, {u"DestinationArn"_s, u"arn:aws:sqs:us-east-1:000000000000:"_s + Queue}}));
        }
        std::this_thread::sleep_for(std::chrono::microseconds(dice() % (5000 * (round + 1))));
        const QJsonObject now = task(client);
        running = now.value("Status"_L1) == "RUNNING"_L1;
        QVERIFY(running || now.value("Status"_L1) == "COMPLETED"_L1);
        QVERIFY(now.value("ApproximateNumberOfMessagesMoved"_L1).toInt() >= moved);
        moved = now.value("ApproximateNumberOfMessagesMoved"_L1).toInt();
        QVERIFY(moved <= messages);
        killedAmid += running;
        ::kill(pid_t(process.processId()), SIGKILL);
        QVERIFY(process.waitForFinished());
    }
    QVERIFY(killedAmid > 0);
    qInfo("killed amid the move %d times", killedAmid);
    QCOMPARE(moved, messages);

    QProcess process;
    const quint16 port = start(process);
    Client client(port);
    QSet<QString> left;
    for (const QString &queue : {Queue, Dlq}) {
        for (;;) {
            const auto received = client.call("ReceiveMessage", receiveRequest(queue, 600));
            QVERIFY(received);
            const QJsonArray all = received->value("Messages"_L1).toArray();
            if (all.isEmpty())
                break;
            QCOMPARE(queue, Queue);
            for (const QJsonValue &value : all) {
                const QString body = value.toObject().value("Body"_L1).toString();
                QVERIFY2(!left.contains(body), qPrintable(body + u" is there twice"_s));
                left += body;
            }
        }
    }
    QCOMPARE(left.size(), messages);
    process.terminate();
    QVERIFY(process.waitForFinished());
}

QTEST_GUILESS_MAIN(TestLocalKill)
#include "tst_localkill.moc"
