#include "worker/events/bodycheck.h"

#include "worker/events/event.h"

#include <QStringDecoder>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qint64 LargestMessage = 1024 * 1024; // sqs.md: body and attributes together

/// SQS takes #x9, #xA, #xD, #x20 to #xD7FF, #xE000 to #xFFFD and #x10000 to #x10FFFF. Half surrogates are no UTF-8.
QString strangeCharacter(const QString &text)
{
    int line = 1, column = 1;
    for (const QChar c : text) {
        const char16_t code = c.unicode();
        const bool isControl = code < 0x20 && code != 0x9 && code != 0xa && code != 0xd;
        if (isControl || code == 0xfffe || code == 0xffff) {
            return u"line %1, column %2: U+%3 is a character that SQS refuses"_s.arg(
                QString::number(line), QString::number(column),
                QString::number(code, 16).rightJustified(4, u'0').toUpper());
        }
        ++column;
        if (code == 0xa) {
            ++line;
            column = 1;
        }
    }
    return {};
}

} // namespace

BodyCheck checkBody(const QByteArray &body, const EventTypes &types)
{
    BodyCheck check;
    check.sizeBytes = body.size();
    const EventGlimpse seen = glimpse(body);
    check.eventId = seen.eventId;
    check.type = seen.type;
    if (body.isEmpty()) {
        check.problem = u"the body is empty; SQS takes at least one character"_s;
        return check;
    }
    if (body.size() > LargestMessage) {
        check.problem = u"the body is %1 bytes; SQS takes 1,048,576 with the attributes"_s.arg(body.size());
        return check;
    }
    QStringDecoder decoder(QStringDecoder::Utf8);
    const QString text = decoder(body);
    if (decoder.hasError()) {
        check.problem = u"the body is no valid UTF-8"_s;
        return check;
    }
    check.problem = strangeCharacter(text);
    if (!check.problem.isEmpty())
        return check;
    const auto event = parseEvent(body, types);
    if (!event) {
        check.problem = event.error().text;
        return check;
    }
    check.eventId = event->eventId;
    check.type = event->type;
    return check;
}

EventRules rulesOf(const std::shared_ptr<const EventTypes> &types)
{
    EventRules rules;
    QStringList names = types->names();
    names.sort();
    for (const QString &name : std::as_const(names)) {
        EventTypeRule rule;
        rule.type = name;
        const EventType *const type = types->find(name);
        for (const EventType::Field &field : type->fields)
            rule.fields.append({field.name, field.kind == EventType::FieldKind::Integer});
        rules.types.append(rule);
    }
    rules.check = [types](const QByteArray &body) { return checkBody(body, *types); };
    return rules;
}

} // namespace sendonce
