#include "worker/local/faultboard.h"
#include "worker/local/localmailbox.h"
#include "worker/mail/mimemessage.h"
#include "worker/mail/smtpclient.h"

#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <memory>
#include <sys/resource.h>
#include <unistd.h>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

const QByteArray Envelope = "EHLO me\r\nMAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.org>\r\nDATA\r\n";
const QByteArray Mail = Envelope + "Subject: x\r\n\r\nbody\r\n.\r\n";

QByteArray codes(const QByteArray &replies)
{
    QByteArrayList list;
    for (const QByteArray &line : replies.split('\n')) {
        if (line.size() > 3 && line[3] == ' ')
            list.append(line.first(3));
    }
    return list.join(' ');
}

/// A client that keeps all it is told; nothing blocks.
struct Client
{
    explicit Client(quint16 port)
    {
        QObject::connect(&socket, &QTcpSocket::readyRead, &socket, [this] { replies += socket.readAll(); });
        socket.connectToHost(QHostAddress(QHostAddress::LocalHost), port);
    }
    bool isClosed() const { return socket.state() == QAbstractSocket::UnconnectedState; }

    QTcpSocket socket;
    QByteArray replies;
};

} // namespace

class TestLocalMailbox : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_faults = std::make_unique<FaultBoard>();
        m_mailbox = std::make_unique<LocalMailbox>(path(), m_faults.get());
        const Result<quint16> port = m_mailbox->listen(0);
        QVERIFY(port);
        m_port = port.value();
    }

    void cleanup()
    {
        m_mailbox.reset();
        m_faults.reset();
    }

    void keepsAMailAndSaysItsName()
    {
        QSignalSpy stored(m_mailbox.get(), &LocalMailbox::stored);
        Client client(m_port);
        client.socket.write(Mail + "QUIT\r\n");
        QTRY_VERIFY(client.isClosed());
        QCOMPARE(codes(client.replies), QByteArray("220 250 250 250 354 250 221"));
        QCOMPARE(stored.size(), 1);
        const QString id = stored.first().first().toString();
        QVERIFY(client.replies.contains("250 2.0.0 Ok: queued as " + id.toLatin1() + "\r\n"));
        QCOMPARE(mails(), QStringList{id});
        QFile file(path() + "/new/"_L1 + id);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(
            file.readAll(),
            QByteArray("Return-Path: <a@example.org>\r\nDelivered-To: b@example.org\r\nSubject: x\r\n\r\nbody\r\n"));
    }

    void severalConnectionsAtOnce()
    {
        std::vector<std::unique_ptr<Client>> clients;
        for (int i = 0; i < 20; ++i) {
            clients.push_back(std::make_unique<Client>(m_port));
            clients.back()->socket.write(Envelope + "Subject: x\r\n");
        }
        for (const auto &client : clients)
            QTRY_VERIFY(client->replies.contains("\r\n354 "));
        QCOMPARE(m_mailbox->connectionCount(), 20);
        for (const auto &client : clients)
            client->socket.write("\r\nbody\r\n.\r\n");
        for (const auto &client : clients)
            QTRY_VERIFY(client->replies.contains("queued as"));
        QCOMPARE(mails().size(), 20);
    }

    void aConnectionLostBeforeTheEndStoresNothing()
    {
        Client client(m_port);
        client.socket.write(Envelope + "Subject: x\r\n\r\nbody\r\n.\r");
        QTRY_VERIFY(client.replies.contains("\r\n354 "));
        client.socket.abort();
        QTRY_COMPARE(m_mailbox->connectionCount(), 0);
        QCOMPARE(mails(), QStringList());
        QCOMPARE(QDir(path() + "/tmp"_L1).entryList(QDir::Files), QStringList());
    }

    void anArmedFaultRefusesAndStoresNothing()
    {
        refuseNext(2, 451);
        Client client(m_port);
        client.socket.write(Mail + Mail + Mail);
        QTRY_COMPARE(codes(client.replies),
                     QByteArray("220 250 250 250 354 451 250 250 250 354 451 250 250 250 354 250"));
        QVERIFY(client.replies.contains("\r\n451 4.3.0 mail server down (armed fault)\r\n"));
        QCOMPARE(mails().size(), 1);
        QCOMPARE(m_faults->armed(), FaultRules());
    }

    void aFaultOf421ClosesTheConnection()
    {
        refuseNext(1, 421);
        Client client(m_port);
        client.socket.write(Mail + "NOOP\r\n");
        QTRY_VERIFY(client.isClosed());
        QCOMPARE(codes(client.replies), QByteArray("220 250 250 250 354 421"));
    }

    void aMailThatCannotBeStoredGetsNo250()
    {
        QVERIFY(QDir(path() + "/tmp"_L1).removeRecursively());
        QTest::ignoreMessage(QtWarningMsg, QRegularExpression(u"^a mail was not stored: .*tmp.*No such file"_s));
        Client client(m_port);
        client.socket.write(Mail);
        QTRY_COMPARE(codes(client.replies), QByteArray("220 250 250 250 354 451"));
        QVERIFY(client.replies.endsWith("451 4.3.0 the mail could not be stored\r\n"));
        QCOMPARE(mails(), QStringList());
    }

    void listensOnLoopbackAlone()
    {
        QFile table(u"/proc/net/tcp"_s);
        QVERIFY(table.open(QIODevice::ReadOnly));
        const QByteArray port = QByteArray::number(m_port, 16).toUpper().rightJustified(4, '0');
        const QByteArray sockets = table.readAll();
        QVERIFY(sockets.contains(" 0100007F:" + port + " 00000000:0000 0A"));
        QVERIFY(!sockets.contains(" 00000000:" + port + ' '));
    }

    void aTakenPortIsUnreachable()
    {
        QTemporaryDir other;
        LocalMailbox second(other.path() + "/mailbox"_L1, m_faults.get());
        const Result<quint16> port = second.listen(m_port);
        QVERIFY(!port);
        QCOMPARE(port.error().kind, ErrorKind::Unreachable);
        QVERIFY2(port.error().text.contains(QString::number(m_port)), qPrintable(port.error().text));
    }

    void aMailboxThatCannotBeMadeIsIo()
    {
        LocalMailbox nowhere(m_folder->path() + "/missing/mailbox"_L1, m_faults.get());
        QCOMPARE(nowhere.listen(0).error().kind, ErrorKind::Io);
    }

    void idleConnectionsAreClosed()
    {
        m_mailbox->setIdleTimeout(50ms);
        Client client(m_port);
        QTRY_VERIFY(client.isClosed());
        QCOMPARE(codes(client.replies), QByteArray("220 421"));
        QTRY_COMPARE(m_mailbox->connectionCount(), 0);
    }

    void oneConnectionTooManyIsTurnedAway()
    {
        std::vector<std::unique_ptr<Client>> clients;
        for (int i = 0; i < LocalMailbox::MaxConnections; ++i)
            clients.push_back(std::make_unique<Client>(m_port));
        QTRY_COMPARE(m_mailbox->connectionCount(), LocalMailbox::MaxConnections);
        Client late(m_port);
        QTRY_VERIFY(late.isClosed());
        QCOMPARE(codes(late.replies), QByteArray("421"));
        clients.pop_back();
        QTRY_COMPARE(m_mailbox->connectionCount(), LocalMailbox::MaxConnections - 1);
        Client next(m_port);
        QTRY_COMPARE(codes(next.replies), QByteArray("220"));
    }

    void takesConnectionsAgainAfterRunningOutOfDescriptors()
    {
        Client first(m_port);
        QTRY_COMPARE(codes(first.replies), QByteArray("220"));
        QTcpSocket second; // gets the last descriptor; the mailbox gets none for its side
        QVERIFY(second.bind(QHostAddress(QHostAddress::LocalHost)));
        rlimit before = {};
        ::getrlimit(RLIMIT_NOFILE, &before);
        const int lowest = ::dup(0);
        ::close(lowest);
        const rlimit few = {rlim_t(lowest), before.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &few);
        static int warnings = 0;
        const QtMessageHandler usual =
            qInstallMessageHandler([](QtMsgType, const QMessageLogContext &, const QString &text) {
                warnings += text.startsWith("cannot take a connection"_L1);
            });
        second.connectToHost(QHostAddress(QHostAddress::LocalHost), m_port);
        const bool warned = QTest::qWaitFor([] { return warnings > 0; });
        ::setrlimit(RLIMIT_NOFILE, &before);
        qInstallMessageHandler(usual);
        QVERIFY(warned);
        QTRY_VERIFY(second.canReadLine());
        QVERIFY(second.readLine().startsWith("220 "));
        QCOMPARE(warnings, 1);
    }

    void closeSaysSoAndStoresNothingHalf()
    {
        Client idle(m_port);
        Client busy(m_port);
        busy.socket.write(Envelope + "Subject: x\r\n");
        QTRY_VERIFY(busy.replies.contains("\r\n354 "));
        QTRY_VERIFY(!idle.replies.isEmpty());
        m_mailbox->close();
        m_mailbox->close();
        QCOMPARE(m_mailbox->connectionCount(), 0);
        QTRY_VERIFY(idle.isClosed() && busy.isClosed());
        QCOMPARE(codes(idle.replies), QByteArray("220 421"));
        QCOMPARE(mails(), QStringList());
        QVERIFY(m_mailbox->listen(0));
    }

    void mayBeClosedByWhoHearsOfAMail()
    {
        connect(m_mailbox.get(), &LocalMailbox::stored, m_mailbox.get(), &LocalMailbox::close);
        Client client(m_port);
        client.socket.write(Mail + "NOOP\r\n");
        QTRY_VERIFY(client.isClosed());
        QCOMPARE(mails().size(), 1);
    }

    void ourOwnClientIsUnderstood()
    {
        MailContent content;
        content.from = MailAddress::parse(u"Job Board <no-reply@jobboard.example>"_s).value();
        content.to = MailAddress::fromAddress(u"dana@example.org"_s, u"Dana Müller"_s).value();
        content.subject = u"Änderung"_s;
        content.text = u".hidden\n..two\nFrom here\n"_s;
        content.html = u"<p>x</p>"_s;
        content.eventId = u"evt-42"_s;
        content.date = QDateTime(QDate(2025, 9, 1), QTime(12, 0), Qt::UTC);
        const MimeMessage message = renderMail(content).value();

        refuseNext(1, 554);
        QList<SendResult> results;
        const std::unique_ptr<QThread> lane(QThread::create([&] {
            SmtpClient client({u"127.0.0.1"_s, m_port, u"sendonce.local"_s, 10s, 10s});
            const std::atomic_bool stop = false;
            for (int i = 0; i < 3; ++i)
                results.append(client.send(message, {}, stop));
            client.close();
        }));
        lane->start();
        QTRY_VERIFY(lane->isFinished());
        QCOMPARE(results.size(), 3);
        QCOMPARE(results[0].status, SendResult::Status::NotSent);
        QVERIFY(results[0].permanent);
        QCOMPARE(results[0].reply, u"554 5.3.0 mail refused (armed fault)"_s);
        QCOMPARE(results[1].status, SendResult::Status::Sent);
        QCOMPARE(results[2].status, SendResult::Status::Sent);
        const QStringList stored = mails();
        QCOMPARE(stored.size(), 2);
        for (const QString &name : stored) {
            QFile file(path() + "/new/"_L1 + name);
            QVERIFY(file.open(QIODevice::ReadOnly));
            QCOMPARE(file.readAll(),
                     "Return-Path: <no-reply@jobboard.example>\r\nDelivered-To: dana@example.org\r\n" + message.bytes);
        }
    }

private:
    QString path() const { return m_folder->path() + "/mailbox"_L1; }
    QStringList mails() const { return QDir(path() + "/new"_L1).entryList(QDir::Files, QDir::Name); }

    void refuseNext(int times, int code)
    {
        FaultRule rule;
        rule.times = times;
        rule.code = code;
        QVERIFY(m_faults->arm(rule));
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<FaultBoard> m_faults;
    std::unique_ptr<LocalMailbox> m_mailbox;
    quint16 m_port = 0;
};

QTEST_GUILESS_MAIN(TestLocalMailbox)
#include "tst_localmailbox.moc"
