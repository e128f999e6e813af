#include "worker/local/faultboard.h"
#include "worker/local/localmailbox.h"
#include "worker/mail/mimemessage.h"
#include "worker/mail/smtpclient.h"

#include <QDir>
#include <QElapsedTimer>
#include <QScopeGuard>
#include <QTcpSocket>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <cerrno>
#include <memory>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

using Status = SendResult::Status;
using Effect = FaultEffect;

namespace {

const QByteArray Envelope = "EHLO me\r\nMAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.org>\r\n";

QByteArray textOf(const QString &eventId, const QByteArray &messageId)
{
    return "Message-ID: <" + messageId + ">\r\nDate: Wed, 02 Dec 2026 05:00:00 +0000\r\nX-Sendonce-Event: "
        + eventId.toUtf8() + "\r\nSubject: x\r\n\r\nbody\r\n";
}

QByteArray codes(const QByteArray &replies)
{
    QByteArrayList list;
    for (const QByteArray &line : replies.first(replies.lastIndexOf('\n') + 1).split('\n')) {
        if (line.size() > 3 && line[3] == ' ')
            list.append(line.first(3));
    }
    return list.join(' ');
}

/// What a server says to these bytes until the connection ends, and how that was: 0 after a FIN, else errno. Not by
/// QTcpSocket, to which a reset is an end like any other.
std::pair<QByteArray, int> talkedToTheEnd(quint16 port, const QByteArray &bytes)
{
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto closed = qScopeGuard([descriptor] { ::close(descriptor); });
    const timeval patience = {10, 0};
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in server = {};
    server.sin_family = AF_INET;
    server.sin_port = htons(port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(descriptor, reinterpret_cast<const sockaddr *>(&server), sizeof server) != 0)
        return {{}, errno};
    if (!bytes.isEmpty() && ::send(descriptor, bytes.constData(), size_t(bytes.size()), MSG_NOSIGNAL) != bytes.size())
        return {{}, errno};
    QByteArray replies;
    for (;;) {
        char piece[1024];
        const ssize_t got = ::recv(descriptor, piece, sizeof piece, 0);
        if (got <= 0)
            return {replies, got == 0 ? 0 : errno};
        replies.append(piece, got);
    }
}

MimeMessage mailTo(const QString &recipient, const QString &eventId = u"E1"_s)
{
    MimeMessage mail;
    mail.sender = u"no-reply@jobboard.example"_s;
    mail.recipient = recipient;
    mail.messageId = eventId + u"@example.org"_s;
    mail.bytes = textOf(eventId, mail.messageId.toUtf8());
    return mail;
}

/// The mailbox in a thread of its own, as LocalServices has it: the client blocks.
class Mailbox
{
public:
    Mailbox() : m_path(m_folder.filePath(u"mailbox"_s))
    {
        m_inThread = new QObject;
        m_inThread->moveToThread(&m_thread);
        QObject::connect(&m_thread, &QThread::finished, m_inThread, &QObject::deleteLater);
        m_thread.start();
        run([this] {
            m_board = std::make_unique<FaultBoard>();
            m_mailbox = std::make_unique<LocalMailbox>(m_path, m_board.get());
            if (const auto listening = m_mailbox->listen(0))
                port = listening.value();
        });
    }
    ~Mailbox()
    {
        run([this] {
            m_mailbox.reset();
            m_board.reset();
        });
        m_thread.quit();
        m_thread.wait();
    }
    void setIdleTimeout(std::chrono::milliseconds timeout)
    {
        run([&] { m_mailbox->setIdleTimeout(timeout); });
    }
    bool arm(const FaultRule &rule)
    {
        bool armed = false;
        run([&] { armed = m_board->arm(rule).ok(); });
        return armed;
    }
    FaultRules armed()
    {
        FaultRules rules;
        run([&] { rules = m_board->armed(); });
        return rules;
    }
    qsizetype mails() const { return QDir(m_path + u"/new"_s).entryList(QDir::Files).size(); }

    quint16 port = 0;

private:
    template <typename Act>
    void run(Act act)
    {
        QMetaObject::invokeMethod(m_inThread, act, Qt::BlockingQueuedConnection);
    }

