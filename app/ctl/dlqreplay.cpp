#include "app/ctl/commands.h"
#include "app/ctl/dlqrun.h"
#include "app/ctl/listing.h"

#include <QElapsedTimer>
#include <QSet>

#include <algorithm>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

using State = ReplayItem::State;

QString stateName(State state)
{
    switch (state) {
    case State::Sending:
    case State::Left:
        return u"not replayed"_s;
    case State::Replayed:
        return u"still waiting"_s;
    case State::CopyLeft:
        return u"copy left"_s;
    case State::Failed:
        return u"failed"_s;
    case State::Mailed:
        return u"mailed"_s;
    case State::Skipped:
        return u"skipped"_s;
    case State::DeadAgain:
        return u"dead again"_s;
    case State::Deleted:
        return u"deleted"_s;
    }
    return {};
}

bool hasOutcome(State state)
{
    return state == State::Mailed || state == State::Skipped || state == State::DeadAgain || state == State::Failed
        || state == State::Deleted;
}

bool isBad(State state)
{
    return state == State::Failed || state == State::DeadAgain || state == State::Sending || state == State::Left
        || state == State::CopyLeft;
}

/// Replays or deletes what is chosen, or goes on with a replay that died; tells each letter's outcome once.
class ActRun : public BrowseRun
{
public:
    enum class Act { Replay, Delete };
    ActRun(const Config &config, const CommandLine &line, Act act)
        : BrowseRun(config, line)
        , m_act(act)
        , m_wait(parseDuration(line.value(u"wait"_s, u"0"_s)).value_or(0ms))
        , m_listing({u"message"_s, u"event"_s, u"outcome"_s, u"text"_s}, line.has(u"json"_s))
    {
        connect(&m_worker, &Worker::replayChanged, this, &ActRun::changed);
        connect(&m_worker, &Worker::replayProgressed, this, &ActRun::progressed);
        m_waiting.setSingleShot(true);
        connect(&m_waiting, &QTimer::timeout, this, [this] { finish(Done); });
    }

private:
    void opened() override
    {
        if (!m_line.has(u"resume"_s)) {
            BrowseRun::opened();
            return;
        }
        m_asked = true;
        m_worker.resumeReplay(m_line.value(u"run"_s, u"0"_s).toLongLong());
    }

    void browsed(const DeadLetterList &list) override
    {
        const QList<DeadLetter> chosen = chosenOf(list.letters, m_line);
        if (chosen.isEmpty()) {
            const bool nothingThere = m_line.has(u"all"_s) && list.letters.isEmpty();
            if (nothingThere)
                say(u"the dead letter queue is empty"_s);
            else
                complain(u"none of the %1 dead letters matches"_s.arg(list.letters.size()));
            finish(nothingThere ? Done : Failed);
            return;
        }
        ReplayOrder order;
        ReplayForecast forecast;
        for (const DeadLetter &letter : chosen) {
            order.messageIds.append(letter.message.messageId);
            forecast.add(letter);
        }
        const QString letters = chosen.size() == 1 ? u"1 dead letter"_s : u"%1 dead letters"_s.arg(chosen.size());
        const QString what = m_act == Act::Delete ? u"delete %1, a copy of each is kept."_s.arg(letters)
                                                  : u"replay %1: %2."_s.arg(letters, forecastText(forecast));
        if (m_line.has(u"dry-run"_s)) {
            for (const DeadLetter &letter : chosen)
                m_listing.add({{u"messageId"_s, letter.message.messageId},
                               {u"eventId"_s, letter.eventId},
                               {u"outcome"_s, u"not replayed"_s},
                               {u"text"_s, letter.verdictText}});
            m_listing.print({});
            complain(u"dry run, would "_s + what);
            finish(Done);
            return;
        }
        if (!confirmed(m_config, m_line, u"This will "_s + what)) {
            finish(Usage);
            return;
        }
        complain(u"going to "_s + what);
        for (const DeadLetter &letter : chosen) {
            m_order.append(letter.message.messageId);
            m_items.insert(letter.message.messageId, {letter.message.messageId, letter.eventId, State::Sending, {}, 0});
        }
        m_asked = true;
        if (m_act == Act::Delete) {
            m_worker.deleteDeadLetters(order.messageIds);
            return;
        }
        order.canary = m_line.has(u"canary"_s);
        order.stopAfter = m_line.value(u"stop-after"_s, u"0"_s).toInt();
        order.perSecond = m_line.value(u"rate"_s, u"0"_s).toDouble();
        order.overrideReason = m_line.value(u"override"_s);
        m_worker.replay(order);
    }

