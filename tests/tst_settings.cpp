#include "app/config/embedded.h"
#include "app/config/settings.h"
#include "app/process/privacy.h"
#include "worker/mail/mailpassword.h"

#include <QtTest>

#include <QTemporaryDir>

#include <sys/stat.h>

using namespace sendonce;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

class SettingsTest : public QObject
{
    Q_OBJECT

    QTemporaryDir m_home;

    /// Nothing but what the test names: no AWS files, no variables of the person who runs it.
    QProcessEnvironment environment(const QMap<QString, QString> &variables = {}) const
    {
        QProcessEnvironment result;
        result.insert(u"HOME"_s, m_home.path());
        for (auto it = variables.cbegin(); it != variables.cend(); ++it)
            result.insert(it.key(), it.value());
        return result;
    }

    Result<Config> resolved(const QMap<QString, QString> &flags, const QMap<QString, QString> &variables = {},
                            const std::optional<LocalAddresses> &local = {}) const
    {
        const auto env = environment(variables);
        return resolve(gather(flags, env), env, u"/data"_s, local);
    }

    static LocalAddresses running()
    {
        LocalAddresses local;
        local.id = u"id"_s;
        local.sqsPort = 4001;
        local.smtpPort = 4002;
        local.controlSocket = u"/run/x.sock"_s;
        return local;
    }

private Q_SLOTS:
    void defaultsAreTheEmbeddedServices()
    {
        const auto config = resolved({});
        QVERIFY2(config, config ? "" : qPrintable(config.error().text));
        QCOMPARE(config->queueUrl, QUrl(u"http://127.0.0.1:9324/000000000000/job-board-events"_s));
        QCOMPARE(config->mailUrl, QUrl(u"smtp://127.0.0.1:1025"_s));
        QCOMPARE(config->databaseUrl, u"sqlite:////data/sendonce.db"_s);
        QCOMPARE(config->region, u"us-east-1"_s);
        QCOMPARE(config->mailTimeout, std::chrono::milliseconds(10s));
        QCOMPARE(config->mailFinalTimeout, std::chrono::milliseconds(60s));
        QVERIFY(!config->credentials.accessKeyId.isEmpty());
        QVERIFY(!config->embedded); // they are not known to run
    }

    void runningServicesOfTheFolderAreUsedAndAreEmbedded()
    {
        const auto config = resolved({}, {}, running());
        QCOMPARE(config->queueUrl.port(), 4001);
        QCOMPARE(config->mailUrl.port(), 4002);
        QVERIFY(config->embedded);
        QCOMPARE(config->profile, u"Local"_s);
    }

    void somethingForeignIsNotEmbedded_data()
    {
        QTest::addColumn<QString>("flag");
        QTest::addColumn<QString>("value");
        QTest::newRow("queue elsewhere") << u"queue-url"_s << u"http://127.0.0.1:5000/000000000000/q"_s;
        QTest::newRow("mail elsewhere") << u"mail-url"_s << u"smtp://127.0.0.1:25"_s;
        QTest::newRow("database elsewhere") << u"database-url"_s << u"sqlite:////other/jobs.db"_s;
        QTest::newRow("database server") << u"database-url"_s << u"postgresql:///jobs"_s;
    }

    void somethingForeignIsNotEmbedded()
    {
        QFETCH(QString, flag);
        QFETCH(QString, value);
        const auto config = resolved({{flag, value}}, {}, running());
        QVERIFY2(config, config ? "" : qPrintable(config.error().text));
        QVERIFY(!config->embedded);
        QCOMPARE(config->profile, u"Environment"_s);
    }

    void handledEventsAreKeptFor45DaysOrAsToldTo()
    {
        QCOMPARE(resolved({})->keepDays, 45);
        QCOMPARE(resolved({}, {{u"SENDONCE_KEEP_DAYS"_s, u"90"_s}})->keepDays, 90);
    }

    void aDatabaseServerHasLanesAndAFileHasOne()
    {
        const QMap<QString, QString> server{{u"DATABASE_URL"_s, u"postgres://me:secret@db.example/jobs"_s}};
        QCOMPARE(resolved({}, server)->lanes, 32);
        QCOMPARE(resolved({{u"lanes"_s, u"8"_s}}, server)->lanes, 8);
        QCOMPARE(resolved({{u"lanes"_s, u"8"_s}})->lanes, 1);
    }