    QTemporaryDir m_folder;
    QString m_path;
    QThread m_thread;
    QObject *m_inThread = nullptr;
    std::unique_ptr<FaultBoard> m_board;
    std::unique_ptr<LocalMailbox> m_mailbox;
};

FaultRule rule(FaultPoint where, Effect what, int code = 451)
{
    FaultRule rule;
    rule.where = where;
    rule.what = what;
    rule.code = code;
    return rule;
}

FaultRule slow(FaultPoint where, std::chrono::milliseconds delay)
{
    FaultRule slow = rule(where, Effect::Delay);
    slow.delay = delay;
    return slow;
}

} // namespace

class TestMailFaults : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }
    void init() { m_box = std::make_unique<Mailbox>(); }
    void cleanup() { m_box.reset(); }

    void whatTheSenderSees_data();
    void whatTheSenderSees();
    void aDelayLongerThanTheSendersPatience_data();
    void aDelayLongerThanTheSendersPatience();
    void aDelayIsNoIdleness();
    void aCloseIsNoReset_data();
    void aCloseIsNoReset();
    void aRefusedEhloMayBeHelo();
    void theNextTwoAlone();
    void aDelayHoldsWhatIsPipelinedInItsOrder();
    void halfAReplyIsItsFirstBytes();
    void garbageComesInPlaceOfTheAnswer();
    void aRefusedRecipientIsNone();
    void betweenTwoMailsTheConnectionIsMadeAnew_data();
    void betweenTwoMailsTheConnectionIsMadeAnew();
    void copiesAreSuppressedOthersAreNot();
    void aFullMailboxStoresNothing();
    void atMostSoManyInAWindow();
    void onlyForWhomItIsMeant_data();
    void onlyForWhomItIsMeant();

private:
    SmtpSettings settings(std::chrono::milliseconds patience = 20s) const
    {
        SmtpSettings settings;
        settings.host = u"127.0.0.1"_s;
        settings.port = m_box->port;
        settings.heloName = u"tst"_s;
        settings.timeout = patience;
        settings.finalTimeout = patience;
        return settings;
    }
    SendResult send(const MimeMessage &mail = mailTo(u"sam@example.com"_s)) const
    {
        return SmtpClient(settings()).send(mail, {}, m_stop);
    }
    /// The dot waits until the fault has struck: what is amid the text for the mailbox is so for the sender too.
    SendHooks onceStruck() const
    {
        SendHooks hooks;
        hooks.beforeDot = [this] { return QTest::qWaitFor([this] { return m_box->armed().isEmpty(); }); };
        return hooks;
    }
    /// All that a server says to these bytes, until it closes or has said as much as is waited for.
    QByteArray talk(const QByteArray &bytes, const QByteArray &until = {}) const
    {
        QTcpSocket socket;
        socket.connectToHost(u"127.0.0.1"_s, m_box->port);
        if (!socket.waitForConnected(5000))
            return "no connection";
        socket.write(bytes);
        QByteArray replies;
        while (socket.state() == QAbstractSocket::ConnectedState || socket.bytesAvailable() > 0) {
            if (!until.isEmpty() && replies.contains(until))
                break;
            if (socket.bytesAvailable() == 0 && !socket.waitForReadyRead(5000))
                break;
            replies += socket.readAll();
        }
        return replies;
    }

    std::unique_ptr<Mailbox> m_box;
    std::atomic_bool m_stop{false};
};

