#include "worker/mail/template.h"

#include <QStringList>

#include <algorithm>
#include <functional>
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

/// Where a template is wrong, or where a name stands.
struct Place
{
    QString text; ///< what is wrong, or the name
    int line = 1;
};

Place placeOf(const QString &text, qsizetype position, const QString &what)
{
    return {what, int(text.first(position).count(u'\n')) + 1};
}

/// Reads a template once, from left to right: `literal` gets what is copied, `name` each name; false from it ends the
/// walk. What is wrong with the syntax comes back.
std::optional<Place> walk(const QString &text, const std::function<void(QStringView)> &literal,
                          const std::function<bool(const Place &)> &name)
{
    qsizetype position = 0;
    while (position < text.size()) {
        const qsizetype open = text.indexOf("{{"_L1, position);
        const qsizetype stray = text.indexOf("}}"_L1, position);
        if (stray >= 0 && (open < 0 || stray < open))
            return placeOf(text, stray, u"a }} without its {{"_s);
        literal(QStringView(text).sliced(position, (open < 0 ? text.size() : open) - position));
        if (open < 0)
            break;
        const qsizetype close = text.indexOf("}}"_L1, open + 2);
        if (close < 0)
            return placeOf(text, open, u"a {{ without its }}"_s);
        const QString inner = QStringView(text).sliced(open + 2, close - open - 2).trimmed().toString();
        if (!isName(inner))
            return placeOf(text, open,
                           u"“{{%1}}” is no name; letters, digits and _ are accepted"_s.arg(inner.left(60)));
        if (!name(placeOf(text, open, inner)))
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
    std::optional<Error> missing;
    const auto wrong = walk(
        text, [&](QStringView literal) { result += literal; },
        [&](const Place &name) {
            const Result<QString> value = valueText(name.text, values);
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
        return Error{ErrorKind::Invalid, u"template, line %1: %2"_s.arg(wrong->line).arg(wrong->text), {}};
    return result;
}

Result<QList<TemplateName>> templateNames(const QString &text, int *faultLine)
{
    QList<TemplateName> names;
    const auto wrong = walk(
        text, [](QStringView) {},
        [&](const Place &name) {
            if (std::none_of(names.cbegin(), names.cend(), [&](const auto &each) { return each.name == name.text; }))
                names.append({name.text, name.line});
            return true;
        });
    if (!wrong)
        return names;
    if (faultLine)
        *faultLine = wrong->line;
    return Error{ErrorKind::Invalid, wrong->text, {}};
}

} // namespace sendonce
