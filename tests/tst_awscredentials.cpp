#include "worker/queue/awscredentials.h"
#include "worker/queue/awsini.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

namespace {

using Environment = QMap<QString, QString>;

AwsFiles files(const QByteArray &config, const QByteArray &credentials = {})
{
    AwsFiles result;
    result.config = config;
    result.credentials = credentials;
    return result;
}

} // namespace

Q_DECLARE_METATYPE(AwsFiles)

class TestAwsCredentials : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void oddForms_data();
    void oddForms();
    void nestedBlocks();
    void commentsAreCutFromWordsOnly();

    void keys_data();
    void keys();
    void nothingConfigured();
    void environmentBesideAProfileWarns();
    void halfAPairInTheEnvironmentIsAnError_data();
    void halfAPairInTheEnvironmentIsAnError();
    void profileWithoutUsableKeys_data();
    void profileWithoutUsableKeys();
    void processIsPlanned();
    void rolesArePlanned_data();
    void rolesArePlanned();
    void stsEndpoint_data();
    void stsEndpoint();
    void expirationOfTheEnvironment();
    void errorsHoldNoSecret();

    void region_data();
    void region();
    void endpoint_data();
    void endpoint();
    void unusableEndpoint_data();
    void unusableEndpoint();

    void filesAreFound();
    void missingFilesAreEmpty();
};

void TestAwsCredentials::oddForms_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("section");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    const QString region = u"region"_s;
    QTest::newRow("plain") << "[default]\nregion = us-east-2\n"_ba << u"default"_s << region << u"us-east-2"_s;
    QTest::newRow("no blanks, no last line end")
        << "[default]\nregion=us-east-2"_ba << u"default"_s << region << u"us-east-2"_s;
    QTest::newRow("byte order mark and CRLF")
        << "\xef\xbb\xbf[default]\r\nregion = us-east-2\r\n"_ba << u"default"_s << region << u"us-east-2"_s;
    QTest::newRow("comment lines") << "# a\n; b\n[default]\n  # region = x\nregion = us-east-2\n;region = y\n"_ba
                                   << u"default"_s << region << u"us-east-2"_s;
    QTest::newRow("comment behind the section")
        << "[default] # mine\nregion = us-east-2"_ba << u"default"_s << region << u"us-east-2"_s;
    QTest::newRow("blanks in the brackets")
        << "[ profile   work ]\nregion = us-east-2"_ba << u"profile work"_s << region << u"us-east-2"_s;
    QTest::newRow("double quotes") << "[profile \"my team\"]\nregion = us-east-2"_ba << u"profile my team"_s << region
                                   << u"us-east-2"_s;
    QTest::newRow("single quotes") << "[profile 'my team']\nregion = us-east-2"_ba << u"profile my team"_s << region
                                   << u"us-east-2"_s;
    QTest::newRow("key in upper case") << "[default]\nRegion = us-east-2"_ba << u"default"_s << region
                                       << u"us-east-2"_s;
    QTest::newRow("colon for equals") << "[default]\nregion: us-east-2"_ba << u"default"_s << region << u"us-east-2"_s;
    QTest::newRow("everything indented") << "[default]\n  output =\n  region = us-east-2"_ba << u"default"_s << region
                                         << u"us-east-2"_s;
    QTest::newRow("section twice") << "[default]\noutput = json\n[a]\n[default]\nregion = us-east-2"_ba << u"default"_s
                                   << region << u"us-east-2"_s;
    QTest::newRow("the later one counts")
        << "[default]\nregion = a-b-1\nregion = us-east-2"_ba << u"default"_s << region << u"us-east-2"_s;
    QTest::newRow("lines that say nothing") << "region = lost\n[default]\nnonsense\n= value\nregion = us-east-2"_ba
                                            << u"default"_s << region << u"us-east-2"_s;
    QTest::newRow("section without its end")
        << "[default]\nregion = us-east-2\n[profile x\nregion = lost"_ba << u"default"_s << region << u"us-east-2"_s;
    QTest::newRow("equals sign in the value")
        << "[default]\naws_session_token = abc=="_ba << u"default"_s << u"aws_session_token"_s << u"abc=="_s;
    QTest::newRow("tabs") << "[default]\n\tregion\t=\tus-east-2\t"_ba << u"default"_s << region << u"us-east-2"_s;
}