    void failed(const QString &act, const QString &text) override
    {
        if (!m_asked) {
            BrowseRun::failed(act, text);
            return;
        }
        complain(u"%1: %2"_s.arg(act, text));
        if (m_run == 0 || act == "resume"_L1) // it was refused; what a run meets on its way is in its outcomes
            finish(Failed);
    }

    void interrupted(int code) override
    {
        if (m_run == 0) {
            BrowseRun::interrupted(code);
            return;
        }
        m_stopCode = code; // what is under way is settled; --resume goes on with it
        complain(u"stopping; go on with: sendoncectl dlq replay --resume --run %1"_s.arg(m_run));
        m_worker.pauseReplay(m_run);
    }

    void changed(const QList<ReplayItem> &items)
    {
        for (const ReplayItem &item : items) {
            if (!m_items.contains(item.messageId))
                m_order.append(item.messageId);
            ReplayItem &known = m_items[item.messageId];
            known = item;
            if (hasOutcome(item.state))
                tell(known);
        }
        finishWhenDone();
    }

    void progressed(const ReplayProgress &progress)
    {
        if (m_run == 0) {
            m_run = progress.run;
            complain(u"run %1: %2 letters, %3 of them done"_s.arg(
                QString::number(m_run), QString::number(progress.total), QString::number(progress.done)));
            m_progress = progress;
        }
        if (progress.done != m_progress.done && (!m_said.isValid() || m_said.hasExpired(1000))) {
            m_said.start();
            complain(u"run %1: %2 done, %3 left, %4 failed"_s.arg(
                QString::number(m_run), QString::number(progress.done), QString::number(progress.left),
                QString::number(progress.failed)));
        }
        m_progress = progress;
        if (progress.state == ReplayProgress::State::Halted) {
            if (std::exchange(m_haltTold, true))
                return;
            complain(u"halted: %1; go on with: sendoncectl dlq replay --resume --run %2"_s.arg(progress.text,
                                                                                               QString::number(m_run)));
            finish(Done); // the batches that are out, and the unlocks, are answered first
            return;
        }
        if (progress.state == ReplayProgress::State::Paused && m_stopCode >= 0) {
            finish(Done);
            return;
        }
        finishWhenDone();
    }

    void finishWhenDone()
    {
        const bool refused = m_run == 0; // each letter was told on its own, and no run began
        if (!refused && !m_progress.isOver())
            return;
        bool waiting = false;
        for (const ReplayItem &item : std::as_const(m_items)) {
            if (item.state == State::Sending)
                return; // its last news is on the way
            waiting = waiting || item.state == State::Replayed || item.state == State::CopyLeft;
        }
        if (!waiting || m_wait == 0ms)
            finish(Done);
        else if (!m_waiting.isActive())
            m_waiting.start(m_wait);
    }

    void tell(const ReplayItem &item)
    {
        if (m_told.contains(item.messageId))
            return;
        m_told.insert(item.messageId);
        m_bad = m_bad || isBad(item.state);
        m_listing.add({{u"messageId"_s, item.messageId},
                       {u"eventId"_s, item.eventId},
                       {u"outcome"_s, stateName(item.state)},
                       {u"text"_s, item.text}});
    }

    int closed(int code) override
    {
        if (!m_asked || code != Done)
            return code; // nothing was begun
        for (const QString &messageId : std::as_const(m_order))
            tell(m_items.value(messageId));
        m_listing.print({});
        return m_stopCode >= 0 ? m_stopCode : m_bad ? Failed : Done;
    }

