#include "worker/events/envelope.h"
#include "worker/events/event.h"

#include <QTest>

using namespace Qt::StringLiterals;
using namespace sendonce;

namespace {

const QByteArray PlainEvent = R"({"type":"application.status_changed","event_id":"e-1","application_id":3,
"old_status":"reviewing","new_status":"interview"})"_ba;

QByteArray sns(const QByteArray &message, const QByteArray &type = "Notification"_ba)
{
    return R"({"Type":")" + type + R"(","MessageId":"22b80b92","TopicArn":"arn:aws:sns:us-east-1:1:jobs","Message":)"
        + jsonLiteral(QString::fromUtf8(message))
        + R"(,"Timestamp":"2025-01-01T00:00:00.000Z","SignatureVersion":"1"})";
}

QByteArray eventBridge(const QByteArray &detail)
{
    return R"({"version":"0","id":"6a7e8feb","detail-type":"Status changed","source":"jobboard","account":"1","detail":)"
        + detail + '}';
}

} // namespace

class TestEnvelope : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(u".*"_s)); }

    void unwraps_data();
    void unwraps();
    void errorsNameTheWrapping_data();
    void errorsNameTheWrapping();
    void oneEventHasOneHashHoweverWrapped();
    void glimpseLooksInsideWhatIsCut();
};

void TestEnvelope::unwraps_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QByteArray>("event");
    QTest::newRow("plain") << PlainEvent << PlainEvent;
    QTest::newRow("SNS") << sns(PlainEvent) << PlainEvent;
    QTest::newRow("EventBridge") << eventBridge(PlainEvent) << PlainEvent;
    QTest::newRow("EventBridge through SNS") << sns(eventBridge(PlainEvent)) << PlainEvent;
    QTest::newRow("SNS through SNS") << sns(sns(PlainEvent)) << PlainEvent;
    const QByteArray lookalike =
        R"({"event_id":"e","type":"t","Type":"Notification","Message":"{\"event_id\":\"other\"}","TopicArn":"x",
        "detail-type":"d","source":"s","detail":{"event_id":"third"}})"_ba;
    QTest::newRow("a plain event with the wrappings' fields") << lookalike << lookalike;
    QTest::newRow("the same inside SNS") << sns(lookalike) << lookalike;
    const QByteArray nothing = R"({"Type":"Notification"})"_ba;
    QTest::newRow("Type alone is no SNS") << nothing << nothing;
    const QByteArray detailOnly = R"({"detail":{"event_id":"e"}})"_ba;
    QTest::newRow("detail alone is no EventBridge") << detailOnly << detailOnly;
    QTest::newRow("no object") << "[1]"_ba
                               << "[1]"_ba;
}

void TestEnvelope::unwraps()
{
    QFETCH(QByteArray, body);
    QFETCH(QByteArray, event);
    const Result<JsonValue> inner = unwrap(body);
    QVERIFY2(inner.ok(), inner.ok() ? "" : qPrintable(inner.error().text));
    QCOMPARE(canonicalJson(inner.value()), canonicalJson(parseStrictJson(event).value()));
    QCOMPARE(canonicalJson(unwrapPrefix(body)), canonicalJson(inner.value()));
}