void TestAwsCredentials::oddForms()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, section);
    QFETCH(QString, key);
    QFETCH(QString, value);
    const AwsIni ini = parseAwsIni(text);
    QVERIFY2(ini.contains(section), qPrintable(ini.keys().join(u"|")));
    QCOMPARE(ini.value(section).secret(key), value);
    QCOMPARE(ini.value(section).word(key), value);
}

void TestAwsCredentials::nestedBlocks()
{
    const AwsIni ini = parseAwsIni("[services local]\n"
                                   "sqs = # here\n"
                                   "  endpoint_url = http://127.0.0.1:9324\n"
                                   "\n"
                                   "  # not this one\n"
                                   "  region = eu-west-1\n"
                                   "s3 =\n"
                                   "\tendpoint_url = http://127.0.0.1:9000\n"
                                   "plain = 1\n"
                                   "  stray = 2\n"_ba);
    const AwsIniSection section = ini.value(u"services local"_s);
    QCOMPARE(section.nested.value(u"sqs"_s),
             (QMap<QString, QString>{{u"endpoint_url"_s, u"http://127.0.0.1:9324"_s}, {u"region"_s, u"eu-west-1"_s}}));
    QCOMPARE(section.nested.value(u"s3"_s), (QMap<QString, QString>{{u"endpoint_url"_s, u"http://127.0.0.1:9000"_s}}));
    QCOMPARE(section.values.value(u"plain"_s), u"1"_s);
    QCOMPARE(section.values.value(u"stray"_s), u"2"_s);
}

void TestAwsCredentials::commentsAreCutFromWordsOnly()
{
    const AwsIniSection section = parseAwsIni("[default]\n"
                                              "region = us-east-2 # home\n"
                                              "output = json\t; or text\n"
                                              "aws_secret_access_key = ab#cd ;ef\n"
                                              "endpoint_url = http://h/#frag\n"
                                              "empty = # nothing\n"_ba)
                                      .value(u"default"_s);
    QCOMPARE(section.word(u"region"_s), u"us-east-2"_s);
    QCOMPARE(section.word(u"output"_s), u"json"_s);
    QCOMPARE(section.secret(u"aws_secret_access_key"_s), u"ab#cd ;ef"_s);
    QCOMPARE(section.word(u"endpoint_url"_s), u"http://h/#frag"_s);
}

