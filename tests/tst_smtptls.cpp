#include "tests/world/scriptedsmtp.h"
#include "worker/mail/certificates.h"
#include "worker/mail/smtpclient.h"
#include "worker/mail/smtpprobe.h"

#include <QTest>

#include <atomic>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;
using world::Identity;
using world::ScriptedSmtp;
using world::SmtpScript;
using Status = SendResult::Status;

Q_DECLARE_METATYPE(sendonce::world::SmtpScript)
Q_DECLARE_METATYPE(sendonce::world::Identity)
Q_DECLARE_METATYPE(sendonce::SendResult::Status)

namespace {

constexpr auto Patient = 10s;
constexpr auto Short = 150ms;
const QByteArray Queued = "250 2.0.0 Ok: queued as 4F3\r\n";
const QString Password = u"hünter2 ist geheim"_s;
/// Nobody may ever see these outside of TLS.
const QByteArray Plain = "AGRhbmEAaMO8bnRlcjIgaXN0IGdlaGVpbQ==";
const QByteArray Word = "aMO8bnRlcjIgaXN0IGdlaGVpbQ==";

MimeMessage mail(const QByteArray &bytes = "Subject: hello\r\n\r\nbody\r\n")
{
    return {u"no-reply@jobboard.example"_s, u"dana@example.org"_s, u"id@jobboard.example"_s, bytes, false};
}

SmtpSettings settings(const ScriptedSmtp &server, SmtpSecurity security, bool withUser = false)
{
    SmtpSettings result;
    result.host = u"127.0.0.1"_s;
    result.port = server.port();
    result.timeout = Patient;
    result.finalTimeout = Patient;
    result.security = security;
    if (withUser) {
        result.user = u"dana"_s;
        result.password = std::make_shared<MailPassword>(Password);
    }
    return result;
}

SendResult sendOne(const SmtpSettings &where, int *asked = nullptr, const MimeMessage &message = mail())
{
    SmtpClient client(where);
    const std::atomic_bool stop = false;
    return client.send(message, {[&] { return asked ? ++*asked > 0 : true; }, {}}, stop);
}

bool tells(const SendResult &result, const QString &text)
{
    return result.text.contains(text, Qt::CaseInsensitive);
}

/// As a log would have it.
QByteArray everything(const SendResult &result)
{
    return (result.text + result.reply).toUtf8();
}

bool holdsSecret(const QByteArray &text)
{
    return text.contains(Password.toUtf8()) || text.contains(Plain) || text.contains(Word);
}

} // namespace

class TestSmtpTls : public QObject
{
    Q_OBJECT

    world::Certificates m_certificates;

    SmtpSettings trusting(const ScriptedSmtp &server, SmtpSecurity security, bool withUser = false) const
    {
        SmtpSettings result = settings(server, security, withUser);
        result.authorities = readCertificates(m_certificates.authority()).value();
        return result;
    }

    /// Up to TLS by STARTTLS.
    SmtpScript startTls() const
    {
        return SmtpScript::hello({"STARTTLS"})
            .expect("STARTTLS")
            .send("220 2.0.0 go\r\n")
            .startTls(m_certificates.localhost());
    }

    /// Greeting and EHLO over TLS from the first byte.
    SmtpScript overTls(const QByteArrayList &extensions = {}) const
    {
        SmtpScript script;
        script.startTls(m_certificates.localhost())
            .send("220 scripted.example ESMTP\r\n")
            .expect("EHLO ")
            .send("250-scripted.example\r\n");
        for (const QByteArray &extension : extensions)
            script.send("250-" + extension + "\r\n");
        return script.send("250 HELP\r\n");
    }

private Q_SLOTS:
    void initTestCase()
    {
        QTest::failOnWarning(QRegularExpression(u".*"_s));
        QVERIFY2(m_certificates.make(), "openssl cannot make certificates");
    }

    // both ways to TLS

    void aMailGoesOverTls()
    {
        const ScriptedSmtp server({overTls().upTo354().readMail().send(Queued).hold()});
        const SendResult result = sendOne(trusting(server, SmtpSecurity::Tls));
        QVERIFY2(result.status == Status::Sent, qPrintable(result.text));
        QCOMPARE(server.mails(), QByteArrayList{mail().bytes});
        QCOMPARE(server.problem(), QString());
    }

