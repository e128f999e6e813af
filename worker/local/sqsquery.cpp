#include "worker/local/sqsquery.h"

#include "worker/local/sqsrequest.h"

#include <QStringDecoder>

#include <set>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

constexpr size_t ParameterLimit = 2000;

/// The value of a hexadecimal digit, or -1.
int hexValue(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/// application/x-www-form-urlencoded (URL Standard, section 5.1), but strict: nothing for '%' without two digits.
std::optional<QByteArray> decoded(QByteArrayView text)
{
    QByteArray bytes;
    bytes.reserve(text.size());
    for (qsizetype i = 0; i < text.size(); ++i) {
        const char c = text.at(i);
        if (c != '%') {
            bytes += c == '+' ? ' ' : c;
            continue;
        }
        if (i + 2 >= text.size() || hexValue(text.at(i + 1)) < 0 || hexValue(text.at(i + 2)) < 0)
            return {};
        bytes += char(hexValue(text.at(i + 1)) * 16 + hexValue(text.at(i + 2)));
        i += 2;
    }
    return bytes;
}

/// Every character, a U+FEFF at the start too; nothing for what is no UTF-8.
std::optional<QString> text(const QByteArray &utf8)
{
    QStringDecoder decoder(QStringDecoder::Utf8,
                           QStringDecoder::Flag::ConvertInitialBom | QStringDecoder::Flag::Stateless);
    const QString text = decoder(utf8);
    if (decoder.hasError())
        return {};
    return text;
}

/// "AttributeNames" is spelled "AttributeName.N" here, "tags" "Tag.N".
QByteArray elementOf(QLatin1StringView list)
{
    QByteArray name(list.data(), list.size());
    name.chop(1);
    name[0] = char(QChar::toUpper(uint(uchar(name.at(0)))));
    return name;
}

} // namespace

/// The parameters that begin with a prefix: all, or those of one list element ("SendMessageBatchRequestEntry.2.").
class QueryMembers final : public SqsMembers
{
public:
    QueryMembers(const SqsQuery &query, const QByteArray &prefix, std::optional<SqsError> *error)
        : SqsMembers(error)
        , m_parameters(query.m_parameters)
        , m_prefix(prefix)
        , m_query(query)
    { }

    std::optional<QString> optionalText(QLatin1StringView name) override
    {
        return at(m_prefix + QByteArray(name.data(), name.size()));
    }

    std::optional<int> integer(QLatin1StringView name) override
    {
        const auto text = optionalText(name);
        if (!text)
            return {};
        bool good = false;
        const int number = text->toInt(&good);
        if (!good || text->trimmed().size() != text->size())
            refuse(serialization(u"%1 must be a whole number."_s.arg(name)));
        return number;
    }

    QStringList texts(QLatin1StringView name) override
    {
        QStringList list;
        for (const QByteArray &element : elements(elementOf(name))) {
            if (const auto value = at(element); value && !value->isEmpty()) // SDKs write an empty list as "Name="
                list += *value;
        }
        return list;
    }

    QMap<QString, QString> textMap(QLatin1StringView name) override
    {
        const QByteArray key = name == "tags"_L1 ? ".Key"_ba : ".Name"_ba;
        QMap<QString, QString> map;
        for (const QByteArray &element : elements(elementOf(name))) {
            const auto value = at(element + ".Value");
            const auto member = at(element + key);
            if (member)
                map.insert(*member, value.value_or(QString()));
            else if (value)
                refuse(missingParameter(QString::fromLatin1(elementOf(name) + key)));
        }
        return map;
    }

    MessageAttributes attributes(QLatin1StringView name) override
    {
        MessageAttributes attributes;
        for (const QByteArray &element : elements(elementOf(name))) {
            if (!contains(element + '.'))
                continue;
            QueryMembers members(m_query, element + '.', m_error);
            QueryMembers value(m_query, element + ".Value.", m_error);
            MessageAttribute attribute;
            attribute.dataType = value.text("DataType"_L1);
            attribute.stringValue = value.text("StringValue"_L1);
            attribute.binaryValue = value.bytes("BinaryValue"_L1);
            if (value.contains(value.m_prefix + "StringListValue")
                || value.contains(value.m_prefix + "BinaryListValue"))
                refuse(unsupportedOperation(u"Message attribute list values are not supported."_s));
            const QString key = members.text("Name"_L1);
            if (attributes.contains(key))
                refuse(invalidParameter(u"Message (user) attribute '%1' is given twice."_s.arg(key)));
            attributes.insert(key, attribute);
        }
        return attributes;
    }

