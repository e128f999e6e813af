#include "worker/consume/eventtypecheck.h"

#include "worker/mail/template.h"
#include "worker/store/jobboard.h"

namespace sendonce {

using namespace Qt::StringLiterals;

Result<void> checkEventTypes(const EventTypes &types)
{
    for (const QString &name : types.names()) {
        const EventType *type = types.find(name);
        const auto refuse = [type](const QString &field, const Error &error) {
            return Error{ErrorKind::Invalid, u"%1: %2: %3"_s.arg(type->source, field, error.text), {}};
        };
        const auto sql = checkLookupSql(type->lookupSql);
        if (!sql)
            return refuse(u"lookup"_s, sql.error());
        for (const auto &[field, text] :
             {std::pair(u"missing_text"_s, type->missingText), std::pair(u"recipient"_s, type->recipientAddress),
              std::pair(u"recipient"_s, type->recipientName), std::pair(u"recipient"_s, type->recipientUser),
              std::pair(u"subject"_s, type->subject), std::pair(u"text"_s, type->text),
              std::pair(u"html"_s, type->html), std::pair(u"log"_s, type->logText)}) {
            const auto used = templateNames(text);
            if (!used)
                return refuse(field, used.error());
        }
    }
    return {};
}

} // namespace sendonce
