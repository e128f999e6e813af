#include "worker/mail/smtpconversation.h"

#include <QTest>

using namespace sendonce;
using namespace Qt::StringLiterals;
using Kind = SmtpConversation::Step::Kind;
using Status = SendResult::Status;

namespace {

MimeMessage mail()
{
    return {u"a@jobboard.example"_s, u"b@example.org"_s, u"id"_s, "Subject: x\r\n\r\nbody\r\n", false};
}

SmtpReply reply(int code, const QString &text = u"text"_s)
{
    return {code, {text}};
}

/// A conversation that got as far as `replies` bring it, with the extensions given.
SmtpConversation::Step bring(SmtpConversation *conversation, const QList<int> &replies,
                             const QStringList &extensions = {})
{
    SmtpConversation::Step step = conversation->begin(mail());
    for (qsizetype i = 0; i < replies.size(); ++i)
        step = conversation->reply(i == 1 ? SmtpReply{replies[i], QStringList{u"host"_s} + extensions}
                                          : reply(replies[i]));
    return step;
}

} // namespace

class TestSmtpConversation : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void saysOneCommandAfterTheOther()
    {
        SmtpConversation conversation(u"me.example"_s);
        QCOMPARE(conversation.begin(mail()).bytes, QByteArray());
        QCOMPARE(conversation.reply(reply(220)).bytes, QByteArray("EHLO me.example\r\n"));
        QCOMPARE(conversation.reply(reply(250)).bytes, QByteArray("MAIL FROM:<a@jobboard.example>\r\n"));
        QCOMPARE(conversation.reply(reply(250)).bytes, QByteArray("RCPT TO:<b@example.org>\r\n"));
        QCOMPARE(conversation.reply(reply(251)).bytes, QByteArray("DATA\r\n"));
        QCOMPARE(conversation.reply(reply(354)).kind, Kind::Body);
        QVERIFY(!conversation.handedOver());
        QCOMPARE(conversation.handOver().bytes, QByteArray(".\r\n"));
        QVERIFY(conversation.handedOver());
        QCOMPARE(conversation.reply(reply(250, u"queued"_s)).kind, Kind::Done);
        QCOMPARE(conversation.outcome().status, Status::Sent);
        QCOMPARE(conversation.outcome().reply, u"250 queued"_s);
        QVERIFY(conversation.isUsable());
    }

    void aGroupOfCommandsWherePipeliningIsOffered()
    {
        SmtpConversation conversation(u"me.example"_s);
        const auto step = bring(&conversation, {220, 250}, {u"SIZE 1000"_s, u"pipelining"_s});
        QCOMPARE(step.bytes,
                 QByteArray("MAIL FROM:<a@jobboard.example> SIZE=20\r\nRCPT TO:<b@example.org>\r\nDATA\r\n"));
        QCOMPARE(conversation.reply(reply(250)).bytes, QByteArray());
        QCOMPARE(conversation.reply(reply(250)).bytes, QByteArray());
        QCOMPARE(conversation.reply(reply(354)).kind, Kind::Body);
    }

    void aNullSenderIsWrittenAsSuch()
    {
        SmtpConversation conversation(u"me.example"_s);
        MimeMessage message = mail();
        message.sender.clear();
        conversation.begin(message);
        conversation.reply(reply(220));
        QCOMPARE(conversation.reply(reply(250)).bytes, QByteArray("MAIL FROM:<>\r\n"));
    }

    /// Section 2's table, as far as a loss goes: what it means depends only on whether the end was handed over.
    void aLossMeansWhatWasHandedOver_data()
    {
        QTest::addColumn<QList<int>>("replies");
        QTest::addColumn<bool>("handOver");
        QTest::addColumn<Status>("status");
        QTest::newRow("greeting") << QList<int>{} << false << Status::NotSent;
        QTest::newRow("EHLO") << QList<int>{220} << false << Status::NotSent;
        QTest::newRow("MAIL") << QList<int>{220, 250} << false << Status::NotSent;
        QTest::newRow("RCPT") << QList<int>{220, 250, 250} << false << Status::NotSent;
        QTest::newRow("DATA") << QList<int>{220, 250, 250, 250} << false << Status::NotSent;
        QTest::newRow("body") << QList<int>{220, 250, 250, 250, 354} << false << Status::NotSent;
        QTest::newRow("end") << QList<int>{220, 250, 250, 250, 354} << true << Status::InDoubt;
    }

    void aLossMeansWhatWasHandedOver()
    {
        QFETCH(const QList<int>, replies);
        QFETCH(const bool, handOver);
        QFETCH(const Status, status);
        for (const bool givenUp : {false, true}) {
            SmtpConversation conversation(u"me.example"_s);
            bring(&conversation, replies);
            if (handOver)
                conversation.handOver();
            const auto step = givenUp ? conversation.giveUp(u"no answer in time"_s) : conversation.lost(u"closed"_s);
            QCOMPARE(step.kind, Kind::Done);
            QCOMPARE(conversation.outcome().status, status);
            QCOMPARE(conversation.outcome().reply, QString());
            QVERIFY(conversation.outcome().text.contains(givenUp ? u"no answer in time"_s : u"closed"_s));
            QVERIFY(!conversation.isUsable());
        }
    }

    void theFirstDigitOfTheFinalReplyDecides()
    {
        for (int code = 200; code < 600; ++code) {
            SmtpConversation conversation(u"me.example"_s);
            bring(&conversation, {220, 250, 250, 250, 354});
            conversation.handOver();
            conversation.reply(reply(code));
            const Status expected = code < 300 ? Status::Sent : code < 400 ? Status::InDoubt : Status::NotSent;
            QCOMPARE(conversation.outcome().status, expected);
            QCOMPARE(conversation.outcome().permanent, code >= 500);
            QCOMPARE(conversation.isUsable(), code != 421 && code / 100 != 3);
        }
    }

    void noReplyBefore354IsEverASuccess()
    {
        for (int stage = 0; stage < 5; ++stage) {
            for (const bool pipelining : {false, true}) {
                for (int code = 200; code < 600; ++code) {
                    SmtpConversation conversation(u"me.example"_s);
                    const QStringList extensions = pipelining ? QStringList{u"PIPELINING"_s} : QStringList();
                    bring(&conversation, QList<int>{220, 250, 250, 250}.first(stage == 4 ? 4 : stage), extensions);
                    auto step = conversation.reply(reply(code));
                    for (int more = 0; step.kind == Kind::Read && step.bytes.isEmpty() && more < 3; ++more)
                        step = conversation.reply(reply(503));
                    if (step.kind == Kind::Done)
                        QCOMPARE(conversation.outcome().status, Status::NotSent);
                    else
                        QVERIFY(code < 400 || (stage == 1 && (code == 500 || code == 502 || code == 504)));
                    if (step.kind == Kind::Body)
                        QVERIFY(stage == 4 && code == 354);
                }
            }
        }
    }

    void aReplyWhileTheBodyIsWrittenEndsTheMail()
    {
        for (const int code : {250, 354, 421, 451, 552}) {
            SmtpConversation conversation(u"me.example"_s);
            bring(&conversation, {220, 250, 250, 250, 354});
            QCOMPARE(conversation.reply(reply(code)).kind, Kind::Done);
            QCOMPARE(conversation.outcome().status, Status::NotSent);
            QVERIFY(!conversation.isUsable());
        }
    }

    void theFirstRefusalOfAGroupIsTheReason()
    {
        SmtpConversation conversation(u"me.example"_s);
        bring(&conversation, {220, 250, 552, 503}, {u"PIPELINING"_s});
        conversation.reply(reply(503));
        QCOMPARE(conversation.outcome().reply, u"552 text"_s);
        QVERIFY(conversation.isUsable());
        QCOMPARE(conversation.begin(mail()).bytes, QByteArray("RSET\r\n"));
    }

    void a421EndsTheConnection()
    {
        for (int stage = 0; stage < 5; ++stage) {
            SmtpConversation conversation(u"me.example"_s);
            bring(&conversation, QList<int>{220, 250, 250, 250}.first(stage));
            QCOMPARE(conversation.reply(reply(421)).kind, Kind::Done);
            QCOMPARE(conversation.outcome().status, Status::NotSent);
            QVERIFY(!conversation.outcome().permanent);
            QVERIFY(!conversation.isUsable());
            if (stage == 3)
                break;
        }
    }

    void onlyAKeptConnectionIsOpenedAnew()
    {
        SmtpConversation fresh(u"me.example"_s);
        bring(&fresh, {220, 250});
        QCOMPARE(fresh.lost(u"closed"_s).kind, Kind::Done);

        const auto kept = [](SmtpConversation *conversation) {
            bring(conversation, {220, 250, 250, 250, 354});
            conversation->handOver();
            conversation->reply(reply(250));
            conversation->begin(mail());
        };
        SmtpConversation lost(u"me.example"_s);
        kept(&lost);
        QCOMPARE(lost.lost(u"closed"_s).kind, Kind::Reopen);
        SmtpConversation closing(u"me.example"_s);
        kept(&closing);
        QCOMPARE(closing.reply(reply(421)).kind, Kind::Reopen);
        SmtpConversation slow(u"me.example"_s);
        kept(&slow);
        QCOMPARE(slow.giveUp(u"no answer in time"_s).kind, Kind::Done);
        SmtpConversation answered(u"me.example"_s);
        kept(&answered);
        answered.reply(reply(250));
        QCOMPARE(answered.lost(u"closed"_s).kind, Kind::Done);
        QCOMPARE(answered.outcome().status, Status::NotSent);
    }

    void stopIsKnownAsSuch()
    {
        SmtpConversation conversation(u"me.example"_s);
        bring(&conversation, {220, 250, 250, 250, 354});
        conversation.giveUp(u"told to stop"_s, true);
        QVERIFY(conversation.outcome().aborted);
        QCOMPARE(conversation.outcome().status, Status::NotSent);
    }

    void eightBitTextNeeds8BitMime()
    {
        MimeMessage message = mail();
        message.bytes = u"Subject: ä\r\n\r\n"_s.toUtf8();
        SmtpConversation without(u"me.example"_s);
        without.begin(message);
        without.reply(reply(220));
        QCOMPARE(without.reply(reply(250)).kind, Kind::Done);
        QCOMPARE(without.outcome().status, Status::NotSent);
        QVERIFY(without.isUsable());

        SmtpConversation with(u"me.example"_s);
        with.begin(message);
        with.reply(reply(220));
        QCOMPARE(with.reply({250, {u"host"_s, u"8BITMIME"_s}}).bytes,
                 QByteArray("MAIL FROM:<a@jobboard.example> BODY=8BITMIME\r\n"));
    }

    void dotsAreStuffed_data()
    {
        QTest::addColumn<QByteArray>("message");
        QTest::addColumn<QByteArray>("stuffed");
        QTest::newRow("none") << QByteArray("a\r\nb.\r\n") << QByteArray("a\r\nb.\r\n");
        QTest::newRow("first line") << QByteArray(".a\r\n") << QByteArray("..a\r\n");
        QTest::newRow("a dot alone") << QByteArray("a\r\n.\r\nb\r\n") << QByteArray("a\r\n..\r\nb\r\n");
        QTest::newRow("dots in a row") << QByteArray("a\r\n.\r\n.\r\n..\r\n") << QByteArray("a\r\n..\r\n..\r\n...\r\n");
        QTest::newRow("no line end") << QByteArray("a\r\n.") << QByteArray("a\r\n..\r\n");
    }

    void dotsAreStuffed()
    {
        QFETCH(const QByteArray, message);
        QFETCH(const QByteArray, stuffed);
        QCOMPARE(SmtpConversation::dotStuffed(message), stuffed);
    }
};

QTEST_GUILESS_MAIN(TestSmtpConversation)
#include "tst_smtpconversation.moc"
