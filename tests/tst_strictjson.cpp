#include "worker/events/event.h"
#include "worker/events/eventtype.h"
#include "worker/events/strictjson.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRandomGenerator>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

QDir suite(const QString &folder)
{
    return QDir(QStringLiteral(SENDONCE_SOURCE_DIR "/tests/data/jsontestsuite/") + folder);
}

QByteArray contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QString errorOf(const QByteArray &json)
{
    const Result<JsonValue> parsed = parseStrictJson(json);
    return parsed.ok() ? QString() : parsed.error().text;
}

} // namespace

class TestStrictJson : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void parsesWhatTheSuiteCallsJson_data();
    void parsesWhatTheSuiteCallsJson();
    void refusesWhatTheSuiteCallsNoJson_data();
    void refusesWhatTheSuiteCallsNoJson();
    void survivesWhatTheStandardLeavesOpen_data();
    void survivesWhatTheStandardLeavesOpen();
    void neverMakesOneIdOfTwoTexts();
    void everyCutEndsInAnError();
    void mutationsNeverPassWhatQtRefuses();

    void errorsNamePlaceAndFault_data();
    void errorsNamePlaceAndFault();
    void depthIsLimited();
    void keepsNumbersAsWritten();
    void integersAreExactOrNothing_data();
    void integersAreExactOrNothing();
    void keepsEveryCharacter_data();
    void keepsEveryCharacter();
    void valuesKnowTheirLine();
    void canonicalFormIgnoresOrderAndBlanksOnly();
    void prefixStopsBeforeWhatIsIncomplete();
};

static void listFiles(const QString &prefix)
{
    QTest::addColumn<QString>("path");
    const QDir folder = suite(u"test_parsing"_s);
    const QStringList names = folder.entryList({prefix + u"*.json"_s}, QDir::Files, QDir::Name);
    for (const QString &name : names)
        QTest::newRow(qPrintable(name)) << folder.filePath(name);
}

void TestStrictJson::parsesWhatTheSuiteCallsJson_data()
{
    listFiles(u"y_"_s);
    QCOMPARE(suite(u"test_parsing"_s).entryList({u"y_*.json"_s}).size(), 95);
}

void TestStrictJson::parsesWhatTheSuiteCallsJson()
{
    QFETCH(QString, path);
    const QByteArray json = contentOf(path);
    // RFC 8259, 4: names SHOULD be unique. Ours must be (spec.md, "Messages").
    if (path.contains("duplicated_key"_L1)) {
        QVERIFY2(errorOf(json).contains(u"is given twice"_s), qPrintable(errorOf(json)));
        return;
    }
    const Result<JsonValue> parsed = parseStrictJson(json);
    QVERIFY2(parsed.ok(), qPrintable(errorOf(json)));
    const QByteArray canonical = canonicalJson(parsed.value());
    const Result<JsonValue> again = parseStrictJson(canonical);
    QVERIFY2(again.ok(), qPrintable(errorOf(canonical)));
    QCOMPARE(canonicalJson(again.value()), canonical);
}

void TestStrictJson::refusesWhatTheSuiteCallsNoJson_data()
{
    listFiles(u"n_"_s);
    QCOMPARE(suite(u"test_parsing"_s).entryList({u"n_*.json"_s}).size(), 188);
}

void TestStrictJson::refusesWhatTheSuiteCallsNoJson()
{
    QFETCH(QString, path);
    const Result<JsonValue> parsed = parseStrictJson(contentOf(path));
    QVERIFY(!parsed.ok());
    QCOMPARE(parsed.error().kind, ErrorKind::Invalid);
    QVERIFY2(parsed.error().text.startsWith(u"line "_s), qPrintable(parsed.error().text));
}

void TestStrictJson::survivesWhatTheStandardLeavesOpen_data()
{
    listFiles(u"i_"_s);
}

