#include "worker/mail/template.h"

#include <QStringList>

#include <algorithm>
#include <functional>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

bool isName(QStringView name)
{
    const auto letter = [](QChar c) { return (c >= u'a' && c <= u'z') || (c >= u'A' && c <= u'Z') || c == u'_'; };
    return !name.isEmpty() && letter(name.front())
        && std::all_of(name.cbegin(), name.cend(), [&](QChar c) { return letter(c) || (c >= u'0' && c <= u'9'); });
}

Error syntaxError(const QString &text, qsizetype position, const QString &what)
{
    const qsizetype line = text.first(position).count(u'\n') + 1;
    return {ErrorKind::Invalid, u"template, line %1: %2"_s.arg(line).arg(what), {}};
}

/// Reads a template once, from left to right: `literal` gets what is copied, `name` each name, whose error ends it.
Result<void> walk(const QString &text, const std::function<void(QStringView)> &literal,
                  const std::function<Result<void>(const QString &)> &name)
{
    qsizetype position = 0;
    while (position < text.size()) {
        const qsizetype open = text.indexOf("{{"_L1, position);
        const qsizetype stray = text.indexOf("}}"_L1, position);
        if (stray >= 0 && (open < 0 || stray < open))
            return syntaxError(text, stray, u"a }} without its {{"_s);
        literal(QStringView(text).sliced(position, (open < 0 ? text.size() : open) - position));
        if (open < 0)
            break;
        const qsizetype close = text.indexOf("}}"_L1, open + 2);
        if (close < 0)
            return syntaxError(text, open, u"a {{ without its }}"_s);
        const QString inner = QStringView(text).sliced(open + 2, close - open - 2).trimmed().toString();
        if (!isName(inner))
            return syntaxError(text, open,
                               u"“{{%1}}” is no name; letters, digits and _ are accepted"_s.arg(inner.left(60)));
        if (const Result<void> found = name(inner); !found)
            return found;
        position = close + 2;
    }
    return {};
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
    const Result<void> walked = walk(
        text, [&](QStringView literal) { result += literal; },
        [&](const QString &name) -> Result<void> {
            const Result<QString> value = valueText(name, values);
            if (!value)
                return value.error();
            // QString::toHtmlEscaped() leaves the apostrophe, which ends an attribute in single quotes.
            result += escape == Escape::Html ? value->toHtmlEscaped().replace(u'\'', "&#39;"_L1) : value.value();
            return {};
        });
    if (!walked)
        return walked.error();
    return result;
}

Result<QStringList> templateNames(const QString &text)
{
    QStringList names;
    const Result<void> walked = walk(
        text, [](QStringView) {},
        [&](const QString &name) -> Result<void> {
            if (!names.contains(name))
                names.append(name);
            return {};
        });
    if (!walked)
        return walked.error();
    return names;
}

} // namespace sendonce
