#include "worker/mail/smtpsettings.h"

#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <thread>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

Q_DECLARE_METATYPE(sendonce::SmtpSecurity)

namespace {

/// What the password of these settings is; empty: there is none.
QString passwordOf(const SmtpSettings &settings)
{
    return settings.password ? settings.password->get([] { return true; }).value() : QString();
}

Config config(const QString &url)
{
    Config result;
    result.mailUrl = QUrl(url);
    return result;
}

} // namespace

class TestSmtpSettings : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void aUrlNamesTheWayHostAndPort_data()
    {
        QTest::addColumn<QString>("url");
        QTest::addColumn<SmtpSecurity>("security");
        QTest::addColumn<QString>("host");
        QTest::addColumn<int>("port");
        const auto row = [](const QString &url, SmtpSecurity security, const QString &host, int port) {
            QTest::newRow(qPrintable(url)) << url << security << host << port;
        };
        row(u"smtp://127.0.0.1:1025"_s, SmtpSecurity::Clear, u"127.0.0.1"_s, 1025);
        row(u"smtp://mail.example"_s, SmtpSecurity::Clear, u"mail.example"_s, 25);
        row(u"smtp://[::1]:2525/"_s, SmtpSecurity::Clear, u"::1"_s, 2525);
        row(u"smtp+starttls://mail.example"_s, SmtpSecurity::StartTls, u"mail.example"_s, 587);
        row(u"smtp+tls://mail.example"_s, SmtpSecurity::StartTls, u"mail.example"_s, 587);
        row(u"SMTP+StartTLS://mail.example:25"_s, SmtpSecurity::StartTls, u"mail.example"_s, 25);
        row(u"smtps://mail.example"_s, SmtpSecurity::Tls, u"mail.example"_s, 465);
        row(u"smtp+ssl://mail.example:2465"_s, SmtpSecurity::Tls, u"mail.example"_s, 2465);
        row(u"smtps://pöst.example"_s, SmtpSecurity::Tls, u"xn--pst-sna.example"_s, 465);
    }

    void aUrlNamesTheWayHostAndPort()
    {
        QFETCH(const QString, url);
        QFETCH(const SmtpSecurity, security);
        QFETCH(const QString, host);
        QFETCH(const int, port);
        const Result<SmtpSettings> settings = SmtpSettings::fromUrl(QUrl(url));
        QVERIFY2(settings, settings ? "" : qPrintable(settings.error().text));
        QVERIFY(settings->security == security);
        QCOMPARE(settings->host, host);
        QCOMPARE(int(settings->port), port);
        QVERIFY(settings->user.isEmpty() && !settings->password);
    }

    void userAndPasswordArePercentEncoded()
    {
        const auto settings =
            SmtpSettings::fromUrl(QUrl(u"smtps://d%40na:p%40ss%3A%2F%25%C3%BC@mail.example?auth=login"_s));
        QVERIFY2(settings, settings ? "" : qPrintable(settings.error().text));
        QCOMPARE(settings->user, u"d@na"_s);
        QCOMPARE(passwordOf(settings.value()), u"p@ss:/%ü"_s);
        QVERIFY(settings->mechanism == SmtpMechanism::Login);
        QVERIFY(SmtpSettings::fromUrl(QUrl(u"smtps://u:p@h?auth=XOAUTH2"_s))->mechanism == SmtpMechanism::XOAuth2);
        QVERIFY(SmtpSettings::fromUrl(QUrl(u"smtps://u:p@h"_s))->mechanism == SmtpMechanism::Any);
    }

    void otherUrlsAreRefusedWithoutTheirSecret_data()
    {
        QTest::addColumn<QString>("url");
        for (const char *url :
             {"", "http://mail.example", "smtp://", "smtps://:465", "smtp://mail.example:0",
              "smtp://mail.example/hunter2", "smtp://mail.example?x=hunter2", "smtp://mail.example#x",
              "mail.example:25", "smtps://u:hunter2@mail.example/x", "smtps://u:hunter2@mail.example?auth=cram-md5",
              "smtps://u:hunter2@mail.example?auth=plain&auth=login", "smtps://u:hunter2@mail.example?auth=login&x=1",
              "smtps://:hunter2@mail.example", "smtps://mail.example?auth=plain", "smtps://u%0a:hunter2@mail.example",
              "smtps://u:hunter2%00@mail.example", "smtps://u:hunter2%0d%0a@mail.example", "imap://u:hunter2@x"})
            QTest::newRow(url) << QString::fromLatin1(url);
    }

    void otherUrlsAreRefusedWithoutTheirSecret()
    {
        QFETCH(const QString, url);
        const Result<SmtpSettings> refused = SmtpSettings::fromUrl(QUrl(url));
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::Invalid);
        QVERIFY(refused.error().text.contains(u"smtp+starttls://"_s));
        QVERIFY(!refused.error().text.contains(u"hunter2"_s));
        QVERIFY(!refused.error().text.contains(u'\n'));
    }

    void mailInClearStaysInThisComputer_data()
    {
        QTest::addColumn<QString>("url");
        QTest::addColumn<bool>("allowed");
        QTest::addColumn<bool>("usable");
        QTest::newRow("loopback") << u"smtp://127.0.0.1:1025"_s << false << true;
        QTest::newRow("all of 127/8") << u"smtp://127.3.4.5"_s << false << true;
        QTest::newRow("IPv6 loopback") << u"smtp://[::1]"_s << false << true;
        QTest::newRow("localhost") << u"smtp://localhost"_s << false << true;
        QTest::newRow("below localhost") << u"smtp://mail.localhost"_s << false << true;
        QTest::newRow("elsewhere") << u"smtp://mail.example"_s << false << false;
        QTest::newRow("a name that only begins so") << u"smtp://localhost.example"_s << false << false;
        QTest::newRow("private address") << u"smtp://192.168.0.1"_s << false << false;
        QTest::newRow("elsewhere, allowed") << u"smtp://mail.example"_s << true << true;
        QTest::newRow("elsewhere, STARTTLS") << u"smtp+starttls://mail.example"_s << false << true;
        QTest::newRow("elsewhere, TLS") << u"smtps://mail.example"_s << false << true;
    }

    void mailInClearStaysInThisComputer()
    {
        QFETCH(const QString, url);
        QFETCH(const bool, allowed);
        QFETCH(const bool, usable);
        Config wanted = config(url);
        wanted.allowPlainMail = allowed;
        const auto settings = SmtpSettings::fromConfig(wanted);
        QCOMPARE(settings.ok(), usable);
        if (!usable)
            QVERIFY(settings.error().text.contains(u"--allow-plain-mail"_s));
    }

    void aUserNeedsAPassword()
    {
        Config wanted = config(u"smtps://dana@mail.example"_s);
        const auto without = SmtpSettings::fromConfig(wanted);
        QVERIFY(!without);
        QVERIFY(without.error().text.contains(u"SENDONCE_MAIL_PASSWORD"_s));
        wanted.mailPassword = std::make_shared<MailPassword>(u"hunter2"_s);
        QCOMPARE(passwordOf(SmtpSettings::fromConfig(wanted).value()), u"hunter2"_s);
        wanted.mailUrl = QUrl(u"smtps://dana:own@mail.example"_s);
        QCOMPARE(passwordOf(SmtpSettings::fromConfig(wanted).value()), u"own"_s);
    }

    void timesAreTaken()
    {
        Config wanted = config(u"smtp://127.0.0.1"_s);
        wanted.mailTimeout = 3s;
        wanted.mailFinalTimeout = 7s;
        QCOMPARE(SmtpSettings::fromConfig(wanted)->timeout, std::chrono::milliseconds(3s));
        QCOMPARE(SmtpSettings::fromConfig(wanted)->finalTimeout, std::chrono::milliseconds(7s));
    }

    void aFileWithoutCertificatesIsRefused()
    {
        QTemporaryDir folder;
        Config wanted = config(u"smtps://mail.example"_s);
        wanted.mailCaFile = folder.filePath(u"none.pem"_s);
        QVERIFY(!SmtpSettings::fromConfig(wanted));
        QFile file(wanted.mailCaFile);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("no certificate\n") > 0);
        file.close();
        const auto refused = SmtpSettings::fromConfig(wanted);
        QVERIFY(!refused);
        QVERIFY(refused.error().text.contains(u"--mail-ca-file"_s) && refused.error().text.contains(u"PEM"_s));
    }

    // the password's source

    void aSourceIsAskedOnceAndAgainWhenItsPasswordWasRefused()
    {
        int asked = 0;
        MailPassword password(
            [&asked](const std::function<bool()> &) -> Result<QString> { return u"token %1"_s.arg(++asked); });
        const auto always = [] { return true; };
        QCOMPARE(password.get(always).value(), u"token 1"_s);
        QCOMPARE(password.get(always).value(), u"token 1"_s);
        password.refused(u"token 1"_s);
        QCOMPARE(password.get(always).value(), u"token 2"_s);
        password.refused(u"token 1"_s); // another lane, late: the new one is not concerned
        QCOMPARE(password.get(always).value(), u"token 2"_s);
    }

    void theSamePasswordIsNotTriedAgainAtOnce()
    {
        int asked = 0;
        QString now = u"wrong"_s;
        MailPassword password(
            [&](const std::function<bool()> &) -> Result<QString> {
                ++asked;
                return now;
            },
            200ms);
        const auto always = [] { return true; };
        QCOMPARE(password.get(always).value(), u"wrong"_s);
        password.refused(u"wrong"_s);
        const auto again = password.get(always);
        QVERIFY(!again);
        QCOMPARE(again.error().kind, ErrorKind::Refused);
        QVERIFY(!again.error().text.contains(u"wrong"_s));
        now = u"right"_s;
        QCOMPARE(password.get(always).value(), u"right"_s);
        QCOMPARE(asked, 3);
        password.refused(u"right"_s); // a server's whim
        QVERIFY(!password.get(always));
        QTRY_VERIFY(password.get(always).ok());
    }

    void aSourceThatFailsIsAskedAgain()
    {
        int asked = 0;
        MailPassword password([&asked](const std::function<bool()> &) -> Result<QString> {
            if (++asked == 1)
                return Error{ErrorKind::Refused, u"locked"_s, {}};
            return u"open"_s;
        });
        QCOMPARE(password.get([] { return true; }).error().text, u"locked"_s);
        QCOMPARE(password.get([] { return true; }).value(), u"open"_s);
    }

    void aPasswordThatCannotBeOneIsRefused()
    {
        for (const QString &bad : {QString(), u"a\nb"_s, QString(QChar::Null)}) {
            const auto refused = MailPassword(bad).get([] { return true; });
            QVERIFY(!refused);
            QCOMPARE(refused.error().kind, ErrorKind::Invalid);
        }
    }

    void whoWaitsForAnotherLanesCommandMayGiveUp()
    {
        std::atomic_bool inside = false;
        std::atomic_bool leave = false;
        MailPassword password([&](const std::function<bool()> &) -> Result<QString> {
            inside = true;
            while (!leave)
                std::this_thread::yield();
            return u"late"_s;
        });
        std::thread other([&] { (void)password.get([] { return true; }); });
        while (!inside)
            std::this_thread::yield();
        const auto ended = password.get([] { return false; });
        leave = true;
        other.join();
        QVERIFY(!ended);
        QCOMPARE(ended.error().kind, ErrorKind::Aborted);
        QCOMPARE(password.get([] { return true; }).value(), u"late"_s);
    }
};

QTEST_GUILESS_MAIN(TestSmtpSettings)
#include "tst_smtpsettings.moc"
