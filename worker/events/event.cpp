#include "worker/events/event.h"

#include "worker/digest/sha256.h"
#include "worker/events/envelope.h"
#include "worker/events/quoted.h"
#include "worker/events/strictjson.h"

#include <cmath>
#include <optional>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qsizetype EventIdLimit = 64; ///< code points; varchar(64) counts those
constexpr qsizetype TypeLimit = 100;
constexpr qsizetype GlimpseLimit = 200;

Error invalid(const QString &text)
{
    return {ErrorKind::Invalid, text, {}};
}

QString codePoint(char32_t point)
{
    return u"U+%1"_s.arg(uint(point), 4, 16, QLatin1Char('0')).toUpper();
}

/// spec.md, "Messages". Two ids that a database could take for one are two events of which one is never mailed, so such
/// ids are refused, never repaired.
std::optional<Error> eventIdFault(const JsonValue *value)
{
    static const QString accepted = u"a text of 1 to 64 characters is accepted"_s;
    if (!value)
        return invalid(u"event_id is missing; %1"_s.arg(accepted));
    if (!value->isText())
        return invalid(u"event_id is %1; %2"_s.arg(value->described(), accepted));
    const QString &id = value->text;
    if (id.isEmpty())
        return invalid(u"event_id is empty; 1 to 64 characters are accepted"_s);
    const QList<uint> points = id.toUcs4();
    for (qsizetype at = 0; at < points.size(); ++at) {
        const char32_t point = points[at];
        if (QChar::category(point) == QChar::Other_Control)
            return invalid(
                u"event_id holds the control character %1 (character %2); text without control characters is accepted"_s
                    .arg(codePoint(point))
                    .arg(at + 1));
        // SQLite takes U+FEFF (and U+FFFE) at the start of UTF-16 text for a byte order mark and drops it; U+FFFE and
        // U+FFFF come back from it as U+FFFD.
        if (point == 0xfeff || QChar::isNonCharacter(point))
            return invalid(
                u"event_id holds %1 (character %2), which databases drop or replace; other characters are accepted"_s
                    .arg(codePoint(point))
                    .arg(at + 1));
    }
    if (QChar::isSpace(points.first()) || QChar::isSpace(points.last()))
        return invalid(
            u"event_id %1 begins or ends with a blank; text without leading and trailing blanks is accepted"_s.arg(
                quoted(id)));
    if (points.size() > EventIdLimit)
        return invalid(u"event_id is %1 characters long; 1 to 64 are accepted"_s.arg(points.size()));
    return std::nullopt;
}

std::optional<Error> typeFault(const JsonValue *value, const EventTypes &types)
{
    static const QString accepted = u"a text of 1 to 100 characters is accepted"_s;
    if (!value)
        return invalid(u"type is missing; %1"_s.arg(accepted));
    if (!value->isText())
        return invalid(u"type is %1; %2"_s.arg(value->described(), accepted));
    if (value->text.isEmpty())
        return invalid(u"type is empty; %1"_s.arg(accepted));
    if (const qsizetype length = value->text.toUcs4().size(); length > TypeLimit)
        return invalid(u"type is %1 characters long; 1 to 100 are accepted"_s.arg(length));
    if (const EventType *off = types.switchedOff(value->text))
        return invalid(u"type %1 is switched off in %2; known are %3"_s.arg(quoted(value->text), off->source,
                                                                            types.names().join(u", "_s)));
    if (!types.find(value->text))
        return invalid(u"type %1 is not known; known are %2"_s.arg(quoted(value->text), types.names().join(u", "_s)));
    return std::nullopt;
}

