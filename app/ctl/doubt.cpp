#include "app/ctl/commands.h"
#include "app/ctl/dlqrun.h"
#include "app/ctl/listing.h"
#include "worker/operate/doubts.h"
#include "worker/store/inspection.h"

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto DatabasePatience = 30s;

QString stateName(Doubt::State state)
{
    switch (state) {
    case Doubt::State::Waiting:
        return u"waiting"_s;
    case Doubt::State::SendAgain:
        return u"send again"_s;
    case Doubt::State::Over:
        return u"over"_s;
    }
    return {};
}

QString stateName(DoubtOutcome::State state)
{
    switch (state) {
    case DoubtOutcome::State::Settled:
        return u"settled"_s;
    case DoubtOutcome::State::Released:
        return u"send again"_s;
    case DoubtOutcome::State::NotThere:
        return u"not there"_s;
    case DoubtOutcome::State::Refused:
        return u"refused"_s;
    case DoubtOutcome::State::Failed:
        return u"failed"_s;
    }
    return {};
}

/// What both subcommands take.
CommandLine doubtLine(const QString &name, const QString &summary, QList<CommandOption> options,
                      const QStringList &examples = {})
{
    options.append({u"json"_s, {}, {}, u"JSON lines"_s});
    return CommandLine(
        u"sendoncectl doubt "_s + name, summary,
        {u"database-url"_s, u"data-dir"_s, u"mail-from"_s, u"message-id-domain"_s, u"ask-maildir"_s, u"read-only"_s},
        options, examples);
}

/// Runs `work(Doubts &, Config)` on the databases of these settings; its exit code, or that of what failed before.
template <typename Work>
int withDoubts(const CommandLine &line, Work work)
{
    const auto prepared = prepare(line);
    if (!prepared) {
        complain(prepared.error().text);
        return exitCodeOf(prepared.error());
    }
    const Config &config = prepared->config;
    auto database = openExisting(config.databaseUrl, DatabasePatience);
    if (!database) {
        complain(database.error().kind == ErrorKind::NotFound
                     ? database.error().text + u"; start the console or sendoncectl local first"_s
                     : database.error().text);
        return exitCodeOf(database.error());
    }
    auto journal = Journal::open(config.dataDir, database.value());
    if (!journal) {
        complain(journal.error().text);
        return exitCodeOf(journal.error());
    }
    Doubts doubts(database.value(), journal.value(), doubtSetup(config));
    return work(doubts, config);
}

int listDoubts(const CommandLine &line, int limit, Doubts &doubts)
{
    const DoubtList list = doubts.list(limit);
    if (!list.error.isEmpty()) {
        complain(list.error);
        return Failed;
    }
    const bool json = line.has(u"json"_s);
    Listing listing(
        {u"event"_s, u"application"_s, u"since"_s, u"state"_s, u"what is known"_s, u"done since"_s, u"Message-ID"_s},
        json);
    for (const Doubt &doubt : list.doubts) {
        if (doubt.state == Doubt::State::Over && !line.has(u"all"_s))
            continue;
        const QString since = doubt.since.toUTC().toString(Qt::ISODateWithMs);
        if (json) {
            listing.add({{u"eventId"_s, doubt.eventId},
                         {u"type"_s, doubt.eventType},
                         {u"application"_s, doubt.applicationId},
                         {u"since"_s, since},
                         {u"state"_s, stateName(doubt.state)},
                         {u"strategy"_s, doubt.strategy},
                         {u"reason"_s, doubt.reason},
                         {u"mailReply"_s, doubt.mailReply},
                         {u"done"_s, doubt.done},
                         {u"mailMessageId"_s, doubt.mailMessageId},
                         {u"messageId"_s, doubt.messageId},
                         {u"worker"_s, doubt.worker},
                         {u"lane"_s, doubt.lane},
                         {u"recipient"_s, doubt.recipient}});
        } else {
            listing.add({{u"eventId"_s, doubt.eventId},
                         {u"application"_s, doubt.applicationId},
                         {u"since"_s, since},
                         {u"state"_s, stateName(doubt.state)},
                         {u"reason"_s, doubt.reason},
                         {u"done"_s, doubt.done},
                         {u"mailMessageId"_s, doubt.mailMessageId}});
        }
    }
    listing.print(u"no event is in doubt"_s);
    if (list.more)
        complain(u"there are more; raise --limit to see them"_s);
    return Done;
}