void TestStrictJson::survivesWhatTheStandardLeavesOpen()
{
    QFETCH(QString, path);
    const QByteArray json = contentOf(path);
    const Result<JsonValue> parsed = parseStrictJson(json);
    if (parsed.ok())
        QVERIFY(parseStrictJson(canonicalJson(parsed.value())).ok());
    else
        QVERIFY(!parsed.error().text.isEmpty());
    parseJsonPrefix(json);
}

// Two bodies that differ must never become one event: each text of test_transform is used as the value of event_id.
void TestStrictJson::neverMakesOneIdOfTwoTexts()
{
    EventTypes types;
    EventType type;
    type.type = u"t"_s;
    types.insert(type);

    QHash<QString, QByteArray> bodyOfId;
    int accepted = 0;
    QList<QByteArray> values;
    const QDir folder = suite(u"test_transform"_s);
    const QStringList names = folder.entryList({u"*.json"_s}, QDir::Files, QDir::Name);
    QCOMPARE(names.size(), 22);
    for (const QString &name : names) {
        const QByteArray json = contentOf(folder.filePath(name)).trimmed();
        values.append(json); // an array or an object: refused as an event_id
        if (json.startsWith('[') && json.endsWith(']'))
            values.append(json.mid(1, json.size() - 2)); // the text or number inside
        if (json.startsWith('{') && json.contains(':')) { // a key that is no event_id: used as one
            const qsizetype colon = json.indexOf(':');
            values.append(json.mid(1, colon - 1).trimmed());
            values.append(json.mid(json.indexOf(',') + 1).split(':').first().trimmed());
        }
    }
    values << "\"?\""
           << "\"\xef\xbf\xbd\""
           << "\"\""
           << "\"A\""
           << "\"A \""
           << "\"A\\u0000B\""
           << "\"\\ufeffA\""
           << "\"\xef\xbb\xbf"
              "A\"";
    for (const QByteArray &value : std::as_const(values)) {
        const QByteArray body = R"({"type":"t","event_id":)" + value + '}';
        const Result<Event> event = parseEvent(body, types);
        if (!event)
            continue;
        ++accepted;
        // The same id may only come from texts that are the same characters.
        const QByteArray decoded = parseStrictJson('[' + value + ']').value().items.first().text.toUtf8();
        QVERIFY(!bodyOfId.contains(event->eventId) || bodyOfId.value(event->eventId) == decoded);
        QCOMPARE(event->eventId.toUtf8(), decoded);
        bodyOfId.insert(event->eventId, decoded);
    }
    QVERIFY(accepted >= 5); // "?", U+FFFD, "A", and é composed and decomposed, which are two
    QVERIFY(bodyOfId.contains(QString::fromUtf8("\xc3\xa9")));
    QVERIFY(bodyOfId.contains(QString::fromUtf8("e\xcc\x81")));
}

void TestStrictJson::everyCutEndsInAnError()
{
    const QByteArray json = R"({"a":[1,-2.5e+3,true,false,null,"x\"\u00e9\ud83d\ude00é😀"],"b":{"c":{}}})"_ba;
    QVERIFY(parseStrictJson(json).ok());
    for (qsizetype size = 0; size < json.size(); ++size) {
        QVERIFY2(!parseStrictJson(json.first(size)).ok(), qPrintable(QString::number(size)));
        parseJsonPrefix(json.first(size));
    }
}