std::optional<Error> fieldFault(const JsonValue *value, const EventType::Field &field)
{
    const bool isInteger = field.kind == EventType::FieldKind::Integer;
    const QString accepted = isInteger ? u"an integer is accepted"_s : u"a text is accepted"_s;
    if (!value)
        return invalid(u"%1 is missing; %2"_s.arg(field.name, accepted));
    if (!isInteger) {
        if (!value->isText())
            return invalid(u"%1 is %2; %3"_s.arg(field.name, value->described(), accepted));
        return std::nullopt;
    }
    if (value->kind != JsonValue::Kind::Number)
        return invalid(u"%1 is %2; %3"_s.arg(field.name, value->described(), accepted));
    if (value->integer())
        return std::nullopt;
    const bool hasPoint = value->text.contains(u'.') || value->text.contains(u'e', Qt::CaseInsensitive);
    return invalid(u"%1 is %2; %3"_s.arg(field.name, cutTo(value->text, 40),
                                         hasPoint ? u"an integer without fraction and exponent is accepted"_s
                                                  : u"an integer of 64 bits is accepted"_s));
}

/// Nothing for what fields does not keep: null, arrays, objects.
QVariant fieldValue(const JsonValue &value)
{
    switch (value.kind) {
    case JsonValue::Kind::Text:
        return value.text;
    case JsonValue::Kind::True:
        return true;
    case JsonValue::Kind::False:
        return false;
    case JsonValue::Kind::Number: {
        if (const std::optional<qint64> integer = value.integer())
            return *integer;
        // Digits that no number type of ours holds stay text: rounding them would name another thing.
        const bool isInteger = !value.text.contains(u'.') && !value.text.contains(u'e', Qt::CaseInsensitive);
        bool ok = false;
        const double number = value.text.toDouble(&ok);
        return ok && !isInteger && std::isfinite(number) ? QVariant(number) : QVariant(value.text);
    }
    case JsonValue::Kind::Null:
    case JsonValue::Kind::Array:
    case JsonValue::Kind::Object:
        break;
    }
    return {};
}

} // namespace

Result<Event> parseEvent(const QByteArray &body, const EventTypes &types)
{
    const Result<JsonValue> unwrapped = unwrap(body);
    if (!unwrapped)
        return unwrapped.error();
    const JsonValue &object = unwrapped.value();
    if (!object.isObject())
        return invalid(u"the body is %1; a JSON object is accepted"_s.arg(object.described()));

    const JsonValue *eventId = object.find(u"event_id");
    if (const auto fault = eventIdFault(eventId))
        return *fault;
    const JsonValue *type = object.find(u"type");
    if (const auto fault = typeFault(type, types))
        return *fault;
    for (const EventType::Field &field : types.find(type->text)->fields) {
        if (const auto fault = fieldFault(object.find(field.name), field))
            return *fault;
    }

    Event event;
    event.eventId = eventId->text;
    event.type = type->text;
    for (qsizetype i = 0; i < object.keys.size(); ++i) {
        if (const QVariant value = fieldValue(object.items[i]); value.isValid())
            event.fields.insert(object.keys[i], value);
    }
    event.bodySha256 = sha256(canonicalJson(object));
    return event;
}

EventGlimpse glimpse(const QByteArray &body)
{
    const JsonValue object = unwrapPrefix(body);
    const auto text = [&](QStringView key, bool numbersToo) {
        const JsonValue *value = object.find(key);
        const bool isShown = value && (value->isText() || (numbersToo && value->kind == JsonValue::Kind::Number));
        return isShown ? cutTo(value->text, GlimpseLimit) : QString();
    };
    return {text(u"event_id", false), text(u"type", false), text(u"application_id", true)};
}

QByteArray composeStatusChanged(const QString &eventId, qint64 applicationId, const QString &oldStatus,
                                const QString &newStatus)
{
    return R"({"type": "application.status_changed", "event_id": )" + jsonLiteral(eventId) + R"(, "application_id": )"
        + QByteArray::number(applicationId) + R"(, "old_status": )" + jsonLiteral(oldStatus) + R"(, "new_status": )"
        + jsonLiteral(newStatus) + '}';
}

} // namespace sendonce
