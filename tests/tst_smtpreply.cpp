#include "worker/mail/smtpreply.h"

#include <QTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

namespace {

/// Every reply in `bytes`, fed in pieces of `size`; the last entry is code 0 when it ended as no SMTP.
QList<SmtpReply> replies(const QByteArray &bytes, qsizetype size)
{
    QList<SmtpReply> list;
    SmtpReplyParser parser;
    for (qsizetype i = 0; i < bytes.size(); i += size) {
        parser.feed(QByteArrayView(bytes).sliced(i, std::min(size, bytes.size() - i)));
        while (const auto reply = parser.next()) {
            if (!reply->ok()) {
                list.append(SmtpReply());
                return list;
            }
            list.append(reply->value());
        }
    }
    return list;
}

} // namespace

class TestSmtpReply : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void repliesThatAskForPatience_data()
    {
        QTest::addColumn<QString>("reply");
        QTest::addColumn<bool>("patience");
        QTest::newRow("421") << u"421 4.7.0 Try again later, closing connection."_s << true;
        QTest::newRow("421 alone") << u"421"_s << true;
        QTest::newRow("SES") << u"454 Throttling failure: Maximum sending rate exceeded."_s << true;
        QTest::newRow("policy") << u"451 4.7.652 The mail server has exceeded the maximum number of connections"_s
                                << true;
        QTest::newRow("too much for one mailbox") << u"450 4.2.1 is receiving mail too quickly"_s << true;
        QTest::newRow("system not accepting") << u"452 4.3.2 later"_s << true;
        QTest::newRow("greylisting without a class") << u"450 greylisted"_s << false;
        QTest::newRow("mailbox full") << u"452 4.2.2 mailbox full"_s << false;
        QTest::newRow("another class") << u"450 4.2.10 something"_s << false;
        QTest::newRow("permanent") << u"550 5.7.1 denied"_s << false;
        QTest::newRow("the code in the text") << u"450 code 421"_s << false;
        QTest::newRow("none") << QString() << false;
    }
    void repliesThatAskForPatience()
    {
        QFETCH(const QString, reply);
        QTEST(asksForPatience(reply), "patience");
    }

    void initTestCase() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void readsReplies_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QList<SmtpReply>>("expected");
        using List = QList<SmtpReply>;
        QTest::newRow("nothing") << QByteArray() << List{};
        QTest::newRow("one line") << QByteArray("250 2.0.0 Ok\r\n") << List{{250, {u"2.0.0 Ok"_s}}};
        QTest::newRow("no text") << QByteArray("250\r\n") << List{{250, {u""_s}}};
        QTest::newRow("empty text") << QByteArray("250 \r\n") << List{{250, {u""_s}}};
        QTest::newRow("two lines") << QByteArray("250-one\r\n250 two\r\n") << List{{250, {u"one"_s, u"two"_s}}};
        QTest::newRow("the code is that of the last line")
            << QByteArray("451-one\r\n554 two\r\n") << List{{554, {u"one"_s, u"two"_s}}};
        QTest::newRow("several replies") << QByteArray("250 a\r\n550-b\r\n550 c\r\n354 d\r\n")
                                         << List{{250, {u"a"_s}}, {550, {u"b"_s, u"c"_s}}, {354, {u"d"_s}}};
        QTest::newRow("a line that looks like a code")
            << QByteArray("250-250 x\r\n250 y\r\n") << List{{250, {u"250 x"_s, u"y"_s}}};
        QTest::newRow("UTF-8") << u"550 Größe\r\n"_s.toUtf8() << List{{550, {u"Größe"_s}}};
        QTest::newRow("Latin-1") << QByteArray("550 Gr\xf6\xdf\x65\r\n") << List{{550, {u"Größe"_s}}};
        QTest::newRow("a tab") << QByteArray("250 a\tb\r\n") << List{{250, {u"a\tb"_s}}};
        QTest::newRow("a long line") << QByteArray("250 " + QByteArray(4000, 'x') + "\r\n")
                                     << List{{250, {QString(4000, u'x')}}};
        QTest::newRow("unfinished") << QByteArray("250 a\r\n250-b\r\n25") << List{{250, {u"a"_s}}};

        const List bad{SmtpReply()};
        QTest::newRow("a word") << QByteArray("hello\r\n") << bad;
        QTest::newRow("a digit short") << QByteArray("25\r\n") << bad;
        QTest::newRow("a digit too many") << QByteArray("2500 x\r\n") << bad;
        QTest::newRow("no separator") << QByteArray("250x\r\n") << bad;
        QTest::newRow("another separator") << QByteArray("250_x\r\n") << bad;
        QTest::newRow("1yz") << QByteArray("150 x\r\n") << bad;
        QTest::newRow("6yz") << QByteArray("650 x\r\n") << bad;
        QTest::newRow("bare LF") << QByteArray("250 x\n") << bad;
        QTest::newRow("bare LF, short") << QByteArray("250\n") << bad;
        QTest::newRow("bare CR") << QByteArray("250 x\ry\r\n") << bad;
        QTest::newRow("NUL") << QByteArray("250 x\0y\r\n", 10) << bad;
        QTest::newRow("escape") << QByteArray("250 \x1b[2J\r\n") << bad;
        QTest::newRow("empty line") << QByteArray("\r\n") << bad;
        QTest::newRow("a bad second line") << QByteArray("250-a\r\nb\r\n") << bad;
        QTest::newRow("a line without end") << QByteArray("250 " + QByteArray(5000, 'x')) << bad;
        QTest::newRow("a line that is too long") << QByteArray("250 " + QByteArray(5000, 'x') + "\r\n") << bad;
        QTest::newRow("lines without end") << QByteArray("250-x\r\n").repeated(101) << bad;
        QTest::newRow("good, then bad") << QByteArray("250 a\r\nb\r\n") << List{{250, {u"a"_s}}, SmtpReply()};
    }

    void readsReplies()
    {
        QFETCH(const QByteArray, bytes);
        QFETCH(const QList<SmtpReply>, expected);
        for (const qsizetype size :
             {qsizetype(1), qsizetype(2), qsizetype(3), qsizetype(7), qsizetype(69), bytes.size() + 1})
            QCOMPARE(replies(bytes, size), expected);
    }

    void aBadReplyStaysBad()
    {
        SmtpReplyParser parser;
        parser.feed("nonsense\r\n");
        QVERIFY(!parser.next()->ok());
        parser.feed("250 2.0.0 Ok\r\n");
        QCOMPARE(parser.next()->error().kind, ErrorKind::Protocol);
    }

    void nonsenseIsSeenBeforeItsLineEnds()
    {
        SmtpReplyParser parser;
        parser.feed("S");
        QVERIFY(parser.next());
        QVERIFY(!parser.next()->ok());
    }

    void knowsWhetherAnythingIsLeft()
    {
        SmtpReplyParser parser;
        QVERIFY(parser.isEmpty());
        parser.feed("250-a\r\n");
        QVERIFY(!parser.next());
        QVERIFY(!parser.isEmpty());
        QCOMPARE(parser.partial(), u"250 a"_s);
        parser.feed("250 b\r\n2");
        QVERIFY(parser.next());
        QVERIFY(!parser.isEmpty());
        QCOMPARE(parser.partial(), u"2"_s);
    }

    void theTextIsForPeople()
    {
        const SmtpReply reply{550, {u"5.1.1 No such"_s, u"5.1.1 user"_s}};
        QCOMPARE(reply.lastLine(), u"550 5.1.1 user"_s);
        QCOMPARE(reply.text(), u"550 5.1.1 No such 5.1.1 user"_s);
        QVERIFY(reply.isPermanent() && !reply.isTransient() && !reply.isPositive());
        QCOMPARE((SmtpReply{250, {QString()}}).lastLine(), u"250"_s);
    }

    void anErrorShowsNoControlCharacter()
    {
        SmtpReplyParser parser;
        parser.feed("\x1b]0;title\x07\r\n");
        const QString text = parser.next()->error().text;
        for (const QChar c : text)
            QVERIFY(c.isPrint());
    }
};

QTEST_GUILESS_MAIN(TestSmtpReply)
#include "tst_smtpreply.moc"
