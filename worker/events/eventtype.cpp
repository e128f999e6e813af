#include "worker/events/eventtype.h"

#include "worker/events/quoted.h"
#include "worker/events/strictjson.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>

#include <algorithm>
#include <optional>

// Outside of every namespace, as Q_INIT_RESOURCE asks: the linker drops a resource of a static library that nothing
// names.
static void linkEventTypes()
{
    Q_INIT_RESOURCE(event_types);
}

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qint64 FileSizeLimit = 1 << 20;
constexpr qsizetype TypeLimit = 100; ///< jobs_processedevent.event_type

/// Reads one definition, member by member; the first fault is kept, with file, line and field.
class Reader
{
public:
    Reader(const JsonValue &root, const QString &source) : m_root(root), m_source(source) { }

    const std::optional<Error> &fault() const { return m_fault; }

    void fail(const JsonValue &at, const QString &text)
    {
        if (!m_fault)
            m_fault = Error{ErrorKind::Invalid, u"%1, line %2: %3"_s.arg(m_source).arg(at.line).arg(text), {}};
    }

    /// Typing errors would otherwise be silently without effect.
    void checkNames(const JsonValue &object, const QString &prefix, const QStringList &known)
    {
        for (qsizetype i = 0; i < object.keys.size(); ++i) {
            if (!known.contains(object.keys[i]))
                fail(object.items[i],
                     u"%1 is not known here; known are %2"_s.arg(quoted(prefix + object.keys[i]), known.join(u", "_s)));
        }
    }

    enum Need { Required, Optional, NotBlank };

    /// A text, or a list of texts that are its lines.
    QString text(const JsonValue &object, const QString &prefix, const QString &name, Need need)
    {
        const JsonValue *value = object.find(name);
        if (!value) {
            if (need != Optional)
                fail(object, u"%1 is missing; a text is accepted"_s.arg(prefix + name));
            return {};
        }
        QStringList lines;
        QList<int> places;
        const auto append = [&](const JsonValue &text) {
            lines.append(text.text);
            places += QList<int>(text.text.count(u'\n') + 1, text.line);
        };
        if (value->isText()) {
            append(*value);
        } else if (value->kind == JsonValue::Kind::Array) {
            for (const JsonValue &line : value->items) {
                if (!line.isText())
                    fail(line, u"%1 holds %2; a list of texts is accepted"_s.arg(prefix + name, line.described()));
                append(line);
            }
        } else {
            fail(*value, u"%1 is %2; a text or a list of lines is accepted"_s.arg(prefix + name, value->described()));
        }
        m_lines.insert(prefix + name, places);
        const QString joined = lines.join(u'\n');
        if (need == NotBlank && joined.trimmed().isEmpty())
            fail(*value, u"%1 is empty"_s.arg(prefix + name));
        return joined;
    }

    bool enabled()
    {
        const JsonValue *value = m_root.find(u"enabled");
        if (value && value->kind != JsonValue::Kind::True && value->kind != JsonValue::Kind::False)
            fail(*value, u"enabled is %1; true or false is accepted"_s.arg(value->described()));
        return !value || value->kind != JsonValue::Kind::False;
    }

    const QMap<QString, QList<int>> &lines() const { return m_lines; }

    QList<EventType::Field> fields()
    {
        QList<EventType::Field> fields;
        const JsonValue *object = m_root.find(u"fields");
        if (!object || !object->isObject()) {
            fail(object ? *object : m_root,
                 u"fields is %1; an object of names with “text” or “integer” is accepted"_s.arg(
                     object ? object->described() : u"missing"_s));
            return fields;
        }
        static const QRegularExpression namePattern(u"\\A[A-Za-z_][A-Za-z0-9_]*\\z"_s);
        for (qsizetype i = 0; i < object->keys.size(); ++i) {
            const QString &name = object->keys[i];
            const JsonValue &kind = object->items[i];
            if (name == "type"_L1 || name == "event_id"_L1)
                fail(kind, u"fields.%1 is part of every event and not listed"_s.arg(name));
            else if (!namePattern.match(name).hasMatch())
                fail(kind, u"fields has the name %1; letters, digits and _ are accepted"_s.arg(quoted(name)));
            if (kind.isText() && kind.text == "integer"_L1)
                fields.append({name, EventType::FieldKind::Integer});
            else if (kind.isText() && kind.text == "text"_L1)
                fields.append({name, EventType::FieldKind::Text});
            else
                fail(kind, u"fields.%1 is %2; “text” or “integer” is accepted"_s.arg(name, kind.described()));
        }
        return fields;
    }

    EventType::Missing missing()
    {
        const JsonValue *value = m_root.find(u"missing");
        if (value && value->isText() && value->text == "skip"_L1)
            return EventType::Missing::Skip;
        if (value && value->isText() && value->text == "retry"_L1)
            return EventType::Missing::Retry;
        fail(value ? *value : m_root,
             u"missing is %1; “skip” or “retry” is accepted"_s.arg(value ? value->described() : u"missing"_s));
        return EventType::Missing::Skip;
    }

private:
    const JsonValue &m_root;
    const QString m_source;
    std::optional<Error> m_fault;
    QMap<QString, QList<int>> m_lines;
};