    void aDatabasePasswordIsWarnedOfAndInNoError()
    {
        const QString url = u"postgres://me:secret@db.example/jobs"_s;
        const QString warning = visiblePassword({{u"database-url"_s, url}});
        QVERIFY(warning.contains(u"--database-url"_s) && !warning.contains(u"secret"_s));
        QCOMPARE(visiblePassword({{u"database-url"_s, u"postgres://me@db.example/jobs"_s}}), QString());
        const auto config = resolved({}, {{u"DATABASE_URL"_s, url + u"?what=ever"_s}});
        QVERIFY(!config && config.error().text.startsWith(u"DATABASE_URL"_s));
        QVERIFY(!config.error().text.contains(u"secret"_s));
    }

    void aFlagBeatsTheEnvironmentWhichBeatsTheDefault()
    {
        const QMap<QString, QString> variables{{u"SENDONCE_MAIL_FROM"_s, u"env@example.org"_s}};
        QCOMPARE(resolved({}, variables)->mailFrom, u"env@example.org"_s);
        QCOMPARE(resolved({{u"mail-from"_s, u"flag@example.org"_s}}, variables)->mailFrom, u"flag@example.org"_s);
    }

    void theSqsEndpointVariableBeatsTheGeneralOne()
    {
        const QMap<QString, QString> both{{u"AWS_ENDPOINT_URL"_s, u"http://127.0.0.1:1"_s},
                                          {u"AWS_ENDPOINT_URL_SQS"_s, u"http://127.0.0.1:2"_s}};
        QCOMPARE(resolved({}, both)->endpoint, QUrl(u"http://127.0.0.1:2"_s));
        QCOMPARE(resolved({}, both)->queueUrl, QUrl(u"http://127.0.0.1:2/000000000000/job-board-events"_s));
        auto ignored = both;
        ignored.insert(u"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"_s, u"true"_s);
        QVERIFY(resolved({}, ignored)->endpoint.isEmpty());
    }

    void unusableValuesNameTheSettingTheValueAndWhatIsAccepted_data()
    {
        QTest::addColumn<QString>("flag");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("accepted");
        QTest::newRow("queue-url") << u"queue-url"_s << u"job-board-events"_s << u"http://"_s;
        QTest::newRow("endpoint-url") << u"endpoint-url"_s << u"ftp://x"_s << u"http:// or https://"_s;
        QTest::newRow("database scheme") << u"database-url"_s << u"mysql://h/j"_s << u"postgresql://"_s;
        QTest::newRow("database key") << u"database-url"_s << u"postgresql://h/j?schema=x"_s << u"sslmode"_s;
        QTest::newRow("database memory") << u"database-url"_s << u"sqlite://"_s << u"sqlite:///"_s;
        QTest::newRow("mail-url") << u"mail-url"_s << u"imap://x"_s << u"smtp://"_s;
        QTest::newRow("mail-from") << u"mail-from"_s << u"nobody"_s << u"one address"_s;
        QTest::newRow("lanes") << u"lanes"_s << u"many"_s << u"1 to 256"_s;
        QTest::newRow("keep-days") << u"keep-days"_s << u"never"_s << u"1 to 36500"_s;
        QTest::newRow("mail-rate") << u"mail-rate"_s << u"0"_s << u"1 to 100000"_s;
        QTest::newRow("strategy") << u"strategy"_s << u"hope"_s << u"transaction, claim-send-mark"_s;
        QTest::newRow("in-doubt") << u"in-doubt"_s << u"shrug"_s << u"resend, hold, ask"_s;
        QTest::newRow("mail-timeout") << u"mail-timeout"_s << u"soon"_s << u"10s or 500ms"_s;
        QTest::newRow("message-id-domain") << u"message-id-domain"_s << u"a b"_s << u"a domain"_s;
    }

    void unusableValuesNameTheSettingTheValueAndWhatIsAccepted()
    {
        QFETCH(QString, flag);
        QFETCH(QString, value);
        QFETCH(QString, accepted);
        const auto config = resolved({{flag, value}});
        QVERIFY(!config);
        QCOMPARE(config.error().kind, ErrorKind::Invalid);
        QVERIFY2(config.error().text.contains(u"--"_s + flag), qPrintable(config.error().text));
        QVERIFY2(config.error().text.contains(accepted), qPrintable(config.error().text));
        QVERIFY(!config.error().text.contains(u'\n'));
        // The same from the environment names the variable.
    }

