#include "worker/queue/awskeyreplies.h"
#include "worker/queue/shellwords.h"

#include <QTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

class TestAwsKeys : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void shellWords_data();
    void shellWords();
    void brokenShellWords_data();
    void brokenShellWords();
    void processOutput();
    void unusableProcessOutput_data();
    void unusableProcessOutput();
    void roleForm();
    void assumedRole();
    void roleRefused_data();
    void roleRefused();
    void times_data();
    void times();
};

void TestAwsKeys::shellWords_data()
{
    QTest::addColumn<QString>("line");
    QTest::addColumn<QStringList>("words");
    QTest::newRow("nothing") << u"  \t "_s << QStringList();
    QTest::newRow("plain") << u"/usr/bin/tool --json  work"_s
                           << QStringList{u"/usr/bin/tool"_s, u"--json"_s, u"work"_s};
    QTest::newRow("double quotes") << u"\"/opt/my tools/t\" \"a 'b'\""_s
                                   << QStringList{u"/opt/my tools/t"_s, u"a 'b'"_s};
    QTest::newRow("single quotes") << u"'a \"b\" \\n'"_s << QStringList{u"a \"b\" \\n"_s};
    QTest::newRow("escapes") << u"a\\ b \\\"c\\\" \\\\"_s << QStringList{u"a b"_s, u"\"c\""_s, u"\\"_s};
    QTest::newRow("escapes in double quotes")
        << u"\"a\\\"b\" \"\\\\\" \"\\$x\" \"\\n\""_s << QStringList{u"a\"b"_s, u"\\"_s, u"$x"_s, u"\\n"_s};
    QTest::newRow("empty words") << u"a '' \"\""_s << QStringList{u"a"_s, u""_s, u""_s};
    QTest::newRow("joined") << u"a'b c'\"d e\"f"_s << QStringList{u"ab cd ef"_s};
    QTest::newRow("nothing is expanded or cut")
        << u"t $HOME ~ * # x ; y | z"_s << u"t $HOME ~ * # x ; y | z"_s.split(u' ');
}

void TestAwsKeys::shellWords()
{
    QFETCH(QString, line);
    QFETCH(QStringList, words);
    const auto result = splitShellWords(line);
    QVERIFY(result);
    QCOMPARE(*result, words);
}

void TestAwsKeys::brokenShellWords_data()
{
    QTest::addColumn<QString>("line");
    QTest::newRow("double") << u"a \"b"_s;
    QTest::newRow("single") << u"a 'b\\'c'"_s;
    QTest::newRow("escape at the end") << u"a\\"_s;
    QTest::newRow("escape at the end of a quote") << u"\"a\\"_s;
}

void TestAwsKeys::brokenShellWords()
{
    QFETCH(QString, line);
    QVERIFY(!splitShellWords(line));
}

void TestAwsKeys::processOutput()
{
    const auto timed = awskeys::readProcessOutput(
        R"({"Version":1,"AccessKeyId":"A","SecretAccessKey":"s","SessionToken":"t","Expiration":"2030-01-31T13:00:00Z","x":1})"_ba);
    QVERIFY(timed);
    QCOMPARE(timed->keys, (AwsCredentials{u"A"_s, u"s"_s, u"t"_s}));
    QCOMPARE(timed->expiration, QDateTime(QDate(2030, 1, 31), QTime(13, 0), Qt::UTC));
    const auto fixed = awskeys::readProcessOutput(R"({"Version": 1, "AccessKeyId":"A","SecretAccessKey":"s"})"_ba);
    QVERIFY(fixed);
    QCOMPARE(fixed->keys, (AwsCredentials{u"A"_s, u"s"_s, {}}));
    QVERIFY(!fixed->expiration.isValid());
}

void TestAwsKeys::unusableProcessOutput_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("named");
    QTest::newRow("nothing") << QByteArray() << u"not a JSON object"_s;
    QTest::newRow("keys as text") << "canary-secret"_ba << u"not a JSON object"_s;
    QTest::newRow("list") << "[\"canary-secret\"]"_ba << u"not a JSON object"_s;
    QTest::newRow("no version") << R"({"AccessKeyId":"A","SecretAccessKey":"canary-secret"})"_ba << u"Version"_s;
    QTest::newRow("other version") << R"({"Version":2,"AccessKeyId":"A","SecretAccessKey":"canary-secret"})"_ba
                                   << u"Version"_s;
    QTest::newRow("no id") << R"({"Version":1,"SecretAccessKey":"canary-secret"})"_ba << u"AccessKeyId"_s;
    QTest::newRow("no secret") << R"({"Version":1,"AccessKeyId":"canary-secret"})"_ba << u"SecretAccessKey"_s;
    QTest::newRow("no time")
        << R"({"Version":1,"AccessKeyId":"A","SecretAccessKey":"canary-secret","Expiration":"canary-secret"})"_ba
        << u"Expiration"_s;
}