Result<QList<EventType>> loadFolder(const QString &path)
{
    QList<EventType> types;
    const QDir folder(path);
    const QStringList names = folder.entryList({u"*.json"_s}, QDir::Files, QDir::Name);
    for (const QString &name : names) {
        QFile file(folder.filePath(name));
        if (!file.open(QIODevice::ReadOnly))
            return Error{ErrorKind::Io, u"%1 cannot be read: %2"_s.arg(file.fileName(), file.errorString()), {}};
        const QByteArray json = file.read(FileSizeLimit + 1);
        if (json.size() > FileSizeLimit)
            return Error{ErrorKind::Invalid, u"%1 is larger than 1 MiB"_s.arg(file.fileName()), {}};
        Result<EventType> type = EventTypes::parse(json, file.fileName());
        if (!type)
            return type.error();
        const auto same = std::find_if(types.cbegin(), types.cend(),
                                       [&](const EventType &other) { return other.type == type->type; });
        if (same != types.cend())
            return Error{ErrorKind::Invalid,
                         u"%1: type %2 is defined by %3 too; one file for each type is accepted"_s.arg(
                             file.fileName(), quoted(type->type), same->source),
                         {}};
        types.append(type.take());
    }
    return types;
}

} // namespace

Result<EventType> EventTypes::parse(const QByteArray &json, const QString &source)
{
    const Result<JsonValue> parsed = parseStrictJson(json);
    if (!parsed)
        return Error{ErrorKind::Invalid, u"%1, %2"_s.arg(source, parsed.error().text), {}};
    const JsonValue &root = parsed.value();
    Reader reader(root, source);
    if (!root.isObject()) {
        reader.fail(root, u"an event type is %1; an object is accepted"_s.arg(root.described()));
        return *reader.fault();
    }
    reader.checkNames(root, {},
                      {u"type"_s, u"enabled"_s, u"fields"_s, u"lookup"_s, u"missing"_s, u"missing_text"_s,
                       u"recipient"_s, u"subject"_s, u"text"_s, u"html"_s, u"log"_s});

    EventType type;
    type.source = source;
    type.type = reader.text(root, {}, u"type"_s, Reader::NotBlank);
    if (type.type.toUcs4().size() > TypeLimit)
        reader.fail(*root.find(u"type"), u"type is longer than 100 characters"_s);
    type.enabled = reader.enabled();
    if (!type.enabled) { // what it would mean does not matter
        if (reader.fault())
            return *reader.fault();
        return type;
    }
    type.fields = reader.fields();
    type.lookupSql = reader.text(root, {}, u"lookup"_s, Reader::NotBlank);
    type.missing = reader.missing();
    type.missingText = reader.text(root, {}, u"missing_text"_s, Reader::NotBlank);
    type.subject = reader.text(root, {}, u"subject"_s, Reader::NotBlank);
    type.text = reader.text(root, {}, u"text"_s, Reader::NotBlank);
    type.html = reader.text(root, {}, u"html"_s, Reader::Optional);
    type.logText = reader.text(root, {}, u"log"_s, Reader::NotBlank);

    const JsonValue *recipient = root.find(u"recipient");
    if (!recipient || !recipient->isObject()) {
        reader.fail(recipient ? *recipient : root,
                    u"recipient is %1; an object with address, name and user is accepted"_s.arg(
                        recipient ? recipient->described() : u"missing"_s));
    } else {
        const QString prefix = u"recipient."_s;
        reader.checkNames(*recipient, prefix, {u"address"_s, u"name"_s, u"user"_s});
        type.recipientAddress = reader.text(*recipient, prefix, u"address"_s, Reader::NotBlank);
        type.recipientName = reader.text(*recipient, prefix, u"name"_s, Reader::Optional);
        type.recipientUser = reader.text(*recipient, prefix, u"user"_s, Reader::NotBlank);
    }
    if (reader.fault())
        return *reader.fault();
    type.lines = reader.lines();
    return type;
}

QString EventType::where(const QString &member, int textLine) const
{
    const QList<int> places = lines.value(member);
    return places.isEmpty() ? source : u"%1, line %2"_s.arg(source).arg(places.value(textLine - 1, places.constLast()));
}

Result<EventTypes> EventTypes::load(const QString &userDir)
{
    linkEventTypes();
    EventTypes types;
    QStringList folders{u":/event-types"_s};
    if (!userDir.isEmpty())
        folders.append(userDir);
    for (const QString &folder : std::as_const(folders)) {
        const Result<QList<EventType>> loaded = loadFolder(folder);
        if (!loaded)
            return loaded.error();
        for (const EventType &type : loaded.value())
            types.insert(type);
    }
    return types;
}

const EventType *EventTypes::find(const QString &type) const
{
    const auto found = m_types.constFind(type);
    return found == m_types.cend() || !found->enabled ? nullptr : &*found;
}

const EventType *EventTypes::switchedOff(const QString &type) const
{
    const auto found = m_types.constFind(type);
    return found == m_types.cend() || found->enabled ? nullptr : &*found;
}

QStringList EventTypes::names() const
{
    QStringList names;
    for (const EventType &type : m_types) {
        if (type.enabled)
            names.append(type.type);
    }
    names.sort();
    return names;
}

void EventTypes::insert(EventType type)
{
    const QString name = type.type;
    m_types.insert(name, std::move(type));
}

} // namespace sendonce
