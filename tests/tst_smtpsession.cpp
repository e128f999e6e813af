#include "worker/local/smtpsession.h"

#include <QTest>

#include <algorithm>
#include <optional>
#include <utility>

using namespace sendonce;
using namespace Qt::StringLiterals;

namespace {

/// A session with what it accepted.
struct Box
{
    explicit Box(const QByteArray &answer = "250 2.0.0 Ok: queued as 1", const SmtpSession::Ask &ask = {})
        : session(
            [this, answer](const ReceivedMail &mail) {
                mails.append(mail);
                return answer;
            },
            ask)
    { }

    /// Feeds it in pieces of `size` bytes; returns all replies.
    QByteArray feed(const QByteArray &bytes, qsizetype size = 1 << 30)
    {
        QByteArray replies;
        for (qsizetype i = 0; i < bytes.size(); i += size)
            replies += session.feed(QByteArrayView(bytes).sliced(i, std::min(size, bytes.size() - i)));
        return replies;
    }

    QList<ReceivedMail> mails;
    SmtpSession session;
};

QByteArray codes(const QByteArray &replies)
{
    QByteArrayList list;
    for (const QByteArray &line : replies.split('\n')) {
        if (line.size() > 3 && line[3] == ' ')
            list.append(line.first(3));
    }
    return list.join(' ');
}

const QByteArray Envelope = "EHLO me\r\nMAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.org>\r\n";

/// Strikes once.
struct Strike
{
    FaultPoint where;
    Fault fault;
};
using Strikes = QList<Strike>;

/// A whole session, fed in pieces of `size` bytes, as "220 250 wait 354 close": codes, "half" and "garbage" for what is
/// none, and what the socket is told to do.
QByteArray played(SmtpSession &session, const QByteArray &commands, qsizetype size)
{
    QByteArrayList story;
    const auto carryOut = [&](QByteArray replies) {
        for (;;) {
            QByteArrayList lines = replies.split('\n');
            const QByteArray unfinished = lines.takeLast();
            for (const QByteArray &line : lines) {
                const bool isReply = line.size() > 3 && line.first(3).toInt() > 0;
                if (!isReply || line[3] == ' ')
                    story.append(isReply ? line.first(3) : "garbage");
            }
            if (!unfinished.isEmpty())
                story.append("half");
            if (session.next() != SmtpSession::Next::Wait)
                return;
            story.append("wait");
            replies = session.resume();
        }
    };
    carryOut(session.begin());
    for (qsizetype i = 0; i < commands.size() && session.next() == SmtpSession::Next::Read; i += size)
        carryOut(session.feed(QByteArrayView(commands).sliced(i, std::min(size, commands.size() - i))));
    if (session.next() == SmtpSession::Next::Close)
        story.append("close");
    else if (session.next() == SmtpSession::Next::Reset)
        story.append("reset");
    return story.join(' ');
}

} // namespace

Q_DECLARE_METATYPE(Strikes)

