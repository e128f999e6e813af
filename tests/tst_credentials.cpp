#include "tests/world/scriptedhttp.h"
#include "worker/queue/awscredentials.h"
#include "worker/queue/credentials.h"
#include "worker/queue/sigv4.h"
#include "worker/queue/sqsclient.h"

#include <QFile>
#include <QNetworkAccessManager>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <optional>

using namespace sendonce;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

using Attributes = QMap<QString, QString>;

ScriptedHttp::Step refusal(const QByteArray &code)
{
    return ScriptedHttp::reply(403, R"({"__type":")" + code + R"(","message":"no"})");
}

QByteArray keyIdOf(const ScriptedHttp::Request &request)
{
    const QByteArray authorization = request.header("Authorization"_ba);
    const qsizetype from = authorization.indexOf("Credential=") + 11;
    return authorization.mid(from, authorization.indexOf('/', from) - from);
}

} // namespace

/// Renewal of keys, seen from the wire: a profile in files of the test's own, a server that plays SQS, another STS.
class TestCredentials : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();

    void processIsRunWithoutAShell();
    void processThatFails_data();
    void processThatFails();
    void oneRenewalForAllCalls();
    void keysAreRenewedBeforeTheirEnd();
    void oldKeysServeWhileRenewalFails();
    void fixedKeysAreReadAnew();
    void fixedKeysThatStayAreNotTriedAgain_data();
    void fixedKeysThatStayAreNotTriedAgain();
    void keysAreReadAnewWhenAskedFor();
    void newKeysThatAreRefusedTooEndIt();
    void keysWithoutAnOriginAreNotTriedAgain();
    void expiredEnvironmentSaysSo();
    void roleIsAssumed();
    void rolesAreAssumedOneAfterAnother();
    void roleThatIsRefused();
    void stsThatIsDownIsRetried();
    void abortEndsTheWaitForKeys();
    void clientGoesWhileItsProcessRuns();
    void clientGoesWhileStsIsAsked();
    void callbackMayDeleteTheClient_data();
    void callbackMayDeleteTheClient();

private:
    void configure(const QByteArray &config) { write(u"config"_s, config); }
    void write(const QString &name, const QByteArray &content);
    /// A program that counts its runs and then does the lines.
    QByteArray program(const QByteArray &lines);
    qsizetype runs() const;
    static QByteArray keys(const QByteArray &id, const QDateTime &expiration = {});
    std::unique_ptr<SqsClient> client(AwsCredentials found = {}, const QDateTime &expiration = {});
    Result<Attributes> ask(SqsClient &client);
    QUrl queue() const { return m_sqs->url("/000000000000/orders"_ba); }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<ScriptedHttp> m_sqs;
    std::unique_ptr<ScriptedHttp> m_sts;
    QMap<QString, QString> m_environment;
};

void TestCredentials::init()
{
    QTest::failOnWarning(QRegularExpression(u".*"_s));
    m_dir = std::make_unique<QTemporaryDir>();
    QVERIFY(m_dir->isValid());
    m_sqs = std::make_unique<ScriptedHttp>();
    m_sts = std::make_unique<ScriptedHttp>();
    m_environment = {{u"HOME"_s, m_dir->path()},
                     {u"AWS_CONFIG_FILE"_s, m_dir->filePath(u"config"_s)},
                     {u"AWS_SHARED_CREDENTIALS_FILE"_s, m_dir->filePath(u"credentials"_s)},
                     {u"AWS_ENDPOINT_URL_STS"_s, m_sts->url().toString()}};
}

void TestCredentials::cleanup()
{
    m_sqs.reset();
    m_sts.reset();
    m_dir.reset();
}