void TestAwsCredentials::keys_data()
{
    QTest::addColumn<Environment>("environment");
    QTest::addColumn<QString>("profile");
    QTest::addColumn<AwsFiles>("given");
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("token");
    QTest::addColumn<QString>("source");

    const Environment inEnvironment{{u"AWS_ACCESS_KEY_ID"_s, u"ENV"_s}, {u"AWS_SECRET_ACCESS_KEY"_s, u"secret"_s}};
    Environment withToken = inEnvironment;
    withToken.insert(u"AWS_SESSION_TOKEN"_s, u"tok"_s);
    Environment withOldToken = inEnvironment;
    withOldToken.insert(u"AWS_SECURITY_TOKEN"_s, u"old"_s);
    Environment withProfile = inEnvironment;
    withProfile.insert(u"AWS_PROFILE"_s, u"work"_s);
    const AwsFiles both =
        files("[default]\naws_access_key_id = CONF\naws_secret_access_key = secret\n"
              "[profile work]\naws_access_key_id = WORKCONF\naws_secret_access_key = secret\n"
              "[plain]\naws_access_key_id = NOPROFILE\naws_secret_access_key = secret\n"_ba,
              "[default]\naws_access_key_id = CRED\naws_secret_access_key = secret\naws_session_token = tok\n"
              "[work]\naws_access_key_id = WORKCRED\naws_secret_access_key = secret\n"_ba);
    const AwsFiles configOnly = files(both.config);

    QTest::newRow("environment beats the default profile")
        << inEnvironment << u""_s << both << u"ENV"_s << u""_s << u"environment"_s;
    QTest::newRow("session token") << withToken << u""_s << both << u"ENV"_s << u"tok"_s << u"environment"_s;
    QTest::newRow("its old name") << withOldToken << u""_s << both << u"ENV"_s << u"old"_s << u"environment"_s;
    QTest::newRow("environment beats AWS_PROFILE")
        << withProfile << u""_s << both << u"ENV"_s << u""_s << u"environment"_s;
    QTest::newRow("a chosen profile beats the environment")
        << inEnvironment << u"work"_s << both << u"WORKCRED"_s << u""_s << u"profile “work” (~/.aws/credentials)"_s;
    QTest::newRow("AWS_PROFILE") << Environment{{u"AWS_PROFILE"_s, u"work"_s}} << u""_s << both << u"WORKCRED"_s
                                 << u""_s << u"profile “work” (~/.aws/credentials)"_s;
    QTest::newRow("AWS_DEFAULT_PROFILE") << Environment{{u"AWS_DEFAULT_PROFILE"_s, u"work"_s}} << u""_s << both
                                         << u"WORKCRED"_s << u""_s << u"profile “work” (~/.aws/credentials)"_s;
    QTest::newRow("a chosen profile beats AWS_PROFILE")
        << Environment{{u"AWS_PROFILE"_s, u"work"_s}} << u"default"_s << both << u"CRED"_s << u"tok"_s
        << u"profile “default” (~/.aws/credentials)"_s;
    QTest::newRow("default profile") << Environment() << u""_s << both << u"CRED"_s << u"tok"_s
                                     << u"profile “default” (~/.aws/credentials)"_s;
    QTest::newRow("keys in the config file")
        << Environment() << u""_s << configOnly << u"CONF"_s << u""_s << u"profile “default” (~/.aws/config)"_s;
    QTest::newRow("[profile default] beats [default]")
        << Environment() << u""_s
        << files("[profile default]\naws_access_key_id = A\naws_secret_access_key = s\n"
                 "[default]\naws_access_key_id = B\naws_secret_access_key = s\n"_ba)
        << u"A"_s << u""_s << u"profile “default” (~/.aws/config)"_s;
    QTest::newRow("empty variables are not set")
        << Environment{{u"AWS_ACCESS_KEY_ID"_s, u""_s}, {u"AWS_SECRET_ACCESS_KEY"_s, u""_s}, {u"AWS_PROFILE"_s, u""_s}}
        << u""_s << both << u"CRED"_s << u"tok"_s << u"profile “default” (~/.aws/credentials)"_s;
}

void TestAwsCredentials::keys()
{
    QFETCH(Environment, environment);
    QFETCH(QString, profile);
    QFETCH(AwsFiles, given);
    QFETCH(QString, id);
    QFETCH(QString, token);
    QFETCH(QString, source);
    const Result<AwsSettings> settings = resolveAws(environment, profile, given);
    QVERIFY2(settings.ok(), settings.ok() ? "" : qPrintable(settings.error().text));
    QVERIFY(settings->credentials.has_value());
    QCOMPARE(settings->credentials->accessKeyId, id);
    QVERIFY(!settings->credentials->secretAccessKey.isEmpty());
    QCOMPARE(settings->credentials->sessionToken, token);
    QCOMPARE(settings->credentialsSource, source);
    QCOMPARE(settings->credentialsProblem, QString());
}

void TestAwsCredentials::nothingConfigured()
{
    const Result<AwsSettings> settings = resolveAws({}, {}, {});
    QVERIFY(settings.ok());
    QVERIFY(!settings->credentials);
    QCOMPARE(settings->credentialsSource, QString());
    QCOMPARE(settings->credentialsProblem, QString());
    QCOMPARE(settings->region, QString());
    QVERIFY(settings->endpoint.isEmpty());
    QCOMPARE(settings->warnings, QStringList());
}

void TestAwsCredentials::environmentBesideAProfileWarns()
{
    const Environment environment{
        {u"AWS_ACCESS_KEY_ID"_s, u"A"_s}, {u"AWS_SECRET_ACCESS_KEY"_s, u"s"_s}, {u"AWS_PROFILE"_s, u"work"_s}};
    const Result<AwsSettings> settings = resolveAws(environment, {}, files({}, "[work]\nregion = eu-west-1"_ba));
    QCOMPARE(settings->warnings.size(), 1);
    QVERIFY(settings->warnings.first().contains("work"_L1));
    QCOMPARE(settings->region, u"eu-west-1"_s); // the rest of the profile counts
}