void TestMailFaults::whatTheSenderSees_data()
{
    QTest::addColumn<FaultRule>("fault");
    QTest::addColumn<int>("status");
    QTest::addColumn<int>("mails"); ///< kept, after this one send
    const auto row = [](const FaultRule &fault, Status status, int mails) {
        const QString code = fault.what == Effect::Reply ? u" "_s + QString::number(fault.code) : QString();
        QTest::newRow(qPrintable(faultPointName(fault.where) + u' ' + faultEffectName(fault.what) + code))
            << fault << int(status) << mails;
    };
    // From what may be armed, so that nothing is left out; RateLimit and Suppress let a first mail through.
    for (int i = 0; i <= int(FaultPoint::MailNext); ++i) {
        const auto point = FaultPoint(i);
        const bool isEnd = point == FaultPoint::MailEnd, isNext = point == FaultPoint::MailNext;
        for (const Effect effect : faultEffectsAt(point)) {
            switch (effect) {
            case Effect::Reply:
                for (const int code : isNext ? QList{421} : QList{421, 451, 550})
                    row(rule(point, effect, code), isNext ? Status::Sent : Status::NotSent, isNext ? 1 : 0);
                break;
            case Effect::Delay:
                row(slow(point, 50ms), Status::Sent, 1); // later than usual, but in time
                break;
            case Effect::Close:
            case Effect::Reset:
                row(rule(point, effect),
                    isNext      ? Status::Sent
                        : isEnd ? Status::InDoubt
                                : Status::NotSent,
                    isNext ? 1 : 0);
                break;
            case Effect::HalfReply:
            case Effect::Garbage:
                row(rule(point, effect), isEnd ? Status::InDoubt : Status::NotSent, isEnd ? 1 : 0);
                break;
            case Effect::StoreThenClose:
            case Effect::StoreThenReset:
                row(rule(point, effect), Status::InDoubt, 1);
                break;
            case Effect::RateLimit:
            case Effect::Suppress:
                break;
            default:
                QFAIL(qPrintable(u"no test for "_s + faultEffectName(effect)));
            }
        }
    }
}

void TestMailFaults::whatTheSenderSees()
{
    QFETCH(FaultRule, fault);
    QFETCH(int, status);
    QFETCH(int, mails);
    QVERIFY(m_box->arm(fault));
    QElapsedTimer timer;
    timer.start();
    const SendResult result = SmtpClient(settings())
                                  .send(mailTo(u"sam@example.com"_s),
                                        fault.where == FaultPoint::MailText ? onceStruck() : SendHooks(), m_stop);
    QVERIFY2(timer.elapsed() >= fault.delay.count(), qPrintable(QString::number(timer.elapsed())));
    QVERIFY2(int(result.status) == status, qPrintable(result.text + u" | "_s + result.reply));
    QCOMPARE(int(m_box->mails()), mails);
    if (fault.what == Effect::Reply && status == int(Status::NotSent)) {
        QVERIFY2(result.reply.startsWith(QString::number(fault.code))
                     || result.text.contains(QString::number(fault.code)),
                 qPrintable(result.text + u" | "_s + result.reply));
        QCOMPARE(result.permanent, fault.code >= 500);
    }
    QCOMPARE(m_box->armed(), FaultRules()); // used up
    QVERIFY(send().status == Status::Sent);
    QCOMPARE(int(m_box->mails()), mails + 1);
}

void TestMailFaults::aDelayLongerThanTheSendersPatience_data()
{
    QTest::addColumn<FaultPoint>("point");
    QTest::addColumn<int>("status");
    QTest::addColumn<int>("mails");
    for (int i = 0; i <= int(FaultPoint::MailNext); ++i) {
        const auto point = FaultPoint(i);
        if (faultEffectsAt(point).contains(Effect::Delay))
            QTest::newRow(qPrintable(faultPointName(point)))
                << point << int(point < FaultPoint::MailText ? Status::NotSent : Status::InDoubt)
                << (point == FaultPoint::MailEnd ? 1 : 0); // stored first: the answer alone is late
    }
}

void TestMailFaults::aDelayLongerThanTheSendersPatience()
{
    QFETCH(const FaultPoint, point);
    QFETCH(const int, status);
    QFETCH(const int, mails);
    QVERIFY(m_box->arm(slow(point, 1h)));
    const SendHooks hooks = point == FaultPoint::MailText ? onceStruck() : SendHooks();
    const SendResult result = SmtpClient(settings(1s)).send(mailTo(u"sam@example.com"_s), hooks, m_stop);
    QVERIFY2(int(result.status) == status, qPrintable(result.text));
    QTRY_COMPARE(m_box->armed(), FaultRules());
    QTRY_COMPARE(int(m_box->mails()), mails);
    QVERIFY(send().status == Status::Sent);
    QCOMPARE(int(m_box->mails()), mails + 1);
}

