#include "worker/queue/httpresponse.h"

#include <QTest>

using namespace sendonce;
using State = HttpResponseReader::State;

Q_DECLARE_METATYPE(State)

class TestHttpResponse : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void bytesInAnyPieces_data();
    void bytesInAnyPieces();
    void closedConnection_data();
    void closedConnection();
    void headersAreFoundInAnyCase();
    void bodyIsLimited_data();
    void bodyIsLimited();
    void headIsLimited();
};

void TestHttpResponse::bytesInAnyPieces_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<State>("state");
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<bool>("reusable");

    const auto row = [](const char *name, const QByteArray &bytes, State state, int status = 0,
                        const QByteArray &body = {},
                        bool reusable = false) { QTest::newRow(name) << bytes << state << status << body << reusable; };
    row("length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", State::Done, 200, "hello", true);
    row("empty body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", State::Done, 200, "", true);
    row("no reason", "HTTP/1.1 500\r\ncontent-length:2\r\n\r\n{}", State::Done, 500, "{}", true);
    row("no content", "HTTP/1.1 204 No Content\r\n\r\n", State::Done, 204, "", true);
    row("close", "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\nx", State::Done, 200, "x");
    row("old", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", State::Done, 200, "x");
    row("old, kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", State::Done, 200, "x",
        true);
    row("chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
        State::Done, 200, "abc0123456789", true);
    row("chunks with a trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n",
        State::Done, 200, "a", true);
    row("continue", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", State::Done, 200, "x",
        true);
    row("something behind it", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK", State::Done, 200, "x");
    row("the same length twice", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", State::Done, 200,
        "x", true);
    row("half", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", State::Reading, 200, "hel");
    row("half a head", "HTTP/1.1 200 OK\r\nContent-Le", State::Reading);
    row("nothing", "", State::Reading);

    row("no HTTP", "220 mail.example ESMTP\r\n", State::NotHttp);
    row("HTTP/2", "HTTP/2 200\r\n\r\n", State::NotHttp);
    row("no status", "HTTP/1.1 OK\r\n\r\n", State::NotHttp);
    row("four digits", "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n", State::NotHttp);
    row("two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy", State::NotHttp, 200);
    row("length below nothing", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", State::NotHttp, 200);
    row("length in hex", "HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\n", State::NotHttp, 200);
    row("header without a colon", "HTTP/1.1 200 OK\r\nContent\r\n\r\n", State::NotHttp, 200);
    row("folded header", "HTTP/1.1 200 OK\r\nA: b\r\n c: d\r\n\r\n", State::NotHttp, 200);
    row("another coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", State::NotHttp, 200);
    row("chunk of what?", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", State::NotHttp, 200);
    row("chunk too long", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", State::NotHttp, 200, "a");
}

void TestHttpResponse::bytesInAnyPieces()
{
    QFETCH(const QByteArray, bytes);
    QFETCH(const State, state);
    QFETCH(const int, status);
    QFETCH(const QByteArray, body);
    QFETCH(const bool, reusable);
    for (const qsizetype piece : {bytes.size(), qsizetype(1), qsizetype(7)}) {
        HttpResponseReader reader(1000);
        for (qsizetype from = 0; from < bytes.size(); from += std::max<qsizetype>(piece, 1))
            reader.feed(
                QByteArrayView(bytes).sliced(from, std::min(std::max<qsizetype>(piece, 1), bytes.size() - from)));
        QCOMPARE(reader.state(), state);
        QCOMPARE(reader.response().status, status);
        QCOMPARE(reader.response().body, body);
        QCOMPARE(reader.isReusable(), reusable);
        QCOMPARE(reader.started(), !bytes.isEmpty());
    }
}

void TestHttpResponse::closedConnection_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<State>("state");
    QTest::newRow("ends the body") << QByteArray("HTTP/1.1 200 OK\r\n\r\nhel") << State::Done;
    QTest::newRow("before the length is reached")
        << QByteArray("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel") << State::Reading;
    QTest::newRow("in a head") << QByteArray("HTTP/1.1 200") << State::Reading;
    QTest::newRow("among chunks") << QByteArray("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
                                  << State::Reading;
}

void TestHttpResponse::closedConnection()
{
    QFETCH(const QByteArray, bytes);
    QFETCH(const State, state);
    HttpResponseReader reader(1000);
    reader.feed(bytes);
    QCOMPARE(reader.closed(), state);
    QVERIFY(!reader.isReusable());
}

void TestHttpResponse::headersAreFoundInAnyCase()
{
    HttpResponseReader reader(0);
    reader.feed("HTTP/1.1 200 OK\r\nDate:  now \r\nX-Empty:\r\nContent-Length: 0\r\n\r\n");
    QCOMPARE(reader.response().header("date"), QByteArray("now"));
    QCOMPARE(reader.response().header("x-empty"), QByteArray());
    QCOMPARE(reader.response().header("Age"), QByteArray());
}

void TestHttpResponse::bodyIsLimited_data()
{
    QTest::addColumn<QByteArray>("head");
    QTest::newRow("length") << QByteArray("Content-Length: 11\r\n\r\n");
    QTest::newRow("chunks") << QByteArray("Transfer-Encoding: chunked\r\n\r\n8\r\n01234567\r\n3\r\n");
    QTest::newRow("until closed") << QByteArray("\r\n");
}

void TestHttpResponse::bodyIsLimited()
{
    QFETCH(const QByteArray, head);
    HttpResponseReader reader(10);
    reader.feed("HTTP/1.1 200 OK\r\n" + head + "01234567890");
    QCOMPARE(reader.state(), State::TooLarge);
}

void TestHttpResponse::headIsLimited()
{
    HttpResponseReader reader(10);
    reader.feed("HTTP/1.1 200 OK\r\nX: " + QByteArray(70'000, 'x'));
    QCOMPARE(reader.state(), State::TooLarge);
}

QTEST_APPLESS_MAIN(TestHttpResponse)
#include "tst_httpresponse.moc"