// Qt's parser takes more than ours, never less (numbers apart): a second opinion on texts that nobody thought of.
void TestStrictJson::mutationsNeverPassWhatQtRefuses()
{
    QByteArrayList seeds;
    const QDir folder = suite(u"test_parsing"_s);
    const QStringList names = folder.entryList({u"*.json"_s}, QDir::Files, QDir::Name);
    for (const QString &name : names) {
        if (const QByteArray json = contentOf(folder.filePath(name)); json.size() < 500)
            seeds.append(json);
    }
    QRandomGenerator random(20250304);
    const QByteArray alphabet = "{}[]\",:.-+eE0123456789 \\utrfalsn\n\x00\x7f\x80\xbf\xc3\xa9\xed\xff"_ba;
    int accepted = 0;
    for (int round = 0; round < 20'000; ++round) {
        QByteArray json = seeds[random.bounded(int(seeds.size()))];
        for (int change = random.bounded(1, 4); change > 0; --change) {
            const int at = random.bounded(int(json.size()) + 1);
            const char byte = alphabet[random.bounded(int(alphabet.size()))];
            switch (random.bounded(3)) {
            case 0:
                json.insert(at, byte);
                break;
            case 1:
                json.remove(at, 1);
                break;
            default:
                if (at < json.size())
                    json[at] = byte;
            }
        }
        parseJsonPrefix(json);
        const Result<JsonValue> parsed = parseStrictJson(json);
        if (!parsed || parsed->items.isEmpty()) // QJsonDocument takes arrays and objects only
            continue;
        ++accepted;
        QJsonParseError error;
        const QJsonDocument document = QJsonDocument::fromJson(json, &error);
        if (error.error
            == QJsonParseError::IllegalNumber) // too small or large for a double, which is no fault of the text
            continue;
        QVERIFY2(error.error == QJsonParseError::NoError, json.toHex().constData());
        QCOMPARE(document.isObject() ? document.object().size() : document.array().size(), parsed->items.size());
        const QByteArray canonical = canonicalJson(parsed.value());
        QCOMPARE(canonicalJson(parseStrictJson(canonical).value()), canonical);
    }
    QVERIFY2(accepted > 1000, qPrintable(QString::number(accepted)));
}

void TestStrictJson::errorsNamePlaceAndFault_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("text");
    QTest::newRow("empty") << ""_ba << u"line 1, column 1: there is no value"_s;
    QTest::newRow("single quotes") << "{'a':1}"_ba << u"line 1, column 2: expected a key in quotes, found “'”"_s;
    QTest::newRow("trailing comma") << "{\"a\":1,\n}"_ba << u"line 2, column 1: expected a key in quotes, found “}”"_s;
    QTest::newRow("NaN") << "[NaN]"_ba << u"line 1, column 2: expected a value, found “N”"_s;
    QTest::newRow("second value") << "{} {}"_ba << u"line 1, column 4: the value is followed by “{”"_s;
    QTest::newRow("leading zero") << "[01]"_ba << u"line 1, column 2: a number has a leading zero"_s;
    QTest::newRow("columns are characters")
        << "[\"é😀\" x"_ba << u"line 1, column 7: expected “,” or “]” in an array, found “x”"_s;
    QTest::newRow("open text") << "[\"abc"_ba << u"line 1, column 2: a text is not closed"_s;
    QTest::newRow("unknown escape") << R"(["\x41"])"_ba
                                    << u"line 1, column 4: \\ is followed by “x”, which is no escape"_s;
    QTest::newRow("bare control") << "{\"a\":\"\t\"}"_ba
                                  << u"line 1, column 7: “a” holds the control character “\\u0009” unescaped"_s;
    QTest::newRow("not UTF-8") << "[\"\xff\"]"_ba << u"line 1, column 3: a byte (0xff) that is not UTF-8"_s;
    QTest::newRow("overlong UTF-8") << "[\"\xc0\xaf\"]"_ba << u"line 1, column 3: a byte (0xc0) that is not UTF-8"_s;
    QTest::newRow("UTF-8 of a surrogate")
        << "[\"\xed\xa0\x80\"]"_ba << u"line 1, column 3: a byte (0xed) that is not UTF-8"_s;
    QTest::newRow("byte order mark") << "\xef\xbb\xbf{}"_ba
                                     << u"line 1, column 1: a byte order mark stands before the value"_s;
    QTest::newRow("duplicate key") << R"({"event_id":"a",
  "event_id":"b"})"_ba << u"line 2, column 3: key “event_id” is given twice; each key is accepted once"_s;
    QTest::newRow("duplicate key, escaped")
        << R"({"a":1,"\u0061":1})"_ba << u"line 1, column 8: key “a” is given twice; each key is accepted once"_s;
    QTest::newRow("duplicate key, nested")
        << R"({"x":[{"y":{"z":1,"z":1}}]})"_ba
        << u"line 1, column 19: key “x.y.z” is given twice; each key is accepted once"_s;
    QTest::newRow("lone high surrogate")
        << R"({"event_id":"a\ud800"})"_ba
        << u"line 1, column 15: “event_id” holds half of a surrogate pair (\\ud800), which is no character; valid Unicode is accepted"_s;
    QTest::newRow("lone low surrogate")
        << R"({"a":{"b":"\udc00\ud800"}})"_ba
        << u"line 1, column 12: “a.b” holds half of a surrogate pair (\\udc00), which is no character; valid Unicode is accepted"_s;
    QTest::newRow("two high surrogates")
        << R"(["\ud800\ud801"])"_ba
        << u"line 1, column 3: a text holds half of a surrogate pair (\\ud800), which is no character; valid Unicode is accepted"_s;
    QTest::newRow("lone surrogate in a key")
        << R"({"\ud800":1})"_ba
        << u"line 1, column 3: “a key” holds half of a surrogate pair (\\ud800), which is no character; valid Unicode is accepted"_s;
}

