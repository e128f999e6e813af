#include "tests/world/mailcases.h"
#include "worker/mail/headertext.h"
#include "worker/mail/mimemessage.h"
#include "worker/mail/mimepart.h"

#include <QLocale>
#include <QSet>
#include <QTest>

#include <algorithm>
#include <clocale>

using namespace sendonce;
using namespace Qt::StringLiterals;

Q_DECLARE_METATYPE(sendonce::MailContent)

namespace {

/// A reader written from the RFCs for these tests alone: strict, and no relation of the writer.
struct Parsed
{
    QList<QPair<QByteArray, QByteArray>> headers; ///< unfolded
    QByteArray body;

    explicit Parsed(const QByteArray &bytes)
    {
        const qsizetype end = bytes.indexOf("\r\n\r\n");
        QByteArray head = bytes.first(end + 2);
        body = bytes.sliced(end + 4);
        head.replace("\r\n ", " ");
        for (const QByteArray &line : head.chopped(2).split('\n')) {
            const qsizetype colon = line.indexOf(':');
            QByteArray value = line.sliced(colon + 1);
            if (value.endsWith('\r'))
                value.chop(1);
            headers.append({line.first(colon), value.startsWith(' ') ? value.sliced(1) : value});
        }
    }
    QByteArray header(const QByteArray &name) const
    {
        const auto found =
            std::find_if(headers.cbegin(), headers.cend(), [&](const auto &h) { return h.first == name; });
        return found == headers.cend() ? QByteArray() : found->second;
    }
    QByteArray decodedBody() const
    {
        const QByteArray encoding = header("Content-Transfer-Encoding");
        if (encoding == "base64")
            return QByteArray::fromBase64(QByteArray(body).replace("\r\n", ""));
        QByteArray text = body;
        text.replace("=\r\n", "");
        QByteArray result;
        for (qsizetype i = 0; i < text.size(); ++i) {
            if (text[i] == '=') {
                result += QByteArray::fromHex(text.mid(i + 1, 2));
                i += 2;
            } else {
                result += text[i];
            }
        }
        return result;
    }
    QList<Parsed> parts() const
    {
        const QByteArray type = header("Content-Type");
        const QByteArray boundary = type.sliced(type.indexOf('"') + 1).chopped(1);
        const QByteArray content = "\r\n" + body;
        QList<Parsed> list;
        qsizetype begin = content.indexOf("\r\n--" + boundary + "\r\n");
        while (begin >= 0) {
            begin += boundary.size() + 6;
            const qsizetype end = content.indexOf("\r\n--" + boundary, begin);
            list.append(Parsed(content.sliced(begin, end - begin)));
            begin = content.sliced(end).startsWith("\r\n--" + boundary + "--\r\n") ? -1 : end;
        }
        return list;
    }
};

/// RFC 2047: the words decoded one by one, so that a split character shows.
QString decodedWords(const QByteArray &text)
{
    static const QRegularExpression word(u"=\\?utf-8\\?([qb])\\?([^? ]*)\\?="_s);
    QString rest = QString::fromLatin1(text);
    rest.replace(QRegularExpression(u"\\?= +=\\?"_s), u"?==?"_s);
    QString result;
    qsizetype done = 0;
    for (auto it = word.globalMatch(rest); it.hasNext();) {
        const auto match = it.next();
        QByteArray bytes = match.captured(2).toLatin1();
        if (match.captured(1) == u"b")
            bytes = QByteArray::fromBase64(bytes);
        else
            bytes = QByteArray::fromPercentEncoding(bytes.replace('_', ' '), '=');
        result += rest.sliced(done, match.capturedStart() - done) + QString::fromUtf8(bytes);
        done = match.capturedEnd();
    }
    return result + rest.sliced(done);
}

} // namespace