    void forEachEntry(const std::function<void(SqsMembers &)> &read) override
    {
        for (const QByteArray &element : elements(m_query.action() + "RequestEntry")) {
            if (!contains(element + '.'))
                continue;
            QueryMembers entry(m_query, element + '.', m_error);
            read(entry);
        }
    }

private:
    std::optional<QString> at(const QByteArray &name) const
    {
        const auto it = m_parameters.find(name);
        if (it == m_parameters.end())
            return {};
        return it->second;
    }

    bool contains(const QByteArray &prefix) const
    {
        const auto it = m_parameters.lower_bound(prefix);
        return it != m_parameters.end() && it->first.startsWith(prefix);
    }

    /// What precedes the members of a list's elements, "Name" (an old form for a list of one) and "Name.1", "Name.2" …,
    /// in the order of the numbers, whatever gaps they have.
    QList<QByteArray> elements(const QByteArray &list) const
    {
        const QByteArray prefix = m_prefix + list;
        std::set<std::pair<qsizetype, QByteArray>> numbers; // shorter numbers are smaller ones
        for (auto it = m_parameters.lower_bound(prefix + '.'); it != m_parameters.end(); ++it) {
            if (!it->first.startsWith(prefix + '.'))
                break;
            const qsizetype begin = prefix.size() + 1;
            qsizetype end = begin;
            while (end < it->first.size() && it->first.at(end) >= '0' && it->first.at(end) <= '9')
                ++end;
            if (end > begin && (end == it->first.size() || it->first.at(end) == '.'))
                numbers.emplace(end - begin, it->first.sliced(begin, end - begin));
        }
        QList<QByteArray> elements;
        if (m_parameters.contains(prefix) || m_parameters.contains(prefix + ".Name")
            || m_parameters.contains(prefix + ".Key"))
            elements += prefix;
        for (const auto &[length, number] : numbers)
            elements += prefix + '.' + number;
        return elements;
    }

    QByteArray bytes(QLatin1StringView name)
    {
        const auto decoded = QByteArray::fromBase64Encoding(
            text(name).toLatin1(), QByteArray::Base64Encoding | QByteArray::AbortOnBase64DecodingErrors);
        if (!decoded)
            refuse(serialization(u"%1 must be base64."_s.arg(name)));
        return decoded ? *decoded : QByteArray();
    }

    const std::map<QByteArray, QString> &m_parameters;
    QByteArray m_prefix;
    const SqsQuery &m_query;
};

std::variant<SqsQuery, SqsError> SqsQuery::parse(const QByteArray &body, const QByteArray &urlQuery)
{
    SqsQuery query;
    for (const QByteArray *form : {&body, &urlQuery}) {
        for (qsizetype begin = 0; begin < form->size();) {
            qsizetype end = form->indexOf('&', begin);
            if (end < 0)
                end = form->size();
            const QByteArrayView pair = QByteArrayView(*form).sliced(begin, end - begin);
            begin = end + 1;
            if (pair.isEmpty())
                continue;
            const qsizetype equals = pair.indexOf('=');
            const auto name = decoded(equals < 0 ? pair : pair.first(equals));
            const auto bytes = decoded(equals < 0 ? QByteArrayView() : pair.sliced(equals + 1));
            const auto value = bytes ? text(*bytes) : std::nullopt;
            if (!name || !value)
                return serialization(u"The parameters are no UTF-8 text, percent-encoded."_s);
            query.m_parameters.try_emplace(*name, *value);
            if (query.m_parameters.size() > ParameterLimit)
                return invalidParameter(u"The request has more than %1 parameters."_s.arg(ParameterLimit));
        }
    }
    return query;
}

QString SqsQuery::value(const QByteArray &name) const
{
    const auto it = m_parameters.find(name);
    return it == m_parameters.end() ? QString() : it->second;
}

std::variant<SqsRequest, SqsError> SqsQuery::read(const QString &pathQueue, const QString &traceHeader) const
{
    if (const auto refusal = checkOperation(action(), pathQueue))
        return *refusal;
    std::optional<SqsError> error;
    QueryMembers members(*this, {}, &error);
    SqsRequest request = readSqsRequest(action(), members, pathQueue, traceHeader);
    if (error)
        return *error;
    return request;
}

} // namespace sendonce::local
