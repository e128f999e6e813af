#include "app/ctl/commands.h"
#include "app/ctl/dlqrun.h"

namespace sendonce {

using namespace Qt::StringLiterals;
using State = MoveTaskProgress::State;

namespace {

QString stateName(State state)
{
    switch (state) {
    case State::None:
        return u"none"_s;
    case State::Starting:
        return u"starting"_s;
    case State::Running:
        return u"running"_s;
    case State::Cancelling:
        return u"cancelling"_s;
    case State::Completed:
        return u"completed"_s;
    case State::Cancelled:
        return u"cancelled"_s;
    case State::Failed:
        return u"failed"_s;
    case State::Unknown:
        break;
    }
    return u"unknown"_s;
}

/// Starts, follows or cancels the endpoint's own move task.
class MoveRun : public DlqRun
{
public:
    MoveRun(const Config &config, const CommandLine &line, int perSecond)
        : DlqRun(config)
        , m_line(line)
        , m_perSecond(perSecond)
    {
        connect(&m_worker, &Worker::queuesKnown, this, [this](const QueueNames &names) {
            if (names.deadLetters.isEmpty()) {
                complain(u"queue %1 has no dead letter queue"_s.arg(names.queue));
                finish(Failed);
            }
        });
        connect(&m_worker, &Worker::moveTasksProbed, this, &MoveRun::probed);
        connect(&m_worker, &Worker::moveTaskChanged, this, &MoveRun::changed);
    }

private:
    void opened() override { } // probed() follows
    void probed(const MoveTaskSupport &support)
    {
        if (m_isAsked)
            return;
        m_isAsked = true;
        if (support.answer != MoveTaskSupport::Answer::Yes) {
            complain(u"no message move tasks here: %1; use dlq replay --all"_s.arg(support.reason));
            finish(Failed);
        } else if (m_line.has(u"status"_s) || m_line.has(u"cancel"_s)) {
            m_worker.queryMoveTask();
        } else if (confirmed(m_config, m_line,
                             u"The queue itself will move all dead letters back, handled ones too; no verdicts, no "
                             "outcome of each, no canary."_s)) {
            m_worker.startMoveTask(m_perSecond);
        } else {
            finish(Usage);
        }
    }

    void changed(const MoveTaskProgress &progress)
    {
        if (progress != m_told)
            tell(progress);
        m_told = progress;
        if (m_line.has(u"cancel"_s) && !std::exchange(m_isCancelAsked, true)) {
            m_worker.cancelMoveTask();
            return;
        }
        if (m_line.has(u"status"_s) && !m_line.has(u"cancel"_s)) {
            finish(progress.state == State::Unknown ? Failed : Done);
            return;
        }
        if (progress.isUnderWay())
            return;
        const bool good = progress.state == State::Completed || (progress.state == State::Cancelled && m_isCancelAsked);
        finish(good ? Done : Failed);
    }

    void tell(const MoveTaskProgress &progress)
    {
        if (m_line.has(u"json"_s)) {
            sayJson({{u"state"_s, stateName(progress.state)},
                     {u"moved"_s, progress.moved},
                     {u"toMove"_s, progress.toMove},
                     {u"perSecond"_s, progress.perSecond},
                     {u"text"_s, progress.text}});
            return;
        }
        if (!progress.text.isEmpty())
            complain(progress.text);
        say(u"%1: about %2%3 moved"_s.arg(stateName(progress.state), QString::number(progress.moved),
                                          progress.toMove >= 0 ? u" of %1"_s.arg(progress.toMove) : QString()));
    }

    const CommandLine &m_line;
    const int m_perSecond;
    MoveTaskProgress m_told;
    bool m_isAsked = false;
    bool m_isCancelAsked = false;
};

} // namespace

int runDlqMove(const QStringList &words)
{
    CommandLine line =
        dlqLine(u"move"_s, u"lets the queue itself move all dead letters back (a message move task), and follows it"_s,
                {{u"rate"_s, u"N"_s, u"as the service sees fit"_s, u"at most so many messages a second, 1 to 500"_s},
                 {u"status"_s, {}, {}, u"only says how the newest task is doing"_s},
                 {u"cancel"_s, {}, {}, u"cancels the one under way; what was moved stays moved"_s},
                 {u"yes"_s, {}, {}, u"do not ask; for scripts"_s}},
                {u"sendoncectl dlq move --rate 50"_s});
    if (const auto ended = answered(line, words))
        return *ended;
    int perSecond = 0;
    if (line.has(u"rate"_s)) {
        bool isNumber = false;
        perSecond = line.value(u"rate"_s).toInt(&isNumber);
        if (!isNumber || perSecond < 1 || perSecond > 500) {
            complain(u"--rate is %1; 1 to 500 are accepted"_s.arg(line.value(u"rate"_s)));
            return Usage;
        }
    }
    const auto prepared = prepare(line);
    if (!prepared) {
        complain(prepared.error().text);
        return exitCodeOf(prepared.error());
    }
    MoveRun run(prepared->config, line, perSecond);
    return run.run();
}

} // namespace sendonce
