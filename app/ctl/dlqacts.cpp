#include "app/ctl/commands.h"
#include "app/ctl/dlqrun.h"
#include "app/ctl/listing.h"

#include <QJsonArray>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

QString isoTime(const QDateTime &time)
{
    return time.isValid() ? time.toString(Qt::ISODateWithMs) : QString();
}

/// An act that ends in one report.
class ReportRun : public DlqRun
{
public:
    ReportRun(const Config &config, const CommandLine &line) : DlqRun(config), m_line(line)
    {
        connect(&m_worker, &Worker::actDone, this, [this](const ActReport &report) {
            if (m_line.has(u"json"_s)) {
                sayJson({{u"act"_s, report.act},
                         {u"done"_s, report.done},
                         {u"failed"_s, report.failed},
                         {u"text"_s, report.text},
                         {u"problems"_s, QJsonArray::fromStringList(report.problems)}});
            } else {
                for (const QString &problem : report.problems)
                    complain(problem);
                if (report.failed == 0 || report.done > 0)
                    say(report.text);
            }
            finish(report.failed > 0 ? Failed : Done);
        });
    }

protected:
    const CommandLine &m_line;
};

class ImportRun : public ReportRun
{
    using ReportRun::ReportRun;
    void opened() override
    {
        if (confirmed(m_config, m_line, u"This will send the letters of %1."_s.arg(m_line.value(u"from"_s))))
            m_worker.importDeadLetters(m_line.value(u"from"_s), m_line.has(u"to-queue"_s));
        else
            finish(Usage);
    }

public:
    static constexpr const char *Needed = "from";
};

class PurgeRun : public ReportRun
{
    using ReportRun::ReportRun;
    void opened() override { m_worker.purgeDeadLetters(m_line.value(u"name"_s)); }

public:
    static constexpr const char *Needed = "name";
};

class ForgetRun : public ReportRun
{
    using ReportRun::ReportRun;
    void opened() override
    {
        const QString eventId = m_line.value(u"event-id"_s);
        if (confirmed(m_config, m_line, u"Event %1 can mail again then."_s.arg(eventId)))
            m_worker.forgetClaim(eventId, m_line.value(u"reason"_s, u"no reason given"_s));
        else
            finish(Usage);
    }

public:
    static constexpr const char *Needed = "event-id";
};

class PutBackRun : public ReportRun
{
    using ReportRun::ReportRun;
    void opened() override
    {
        QList<qint64> ids;
        for (const QString &id : m_line.values(u"id"_s))
            ids.append(id.toLongLong());
        m_worker.putBackLetters(ids);
    }

public:
    static constexpr const char *Needed = "id";
};

class KeptRun : public DlqRun
{
public:
    KeptRun(const Config &config, const CommandLine &line) : DlqRun(config)
    {
        const int limit = listLimit(line).value();
        m_limit = limit;
        connect(&m_worker, &Worker::keptLettersListed, this,
                [this, json = line.has(u"json"_s)](const KeptLetters &kept) {
                    if (!kept.error.isEmpty()) {
                        complain(kept.error);
                        finish(Failed);
                        return;
                    }
                    Listing listing({u"id"_s, u"kept at"_s, u"by"_s, u"message"_s, u"event"_s, u"put back as"_s}, json);
                    for (const KeptLetter &letter : kept.letters)
                        listing.add({{u"id"_s, letter.id},
                                     {u"keptAt"_s, isoTime(letter.keptAt)},
                                     {u"by"_s, letter.by},
                                     {u"messageId"_s, letter.messageId},
                                     {u"eventId"_s, letter.eventId},
                                     {u"putBackAs"_s, letter.putBackAs}});
                    listing.print(u"no deleted letter is kept"_s);
                    finish(Done);
                });
    }

private:
    void opened() override { m_worker.queryKeptLetters(m_limit); }
    int m_limit = 0;
};

class AuditRun : public DlqRun
{
public:
    AuditRun(const Config &config, const CommandLine &line) : DlqRun(config)
    {
        const int limit = listLimit(line).value();
        m_limit = limit;
        connect(&m_worker, &Worker::auditListed, this, [this, json = line.has(u"json"_s)](const AuditPage &page) {
            if (!page.error.isEmpty()) {
                complain(page.error);
                finish(Failed);
                return;
            }
            Listing listing({u"at"_s, u"who"_s, u"host"_s, u"profile"_s, u"act"_s, u"ids"_s, u"text"_s, u"outcome"_s},
                            json);
            for (const AuditEntry &entry : page.entries) {
                listing.add({{u"at"_s, isoTime(entry.at)},
                             {u"who"_s, entry.who},
                             {u"host"_s, entry.host},
                             {u"profile"_s, entry.profile},
                             {u"act"_s, entry.act},
                             {u"ids"_s,
                              json ? QJsonValue(QJsonArray::fromStringList(entry.ids))
                                   : QJsonValue(QString::number(entry.ids.size()))},
                             {u"text"_s, entry.text},
                             {u"outcome"_s, entry.outcome}});
            }
            listing.print(u"nothing was done yet"_s);
            finish(Done);
        });
    }

private:
    void opened() override { m_worker.queryAudit(0, m_limit); }
    int m_limit = 0;
};