void TestAwsCredentials::halfAPairInTheEnvironmentIsAnError_data()
{
    QTest::addColumn<QString>("set");
    QTest::addColumn<QString>("missing");
    QTest::newRow("id alone") << u"AWS_ACCESS_KEY_ID"_s << u"AWS_SECRET_ACCESS_KEY"_s;
    QTest::newRow("secret alone") << u"AWS_SECRET_ACCESS_KEY"_s << u"AWS_ACCESS_KEY_ID"_s;
}

void TestAwsCredentials::halfAPairInTheEnvironmentIsAnError()
{
    QFETCH(QString, set);
    QFETCH(QString, missing);
    const Result<AwsSettings> settings = resolveAws({{set, u"canary"_s}}, {}, {});
    QVERIFY(!settings.ok());
    QCOMPARE(settings.error().kind, ErrorKind::Invalid);
    QCOMPARE(settings.error().text, u"the environment has %1 without %2"_s.arg(set, missing));
}

void TestAwsCredentials::profileWithoutUsableKeys_data()
{
    QTest::addColumn<AwsFiles>("given");
    QTest::addColumn<QString>("named"); ///< in the text
    const QByteArray keys = "aws_access_key_id = A\naws_secret_access_key = s\n"_ba;
    QTest::newRow("missing") << files("[work]\n" + keys) << u"neither in ~/.aws/config (as [profile work])"_s;
    QTest::newRow("role without its keys") << files("[profile work]\nrole_arn = r\n", "[work]\n" + keys)
                                           << u"none of source_profile and credential_source"_s;
    QTest::newRow("role with two sources")
        << files("[profile work]\nrole_arn = r\nsource_profile = x\ncredential_source = Environment\n")
        << u"both of source_profile and credential_source"_s;
    QTest::newRow("role by MFA") << files("[profile work]\nrole_arn = r\nsource_profile = x\nmfa_serial = m\n")
                                 << u"mfa_serial"_s;
    QTest::newRow("role of a container") << files("[profile work]\nrole_arn = r\ncredential_source = EcsContainer\n")
                                         << u"EcsContainer"_s;
    QTest::newRow("role for an unlikely time")
        << files("[profile work]\nrole_arn = r\nsource_profile = work\nduration_seconds = 1h\n" + keys)
        << u"duration_seconds"_s;
    QTest::newRow("role, source missing")
        << files("[profile work]\nrole_arn = r\nsource_profile = x\n") << u"source_profile = x, which is neither"_s;
    QTest::newRow("role, source without keys")
        << files("[profile work]\nrole_arn = r\nsource_profile = x\n[profile x]\nregion = r\n")
        << u"source_profile = x, which has no keys"_s;
    QTest::newRow("role of itself") << files("[profile work]\nrole_arn = r\nsource_profile = work\n")
                                    << u"work → work"_s;
    QTest::newRow("roles in a circle") << files(
        "[profile work]\nrole_arn = r\nsource_profile = b\n[profile b]\nrole_arn = r\nsource_profile = c\n"
        "[profile c]\nrole_arn = r\nsource_profile = b\n")
                                       << u"work → b → c → b"_s;
    QTest::newRow("web identity") << files("[profile work]\nrole_arn = arn:x\nweb_identity_token_file = /x\n")
                                  << u"web_identity_token_file"_s;
    QTest::newRow("SSO") << files("[profile work]\nsso_session = corp\nsso_account_id = 1\n", "[work]\n" + keys)
                         << u"sso_session"_s;
    QTest::newRow("old SSO") << files("[profile work]\nsso_start_url = https://x\n") << u"sso_start_url"_s;
    QTest::newRow("process that is no command")
        << files("[profile work]\ncredential_process = /bin/x \"y\n" + keys) << u"credential_process"_s;
    QTest::newRow("half a pair") << files({}, "[work]\naws_access_key_id = A\n") << u"without aws_secret_access_key"_s;
    QTest::newRow("the other half") << files({}, "[work]\naws_secret_access_key = s\n")
                                    << u"without aws_access_key_id"_s;
}

