#include "app/ctl/commands.h"
#include "app/ctl/listing.h"
#include "app/ctl/terminal.h"
#include "app/process/privacy.h"
#include "worker/operate/eventsearch.h"

#include <QFileInfo>

namespace sendonce {

using namespace Qt::StringLiterals;

int runEventsList(const QStringList &words)
{
    CommandLine line(u"sendoncectl events list"_s, u"lists the processed events, newest first"_s,
                     {u"database-url"_s, u"data-dir"_s},
                     {{u"search"_s, u"TEXT"_s, {}, u"only what holds this in event id or type"_s},
                      {u"limit"_s, u"N"_s, u"50"_s, u"1 to 10000"_s},
                      {u"json"_s, {}, {}, u"JSON lines"_s}});
    if (const auto ended = answered(line, words))
        return *ended;
    const auto limit = listLimit(line);
    const auto prepared = limit ? prepare(line) : Result<Prepared>(limit.error());
    if (!prepared) {
        complain(prepared.error().text);
        return exitCodeOf(prepared.error());
    }
    const auto path = sqlitePath(prepared->config.databaseUrl);
    if (path && !QFileInfo::exists(path.value())) { // no path: a server
        complain(u"there is no database yet at %1; start the console or sendoncectl local first"_s.arg(path.value()));
        return Failed;
    }
    auto database = Database::open(prepared->config.databaseUrl);
    auto journal = database ? Journal::open(prepared->config.dataDir, database.value()) : database.error();
    if (!journal) {
        complain(journal.error().text);
        return Failed;
    }
    ProcessedEvents claims(database.value());
    ProcessedQuery query;
    query.search = line.value(u"search"_s);
    query.limit = limit.value();
    const ProcessedPage page = searchProcessed(claims, journal.value(), query);
    if (!page.error.isEmpty()) {
        complain(page.error);
        return Failed;
    }
    Listing listing({u"event"_s, u"type"_s, u"application"_s, u"result"_s, u"skipped"_s, u"processed at"_s},
                    line.has(u"json"_s));
    for (const ProcessedRow &row : page.rows) {
        listing.add({{u"eventId"_s, row.eventId},
                     {u"type"_s, row.eventType},
                     {u"application"_s, row.applicationId},
                     {u"result"_s, row.result.isEmpty() ? u"by another worker"_s : row.result},
                     {u"duplicatesSkipped"_s, row.duplicates},
                     {u"processedAt"_s, row.processedAt.toUTC().toString(Qt::ISODateWithMs)}});
    }
    listing.print(u"no events were processed yet"_s);
    return Done;
}

} // namespace sendonce
