#include "worker/events/event.h"
#include "worker/events/strictjson.h"

#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

/// A valid body whose event_id (or other member) is the given JSON.
QByteArray withEventId(const QByteArray &json)
{
    return R"({"type":"application.status_changed","event_id":)" + json
        + R"(,"application_id":3,"old_status":"reviewing","new_status":"interview"})";
}

QByteArray withApplicationId(const QByteArray &json)
{
    return R"({"type":"application.status_changed","event_id":"e-1","application_id":)" + json
        + R"(,"old_status":"reviewing","new_status":"interview"})";
}

QByteArray withType(const QByteArray &json)
{
    return R"({"type":)" + json + R"(,"event_id":"e-1","application_id":3,"old_status":"a","new_status":"b"})";
}

QByteArray literal(const QString &text)
{
    return jsonLiteral(text);
}

} // namespace

class TestEvent : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void acceptsEventIds_data();
    void acceptsEventIds();
    void refusesWithTheFieldNamed_data();
    void refusesWithTheFieldNamed();
    void keepsUnknownFieldsExactly();
    void glimpseNeverFails_data();
    void glimpseNeverFails();
    void composesTheArticlesBody();
    void composingKeepsHalfSurrogatesVisible();

private:
    EventTypes m_types;
};

void TestEvent::initTestCase()
{
    Result<EventTypes> types = EventTypes::load({});
    QVERIFY2(types.ok(), types.ok() ? "" : qPrintable(types.error().text));
    m_types = types.take();
}

void TestEvent::acceptsEventIds_data()
{
    QTest::addColumn<QString>("id");
    QTest::newRow("UUID") << u"23e48c51-7f0e-4b7e-8c55-1f0e6a5d9a41"_s;
    QTest::newRow("made by hand") << u"test-missing"_s;
    QTest::newRow("one character") << u"x"_s;
    QTest::newRow("64 characters") << QString(64, u'x');
    QTest::newRow("64 emoji, 128 UTF-16 units") << u"😀"_s.repeated(64);
    QTest::newRow("blank inside") << u"a b"_s;
    QTest::newRow("quotes and percent") << u"'\"%_\\;--"_s;
    QTest::newRow("composed") << u"é"_s;
    QTest::newRow("decomposed") << u"e\u0301"_s;
    QTest::newRow("replacement character") << u"\ufffd"_s;
    QTest::newRow("zero width space") << u"a\u200b"_s;
}

void TestEvent::acceptsEventIds()
{
    QFETCH(QString, id);
    const Result<Event> event = parseEvent(withEventId(literal(id)), m_types);
    QVERIFY2(event.ok(), event.ok() ? "" : qPrintable(event.error().text));
    QCOMPARE(event->eventId, id);
}