void TestAwsCredentials::profileWithoutUsableKeys()
{
    QFETCH(AwsFiles, given);
    QFETCH(QString, named);
    const Result<AwsSettings> chosen = resolveAws({}, u"work"_s, given);
    QVERIFY(!chosen.ok());
    QCOMPARE(chosen.error().kind, ErrorKind::Invalid);
    QVERIFY2(chosen.error().text.contains(named), qPrintable(chosen.error().text));
    QVERIFY2(chosen.error().text.contains(u"“work”"_s), qPrintable(chosen.error().text));

    // By AWS_PROFILE it is a problem only for those who need keys.
    const Result<AwsSettings> ambient = resolveAws({{u"AWS_PROFILE"_s, u"work"_s}}, {}, given);
    QVERIFY(ambient.ok());
    QVERIFY(!ambient->credentials);
    QVERIFY2(ambient->credentialsProblem.contains(named), qPrintable(ambient->credentialsProblem));

    const Environment environment{
        {u"AWS_ACCESS_KEY_ID"_s, u"A"_s}, {u"AWS_SECRET_ACCESS_KEY"_s, u"s"_s}, {u"AWS_PROFILE"_s, u"work"_s}};
    const Result<AwsSettings> keysBeside = resolveAws(environment, {}, given);
    QVERIFY(keysBeside.ok());
    QCOMPARE(keysBeside->credentials->accessKeyId, u"A"_s);
    QCOMPARE(keysBeside->credentialsProblem, QString());
}

void TestAwsCredentials::processIsPlanned()
{
    const auto settings = resolveAws({}, u"work"_s,
                                     files("[profile work]\n"
                                           "credential_process = \"/opt/my tool\" 'a # b' # c\n"
                                           "aws_access_key_id = A\naws_secret_access_key = s\n"_ba));
    QVERIFY(settings.ok());
    QVERIFY(settings->plan);
    QVERIFY(!settings->credentials); // those of the config file come after a process
    QCOMPARE(settings->plan->process, (QStringList{u"/opt/my tool"_s, u"a # b"_s, u"#"_s, u"c"_s}));
    QCOMPARE(settings->plan->processProfile, u"work"_s);
    QCOMPARE(settings->credentialsSource, u"credential_process of profile “work”"_s);

    const auto both = resolveAws({}, u"work"_s,
                                 files("[profile work]\ncredential_process = /bin/x\n"_ba,
                                       "[work]\naws_access_key_id = A\naws_secret_access_key = s\n"_ba));
    QVERIFY(both.ok());
    QVERIFY(both->plan->isFixed());
    QCOMPARE(both->credentials->accessKeyId, u"A"_s);
}

void TestAwsCredentials::rolesArePlanned_data()
{
    QTest::addColumn<AwsFiles>("given");
    QTest::addColumn<Environment>("environment");
    QTest::addColumn<QString>("id"); ///< of the keys to begin with; empty: a process
    QTest::addColumn<QStringList>("arns");
    const QByteArray keys = "aws_access_key_id = A\naws_secret_access_key = s\n"_ba;
    const QByteArray role = "[profile work]\nrole_arn = r1\nsource_profile = base\n"_ba;
    QTest::newRow("keys of the credentials file")
        << files(role, "[base]\n" + keys) << Environment() << u"A"_s << QStringList{u"r1"_s};
    QTest::newRow("keys of the config file")
        << files(role + "[profile base]\n" + keys) << Environment() << u"A"_s << QStringList{u"r1"_s};
    QTest::newRow("process") << files(role + "[profile base]\ncredential_process = /bin/x\n") << Environment() << u""_s
                             << QStringList{u"r1"_s};
    QTest::newRow("two roles") << files(role + "[profile base]\nrole_arn = r0\nsource_profile = root\n",
                                        "[root]\n" + keys)
                               << Environment() << u"A"_s << QStringList{u"r0"_s, u"r1"_s};
    QTest::newRow("source with keys and a role")
        << files(role + "[profile base]\nrole_arn = r0\nsource_profile = root\n", "[base]\n" + keys) << Environment()
        << u"A"_s << QStringList{u"r1"_s};
    QTest::newRow("itself, with keys") << files("[profile work]\nrole_arn = r1\nsource_profile = work\n" + keys)
                                       << Environment() << u"A"_s << QStringList{u"r1"_s};
    QTest::newRow("role and keys: the role") << files(role, "[work]\naws_access_key_id = B\n[base]\n" + keys)
                                             << Environment() << u"A"_s << QStringList{u"r1"_s};
    QTest::newRow("keys of the environment")
        << files("[profile work]\nrole_arn = r1\ncredential_source = Environment\n")
        << Environment{{u"AWS_ACCESS_KEY_ID"_s, u"E"_s}, {u"AWS_SECRET_ACCESS_KEY"_s, u"s"_s}} << u"E"_s
        << QStringList{u"r1"_s};
}