QString question(DoubtAct act, qsizetype events)
{
    const QString count = events == 1 ? u"1 event"_s : u"%1 events"_s.arg(events);
    switch (act) {
    case DoubtAct::Arrived:
        return u"This marks %1 as handled: what did not arrive is never sent."_s.arg(count);
    case DoubtAct::SendAgain:
        return u"This lets %1 be sent, perhaps for the second time."_s.arg(count);
    case DoubtAct::Ask:
        break;
    }
    return u"This marks those of %1 as handled whose mail the receiving side has."_s.arg(count);
}

int settleDoubts(const CommandLine &line, DoubtAct act, Doubts &doubts, const Config &config)
{
    QStringList events = line.values(u"event-id"_s);
    events.removeDuplicates();
    if (!config.readOnly && !confirmed(config, line, question(act, events.size())))
        return Usage;
    Listing listing({u"event"_s, u"outcome"_s, u"text"_s}, line.has(u"json"_s));
    bool all = true;
    for (const DoubtOutcome &outcome : doubts.settle(events, act)) {
        using State = DoubtOutcome::State;
        all = all && (outcome.state == State::Settled || outcome.state == State::Released);
        listing.add(
            {{u"eventId"_s, outcome.eventId}, {u"outcome"_s, stateName(outcome.state)}, {u"text"_s, outcome.text}});
    }
    listing.print({});
    return all ? Done : Failed;
}

} // namespace

int runDoubtList(const QStringList &words)
{
    CommandLine line = doubtLine(u"list"_s, u"lists the events that may have been mailed, those that wait first"_s,
                                 {{u"all"_s, {}, {}, u"also those that are over: sent again, or handled"_s},
                                  {u"limit"_s, u"N"_s, u"50"_s, u"1 to 10000"_s}});
    if (const auto ended = answered(line, words))
        return *ended;
    const auto limit = listLimit(line);
    if (!limit) {
        complain(limit.error().text);
        return exitCodeOf(limit.error());
    }
    return withDoubts(line, [&](Doubts &doubts, const Config &) { return listDoubts(line, limit.value(), doubts); });
}

int runDoubtSettle(const QStringList &words)
{
    CommandLine line = doubtLine(
        u"settle"_s, u"decides about events that may have been mailed; 0 when each is decided, else 1"_s,
        {{u"event-id"_s, u"ID"_s, {}, u"this event; may be repeated"_s},
         {u"arrived"_s, {}, {}, u"it was mailed: handled, a later delivery or replay is skipped"_s},
         {u"send-again"_s, {}, {}, u"the next delivery or replay sends; nothing is sent now"_s},
         {u"ask"_s, {}, {}, u"look for its Message-ID in the receiving side's Maildir: arrived when it is there"_s},
         {u"yes"_s, {}, {}, u"do not ask; for scripts"_s}},
        {u"sendoncectl doubt settle --event-id 23e48c51-7f0e-4b7e-8c55-1f0e6a5d9a41 --ask"_s});
    if (const auto ended = answered(line, words))
        return *ended;
    if (!line.has(u"event-id"_s)) {
        complain(u"say which: --event-id ID"_s);
        return Usage;
    }
    const QList<std::pair<QString, DoubtAct>> acts{
        {u"arrived"_s, DoubtAct::Arrived}, {u"send-again"_s, DoubtAct::SendAgain}, {u"ask"_s, DoubtAct::Ask}};
    std::optional<DoubtAct> wanted;
    int named = 0;
    for (const auto &[flag, act] : acts) {
        if (line.has(flag)) {
            wanted = act;
            ++named;
        }
    }
    if (named != 1) {
        complain(u"say what, one of --arrived, --send-again and --ask"_s);
        return Usage;
    }
    return withDoubts(
        line, [&](Doubts &doubts, const Config &config) { return settleDoubts(line, *wanted, doubts, config); });
}

} // namespace sendonce