    void anErrorFromTheEnvironmentNamesTheVariable()
    {
        const auto config = resolved({}, {{u"SENDONCE_LANES"_s, u"0"_s}});
        QVERIFY(!config);
        QVERIFY2(config.error().text.startsWith(u"SENDONCE_LANES is “0”"_s), qPrintable(config.error().text));
    }

    void aPasswordIsInNoError()
    {
        for (const QString &url :
             {u"smtp://user:s3cret@mail.example.org"_s, u"smtps://user:s3cret@mail.example.org/x"_s,
              u"smtp://user:s3cret@"_s, u"s3cret"_s}) {
            const auto config = resolved({{u"mail-url"_s, url}});
            QVERIFY(!config);
            if (url.contains(u':'))
                QVERIFY2(!config.error().text.contains(u"s3cret"_s), qPrintable(config.error().text));
        }
        const auto queue = resolved({{u"queue-url"_s, u"https://user:s3cret@sqs.example.org/1/q"_s}});
        QVERIFY(!queue);
        QVERIFY2(!queue.error().text.contains(u"s3cret"_s), qPrintable(queue.error().text));
    }

    static QString passwordOf(const Config &config)
    {
        const auto password = config.mailPassword ? config.mailPassword->get([] { return true; }) : u"none"_s;
        return password ? password.value() : password.error().text;
    }

    void theMailPasswordLeavesTheUrl()
    {
        const auto config = resolved({{u"mail-url"_s, u"smtps://d%40na:s3%40cret@mail.example:465"_s}});
        QVERIFY2(config, config ? "" : qPrintable(config.error().text));
        QVERIFY(!config->mailUrl.toString(QUrl::FullyEncoded).contains(u"cret"_s));
        QCOMPARE(config->mailUrl.userName(), u"d@na"_s);
        QCOMPARE(passwordOf(config.value()), u"s3@cret"_s);
    }

    void theMailPortIsTold()
    {
        const QMap<QString, QString> password{{u"SENDONCE_MAIL_PASSWORD"_s, u"x"_s}};
        QCOMPARE(resolved({{u"mail-url"_s, u"smtps://dana@mail.example"_s}}, password)->mailUrl.port(), 465);
        QCOMPARE(resolved({{u"mail-url"_s, u"smtp+starttls://dana@mail.example"_s}}, password)->mailUrl.port(), 587);
    }

    void theMailPasswordHasFourSources()
    {
        QMap<QString, QString> flags{{u"mail-url"_s, u"smtps://dana@mail.example"_s}};
        QMap<QString, QString> variables;
        QCOMPARE(resolved(flags, variables)->mailPassword->askable(),
                 u"dana@mail.example"_s); // the keychain's, or typed
        variables.insert(u"SENDONCE_MAIL_PASSWORD"_s, u"from the variable"_s);
        QCOMPARE(passwordOf(resolved(flags, variables).value()), u"from the variable"_s);
        QCOMPARE(resolved(flags, variables)->mailPassword->askable(), QString());
        variables.insert(u"SENDONCE_MAIL_PASSWORD_COMMAND"_s, u"printf 'from the command\\r\\nmore'"_s);
        QCOMPARE(passwordOf(resolved(flags, variables).value()), u"from the command"_s);
        flags.insert(u"mail-url"_s, u"smtps://dana:from%20the%20URL@mail.example"_s);
        QCOMPARE(passwordOf(resolved(flags, variables).value()), u"from the URL"_s);
    }

    void aPasswordCommandThatFailsSaysSo_data()
    {
        QTest::addColumn<QString>("command");
        QTest::addColumn<QString>("told");
        QTest::newRow("not there") << u"/no/such/program"_s << u"could not be started"_s;
        QTest::newRow("exit code") << u"sh -c 'echo s3cret; exit 3'"_s << u"exit code 3"_s;
        QTest::newRow("signal") << u"sh -c 'echo s3cret; kill -9 $$'"_s << u"crashed"_s;
        QTest::newRow("nothing") << u"true"_s << u"empty"_s;
        QTest::newRow("an empty line") << u"sh -c 'echo; echo s3cret'"_s << u"empty"_s;
        QTest::newRow("too much") << u"yes s3cret"_s << u"more than 64 KiB"_s;
    }

