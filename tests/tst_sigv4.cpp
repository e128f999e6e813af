#include "worker/queue/sigv4.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

namespace {

const QByteArray ExampleSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"_ba;

QByteArray readFile(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// The suite's .req files: like HTTP, but with LF, with raw blanks and UTF-8 in the target, with folded header lines.
sigv4::Request parseRequest(const QByteArray &text)
{
    sigv4::Request request;
    const qsizetype bodyAt = text.indexOf("\n\n");
    const QList<QByteArray> lines = (bodyAt < 0 ? text : text.left(bodyAt)).split('\n');
    if (bodyAt >= 0)
        request.body = text.mid(bodyAt + 2);
    const QByteArray &first = lines.first();
    const qsizetype blank = first.indexOf(' ');
    request.method = first.left(blank);
    request.target = first.mid(blank + 1, first.lastIndexOf(" HTTP/1.1") - blank - 1);
    for (qsizetype i = 1; i < lines.size(); ++i) {
        if (lines[i].isEmpty())
            continue;
        if (lines[i].startsWith(' ')) {
            request.headers.last().second += ' ' + lines[i].trimmed();
            continue;
        }
        const qsizetype colon = lines[i].indexOf(':');
        request.headers.append({lines[i].left(colon), lines[i].mid(colon + 1)});
    }
    return request;
}

} // namespace

class TestSigV4 : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }
    void suiteIsWhole();
    void amazonsVectors_data();
    void amazonsVectors();
    void sqsExample_data();
    void sqsExample();
    void keyIsDerivedStepByStep();
    void dateIsUtc();
    void pathIsEncodedOnceMore();
};

namespace {

QStringList suiteCases()
{
    QStringList cases;
    QDirIterator files(QStringLiteral(SENDONCE_SOURCE_DIR "/tests/data/aws4_testsuite"), {u"*.req"_s}, QDir::Files,
                       QDirIterator::Subdirectories);
    while (files.hasNext())
        cases.append(files.next().chopped(4));
    cases.sort();
    return cases;
}

} // namespace

void TestSigV4::suiteIsWhole()
{
    QCOMPARE(suiteCases().size(), 34);
}

void TestSigV4::amazonsVectors_data()
{
    QTest::addColumn<QString>("path");
    for (const QString &path : suiteCases())
        QTest::newRow(path.section(u'/', -1).toUtf8().constData()) << path;
}

void TestSigV4::amazonsVectors()
{
    QFETCH(QString, path);
    sigv4::Request request = parseRequest(readFile(path + u".req"_s));
    if (path.endsWith("get-vanilla-with-session-token"_L1)) {
        request.headers.append(
            {"x-amz-security-token"_ba, "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267"_ba});
    }
    const sigv4::Scope scope{QDateTime(QDate(2015, 8, 30), QTime(12, 36), Qt::UTC), "us-east-1"_ba, "service"_ba};

    const QByteArray canonical = sigv4::canonicalRequest(request);
    QCOMPARE(canonical, readFile(path + u".creq"_s));
    QCOMPARE(sigv4::stringToSign(canonical, scope), readFile(path + u".sts"_s));
    QCOMPARE(sigv4::authorization(request, scope, "AKIDEXAMPLE"_ba, sigv4::signingKey(ExampleSecret, scope)),
             readFile(path + u".authz"_s));
}

void TestSigV4::sqsExample_data()
{
    QTest::addColumn<QByteArray>("token");
    QTest::addColumn<QByteArray>("canonicalHash");
    QTest::addColumn<QByteArray>("signature");
    QTest::newRow("without session token")
        << QByteArray() << "017cb663764c2b7214d736031dbf62eef01878d096c72897302178d373a5f911"_ba
        << "462d14cbbe252201aaa93aefde2f4457b89cabec7d00e6c8878ea2dd02cf1dc4"_ba;
    QTest::newRow("with session token") << "IQoJb3JpZ2luX2VjEXAMPLETOKEN//////////wEaCXVzLWVhc3QtMQ=="_ba
                                        << "0f57f4f39490711d2e85004eb6f9d94ea4bc123804b8078c24ee42a79c52d53a"_ba
                                        << "f6608a658486fcfaa273c7de0cf0f4602abf4cd8f71c57b9605c9aebd69742db"_ba;
}