void TestCredentials::write(const QString &name, const QByteArray &content)
{
    QFile file(m_dir->filePath(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(content), content.size());
}

QByteArray TestCredentials::program(const QByteArray &lines)
{
    const QString path = m_dir->filePath(u"print keys"_s);
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return {};
    file.write("#!/bin/sh\necho \"$*\" >>\"" + m_dir->filePath(u"runs"_s).toUtf8() + "\"\n" + lines + '\n');
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return "credential_process = \"" + path.toUtf8() + "\" ";
}

qsizetype TestCredentials::runs() const
{
    QFile file(m_dir->filePath(u"runs"_s));
    return file.open(QIODevice::ReadOnly) ? file.readAll().count('\n') : 0;
}

QByteArray TestCredentials::keys(const QByteArray &id, const QDateTime &expiration)
{
    QByteArray json = R"({"Version":1,"AccessKeyId":")" + id + R"(","SecretAccessKey":"secret of )" + id + '"';
    if (expiration.isValid())
        json += R"(,"Expiration":")" + expiration.toUTC().toString(Qt::ISODate).toLatin1() + '"';
    return "echo '" + json + "}'";
}

std::unique_ptr<SqsClient> TestCredentials::client(AwsCredentials found, const QDateTime &expiration)
{
    found.origin = std::make_shared<const AwsKeyOrigin>(
        AwsKeyOrigin{m_environment, m_environment.contains(u"AWS_ACCESS_KEY_ID"_s) ? QString() : u"work"_s, expiration,
                     u"do something"_s});
    return std::make_unique<SqsClient>(SqsSettings{m_sqs->url(), u"eu-west-1"_s, found, 5s, 3, 1ms});
}

Result<Attributes> TestCredentials::ask(SqsClient &client)
{
    std::optional<Result<Attributes>> answer;
    client.getQueueAttributes(queue(), {u"All"_s}, this,
                              [&answer](Result<Attributes> result) { answer = std::move(result); });
    if (!QTest::qWaitFor([&answer] { return answer.has_value(); }))
        return Error{ErrorKind::Io, u"the test waited in vain"_s, {}};
    return *answer;
}

void TestCredentials::processIsRunWithoutAShell()
{
    configure("[profile work]\n" + program(keys("P1")) + "'a  b' $HOME ; # x\n");
    const auto sqs = client();
    const auto answer = ask(*sqs);
    QVERIFY2(answer, answer ? "" : qPrintable(answer.error().text));
    QVERIFY(ask(*sqs));
    QCOMPARE(m_sqs->requests().size(), 2);
    QCOMPARE(keyIdOf(m_sqs->requests().at(0)), "P1"_ba);
    QCOMPARE(keyIdOf(m_sqs->requests().at(1)), "P1"_ba);
    QFile file(m_dir->filePath(u"runs"_s));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), "a  b $HOME ; # x\n"_ba); // once
}

void TestCredentials::processThatFails_data()
{
    QTest::addColumn<QByteArray>("lines");
    QTest::addColumn<QString>("text");
    const QString name = u"credential_process of profile “work” "_s;
    QTest::newRow("exit code") << "echo canary; echo 'sign on first' >&2; echo more >&2; exit 3"_ba
                               << name + u"failed with exit code 3: sign on first"_s;
    QTest::newRow("no keys") << "echo canary"_ba << name + u"printed something that is not a JSON object"_s;
    QTest::newRow("crash") << "kill -9 $$"_ba << name + u"crashed"_s;
    QTest::newRow("flood") << "yes canary"_ba << name + u"printed more than 1 MiB"_s;
    QTest::newRow("expired") << keys("P1", QDateTime(QDate(2020, 1, 1), QTime(0, 0), Qt::UTC))
                             << u"the AWS credentials expired at 2020-01-01T00:00:00Z; see to it that the "
                                "credential_process of profile “work” prints keys that are good"_s;
}

void TestCredentials::processThatFails()
{
    QFETCH(QByteArray, lines);
    QFETCH(QString, text);
    configure("[profile work]\n" + program(lines) + '\n');
    const auto sqs = client();
    const auto answer = ask(*sqs);
    QVERIFY(!answer);
    QCOMPARE(answer.error().text, text);
    QCOMPARE(answer.error().kind, ErrorKind::Refused);
    QCOMPARE(m_sqs->requests().size(), 0);
    QCOMPARE(runs(), 1); // not retried by itself

    program(keys("P2"));
    QVERIFY(ask(*sqs)); // but by whoever asks again
}

