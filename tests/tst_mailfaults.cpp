#include "worker/local/faultboard.h"
#include "worker/local/localmailbox.h"
#include "worker/mail/mimemessage.h"
#include "worker/mail/smtpclient.h"

#include <QDir>
#include <QElapsedTimer>
#include <QTcpSocket>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <memory>

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
    void aDelayHoldsWhatIsPipelinedInItsOrder();
    void halfAReplyIsItsFirstBytes();
    void garbageComesInPlaceOfTheAnswer();
    void aRefusedRecipientIsNone();
    void betweenTwoMailsTheConnectionIsMadeAnew_data();
    void betweenTwoMailsTheConnectionIsMadeAnew();
    void copiesAreSuppressedOthersAreNot();
    void aFullMailboxStoresNothing();
    void atMostSoManyInAWindow();
    void onlyForThatRecipientOrEvent();

private:
    SmtpClient client() const
    {
        SmtpSettings settings;
        settings.host = u"127.0.0.1"_s;
        settings.port = m_box->port;
        settings.heloName = u"tst"_s;
        settings.timeout = 1s;
        settings.finalTimeout = 300ms;
        return SmtpClient(settings);
    }
    SendResult send(const MimeMessage &mail = mailTo(u"sam@example.com"_s)) const
    {
        SmtpClient sender = client();
        return sender.send(mail, {}, m_stop);
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
    MimeMessage mail = mailTo(u"sam@example.com"_s);
    if (fault.where == FaultPoint::MailText) // a short one is with the kernel, dot and all, before it is read
        mail.bytes += QByteArray(70, 'x').append("\r\n").repeated(200'000);
    const SendResult result = send(mail);
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

    QVERIFY(m_box->arm(slow(FaultPoint::MailEnd, 1h))); // stored first: the answer alone is late
    QVERIFY(send().status == Status::InDoubt);
    QCOMPARE(m_box->mails(), 2);
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
    QTest::addColumn<FaultRule>("fault");
    QTest::newRow("421") << rule(FaultPoint::MailNext, Effect::Reply, 421);
    QTest::newRow("close") << rule(FaultPoint::MailNext, Effect::Close);
    QTest::newRow("reset") << rule(FaultPoint::MailNext, Effect::Reset);
}

void TestMailFaults::betweenTwoMailsTheConnectionIsMadeAnew()
{
    QFETCH(FaultRule, fault);
    fault.times = 0;
    QVERIFY(m_box->arm(fault));
    SmtpClient sender = client();
    for (int i = 1; i <= 3; ++i) {
        const SendResult result = sender.send(mailTo(u"sam@example.com"_s, u"E%1"_s.arg(i)), {}, m_stop);
        QVERIFY2(result.status == Status::Sent, qPrintable(result.text));
        QCOMPARE(m_box->mails(), i);
    }
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
    QCOMPARE(m_box->armed().first().struck, 1); // the copy alone
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

void TestMailFaults::onlyForThatRecipientOrEvent()
{
    FaultRule forSam = rule(FaultPoint::MailRcpt, Effect::Reply, 550);
    forSam.recipient = u"sam@*"_s;
    forSam.times = 0;
    FaultRule forEvent = rule(FaultPoint::MailEnd, Effect::Reply, 451);
    forEvent.event = u"demo-?"_s;
    forEvent.times = 0;
    FaultRule tooEarly = rule(FaultPoint::MailMail, Effect::Reply, 451); // the event is not known there yet
    tooEarly.event = u"*"_s;
    for (const FaultRule &each : {forSam, forEvent, tooEarly})
        QVERIFY(m_box->arm(each));
    QVERIFY(send(mailTo(u"sam@example.com"_s)).status == Status::NotSent);
    QVERIFY(send(mailTo(u"ada@example.com"_s, u"demo-1"_s)).status == Status::NotSent);
    QVERIFY(send(mailTo(u"ada@example.com"_s, u"demo-22"_s)).status == Status::Sent);
    QCOMPARE(m_box->mails(), 1);
}

QTEST_GUILESS_MAIN(TestMailFaults)
#include "tst_mailfaults.moc"