void TestEvent::refusesWithTheFieldNamed_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("text");

    const QString idAccepted = u"; a text of 1 to 64 characters is accepted"_s;
    QTest::newRow("id missing") << R"({"type":"application.status_changed"})"_ba
                                << u"event_id is missing"_s + idAccepted;
    QTest::newRow("id null") << withEventId("null"_ba) << u"event_id is null"_s + idAccepted;
    QTest::newRow("id a number") << withEventId("17"_ba) << u"event_id is a number (17)"_s + idAccepted;
    QTest::newRow("id true") << withEventId("true"_ba) << u"event_id is true"_s + idAccepted;
    QTest::newRow("id an array") << withEventId("[\"e\"]"_ba) << u"event_id is an array"_s + idAccepted;
    QTest::newRow("id an object") << withEventId("{}"_ba) << u"event_id is an object"_s + idAccepted;
    QTest::newRow("id empty") << withEventId("\"\""_ba) << u"event_id is empty; 1 to 64 characters are accepted"_s;
    QTest::newRow("id of 65 characters") << withEventId(literal(QString(65, u'x')))
                                         << u"event_id is 65 characters long; 1 to 64 are accepted"_s;
    QTest::newRow("id of 65 emoji") << withEventId(literal(u"😀"_s.repeated(65)))
                                    << u"event_id is 65 characters long; 1 to 64 are accepted"_s;
    const QString blank = u" begins or ends with a blank; text without leading and trailing blanks is accepted"_s;
    QTest::newRow("id with a leading blank") << withEventId("\" e\""_ba) << u"event_id “ e”"_s + blank;
    QTest::newRow("id with a trailing blank") << withEventId("\"e \""_ba) << u"event_id “e ”"_s + blank;
    QTest::newRow("64 characters and a blank")
        << withEventId(literal(QString(64, u'x') + u' ')) << u"event_id “"_s + QString(60, u'x') + u"…”"_s + blank;
    QTest::newRow("id with a trailing no-break space")
        << withEventId(literal(u"e\u00a0"_s)) << u"event_id “e\u00a0”"_s + blank;
    QTest::newRow("id with a trailing line separator")
        << withEventId(literal(u"e\u2028"_s)) << u"event_id “e\\u2028”"_s + blank;
    const QString control = u"; text without control characters is accepted"_s;
    QTest::newRow("id with NUL") << withEventId(R"("a\u0000b")"_ba)
                                 << u"event_id holds the control character U+0000 (character 2)"_s + control;
    QTest::newRow("id with a line end") << withEventId(R"("a\n")"_ba)
                                        << u"event_id holds the control character U+000A (character 2)"_s + control;
    QTest::newRow("id with DEL") << withEventId(literal(u"\u007f"_s))
                                 << u"event_id holds the control character U+007F (character 1)"_s + control;
    QTest::newRow("id with C1") << withEventId(literal(u"ab\u0085"_s))
                                << u"event_id holds the control character U+0085 (character 3)"_s + control;
    QTest::newRow("id with a byte order mark")
        << withEventId(R"("\ufeffa")"_ba)
        << u"event_id holds U+FEFF (character 1), which databases drop or replace; other characters are accepted"_s;
    QTest::newRow("id with a noncharacter")
        << withEventId(R"("a\uffff")"_ba)
        << u"event_id holds U+FFFF (character 2), which databases drop or replace; other characters are accepted"_s;
    QTest::newRow("id with half a surrogate pair")
        << withEventId(R"("\ud800")"_ba)
        << u"the body is not acceptable JSON: line 1, column 50: “event_id” holds half of a surrogate pair (\\ud800), which is no character; valid Unicode is accepted"_s;
    QTest::newRow("id given twice")
        << R"({"event_id":"a","event_id":"a"})"_ba
        << u"the body is not acceptable JSON: line 1, column 17: key “event_id” is given twice; each key is accepted once"_s;
    QTest::newRow("another key given twice")
        << R"({"event_id":"a","x":{"y":1,"y":2}})"_ba
        << u"the body is not acceptable JSON: line 1, column 28: key “x.y” is given twice; each key is accepted once"_s;

    const QString typeAccepted = u"; a text of 1 to 100 characters is accepted"_s;
    QTest::newRow("type missing") << R"({"event_id":"e"})"_ba << u"type is missing"_s + typeAccepted;
    QTest::newRow("type a number") << withType("1"_ba) << u"type is a number (1)"_s + typeAccepted;
    QTest::newRow("type empty") << withType("\"\""_ba) << u"type is empty"_s + typeAccepted;
    QTest::newRow("type too long") << withType(literal(QString(101, u't')))
                                   << u"type is 101 characters long; 1 to 100 are accepted"_s;
    QTest::newRow("type not known")
        << withType("\"application.archived\""_ba)
        << u"type “application.archived” is not known; known are application.received, application.status_changed"_s;

    QTest::newRow("application missing") << R"({"type":"application.received","event_id":"e"})"_ba
                                         << u"application_id is missing; an integer is accepted"_s;
    QTest::newRow("application a text") << withApplicationId("\"3\""_ba)
                                        << u"application_id is a text (“3”); an integer is accepted"_s;
    QTest::newRow("application null") << withApplicationId("null"_ba)
                                      << u"application_id is null; an integer is accepted"_s;
    QTest::newRow("application 3.0") << withApplicationId(
        "3.0"_ba) << u"application_id is 3.0; an integer without fraction and exponent is accepted"_s;
    QTest::newRow("application 3e0") << withApplicationId(
        "3e0"_ba) << u"application_id is 3e0; an integer without fraction and exponent is accepted"_s;
    QTest::newRow("application 2^64+1") << withApplicationId(
        "18446744073709551617"_ba) << u"application_id is 18446744073709551617; an integer of 64 bits is accepted"_s;
    QTest::newRow("status missing")
        << R"({"type":"application.status_changed","event_id":"e","application_id":3,"old_status":"a"})"_ba
        << u"new_status is missing; a text is accepted"_s;
    QTest::newRow("status a number")
        << R"({"type":"application.status_changed","event_id":"e","application_id":3,"old_status":1})"_ba
        << u"old_status is a number (1); a text is accepted"_s;

    QTest::newRow("empty body") << ""_ba << u"the body is not acceptable JSON: line 1, column 1: there is no value"_s;
    QTest::newRow("no JSON")
        << "{\"event_id\": \"e\",\n oops}"_ba
        << u"the body is not acceptable JSON: line 2, column 2: expected a key in quotes, found “o”"_s;
    QTest::newRow("an array") << "[]"_ba << u"the body is an array; a JSON object is accepted"_s;
    QTest::newRow("a text") << "\"hello\""_ba << u"the body is a text (“hello”); a JSON object is accepted"_s;
}