void TestCredentials::oneRenewalForAllCalls()
{
    const QByteArray go = m_dir->filePath(u"go"_s).toUtf8();
    configure("[profile work]\n" + program("until [ -e '" + go + "' ]; do sleep 0.02; done; " + keys("P1")) + '\n');
    const auto sqs = client();
    int answers = 0;
    const auto call = [&] {
        sqs->getQueueAttributes(queue(), {u"All"_s}, this,
                                [&answers](const Result<Attributes> &answer) { answers += answer.ok() ? 1 : 0; });
    };
    call();
    QTRY_COMPARE(runs(), 1);
    call();
    call();
    QCoreApplication::processEvents(); // a second run would start here
    write(u"go"_s, {});
    QTRY_COMPARE(answers, 3);
    QCOMPARE(runs(), 1);
}

void TestCredentials::keysAreRenewedBeforeTheirEnd()
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    configure("[profile work]\n" + program(keys("P2", now.addSecs(3600))) + '\n');
    const auto fresh = client({u"P1"_s, u"secret"_s, {}}, now.addSecs(600));
    QVERIFY(ask(*fresh));
    QCOMPARE(runs(), 0);
    const auto old = client({u"P1"_s, u"secret"_s, {}}, now.addSecs(290));
    QVERIFY(ask(*old));
    QCOMPARE(runs(), 1);
    QVERIFY(ask(*old));
    QCOMPARE(runs(), 1);
    QCOMPARE(keyIdOf(m_sqs->requests().at(0)), "P1"_ba);
    QCOMPARE(keyIdOf(m_sqs->requests().at(1)), "P2"_ba);
    QCOMPARE(keyIdOf(m_sqs->requests().at(2)), "P2"_ba);
}

void TestCredentials::oldKeysServeWhileRenewalFails()
{
    configure("[profile work]\n" + program("exit 1") + '\n');
    const auto sqs = client({u"P1"_s, u"secret"_s, {}}, QDateTime::currentDateTimeUtc().addSecs(100));
    QVERIFY(ask(*sqs));
    QVERIFY(ask(*sqs));
    QCOMPARE(runs(), 1); // the next try is half a minute away
    QCOMPARE(keyIdOf(m_sqs->requests().at(1)), "P1"_ba);
}

void TestCredentials::fixedKeysAreReadAnew()
{
    write(u"credentials"_s, "[work]\naws_access_key_id = NEW\naws_secret_access_key = s\naws_session_token = t\n"_ba);
    m_sqs->next(refusal("ExpiredTokenException"));
    const auto sqs = client({u"OLD"_s, u"s"_s, {}});
    QVERIFY(ask(*sqs));
    QCOMPARE(m_sqs->requests().size(), 2);
    QCOMPARE(keyIdOf(m_sqs->requests().at(0)), "OLD"_ba);
    QCOMPARE(keyIdOf(m_sqs->requests().at(1)), "NEW"_ba);
    QCOMPARE(m_sqs->requests().at(1).header("X-Amz-Security-Token"_ba), "t"_ba);
}

void TestCredentials::fixedKeysThatStayAreNotTriedAgain_data()
{
    QTest::addColumn<QByteArray>("code");
    for (const char *code : {"ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId",
                             "UnrecognizedClientException", "SignatureDoesNotMatch", "MissingAuthenticationToken"})
        QTest::newRow(code) << QByteArray(code);
}

