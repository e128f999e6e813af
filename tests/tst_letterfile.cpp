#include "worker/operate/letterfile.h"

#include <QtTest>

using namespace sendonce;
using namespace Qt::StringLiterals;

/// Dead letters as text: JSON lines lose nothing, CSV runs nothing.
class LetterFileTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void aLetterComesBackByteForByte_data()
    {
        QTest::addColumn<QByteArray>("body");
        QTest::newRow("event") << R"({"type":"t","event_id":"e"})"_ba;
        QTest::newRow("no JSON") << "not JSON at all"_ba;
        QTest::newRow("Unicode") << u"h\u00e9llo \u6f22 \U0001F600 \u2028 \u202e"_s.toUtf8();
        QTest::newRow("byte order mark") << u"\uFEFF{}"_s.toUtf8();
        QTest::newRow("control characters") << "a\r\nb\tc\"d\\e"_ba;
        QTest::newRow("not UTF-8") << "\xff\xfe\x00x"_ba;
        QTest::newRow("1 MiB") << QByteArray(1'048'576, 'x');
    }

    void aLetterComesBackByteForByte()
    {
        QFETCH(QByteArray, body);
        DeadLetter letter;
        letter.message.messageId = u"m"_s;
        letter.message.body = body;
        letter.message.systemAttributes.insert(u"AWSTraceHeader"_s, u"Root=1-2"_s);
        letter.message.attributes.insert(u"text"_s, {u"String"_s, u"\uFEFF\u6f22 =1+1"_s, {}});
        letter.message.attributes.insert(u"number"_s, {u"Number.int"_s, u"-1e126"_s, {}});
        letter.message.attributes.insert(u"blob"_s, {u"Binary.png"_s, {}, QByteArray("\0\xff\n", 3)});
        const QByteArray line = letterfile::jsonLine(letter);
        QVERIFY(!line.contains('\n'));
        const auto back = letterfile::messageOf(line);
        QVERIFY2(back, back ? "" : qPrintable(back.error().text));
        QCOMPARE(back.value(), letter.message);
    }

    void whatCannotBeSentIsNamed_data()
    {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<QString>("named");
        QTest::newRow("no JSON") << "{"_ba << u"no JSON object"_s;
        QTest::newRow("a list") << "[]"_ba << u"no JSON object"_s;
        QTest::newRow("no body") << "{}"_ba << u"body is missing"_s;
        QTest::newRow("empty body") << R"({"body":""})"_ba << u"body is empty"_s;
        QTest::newRow("bad base64") << R"({"bodyBase64":"###"})"_ba << u"bodyBase64"_s;
        QTest::newRow("unknown type") << R"({"body":"x","attributes":{"a":{"dataType":"Blob"}}})"_ba << u"“Blob”"_s;
        QTest::newRow("no value") << R"({"body":"x","attributes":{"a":{"dataType":"String","stringValue":""}}})"_ba
                                  << u"attribute a has no value"_s;
    }

    void whatCannotBeSentIsNamed()
    {
        QFETCH(QByteArray, line);
        QFETCH(QString, named);
        const auto back = letterfile::messageOf(line);
        QVERIFY(!back);
        QVERIFY2(back.error().text.contains(named), qPrintable(back.error().text));
    }

    void noCellIsAFormula_data()
    {
        QTest::addColumn<QString>("reason");
        QTest::addColumn<QByteArray>("cell");
        QTest::newRow("plain") << u"451 busy"_s << "451 busy"_ba;
        QTest::newRow("equals") << u"=1+1"_s << "'=1+1"_ba;
        QTest::newRow("plus") << u"+1"_s << "'+1"_ba;
        QTest::newRow("minus") << u"-1"_s << "'-1"_ba;
        QTest::newRow("at") << u"@SUM(A1)"_s << "'@SUM(A1)"_ba;
        QTest::newRow("tab") << u"\t=1"_s << "'\t=1"_ba;
        QTest::newRow("line end") << u"\n=1"_s << "\"'\n=1\""_ba;
        QTest::newRow("full width") << u"\uFF1D1"_s << u"'\uFF1D1"_s.toUtf8();
        QTest::newRow("behind blanks") << u"  =1"_s << "'  =1"_ba;
        QTest::newRow("behind a quote") << u"\"=1"_s << "\"'\"\"=1\""_ba;
        QTest::newRow("quotes and commas") << u"a \"b\", c"_s << "\"a \"\"b\"\", c\""_ba;
    }

    void noCellIsAFormula()
    {
        QFETCH(QString, reason);
        QFETCH(QByteArray, cell);
        DeadLetter letter;
        letter.message.messageId = u"m"_s;
        letter.message.body = "b";
        letter.reason = reason;
        const QByteArray line = letterfile::csvLine(letter);
        QVERIFY2(line.startsWith("m,,,,unknown," + cell + ","), line.constData());
        QVERIFY(line.endsWith(",b\r\n"));
        QCOMPARE(letterfile::csvHeading().count(','), 12);
    }
};

QTEST_APPLESS_MAIN(LetterFileTest)
#include "tst_letterfile.moc"
