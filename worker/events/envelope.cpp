#include "worker/events/envelope.h"

#include <optional>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr int WrappingLimit = 4;

bool isText(const JsonValue *value, QStringView text)
{
    return value && value->isText() && value->text == text;
}

Error invalid(const QString &text)
{
    return {ErrorKind::Invalid, text, {}};
}

} // namespace

Wrapping wrappingOf(const JsonValue &body)
{
    if (!body.isObject() || body.find(u"event_id"))
        return Wrapping::Plain;
    const JsonValue *type = body.find(u"Type");
    const bool isSns = body.find(u"TopicArn") || body.find(u"Message");
    if (isSns && isText(type, u"Notification"))
        return Wrapping::Sns;
    if (isSns && (isText(type, u"SubscriptionConfirmation") || isText(type, u"UnsubscribeConfirmation")))
        return Wrapping::SnsConfirmation;
    if (body.find(u"detail-type") && (body.find(u"detail") || body.find(u"source")))
        return Wrapping::EventBridge;
    return Wrapping::Plain;
}

Result<JsonValue> unwrap(const QByteArray &body)
{
    Result<JsonValue> parsed = parseStrictJson(body);
    if (!parsed)
        return invalid(u"the body is not acceptable JSON: "_s + parsed.error().text);
    JsonValue event = parsed.take();
    for (int level = 0; level < WrappingLimit; ++level) {
        switch (wrappingOf(event)) {
        case Wrapping::Plain:
            return event;
        case Wrapping::SnsConfirmation:
            return invalid(u"the body is an SNS %1 and no event"_s.arg(event.find(u"Type")->text));
        case Wrapping::Sns: {
            const JsonValue *message = event.find(u"Message");
            if (!message || !message->isText())
                return invalid(u"the SNS notification's Message is %1; a text with the event's JSON is accepted"_s.arg(
                    message ? message->described() : u"missing"_s));
            parsed = parseStrictJson(message->text.toUtf8());
            if (!parsed)
                return invalid(u"the SNS notification's Message is not acceptable JSON: "_s + parsed.error().text);
            event = parsed.take();
            break;
        }
        case Wrapping::EventBridge: {
            const JsonValue *detail = event.find(u"detail");
            if (!detail || !detail->isObject())
                return invalid(u"the EventBridge event's detail is %1; an object with the event is accepted"_s.arg(
                    detail ? detail->described() : u"missing"_s));
            event = JsonValue(*detail); // a copy first: detail lies inside of event
            break;
        }
        }
    }
    return invalid(u"the event is wrapped more than %1 times"_s.arg(WrappingLimit));
}

JsonValue unwrapPrefix(const QByteArray &body)
{
    JsonValue event = parseJsonPrefix(body);
    for (int level = 0; level < WrappingLimit; ++level) {
        const JsonValue *inner = nullptr;
        switch (wrappingOf(event)) {
        case Wrapping::Plain:
        case Wrapping::SnsConfirmation:
            return event;
        case Wrapping::Sns:
            inner = event.find(u"Message");
            event = inner && inner->isText() ? parseJsonPrefix(inner->text.toUtf8()) : JsonValue();
            break;
        case Wrapping::EventBridge:
            inner = event.find(u"detail");
            event = inner ? JsonValue(*inner) : JsonValue();
            break;
        }
    }
    return event;
}

} // namespace sendonce