void TestCredentials::fixedKeysThatStayAreNotTriedAgain()
{
    QFETCH(QByteArray, code);
    write(u"credentials"_s, "[work]\naws_access_key_id = OLD\naws_secret_access_key = s\n"_ba);
    const auto sqs = client({u"OLD"_s, u"s"_s, {}});
    for (int round = 1; round <= 2; ++round) {
        m_sqs->next(refusal(code));
        const auto answer = ask(*sqs);
        QVERIFY(!answer);
        QCOMPARE(answer.error().kind, ErrorKind::Refused);
        QCOMPARE(answer.error().code, QString::fromLatin1(code));
        QCOMPARE(
            answer.error().text,
            u"queue endpoint %1 answered GetQueueAttributes with %2: no; put new keys into profile “work” (%3)"_s.arg(
                m_sqs->url().authority(), QString::fromLatin1(code), m_dir->filePath(u"credentials"_s)));
        QCOMPARE(m_sqs->requests().size(), round);
    }
    write(u"credentials"_s, "[work]\naws_access_key_id = NEW\naws_secret_access_key = s\n"_ba);
    m_sqs->next(refusal(code));
    QVERIFY(ask(*sqs));
    QCOMPARE(keyIdOf(m_sqs->requests().last()), "NEW"_ba);
}

void TestCredentials::keysAreReadAnewWhenAskedFor()
{
    write(u"credentials"_s, "[work]\naws_access_key_id = NEW\naws_secret_access_key = s\n"_ba);
    const auto sqs = client({u"OLD"_s, u"s"_s, {}});
    QVERIFY(ask(*sqs));
    sqs->renewKeys();
    QVERIFY(ask(*sqs));
    QVERIFY(ask(*sqs));
    QCOMPARE(m_sqs->requests().size(), 3);
    QCOMPARE(keyIdOf(m_sqs->requests().at(0)), "OLD"_ba);
    QCOMPARE(keyIdOf(m_sqs->requests().at(1)), "NEW"_ba);
}

void TestCredentials::newKeysThatAreRefusedTooEndIt()
{
    configure("[profile work]\n" + program(keys("P2")) + '\n');
    for (int i = 0; i < 2; ++i)
        m_sqs->next(refusal("ExpiredToken"));
    const auto sqs = client({u"P1"_s, u"s"_s, {}});
    const auto answer = ask(*sqs);
    QVERIFY(!answer);
    QCOMPARE(answer.error().code, u"ExpiredToken"_s);
    QVERIFY2(answer.error().text.endsWith(
                 u"; see to it that the credential_process of profile “work” prints keys that are good"_s),
             qPrintable(answer.error().text));
    QCOMPARE(m_sqs->requests().size(), 2);
    QCOMPARE(runs(), 1);
}

void TestCredentials::keysWithoutAnOriginAreNotTriedAgain()
{
    m_sqs->next(refusal("InvalidClientTokenId"));
    SqsClient sqs({m_sqs->url(), u"eu-west-1"_s, {u"A"_s, u"s"_s, {}}, 5s, 3, 1ms});
    const auto answer = ask(sqs);
    QVERIFY(!answer);
    QVERIFY2(answer.error().text.endsWith("InvalidClientTokenId: no; check the access key"_L1),
             qPrintable(answer.error().text));
    QCOMPARE(m_sqs->requests().size(), 1);
}

void TestCredentials::expiredEnvironmentSaysSo()
{
    m_environment.insert(u"AWS_ACCESS_KEY_ID"_s, u"E"_s);
    m_environment.insert(u"AWS_SECRET_ACCESS_KEY"_s, u"canary-secret"_s);
    m_environment.insert(u"AWS_CREDENTIAL_EXPIRATION"_s, u"2020-01-01T00:00:00Z"_s);
    const auto found = resolveAws(m_environment, {}, {});
    QVERIFY(found);
    const auto sqs = client(*found->credentials, found->plan->expiration);
    const auto answer = ask(*sqs);
    QVERIFY(!answer);
    QCOMPARE(answer.error().text,
             u"the AWS credentials expired at 2020-01-01T00:00:00Z; set new keys in the environment and start again"_s);
    QCOMPARE(m_sqs->requests().size(), 0);
}