    void aMailGoesOverStartTlsAndWhatWasSaidInClearIsForgotten()
    {
        // In clear it offers what it no longer does under TLS.
        SmtpScript script = SmtpScript::hello({"PIPELINING", "SIZE 10", "STARTTLS"});
        script.expect("STARTTLS").send("220 2.0.0 go\r\n").startTls(m_certificates.localhost());
        script.expect("EHLO sendonce.local").send("250 scripted.example\r\n");
        script.expect("MAIL FROM:<no-reply@jobboard.example>").send("250 2.1.0 Ok\r\n");
        script.expect("RCPT TO:<dana@example.org>").send("250 2.1.5 Ok\r\n").expect("DATA").send("354 go on\r\n");
        const ScriptedSmtp server({script.readMail().send(Queued).expect("QUIT").send("221 2.0.0 bye\r\n")});
        SmtpClient client(trusting(server, SmtpSecurity::StartTls));
        const std::atomic_bool stop = false;
        const SendResult result = client.send(mail(), {}, stop);
        QVERIFY2(result.status == Status::Sent, qPrintable(result.text));
        client.close();
        QVERIFY(server.lines().contains("MAIL FROM:<no-reply@jobboard.example>")); // no SIZE
        QCOMPARE(server.lines().last(), QByteArray("QUIT"));
        QCOMPARE(server.problem(), QString());
    }

    void oneTlsConnectionCarriesSeveralMails()
    {
        SmtpScript script = overTls({"PIPELINING"});
        for (int i = 0; i < 3; ++i)
            script.expect("MAIL")
                .expect("RCPT")
                .expect("DATA")
                .send("250 a\r\n250 b\r\n354 c\r\n")
                .readMail()
                .send(Queued);
        const ScriptedSmtp server({script, overTls().upTo354().readMail().send(Queued).hold()});
        SmtpClient client(trusting(server, SmtpSecurity::Tls));
        const std::atomic_bool stop = false;
        for (int i = 0; i < 4; ++i) { // behind the third the server closes
            const SendResult result = client.send(mail(), {}, stop);
            QVERIFY2(result.status == Status::Sent, qPrintable(result.text));
        }
        QCOMPARE(server.connections(), 2);
        QCOMPARE(server.mails().size(), 4);
    }

