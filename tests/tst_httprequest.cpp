#include "worker/local/httprequest.h"

#include <QTest>

using namespace sendonce::local;
using namespace Qt::StringLiterals;

namespace {

using Status = HttpParse::Status;

QByteArray post(const QByteArray &headers, const QByteArray &body = {})
{
    return "POST / HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + body;
}

/// What a connection does: everything that came so far is looked at, from the front, piece after piece.
HttpParse feed(const QByteArray &bytes, qsizetype pieceSize)
{
    HttpParse result;
    for (qsizetype end = std::min(pieceSize, bytes.size());; end = std::min(end + pieceSize, bytes.size())) {
        result = parseHttpRequest(QByteArrayView(bytes).first(end));
        if (result.status != Status::Incomplete || end == bytes.size())
            return result;
    }
}

bool same(const HttpParse &a, const HttpParse &b)
{
    return a.status == b.status && a.request == b.request && a.used == b.used && a.refusal == b.refusal
        && a.reason == b.reason;
}

struct Accepted
{
    const char *name;
    QByteArray bytes;
    QByteArray body;
};

struct Refused
{
    const char *name;
    QByteArray bytes;
    int status;
};

/// Requests that are accepted, with their bodies.
QList<Accepted> accepted()
{
    return {
        {"no headers", "GET / HTTP/1.0\r\n\r\n"_ba, QByteArray()},
        {"an empty line before", "\r\nGET / HTTP/1.1\r\n\r\n"_ba, QByteArray()},
        {"tab in a value", "GET / HTTP/1.1\r\nA: b\tc\r\n\r\n"_ba, QByteArray()},
        {"empty value", "GET / HTTP/1.1\r\nA:\r\n\r\n"_ba, QByteArray()},
        {"bytes outside ASCII in a value", "GET / HTTP/1.1\r\nA: \xc3\xa4\r\n\r\n"_ba, QByteArray()},
        {"length 0", post("Content-Length: 0\r\n"), QByteArray()},
        {"length with zeros before", post("Content-Length: 003\r\n", "abc"), "abc"_ba},
        {"a body of line ends", post("Content-Length: 4\r\n", "\r\n\r\n"), "\r\n\r\n"_ba},
        {"expectation", post("Expect: 100-Continue\r\nContent-Length: 1\r\n", "a"), "a"_ba},
    };
}

/// Requests that are refused, with the status they get.
QList<Refused> refused()
{
    return {
        {"two lengths", post("Content-Length: 1\r\nContent-Length: 2\r\n", "ab"), 400},
        {"two equal lengths", post("Content-Length: 1\r\nContent-Length: 1\r\n", "a"), 400},
        {"list of lengths", post("Content-Length: 1, 1\r\n", "a"), 400},
        {"length with a sign", post("Content-Length: +1\r\n", "a"), 400},
        {"negative length", post("Content-Length: -1\r\n"), 400},
        {"hexadecimal length", post("Content-Length: 0x1\r\n", "a"), 400},
        {"empty length", post("Content-Length:\r\n"), 400},
        {"length beyond 64 bits", post("Content-Length: 99999999999999999999\r\n"), 413},
        {"length of more than 3 MiB and 64 KiB", post("Content-Length: 3211265\r\n"), 413},
        {"length and chunked", post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
        {"chunked and length", post("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", "0\r\n\r\n"), 400},
        {"chunked", post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n"), 411},
        {"chunked, hidden", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 411},
        {"folded line", post("A: b\r\n c\r\n"), 400},
        {"folded first line", "GET / HTTP/1.1\r\n A: b\r\n\r\n"_ba, 400},
        {"bare LF after the request line", "GET / HTTP/1.1\nA: b\r\n\r\n"_ba, 400},
        {"bare LF after a header", post("A: b\n"), 400},
        {"bare LF at the end of the head", "GET / HTTP/1.1\r\nA: b\r\n\n"_ba, 400},
        {"bare CR in a header", post("A: b\rc\r\n"), 400},
        {"CR CR LF", post("A: b\r\r\n"), 400},
        {"NUL in a value", post("A: b\0c\r\n"_ba), 400},
        {"DEL in a value", post("A: b\x7f\r\n"), 400},
        {"blank before the colon", post("Content-Length : 1\r\n", "a"), 400},
        {"no colon", post("nonsense\r\n"), 400},
        {"no name", post(": b\r\n"), 400},
        {"name outside ASCII", post("\xc3\xa4: b\r\n"), 400},
        {"another expectation", post("Expect: 200-ok\r\n"), 417},
        {"empty expectation", post("Expect:\r\n"), 417},
        {"two empty lines before", "\r\n\r\nGET / HTTP/1.1\r\n\r\n"_ba, 400},
        {"no version", "GET /\r\n\r\n"_ba, 400},
        {"two blanks", "GET  / HTTP/1.1\r\n\r\n"_ba, 400},
        {"blank behind the version", "GET / HTTP/1.1 \r\n\r\n"_ba, 400},
        {"tab for blank", "GET\t/ HTTP/1.1\r\n\r\n"_ba, 400},
        {"absolute target", "GET http://x/ HTTP/1.1\r\n\r\n"_ba, 400},
        {"asterisk", "OPTIONS * HTTP/1.1\r\n\r\n"_ba, 400},
        {"CONNECT", "CONNECT x:1 HTTP/1.1\r\n\r\n"_ba, 400},
        {"target outside ASCII", "GET /\xc3\xa4 HTTP/1.1\r\n\r\n"_ba, 400},
        {"DEL in the target", "GET /\x7f HTTP/1.1\r\n\r\n"_ba, 400},
        {"method with a slash", "GE/T / HTTP/1.1\r\n\r\n"_ba, 400},
        {"HTTP/2", "PRI * HTTP/2.0\r\n\r\n"_ba, 400},
        {"HTTP/2 with a path", "GET / HTTP/2.0\r\n\r\n"_ba, 505},
        {"HTTP/1.2", "GET / HTTP/1.2\r\n\r\n"_ba, 505},
        {"lower-case version", "GET / http/1.1\r\n\r\n"_ba, 400},
        {"TLS hello", "\x16\x03\x01\x02\x00\x01\n"_ba, 400},
        {"too many headers", post(QByteArray("A: b\r\n").repeated(100)), 431},
        {"long line", post("A: " + QByteArray(17000, 'b') + "\r\n"), 431},
        {"line without an end", QByteArray(16385, 'a'), 431},
    };
}

} // namespace

class TestHttpRequest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void readsARequest();
    void partsOfTheRequest_data();
    void partsOfTheRequest();
    void refusals_data();
    void refusals();
    void limits();
    void splitInvariance_data();
    void splitInvariance();
    void everyPrefixIsIncomplete();
    void pipelinedRequestsStayApart();
    void saysHowMuchIsNeeded();
    void continueIsAwaitedBehindTheHead();
    void keepsAlive_data();
    void keepsAlive();
    void mutatedBytesNeverConfuse();
};

void TestHttpRequest::readsARequest()
{
    const QByteArray bytes = "POST /000000000000/orders?Action=x HTTP/1.1\r\n"
                             "Host: 127.0.0.1:9324\r\n"
                             "X-Amz-Target:AmazonSQS.SendMessage\r\n"
                             "X-Note: \t two  words \t\r\n"
                             "Content-Length: 4\r\n"
                             "\r\n"
                             "{\0}\n"_ba;
    const HttpParse parse = parseHttpRequest(bytes);
    QCOMPARE(parse.status, Status::Complete);
    QCOMPARE(parse.used, bytes.size());
    QCOMPARE(parse.request.method, "POST"_ba);
    QCOMPARE(parse.request.path, "/000000000000/orders"_ba);
    QCOMPARE(parse.request.query, "Action=x"_ba);
    QCOMPARE(parse.request.minorVersion, 1);
    QCOMPARE(parse.request.headers.size(), 4);
    QCOMPARE(parse.request.header("x-amz-target"), "AmazonSQS.SendMessage"_ba);
    QCOMPARE(parse.request.header("x-note"), "two  words"_ba);
    QCOMPARE(parse.request.body, "{\0}\n"_ba);
}

void TestHttpRequest::partsOfTheRequest_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("body");
    for (const Accepted &row : accepted())
        QTest::newRow(row.name) << row.bytes << row.body;
}