void TestAwsCredentials::rolesArePlanned()
{
    QFETCH(AwsFiles, given);
    QFETCH(Environment, environment);
    QFETCH(QString, id);
    QFETCH(QStringList, arns);
    const auto settings = resolveAws(environment, u"work"_s, given);
    QVERIFY2(settings.ok(), settings.ok() ? "" : qPrintable(settings.error().text));
    QVERIFY(settings->plan);
    QVERIFY(!settings->credentials);
    QVERIFY(!settings->plan->isFixed());
    QCOMPARE(settings->plan->keys.accessKeyId, id);
    QCOMPARE(settings->plan->process.isEmpty(), !id.isEmpty());
    QStringList found;
    for (const AwsRole &role : settings->plan->roles)
        found.append(role.arn);
    QCOMPARE(found, arns);
    QCOMPARE(settings->credentialsSource, u"role r1 of profile “work”"_s);
    QCOMPARE(settings->plan->stsEndpoint, QUrl(u"https://sts.us-east-1.amazonaws.com"_s));
    QCOMPARE(settings->plan->stsRegion, u"us-east-1"_s);
}

void TestAwsCredentials::stsEndpoint_data()
{
    QTest::addColumn<Environment>("environment");
    QTest::addColumn<QByteArray>("more"); ///< of the profile
    QTest::addColumn<QString>("url");
    QTest::newRow("region") << Environment{{u"AWS_REGION"_s, u"cn-north-1"_s}} << QByteArray()
                            << u"https://sts.cn-north-1.amazonaws.com.cn"_s;
    QTest::newRow("region of the profile")
        << Environment() << "region = eu-west-1\n"_ba << u"https://sts.eu-west-1.amazonaws.com"_s;
    QTest::newRow("its own variable") << Environment{{u"AWS_ENDPOINT_URL_STS"_s, u"http://h:1"_s},
                                                     {u"AWS_ENDPOINT_URL"_s, u"http://h:2"_s}}
                                      << QByteArray() << u"http://h:1"_s;
    QTest::newRow("variable of all services")
        << Environment{{u"AWS_ENDPOINT_URL_SQS"_s, u"http://h:1"_s}, {u"AWS_ENDPOINT_URL"_s, u"http://h:2"_s}}
        << QByteArray() << u"http://h:2"_s;
    QTest::newRow("services") << Environment() << "services = s\n[services s]\nsts =\n  endpoint_url = http://h:3\n"_ba
                              << u"http://h:3"_s;
}

void TestAwsCredentials::stsEndpoint()
{
    QFETCH(Environment, environment);
    QFETCH(QByteArray, more);
    QFETCH(QString, url);
    const auto settings = resolveAws(
        environment, u"work"_s,
        files("[profile work]\nrole_arn = r\nexternal_id = x\nrole_session_name = n\nduration_seconds = 900\n"
              "source_profile = base\n"
                  + more,
              "[base]\naws_access_key_id = A\naws_secret_access_key = s\n"_ba));
    QVERIFY2(settings.ok(), settings.ok() ? "" : qPrintable(settings.error().text));
    QCOMPARE(settings->plan->stsEndpoint, QUrl(url));
    QCOMPARE(settings->plan->roles, (QList<AwsRole>{{u"work"_s, u"r"_s, u"n"_s, u"x"_s, 900}}));
}

void TestAwsCredentials::expirationOfTheEnvironment()
{
    Environment environment{{u"AWS_ACCESS_KEY_ID"_s, u"A"_s},
                            {u"AWS_SECRET_ACCESS_KEY"_s, u"s"_s},
                            {u"AWS_CREDENTIAL_EXPIRATION"_s, u"2030-01-31T13:00:00Z"_s}};
    const auto settings = resolveAws(environment, {}, {});
    QVERIFY(settings.ok());
    QCOMPARE(settings->plan->expiration, QDateTime(QDate(2030, 1, 31), QTime(13, 0), Qt::UTC));
    environment[u"AWS_CREDENTIAL_EXPIRATION"_s] = u"tomorrow"_s;
    const auto wrong = resolveAws(environment, {}, {});
    QVERIFY(!wrong.ok());
    QVERIFY(wrong.error().text.contains(u"AWS_CREDENTIAL_EXPIRATION is “tomorrow”"_s));
}

