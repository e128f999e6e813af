#include "worker/events/strictjson.h"

#include "worker/events/quoted.h"

#include <QSet>
#include <QStringDecoder>

#include <algorithm>
#include <numeric>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

/// Bytes of the well-formed UTF-8 sequence at `at`, 0 when there is none (Unicode, table 3-7: no overlong forms, no
/// surrogates).
int utf8Length(QByteArrayView text, qsizetype at)
{
    const auto byte = [&](qsizetype offset) {
        return at + offset < text.size() ? static_cast<unsigned char>(text[at + offset]) : 0u;
    };
    const auto isBetween = [](unsigned value, unsigned low, unsigned high) { return value >= low && value <= high; };
    const unsigned first = byte(0);
    if (first < 0x80)
        return 1;
    if (isBetween(first, 0xc2, 0xdf))
        return isBetween(byte(1), 0x80, 0xbf) ? 2 : 0;
    if (isBetween(first, 0xe0, 0xef)) {
        const unsigned low = first == 0xe0 ? 0xa0 : 0x80;
        const unsigned high = first == 0xed ? 0x9f : 0xbf;
        return isBetween(byte(1), low, high) && isBetween(byte(2), 0x80, 0xbf) ? 3 : 0;
    }
    if (isBetween(first, 0xf0, 0xf4)) {
        const unsigned low = first == 0xf0 ? 0x90 : 0x80;
        const unsigned high = first == 0xf4 ? 0x8f : 0xbf;
        return isBetween(byte(1), low, high) && isBetween(byte(2), 0x80, 0xbf) && isBetween(byte(3), 0x80, 0xbf) ? 4
                                                                                                                 : 0;
    }
    return 0;
}

/// Offset of the first byte that is not UTF-8; the size when all is.
qsizetype validUtf8Size(QByteArrayView text)
{
    qsizetype at = 0;
    while (at < text.size()) {
        const int length = utf8Length(text, at);
        if (length == 0)
            break;
        at += length;
    }
    return at;
}

constexpr QByteArrayView ByteOrderMark = "\xef\xbb\xbf";