    void aLongMailGoesOverTls()
    {
        const QByteArray bytes = QByteArray("a line of a long mail\r\n").repeated(200'000);
        const ScriptedSmtp server({overTls().upTo354().readMail().send(Queued).hold()});
        const SendResult result = sendOne(trusting(server, SmtpSecurity::Tls), nullptr, mail(bytes));
        QVERIFY2(result.status == Status::Sent, qPrintable(result.text));
        QCOMPARE(server.mails().value(0).size(), bytes.size());
    }

    // stripping and injection

    void withoutStartTlsNothingIsSent_data()
    {
        QTest::addColumn<SmtpScript>("script");
        QTest::addColumn<QString>("told");
        const auto row = [](const char *name, const SmtpScript &script, const QString &told) {
            QTest::newRow(name) << script << told;
        };
        row("not offered", SmtpScript::hello({"PIPELINING", "AUTH PLAIN LOGIN"}).hold(), u"offers no STARTTLS"_s);
        row("a word that only begins so", SmtpScript::hello({"STARTTLSX"}).hold(), u"offers no STARTTLS"_s);
        row("EHLO not known",
            SmtpScript().send("220 x\r\n").expect("EHLO").send("502 no\r\n").expect("HELO").send("250 x\r\n").hold(),
            u"offers no STARTTLS"_s);
        const auto asked = [] { return SmtpScript::hello({"STARTTLS", "AUTH PLAIN"}).expect("STARTTLS"); };
        row("454", asked().send("454 4.7.0 TLS not available\r\n").hold(), u"454 4.7.0"_s);
        row("501", asked().send("501 5.5.4 no\r\n").hold(), u"501 5.5.4"_s);
        row("250", asked().send("250 2.0.0 Ok\r\n").hold(), u"250 2.0.0"_s);
        row("closed", asked().close(), u"closed by the mail server"_s);
        row("220, then clear text",
            asked().send("220 2.0.0 go\r\n").pause(20ms).send("250-x\r\n250 AUTH PLAIN\r\n").hold(), u"no TLS"_s);
        row("220, then closed", asked().send("220 2.0.0 go\r\n").close(), u"no TLS"_s);
        row("220, then nothing", asked().send("220 2.0.0 go\r\n").hold(), u"no answer in time"_s);
    }

    void withoutStartTlsNothingIsSent()
    {
        QFETCH(const SmtpScript, script);
        QFETCH(const QString, told);
        const ScriptedSmtp server({script});
        SmtpSettings where = trusting(server, SmtpSecurity::StartTls, true);
        if (told == "no answer in time"_L1)
            where.timeout = Short;
        int asked = 0;
        const SendResult result = sendOne(where, &asked);
        QCOMPARE(result.status, Status::NotSent);
        QVERIFY2(tells(result, told), qPrintable(result.text));
        QCOMPARE(asked, 0);
        QCOMPARE(server.connections(), 1);
        const QByteArray said = server.lines().join('\n');
        QVERIFY2(!said.contains("MAIL") && !said.contains("AUTH"), said.constData());
        QVERIFY(!holdsSecret(everything(result)));
    }

    /// NO STARTTLS (USENIX Security 2021): what came in clear behind the 220 must not pass for an answer inside of TLS.
    void whatComesInClearBehindThe220IsNotBelieved_data()
    {
        QTest::addColumn<QByteArray>("injected");
        QTest::newRow("an answer to EHLO") << QByteArray("250-x\r\n250 AUTH PLAIN\r\n");
        QTest::newRow("one byte") << QByteArray("2");
        QTest::newRow("an answer to AUTH as well") << QByteArray("250 AUTH PLAIN\r\n235 2.7.0 Ok\r\n");
        QTest::newRow("a blank line") << QByteArray("\r\n");
    }

    void whatComesInClearBehindThe220IsNotBelieved()
    {
        QFETCH(const QByteArray, injected);
        const ScriptedSmtp server({SmtpScript::hello({"STARTTLS"})
                                       .expect("STARTTLS")
                                       .send("220 2.0.0 go\r\n" + injected)
                                       .startTls(m_certificates.localhost())
                                       .hold()});
        const SendResult result = sendOne(trusting(server, SmtpSecurity::StartTls, true));
        QCOMPARE(result.status, Status::NotSent);
        QVERIFY2(tells(result, u"in clear behind its answer to STARTTLS"_s), qPrintable(result.text));
        QCOMPARE(server.lines().last(), QByteArray("STARTTLS"));
    }

    // certificates

    void aCertificateThatIsNotTheRightOneIsRefused_data()
    {
        QTest::addColumn<Identity>("identity");
        QTest::addColumn<bool>("trusted");
        QTest::addColumn<QString>("told");
        QTest::newRow("another name") << m_certificates.other() << true
                                      << u"it is for mail.example, not for 127.0.0.1"_s;
        QTest::newRow("expired") << m_certificates.expired() << true << u"it expired on 20"_s;
        QTest::newRow("self-signed") << m_certificates.selfSigned() << true << u"it is self-signed"_s;
        QTest::newRow("signed by nobody known") << m_certificates.localhost() << false << u"nobody known here signed"_s;
    }

    void aCertificateThatIsNotTheRightOneIsRefused()
    {
        QFETCH(const Identity, identity);
        QFETCH(const bool, trusted);
        QFETCH(const QString, told);
        for (const SmtpSecurity security : {SmtpSecurity::Tls, SmtpSecurity::StartTls}) {
            SmtpScript script;
            if (security == SmtpSecurity::StartTls)
                script = SmtpScript::hello({"STARTTLS"}).expect("STARTTLS").send("220 2.0.0 go\r\n");
            const ScriptedSmtp server({script.startTls(identity).send("220 x\r\n").expect("EHLO").hold()});
            const SmtpSettings where = trusted ? trusting(server, security, true) : settings(server, security, true);
            const SendResult result = sendOne(where);
            QCOMPARE(result.status, Status::NotSent);
            QVERIFY(!result.permanent);
            QVERIFY2(tells(result, told) && tells(result, u"the certificate of 127.0.0.1 is not accepted"_s),
                     qPrintable(result.text));
            QCOMPARE(server.lines().size(), security == SmtpSecurity::StartTls ? 2 : 0);
        }
    }

    void theNameIsThatOfTheUrl()
    {
        const ScriptedSmtp server({overTls().upTo354().readMail().send(Queued).hold()});
        SmtpSettings where = trusting(server, SmtpSecurity::Tls);
        where.host = u"localhost"_s;
        const SendResult result = sendOne(where);
        QVERIFY2(result.status == Status::Sent, qPrintable(result.text));
    }

    void aSelfSignedCertificateMayBeNamed()
    {
        const ScriptedSmtp server({SmtpScript()
                                       .startTls(m_certificates.selfSigned())
                                       .send("220 x\r\n")
                                       .expect("EHLO")
                                       .send("250 x\r\n")
                                       .upTo354()
                                       .readMail()
                                       .send(Queued)
                                       .hold()});
        SmtpSettings where = settings(server, SmtpSecurity::Tls);
        where.authorities = readCertificates(m_certificates.selfSigned().certificate).value();
        const SendResult result = sendOne(where);
        QVERIFY2(result.status == Status::Sent, qPrintable(result.text));
    }

    // the outcome, under TLS

    void whatHappensAfterTheDotDecides_data()
    {
        QTest::addColumn<SmtpScript>("script");
        QTest::addColumn<Status>("status");
        QTest::addColumn<QString>("reply");
        QTest::addColumn<bool>("permanent");
        const auto start = [this] { return overTls().upTo354().readMail(); };
        const auto row = [](const char *name, const SmtpScript &script, Status status, const QString &reply,
                            bool permanent) { QTest::newRow(name) << script << status << reply << permanent; };
        row("250, then closed", start().send(Queued).close(), Status::Sent, u"250 2.0.0 Ok: queued as 4F3"_s, false);
        row("250, then reset", start().send(Queued).reset(), Status::Sent, u"250 2.0.0 Ok: queued as 4F3"_s, false);
        row("451", start().send("451 4.3.0 busy\r\n").hold(), Status::NotSent, u"451 4.3.0 busy"_s, false);
        row("554", start().send("554 5.6.0 no\r\n").hold(), Status::NotSent, u"554 5.6.0 no"_s, true);
        row("closed", start().close(), Status::InDoubt, {}, false);
        row("reset", start().reset(), Status::InDoubt, {}, false);
        row("no answer", start().hold(), Status::InDoubt, {}, false);
        row("half a 250, closed", start().send("250 2.0").close(), Status::InDoubt, {}, false);
        row("clear text", start().sendInClear("250 2.0.0 Ok\r\n").hold(), Status::InDoubt, {}, false);
    }

    void whatHappensAfterTheDotDecides()
    {
        QFETCH(const SmtpScript, script);
        QFETCH(const Status, status);
        QFETCH(const QString, reply);
        QFETCH(const bool, permanent);
        const ScriptedSmtp server({script});
        int asked = 0;
        SmtpSettings where = trusting(server, SmtpSecurity::Tls);
        if (QByteArrayView(QTest::currentDataTag()) == "no answer")
            where.finalTimeout = Short;
        const SendResult result = sendOne(where, &asked);
        QVERIFY2(result.status == status, qPrintable(result.text));
        QCOMPARE(result.reply, reply);
        QCOMPARE(result.permanent, permanent);
        QCOMPARE(asked, 1);
        QCOMPARE(server.connections(), 1);
    }

    void whatHappensBeforeTheDotIsNotSent_data()
    {
        QTest::addColumn<SmtpScript>("script");
        QTest::newRow("closed in place of TLS") << SmtpScript().close();
        QTest::newRow("clear text in place of TLS") << SmtpScript().send("220 scripted.example ESMTP\r\n").hold();
        QTest::newRow("silence in place of TLS") << SmtpScript().hold();
        QTest::newRow("closed for EHLO")
            << SmtpScript().startTls(m_certificates.localhost()).send("220 x\r\n").expect("EHLO").close();
        QTest::newRow("reset for MAIL") << overTls().expect("MAIL").reset();
        QTest::newRow("silence for MAIL") << overTls().expect("MAIL").hold();
        QTest::newRow("closed behind 354") << overTls().upTo354().close();
        QTest::newRow("reset in mid-data") << overTls().upTo354().readBytes(100'000).reset();
    }

    void whatHappensBeforeTheDotIsNotSent()
    {
        QFETCH(const SmtpScript, script);
        const ScriptedSmtp server({script});
        SmtpSettings where = trusting(server, SmtpSecurity::Tls);
        if (QByteArrayView(QTest::currentDataTag()).startsWith("silence")
            || QByteArrayView(QTest::currentDataTag()).startsWith("clear"))
            where.timeout = Short;
        int asked = 0;
        const SendResult result = sendOne(where, &asked, mail(QByteArray("line of a long mail\r\n").repeated(250'000)));
        QCOMPARE(result.status, Status::NotSent);
        QVERIFY(!result.text.isEmpty());
        QCOMPARE(asked, 0);
    }

    void aStopEndsTheHandshake()
    {
        std::atomic_bool stop = false;
        const ScriptedSmtp server({SmtpScript().readBytes(1).call([&stop] { stop = true; }).hold()});
        SmtpClient client(trusting(server, SmtpSecurity::Tls));
        const SendResult result = client.send(mail(), {}, stop);
        QCOMPARE(result.status, Status::NotSent);
        QVERIFY(result.aborted);
    }

    // log-in

    void logsIn_data()
    {
        QTest::addColumn<SmtpScript>("script");
        QTest::addColumn<int>("mechanism");
        const auto offers = [this](const QByteArray &auth) { return overTls({auth}); };
        const auto row = [](const char *name, const SmtpScript &script, SmtpMechanism mechanism = SmtpMechanism::Any) {
            QTest::newRow(name) << script << int(mechanism);
        };
        const QByteArray ok = "235 2.7.0 Ok\r\n";
        row("PLAIN before LOGIN", offers("AUTH LOGIN PLAIN").expect("AUTH PLAIN " + Plain).send(ok));
        row("lower case", offers("auth plain").expect("AUTH PLAIN " + Plain).send(ok));
        row("LOGIN where there is no PLAIN",
            offers("AUTH CRAM-MD5 LOGIN")
                .expect("AUTH LOGIN")
                .send("334 VXNlcm5hbWU6\r\n")
                .expect("ZGFuYQ==")
                .send("334 UGFzc3dvcmQ6\r\n")
                .expect(Word)
                .send(ok));
        row("LOGIN because it is asked for",
            offers("AUTH PLAIN LOGIN")
                .expect("AUTH LOGIN")
                .send("334 x\r\n")
                .expect("ZGFuYQ==")
                .send("334 y\r\n")
                .expect(Word)
                .send(ok),
            SmtpMechanism::Login);
        const QByteArray token = ("user=dana\1auth=Bearer " + Password.toUtf8() + "\1\1").toBase64();
        row("XOAUTH2", offers("AUTH PLAIN XOAUTH2").expect("AUTH XOAUTH2 " + token).send(ok), SmtpMechanism::XOAuth2);
    }

    void logsIn()
    {
        QFETCH(SmtpScript, script);
        QFETCH(const int, mechanism);
        const ScriptedSmtp server({script.upTo354().readMail().send(Queued).hold()});
        SmtpSettings where = trusting(server, SmtpSecurity::Tls, true);
        where.mechanism = SmtpMechanism(mechanism);
        const SendResult result = sendOne(where);
        QVERIFY2(result.status == Status::Sent, qPrintable(result.text + server.problem()));
    }

    void aLogInThatFailsIsNotSentAndTellsNoSecret_data()
    {
        QTest::addColumn<SmtpScript>("script");
        QTest::addColumn<int>("mechanism");
        QTest::addColumn<QString>("told");
        QTest::addColumn<bool>("permanent");
        const auto row = [](const char *name, const SmtpScript &script, const QString &told, bool permanent,
                            SmtpMechanism mechanism = SmtpMechanism::Any) {
            QTest::newRow(name) << script << int(mechanism) << told << permanent;
        };
        const auto asked = [this] { return overTls({"AUTH PLAIN LOGIN XOAUTH2"}).expect("AUTH"); };
        row("535", asked().send("535 5.7.8 wrong\r\n").hold(), u"535 5.7.8 wrong"_s, true);
        row("534", asked().send("534 5.7.9 too weak\r\n").hold(), u"534 5.7.9"_s, true);
        row("454", asked().send("454 4.7.0 later\r\n").hold(), u"454 4.7.0 later"_s, false);
        row("421", asked().send("421 4.7.0 too many\r\n").close(), u"421 4.7.0"_s, false);
        row("a server that repeats it", asked().send("535 5.7.8 wrong: " + Plain + "\r\n").hold(),
            u"535 5.7.8 wrong: …"_s, true);
        row("a server that decodes it", asked().send("535 5.7.8 " + Password.toUtf8() + "?\r\n").hold(),
            u"535 5.7.8 …?"_s, true);
        row("garbage that repeats it", asked().send("? " + Plain + "\r\n").hold(), u"no SMTP reply"_s, false);
        row("334 to PLAIN's answer", asked().send("334 more\r\n").hold(), u"334 more"_s, false);
        row("closed", asked().close(), u"closed by the mail server"_s, false);
        row("silence", asked().hold(), u"no answer in time"_s, false);
        row("half of an answer that repeats it", asked().send("535 " + Plain).hold(), u"no answer in time"_s, false);
        row("XOAUTH2, the reason first",
            asked().send("334 eyJzdGF0dXMiOiI0MDEifQ==\r\n").expect("").send("535 5.7.8 expired\r\n").hold(),
            u"535 5.7.8 expired"_s, true, SmtpMechanism::XOAuth2);
        row("XOAUTH2 not offered", overTls({"AUTH PLAIN LOGIN"}).hold(), u"PLAIN, LOGIN, but not XOAUTH2"_s, false,
            SmtpMechanism::XOAuth2);
        row("nothing of ours offered", overTls({"AUTH CRAM-MD5"}).hold(), u"CRAM-MD5, but not PLAIN or LOGIN"_s, false);
        row("no log-in offered", overTls({"PIPELINING"}).hold(), u"offers no log-in"_s, false);
    }

    void aLogInThatFailsIsNotSentAndTellsNoSecret()
    {
        QFETCH(const SmtpScript, script);
        QFETCH(const int, mechanism);
        QFETCH(const QString, told);
        QFETCH(const bool, permanent);
        const ScriptedSmtp server({script});
        SmtpSettings where = trusting(server, SmtpSecurity::Tls, true);
        where.mechanism = SmtpMechanism(mechanism);
        if (told == "no answer in time"_L1)
            where.timeout = Short;
        const SendResult result = sendOne(where);
        QCOMPARE(result.status, Status::NotSent);
        QVERIFY2(tells(result, told), qPrintable(result.text));
        QCOMPARE(result.permanent, permanent);
        QVERIFY2(!holdsSecret(everything(result)), everything(result).constData());
        QVERIFY(!server.lines().join('\n').contains("MAIL FROM"));
        QCOMPARE(server.problem(), QString());
    }

    void aLongTokenWaitsForItsQuestion()
    {
        const QString token(2000, u't');
        const QByteArray answer = ("user=dana\1auth=Bearer " + token.toUtf8() + "\1\1").toBase64();
        const ScriptedSmtp server({overTls({"AUTH XOAUTH2"})
                                       .expect("AUTH XOAUTH2")
                                       .send("334 \r\n")
                                       .expect(answer)
                                       .send("235 2.7.0 Ok\r\n")
                                       .upTo354()
                                       .readMail()
                                       .send(Queued)});
        SmtpSettings where = trusting(server, SmtpSecurity::Tls, true);
        where.mechanism = SmtpMechanism::XOAuth2;
        where.password = std::make_shared<MailPassword>(token);
        const SendResult result = sendOne(where);
        QVERIFY2(result.status == Status::Sent, qPrintable(result.text + server.problem()));
        QVERIFY(server.lines().contains("AUTH XOAUTH2"));
    }

    void aRefusedTokenIsFetchedAnew()
    {
        const auto logIn = [this](const QByteArray &token) {
            return overTls({"AUTH XOAUTH2"})
                .expect("AUTH XOAUTH2 " + ("user=dana\1auth=Bearer " + token + "\1\1").toBase64());
        };
        const ScriptedSmtp server({logIn("t1").send("334 eyJ9\r\n").expect("").send("535 5.7.8 expired\r\n"),
                                   logIn("t2").send("235 2.7.0 Ok\r\n").upTo354().readMail().send(Queued).close(),
                                   logIn("t2").send("235 2.7.0 Ok\r\n").upTo354().readMail().send(Queued).hold()});
        int asked = 0;
        SmtpSettings where = trusting(server, SmtpSecurity::Tls, true);
        where.mechanism = SmtpMechanism::XOAuth2;
        where.password = std::make_shared<MailPassword>(
            [&asked](const std::function<bool()> &) -> Result<QString> { return u"t%1"_s.arg(++asked); });
        SmtpClient client(where);
        const std::atomic_bool stop = false;
        QCOMPARE(client.send(mail(), {}, stop).status, Status::NotSent); // never a second try by itself
        QCOMPARE(client.send(mail(), {}, stop).status, Status::Sent);
        QCOMPARE(client.send(mail(), {}, stop).status, Status::Sent);
        QCOMPARE(asked, 2);
        QCOMPARE(server.problem(), QString());
    }

    void withoutAPasswordNobodyIsCalled()
    {
        const ScriptedSmtp server({});
        SmtpSettings where = trusting(server, SmtpSecurity::Tls, true);
        where.password = std::make_shared<MailPassword>([](const std::function<bool()> &) -> Result<QString> {
            return Error{ErrorKind::Refused, u"the keyring is locked"_s, {}};
        });
        const SendResult result = sendOne(where);
        QCOMPARE(result.status, Status::NotSent);
        QVERIFY2(tells(result, u"the keyring is locked"_s), qPrintable(result.text));
        QCOMPARE(server.connections(), 0);
    }

    void inThisComputerAPasswordMayGoInClear()
    {
        const ScriptedSmtp server({SmtpScript::hello({"AUTH PLAIN"})
                                       .expect("AUTH PLAIN " + Plain)
                                       .send("235 2.7.0 Ok\r\n")
                                       .upTo354()
                                       .readMail()
                                       .send(Queued)});
        const SendResult result = sendOne(settings(server, SmtpSecurity::Clear, true));
        QVERIFY2(result.status == Status::Sent, qPrintable(result.text));
    }

    // what `sendoncectl check` asks

    void aProbeGoesThroughTlsAndLogIn()
    {
        const ScriptedSmtp server({startTls()
                                       .expect("EHLO")
                                       .send("250-x\r\n250-SIZE 1000\r\n250 AUTH PLAIN\r\n")
                                       .expect("AUTH PLAIN " + Plain)
                                       .send("235 2.7.0 Ok\r\n")
                                       .expect("QUIT")
                                       .send("221 2.0.0 bye\r\n")});
        const std::atomic_bool stop = false;
        const auto found = probeMailServer(trusting(server, SmtpSecurity::StartTls, true), stop);
        QVERIFY2(found, found ? "" : qPrintable(found.error().text));
        QCOMPARE(found->greeting, u"220 scripted.example ESMTP"_s);
        QCOMPARE(found->extensions, (QStringList{u"SIZE 1000"_s, u"AUTH PLAIN"_s}));
        QCOMPARE(server.problem(), QString());
    }

    void aProbeTellsWhatIsWrong()
    {
        const std::atomic_bool stop = false;
        {
            const ScriptedSmtp server({SmtpScript::hello({"STARTTLS"})
                                           .expect("STARTTLS")
                                           .send("220 2.0.0 go\r\n")
                                           .startTls(m_certificates.other())
                                           .hold()});
            const auto found = probeMailServer(trusting(server, SmtpSecurity::StartTls), stop);
            QVERIFY(!found);
            QCOMPARE(found.error().kind, ErrorKind::Refused);
            QVERIFY2(found.error().text.endsWith(u"it is for mail.example, not for 127.0.0.1"_s),
                     qPrintable(found.error().text));
        }
        {
            const ScriptedSmtp server({overTls({"AUTH PLAIN"}).expect("AUTH").send("535 5.7.8 wrong\r\n").hold()});
            const auto found = probeMailServer(trusting(server, SmtpSecurity::Tls, true), stop);
            QVERIFY(!found);
            QCOMPARE(found.error().kind, ErrorKind::Refused);
            QVERIFY(found.error().text.contains(u"535 5.7.8 wrong"_s));
        }
        {
            const ScriptedSmtp server({SmtpScript().hold()});
            SmtpSettings where = trusting(server, SmtpSecurity::Tls);
            where.timeout = Short;
            const auto found = probeMailServer(where, stop);
            QVERIFY(!found);
            QCOMPARE(found.error().kind, ErrorKind::Unreachable);
        }
    }
};

QTEST_GUILESS_MAIN(TestSmtpTls)
#include "tst_smtptls.moc"