void TestSigV4::sqsExample()
{
    QFETCH(QByteArray, token);
    QFETCH(QByteArray, canonicalHash);
    QFETCH(QByteArray, signature);
    const sigv4::Scope scope{QDateTime(QDate(2025, 9, 1), QTime(12, 0), Qt::UTC), "us-east-1"_ba, "sqs"_ba};
    sigv4::Request request;
    request.method = "POST"_ba;
    request.target = "/"_ba;
    request.headers = {{"Host"_ba, "sqs.us-east-1.amazonaws.com"_ba},
                       {"Content-Type"_ba, "application/x-amz-json-1.0"_ba},
                       {"X-Amz-Date"_ba, sigv4::amzDate(scope.time)},
                       {"X-Amz-Target"_ba, "AmazonSQS.ReceiveMessage"_ba},
                       {"x-amzn-query-mode"_ba, "true"_ba}};
    if (!token.isEmpty())
        request.headers.append({"X-Amz-Security-Token"_ba, token});
    request.body = R"({"QueueUrl":"https://sqs.us-east-1.amazonaws.com/123456789012/orders",)"
                   R"("MaxNumberOfMessages":10,"WaitTimeSeconds":20})"_ba;
    QCOMPARE(request.body.size(), 116);

    const QByteArray toSign = sigv4::stringToSign(sigv4::canonicalRequest(request), scope);
    QCOMPARE(toSign, "AWS4-HMAC-SHA256\n20250901T120000Z\n20250901/us-east-1/sqs/aws4_request\n" + canonicalHash);
    const QByteArray names = token.isEmpty()
        ? "content-type;host;x-amz-date;x-amz-target;x-amzn-query-mode"_ba
        : "content-type;host;x-amz-date;x-amz-security-token;x-amz-target;x-amzn-query-mode"_ba;
    QCOMPARE(sigv4::authorization(request, scope, "AKIDEXAMPLE"_ba, sigv4::signingKey(ExampleSecret, scope)),
             "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20250901/us-east-1/sqs/aws4_request, SignedHeaders=" + names
                 + ", Signature=" + signature);
}

void TestSigV4::keyIsDerivedStepByStep()
{
    const sigv4::Scope scope{QDateTime(QDate(2025, 9, 1), QTime(12, 0), Qt::UTC), "us-east-1"_ba, "sqs"_ba};
    QCOMPARE(sigv4::signingKey(ExampleSecret, scope).toHex(),
             "ca4e4d47cf76b75d804da672d218e53b766c8c8a51eab02623f3d43666829a7a"_ba);
}

void TestSigV4::dateIsUtc()
{
    const QDateTime justAfterMidnight(QDate(2025, 9, 2), QTime(0, 30), Qt::OffsetFromUTC, 3600);
    QCOMPARE(sigv4::amzDate(justAfterMidnight), "20250901T233000Z"_ba);
    QCOMPARE((sigv4::Scope{justAfterMidnight, "r"_ba, "s"_ba}.text()), "20250901/r/s/aws4_request"_ba);
}

void TestSigV4::pathIsEncodedOnceMore()
{
    const sigv4::Request request{"GET"_ba, "/000000000000/a%20b"_ba, {{"Host"_ba, "h"_ba}}, {}};
    QCOMPARE(sigv4::canonicalRequest(request).split('\n').at(1), "/000000000000/a%2520b"_ba);
}

QTEST_GUILESS_MAIN(TestSigV4)
#include "tst_sigv4.moc"
