#include "worker/local/sqsrules.h"

#include <QRegularExpression>

#include <algorithm>
#include <array>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

bool isAsciiLetterOrDigit(QChar c)
{
    return (c >= u'A' && c <= u'Z') || (c >= u'a' && c <= u'z') || (c >= u'0' && c <= u'9');
}

bool isAttributeName(const QString &name)
{
    const auto isAllowed = [](QChar c) { return isAsciiLetterOrDigit(c) || c == u'_' || c == u'-' || c == u'.'; };
    return !name.isEmpty() && name.size() <= 256 && std::all_of(name.cbegin(), name.cend(), isAllowed)
        && !name.startsWith(u'.') && !name.endsWith(u'.') && !name.contains(".."_L1)
        && !name.startsWith("aws."_L1, Qt::CaseInsensitive) && !name.startsWith("amazon."_L1, Qt::CaseInsensitive);
}

/// Up to 38 digits of precision between 1e-128 and 1e126, the range of SQS's Number.
bool isNumber(const QString &text)
{
    static const QRegularExpression form(u"^[+-]?(\\d*)(?:\\.(\\d*))?(?:[eE]([+-]?\\d{1,4}))?$"_s);
    const auto match = form.match(text);
    if (!match.hasMatch())
        return false;
    const QString whole = match.captured(1);
    QString digits = whole + match.captured(2);
    if (digits.isEmpty())
        return false;
    const qsizetype first =
        std::find_if(digits.cbegin(), digits.cend(), [](QChar c) { return c != u'0'; }) - digits.cbegin();
    if (first == digits.size())
        return true; // zero
    const qsizetype magnitude = whole.size() - first - 1 + match.captured(3).toInt(); // of d.ddd × 10^magnitude
    digits.remove(0, first);
    while (digits.endsWith(u'0'))
        digits.chop(1);
    return digits.size() <= 38 && magnitude >= -128 && (magnitude < 126 || (magnitude == 126 && digits == "1"_L1));
}

std::optional<SqsError> checkAttribute(const QString &name, const MessageAttribute &attribute)
{
    if (!isAttributeName(name))
        return invalidParameter(
            u"The message attribute name '%1' is invalid. A name is 1 to 256 of A-Z, a-z, 0-9, underscore, "
            "hyphen and period, without a period at either end or two in a row, and does not begin with "
            "AWS. or Amazon."_s.arg(name));
    const QString type = attribute.dataType.section(u'.', 0, 0);
    const bool hasLabel = attribute.dataType.contains(u'.');
    const bool binary = type == "Binary"_L1;
    if ((!binary && type != "String"_L1 && type != "Number"_L1) || attribute.dataType.size() > 256
        || (hasLabel && attribute.dataType.size() == type.size() + 1) || !isLegalText(attribute.dataType))
        return invalidParameter(
            u"The type of message (user) attribute '%1' is invalid. You must use only the following "
            "supported type prefixes: Binary, Number, String."_s.arg(name));
    if (binary ? attribute.binaryValue.isEmpty() : attribute.stringValue.isEmpty())
        return invalidParameter(
            u"Message (user) attribute '%1' must contain a non-empty value of type '%2'."_s.arg(name, type));
    if (binary ? !attribute.stringValue.isEmpty() : !attribute.binaryValue.isEmpty())
        return invalidParameter(
            u"Message (user) attribute '%1' has a value that is not of its type '%2'."_s.arg(name, type));
    if (!binary && !isLegalText(attribute.stringValue))
        return invalidParameter(
            u"Invalid binary character was found in the value of message (user) attribute '%1'."_s.arg(name));
    if (type == "Number"_L1 && !isNumber(attribute.stringValue))
        return invalidParameter(u"Can't cast the value of message (user) attribute '%1' to a number."_s.arg(name));
    return {};
}

} // namespace

bool isLegalText(QStringView text)
{
    for (qsizetype i = 0; i < text.size(); ++i) {
        const char16_t c = text.at(i).unicode();
        if (c < 0x20) {
            if (c != 0x9 && c != 0xA && c != 0xD)
                return false;
        } else if (c >= 0xD800) {
            if (c > 0xFFFD || (c >= 0xDC00 && c < 0xE000))
                return false;
            if (c < 0xDC00) {
                if (i + 1 == text.size() || !text.at(i + 1).isLowSurrogate())
                    return false;
                ++i;
            }
        }
    }
    return true;
}

bool isEntryId(const QString &id)
{
    const auto isAllowed = [](QChar c) { return isAsciiLetterOrDigit(c) || c == u'_' || c == u'-'; };
    return !id.isEmpty() && id.size() <= 80 && std::all_of(id.cbegin(), id.cend(), isAllowed);
}

bool isQueueName(const QString &name)
{
    return isEntryId(name); // the same rule
}

bool isGroupId(const QString &id)
{
    // The printable ASCII characters apart from the blank are the letters, the digits and the punctuation marks.
    const auto isAllowed = [](QChar c) { return c > u' ' && c < u'\x7f'; };
    return !id.isEmpty() && id.size() <= 128 && std::all_of(id.cbegin(), id.cend(), isAllowed);
}

std::optional<SqsError> checkMessageAttributes(const MessageAttributes &attributes)
{
    if (attributes.size() > 10)
        return invalidParameter(
            u"Number of message attributes [%1] exceeds the allowed maximum [10]."_s.arg(attributes.size()));
    for (auto it = attributes.cbegin(); it != attributes.cend(); ++it) {
        if (const auto error = checkAttribute(it.key(), *it))
            return error;
    }
    return {};
}

std::optional<SqsError> checkSystemAttributes(const MessageAttributes &attributes)
{
    for (auto it = attributes.cbegin(); it != attributes.cend(); ++it) {
        if (it.key() != "AWSTraceHeader"_L1)
            return invalidParameter(
                u"Message system attribute name '%1' is invalid; AWSTraceHeader is the only one that can be sent."_s
                    .arg(it.key()));
        if (it->dataType != "String"_L1 || it->stringValue.isEmpty() || !isLegalText(it->stringValue))
            return invalidParameter(
                u"Message (system) attribute 'AWSTraceHeader' must contain a non-empty value of type "
                "'String'."_s);
    }
    return {};
}

qint64 sizeOfAttributes(const MessageAttributes &attributes)
{
    qint64 size = 0;
    for (auto it = attributes.cbegin(); it != attributes.cend(); ++it) {
        size +=
            it.key().size() + it->dataType.toUtf8().size() + it->binaryValue.size() + it->stringValue.toUtf8().size();
    }
    return size;
}

bool isAttributeWanted(const QString &name, const QStringList &wanted)
{
    return std::any_of(wanted.cbegin(), wanted.cend(), [&name](const QString &pattern) {
        if (pattern == "All"_L1 || pattern == ".*"_L1 || pattern == "*"_L1 || pattern == name)
            return true;
        return pattern.endsWith(".*"_L1) && name.startsWith(QStringView(pattern).chopped(2));
    });
}

bool isSystemAttribute(const QString &name)
{
    static constexpr std::array names{"All"_L1,
                                      "ApproximateReceiveCount"_L1,
                                      "ApproximateFirstReceiveTimestamp"_L1,
                                      "SentTimestamp"_L1,
                                      "SenderId"_L1,
                                      "MessageGroupId"_L1,
                                      "AWSTraceHeader"_L1,
                                      "MessageDeduplicationId"_L1,
                                      "SequenceNumber"_L1,
                                      "DeadLetterQueueSourceArn"_L1};
    return std::find(names.cbegin(), names.cend(), name) != names.cend();
}

} // namespace sendonce::local
