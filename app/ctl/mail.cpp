#include "app/ctl/commands.h"
#include "app/ctl/listing.h"
#include "app/ctl/terminal.h"
#include "worker/operate/mailboxindex.h"

namespace sendonce {

using namespace Qt::StringLiterals;

int runMailList(const QStringList &words)
{
    CommandLine line(u"sendoncectl mail list"_s, u"lists the mails in the embedded mailbox, newest first"_s,
                     {u"data-dir"_s},
                     {{u"search"_s, u"TEXT"_s, {}, u"only what holds this in recipient, subject or event id"_s},
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
    MailboxIndex mailbox(prepared->config.dataDir);
    mailbox.refresh();
    Listing listing({u"to"_s, u"subject"_s, u"event"_s, u"copies"_s, u"received"_s, u"file"_s}, line.has(u"json"_s));
    const MailboxSnapshot snapshot = mailbox.snapshot(line.value(u"search"_s), limit.value());
    for (const MailRow &row : snapshot.rows) {
        listing.add({{u"to"_s, row.to},
                     {u"subject"_s, row.subject},
                     {u"eventId"_s, row.eventId},
                     {u"copies"_s, row.copies},
                     {u"receivedAt"_s, row.receivedAt.toString(Qt::ISODateWithMs)},
                     {u"id"_s, row.id}});
    }
    listing.print(u"the mailbox is empty"_s);
    return Done;
}

} // namespace sendonce