namespace {

ScriptedHttp::Step role(const QByteArray &id)
{
    return ScriptedHttp::reply(
        200,
        R"(<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>)"
        "<AccessKeyId>"
            + id + "</AccessKeyId><SecretAccessKey>s" + id + "</SecretAccessKey><SessionToken>t" + id
            + "</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult>"
              "</AssumeRoleResponse>");
}

/// What STS computes to check a signature.
QByteArray rightAuthorization(const ScriptedHttp::Request &request, const QByteArray &id, const QByteArray &secret,
                              const QByteArray &region)
{
    const QByteArray authorization = request.header("Authorization"_ba);
    const qsizetype from = authorization.indexOf("SignedHeaders=") + 14;
    sigv4::Request seen{request.method, request.target, {}, request.body};
    for (const QByteArray &name : authorization.mid(from, authorization.indexOf(',', from) - from).split(';'))
        seen.headers.append({name, request.header(name)});
    QDateTime time =
        QDateTime::fromString(QString::fromLatin1(request.header("X-Amz-Date"_ba)), u"yyyyMMdd'T'HHmmss'Z'"_s);
    time.setTimeSpec(Qt::UTC);
    const sigv4::Scope scope{time, region, "sts"_ba};
    return sigv4::authorization(seen, scope, id, sigv4::signingKey(secret, scope));
}

} // namespace

void TestCredentials::roleIsAssumed()
{
    configure("[profile work]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = base\nregion = eu-west-1\n"
              "external_id = e\n"_ba);
    write(u"credentials"_s, "[base]\naws_access_key_id = BASE\naws_secret_access_key = sBASE\n"_ba);
    m_sts->next(role("R1"));
    const auto sqs = client();
    const auto answer = ask(*sqs);
    QVERIFY2(answer, answer ? "" : qPrintable(answer.error().text));
    QVERIFY(ask(*sqs));
    QCOMPARE(m_sts->requests().size(), 1);
    const auto &request = m_sts->requests().first();
    QCOMPARE(request.method, "POST"_ba);
    QCOMPARE(request.target, "/"_ba);
    QCOMPARE(request.header("Content-Type"_ba), "application/x-www-form-urlencoded; charset=utf-8"_ba);
    QCOMPARE(request.body,
             "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fx"
             "&RoleSessionName=sendonce&ExternalId=e"_ba);
    QCOMPARE(request.header("Authorization"_ba), rightAuthorization(request, "BASE"_ba, "sBASE"_ba, "eu-west-1"_ba));
    QCOMPARE(keyIdOf(m_sqs->requests().at(1)), "R1"_ba);
    QCOMPARE(m_sqs->requests().at(1).header("X-Amz-Security-Token"_ba), "tR1"_ba);
}

void TestCredentials::rolesAreAssumedOneAfterAnother()
{
    configure("[profile work]\nrole_arn = two\nsource_profile = base\n"
              "[profile base]\nrole_arn = one\nsource_profile = root\n"
              "[profile root]\n"
              + program(keys("P1")) + '\n');
    m_sts->next(role("R1"));
    m_sts->next(role("R2"));
    const auto sqs = client();
    QVERIFY(ask(*sqs));
    QCOMPARE(runs(), 1);
    QCOMPARE(m_sts->requests().size(), 2);
    QVERIFY(m_sts->requests().at(0).body.contains("RoleArn=one&"));
    QCOMPARE(keyIdOf(m_sts->requests().at(0)), "P1"_ba);
    QVERIFY(m_sts->requests().at(1).body.contains("RoleArn=two&"));
    QCOMPARE(keyIdOf(m_sts->requests().at(1)), "R1"_ba);
    QCOMPARE(m_sts->requests().at(1).header("X-Amz-Security-Token"_ba), "tR1"_ba);
    QCOMPARE(keyIdOf(m_sqs->requests().at(0)), "R2"_ba);
}

