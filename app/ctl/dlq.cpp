#include "app/ctl/commands.h"
#include "app/ctl/listing.h"
#include "app/ctl/terminal.h"
#include "app/process/stopsignals.h"
#include "worker/worker.h"

#include <QCoreApplication>
#include <QTimer>

#include <csignal>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto OpenWithin = 30s;

QString verdictName(Verdict verdict)
{
    switch (verdict) {
    case Verdict::NotHandled:
        return u"not handled"_s;
    case Verdict::Handled:
        return u"handled"_s;
    case Verdict::InDoubt:
        return u"in doubt"_s;
    case Verdict::Unknown:
        return u"unknown"_s;
    case Verdict::Invalid:
        return u"invalid"_s;
    }
    return {};
}

QString stateName(ReplayItem::State state)
{
    switch (state) {
    case ReplayItem::State::Sending:
        return u"sending"_s;
    case ReplayItem::State::Replayed:
        return u"still waiting"_s;
    case ReplayItem::State::CopyLeft:
        return u"copy left"_s;
    case ReplayItem::State::Failed:
        return u"failed"_s;
    case ReplayItem::State::Mailed:
        return u"mailed"_s;
    case ReplayItem::State::Skipped:
        return u"skipped"_s;
    case ReplayItem::State::DeadAgain:
        return u"dead again"_s;
    }
    return {};
}

/// What both subcommands take.
CommandLine dlqLine(const QString &name, const QString &summary, QList<CommandOption> options,
                    const QStringList &examples)
{
    options.append({u"json"_s, {}, {}, u"JSON lines"_s});
    return CommandLine(name, summary,
                       {u"queue-url"_s, u"dlq-url"_s, u"endpoint-url"_s, u"region"_s, u"aws-profile"_s,
                        u"database-url"_s, u"data-dir"_s},
                       options, examples);
}

/// Browses the DLQ once, then hands the letters to `browsed`; it ends the run with finish().
class DlqRun : public QObject
{
public:
    explicit DlqRun(const Config &config) : m_worker(config)
    {
        connect(&m_worker, &Worker::openFailed, this, [this](const Error &error) {
            complain(error.text);
            finish(exitCodeOf(error));
        });
        connect(&m_worker, &Worker::opened, &m_worker, &Worker::browseDeadLetters);
        connect(&m_worker, &Worker::serviceChanged, this, [this](const ServiceStatus &status) {
            if (status.health != ServiceStatus::Health::Paused)
                return;
            complain(status.detail); // a worker waits for keys; whoever asked for a list does not
            finish(exitCodeOf({ErrorKind::Refused, {}, {}}));
        });
        connect(&m_worker, &Worker::opened, &m_openBound, &QTimer::stop);
        connect(&m_worker, &Worker::actFailed, this,
                [](const QString &act, const QString &text) { complain(u"%1: %2"_s.arg(act, text)); });
        connect(&m_worker, &Worker::deadLettersChanged, this, [this](const DeadLetterList &list) {
            if (!list.finished)
                return;
            if (!list.error.isEmpty()) {
                complain(list.error);
                finish(Failed);
                return;
            }
            browsed(list);
        });
        connect(&m_worker, &Worker::closed, this, [this] { QCoreApplication::exit(m_code); });
        connect(&m_signals, &StopSignals::asked, this,
                [this](int signal) { finish(signal == SIGINT ? Interrupted : Done); });
        m_openBound.setSingleShot(true);
        connect(&m_openBound, &QTimer::timeout, this, [this] {
            complain(u"the queue could not be reached for 30 s"_s);
            finish(Unreachable);
        });
        m_openBound.start(OpenWithin);
    }

    int run()
    {
        m_worker.open();
        return QCoreApplication::exec();
    }

protected:
    virtual void browsed(const DeadLetterList &list) = 0;
    void finish(int code)
    {
        m_code = code;
        m_worker.close();
    }
    Worker m_worker;

private:
    StopSignals m_signals;
    QTimer m_openBound;
    int m_code = Done;
};

class ListRun : public DlqRun
{
public:
    ListRun(const Config &config, bool json) : DlqRun(config), m_json(json) { }

private:
    void browsed(const DeadLetterList &list) override
    {
        Listing listing({u"message"_s, u"event"_s, u"type"_s, u"application"_s, u"verdict"_s, u"reason"_s,
                         u"received"_s, u"sent at"_s, u"died at"_s},
                        m_json);
        for (const DeadLetter &letter : list.letters) {
            listing.add({{u"messageId"_s, letter.message.messageId},
                         {u"eventId"_s, letter.eventId},
                         {u"type"_s, letter.eventType},
                         {u"application"_s, letter.applicationId},
                         {u"verdict"_s, m_json ? verdictName(letter.verdict) : letter.verdictText},
                         {u"reason"_s, letter.reason},
                         {u"receiveCount"_s, letter.receiveCount},
                         {u"sentAt"_s, letter.sentAt.toString(Qt::ISODateWithMs)},
                         {u"diedAt"_s, letter.diedAt.toString(Qt::ISODateWithMs)}});
        }
        listing.print(u"the dead letter queue is empty"_s);
        finish(Done);
    }