class TestMimeMessage : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void theMessageIdComesFromTheEvent()
    {
        QCOMPARE(messageIdFor(u"evt-42"_s, u"jobboard.example"_s),
                 u"ed368bee2040965f94f42c0a5718c88d81a49f58@jobboard.example"_s);
    }

    void theWholeMailIsThis()
    {
        const Result<MimeMessage> message = renderMail(world::mailCases().first().second);
        QVERIFY(message);
        QCOMPARE(message->sender, u"no-reply@jobboard.example"_s);
        QCOMPARE(message->recipient, u"dana@example.org"_s);
        QVERIFY(!message->needsSmtpUtf8);
        QCOMPARE(message->bytes,
                 "Date: Mon, 01 Sep 2025 12:00:00 +0000\r\n"
                 "From: Job Board <no-reply@jobboard.example>\r\n"
                 "To: Dana Miller <dana@example.org>\r\n"
                 "Subject: Your application moved to interview\r\n"
                 "Message-ID: <"
                     + message->messageId.toLatin1()
                     + ">\r\n"
                       "Auto-Submitted: auto-generated\r\n"
                       "X-Sendonce-Event: 23e48c51-96a5-4fd4-8a1c-0b6f0f7b7d52\r\n"
                       "MIME-Version: 1.0\r\n"
                       "Content-Type: text/plain; charset=utf-8\r\n"
                       "Content-Transfer-Encoding: quoted-printable\r\n"
                       "\r\n"
                       "Hello Dana,\r\n"
                       "\r\n"
                       "your application is now in state interview.\r\n");
    }

    void anIdempotencyHeaderCarriesTheEventId_data()
    {
        QTest::addColumn<QString>("eventId");
        QTest::addColumn<QByteArray>("line");
        QTest::newRow("UUID") << u"23e48c51-96a5-4fd4-8a1c-0b6f0f7b7d52"_s
                              << QByteArray("23e48c51-96a5-4fd4-8a1c-0b6f0f7b7d52");
        // For a program that compares: neither folded nor encoded.
        QTest::newRow("64 characters") << QString(64, u'e') << QByteArray(64, 'e');
        QTest::newRow("looks encoded") << u"=?utf-8?q?a?="_s << QByteArray("=?utf-8?q?a?=");
        QTest::newRow("beyond ASCII") << u"ü"_s << QByteArray("=?utf-8?b?w7w=?=");
    }

    void anIdempotencyHeaderCarriesTheEventId()
    {
        QFETCH(const QString, eventId);
        QFETCH(const QByteArray, line);
        MailContent content = world::mailCases().first().second;
        content.eventId = eventId;
        QVERIFY(!renderMail(content)->bytes.contains("Idempotency"));
        content.idempotencyHeader = u"Resend-Idempotency-Key"_s;
        const QByteArray bytes = renderMail(content)->bytes;
        QVERIFY2(bytes.contains("\r\nResend-Idempotency-Key: " + line + "\r\n"), bytes.constData());
        QCOMPARE(bytes.count("Idempotency-Key"), 1);
        QVERIFY(bytes.indexOf("Idempotency-Key") < bytes.indexOf("\r\n\r\n"));
    }

    void anIdempotencyHeaderMustBeFree()
    {
        QVERIFY(isFreeHeaderName(u"Resend-Idempotency-Key"_s) && isFreeHeaderName(u"X-EE-Idempotency-Key"_s));
        MailContent content = world::mailCases().first().second;
        for (const QString &name : {u"Bcc"_s, u"message-id"_s, u"X-Sendonce-Event"_s, u"Content-Language"_s,
                                    u"Resent-To"_s, u"A:B"_s, u"A B"_s, u"A\r\nBcc"_s, u"Ü"_s, QString(65, u'x')}) {
            QVERIFY2(!isFreeHeaderName(name), qPrintable(name));
            content.idempotencyHeader = name;
            QVERIFY(!renderMail(content));
        }
    }

    void isReadAsItWasWritten_data()
    {
        QTest::addColumn<MailContent>("content");
        for (const auto &[name, content] : world::mailCases())
            QTest::newRow(name.constData()) << content;
    }

    void isReadAsItWasWritten()
    {
        QFETCH(const MailContent, content);
        const Result<MimeMessage> rendered = renderMail(content);
        QVERIFY2(rendered, rendered ? "" : qPrintable(rendered.error().text));
        const QByteArray bytes = rendered->bytes;

        // The form: 7 bit, CRLF, short lines, nothing that SMTP or mbox would touch.
        QVERIFY(std::all_of(bytes.cbegin(), bytes.cend(),
                            [](char c) { return (c >= ' ' && c <= '~') || c == '\r' || c == '\n' || c == '\t'; }));
        QCOMPARE(bytes.count('\r'), bytes.count("\r\n"));
        QCOMPARE(bytes.count('\n'), bytes.count("\r\n"));
        QVERIFY(bytes.endsWith("\r\n"));
        for (const QByteArray &line : bytes.split('\n')) {
            const QByteArray text = line.endsWith('\r') ? line.chopped(1) : line;
            QVERIFY2(text.size() <= 76 || text.contains(content.to.address.toLatin1()), text.constData());
            QVERIFY2(!text.startsWith('.') && !text.startsWith("From "), text.constData());
            QVERIFY2(!text.endsWith(' ') && !text.endsWith('\t'), text.constData());
        }

        const Parsed mail(bytes);
        QSet<QByteArray> names;
        for (const auto &header : mail.headers) {
            QVERIFY2(!names.contains(header.first), header.first.constData());
            names.insert(header.first);
        }
        QCOMPARE(names,
                 (QSet<QByteArray>{"Date", "From", "To", "Subject", "Message-ID", "MIME-Version", "Content-Type",
                                   "Content-Transfer-Encoding", "Auto-Submitted", "X-Sendonce-Event"}));
        QCOMPARE(decodedWords(mail.header("Subject")), content.subject);
        QCOMPARE(decodedWords(mail.header("X-Sendonce-Event")), content.eventId);
        QCOMPARE(mail.header("Message-ID"), '<' + rendered->messageId.toLatin1() + '>');
        QByteArray to = mail.header("To");
        if (content.to.name.isEmpty()) {
            QCOMPARE(to, rendered->recipient.toLatin1());
        } else {
            QVERIFY(to.endsWith(" <" + rendered->recipient.toLatin1() + '>'));
            to = to.first(to.lastIndexOf(" <"));
            if (to.startsWith('"'))
                to = to.sliced(1).chopped(1).replace("\\\"", "\"").replace("\\\\", "\\");
            QCOMPARE(decodedWords(to), content.to.name);
        }

        const auto asRead = [](const Parsed &part) {
            return QString::fromUtf8(part.decodedBody()).replace("\r\n"_L1, "\n"_L1);
        };
        if (content.html.isEmpty()) {
            QCOMPARE(asRead(mail), world::asRead(content.text));
        } else {
            QCOMPARE(mail.header("Content-Transfer-Encoding"), QByteArray("7bit"));
            const QList<Parsed> parts = mail.parts();
            QCOMPARE(parts.size(), 2);
            QCOMPARE(parts[0].header("Content-Type"), QByteArray("text/plain; charset=utf-8"));
            QCOMPARE(parts[1].header("Content-Type"), QByteArray("text/html; charset=utf-8"));
            QCOMPARE(asRead(parts[0]), world::asRead(content.text));
            QCOMPARE(asRead(parts[1]), world::asRead(content.html));
        }
    }

    void theSameContentIsTheSameBytes()
    {
        for (const auto &[name, content] : world::mailCases())
            QCOMPARE(renderMail(content).value(), renderMail(content).value());
    }

    void theDateIsEnglishAndUtcWhateverTheLocale()
    {
        const QLocale before;
        QLocale::setDefault(QLocale(QLocale::German));
        MailContent content = world::mailCases().first().second;
        content.date = QDateTime(QDate(2025, 3, 5), QTime(1, 2, 3, 999), Qt::OffsetFromUTC, 3600);
        const QByteArray bytes = renderMail(content).value().bytes;
        QLocale::setDefault(before);
        QVERIFY2(bytes.startsWith("Date: Wed, 05 Mar 2025 00:02:03 +0000\r\n"), bytes.constData());
    }

    void theMessageIdsDomainIsTheSendersUnlessGiven()
    {
        MailContent content = world::mailCases().first().second;
        content.eventId = u"evt-42"_s;
        QCOMPARE(renderMail(content)->messageId, u"ed368bee2040965f94f42c0a5718c88d81a49f58@jobboard.example"_s);
        content.messageIdDomain = u"mail.example"_s;
        QCOMPARE(renderMail(content)->messageId, u"ed368bee2040965f94f42c0a5718c88d81a49f58@mail.example"_s);
        content.messageIdDomain.clear();
        content.from.address = u"no-reply@exämple.org"_s;
        QCOMPARE(renderMail(content)->messageId, u"ed368bee2040965f94f42c0a5718c88d81a49f58@xn--exmple-cua.org"_s);
    }

    void aForeignLocalPartNeedsSmtpUtf8()
    {
        MailContent content = world::mailCases().first().second;
        content.to.address = u"jürgen@exämple.org"_s;
        const Result<MimeMessage> message = renderMail(content);
        QVERIFY(message);
        QVERIFY(message->needsSmtpUtf8);
        QCOMPARE(message->recipient, u"jürgen@xn--exmple-cua.org"_s);
        QVERIFY(message->bytes.contains(u"To: Dana Miller <jürgen@xn--exmple-cua.org>\r\n"_s.toUtf8()));
    }

    void whatWouldAddAHeaderIsRefused_data()
    {
        QTest::addColumn<QString>("evil");
        QTest::newRow("CR") << u"\r"_s;
        QTest::newRow("LF") << u"\n"_s;
        QTest::newRow("CRLF and a header") << u"\r\nBcc: eve@example.org"_s;
        QTest::newRow("folded") << u"\r\n Bcc: eve@example.org"_s;
        QTest::newRow("NUL") << QString(QChar::Null);
        QTest::newRow("TAB") << u"\t"_s;
        QTest::newRow("DEL") << u"\u007f"_s;
        QTest::newRow("NEL") << u"\u0085"_s;
        QTest::newRow("U+2028") << u"\u2028"_s;
        QTest::newRow("U+2029") << u"\u2029"_s;
        QTest::newRow("lone surrogate") << QString(QChar(0xdc00));
    }

    void whatWouldAddAHeaderIsRefused()
    {
        QFETCH(const QString, evil);
        const MailContent good = world::mailCases().first().second;
        const QList<QPair<QByteArray, QString MailContent::*>> fields = {{"subject", &MailContent::subject},
                                                                         {"event_id", &MailContent::eventId},
                                                                         {"Message-ID", &MailContent::messageIdDomain}};
        const auto refused = [](const MailContent &content, const QString &word) {
            const Result<MimeMessage> result = renderMail(content);
            return !result && result.error().kind == ErrorKind::Invalid && result.error().text.contains(word)
                && !result.error().text.contains(u'\n');
        };
        for (const QString &text : {evil, evil + u"x"_s, u"x"_s + evil, u"x"_s + evil + u"y"_s}) {
            for (const auto &[name, field] : fields) {
                MailContent content = good;
                content.*field = text;
                QVERIFY2(refused(content, QString::fromLatin1(name)), name.constData());
            }
            for (MailAddress MailContent::*who : {&MailContent::from, &MailContent::to}) {
                const QString word = who == &MailContent::from ? u"sender"_s : u"recipient"_s;
                MailContent content = good;
                (content.*who).name = text;
                QVERIFY(refused(content, word));
                content = good;
                (content.*who).address = u"dana"_s + text + u"@example.org"_s;
                QVERIFY(refused(content, word));
                (content.*who).address = u"dana@example.org"_s + text;
                QVERIFY(refused(content, word));
            }
        }
    }

    void whatIsMissingIsRefused()
    {
        MailContent content = world::mailCases().first().second;
        content.date = {};
        QVERIFY(!renderMail(content));
        content = world::mailCases().first().second;
        content.eventId.clear();
        QVERIFY(!renderMail(content));
        content = world::mailCases().first().second;
        content.to.address.clear();
        QVERIFY(!renderMail(content));
    }

    void plainTextIsFoldedAtSingleBlanksAlone()
    {
        const QString a(40, u'a');
        const QString b(40, u'b');
        QCOMPARE(textHeader("Subject", a + u' ' + b), "Subject: " + a.toLatin1() + "\r\n " + b.toLatin1() + "\r\n");
        QVERIFY(textHeader("Subject", a + u"  "_s + b).startsWith("Subject: =?utf-8?"));
        QCOMPARE(textHeader("Subject", u"a  b"_s), QByteArray("Subject: a  b\r\n"));
    }

    void encodedWordsAreShortAndWhole()
    {
        // Every column a word may begin at, and characters of 1 to 4 octets.
        for (const QString &character : {u"x"_s, u"ä"_s, u"語"_s, u"😀"_s, u"aä"_s, u"= ?_"_s}) {
            const QString text = character.repeated(70);
            for (qsizetype column = 0; column <= 40; ++column) {
                const QByteArray words = encodedWords(text, column);
                qsizetype begin = column;
                for (const QByteArray &word : words.split('\n')) {
                    const QByteArray bare = word.trimmed();
                    QVERIFY(bare.size() <= 75);
                    QVERIFY(begin + (word.endsWith('\r') ? word.size() - 1 : word.size()) <= 76);
                    QVERIFY(!decodedWords(bare).contains(QChar(QChar::ReplacementCharacter)));
                    begin = 0;
                }
                QCOMPARE(decodedWords(QByteArray(words).replace("\r\n ", " ")), text);
            }
        }
    }

    void theShorterEncodingIsTaken()
    {
        QCOMPARE(MimePart::fromText(u"Hello\n"_s).encoding, QByteArray("quoted-printable"));
        QCOMPARE(MimePart::fromText(u"Viele Grüße aus der schönen Stadt Köln\n"_s).encoding,
                 QByteArray("quoted-printable"));
        QCOMPARE(MimePart::fromText(u"Здравствуйте\n"_s).encoding, QByteArray("base64"));
    }

    void everyLineEndsWithCrLf()
    {
        const auto bytes = [](const QString &text) { return MimePart::fromText(text).bytes; };
        QCOMPARE(bytes(u"a\rb\nc\r\nd"_s), QByteArray("a\r\nb\r\nc\r\nd\r\n"));
        QCOMPARE(bytes(u"a\n"_s), QByteArray("a\r\n"));
        QCOMPARE(bytes(u"a\n\r"_s), QByteArray("a\r\n\r\n"));
        QCOMPARE(bytes(u"\r\n"_s), QByteArray("\r\n"));
        QCOMPARE(bytes({}), QByteArray("\r\n"));
    }

    void theBoundaryIsInNoPart()
    {
        const QByteArray first = boundaryFor(u"evt-42"_s, {"text", "html"});
        QCOMPARE(boundaryFor(u"evt-42"_s, {"other"}), first);
        QVERIFY(boundaryFor(u"evt-43"_s, {}) != first);
        const QByteArray second = boundaryFor(u"evt-42"_s, {"text", "x--" + first + "--x"});
        QVERIFY(second != first);
        QVERIFY(boundaryFor(u"evt-42"_s, {first, second}) != second);
        QVERIFY(first.size() <= 70);
    }
};

QTEST_GUILESS_MAIN(TestMimeMessage)
#include "tst_mimemessage.moc"