/// QString::fromUtf8() drops a leading U+FEFF, and two ids would become one.
QString decoded(QByteArrayView utf8)
{
    if (!utf8.startsWith(ByteOrderMark))
        return QString::fromUtf8(utf8);
    QStringDecoder decoder(QStringDecoder::Utf8, QStringDecoder::Flag::ConvertInitialBom);
    return decoder(utf8);
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// One pass over one text; the first error ends it. What was read till then stays in the value that was handed in.
class Parser
{
public:
    explicit Parser(QByteArrayView text) : m_text(text) { }

    bool parseDocument(JsonValue *root)
    {
        if (m_text.startsWith(ByteOrderMark))
            return fail(u"a byte order mark stands before the value"_s);
        skipBlanks();
        if (atEnd())
            return fail(u"there is no value"_s);
        if (!parseValue(root, 0))
            return false;
        skipBlanks();
        return atEnd() || fail(u"the value is followed by %1"_s.arg(found()));
    }

    /// "line 1, column 9: …"
    QString errorText() const { return m_error; }

    /// Sets the error of byte `at`; always false.
    bool fail(const QString &what, qsizetype at)
    {
        const QByteArrayView before = m_text.first(at);
        const qsizetype lineStart = before.lastIndexOf('\n') + 1;
        const qsizetype column = 1 + std::count_if(before.begin() + lineStart, before.end(), [](char c) {
                                     return (static_cast<unsigned char>(c) & 0xc0) != 0x80; // not a continuation byte
                                 });
        m_error =
            u"line %1, column %2: %3"_s.arg(std::count(before.begin(), before.end(), '\n') + 1).arg(column).arg(what);
        return false;
    }

private:
    bool fail(const QString &what) { return fail(what, m_at); }
    bool atEnd() const { return m_at >= m_text.size(); }
    bool isAt(char c) const { return !atEnd() && m_text[m_at] == c; }

    /// For "expected …, found …".
    QString found() const
    {
        if (atEnd())
            return u"the end of the text"_s;
        const int length = utf8Length(m_text, m_at);
        return length == 0 ? u"a byte that is not UTF-8"_s
                           : quoted(QString::fromUtf8(m_text.sliced(m_at, length).toByteArray()));
    }

    void skipBlanks()
    {
        while (!atEnd()
               && (m_text[m_at] == ' ' || m_text[m_at] == '\t' || m_text[m_at] == '\n' || m_text[m_at] == '\r')) {
            if (m_text[m_at] == '\n')
                ++m_line;
            ++m_at;
        }
    }

    /// The field an error is about: "detail.event_id"; "a text" outside of any object.
    QString where() const { return m_path.isEmpty() ? u"a text"_s : quoted(m_path.join(u'.')); }

    bool parseValue(JsonValue *value, int depth)
    {
        value->line = m_line;
        if (atEnd())
            return fail(u"expected a value, found the end of the text"_s);
        switch (m_text[m_at]) {
        case '{':
            return parseObject(value, depth + 1);
        case '[':
            return parseArray(value, depth + 1);
        case '"':
            if (!parseText(&value->text))
                return false;
            value->kind = JsonValue::Kind::Text;
            return true;
        case 't':
            return parseWord("true", JsonValue::Kind::True, value);
        case 'f':
            return parseWord("false", JsonValue::Kind::False, value);
        case 'n':
            return parseWord("null", JsonValue::Kind::Null, value);
        default:
            if (m_text[m_at] == '-' || isDigit(m_text[m_at]))
                return parseNumber(value, depth);
            return fail(u"expected a value, found %1"_s.arg(found()));
        }
    }

    bool parseWord(QByteArrayView word, JsonValue::Kind kind, JsonValue *value)
    {
        if (!m_text.sliced(m_at).startsWith(word))
            return fail(u"expected a value, found %1"_s.arg(found()));
        m_at += word.size();
        value->kind = kind;
        return true;
    }

    bool skipDigits()
    {
        const qsizetype start = m_at;
        while (!atEnd() && isDigit(m_text[m_at]))
            ++m_at;
        return m_at > start || fail(u"expected a digit, found %1"_s.arg(found()));
    }

    bool parseNumber(JsonValue *value, int depth)
    {
        const qsizetype start = m_at;
        if (isAt('-'))
            ++m_at;
        if (isAt('0')) {
            ++m_at;
            if (!atEnd() && isDigit(m_text[m_at]))
                return fail(u"a number has a leading zero"_s, start);
        } else if (!skipDigits()) {
            return false;
        }
        if (isAt('.')) {
            ++m_at;
            if (!skipDigits())
                return false;
        }
        if (isAt('e') || isAt('E')) {
            ++m_at;
            if (isAt('+') || isAt('-'))
                ++m_at;
            if (!skipDigits())
                return false;
        }
        if (atEnd() && depth > 0)
            return fail(u"expected “,” or a closing bracket, found the end of the text"_s); // perhaps half a number
        value->text = QString::fromLatin1(m_text.sliced(start, m_at - start));
        value->kind = JsonValue::Kind::Number;
        return true;
    }

    bool parseHex(char16_t *unit)
    {
        if (m_text.size() - m_at < 4)
            return fail(u"\\u must be followed by four hexadecimal digits"_s);
        unsigned number = 0;
        for (int i = 0; i < 4; ++i) {
            const char c = m_text[m_at + i];
            const bool isLetter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
            if (!isDigit(c) && !isLetter)
                return fail(u"\\u must be followed by four hexadecimal digits"_s);
            number = number * 16 + unsigned(isDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
        }
        m_at += 4;
        *unit = char16_t(number);
        return true;
    }

    /// Behind the backslash.
    bool parseEscape(QString *out)
    {
        if (atEnd())
            return fail(u"a text is not closed"_s);
        static constexpr QByteArrayView names = "\"\\/bfnrt";
        static constexpr QByteArrayView meanings = "\"\\/\b\f\n\r\t";
        const char name = m_text[m_at];
        if (const qsizetype index = names.indexOf(name); index >= 0) {
            *out += QLatin1Char(meanings[index]);
            ++m_at;
            return true;
        }
        if (name != 'u')
            return fail(u"\\ is followed by %1, which is no escape"_s.arg(found()));
        const qsizetype start = m_at - 1;
        ++m_at;
        char16_t unit = 0;
        if (!parseHex(&unit))
            return false;
        *out += QChar(unit);
        if (!QChar::isSurrogate(unit))
            return true;
        // RFC 8259, 8.2: what a half means is not defined, and databases make the same “?” of all of them.
        char16_t low = 0;
        if (QChar::isHighSurrogate(unit) && m_text.sliced(m_at).startsWith("\\u")) {
            m_at += 2;
            if (!parseHex(&low))
                return false;
        }
        if (!QChar::isLowSurrogate(low))
            return fail(u"%1 holds half of a surrogate pair (\\u%2), which is no character; valid Unicode is accepted"_s
                            .arg(where())
                            .arg(int(unit), 4, 16, QLatin1Char('0')),
                        start);
        *out += QChar(low);
        return true;
    }

    bool parseText(QString *out)
    {
        const qsizetype start = m_at;
        QString text;
        for (++m_at;;) {
            const qsizetype run = m_at;
            while (!atEnd() && m_text[m_at] != '"' && m_text[m_at] != '\\'
                   && static_cast<unsigned char>(m_text[m_at]) >= 0x20)
                ++m_at;
            text += decoded(m_text.sliced(run, m_at - run));
            if (atEnd())
                return fail(u"a text is not closed"_s, start);
            if (isAt('"'))
                break;
            if (!isAt('\\'))
                return fail(u"%1 holds the control character %2 unescaped"_s.arg(where(), found()));
            ++m_at;
            if (!parseEscape(&text))
                return false;
        }
        ++m_at;
        *out = text;
        return true;
    }

    bool enter(int depth)
    {
        if (depth > JsonDepthLimit)
            return fail(u"more than %1 levels within one another"_s.arg(JsonDepthLimit));
        ++m_at;
        skipBlanks();
        return true;
    }

    bool parseArray(JsonValue *value, int depth)
    {
        value->kind = JsonValue::Kind::Array;
        if (!enter(depth))
            return false;
        if (isAt(']')) {
            ++m_at;
            return true;
        }
        for (;;) {
            value->items.emplace_back();
            if (!parseValue(&value->items.last(), depth))
                return false;
            skipBlanks();
            if (isAt(']'))
                break;
            if (!isAt(','))
                return fail(u"expected “,” or “]” in an array, found %1"_s.arg(found()));
            ++m_at;
            skipBlanks();
        }
        ++m_at;
        return true;
    }

    bool parseObject(JsonValue *value, int depth)
    {
        value->kind = JsonValue::Kind::Object;
        if (!enter(depth))
            return false;
        if (isAt('}')) {
            ++m_at;
            return true;
        }
        QSet<QString> seen;
        for (;;) {
            if (!isAt('"'))
                return fail(u"expected a key in quotes, found %1"_s.arg(found()));
            const qsizetype keyAt = m_at;
            QString key;
            m_path.append(u"a key"_s);
            if (!parseText(&key))
                return false;
            m_path.last() = key;
            if (seen.contains(key))
                return fail(u"key %1 is given twice; each key is accepted once"_s.arg(where()), keyAt);
            seen.insert(key);
            skipBlanks();
            if (!isAt(':'))
                return fail(u"expected “:” behind key %1, found %2"_s.arg(where(), found()));
            ++m_at;
            skipBlanks();
            value->keys.append(key);
            value->items.emplace_back();
            if (!parseValue(&value->items.last(), depth))
                return false;
            m_path.removeLast();
            skipBlanks();
            if (isAt('}'))
                break;
            if (!isAt(','))
                return fail(u"expected “,” or “}” in an object, found %1"_s.arg(found()));
            ++m_at;
            skipBlanks();
        }
        ++m_at;
        return true;
    }

    const QByteArrayView m_text;
    qsizetype m_at = 0;
    int m_line = 1;
    QStringList m_path;
    QString m_error;
};

/// See jsonLiteral().
void appendLiteral(QStringView text, QByteArray *out)
{
    *out += '"';
    const auto escape = [&](QChar unit) {
        *out += "\\u" + QByteArray::number(unit.unicode(), 16).rightJustified(4, '0');
    };
    const auto isPlain = [](QChar unit) {
        return unit.unicode() >= 0x20 && unit != u'"' && unit != u'\\' && !unit.isSurrogate();
    };
    for (qsizetype at = 0; at < text.size(); ++at) {
        const qsizetype begin = at;
        while (at < text.size() && isPlain(text[at]))
            ++at;
        *out += text.sliced(begin, at - begin).toUtf8();
        if (at == text.size())
            break;
        const QChar unit = text[at];
        if (unit == u'"' || unit == u'\\') {
            *out += '\\';
            *out += char(unit.unicode());
        } else if (unit.unicode() < 0x20) {
            escape(unit);
        } else if (unit.isHighSurrogate() && at + 1 < text.size() && text[at + 1].isLowSurrogate()) {
            *out += text.sliced(at, 2).toUtf8();
            ++at;
        } else {
            escape(unit);
        }
    }
    *out += '"';
}

void writeCanonical(const JsonValue &value, QByteArray *out)
{
    switch (value.kind) {
    case JsonValue::Kind::Null:
        *out += "null";
        return;
    case JsonValue::Kind::False:
        *out += "false";
        return;
    case JsonValue::Kind::True:
        *out += "true";
        return;
    case JsonValue::Kind::Number:
        *out += value.text.toLatin1();
        return;
    case JsonValue::Kind::Text:
        appendLiteral(value.text, out);
        return;
    case JsonValue::Kind::Array:
        *out += '[';
        for (qsizetype i = 0; i < value.items.size(); ++i) {
            if (i > 0)
                *out += ',';
            writeCanonical(value.items[i], out);
        }
        *out += ']';
        return;
    case JsonValue::Kind::Object: {
        QList<qsizetype> order(value.keys.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](qsizetype a, qsizetype b) { return value.keys[a] < value.keys[b]; });
        *out += '{';
        for (qsizetype i = 0; i < order.size(); ++i) {
            if (i > 0)
                *out += ',';
            appendLiteral(value.keys[order[i]], out);
            *out += ':';
            writeCanonical(value.items[order[i]], out);
        }
        *out += '}';
        return;
    }
    }
}

} // namespace

