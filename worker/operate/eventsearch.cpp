#include "worker/operate/eventsearch.h"

namespace sendonce {

using namespace Qt::StringLiterals;

ProcessedPage searchProcessed(ProcessedEvents &claims, Journal &journal, const ProcessedQuery &query)
{
    auto page = claims.page(query);
    if (!page) {
        ProcessedPage failed;
        failed.query = query;
        failed.error = page.error().text;
        return failed;
    }
    ProcessedPage result = page.take();
    QStringList eventIds;
    for (const ProcessedRow &row : std::as_const(result.rows))
        eventIds.append(row.eventId);
    const auto known = journal.about(eventIds);
    if (!known) {
        result.error = u"the journal could not be read: "_s + known.error().text;
        return result;
    }
    for (ProcessedRow &row : result.rows) {
        const auto knowledge = known->constFind(row.eventId);
        if (knowledge == known->cend())
            continue;
        row.applicationId = knowledge->applicationId;
        row.duplicates = knowledge->duplicates;
        if (knowledge->mailed)
            row.result = u"mailed"_s;
        else if (knowledge->gone)
            row.result = u"application gone"_s;
    }
    return result;
}

} // namespace sendonce