    void aPasswordCommandThatFailsSaysSo()
    {
        QFETCH(QString, command);
        QFETCH(QString, told);
        const auto config =
            resolved({{u"mail-url"_s, u"smtps://dana@mail.example"_s}, {u"mail-password-command"_s, command}});
        QVERIFY2(config, config ? "" : qPrintable(config.error().text));
        const auto password = config->mailPassword->get([] { return true; });
        QVERIFY(!password);
        QVERIFY2(password.error().text.contains(told), qPrintable(password.error().text));
        QVERIFY(!password.error().text.contains(u"s3cret"_s));
    }

    void aPasswordCommandThatHangsIsKilled()
    {
        const auto config =
            resolved({{u"mail-url"_s, u"smtps://dana@mail.example"_s}, {u"mail-password-command"_s, u"sleep 1000"_s}});
        QVERIFY(config);
        int asked = 0;
        const auto password = config->mailPassword->get([&asked] { return ++asked < 3; });
        QVERIFY(!password);
        QCOMPARE(password.error().kind, ErrorKind::Aborted);
    }

    void aPasswordCommandIsNoShell()
    {
        const auto config = resolved(
            {{u"mail-url"_s, u"smtps://dana@mail.example"_s}, {u"mail-password-command"_s, u"echo $HOME; true"_s}});
        QCOMPARE(passwordOf(config.value()), u"$HOME; true"_s);
    }

    void mailInClearNeedsLeave()
    {
        const QMap<QString, QString> flags{{u"mail-url"_s, u"smtp://mail.example"_s}};
        const auto refused = resolved(flags);
        QVERIFY(!refused);
        QVERIFY2(refused.error().text.contains(u"--allow-plain-mail"_s), qPrintable(refused.error().text));
        QVERIFY(!resolved(flags, {{u"SENDONCE_ALLOW_PLAIN_MAIL"_s, u"0"_s}}));
        QVERIFY(!resolved(flags, {{u"SENDONCE_ALLOW_PLAIN_MAIL"_s, u"perhaps"_s}}));
        QVERIFY(resolved(flags, {{u"SENDONCE_ALLOW_PLAIN_MAIL"_s, u"1"_s}})->allowPlainMail);
        auto allowed = flags;
        allowed.insert(u"allow-plain-mail"_s, {});
        QVERIFY(resolved(allowed)->allowPlainMail);
    }

    void otherMailSettings()
    {
        QCOMPARE(resolved({{u"mail-idempotency-header"_s, u"Resend-Idempotency-Key"_s}})->mailIdempotencyHeader,
                 u"Resend-Idempotency-Key"_s);
        for (const QString &bad : {u"Subject"_s, u"X:Y"_s, u"X Y"_s, u"X\r\nBcc"_s, u"Content-Type"_s, u"bcc"_s})
            QVERIFY(!resolved({{u"mail-idempotency-header"_s, bad}}));
        const auto file = resolved({{u"mail-ca-file"_s, u"/no/such/file.pem"_s}});
        QVERIFY(!file);
        QVERIFY2(file.error().text.startsWith(u"--mail-ca-file: /no/such/file.pem"_s), qPrintable(file.error().text));
        const auto command = resolved({{u"mail-password-command"_s, u"pass 'mail"_s}});
        QVERIFY(!command);
        QVERIFY(command.error().text.contains(u"quotes"_s));
    }

    void aRealEndpointWithoutCredentialsSaysSo()
    {
        const auto config = resolved({{u"queue-url"_s, u"https://sqs.eu-west-1.amazonaws.com/123456789012/q"_s}});
        QVERIFY(!config);
        QVERIFY(config.error().text.contains(u"AWS_ACCESS_KEY_ID"_s));
        const QMap<QString, QString> keys{{u"AWS_ACCESS_KEY_ID"_s, u"AKID"_s},
                                          {u"AWS_SECRET_ACCESS_KEY"_s, u"secret"_s}};
        const auto good = resolved({{u"queue-url"_s, u"https://sqs.eu-west-1.amazonaws.com/123456789012/q"_s}}, keys);
        QVERIFY(good);
        QCOMPARE(good->credentials.accessKeyId, u"AKID"_s);
    }