void TestStrictJson::errorsNamePlaceAndFault()
{
    QFETCH(QByteArray, json);
    QFETCH(QString, text);
    QCOMPARE(errorOf(json), text);
}

void TestStrictJson::depthIsLimited()
{
    const auto nested = [](int levels) { return QByteArray(levels, '[') + QByteArray(levels, ']'); };
    QVERIFY(parseStrictJson(nested(JsonDepthLimit)).ok());
    QCOMPARE(errorOf(nested(JsonDepthLimit + 1)), u"line 1, column 65: more than 64 levels within one another"_s);
    QCOMPARE(errorOf(QByteArray(1'000'000, '[')), u"line 1, column 65: more than 64 levels within one another"_s);
}

void TestStrictJson::keepsNumbersAsWritten()
{
    const QByteArray json = "[-0,1.000000000000000005,18446744073709551617,1E400,3.0]"_ba;
    QCOMPARE(canonicalJson(parseStrictJson(json).value()), json);
}

void TestStrictJson::integersAreExactOrNothing_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<bool>("isInteger");
    QTest::addColumn<qint64>("number");
    QTest::newRow("small") << "3"_ba << true << qint64(3);
    QTest::newRow("beyond double") << "9007199254740993"_ba << true << Q_INT64_C(9007199254740993);
    QTest::newRow("largest") << "9223372036854775807"_ba << true << std::numeric_limits<qint64>::max();
    QTest::newRow("smallest") << "-9223372036854775808"_ba << true << std::numeric_limits<qint64>::min();
    QTest::newRow("one too large") << "9223372036854775808"_ba << false << qint64(0);
    QTest::newRow("one too small") << "-9223372036854775809"_ba << false << qint64(0);
    QTest::newRow("far too large") << "18446744073709551617"_ba << false << qint64(0);
    QTest::newRow("fraction") << "3.0"_ba << false << qint64(0);
    QTest::newRow("exponent") << "3e0"_ba << false << qint64(0);
    QTest::newRow("text") << "\"3\""_ba << false << qint64(0);
}

void TestStrictJson::integersAreExactOrNothing()
{
    QFETCH(QByteArray, json);
    QFETCH(bool, isInteger);
    QFETCH(qint64, number);
    const auto integer = parseStrictJson(json).value().integer();
    QCOMPARE(integer.has_value(), isInteger);
    QCOMPARE(integer.value_or(0), number);
}

