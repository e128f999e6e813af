#include "worker/local/smtpsession.h"
#include "worker/mail/mimemessage.h"

#include <QFile>
#include <QTest>
#include <QXmlStreamReader>

#include <algorithm>

using namespace sendonce;
using namespace Qt::StringLiterals;

namespace {

struct Case
{
    QString id;
    QString address;
    QString category;
    QString diagnosis;
};

/// isemail's tests; U+2400 + n stands for the control character n there.
QList<Case> corpus()
{
    QList<Case> cases;
    QFile file(QStringLiteral(SENDONCE_SOURCE_DIR "/tests/data/isemail/tests.xml"));
    if (!file.open(QIODevice::ReadOnly))
        return cases;
    QXmlStreamReader xml(&file);
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement)
            continue;
        if (xml.name() == "test"_L1)
            cases.append({xml.attributes().value("id"_L1).toString(), {}, {}, {}});
        else if (xml.name() == "address"_L1)
            cases.last().address = xml.readElementText();
        else if (xml.name() == "category"_L1)
            cases.last().category = xml.readElementText();
        else if (xml.name() == "diagnosis"_L1)
            cases.last().diagnosis = xml.readElementText();
    }
    for (Case &test : cases) {
        for (QChar &c : test.address) {
            if (c >= QChar(0x2400) && c <= QChar(0x241f))
                c = QChar(c.unicode() - 0x2400);
        }
    }
    return cases;
}

/// What the embedded mailbox says to it.
QByteArray rcpt(const QString &address)
{
    SmtpSession session([](const ReceivedMail &) { return QByteArray("250"); });
    session.feed("EHLO me\r\nMAIL FROM:<> SMTPUTF8\r\n");
    return session.feed("RCPT TO:<" + address.toUtf8() + ">\r\n");
}

} // namespace