class TestSmtpSession : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void takesAMail()
    {
        Box box;
        QCOMPARE(box.session.begin(), QByteArray("220 sendonce.local ESMTP Sendonce mailbox\r\n"));
        QCOMPARE(box.feed("EHLO me\r\n"),
                 QByteArray("250-sendonce.local\r\n250-SIZE 26214400\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n"
                            "250-PIPELINING\r\n250-AUTH PLAIN LOGIN\r\n250 ENHANCEDSTATUSCODES\r\n"));
        QCOMPARE(box.feed("MAIL FROM:<a@example.org> SIZE=100 BODY=8BITMIME\r\n"), QByteArray("250 2.1.0 Ok\r\n"));
        QCOMPARE(box.feed("RCPT TO:<b@example.org>\r\n"), QByteArray("250 2.1.5 Ok\r\n"));
        QCOMPARE(codes(box.feed("DATA\r\n")), QByteArray("354"));
        QCOMPARE(box.feed("Subject: x\r\n\r\n..dot\r\n.x\r\nend\r\n"), QByteArray());
        QCOMPARE(box.mails.size(), 0);
        QCOMPARE(box.feed(".\r\n"), QByteArray("250 2.0.0 Ok: queued as 1\r\n"));
        QCOMPARE(box.mails,
                 (QList<ReceivedMail>{{"a@example.org", {"b@example.org"}, "Subject: x\r\n\r\n.dot\r\nx\r\nend\r\n"}}));
        QCOMPARE(box.feed("QUIT\r\n").first(3), QByteArray("221"));
        QVERIFY(box.session.next() == SmtpSession::Next::Close);
        QCOMPARE(box.feed("NOOP\r\n"), QByteArray());
    }

    void answersInOrder_data()
    {
        QTest::addColumn<QByteArray>("commands");
        QTest::addColumn<QByteArray>("expected");
        const QByteArray ehlo = "EHLO me\r\n";
        const QByteArray from = "MAIL FROM:<a@example.org>\r\n";
        const QByteArray to = "RCPT TO:<b@example.org>\r\n";
        const auto row = [](const char *name, const QByteArray &commands, const QByteArray &expected) {
            QTest::newRow(name) << commands << expected;
        };
        row("two mails in one write",
            ehlo + from + to + "DATA\r\nx\r\n.\r\n" + from + to + "DATA\r\ny\r\n.\r\nQUIT\r\n",
            "250 250 250 354 250 250 250 354 250 221");
        row("an empty mail", Envelope + "DATA\r\n.\r\n", "250 250 250 354 250");
        row("HELO", "HELO me\r\n" + from + to + "DATA\r\n.\r\n", "250 250 250 354 250");
        row("lower case", "ehlo me\r\nmail from:<a@example.org>\r\nrcpt to:<b@example.org>\r\ndata\r\n.\r\nquit\r\n",
            "250 250 250 354 250 221");
        row("null sender", ehlo + "MAIL FROM:<>\r\n" + to, "250 250 250");
        row("postmaster", ehlo + from + "RCPT TO:<Postmaster>\r\n", "250 250 250");

        row("MAIL before EHLO", from, "503");
        row("RCPT before MAIL", ehlo + to, "250 503");
        row("DATA before MAIL", ehlo + "DATA\r\n", "250 503");
        row("DATA before RCPT", ehlo + from + "DATA\r\n", "250 250 503");
        row("MAIL twice", ehlo + from + from, "250 250 503");
        row("DATA after a refused RCPT", ehlo + from + "RCPT TO:<>\r\nDATA\r\nQUIT\r\n", "250 250 501 503 221");
        row("EHLO forgets the mail", ehlo + from + to + ehlo + "DATA\r\n", "250 250 250 250 503");
        row("RSET forgets the mail", ehlo + from + to + "RSET\r\nDATA\r\n" + from, "250 250 250 250 503 250");
        row("the end forgets the mail", Envelope + "DATA\r\n.\r\nDATA\r\n", "250 250 250 354 250 503");

        row("unknown", "XYZZY\r\n", "500");
        row("empty line", "\r\n", "500");
        row("no EHLO name", "EHLO\r\n", "501");
        row("DATA with an argument", Envelope + "DATA now\r\n", "250 250 250 501");
        row("NOOP", "NOOP\r\nNOOP x\r\n", "250 250");
        row("VRFY", "VRFY b@example.org\r\nVRFY\r\n", "252 501");
        row("not offered", "STARTTLS\r\nEXPN x\r\nHELP\r\n", "502 502 502");
        row("bare LF behind a command", "NOOP\nNOOP\r\n", "500 250");
        row("bare CR in a command", "NO\rOP\r\nNOOP\r\n", "500 250");
        row("NUL in a command", QByteArray("NO\0OP\r\nNOOP\r\n", 13), "500 250");

        row("space behind FROM:", ehlo + "MAIL FROM: <a@example.org>\r\n", "250 501");
        row("no brackets", ehlo + "MAIL FROM:a@example.org\r\n", "250 501");
        row("no @", ehlo + "MAIL FROM:<a>\r\n", "250 501");
        row("two addresses", ehlo + from + "RCPT TO:<b@example.org>,<c@example.org>\r\n", "250 250 501");
        row("route", ehlo + from + "RCPT TO:<@x.example:b@example.org>\r\n", "250 250 501");
        row("blank in the address", ehlo + from + "RCPT TO:<b c@example.org>\r\n", "250 250 501");
        row("quoted", ehlo + from + "RCPT TO:<\"b> c\"@example.org>\r\n", "250 250 250");
        row("quotes do not close", ehlo + from + "RCPT TO:<\"b\\\"@example.org>\r\n", "250 250 501");
        row("literal", ehlo + from + "RCPT TO:<b@[127.0.0.1]>\r\n", "250 250 250");
        row("local part of 64", ehlo + from + "RCPT TO:<" + QByteArray(64, 'b') + "@example.org>\r\n", "250 250 250");
        row("local part of 65", ehlo + from + "RCPT TO:<" + QByteArray(65, 'b') + "@example.org>\r\n", "250 250 501");
        row("path of 257", ehlo + from + "RCPT TO:<b@" + QByteArray(253, 'b') + ">\r\n", "250 250 501");
        row("non-ASCII without SMTPUTF8", ehlo + from + u"RCPT TO:<jürgen@example.org>\r\n"_s.toUtf8(), "250 250 553");
        row("non-ASCII with SMTPUTF8",
            ehlo + "MAIL FROM:<a@example.org> SMTPUTF8\r\n" + u"RCPT TO:<jürgen@exämple.org>\r\n"_s.toUtf8(),
            "250 250 250");
        row("non-ASCII sender with SMTPUTF8", ehlo + u"MAIL FROM:<ä@example.org> SMTPUTF8\r\n"_s.toUtf8(), "250 250");
        row("non-ASCII sender", ehlo + u"MAIL FROM:<ä@example.org>\r\n"_s.toUtf8(), "250 553");
        row("broken UTF-8", ehlo + "MAIL FROM:<\xff@example.org> SMTPUTF8\r\n", "250 501");
        row("U+2028", ehlo + u"MAIL FROM:<a\u2028b@example.org> SMTPUTF8\r\n"_s.toUtf8(), "250 501");
        row("U+0085", ehlo + u"MAIL FROM:<a\u0085b@example.org> SMTPUTF8\r\n"_s.toUtf8(), "250 501");

        row("SIZE that fits", ehlo + "MAIL FROM:<a@example.org> SIZE=26214400\r\n", "250 250");
        row("SIZE that does not", ehlo + "MAIL FROM:<a@example.org> SIZE=26214401\r\n", "250 552");
        row("SIZE is no number", ehlo + "MAIL FROM:<a@example.org> SIZE=x\r\n", "250 501");
        row("SIZE overflows", ehlo + "MAIL FROM:<a@example.org> SIZE=99999999999999999999\r\n", "250 501");
        row("BODY unknown", ehlo + "MAIL FROM:<a@example.org> BODY=BINARYMIME\r\n", "250 501");
        row("parameter twice", ehlo + "MAIL FROM:<a@example.org> SIZE=1 size=2\r\n", "250 501");
        row("parameter unknown", ehlo + "MAIL FROM:<a@example.org> RET=HDRS\r\n", "250 555");
        row("parameter after HELO", "HELO me\r\nMAIL FROM:<a@example.org> SIZE=1\r\n", "250 555");
        row("RCPT parameter", ehlo + from + "RCPT TO:<b@example.org> NOTIFY=NEVER\r\n", "250 250 555");

        row("AUTH PLAIN at once", ehlo + "AUTH PLAIN AHVzZXIAc2VjcmV0\r\n", "250 235");
        row("AUTH PLAIN asked", ehlo + "AUTH PLAIN\r\nAHVzZXIAc2VjcmV0\r\n", "250 334 235");
        row("AUTH LOGIN", ehlo + "AUTH LOGIN\r\ndXNlcg==\r\nc2VjcmV0\r\n", "250 334 334 235");
        row("AUTH LOGIN with the user", ehlo + "AUTH login dXNlcg==\r\nc2VjcmV0\r\n", "250 334 235");
        row("AUTH LOGIN with an empty user", ehlo + "AUTH LOGIN =\r\nc2VjcmV0\r\n", "250 334 235");
        row("AUTH cancelled", ehlo + "AUTH LOGIN\r\n*\r\nNOOP\r\n", "250 334 501 250");
        row("AUTH, no base64", ehlo + "AUTH PLAIN !\r\nNOOP\r\n", "250 501 250");
        row("AUTH PLAIN, no NULs", ehlo + "AUTH PLAIN dXNlcg==\r\n", "250 501");
        row("AUTH unknown", ehlo + "AUTH CRAM-MD5\r\n", "250 504");
        row("AUTH twice", ehlo + "AUTH PLAIN AHVzZXIAc2VjcmV0\r\nAUTH PLAIN AHVzZXIAc2VjcmV0\r\n", "250 235 503");
        row("AUTH in a mail", ehlo + from + "AUTH PLAIN AHVzZXIAc2VjcmV0\r\n", "250 250 503");
        row("AUTH before EHLO", "AUTH PLAIN AHVzZXIAc2VjcmV0\r\n", "503");
        row("AUTH, a command in place of an answer", ehlo + "AUTH PLAIN\r\nRSET\r\n" + from, "250 334 501 250");

        row("command line of 512", "NOOP " + QByteArray(505, 'x') + "\r\nNOOP\r\n", "250 250");
        row("command line of 513", "NOOP " + QByteArray(506, 'x') + "\r\nNOOP\r\n", "500 250");
        row("command line of 1 MiB", "NOOP " + QByteArray(1 << 20, 'x') + "\r\nNOOP\r\n", "500 250");
        row("AUTH line of 1024", ehlo + "AUTH LOGIN " + QByteArray(1008, 'x') + "   \r\n", "250 501");
        row("AUTH line of 1025", ehlo + "AUTH LOGIN " + QByteArray(1012, 'x') + "\r\nNOOP\r\n", "250 500 250");
        row("AUTH answer of 1024", ehlo + "AUTH LOGIN\r\n" + QByteArray(1020, 'x') + "==\r\n", "250 334 501");
        row("AUTH answer of 1025", ehlo + "AUTH LOGIN\r\n" + QByteArray(1023, 'x') + "\r\nNOOP\r\n", "250 334 500 250");

        row("a browser's POST", "POST / HTTP/1.1\r\nHost: 127.0.0.1:1025\r\n\r\n" + Envelope + "DATA\r\n.\r\n", "421");
    }

    void answersInOrder()
    {
        QFETCH(const QByteArray, commands);
        QFETCH(const QByteArray, expected);
        const qsizetype smallest = commands.size() > 10'000 ? 4096 : 1;
        for (const qsizetype size : {qsizetype(1 << 30), smallest, smallest * 2, smallest * 7, smallest * 69}) {
            Box box;
            QCOMPARE(codes(box.feed(commands, size)), expected);
        }
    }

    void onlyCrLfDotCrLfEndsTheData_data()
    {
        QTest::addColumn<QByteArray>("ending");
        // What servers have been found to take for the end (SMTP smuggling, 2023); here they are part of a refused
        // mail.
        QTest::newRow("LF . LF") << QByteArray("\n.\n");
        QTest::newRow("LF . CRLF") << QByteArray("\n.\r\n");
        QTest::newRow("CRLF . LF") << QByteArray("\r\n.\n");
        QTest::newRow("CR . CR") << QByteArray("\r.\r");
        QTest::newRow("CR . CRLF") << QByteArray("\r.\r\n");
        QTest::newRow("CRLF . CR") << QByteArray("\r\n.\r");
        QTest::newRow("LF . CR") << QByteArray("\n.\r");
        QTest::newRow("CR . LF") << QByteArray("\r.\n");
        QTest::newRow("CRLF . CR CRLF") << QByteArray("\r\n.\r\r\n");
        QTest::newRow("CR CRLF . CR CRLF") << QByteArray("\r\r\n.\r\r\n");
    }

    void onlyCrLfDotCrLfEndsTheData()
    {
        QFETCH(const QByteArray, ending);
        const QByteArray smuggled = "MAIL FROM:<evil@example.org>\r\n";
        for (const qsizetype size : {1, 2, 3, 5, 1000}) {
            Box box;
            box.feed(Envelope + "DATA\r\n");
            QCOMPARE(box.feed("text" + ending + smuggled, size), QByteArray());
            QCOMPARE(box.feed("\r\n.\r\n", size).first(3), QByteArray("550"));
            QCOMPARE(box.mails.size(), 0);
            // The session goes on as after any refusal.
            QCOMPARE(codes(box.feed("MAIL FROM:<a@example.org>\r\n")), QByteArray("250"));
        }
    }

    void aNulMayEndCrLfDotCrLfNot()
    {
        Box box;
        box.feed(Envelope + "DATA\r\n");
        QCOMPARE(box.feed(QByteArray("a\r\n.\0\r\nb\r\n.\r\n", 13)).first(3), QByteArray("250"));
        QCOMPARE(box.mails.first().bytes, QByteArray("a\r\n\0\r\nb\r\n", 9));
    }

    void theBytesAreKeptAsTheyCame_data()
    {
        QTest::addColumn<QByteArray>("wire");
        QTest::addColumn<QByteArray>("kept");
        QTest::newRow("empty") << QByteArray() << QByteArray();
        QTest::newRow("8 bit") << QByteArray("\xc3\xa4\xff\r\n") << QByteArray("\xc3\xa4\xff\r\n");
        QTest::newRow("dots") << QByteArray("..\r\n...\r\n.a\r\na.\r\n..a\r\n")
                              << QByteArray(".\r\n..\r\na\r\na.\r\n.a\r\n");
        QTest::newRow("blank lines") << QByteArray("\r\n\r\n\r\n") << QByteArray("\r\n\r\n\r\n");
        QTest::newRow("line of 1000") << QByteArray(998, 'x') + "\r\n" << QByteArray(998, 'x') + "\r\n";
        QTest::newRow("line of 1000 and its dot") << ".." + QByteArray(997, 'x') + "\r\n"
                                                  << "." + QByteArray(997, 'x') + "\r\n";
    }

    void theBytesAreKeptAsTheyCame()
    {
        QFETCH(const QByteArray, wire);
        QFETCH(const QByteArray, kept);
        for (const qsizetype size : {1, 2, 3, 7, 69, 100'000}) {
            Box box;
            QCOMPARE(codes(box.feed(Envelope + "DATA\r\n" + wire + ".\r\n", size)), QByteArray("250 250 250 354 250"));
            QCOMPARE(box.mails.first().bytes, kept);
        }
    }

    void aLineOf1001IsRefusedAtTheEnd()
    {
        Box box;
        box.feed(Envelope + "DATA\r\n");
        QCOMPARE(box.feed("a\r\n" + QByteArray(999, 'x') + "\r\nb\r\n"), QByteArray());
        QCOMPARE(box.feed(".\r\n").first(3), QByteArray("500"));
        QCOMPARE(box.mails.size(), 0);
    }

    void aMailOf25MiBIsTakenOneByteMoreIsNot()
    {
        const QByteArray line = QByteArray(998, 'x') + "\r\n";
        const qsizetype lines = SmtpData::MaxBytes / line.size();
        const qsizetype rest = SmtpData::MaxBytes - lines * line.size() - 2;
        for (const int more : {0, 1}) {
            Box box;
            box.feed(Envelope + "DATA\r\n");
            for (qsizetype i = 0; i < lines; ++i)
                QCOMPARE(box.session.feed(line), QByteArray());
            const QByteArray reply = box.feed(QByteArray(rest + more, 'y') + "\r\n.\r\n");
            QCOMPARE(reply.first(3), QByteArray(more ? "552" : "250"));
            QCOMPARE(box.mails.size(), more ? 0 : 1);
            if (!more)
                QCOMPARE(box.mails.first().bytes.size(), SmtpData::MaxBytes);
            QCOMPARE(codes(box.feed("NOOP\r\n")), QByteArray("250"));
        }
    }

    void aHundredRecipientsAreTaken()
    {
        Box box;
        box.feed("EHLO me\r\nMAIL FROM:<a@example.org>\r\n");
        for (int i = 0; i < 100; ++i)
            QCOMPARE(box.feed("RCPT TO:<b" + QByteArray::number(i) + "@example.org>\r\n").first(3), QByteArray("250"));
        QCOMPARE(box.feed("RCPT TO:<c@example.org>\r\n").first(3), QByteArray("452"));
        QCOMPARE(codes(box.feed("DATA\r\nx\r\n.\r\n")), QByteArray("354 250"));
        QCOMPARE(box.mails.first().recipients.size(), 100);
    }

    void whoTakesTheMailWritesTheReply()
    {
        Box box("451 4.3.0 mail server down (armed fault)");
        const QByteArray replies = box.feed(Envelope + "DATA\r\nx\r\n.\r\nNOOP\r\n");
        QVERIFY(replies.endsWith("\r\n451 4.3.0 mail server down (armed fault)\r\n250 2.0.0 Ok\r\n"));
        QVERIFY(box.session.next() == SmtpSession::Next::Read);
        Box closing("421 4.3.2 closing");
        closing.feed(Envelope + "DATA\r\nx\r\n.\r\nNOOP\r\n");
        QVERIFY(closing.session.next() == SmtpSession::Next::Close);
    }

    void faultsStrikeWhereTheyAreTo_data()
    {
        QTest::addColumn<Strikes>("strikes");
        QTest::addColumn<QByteArray>("expected");
        QTest::addColumn<int>("mails");
        using enum FaultPoint;
        using enum FaultEffect;
        const auto row = [](const QByteArray &name, const Strikes &strikes, const QByteArray &expected, int mails) {
            QTest::newRow(name.constData()) << strikes << expected << mails;
        };
        const auto reply = [](FaultPoint where, int code) { return Strike{where, {Reply, code, u"4.0.0 no"_s, {}}}; };
        const auto does = [](FaultPoint where, FaultEffect what) {
            return Strike{where, {what, 0, {}, std::chrono::milliseconds(5)}};
        };
        row("none", {}, "220 250 250 250 354 250 250 221 close", 1);

        // What does not get its answer is not done: the text is then read as commands.
        row("connect reply", {reply(MailConnect, 554)}, "554 close", 0);
        row("EHLO reply", {reply(MailEhlo, 502)}, "220 502 503 503 503 500 500 250 221 close", 0);
        row("MAIL reply", {reply(MailMail, 451)}, "220 250 451 503 503 500 500 250 221 close", 0);
        row("RCPT reply", {reply(MailRcpt, 550)}, "220 250 250 550 503 500 500 250 221 close", 0);
        row("DATA reply", {reply(MailData, 451)}, "220 250 250 250 451 500 500 250 221 close", 0);
        row("end reply", {reply(MailEnd, 451)}, "220 250 250 250 354 451 250 221 close", 0);

        row("connect 421", {reply(MailConnect, 421)}, "421 close", 0);
        row("EHLO 421", {reply(MailEhlo, 421)}, "220 421 close", 0);
        row("MAIL 421", {reply(MailMail, 421)}, "220 250 421 close", 0);
        row("RCPT 421", {reply(MailRcpt, 421)}, "220 250 250 421 close", 0);
        row("DATA 421", {reply(MailData, 421)}, "220 250 250 250 421 close", 0);
        row("end 421", {reply(MailEnd, 421)}, "220 250 250 250 354 421 close", 0);

        row("connect delay", {does(MailConnect, Delay)}, "wait 220 250 250 250 354 250 250 221 close", 1);
        row("EHLO delay", {does(MailEhlo, Delay)}, "220 wait 250 250 250 354 250 250 221 close", 1);
        row("MAIL delay", {does(MailMail, Delay)}, "220 250 wait 250 250 354 250 250 221 close", 1);
        row("RCPT delay", {does(MailRcpt, Delay)}, "220 250 250 wait 250 354 250 250 221 close", 1);
        row("DATA delay", {does(MailData, Delay)}, "220 250 250 250 wait 354 250 250 221 close", 1);
        row("text delay", {does(MailText, Delay)}, "220 250 250 250 354 wait 250 250 221 close", 1);
        row("end delay", {does(MailEnd, Delay)}, "220 250 250 250 354 wait 250 250 221 close", 1);

        row("connect half-reply", {does(MailConnect, HalfReply)}, "half close", 0);
        row("EHLO half-reply", {does(MailEhlo, HalfReply)}, "220 half close", 0);
        row("MAIL half-reply", {does(MailMail, HalfReply)}, "220 250 half close", 0);
        row("RCPT half-reply", {does(MailRcpt, HalfReply)}, "220 250 250 half close", 0);
        row("DATA half-reply", {does(MailData, HalfReply)}, "220 250 250 250 half close", 0);
        row("end half-reply", {does(MailEnd, HalfReply)}, "220 250 250 250 354 half close", 1);

        row("connect garbage", {does(MailConnect, Garbage)}, "garbage 250 250 250 354 250 250 221 close", 1);
        row("EHLO garbage", {does(MailEhlo, Garbage)}, "220 garbage 250 250 354 250 250 221 close", 1);
        row("MAIL garbage", {does(MailMail, Garbage)}, "220 250 garbage 250 354 250 250 221 close", 1);
        row("RCPT garbage", {does(MailRcpt, Garbage)}, "220 250 250 garbage 354 250 250 221 close", 1);
        row("DATA garbage", {does(MailData, Garbage)}, "220 250 250 250 garbage 250 250 221 close", 1);
        row("end garbage", {does(MailEnd, Garbage)}, "220 250 250 250 354 garbage 250 221 close", 1);

        for (const auto &[what, how] : {std::pair(Close, QByteArray("close")), std::pair(Reset, QByteArray("reset"))}) {
            row("connect " + how, {does(MailConnect, what)}, how, 0);
            row("EHLO " + how, {does(MailEhlo, what)}, "220 " + how, 0);
            row("MAIL " + how, {does(MailMail, what)}, "220 250 " + how, 0);
            row("RCPT " + how, {does(MailRcpt, what)}, "220 250 250 " + how, 0);
            row("DATA " + how, {does(MailData, what)}, "220 250 250 250 " + how, 0);
            row("text " + how, {does(MailText, what)}, "220 250 250 250 354 " + how, 0);
            row("end " + how, {does(MailEnd, what)}, "220 250 250 250 354 " + how, 0);
            row("next " + how, {does(MailNext, what)}, "220 250 250 250 354 250 wait " + how, 1);
        }
        row("store-then-close", {does(MailEnd, StoreThenClose)}, "220 250 250 250 354 close", 1);
        row("store-then-reset", {does(MailEnd, StoreThenReset)}, "220 250 250 250 354 reset", 1);
        row("next 421", {reply(MailNext, 421)}, "220 250 250 250 354 250 wait 421 close", 1);

        row("one after the other", {does(MailMail, Delay), does(MailRcpt, Delay), does(MailData, Delay)},
            "220 250 wait 250 wait 250 wait 354 250 250 221 close", 1);
        row("a late answer, then 421", {does(MailEnd, Delay), reply(MailNext, 421)},
            "220 250 250 250 354 wait 250 wait 421 close", 1);
        row("a refused mail, then 421", {reply(MailEnd, 451), reply(MailNext, 421)},
            "220 250 250 250 354 451 wait 421 close", 0);
    }

    void faultsStrikeWhereTheyAreTo()
    {
        QFETCH(const Strikes, strikes);
        QFETCH(const QByteArray, expected);
        QFETCH(const int, mails);
        for (const qsizetype size : {1 << 30, 1, 2, 7, 69}) {
            Strikes left = strikes;
            Box box("250 2.0.0 Ok", [&left](FaultPoint point, const SmtpSession::Subject &) -> std::optional<Fault> {
                if (left.isEmpty() || left.first().where != point)
                    return std::nullopt;
                return left.takeFirst().fault;
            });
            QCOMPARE(played(box.session, Envelope + "DATA\r\nx\r\n.\r\nNOOP\r\nQUIT\r\n", size), expected);
            QCOMPARE(box.mails.size(), mails);
            QVERIFY(left.isEmpty());
        }
    }

    void whomAFaultWouldStrikeIsKnownMoreAndMore()
    {
        QList<std::pair<QString, FaultSubject>> asked;
        Box box("250 2.0.0 Ok", [&asked](FaultPoint point, const SmtpSession::Subject &subject) {
            asked.append({faultPointName(point), subject()});
            return std::optional<Fault>();
        });
        const QByteArray mail = "MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.org>\r\nRCPT TO:<c@example.org>\r\n"
                                "RCPT TO: d\r\nDATA\r\nX-Sendonce-Event: evt-1\r\nMessage-ID: <1@x>\r\nDate: now\r\n"
                                "\r\nX-Sendonce-Event: text\r\n.\r\n";
        const QString b = u"b@example.org"_s;
        const QString c = u"c@example.org"_s;
        const FaultSubject known = {u"evt-1"_s, b, {}, u"<1@x> now"_s};
        const QList<std::pair<QString, FaultSubject>> ofOneMail = {
            {u"mail.mail"_s, {}},   {u"mail.rcpt"_s, {{}, b, {}, b}}, {u"mail.rcpt"_s, {{}, c, {}, c}},
            {u"mail.rcpt"_s, {}},   {u"mail.data"_s, {{}, b, {}, b}}, {u"mail.text"_s, {{}, b, {}, b}},
            {u"mail.end"_s, known}, {u"mail.next"_s, known},
        };
        box.session.begin();
        box.feed("EHLO me\r\n" + mail + mail);
        QCOMPARE(asked,
                 (QList<std::pair<QString, FaultSubject>>{{u"mail.connect"_s, {}}, {u"mail.ehlo"_s, {}}} + ofOneMail
                  + ofOneMail));
    }

    void noReplyRepeatsWhatTheClientSaid()
    {
        Box box;
        const QByteArray replies =
            box.feed("EHLO canary\r\nAUTH PLAIN AGNhbmFyeQBjYW5hcnk=\r\nMAIL FROM:<canary@>\r\n"
                     "canary canary\r\nMAIL FROM:<a@example.org> CANARY=canary\r\nVRFY canary\r\n");
        QVERIFY2(!replies.toLower().contains("canary"), replies.constData());
    }
};

QTEST_GUILESS_MAIN(TestSmtpSession)
#include "tst_smtpsession.moc"