void TestStrictJson::keepsEveryCharacter_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("text");
    QTest::newRow("escapes") << R"("\"\\\/\b\f\n\r\t")"_ba << u"\"\\/\b\f\n\r\t"_s;
    QTest::newRow("pair") << R"("\ud83d\ude00")"_ba << u"😀"_s;
    QTest::newRow("raw") << "\"é😀\""_ba << u"é😀"_s;
    QTest::newRow("NUL") << R"("a\u0000b")"_ba << QString(u"a\0b"_s);
    QTest::newRow("byte order mark, raw") << "\"\xef\xbb\xbf"
                                             "a\""_ba
                                          << QString(QChar(0xfeff)) + u'a';
    QTest::newRow("byte order mark, escaped") << R"("\uFEFFa")"_ba << QString(QChar(0xfeff)) + u'a';
    QTest::newRow("byte order mark behind an escape") << "\"\\n\xef\xbb\xbf"
                                                         "a\""_ba
                                                      << u'\n' + QString(QChar(0xfeff)) + u'a';
}

void TestStrictJson::keepsEveryCharacter()
{
    QFETCH(QByteArray, json);
    QFETCH(QString, text);
    const Result<JsonValue> parsed = parseStrictJson(json);
    QVERIFY2(parsed.ok(), qPrintable(errorOf(json)));
    QCOMPARE(parsed->text, text);
    QCOMPARE(parseStrictJson(jsonLiteral(text)).value().text, text);
}

void TestStrictJson::valuesKnowTheirLine()
{
    const JsonValue root = parseStrictJson("\n{\"a\":\n\n1,\r\n\"b\":[\n2]}"_ba).value();
    QCOMPARE(root.line, 2);
    QCOMPARE(root.find(u"a")->line, 4);
    QCOMPARE(root.find(u"b")->line, 5);
    QCOMPARE(root.find(u"b")->items.first().line, 6);
    QVERIFY(!root.find(u"c"));
}

void TestStrictJson::canonicalFormIgnoresOrderAndBlanksOnly()
{
    const auto canonical = [](const QByteArray &json) { return canonicalJson(parseStrictJson(json).value()); };
    QCOMPARE(canonical(R"( {"b": {"d":1, "c" : "\u0041\n"}, "a":[2, 1]} )"_ba),
             R"({"a":[2,1],"b":{"c":"A\u000a","d":1}})"_ba);
    QVERIFY(canonical("[1,2]"_ba) != canonical("[2,1]"_ba));
    QVERIFY(canonical("{\"a\":1}"_ba) != canonical("{\"a\":1.0}"_ba));
    QVERIFY(canonical("{\"a\":\"1\"}"_ba) != canonical("{\"a\":1}"_ba));
    QVERIFY(canonical("{\"a\":18446744073709551617}"_ba) != canonical("{\"a\":18446744073709551616}"_ba));
}

void TestStrictJson::prefixStopsBeforeWhatIsIncomplete()
{
    const QByteArray json = R"({"a":"x","b":{"c":"y","d":31)"_ba;
    JsonValue value = parseJsonPrefix(json);
    QCOMPARE(value.find(u"a")->text, u"x"_s);
    QCOMPARE(value.find(u"b")->find(u"c")->text, u"y"_s);
    QCOMPARE(value.find(u"b")->find(u"d")->kind, JsonValue::Kind::Null); // perhaps the half of 314
    QCOMPARE(parseJsonPrefix("{\"a\":\"x"_ba).find(u"a")->kind, JsonValue::Kind::Null);
    QCOMPARE(parseJsonPrefix("{\"a\":1,\"b\":\"\xff\"}"_ba).find(u"a")->text, u"1"_s);
    QVERIFY(!parseJsonPrefix("no json"_ba).find(u"a"));
}

QTEST_APPLESS_MAIN(TestStrictJson)
#include "tst_strictjson.moc"