void TestEvent::refusesWithTheFieldNamed()
{
    QFETCH(QByteArray, body);
    QFETCH(QString, text);
    const Result<Event> event = parseEvent(body, m_types);
    QVERIFY(!event.ok());
    QCOMPARE(event.error().text, text);
    QCOMPARE(event.error().kind, ErrorKind::Invalid);
}

void TestEvent::keepsUnknownFieldsExactly()
{
    const QByteArray body = R"({"type":"application.status_changed","event_id":"e","application_id":9007199254740993,
        "old_status":"a","new_status":"b","note":"<b>ü</b>","urgent":true,"score":0.5,"huge":18446744073709551617,"beyond":1e400,
        "nothing":null,"list":[1],"nested":{"event_id":"other"},"minus":-7})"_ba;
    const Result<Event> event = parseEvent(body, m_types);
    QVERIFY2(event.ok(), event.ok() ? "" : qPrintable(event.error().text));
    const QMap<QString, QVariant> expected{{u"type"_s, u"application.status_changed"_s},
                                           {u"event_id"_s, u"e"_s},
                                           {u"application_id"_s, Q_INT64_C(9007199254740993)},
                                           {u"old_status"_s, u"a"_s},
                                           {u"new_status"_s, u"b"_s},
                                           {u"note"_s, u"<b>ü</b>"_s},
                                           {u"urgent"_s, true},
                                           {u"score"_s, 0.5},
                                           {u"huge"_s, u"18446744073709551617"_s},
                                           {u"beyond"_s, u"1e400"_s},
                                           {u"minus"_s, Q_INT64_C(-7)}};
    QCOMPARE(event->fields, expected);
    QCOMPARE(event->fields.value(u"application_id"_s).typeId(), int(QMetaType::LongLong));

    QByteArray nestedChanged = body;
    nestedChanged.replace("\"other\"", "\"third\"");
    QVERIFY(parseEvent(nestedChanged, m_types).value().bodySha256 != event->bodySha256);
    QCOMPARE(parseEvent(nestedChanged, m_types).value().fields, expected);
}

void TestEvent::glimpseNeverFails_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("eventId");
    QTest::addColumn<QString>("type");
    QTest::addColumn<QString>("applicationId");
    QTest::newRow("nothing") << ""_ba << QString() << QString() << QString();
    QTest::newRow("bytes") << "\xff\x00\x01"_ba << QString() << QString() << QString();
    QTest::newRow("an array") << "[{\"event_id\":\"e\"}]"_ba << QString() << QString() << QString();
    QTest::newRow("a number for the id") << withEventId("17"_ba) << QString() << u"application.status_changed"_s
                                         << u"3"_s;
    QTest::newRow("a text for the application")
        << withApplicationId("\"three\""_ba) << u"e-1"_s << u"application.status_changed"_s << u"three"_s;
    QTest::newRow("unknown type") << withType("\"x\""_ba) << u"e-1"_s << u"x"_s << u"3"_s;
    QTest::newRow("long") << withEventId(literal(QString(300, u'x'))) << QString(200, u'x')
                          << u"application.status_changed"_s << u"3"_s;
    QTest::newRow("never half a character") << withEventId(literal(QString(199, u'x') + u"😀"_s)) << QString(199, u'x')
                                            << u"application.status_changed"_s << u"3"_s;
    QTest::newRow("damaged behind the id") << R"({"type":"t","event_id":"e","x":)"_ba << u"e"_s << u"t"_s << QString();
}

void TestEvent::glimpseNeverFails()
{
    QFETCH(QByteArray, body);
    QFETCH(QString, eventId);
    QFETCH(QString, type);
    QFETCH(QString, applicationId);
    QCOMPARE(glimpse(body), (EventGlimpse{eventId, type, applicationId}));
}

void TestEvent::composesTheArticlesBody()
{
    const QByteArray body = composeStatusChanged(u"23e48c51"_s, 3, u"reviewing"_s, u"inter\"view"_s);
    QCOMPARE(
        body,
        R"({"type": "application.status_changed", "event_id": "23e48c51", "application_id": 3, "old_status": "reviewing", "new_status": "inter\"view"})"_ba);
    const Result<Event> event = parseEvent(body, m_types);
    QVERIFY(event.ok());
    QCOMPARE(event->fields.value(u"new_status"_s).toString(), u"inter\"view"_s);
}

void TestEvent::composingKeepsHalfSurrogatesVisible()
{
    const QByteArray body = composeStatusChanged(QString(QChar(0xd800)), 3, u"a"_s, u"b"_s);
    QVERIFY(body.contains("\"\\ud800\""));
    QVERIFY(!parseEvent(body, m_types).ok());
}

QTEST_APPLESS_MAIN(TestEvent)
#include "tst_event.moc"
