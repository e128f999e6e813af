#include "worker/mail/template.h"

#include <QStringList>

#include <algorithm>
#include <optional>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

bool isName(QStringView name)
{
    const auto letter = [](QChar c) { return (c >= u'a' && c <= u'z') || (c >= u'A' && c <= u'Z') || c == u'_'; };
    return !name.isEmpty() && letter(name.front())
        && std::all_of(name.cbegin(), name.cend(), [&](QChar c) { return letter(c) || (c >= u'0' && c <= u'9'); });
}

/// Where a template is wrong.
struct Fault
{
    QString text;
    qsizetype position = 0;
};

int lineOf(const QString &text, qsizetype position)
{
    return int(QStringView(text).first(position).count(u'\n')) + 1;
}

/// Where a character stands twice in a row; -1: nowhere. A search for one character runs over many at a time, one for
/// a text does not.
qsizetype indexOfPair(QStringView text, QChar character, qsizetype from = 0)
{
    qsizetype at = text.indexOf(character, from);
    while (at >= 0 && (at + 1 == text.size() || text[at + 1] != character))
        at = text.indexOf(character, at + 1);
    return at;
}

/// Reads a template once, from left to right: `literal` gets what is copied, `name` each name and where it stands;
/// false from it ends the walk. What is wrong with the syntax comes back.
template <typename Literal, typename Name>
std::optional<Fault> walk(const QString &text, const Literal &literal, const Name &name)
{
    qsizetype position = 0;
    while (position < text.size()) {
        const qsizetype open = indexOfPair(text, u'{', position);
        const QStringView copied = QStringView(text).sliced(position, (open < 0 ? text.size() : open) - position);
        if (const qsizetype stray = indexOfPair(copied, u'}'); stray >= 0)
            return Fault{u"a }} without its {{"_s, position + stray};
        literal(copied);
        if (open < 0)
            break;
        const qsizetype close = indexOfPair(text, u'}', open + 2);
        if (close < 0)
            return Fault{u"a {{ without its }}"_s, open};
        const QString inner = QStringView(text).sliced(open + 2, close - open - 2).trimmed().toString();
        if (!isName(inner))
            return Fault{u"“{{%1}}” is no name; letters, digits and _ are accepted"_s.arg(inner.left(60)), open};
        if (!name(inner, open))
            break;
        position = close + 2;
    }
    return std::nullopt;
}

Result<QString> valueText(const QString &name, const QMap<QString, QVariant> &values)
{
    const auto found = values.constFind(name);
    if (found == values.cend())
        return Error{ErrorKind::Invalid, u"the template needs “%1”, which is not there"_s.arg(name), {}};
    if (found->isNull())
        return Error{ErrorKind::Invalid, u"the template needs “%1”, which is NULL"_s.arg(name), {}};
    if (found->typeId() == QMetaType::QByteArray)
        return QString::fromUtf8(found->toByteArray());
    if (!found->canConvert<QString>() || found->typeId() == QMetaType::QStringList)
        return Error{ErrorKind::Invalid, u"the template needs “%1”, which is no plain value"_s.arg(name), {}};
    return found->toString();
}

} // namespace

Result<QString> renderTemplate(const QString &text, const QMap<QString, QVariant> &values, Escape escape)
{
    QString result;
    result.reserve(text.size() + text.size() / 4);
    std::optional<Error> missing;
    const auto wrong = walk(
        text, [&](QStringView literal) { result += literal; },
        [&](const QString &name, qsizetype) {
            const Result<QString> value = valueText(name, values);
            if (!value) {
                missing = value.error();
                return false;
            }
            // QString::toHtmlEscaped() leaves the apostrophe, which ends an attribute in single quotes.
            result += escape == Escape::Html ? value->toHtmlEscaped().replace(u'\'', "&#39;"_L1) : value.value();
            return true;
        });
    if (missing)
        return *missing;
    if (wrong)
        return Error{
            ErrorKind::Invalid, u"template, line %1: %2"_s.arg(lineOf(text, wrong->position)).arg(wrong->text), {}};
    return result;
}

Result<QList<TemplateName>> templateNames(const QString &text, int *faultLine)
{
    QList<TemplateName> names;
    const auto wrong = walk(
        text, [](QStringView) {},
        [&](const QString &name, qsizetype position) {
            if (std::none_of(names.cbegin(), names.cend(), [&](const auto &each) { return each.name == name; }))
                names.append({name, lineOf(text, position)});
            return true;
        });
    if (!wrong)
        return names;
    if (faultLine)
        *faultLine = lineOf(text, wrong->position);
    return Error{ErrorKind::Invalid, wrong->text, {}};
}

} // namespace sendonce