void TestMailFaults::aDelayIsNoIdleness()
{
    m_box->setIdleTimeout(500ms);
    QVERIFY(m_box->arm(slow(FaultPoint::MailRcpt, 1s)));
    const QByteArray replies = talk(Envelope + "DATA\r\nx\r\n.\r\n");
    QCOMPARE(codes(replies), QByteArray("220 250 250 250 354 250 421")); // after it, it is looked for again
    QVERIFY2(replies.endsWith("421 4.4.2 idle for too long\r\n"), replies.constData());
    QCOMPARE(m_box->mails(), 1);
}

void TestMailFaults::aCloseIsNoReset_data()
{
    QTest::addColumn<FaultRule>("fault");
    QTest::addColumn<QByteArray>("commands");
    QTest::addColumn<QByteArray>("answers");
    QTest::addColumn<int>("error");
    QTest::addColumn<int>("mails");
    // As far as the point, in one write: what nobody has read makes a reset of a close.
    const QList<std::pair<FaultPoint, std::pair<QByteArray, QByteArray>>> points = {
        {FaultPoint::MailConnect, {"", ""}},
        {FaultPoint::MailEhlo, {"EHLO me\r\n", "220"}},
        {FaultPoint::MailMail, {"EHLO me\r\nMAIL FROM:<a@example.org>\r\n", "220 250"}},
        {FaultPoint::MailRcpt, {Envelope, "220 250 250"}},
        {FaultPoint::MailData, {Envelope + "DATA\r\n", "220 250 250 250"}},
        {FaultPoint::MailText, {Envelope + "DATA\r\nx\r\n", "220 250 250 250 354"}},
        {FaultPoint::MailEnd, {Envelope + "DATA\r\nx\r\n.\r\n", "220 250 250 250 354"}},
        {FaultPoint::MailNext, {Envelope + "DATA\r\nx\r\n.\r\n", "220 250 250 250 354 250"}},
    };
    for (const auto &[point, dialogue] : points) {
        for (const Effect effect :
             {Effect::Close, Effect::Reset, Effect::StoreThenClose, Effect::StoreThenReset, Effect::HalfReply}) {
            if (!faultEffectsAt(point).contains(effect))
                continue;
            const bool isReset = effect == Effect::Reset || effect == Effect::StoreThenReset;
            const bool isStored = point == FaultPoint::MailNext
                || (point == FaultPoint::MailEnd && effect != Effect::Close && effect != Effect::Reset);
            QTest::newRow(qPrintable(faultPointName(point) + u' ' + faultEffectName(effect)))
                << rule(point, effect) << dialogue.first << dialogue.second << (isReset ? ECONNRESET : 0)
                << (isStored ? 1 : 0);
        }
    }
}

void TestMailFaults::aCloseIsNoReset()
{
    QFETCH(const FaultRule, fault);
    QFETCH(const QByteArray, commands);
    QFETCH(const QByteArray, answers);
    QFETCH(const int, error);
    QFETCH(const int, mails);
    QVERIFY(m_box->arm(fault));
    const auto [replies, ended] = talkedToTheEnd(m_box->port, commands);
    QCOMPARE(ended, error);
    QCOMPARE(codes(replies), answers); // and none to the last command
    QCOMPARE(replies.isEmpty() || replies.endsWith("\r\n"), fault.what != Effect::HalfReply);
    QCOMPARE(int(m_box->mails()), mails);
}

void TestMailFaults::aRefusedEhloMayBeHelo()
{
    FaultRule refused = rule(FaultPoint::MailEhlo, Effect::Reply, 502);
    QVERIFY(m_box->arm(refused));
    QVERIFY(send().status == Status::Sent);
    refused.times = 2; // HELO is refused as well
    QVERIFY(m_box->arm(refused));
    QVERIFY(send().status == Status::NotSent);
    QCOMPARE(m_box->armed(), FaultRules());
}

void TestMailFaults::theNextTwoAlone()
{
    FaultRule busy = rule(FaultPoint::MailMail, Effect::Reply);
    busy.times = 2;
    QVERIFY(m_box->arm(busy));
    SmtpClient sender(settings());
    for (const Status expected : {Status::NotSent, Status::NotSent, Status::Sent})
        QVERIFY(sender.send(mailTo(u"sam@example.com"_s), {}, m_stop).status == expected);
    QCOMPARE(m_box->mails(), 1);
}

