#include "ui/letterfilter.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <array>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

/// In the order of the enum; written to settings, so they are not translated.
constexpr std::array VerdictNames{"not handled"_L1, "handled"_L1, "in doubt"_L1, "unknown"_L1, "invalid"_L1};

constexpr qsizetype LongNumber = 5; ///< digits; reply codes have three, and "4.3.0" is none

bool isWordPart(QChar c)
{
    return c.isLetterOrNumber() || c == u'-' || c == u'_' || c == u'@' || c == u'.' || c == u'+' || c == u'/'
        || c == u':';
}

/// An address, an id, a number that no reply code has.
bool differs(QStringView word)
{
    if (word.contains(u'@'))
        return true;
    qsizetype digits = 0, hex = 0, row = 0, longest = 0;
    for (const QChar c : word) {
        const bool digit = c.isDigit();
        digits += digit;
        hex += digit || (c >= u'a' && c <= u'f') || (c >= u'A' && c <= u'F') || c == u'-';
        row = digit ? row + 1 : 0;
        longest = std::max(longest, row);
    }
    return longest >= LongNumber || (digits > 0 && hex == word.size() && word.size() >= 8);
}

} // namespace

QByteArray packed(const LetterFilter &filter)
{
    QJsonArray verdicts;
    for (const Verdict verdict : filter.verdicts)
        verdicts.append(QString(VerdictNames[size_t(verdict)]));
    const QJsonObject object{{u"text"_s, filter.text},
                             {u"verdicts"_s, verdicts},
                             {u"reasons"_s, QJsonArray::fromStringList(filter.reasons)},
                             {u"types"_s, QJsonArray::fromStringList(filter.types)}};
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

std::optional<LetterFilter> unpackedFilter(const QByteArray &json)
{
    const QJsonDocument document = QJsonDocument::fromJson(json);
    if (!document.isObject())
        return std::nullopt;
    const QJsonObject object = document.object();
    const auto texts = [&object](QLatin1StringView name) {
        QStringList list;
        for (const QJsonValue &value : object.value(name).toArray())
            list.append(value.toString());
        return list;
    };
    LetterFilter filter;
    filter.text = object.value("text"_L1).toString();
    for (const QString &name : texts("verdicts"_L1)) {
        const auto found = std::find(VerdictNames.begin(), VerdictNames.end(), name);
        if (found != VerdictNames.end())
            filter.verdicts.append(Verdict(found - VerdictNames.begin()));
    }
    filter.reasons = texts("reasons"_L1);
    filter.types = texts("types"_L1);
    return filter;
}

bool rowHolds(const DeadLetter &letter, const QString &text)
{
    for (const QString *field : {&letter.eventId, &letter.message.messageId, &letter.eventType, &letter.applicationId,
                                 &letter.reason, &letter.verdictText, &letter.bodyExcerpt}) {
        if (field->contains(text, Qt::CaseInsensitive))
            return true;
    }
    return false;
}

QString reasonGroup(const QString &reason)
{
    QString group;
    group.reserve(reason.size());
    const auto ellipsis = [&group] {
        if (!group.endsWith(u'…'))
            group += u'…';
    };
    for (qsizetype i = 0; i < reason.size();) {
        const QChar c = reason.at(i);
        const QChar closing = c == u'"' ? QChar(u'"') : c == u'“' ? QChar(u'”') : QChar();
        if (const qsizetype end = closing.isNull() ? -1 : reason.indexOf(closing, i + 1); end > 0) {
            group += c;
            ellipsis();
            group += closing;
            i = end + 1;
            continue;
        }
        if (!isWordPart(c)) {
            group += c;
            ++i;
            continue;
        }
        qsizetype end = i;
        while (end < reason.size() && isWordPart(reason.at(end)))
            ++end;
        const QStringView word = QStringView(reason).mid(i, end - i);
        if (differs(word))
            ellipsis();
        else
            group += word;
        i = end;
    }
    return group;
}

} // namespace sendonce