void TestAwsCredentials::errorsHoldNoSecret()
{
    const AwsFiles half =
        files({}, "[work]\naws_secret_access_key = canary-secret\naws_session_token = canary-token\n"_ba);
    QVERIFY(!resolveAws({}, u"work"_s, half).error().text.contains("canary"_L1));
    const Result<AwsSettings> url = resolveAws({{u"AWS_ENDPOINT_URL"_s, u"ftp://user:canary@host/"_s}}, {}, {});
    QVERIFY(!url.error().text.contains("canary"_L1));
    QVERIFY(url.error().text.contains("ftp://host"_L1));
}

void TestAwsCredentials::region_data()
{
    QTest::addColumn<Environment>("environment");
    QTest::addColumn<QString>("profile");
    QTest::addColumn<QString>("region");
    QTest::newRow("AWS_REGION first") << Environment{{u"AWS_REGION"_s, u"r-1"_s}, {u"AWS_DEFAULT_REGION"_s, u"r-2"_s}}
                                      << u"work"_s << u"r-1"_s;
    QTest::newRow("AWS_DEFAULT_REGION") << Environment{{u"AWS_DEFAULT_REGION"_s, u"r-2"_s}} << u"work"_s << u"r-2"_s;
    QTest::newRow("credentials file before config") << Environment() << u"work"_s << u"r-cred"_s;
    QTest::newRow("config file") << Environment() << u"other"_s << u"r-conf"_s;
    QTest::newRow("by AWS_PROFILE") << Environment{{u"AWS_PROFILE"_s, u"other"_s}} << u""_s << u"r-conf"_s;
    QTest::newRow("default profile") << Environment() << u""_s << u"r-default"_s;
}

void TestAwsCredentials::region()
{
    QFETCH(Environment, environment);
    QFETCH(QString, profile);
    QFETCH(QString, region);
    const AwsFiles given = files("[default]\nregion = r-default # home\n[profile work]\nregion = lost\n"
                                 "[profile other]\nregion = r-conf\n"_ba,
                                 "[work]\nregion = r-cred\n"_ba);
    const Result<AwsSettings> settings = resolveAws(environment, profile, given);
    QVERIFY(settings.ok());
    QCOMPARE(settings->region, region);
}

void TestAwsCredentials::endpoint_data()
{
    QTest::addColumn<Environment>("environment");
    QTest::addColumn<QString>("profile");
    QTest::addColumn<QString>("endpoint");
    const Environment all{{u"AWS_ENDPOINT_URL_SQS"_s, u"http://env-sqs:1"_s},
                          {u"AWS_ENDPOINT_URL"_s, u"https://env:2"_s}};
    Environment ignored = all;
    ignored.insert(u"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"_s, u"true"_s);
    QTest::newRow("AWS_ENDPOINT_URL_SQS first") << all << u"work"_s << u"http://env-sqs:1"_s;
    QTest::newRow("AWS_ENDPOINT_URL") << Environment{{u"AWS_ENDPOINT_URL"_s, u"https://env:2"_s}} << u"work"_s
                                      << u"https://env:2"_s;
    QTest::newRow("services of the profile") << Environment() << u"work"_s << u"http://services:3"_s;
    QTest::newRow("endpoint_url of the profile") << Environment() << u"plain"_s << u"http://profile:4"_s;
    QTest::newRow("services that name none") << Environment() << u"other"_s << u"http://other:5"_s;
    QTest::newRow("services that do not exist") << Environment() << u"lost"_s << u"http://lost:6"_s;
    QTest::newRow("all ignored") << ignored << u"work"_s << u""_s;
    QTest::newRow("ignored by the profile") << all << u"ignoring"_s << u""_s;
    QTest::newRow("none") << Environment() << u""_s << u""_s;
}

