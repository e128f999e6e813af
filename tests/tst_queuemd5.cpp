#include "worker/queue/sqsmd5.h"

#include <QTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

namespace {

MessageAttribute text(const QString &type, const QString &value)
{
    return {type, value, {}};
}

} // namespace

class TestQueueMd5 : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }
    void bodies_data();
    void bodies();
    void attributes_data();
    void attributes();
};

void TestQueueMd5::bodies_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QByteArray>("md5");
    QTest::newRow("not ASCII") << u"h\u00e9llo"_s.toUtf8() << "be50e8478cf24ff3595bc7307fb91b50"_ba;
    QTest::newRow("message") << "message"_ba
                             << "78e731027d8fd50ed642340b7c9a63b3"_ba;
    QTest::newRow("test") << "test"_ba
                          << "098f6bcd4621d373cade4e832627b4f6"_ba;
}

void TestQueueMd5::bodies()
{
    QFETCH(QByteArray, body);
    QFETCH(QByteArray, md5);
    QCOMPARE(sqsmd5::ofBody(body), md5);
}

void TestQueueMd5::attributes_data()
{
    QTest::addColumn<MessageAttributes>("attributes");
    QTest::addColumn<QByteArray>("md5");
    QTest::newRow("none: the member is left out") << MessageAttributes() << QByteArray();
    QTest::newRow("one of each type, with a label")
        << MessageAttributes{{u"event_id"_s, text(u"String"_s, u"evt-42"_s)},
                             {u"attempt"_s, text(u"Number.int"_s, u"1"_s)},
                             {u"blob"_s, {u"Binary"_s, {}, QByteArray::fromHex("00ff")}}}
        << "526ac51008ab065632161c750ee1f5ea"_ba;
    QTest::newRow("three texts, recorded from AWS") << MessageAttributes{{u"Hello"_s, text(u"String"_s, u"There"_s)},
                                                                         {u"General"_s, text(u"String"_s, u"Kenobi"_s)},
                                                                         {u"Help.Me"_s, text(u"String"_s, u"Me"_s)}}
                                                    << "4c360f3fdafd970e05fae2f149d997f5"_ba;
    QTest::newRow("two of them, as when filtered") << MessageAttributes{{u"Hello"_s, text(u"String"_s, u"There"_s)},
                                                                        {u"General"_s, text(u"String"_s, u"Kenobi"_s)}}
                                                   << "fca026605781cb4126a1e9044df24232"_ba;
    QTest::newRow("number") << MessageAttributes{{u"timestamp"_s, text(u"Number"_s, u"1493147359900"_s)}}
                            << "235c5c510d26fb653d073faed50ae77c"_ba;
    QTest::newRow("one text, recorded from AWS")
        << MessageAttributes{{u"MyAttribute"_s, text(u"String"_s, u"foobar"_s)}}
        << "adb59cd4678ea5a855436b949cd07ab6"_ba;
    QTest::newRow("system attribute, recorded from AWS")
        << MessageAttributes{{u"AWSTraceHeader"_s,
                              text(u"String"_s,
                                   u"Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"_s)}}
        << "5ae4d5d7636402d80f4eb6d213245a88"_ba;
}

void TestQueueMd5::attributes()
{
    QFETCH(MessageAttributes, attributes);
    QFETCH(QByteArray, md5);
    QCOMPARE(sqsmd5::ofAttributes(attributes), md5);
}

QTEST_GUILESS_MAIN(TestQueueMd5)
#include "tst_queuemd5.moc"