void TestHttpRequest::partsOfTheRequest()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, body);
    const HttpParse parse = parseHttpRequest(bytes);
    QCOMPARE(parse.status, Status::Complete);
    QCOMPARE(parse.used, bytes.size());
    QCOMPARE(parse.request.body, body);
}

void TestHttpRequest::refusals_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("status");
    for (const Refused &row : refused())
        QTest::newRow(row.name) << row.bytes << row.status;
}

void TestHttpRequest::refusals()
{
    QFETCH(QByteArray, bytes);
    QFETCH(int, status);
    const HttpParse parse = parseHttpRequest(bytes);
    QCOMPARE(parse.status, Status::Refused);
    QCOMPARE(parse.refusal, status);
    QVERIFY(!parse.reason.isEmpty());
}

void TestHttpRequest::limits()
{
    const QByteArray frame = post("A: \r\n");
    const QByteArray fits = post("A: " + QByteArray(16 * 1024 - frame.size(), 'b') + "\r\n");
    QCOMPARE(fits.size(), 16 * 1024);
    QCOMPARE(parseHttpRequest(fits).status, Status::Complete);
    const QByteArray tooLong = post("A: " + QByteArray(16 * 1024 - frame.size() + 1, 'b') + "\r\n");
    QCOMPARE(parseHttpRequest(tooLong).refusal, 431);
    QCOMPARE(parseHttpRequest(QByteArray(16 * 1024, 'a')).status, Status::Incomplete);

    const QByteArray body((3 * 1024 + 64) * 1024, 'b');
    const HttpParse large = parseHttpRequest(post("Content-Length: 3211264\r\n", body));
    QCOMPARE(large.status, Status::Complete);
    QCOMPARE(large.request.body, body);
}