const JsonValue *JsonValue::find(QStringView key) const
{
    const qsizetype index = keys.indexOf(key);
    return kind == Kind::Object && index >= 0 ? &items[index] : nullptr;
}

std::optional<qint64> JsonValue::integer() const
{
    if (kind != Kind::Number || text.contains(u'.') || text.contains(u'e', Qt::CaseInsensitive))
        return std::nullopt;
    bool fits = false;
    const qint64 number = text.toLongLong(&fits);
    return fits ? std::optional(number) : std::nullopt;
}

QString JsonValue::described() const
{
    switch (kind) {
    case Kind::Null:
        return u"null"_s;
    case Kind::False:
        return u"false"_s;
    case Kind::True:
        return u"true"_s;
    case Kind::Number:
        return u"a number (%1)"_s.arg(text.size() > 40 ? text.left(40) + u'…' : text);
    case Kind::Text:
        return u"a text (%1)"_s.arg(quoted(text));
    case Kind::Array:
        return u"an array"_s;
    case Kind::Object:
        return u"an object"_s;
    }
    Q_UNREACHABLE();
}

Result<JsonValue> parseStrictJson(const QByteArray &text)
{
    JsonValue root;
    const qsizetype validSize = validUtf8Size(text);
    Parser parser(text);
    const bool ok = validSize == text.size()
        ? parser.parseDocument(&root)
        : parser.fail(u"a byte (0x%1) that is not UTF-8"_s.arg(int(static_cast<unsigned char>(text[validSize])), 2, 16,
                                                               QLatin1Char('0')),
                      validSize);
    if (!ok)
        return Error{ErrorKind::Invalid, parser.errorText(), {}};
    return root;
}

JsonValue parseJsonPrefix(const QByteArray &text)
{
    JsonValue root;
    Parser(QByteArrayView(text).first(validUtf8Size(text))).parseDocument(&root);
    return root;
}

QByteArray canonicalJson(const JsonValue &value)
{
    QByteArray out;
    writeCanonical(value, &out);
    return out;
}

QByteArray jsonLiteral(QStringView text)
{
    QByteArray out;
    appendLiteral(text, &out);
    return out;
}

} // namespace sendonce