void TestAwsKeys::unusableProcessOutput()
{
    QFETCH(QByteArray, json);
    QFETCH(QString, named);
    const auto keys = awskeys::readProcessOutput(json);
    QVERIFY(!keys);
    QCOMPARE(keys.error().kind, ErrorKind::Refused);
    QVERIFY2(keys.error().text.contains(named), qPrintable(keys.error().text));
    QVERIFY(!keys.error().text.contains("canary"_L1));
}

void TestAwsKeys::roleForm()
{
    QCOMPARE(
        awskeys::assumeRoleForm({u"work"_s, u"arn:aws:iam::1:role/x+y"_s, {}, {}, 0}),
        "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fx%2By&RoleSessionName=sendonce"_ba);
    QCOMPARE(
        awskeys::assumeRoleForm({u"work"_s, u"r"_s, u"me@x"_s, u"a=b&c"_s, 900}),
        "Action=AssumeRole&Version=2011-06-15&RoleArn=r&RoleSessionName=me%40x&ExternalId=a%3Db%26c&DurationSeconds=900"_ba);
}

void TestAwsKeys::assumedRole()
{
    const QByteArray xml =
        R"(<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>)"
        R"(<AssumedRoleUser><Arn>a</Arn></AssumedRoleUser><Credentials><AccessKeyId>A</AccessKeyId>)"
        R"(<SecretAccessKey>s</SecretAccessKey><SessionToken>t/+=</SessionToken><Expiration>2030-01-31T13:00:00Z</Expiration>)"
        R"(</Credentials></AssumeRoleResult></AssumeRoleResponse>)"_ba;
    const auto keys = awskeys::readAssumedRole(200, xml);
    QVERIFY(keys);
    QCOMPARE(keys->keys, (AwsCredentials{u"A"_s, u"s"_s, u"t/+="_s}));
    QCOMPARE(keys->expiration, QDateTime(QDate(2030, 1, 31), QTime(13, 0), Qt::UTC));

    for (const QByteArray &broken :
         {QByteArray(), xml.left(xml.size() - 5), QByteArray(xml).replace("<SessionToken>t/+=</SessionToken>", ""),
          QByteArray(xml).replace("2030-01-31", "soon"), "<html>"_ba, "{}"_ba}) {
        const auto none = awskeys::readAssumedRole(200, broken);
        QVERIFY2(!none, broken.constData());
        QCOMPARE(none.error().kind, ErrorKind::Protocol);
    }
}

void TestAwsKeys::roleRefused_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("xml");
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("text");
    const auto error = [](const QByteArray &code) {
        return R"(<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>)"
            + code + R"(</Code><Message>not you</Message></Error><RequestId>1</RequestId></ErrorResponse>)";
    };
    QTest::newRow("denied") << 403 << error("AccessDenied") << ErrorKind::Refused << u"AccessDenied: not you"_s;
    QTest::newRow("throttled") << 400 << error("Throttling") << ErrorKind::Throttled << u"Throttling: not you"_s;
    QTest::newRow("down") << 503 << "<html>busy"_ba << ErrorKind::Unreachable << u"HTTP 503"_s;
    QTest::newRow("redirected") << 307 << QByteArray() << ErrorKind::Refused << u"HTTP 307"_s;
}

void TestAwsKeys::roleRefused()
{
    QFETCH(int, status);
    QFETCH(QByteArray, xml);
    QFETCH(ErrorKind, kind);
    QFETCH(QString, text);
    const auto keys = awskeys::readAssumedRole(status, xml);
    QVERIFY(!keys);
    QCOMPARE(keys.error().kind, kind);
    QCOMPARE(keys.error().text, text);
}

void TestAwsKeys::times_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("good");
    QTest::newRow("UTC") << u"2030-01-31T13:00:00Z"_s << true;
    QTest::newRow("milliseconds") << u"2030-01-31T13:00:00.000Z"_s << true;
    QTest::newRow("without a zone") << u"2030-01-31T13:00:00"_s << true;
    QTest::newRow("offset") << u"2030-01-31T15:00:00+02:00"_s << true;
    QTest::newRow("seconds since 1970") << u"1896094800"_s << false;
    QTest::newRow("empty") << QString() << false;
}

void TestAwsKeys::times()
{
    QFETCH(QString, text);
    QFETCH(bool, good);
    const QDateTime time = awskeys::readTime(text);
    QCOMPARE(time.isValid(), good);
    if (good)
        QCOMPARE(time, QDateTime(QDate(2030, 1, 31), QTime(13, 0), Qt::UTC));
}

QTEST_GUILESS_MAIN(TestAwsKeys)
#include "tst_awskeys.moc"
