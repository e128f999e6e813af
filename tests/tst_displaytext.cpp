#include "ui/displaytext.h"
#include "ui/figures.h"
#include "ui/storyview.h"

#include <QGuiApplication>
#include <QJsonDocument>
#include <QTest>
#include <QTextDocument>
#include <QTimeZone>

using namespace Qt::StringLiterals;
using namespace sendonce;

class TestDisplayText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatActsIsWrittenOut_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("shown");
        QTest::newRow("plain") << u"451 4.3.0 mail server down"_s << u"451 4.3.0 mail server down"_s;
        QTest::newRow("markup is text") << u"<img src='/etc/passwd'><a href=x>"_s
                                        << u"<img src='/etc/passwd'><a href=x>"_s;
        QTest::newRow("right to left override") << u"invoice\u202Egpj.exe"_s << u"invoice\\u202egpj.exe"_s;
        QTest::newRow("isolates") << u"\u2066a\u2069"_s << u"\\u2066a\\u2069"_s;
        QTest::newRow("zero width") << u"a\u200Bb\uFEFF"_s << u"a\\u200bb\\ufeff"_s;
        QTest::newRow("line ends and tab") << u"a\r\nb\tc"_s << u"a\\r\\nb\\tc"_s;
        QTest::newRow("control") << u"a\x1b[31mb"_s + QChar(0) << u"a\\u001b[31mb\\u0000"_s;
        QTest::newRow("next line") << u"a\u0085b\u2028c"_s << u"a\\u0085b\\u2028c"_s;
        QTest::newRow("other scripts stay") << u"héllo – 日本 😀 مرحبا"_s << u"héllo – 日本 😀 مرحبا"_s;
        QTest::newRow("empty") << QString() << QString();
    }
    void whatActsIsWrittenOut()
    {
        QFETCH(QString, text);
        QTEST(shownText(text), "shown");
    }

    void longTextIsCutBetweenCharacters()
    {
        const QString text = u"ab😀cd"_s;
        QCOMPARE(shownText(text, 3), u"ab…"_s);
        QCOMPARE(shownText(text, 4), u"ab😀…"_s);
        QCOMPARE(shownText(text, 6), text);
        QVERIFY(shownText(QString(1024 * 1024, u'x')).size() < 1100);
    }

    void linesKeepTheirEnds() { QCOMPARE(shownLines(u"a\r\nb\n\tc\u202E"_s), u"a\nb\n\tc\\u202e"_s); }

    void toolTipsAreTheTextAndNothingElse()
    {
        const QString text = u"<img src='/etc/passwd'> &lt;b&gt; <a href='http://x'>y</a>"_s;
        const QString tip = toolTipText(text);
        QTextDocument document;
        document.setHtml(tip);
        QCOMPARE(document.toPlainText(), text);
        QVERIFY(!tip.contains("<img"_L1) && !tip.contains("<a "_L1));
        QVERIFY(toolTipText({}).isEmpty());
    }

    void idsAreShortenedInTheMiddle()
    {
        QCOMPARE(compactId(u"23e48c51-7f0e-4b7e-8c55-1f0e6a5d9a41"_s), u"23e48c51-7f0e…9a41"_s);
        QCOMPARE(compactId(u"test-no-such-type"_s), u"test-no-such-type"_s);
        QCOMPARE(compactId({}), QString());
    }

    void typesAreWords()
    {
        QCOMPARE(typeText(u"application.status_changed"_s), u"status changed"_s);
        QCOMPARE(typeText(u"created"_s), u"created"_s);
        QCOMPARE(typeText(u"odd."_s), u"odd."_s);
    }

    void agesAreWords_data()
    {
        QTest::addColumn<int>("seconds");
        QTest::addColumn<QString>("text");
        QTest::newRow("now") << 0 << u"just now"_s;
        QTest::newRow("clock set back") << -30 << u"just now"_s;
        QTest::newRow("seconds") << 20 << u"20 s ago"_s;
        QTest::newRow("minutes") << 150 << u"2 min ago"_s;
        QTest::newRow("hours") << 3 * 3600 << u"3 h ago"_s;
        QTest::newRow("days") << 5 * 86400 << u"5 days ago"_s;
    }
    void agesAreWords()
    {
        QFETCH(int, seconds);
        const QDateTime now = QDateTime::fromString(u"2026-03-01T12:00:00Z"_s, Qt::ISODate);
        QTEST(agoText(now.addSecs(-seconds), now), "text");
        QVERIFY(agoText({}, now).isEmpty());
    }

    void countsAreGrouped()
    {
        QCOMPARE(countText(1204), u"1,204"_s);
        QCOMPARE(countText(0), u"0"_s);
        QCOMPARE(countText(-1), u"–"_s);
    }

    void jsonKeepsTheOrderOfItsMembers()
    {
        const QByteArray json = "{\"type\":\"b\",\"a\":[1,{\"x\":\"}{\\\"[]\"}],\"e\":{},\"f\":[ ]}";
        const QStringList lines = {u"{"_s,
                                   u"  \"type\": \"b\","_s,
                                   u"  \"a\": ["_s,
                                   u"    1,"_s,
                                   u"    {"_s,
                                   u"      \"x\": \"}{\\\"[]\""_s,
                                   u"    }"_s,
                                   u"  ],"_s,
                                   u"  \"e\": {},"_s,
                                   u"  \"f\": []"_s,
                                   u"}"_s};
        QCOMPARE(indentedJson(json), lines.join(u'\n'));
        QVERIFY(indentedJson("hello").isNull());
        QVERIFY(indentedJson("{\"a\":}").isNull());
        QVERIFY(indentedJson("").isNull());
    }

    void indentedJsonIsTheSameJson_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::newRow("event") << QByteArray(
            "{\"type\": \"application.status_changed\", \"event_id\": \"\\u00e9\\\\\", \"application_id\": 3}");
        QTest::newRow("empty object") << QByteArray("{ }");
        QTest::newRow("array") << QByteArray("[[],[[]],{\"a\":{}}]");
        QTest::newRow("brace in string before a closing one") << QByteArray("{\"a\":{\"b\":\"{\"}}");
        QTest::newRow("deep") << QByteArray(300, '[') + QByteArray(300, ']');
    }
    void indentedJsonIsTheSameJson()
    {
        QFETCH(QByteArray, json);
        const QString laidOut = indentedJson(json);
        QVERIFY(!laidOut.isNull());
        QCOMPARE(QJsonDocument::fromJson(laidOut.toUtf8()), QJsonDocument::fromJson(json));
    }

    void storiesShowTheDayWhereItChanges()
    {
        const auto at = [](const char *text) { return QDateTime::fromString(QLatin1StringView(text), Qt::ISODate); };
        EventStory story{
            u"e"_s,
            {{at("2026-03-01T14:05:41Z"), u"received 1 of 3"_s}, {at("2026-03-01T14:06:11Z"), u"a\u202Eb\nc"_s}},
            {}};
        QCOMPARE(storyText(story), u"14:05:41  received 1 of 3\n14:06:11  a\\u202eb\\nc"_s);
        story.lines += {at("2026-03-02T00:00:01Z"), u"deleted"_s};
        QCOMPARE(storyText(story),
                 u"2026-03-01\n14:05:41  received 1 of 3\n14:06:11  a\\u202eb\\nc\n2026-03-02\n00:00:01  deleted"_s);
    }

    void figuresAreOfOneWidth()
    {
        const QFontMetrics metrics{QFont()};
        QCOMPARE(figuresWidth(metrics, u"1111"_s), figuresWidth(metrics, u"8888"_s));
        QVERIFY(figuresWidth(metrics, u"1,204 /s"_s) > figuresWidth(metrics, u"204"_s));
        QCOMPARE(figuresWidth(metrics, {}), 0);
    }
};

QTEST_MAIN(TestDisplayText)
#include "tst_displaytext.moc"