    bool m_json;
};

class ReplayRun : public DlqRun
{
public:
    ReplayRun(const Config &config, const CommandLine &line, std::chrono::milliseconds wait)
        : DlqRun(config)
        , m_line(line)
        , m_wait(wait)
        , m_listing({u"message"_s, u"event"_s, u"outcome"_s, u"text"_s}, line.has(u"json"_s))
    {
        connect(&m_worker, &Worker::replayChanged, this, &ReplayRun::changed);
    }

private:
    void browsed(const DeadLetterList &list) override
    {
        const QStringList messages = m_line.values(u"message-id"_s);
        const QStringList events = m_line.values(u"event-id"_s);
        QStringList chosen;
        for (const DeadLetter &letter : list.letters) {
            if (m_line.has(u"all"_s) || messages.contains(letter.message.messageId) || events.contains(letter.eventId))
                chosen.append(letter.message.messageId);
        }
        if (chosen.isEmpty()) {
            const bool nothingAsked = m_line.has(u"all"_s);
            if (nothingAsked)
                say(u"the dead letter queue is empty"_s);
            else
                complain(u"none of the %1 dead letters matches"_s.arg(list.letters.size()));
            finish(nothingAsked ? Done : Failed);
            return;
        }
        for (const QString &messageId : std::as_const(chosen))
            m_items.insert(messageId, {});
        m_worker.replay(chosen);
    }

    void changed(const ReplayItem &item)
    {
        m_items.insert(item.messageId, item);
        using State = ReplayItem::State;
        const auto open = [](const ReplayItem &each) { return each.state == State::Sending; };
        const auto waiting = [](const ReplayItem &each) {
            return each.state == State::Replayed || each.state == State::CopyLeft;
        };
        if (std::any_of(m_items.cbegin(), m_items.cend(), open))
            return;
        if (!std::any_of(m_items.cbegin(), m_items.cend(), waiting) || m_wait == 0ms) {
            tellAndFinish();
        } else if (!m_waiting) {
            m_waiting = true;
            QTimer::singleShot(m_wait, this, [this] { tellAndFinish(); });
        }
    }

    void tellAndFinish()
    {
        if (m_told)
            return;
        m_told = true;
        bool failed = false;
        for (const ReplayItem &item : std::as_const(m_items)) {
            failed = failed || item.state == ReplayItem::State::Failed || item.state == ReplayItem::State::DeadAgain;
            m_listing.add({{u"messageId"_s, item.messageId},
                           {u"eventId"_s, item.eventId},
                           {u"outcome"_s, stateName(item.state)},
                           {u"text"_s, item.text}});
        }
        m_listing.print({});
        finish(failed ? Failed : Done);
    }

    const CommandLine &m_line;
    std::chrono::milliseconds m_wait;
    Listing m_listing;
    QMap<QString, ReplayItem> m_items;
    bool m_waiting = false;
    bool m_told = false;
};

} // namespace

int runDlqList(const QStringList &words)
{
    CommandLine line = dlqLine(u"sendoncectl dlq list"_s,
                               u"looks through the dead letters; each look counts as a receive of theirs"_s, {}, {});
    if (const auto ended = answered(line, words))
        return *ended;
    const auto prepared = prepare(line);
    if (!prepared) {
        complain(prepared.error().text);
        return exitCodeOf(prepared.error());
    }
    ListRun run(prepared->config, line.has(u"json"_s));
    return run.run();
}

int runDlqReplay(const QStringList &words)
{
    CommandLine line =
        dlqLine(u"sendoncectl dlq replay"_s, u"sends dead letters to the queue again, then deletes them"_s,
                {{u"all"_s, {}, {}, u"every dead letter"_s},
                 {u"message-id"_s, u"ID"_s, {}, u"this one; may be repeated"_s},
                 {u"event-id"_s, u"ID"_s, {}, u"those of this event; may be repeated"_s},
                 {u"wait"_s, u"TIME"_s, u"0"_s, u"look for the outcome of each for so long"_s}},
                {u"sendoncectl dlq replay --all --wait 30s"_s});
    if (const auto ended = answered(line, words))
        return *ended;
    if (!line.has(u"all"_s) && !line.has(u"message-id"_s) && !line.has(u"event-id"_s)) {
        complain(u"say which: --all, --message-id ID or --event-id ID"_s);
        return Usage;
    }
    const auto wait = parseDuration(line.value(u"wait"_s, u"0"_s));
    if (!wait) {
        complain(u"--wait is “%1”; accepted: a time such as 10, 10s or 500ms"_s.arg(line.value(u"wait"_s)));
        return Usage;
    }
    const auto prepared = prepare(line);
    if (!prepared) {
        complain(prepared.error().text);
        return exitCodeOf(prepared.error());
    }
    ReplayRun run(prepared->config, line, *wait);
    return run.run();
}

} // namespace sendonce