void TestCredentials::roleThatIsRefused()
{
    configure("[profile work]\nrole_arn = r\nsource_profile = base\n"_ba);
    write(u"credentials"_s, "[base]\naws_access_key_id = BASE\naws_secret_access_key = s\n"_ba);
    m_sts->next(ScriptedHttp::reply(
        403, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>"_ba));
    const auto sqs = client();
    const auto answer = ask(*sqs);
    QVERIFY(!answer);
    QCOMPARE(answer.error().code, u"CredentialsProviderError"_s); // not STS's, which would be taken for the queue's
    QVERIFY(SqsClient::refusesKeys(answer.error(), false));
    QCOMPARE(answer.error().kind, ErrorKind::Refused);
    QCOMPARE(answer.error().text,
             u"the STS endpoint %1 answered AssumeRole for r (profile “work”) with AccessDenied: not you"_s.arg(
                 m_sts->url().authority()));
    QCOMPARE(m_sts->requests().size(), 1);
    QCOMPARE(m_sqs->requests().size(), 0);
}

void TestCredentials::stsThatIsDownIsRetried()
{
    configure("[profile work]\nrole_arn = r\nsource_profile = base\n"_ba);
    write(u"credentials"_s, "[base]\naws_access_key_id = BASE\naws_secret_access_key = s\n"_ba);
    m_sts->next({{}, ScriptedHttp::After::Close});
    m_sts->next(ScriptedHttp::reply(503, {}));
    m_sts->next(role("R1"));
    const auto sqs = client();
    const auto answer = ask(*sqs);
    QVERIFY2(answer, answer ? "" : qPrintable(answer.error().text));
    QCOMPARE(m_sts->requests().size(), 3);
    QCOMPARE(m_sqs->requests().size(), 1);
}

void TestCredentials::abortEndsTheWaitForKeys()
{
    configure("[profile work]\n" + program("exec sleep 60") + '\n');
    const auto sqs = client();
    std::optional<ErrorKind> end;
    SqsCall *call = sqs->getQueueAttributes(queue(), {u"All"_s}, this,
                                            [&end](const Result<Attributes> &answer) { end = answer.error().kind; });
    QTRY_COMPARE(runs(), 1);
    call->abort();
    QCOMPARE(end.value_or(ErrorKind::Io), ErrorKind::Aborted);
    QCOMPARE(m_sqs->requests().size(), 0);
}

void TestCredentials::clientGoesWhileItsProcessRuns()
{
    configure("[profile work]\n" + program("exec sleep 60") + '\n');
    auto sqs = client();
    bool answered = false;
    sqs->getQueueAttributes(queue(), {u"All"_s}, this, [&answered](const Result<Attributes> &) { answered = true; });
    QTRY_COMPARE(runs(), 1);
    sqs.reset(); // no warning of QProcess's, no wait
    QVERIFY(!answered);
}

void TestCredentials::clientGoesWhileStsIsAsked()
{
    configure("[profile work]\nrole_arn = r\nsource_profile = base\n"_ba);
    write(u"credentials"_s, "[base]\naws_access_key_id = BASE\naws_secret_access_key = s\n"_ba);
    m_sts->next(ScriptedHttp::stall());
    auto sqs = client();
    bool answered = false;
    sqs->getQueueAttributes(queue(), {u"All"_s}, this, [&answered](const Result<Attributes> &) { answered = true; });
    QTRY_COMPARE(m_sts->requests().size(), 1);
    sqs.reset();
    QTRY_COMPARE(m_sts->openConnections(), 0);
    QVERIFY(!answered);
}

void TestCredentials::callbackMayDeleteTheClient_data()
{
    QTest::addColumn<QByteArray>("lines");
    QTest::newRow("no keys") << "exit 1"_ba;
    QTest::newRow("flood") << "yes"_ba;
    QTest::newRow("keys") << keys("P1");
}

void TestCredentials::callbackMayDeleteTheClient()
{
    QFETCH(QByteArray, lines);
    configure("[profile work]\n" + program(lines) + '\n');
    auto sqs = client();
    int answers = 0;
    for (int i = 0; i < 2; ++i)
        sqs->getQueueAttributes(queue(), {u"All"_s}, this, [&answers, &sqs](const Result<Attributes> &) {
            ++answers;
            sqs.reset();
        });
    QTRY_COMPARE(answers, 1);
    QVERIFY(!sqs);
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    QCOMPARE(answers, 1);
}

QTEST_GUILESS_MAIN(TestCredentials)
#include "tst_credentials.moc"