    const Act m_act;
    const std::chrono::milliseconds m_wait;
    Listing m_listing;
    QTimer m_waiting;
    QStringList m_order;
    QHash<QString, ReplayItem> m_items;
    QSet<QString> m_told;
    ReplayProgress m_progress;
    QElapsedTimer m_said; ///< since the last line about it
    qint64 m_run = 0;
    int m_stopCode = -1;
    bool m_asked = false, m_bad = false, m_haltTold = false;
};

class ReplayRun : public ActRun
{
public:
    ReplayRun(const Config &config, const CommandLine &line) : ActRun(config, line, Act::Replay) { }
};

class DeleteRun : public ActRun
{
public:
    DeleteRun(const Config &config, const CommandLine &line) : ActRun(config, line, Act::Delete) { }
};

/// Empty, or what is wrong with an option.
QString unusable(const CommandLine &line)
{
    if (!parseDuration(line.value(u"wait"_s, u"0"_s)))
        return u"--wait is “%1”; accepted: a time such as 10, 10s or 500ms"_s.arg(line.value(u"wait"_s));
    bool ok = false;
    const double rate = line.value(u"rate"_s, u"1"_s).toDouble(&ok);
    if (!ok || rate < 0.01 || rate > 100'000)
        return u"--rate is “%1”; accepted: messages a second, such as 50"_s.arg(line.value(u"rate"_s));
    const int failures = line.value(u"stop-after"_s, u"1"_s).toInt(&ok);
    if (!ok || failures < 1)
        return u"--stop-after is “%1”; accepted: a number from 1"_s.arg(line.value(u"stop-after"_s));
    const qint64 run = line.value(u"run"_s, u"1"_s).toLongLong(&ok);
    if (!ok || run < 1)
        return u"--run is “%1”; accepted: a number that sendoncectl dlq runs lists"_s.arg(line.value(u"run"_s));
    return {};
}

} // namespace

int runDlqReplay(const QStringList &words)
{
    CommandLine line = dlqLine(
        u"replay"_s, u"sends dead letters to the queue again, then deletes them"_s,
        selectionOptions()
            + QList<CommandOption>{{u"dry-run"_s, {}, {}, u"say what each would do, and do nothing"_s},
                                   {u"canary"_s,
                                    {},
                                    {},
                                    u"one first; the others only when its outcome is the expected one"_s},
                                   {u"stop-after"_s, u"N"_s, {}, u"halt after so many failures"_s},
                                   {u"rate"_s, u"N"_s, {}, u"at most so many messages a second"_s},
                                   {u"wait"_s, u"TIME"_s, u"0"_s, u"look for the outcome of each for so long"_s},
                                   {u"override"_s,
                                    u"REASON"_s,
                                    {},
                                    u"also those whose claims may have been cleaned up; audited"_s},
                                   {u"resume"_s, {}, {}, u"go on with the newest replay whose process died"_s},
                                   {u"run"_s, u"N"_s, {}, u"with --resume: this replay"_s}},
        {u"sendoncectl dlq replay --all --canary --wait 30s"_s, u"sendoncectl dlq replay --reason 451 --rate 50"_s,
         u"sendoncectl dlq replay --resume"_s});
    if (const auto ended = answered(line, words))
        return *ended;
    if (!namesSelection(line) && !line.has(u"resume"_s)) {
        complain(u"say which: --all, --message-id ID, --event-id ID, --reason TEXT or --verdict NAME; or --resume"_s);
        return Usage;
    }
    if (const QString problem = unusable(line); !problem.isEmpty()) {
        complain(problem);
        return Usage;
    }
    return runDlq<ReplayRun>(line);
}

int runDlqDelete(const QStringList &words)
{
    CommandLine line = dlqLine(u"delete"_s, u"deletes dead letters; a copy of each is kept and can be put back"_s,
                               selectionOptions(), {u"sendoncectl dlq delete --verdict handled"_s});
    if (const auto ended = answered(line, words))
        return *ended;
    if (!namesSelection(line)) {
        complain(u"say which: --all, --message-id ID, --event-id ID, --reason TEXT or --verdict NAME"_s);
        return Usage;
    }
    return runDlq<DeleteRun>(line);
}

} // namespace sendonce