    void whyThereAreNoCredentialsIsTold()
    {
        const auto config = resolved({{u"queue-url"_s, u"https://sqs.eu-west-1.amazonaws.com/123456789012/q"_s}},
                                     {{u"AWS_PROFILE"_s, u"gone"_s}});
        QVERIFY(!config);
        QVERIFY2(
            config.error().text.startsWith(u"no AWS credentials for sqs.eu-west-1.amazonaws.com: profile “gone”"_s),
            qPrintable(config.error().text));
        QVERIFY(config.error().text.contains(u"; set AWS_ACCESS_KEY_ID and"_s));
    }

    void keysOfAProgramAreFetchedLaterAndOnlyWhereTheyMatter()
    {
        const QString path = m_home.filePath(u"aws-config"_s);
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("[default]\ncredential_process = /bin/false\n[profile work]\ncredential_process = /bin/false\n");
        file.close();
        const QMap<QString, QString> variables{{u"AWS_CONFIG_FILE"_s, path}};
        const auto aws =
            resolved({{u"queue-url"_s, u"https://sqs.eu-west-1.amazonaws.com/123456789012/q"_s}}, variables);
        QVERIFY2(aws, aws ? "" : qPrintable(aws.error().text));
        QVERIFY(aws->credentials.accessKeyId.isEmpty());
        QVERIFY(aws->credentials.origin != nullptr);

        const auto local = resolved({}, variables);
        QVERIFY(local);
        QCOMPARE(local->credentials.accessKeyId, u"test"_s);
        QVERIFY(local->credentials.origin == nullptr);
        const auto chosen = resolved({{u"aws-profile"_s, u"work"_s}}, variables);
        QVERIFY(chosen);
        QVERIFY(chosen->credentials.origin != nullptr);
    }

    void keysThatExpireDoSoOnlyWhereTheyMatter()
    {
        const QMap<QString, QString> keys{{u"AWS_ACCESS_KEY_ID"_s, u"AKID"_s},
                                          {u"AWS_SECRET_ACCESS_KEY"_s, u"secret"_s},
                                          {u"AWS_CREDENTIAL_EXPIRATION"_s, u"2020-01-01T00:00:00Z"_s}};
        const auto local = resolved({}, keys);
        QVERIFY(local);
        QCOMPARE(local->credentials.accessKeyId, u"AKID"_s);
        QVERIFY(local->credentials.origin == nullptr);
        const auto aws = resolved({{u"queue-url"_s, u"https://sqs.eu-west-1.amazonaws.com/123456789012/q"_s}}, keys);
        QVERIFY(aws);
        QVERIFY(aws->credentials.origin != nullptr);
    }

    void durations_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("msec");
        QTest::newRow("plain") << u"10"_s << 10'000;
        QTest::newRow("seconds") << u"3s"_s << 3'000;
        QTest::newRow("milliseconds") << u"500ms"_s << 500;
        QTest::newRow("negative") << u"-1"_s << -1;
        QTest::newRow("minutes") << u"1m"_s << -1;
        QTest::newRow("empty") << QString(u""_s) << -1;
    }

    void durations()
    {
        QFETCH(QString, text);
        QFETCH(int, msec);
        const auto duration = parseDuration(text);
        QCOMPARE(duration.has_value(), msec >= 0);
        if (duration)
            QCOMPARE(duration->count(), msec);
    }

    void aDataFolderIsMadePrivate()
    {
        ::umask(077);
        const QString path = m_home.path() + u"/new/data"_s;
        const auto made = prepareDataDir(path);
        QVERIFY(made);
        struct stat status = {};
        QCOMPARE(::stat(qPrintable(path), &status), 0);
        QCOMPARE(int(status.st_mode & 0777), 0700);
    }

    void aDataFolderThatOthersCanWriteIsRefused()
    {
        const QString path = m_home.path() + u"/open"_s;
        QVERIFY(QDir().mkpath(path));
        QCOMPARE(::chmod(qPrintable(path), 0777), 0);
        const auto refused = prepareDataDir(path);
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::Refused);
        QVERIFY(refused.error().text.contains(path));
    }

    void aLinkAsDataFolderIsRefused()
    {
        const QString path = m_home.path() + u"/link"_s;
        QVERIFY(QFile::link(m_home.path(), path));
        QVERIFY(!prepareDataDir(path));
    }
};

QTEST_GUILESS_MAIN(SettingsTest)
#include "tst_settings.moc"
