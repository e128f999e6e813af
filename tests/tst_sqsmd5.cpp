#include "worker/local/sqsmd5.h"

#include <QTest>

using namespace sendonce;
using namespace sendonce::local;
using namespace Qt::StringLiterals;

namespace {

MessageAttribute string(const QString &value)
{
    return {u"String"_s, value, {}};
}

} // namespace

/// Vectors recorded from Amazon SQS or worked out by two independent programs.
class TestSqsMd5 : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void bodies_data();
    void bodies();
    void attributes_data();
    void attributes();
    void everyPartCounts();
};

void TestSqsMd5::bodies_data()
{
    QTest::addColumn<QString>("body");
    QTest::addColumn<QByteArray>("md5");
    QTest::newRow("outside ASCII") << u"héllo"_s << "be50e8478cf24ff3595bc7307fb91b50"_ba;
    QTest::newRow("message") << u"message"_s << "78e731027d8fd50ed642340b7c9a63b3"_ba;
    QTest::newRow("test") << u"test"_s << "098f6bcd4621d373cade4e832627b4f6"_ba;
}

void TestSqsMd5::bodies()
{
    QFETCH(QString, body);
    QFETCH(QByteArray, md5);
    QCOMPARE(md5OfBody(body.toUtf8()), md5);
}

void TestSqsMd5::attributes_data()
{
    QTest::addColumn<MessageAttributes>("attributes");
    QTest::addColumn<QByteArray>("md5");
    QTest::newRow("none") << MessageAttributes() << QByteArray();
    QTest::newRow("all types and a label") << MessageAttributes{{u"attempt"_s, {u"Number.int"_s, u"1"_s, {}}},
                                                                {u"blob"_s, {u"Binary"_s, {}, "\0\xff"_ba}},
                                                                {u"event_id"_s, string(u"evt-42"_s)}}
                                           << "526ac51008ab065632161c750ee1f5ea"_ba;
    QTest::newRow("three strings") << MessageAttributes{{u"Hello"_s, string(u"There"_s)},
                                                        {u"General"_s, string(u"Kenobi"_s)},
                                                        {u"Help.Me"_s, string(u"Me"_s)}}
                                   << "4c360f3fdafd970e05fae2f149d997f5"_ba;
    QTest::newRow("two of them") << MessageAttributes{{u"Hello"_s, string(u"There"_s)},
                                                      {u"General"_s, string(u"Kenobi"_s)}}
                                 << "fca026605781cb4126a1e9044df24232"_ba;
    QTest::newRow("number") << MessageAttributes{{u"timestamp"_s, {u"Number"_s, u"1493147359900"_s, {}}}}
                            << "235c5c510d26fb653d073faed50ae77c"_ba;
    QTest::newRow("one string") << MessageAttributes{{u"MyAttribute"_s, string(u"foobar"_s)}}
                                << "adb59cd4678ea5a855436b949cd07ab6"_ba;
    QTest::newRow("system attribute")
        << MessageAttributes{{u"AWSTraceHeader"_s,
                              string(u"Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"_s)}}
        << "5ae4d5d7636402d80f4eb6d213245a88"_ba;
}

void TestSqsMd5::attributes()
{
    QFETCH(MessageAttributes, attributes);
    QFETCH(QByteArray, md5);
    QCOMPARE(md5OfAttributes(attributes), md5);
}

void TestSqsMd5::everyPartCounts()
{
    const MessageAttributes one{{u"a"_s, string(u"b"_s)}};
    const MessageAttributes others[] = {
        {{u"b"_s, string(u"b"_s)}},
        {{u"a"_s, string(u"c"_s)}},
        {{u"a"_s, {u"String.x"_s, u"b"_s, {}}}},
        {{u"a"_s, {u"Binary"_s, {}, "b"_ba}}},
    };
    for (const MessageAttributes &other : others)
        QVERIFY(md5OfAttributes(one) != md5OfAttributes(other));
}

QTEST_APPLESS_MAIN(TestSqsMd5)
#include "tst_sqsmd5.moc"
