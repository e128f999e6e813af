#include "worker/consume/eventtypecheck.h"

#include "worker/mail/template.h"
#include "worker/store/jobboard.h"
#include "worker/store/sqltext.h"

#include <QStringList>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

Error refusal(const EventType &type, const QString &member, const QString &text, int textLine = 1)
{
    return {ErrorKind::Invalid, u"%1: %2: %3"_s.arg(type.where(member, textLine), member, text), {}};
}

/// What every event of the type is sure to have.
QStringList fieldsOf(const EventType &type)
{
    QStringList names{u"event_id"_s, u"type"_s};
    for (const EventType::Field &field : type.fields)
        names.append(field.name);
    return names;
}

Result<void> checkLookup(const EventType &type)
{
    const QString member = u"lookup"_s;
    if (const auto sql = checkLookupSql(type.lookupSql); !sql)
        return refusal(type, member, sql.error().text);
    const QStringList fields = fieldsOf(type);
    int line = 1;
    for (const SqlToken &token : sqlTokens(type.lookupSql)) {
        if (token.kind == SqlToken::Kind::Parameter && !fields.contains(token.text.sliced(1)))
            return refusal(type, member,
                           u"it asks for %1, which not every event has; accepted are %2"_s.arg(
                               token.text, u':' + fields.join(u", :"_s)),
                           line);
        line += int(token.text.count(u'\n'));
    }
    return {};
}

/// \param sure the only names that can be used; empty: the look-up's columns may be meant
Result<void> checkTemplate(const EventType &type, const QString &member, const QString &text,
                           const QStringList &sure = {})
{
    int line = 1;
    const auto names = templateNames(text, &line);
    if (!names)
        return refusal(type, member, names.error().text, line);
    for (const TemplateName &name : names.value()) {
        if (!sure.isEmpty() && !sure.contains(name.name))
            return refusal(
                type, member,
                u"it uses “%1”, which not every event has; accepted are %2"_s.arg(name.name, sure.join(u", "_s)),
                name.line);
    }
    return {};
}

} // namespace

Result<void> checkEventTypes(const EventTypes &types)
{
    for (const QString &name : types.names()) {
        const EventType &type = *types.find(name);
        QList<Result<void>> checks{checkLookup(type),
                                   // Where nothing was found there are no columns.
                                   checkTemplate(type, u"missing_text"_s, type.missingText, fieldsOf(type))};
        for (const auto &[member, text] :
             {std::pair(u"recipient.address"_s, type.recipientAddress),
              std::pair(u"recipient.name"_s, type.recipientName), std::pair(u"recipient.user"_s, type.recipientUser),
              std::pair(u"subject"_s, type.subject), std::pair(u"text"_s, type.text), std::pair(u"html"_s, type.html),
              std::pair(u"log"_s, type.logText)})
            checks.append(checkTemplate(type, member, text));
        for (const Result<void> &check : std::as_const(checks)) {
            if (!check)
                return check;
        }
    }
    return {};
}

} // namespace sendonce