void TestEnvelope::errorsNameTheWrapping_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("text");
    QTest::newRow("no JSON") << "event"_ba
                             << u"the body is not acceptable JSON: line 1, column 1: expected a value, found “e”"_s;
    QTest::newRow("SNS without JSON")
        << sns("hello"_ba)
        << u"the SNS notification's Message is not acceptable JSON: line 1, column 1: expected a value, found “h”"_s;
    QTest::newRow("SNS with half an event")
        << sns("{\"event_id\""_ba)
        << u"the SNS notification's Message is not acceptable JSON: line 1, column 12: expected “:” behind key “event_id”, found the end of the text"_s;
    QTest::newRow("SNS with a duplicate key inside")
        << sns(R"({"event_id":"a","event_id":"b"})"_ba)
        << u"the SNS notification's Message is not acceptable JSON: line 1, column 17: key “event_id” is given twice; each key is accepted once"_s;
    QTest::newRow("SNS with an object")
        << R"({"Type":"Notification","Message":{"event_id":"e"}})"_ba
        << u"the SNS notification's Message is an object; a text with the event's JSON is accepted"_s;
    QTest::newRow("SNS without Message")
        << R"({"Type":"Notification","TopicArn":"x"})"_ba
        << u"the SNS notification's Message is missing; a text with the event's JSON is accepted"_s;
    QTest::newRow("SNS confirmation") << sns("You have chosen to subscribe"_ba, "SubscriptionConfirmation"_ba)
                                      << u"the body is an SNS SubscriptionConfirmation and no event"_s;
    QTest::newRow("EventBridge with a text")
        << eventBridge("\"{}\""_ba)
        << u"the EventBridge event's detail is a text (“{}”); an object with the event is accepted"_s;
    QTest::newRow("EventBridge without detail")
        << R"({"detail-type":"d","source":"s"})"_ba
        << u"the EventBridge event's detail is missing; an object with the event is accepted"_s;
    QTest::newRow("wrapped without end") << sns(sns(sns(sns(PlainEvent))))
                                         << u"the event is wrapped more than 4 times"_s;
}

void TestEnvelope::errorsNameTheWrapping()
{
    QFETCH(QByteArray, body);
    QFETCH(QString, text);
    const Result<JsonValue> inner = unwrap(body);
    QVERIFY(!inner.ok());
    QCOMPARE(inner.error().kind, ErrorKind::Invalid);
    QCOMPARE(inner.error().text, text);
}

void TestEnvelope::oneEventHasOneHashHoweverWrapped()
{
    const Result<EventTypes> types = EventTypes::load({});
    QVERIFY(types.ok());
    const QByteArray reordered = R"({"new_status": "interview", "old_status": "reviewing", "application_id": 3,
        "event_id": "e-1", "type": "application.status_changed"})"_ba;
    const QByteArray hash = parseEvent(PlainEvent, types.value()).value().bodySha256;
    QCOMPARE(hash.size(), 32);
    const QByteArrayList bodies{reordered, sns(PlainEvent), eventBridge(reordered), sns(eventBridge(PlainEvent))};
    for (const QByteArray &body : bodies) {
        const Result<Event> event = parseEvent(body, types.value());
        QVERIFY2(event.ok(), body.constData());
        QCOMPARE(event->bodySha256, hash);
        QCOMPARE(event->eventId, u"e-1"_s);
    }
    QByteArray other = PlainEvent;
    other.replace("3,", "4,");
    QVERIFY(parseEvent(other, types.value()).value().bodySha256 != hash);
}

void TestEnvelope::glimpseLooksInsideWhatIsCut()
{
    const EventGlimpse whole{u"e-1"_s, u"application.status_changed"_s, u"3"_s};
    QCOMPARE(glimpse(PlainEvent), whole);
    QCOMPARE(glimpse(sns(PlainEvent)), whole);
    QCOMPARE(glimpse(eventBridge(PlainEvent)), whole);
    const QByteArray cut = PlainEvent.first(PlainEvent.indexOf("old_status"));
    QCOMPARE(glimpse(cut), whole);
    QCOMPARE(glimpse(sns(cut)), whole);
    const QByteArray bridge = eventBridge(PlainEvent);
    QCOMPARE(glimpse(bridge.first(bridge.indexOf("new_status"))), whole);
    QCOMPARE(glimpse(sns(PlainEvent).first(100)), EventGlimpse());

    for (const QByteArray &body : {PlainEvent, sns(PlainEvent), eventBridge(PlainEvent)}) {
        for (qsizetype size = 0; size < body.size(); ++size) {
            const EventGlimpse part = glimpse(body.first(size));
            QVERIFY(part.eventId.isEmpty() || part.eventId == whole.eventId);
            QVERIFY(part.applicationId.isEmpty() || part.applicationId == whole.applicationId);
        }
    }
}

QTEST_APPLESS_MAIN(TestEnvelope)
#include "tst_envelope.moc"