class TestMailAddress : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void agreesWithIsemail_data()
    {
        QTest::addColumn<QString>("address");
        QTest::addColumn<bool>("accepted");
        const QList<Case> cases = corpus();
        QCOMPARE(cases.size(), 164);
        for (const Case &test : cases) {
            // Valid, also where its domain has no DNS record, or unusual but good for SMTP. Comments, folding, obsolete
            // forms and what only fits a header are refused.
            const bool accepted = test.category == "ISEMAIL_VALID_CATEGORY"_L1 || test.category == "ISEMAIL_DNSWARN"_L1
                || test.diagnosis.startsWith("ISEMAIL_RFC5321_"_L1);
            QTest::addRow("%s %s", qPrintable(test.id), qPrintable(test.diagnosis)) << test.address << accepted;
        }
    }

    void agreesWithIsemail()
    {
        QFETCH(const QString, address);
        QFETCH(const bool, accepted);
        const Result<MailAddress> result = MailAddress::fromAddress(address);
        QVERIFY2(result.ok() == accepted, result ? "accepted" : qPrintable(result.error().text));
        if (result) {
            QVERIFY(std::none_of(address.cbegin(), address.cend(),
                                 [](QChar c) { return c.category() == QChar::Other_Control; }));
            QCOMPARE(rcpt(result->wireAddress()), QByteArray("250 2.1.5 Ok\r\n"));
        }
    }

    void acceptsPlainAndInternationalAddresses_data()
    {
        QTest::addColumn<QString>("address");
        QTest::addColumn<QString>("wire");
        const auto same = [](const QString &address) {
            QTest::newRow(address.toUtf8().constData()) << address << address;
        };
        same(u"dana@example.org"_s);
        same(u"dana.o'neil+jobs@sub.example.co.uk"_s);
        same(u"postmaster@localhost"_s);
        same(u"jürgen@example.org"_s);
        same(u"😀@example.org"_s);
        same(u"\"a b\"@example.org"_s);
        same(u"\"a@b\"@example.org"_s);
        QTest::newRow("IDN") << u"dana@exämple.org"_s << u"dana@xn--exmple-cua.org"_s;
        QTest::newRow("IDN and local part") << u"jürgen@exämple.org"_s << u"jürgen@xn--exmple-cua.org"_s;
    }

    void acceptsPlainAndInternationalAddresses()
    {
        QFETCH(const QString, address);
        QFETCH(const QString, wire);
        const Result<MailAddress> result = MailAddress::fromAddress(address, u"Dana"_s);
        QVERIFY2(result, result ? "" : qPrintable(result.error().text));
        QCOMPARE(result->address, address);
        QCOMPARE(result->name, u"Dana"_s);
        QCOMPARE(result->wireAddress(), wire);
        QCOMPARE(result->domain(), address.section(u'@', -1));
        QCOMPARE(rcpt(wire).first(3), QByteArray("250"));
    }

    void refusesWithTheReason_data()
    {
        QTest::addColumn<QString>("address");
        QTest::addColumn<QString>("reason");
        const auto row = [](const char *name, const QString &address, const QString &reason) {
            QTest::newRow(name) << address << reason;
        };
        row("empty", {}, u"empty"_s);
        row("no @", u"dana"_s, u"no @"_s);
        row("no local part", u"@example.org"_s, u"before the @"_s);
        row("no domain", u"dana@"_s, u"behind the @"_s);
        row("brackets", u"<dana@example.org>"_s, u"not allowed"_s);
        row("name", u"Dana <dana@example.org>"_s, u"“Dana <dana@example.org>”"_s);
        row("two", u"a@example.org,b@example.org"_s, u"not allowed"_s);
        row("two with blank", u"a@example.org b@example.org"_s, u"not allowed"_s);
        row("comment", u"dana(x)@example.org"_s, u"not allowed"_s);
        row("route", u"@a.example:dana@example.org"_s, u"not allowed"_s);
        row("leading blank", u" dana@example.org"_s, u"not allowed"_s);
        row("trailing blank", u"dana@example.org "_s, u"behind the @"_s);
        row("dots", u"a..b@example.org"_s, u"dot"_s);
        row("trailing dot", u"a@example.org."_s, u"dot"_s);
        row("underscore in the domain", u"a@ex_ample.org"_s, u"letters, digits, hyphens"_s);
        row("hyphen", u"a@-example.org"_s, u"hyphen"_s);
        row("long local part", QString(65, u'a') + u"@example.org"_s, u"64 octets"_s);
        row("long local part in UTF-8", QString(33, u'ä') + u"@example.org"_s, u"64 octets"_s);
        row("long label", u"a@"_s + QString(64, u'a') + u".org"_s, u"63"_s);
        row("CR", u"dana\r@example.org"_s, u"U+000D"_s);
        row("LF", u"dana@example.org\n"_s, u"U+000A"_s);
        row("CRLF and a header", u"dana@example.org\r\nBcc: eve@example.org"_s, u"U+000D"_s);
        row("NUL", u"dana"_s + QChar(QChar::Null) + u"@example.org"_s, u"U+0000"_s);
        row("TAB", u"dana\t@example.org"_s, u"U+0009"_s);
        row("DEL", u"dana\u007f@example.org"_s, u"U+007F"_s);
        row("C1", u"dana\u0085@example.org"_s, u"U+0085"_s);
        row("U+2028", u"dana\u2028@example.org"_s, u"U+2028"_s);
        row("U+2029", u"dana@exam\u2029ple.org"_s, u"U+2029"_s);
        row("lone surrogate", u"dana"_s + QChar(0xd800) + u"@example.org"_s, u"U+D800"_s);
        row("no-break space", u"da\u00a0na@example.org"_s, u"not allowed"_s);
        row("bidi override", u"da\u202ena@example.org"_s, u"not allowed"_s);
        row("quoted CR", u"\"da\rna\"@example.org"_s, u"U+000D"_s);
        row("quotes do not close", u"\"dana\\\"@example.org"_s, u"quotes"_s);
        row("quotes close early", u"\"da\"na\"@example.org"_s, u"quotes"_s);
        row("IPv6 with a scope", u"a@[IPv6:fe80::1%eth0]"_s, u"IP address"_s);
        row("IPv4 short", u"a@[127.1]"_s, u"IP address"_s);
    }

    void refusesWithTheReason()
    {
        QFETCH(const QString, address);
        QFETCH(const QString, reason);
        const Result<MailAddress> result = MailAddress::fromAddress(address);
        QVERIFY(!result);
        QCOMPARE(result.error().kind, ErrorKind::Invalid);
        QVERIFY2(result.error().text.contains(reason), qPrintable(result.error().text));
        for (const QChar c : result.error().text)
            QVERIFY(c.isPrint() || c.isSurrogate());
    }

    void refusesANameThatBreaksOut_data()
    {
        QTest::addColumn<QString>("name");
        for (const char16_t c : {u'\r', u'\n', u'\0', u'\t', u'\x7f', u'\u0085', u'\u2028', u'\u2029'})
            QTest::addRow("U+%04X", c) << u"Dana"_s + QChar(c) + u"Bcc: eve@example.org"_s;
    }

    void refusesANameThatBreaksOut()
    {
        QFETCH(const QString, name);
        QVERIFY(!MailAddress::fromAddress(u"dana@example.org"_s, name));
        QVERIFY(!MailAddress::parse(name + u" <dana@example.org>"_s));
        QVERIFY(!MailAddress::parse(u'"' + name + u"\" <dana@example.org>"_s));
    }

    void parsesANameAndAnAddress_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("address");
        const QString a = u"no-reply@jobboard.example"_s;
        QTest::newRow("the default") << u"Job Board <no-reply@jobboard.example>"_s << u"Job Board"_s << a;
        QTest::newRow("alone") << a << QString() << a;
        QTest::newRow("in brackets") << u"<no-reply@jobboard.example>"_s << QString() << a;
        QTest::newRow("no blank") << u"Job<no-reply@jobboard.example>"_s << u"Job"_s << a;
        QTest::newRow("quoted") << u"\"Board, Job\" <no-reply@jobboard.example>"_s << u"Board, Job"_s << a;
        QTest::newRow("escaped") << u"\"a \\\"b\\\" \\\\ <c@d>\" <no-reply@jobboard.example>"_s << u"a \"b\" \\ <c@d>"_s
                                 << a;
        QTest::newRow("foreign") << u"Jürgen Straße <no-reply@jobboard.example>"_s << u"Jürgen Straße"_s << a;
        QTest::newRow("a dot") << u"J. Board <no-reply@jobboard.example>"_s << u"J. Board"_s << a;
        QTest::newRow("quoted local part")
            << u"J <\"a b\"@jobboard.example>"_s << u"J"_s << u"\"a b\"@jobboard.example"_s;
    }

    void parsesANameAndAnAddress()
    {
        QFETCH(const QString, text);
        QFETCH(const QString, name);
        QFETCH(const QString, address);
        const Result<MailAddress> result = MailAddress::parse(text);
        QVERIFY2(result, result ? "" : qPrintable(result.error().text));
        QCOMPARE(result.value(), (MailAddress{name, address}));
    }

    void refusesWhatIsNotOneAddress_data()
    {
        QTest::addColumn<QString>("text");
        for (const char *text :
             {"", "Job Board", "Job Board <>", "Job Board no-reply@jobboard.example>", "a@b.example, c <d@e.example>",
              "a@b.example <d@e.example>", "<a@b.example> <d@e.example>", "<<a@b.example>>", "\"Job <a@b.example>",
              "\"Job\" Board <a@b.example>", "Job (x) <a@b.example>", "Job <a@b.example> x", "Job <a@b.example>,",
              "list: a@b.example;", "\"Job\\\" <a@b.example>"})
            QTest::newRow(text) << QString::fromLatin1(text);
    }

    void refusesWhatIsNotOneAddress()
    {
        QFETCH(const QString, text);
        QVERIFY(!MailAddress::parse(text));
    }

    void aHugeTextIsRefusedShortly()
    {
        const Result<MailAddress> result = MailAddress::fromAddress(QString(1 << 20, u'a'));
        QVERIFY(!result);
        QVERIFY(result.error().text.size() < 300);
    }
};

QTEST_GUILESS_MAIN(TestMailAddress)
#include "tst_mailaddress.moc"