QString stateName(ReplayProgress::State state)
{
    switch (state) {
    case ReplayProgress::State::Running:
        return u"running"_s;
    case ReplayProgress::State::AwaitingCanary:
        return u"waiting for the first one's outcome"_s;
    case ReplayProgress::State::Paused:
        return u"paused"_s;
    case ReplayProgress::State::Halted:
        return u"halted"_s;
    case ReplayProgress::State::Cancelled:
        return u"cancelled"_s;
    case ReplayProgress::State::Finished:
        return u"finished"_s;
    case ReplayProgress::State::Interrupted:
        return u"interrupted"_s;
    }
    return {};
}

class RunsRun : public DlqRun
{
public:
    RunsRun(const Config &config, const CommandLine &line) : DlqRun(config)
    {
        connect(&m_worker, &Worker::replaysListed, this,
                [this, json = line.has(u"json"_s)](const QList<ReplayProgress> &replays) {
                    Listing listing({u"run"_s, u"state"_s, u"done"_s, u"left"_s, u"failed"_s, u"mailed"_s, u"skipped"_s,
                                     u"dead again"_s, u"started at"_s, u"by"_s},
                                    json);
                    for (const ReplayProgress &replay : replays)
                        listing.add({{u"run"_s, QString::number(replay.run)},
                                     {u"state"_s, stateName(replay.state)},
                                     {u"done"_s, replay.done},
                                     {u"left"_s, replay.left},
                                     {u"failed"_s, replay.failed},
                                     {u"mailed"_s, replay.mailed},
                                     {u"skipped"_s, replay.skipped},
                                     {u"deadAgain"_s, replay.deadAgain},
                                     {u"startedAt"_s, isoTime(replay.startedAt)},
                                     {u"by"_s, replay.by}});
                    listing.print(u"there was no replay yet"_s);
                    finish(Done);
                });
    }

private:
    void opened() override { m_worker.queryReplays(); }
};

const CommandOption YesOption{u"yes"_s, {}, {}, u"do not ask; for scripts"_s};
const CommandOption LimitOption{u"limit"_s, u"N"_s, u"50"_s, u"at most so many, newest first"_s};

template <typename Run>
int runReport(CommandLine &line, const QStringList &words)
{
    if (const auto ended = answered(line, words))
        return *ended;
    const QString needed = QString::fromLatin1(Run::Needed);
    if (line.value(needed).isEmpty()) {
        complain(u"--%1 is missing"_s.arg(needed));
        return Usage;
    }
    return runDlq<Run>(line);
}

template <typename Run>
int runList(CommandLine &line, const QStringList &words)
{
    if (const auto ended = answered(line, words))
        return *ended;
    if (const auto limit = listLimit(line); !limit) {
        complain(limit.error().text);
        return Usage;
    }
    return runDlq<Run>(line);
}

} // namespace

int runDlqImport(const QStringList &words)
{
    CommandLine line = dlqLine(u"import"_s, u"sends the letters of an export, as new messages"_s,
                               {{u"from"_s, u"FILE"_s, {}, u"JSON lines that dlq export wrote"_s},
                                {u"to-queue"_s, {}, {}, u"into the queue itself, not into its dead letter queue"_s},
                                YesOption},
                               {u"sendoncectl dlq import --from letters.jsonl"_s});
    return runReport<ImportRun>(line, words);
}

int runDlqPurge(const QStringList &words)
{
    CommandLine line =
        dlqLine(u"purge"_s, u"deletes everything in the dead letter queue, without copies; embedded services only"_s,
                {{u"name"_s, u"NAME"_s, {}, u"the dead letter queue's name, to be sure"_s}});
    return runReport<PurgeRun>(line, words);
}

int runDlqForget(const QStringList &words)
{
    CommandLine line = dlqLine(u"forget"_s, u"takes an event's claim away: it can mail again"_s,
                               {{u"event-id"_s, u"ID"_s, {}, u"the event"_s},
                                {u"reason"_s, u"TEXT"_s, {}, u"why; goes into the audit"_s},
                                YesOption});
    return runReport<ForgetRun>(line, words);
}

int runDlqPutBack(const QStringList &words)
{
    CommandLine line = dlqLine(u"put-back"_s, u"puts deleted letters into the dead letter queue again"_s,
                               {{u"id"_s, u"N"_s, {}, u"as dlq kept lists it; may be repeated"_s}});
    return runReport<PutBackRun>(line, words);
}

int runDlqKept(const QStringList &words)
{
    CommandLine line = dlqLine(u"kept"_s, u"lists the copies of deleted letters, newest first"_s, {LimitOption});
    return runList<KeptRun>(line, words);
}

int runDlqRuns(const QStringList &words)
{
    CommandLine line = dlqLine(u"runs"_s, u"lists the replays, newest first, with what became of their letters"_s, {});
    if (const auto ended = answered(line, words))
        return *ended;
    return runDlq<RunsRun>(line);
}

int runDlqAudit(const QStringList &words)
{
    CommandLine line = dlqLine(u"audit"_s, u"lists who did what, newest first"_s, {LimitOption});
    return runList<AuditRun>(line, words);
}

} // namespace sendonce