void TestMailFaults::aDelayHoldsWhatIsPipelinedInItsOrder()
{
    QVERIFY(m_box->arm(slow(FaultPoint::MailMail, 150ms)));
    QElapsedTimer timer;
    timer.start();
    const QByteArray replies = talk(Envelope + "DATA\r\nx\r\n.\r\nQUIT\r\n");
    QVERIFY2(timer.elapsed() >= 150, qPrintable(QString::number(timer.elapsed())));
    const QByteArray order = replies.mid(replies.indexOf("ENHANCEDSTATUSCODES"));
    QVERIFY2(order.contains("\r\n250 2.1.0 Ok\r\n250 2.1.5 Ok\r\n354 ") && order.contains("\r\n221 "),
             replies.constData());
    QCOMPARE(m_box->mails(), 1);
}

void TestMailFaults::halfAReplyIsItsFirstBytes()
{
    QVERIFY(m_box->arm(rule(FaultPoint::MailRcpt, Effect::HalfReply)));
    const QByteArray replies = talk(Envelope + "DATA\r\nx\r\n.\r\n");
    QVERIFY2(replies.endsWith("\r\n250 2.1.0 Ok\r\n250 2."), replies.constData());
    QCOMPARE(m_box->mails(), 0);
}

void TestMailFaults::garbageComesInPlaceOfTheAnswer()
{
    QVERIFY(m_box->arm(rule(FaultPoint::MailRcpt, Effect::Garbage)));
    const QByteArray replies = talk(Envelope + "DATA\r\nx\r\n.\r\nQUIT\r\n");
    QVERIFY2(replies.contains("\r\n250 2.1.0 Ok\r\n\x16\x03\x01 this is no answer\r\n354 "), replies.constData());
    QCOMPARE(m_box->mails(), 1); // and then as always
}

void TestMailFaults::aRefusedRecipientIsNone()
{
    FaultRule refused = rule(FaultPoint::MailRcpt, Effect::Reply, 550);
    refused.text = u"5.1.1 no such user"_s;
    QVERIFY(m_box->arm(refused));
    const QByteArray replies = talk(Envelope + "DATA\r\nQUIT\r\n");
    QVERIFY2(replies.contains("\r\n550 5.1.1 no such user\r\n503 5.5.1 no recipient was accepted\r\n221 "),
             replies.constData());
}

void TestMailFaults::betweenTwoMailsTheConnectionIsMadeAnew_data()
{
    QTest::addColumn<FaultRules>("faults");
    QTest::addColumn<int>("connections"); ///< for three mails
    QTest::newRow("nothing") << FaultRules() << 1;
    QTest::newRow("421") << FaultRules{rule(FaultPoint::MailNext, Effect::Reply, 421)} << 3;
    QTest::newRow("close") << FaultRules{rule(FaultPoint::MailNext, Effect::Close)} << 3;
    QTest::newRow("reset") << FaultRules{rule(FaultPoint::MailNext, Effect::Reset)} << 3;
}

void TestMailFaults::betweenTwoMailsTheConnectionIsMadeAnew()
{
    QFETCH(const FaultRules, faults);
    QFETCH(const int, connections);
    FaultRule counter = slow(FaultPoint::MailConnect, 1ms);
    counter.times = 0;
    QVERIFY(m_box->arm(counter));
    for (FaultRule fault : faults) {
        fault.times = 0;
        QVERIFY(m_box->arm(fault));
    }
    SmtpClient sender(settings());
    for (int i = 1; i <= 3; ++i) {
        const SendResult result = sender.send(mailTo(u"sam@example.com"_s, u"E%1"_s.arg(i)), {}, m_stop);
        QVERIFY2(result.status == Status::Sent, qPrintable(result.text));
        QCOMPARE(m_box->mails(), i);
    }
    QCOMPARE(m_box->armed().first().struck, connections);
}