void TestAwsCredentials::endpoint()
{
    QFETCH(Environment, environment);
    QFETCH(QString, profile);
    QFETCH(QString, endpoint);
    const AwsFiles given =
        files("[profile work]\nservices = local # mine\nendpoint_url = http://unused:0\n"
              "[services local]\nsqs =\n  endpoint_url = http://services:3 # ours\ns3 =\n  endpoint_url = http://no\n"
              "[profile plain]\nendpoint_url = http://profile:4\n"
              "[profile other]\nservices = s3only\nendpoint_url = http://other:5\n"
              "[services s3only]\ns3 =\n  endpoint_url = http://no\n"
              "[profile lost]\nservices = nowhere\nendpoint_url = http://lost:6\n"
              "[profile ignoring]\nignore_configured_endpoint_urls = True\n"_ba);
    const Result<AwsSettings> settings = resolveAws(environment, profile, given);
    QVERIFY(settings.ok());
    QCOMPARE(settings->endpoint, QUrl(endpoint));
}

void TestAwsCredentials::unusableEndpoint_data()
{
    QTest::addColumn<Environment>("environment");
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<QString>("named");
    QTest::newRow("no scheme") << Environment{{u"AWS_ENDPOINT_URL_SQS"_s, u"localhost:9324"_s}} << QByteArray()
                               << u"AWS_ENDPOINT_URL_SQS"_s;
    QTest::newRow("not a URL") << Environment{{u"AWS_ENDPOINT_URL"_s, u"http://[::1"_s}} << QByteArray()
                               << u"AWS_ENDPOINT_URL"_s;
    QTest::newRow("no host") << Environment() << "[default]\nendpoint_url = http:///x"_ba
                             << u"endpoint_url of profile “default”"_s;
    QTest::newRow("in services") << Environment()
                                 << "[default]\nservices = a\n[services a]\nsqs =\n endpoint_url = x"_ba
                                 << u"[services a]"_s;
}

void TestAwsCredentials::unusableEndpoint()
{
    QFETCH(Environment, environment);
    QFETCH(QByteArray, config);
    QFETCH(QString, named);
    const Result<AwsSettings> settings = resolveAws(environment, {}, files(config));
    QVERIFY(!settings.ok());
    QCOMPARE(settings.error().kind, ErrorKind::Invalid);
    QVERIFY2(settings.error().text.contains(named), qPrintable(settings.error().text));
}

void TestAwsCredentials::filesAreFound()
{
    QTemporaryDir home;
    QVERIFY(QDir(home.path()).mkdir(u".aws"_s));
    const auto write = [&home](const QString &name, const QByteArray &content) {
        QFile file(home.filePath(name));
        return file.open(QIODevice::WriteOnly) && file.write(content) == content.size();
    };
    QVERIFY(write(u".aws/config"_s, "[default]\nregion = a"_ba));
    QVERIFY(write(u".aws/credentials"_s, "[default]\nregion = b"_ba));
    QVERIFY(write(u"other"_s, "[default]\nregion = c"_ba));

    const AwsFiles usual = readAwsFiles({{u"HOME"_s, home.path()}, {u"USERPROFILE"_s, home.path()}});
    QCOMPARE(usual.config, "[default]\nregion = a"_ba);
    QCOMPARE(usual.credentials, "[default]\nregion = b"_ba);
    QCOMPARE(usual.configName, u"~/.aws/config"_s);

    const AwsFiles named = readAwsFiles({{u"HOME"_s, home.path()},
                                         {u"USERPROFILE"_s, home.path()},
                                         {u"AWS_CONFIG_FILE"_s, home.filePath(u"other"_s)},
                                         {u"AWS_SHARED_CREDENTIALS_FILE"_s, u"~/other"_s}});
    QCOMPARE(named.config, "[default]\nregion = c"_ba);
    QCOMPARE(named.credentials, "[default]\nregion = c"_ba);
    QCOMPARE(named.configName, home.filePath(u"other"_s));
}

void TestAwsCredentials::missingFilesAreEmpty()
{
    QTemporaryDir home;
    const AwsFiles nothing = readAwsFiles({{u"HOME"_s, home.path()}});
    QVERIFY(nothing.config.isEmpty());
    QVERIFY(nothing.credentials.isEmpty());
    const AwsFiles homeless = readAwsFiles({});
    QVERIFY(homeless.config.isEmpty());
}

QTEST_GUILESS_MAIN(TestAwsCredentials)
#include "tst_awscredentials.moc"