void TestHttpRequest::splitInvariance_data()
{
    QTest::addColumn<QByteArray>("bytes");
    for (const Accepted &row : accepted())
        QTest::newRow(row.name) << row.bytes;
    for (const Refused &row : refused())
        QTest::newRow(row.name) << row.bytes;
}

void TestHttpRequest::splitInvariance()
{
    // Cut into pieces of every size up to 69, and at every single place.
    QFETCH(QByteArray, bytes);
    const HttpParse whole = parseHttpRequest(bytes);
    for (qsizetype size = 1; size <= 69; ++size)
        QVERIFY2(same(feed(bytes, size), whole), QByteArray::number(size).constData());
    for (qsizetype cut = 1; cut < bytes.size(); ++cut) {
        const HttpParse first = parseHttpRequest(QByteArrayView(bytes).first(cut));
        if (first.status != Status::Incomplete)
            QVERIFY2(same(first, whole), QByteArray::number(cut).constData());
    }
}

void TestHttpRequest::everyPrefixIsIncomplete()
{
    const QByteArray bytes = post("Content-Length: 3\r\nExpect: 100-continue\r\n", "abc");
    for (qsizetype size = 0; size < bytes.size(); ++size) {
        const HttpParse parse = parseHttpRequest(QByteArrayView(bytes).first(size));
        QCOMPARE(parse.status, Status::Incomplete);
        QVERIFY(parse.needed > size);
        QVERIFY(parse.needed <= bytes.size());
    }
}

void TestHttpRequest::pipelinedRequestsStayApart()
{
    const QByteArray first = post("Content-Length: 3\r\n", "abc");
    const QByteArray second = "GET /x HTTP/1.1\r\nHost: y\r\n\r\n"_ba;
    const HttpParse parse = parseHttpRequest(first + second);
    QCOMPARE(parse.status, Status::Complete);
    QCOMPARE(parse.used, first.size());
    const HttpParse next = parseHttpRequest(QByteArrayView(first + second).sliced(parse.used));
    QCOMPARE(next.request.path, "/x"_ba);
    // What is wrong with the second is no matter of the first.
    QCOMPARE(parseHttpRequest(first + "\0\n\n"_ba).status, Status::Complete);
}

void TestHttpRequest::saysHowMuchIsNeeded()
{
    const QByteArray head = post("Content-Length: 1000\r\n");
    QCOMPARE(parseHttpRequest(head).needed, head.size() + 1000);
    QCOMPARE(parseHttpRequest(head + "abc").needed, head.size() + 1000);
}

void TestHttpRequest::continueIsAwaitedBehindTheHead()
{
    const QByteArray head = post("Content-Length: 2\r\nExpect: 100-continue\r\n");
    QVERIFY(!parseHttpRequest(QByteArrayView(head).chopped(1)).awaitsContinue);
    QVERIFY(parseHttpRequest(head).awaitsContinue);
    QVERIFY(parseHttpRequest(head + 'a').awaitsContinue);
    QVERIFY(!parseHttpRequest(head + "ab").awaitsContinue);
    QVERIFY(!parseHttpRequest(post("Content-Length: 2\r\n")).awaitsContinue);
    QVERIFY(!parseHttpRequest("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n").awaitsContinue);
}

void TestHttpRequest::keepsAlive_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<bool>("keeps");
    QTest::newRow("1.1") << "GET / HTTP/1.1\r\n\r\n"_ba << true;
    QTest::newRow("1.1, close") << "GET / HTTP/1.1\r\nConnection: Close\r\n\r\n"_ba << false;
    QTest::newRow("1.1, close in a list") << "GET / HTTP/1.1\r\nConnection: te, close\r\n\r\n"_ba << false;
    QTest::newRow("1.1, close in a second header")
        << "GET / HTTP/1.1\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n"_ba << false;
    QTest::newRow("1.0") << "GET / HTTP/1.0\r\n\r\n"_ba << false;
    QTest::newRow("1.0, keep-alive") << "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"_ba << true;
}

void TestHttpRequest::keepsAlive()
{
    QFETCH(QByteArray, bytes);
    QFETCH(bool, keeps);
    QCOMPARE(parseHttpRequest(bytes).request.keepsAlive(), keeps);
}

void TestHttpRequest::mutatedBytesNeverConfuse()
{
    // Every byte of a request, replaced by each of the bytes that mean something: no crash, and whatever comes out does
    // not depend on where the bytes were cut.
    const QByteArray good = post("A: b\r\nContent-Length: 3\r\n", "abc");
    for (qsizetype at = 0; at < good.size(); ++at) {
        for (const char c : "\r\n \t:,/1aT\x7f\xff"_ba + '\0') {
            QByteArray bytes = good;
            bytes[at] = c;
            const HttpParse whole = parseHttpRequest(bytes);
            QVERIFY(same(feed(bytes, 1), whole));
            QVERIFY(whole.used <= bytes.size());
        }
    }
}

QTEST_APPLESS_MAIN(TestHttpRequest)
#include "tst_httprequest.moc"