void TestMailFaults::copiesAreSuppressedOthersAreNot()
{
    FaultRule suppress = rule(FaultPoint::MailStore, Effect::Suppress);
    suppress.times = 0;
    QVERIFY(send().status == Status::Sent); // before: also what came earlier is known
    QVERIFY(m_box->arm(suppress));
    QVERIFY(send().status == Status::Sent);
    QCOMPARE(m_box->mails(), 1);
    QVERIFY(send(mailTo(u"sam@example.com"_s, u"E2"_s)).status == Status::Sent);
    QCOMPARE(m_box->mails(), 2);
    MimeMessage later = mailTo(u"sam@example.com"_s);
    later.bytes.replace("05:00:00", "05:00:01");
    QVERIFY(send(later).status == Status::Sent);
    QCOMPARE(m_box->mails(), 3); // another Date: no copy
    QCOMPARE(m_box->armed().first().struck, 1); // the copy alone

    // What such receivers are for: nobody answered, so it was sent again.
    QVERIFY(m_box->arm(rule(FaultPoint::MailEnd, Effect::StoreThenClose)));
    QVERIFY(send(mailTo(u"sam@example.com"_s, u"E3"_s)).status == Status::InDoubt);
    QCOMPARE(m_box->mails(), 4);
    QVERIFY(send(mailTo(u"sam@example.com"_s, u"E3"_s)).status == Status::Sent);
    QCOMPARE(m_box->mails(), 4);
}

void TestMailFaults::aFullMailboxStoresNothing()
{
    FaultRule full = rule(FaultPoint::MailStore, Effect::Reply, 452);
    full.text = u"4.2.2 mailbox full"_s;
    full.times = 0;
    QVERIFY(m_box->arm(full));
    const SendResult result = send();
    QVERIFY(result.status == Status::NotSent);
    QCOMPARE(result.reply, u"452 4.2.2 mailbox full"_s);
    QCOMPARE(m_box->mails(), 0);
}

void TestMailFaults::atMostSoManyInAWindow()
{
    FaultRule limit = rule(FaultPoint::MailMail, Effect::RateLimit);
    limit.count = 2;
    limit.window = 1h;
    limit.times = 0;
    QVERIFY(m_box->arm(limit));
    QVERIFY(send().status == Status::Sent);
    QVERIFY(send().status == Status::Sent);
    const SendResult third = send();
    QVERIFY(third.status == Status::NotSent);
    QVERIFY2(third.reply.startsWith(u"450 4.7.1 too many mails"_s), qPrintable(third.reply));
    QCOMPARE(m_box->mails(), 2);
}

void TestMailFaults::onlyForWhomItIsMeant_data()
{
    QTest::addColumn<FaultRule>("fault");
    QTest::addColumn<bool>("strikes");
    for (int i = 0; i <= int(FaultPoint::MailNext); ++i) {
        const auto point = FaultPoint(i);
        const FaultRule everyone = point == FaultPoint::MailText ? slow(point, 1ms)
            : point == FaultPoint::MailNext                      ? rule(point, Effect::Reply, 421)
                                                                 : rule(point, Effect::Reply);
        const auto row = [&](const char *name, QString FaultRule::*whom, const QString &glob, bool strikes) {
            FaultRule fault = everyone;
            fault.*whom = glob;
            QTest::newRow(qPrintable(faultPointName(point) + u' ' + QLatin1StringView(name))) << fault << strikes;
        };
        row("recipient", &FaultRule::recipient, u"s?m@*"_s, point >= FaultPoint::MailRcpt);
        row("other recipient", &FaultRule::recipient, u"ada@*"_s, false);
        row("event", &FaultRule::event, u"demo-?"_s, point >= FaultPoint::MailEnd);
        row("other event", &FaultRule::event, u"demo-??"_s, false);
        row("type", &FaultRule::type, u"*"_s, false); // a mail does not say it
    }
}

void TestMailFaults::onlyForWhomItIsMeant()
{
    QFETCH(const FaultRule, fault);
    QFETCH(const bool, strikes);
    QVERIFY(m_box->arm(fault));
    const SendResult result = send(mailTo(u"sam@example.com"_s, u"demo-1"_s));
    QCOMPARE(m_box->armed().isEmpty(), strikes);
    const bool isRefused = strikes && fault.where != FaultPoint::MailText && fault.where != FaultPoint::MailNext;
    QVERIFY2(result.status == (isRefused ? Status::NotSent : Status::Sent), qPrintable(result.text));
    QCOMPARE(m_box->mails(), isRefused ? 0 : 1);
}

QTEST_GUILESS_MAIN(TestMailFaults)
#include "tst_mailfaults.moc"
