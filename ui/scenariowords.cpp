#include "ui/scenariowords.h"

#include "ui/displaytext.h"

#include <QCoreApplication>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(ScenarioWords)
};

using LineState = ScenarioLine::State;

QString progressWords(const ScenarioRun &run)
{
    const auto at = std::find_if(run.steps.cbegin(), run.steps.cend(), [](const ScenarioLine &line) {
        return line.state == LineState::Running || line.state == LineState::Waiting;
    });
    if (at == run.steps.cend())
        return Words::tr("looking what came of it");
    return Words::tr("step %1 of %2").arg(countText(at - run.steps.cbegin() + 1), countText(run.steps.size()));
}

} // namespace

StateLook lookOf(const ScenarioRun &run)
{
    switch (run.state) {
    case ScenarioRun::State::Running:
        return {progressWords(run), u"play"_s, Tone::InFlight};
    case ScenarioRun::State::Passed:
        return {Words::tr("passed"), u"check"_s, Tone::Sent};
    case ScenarioRun::State::Failed:
        return {!run.error.isEmpty()        ? Words::tr("not run to its end")
                    : run.isGuaranteeBroken ? Words::tr("guarantee broken")
                                            : Words::tr("failed"),
                u"cross"_s, Tone::Failed};
    case ScenarioRun::State::Stopped:
        return {Words::tr("stopped"), u"stop"_s, Tone::Muted};
    }
    return {};
}

StateLook lookOf(ScenarioLine::State state)
{
    switch (state) {
    case LineState::Waiting:
        return {Words::tr("not yet"), u"dash"_s, Tone::Muted};
    case LineState::Running:
        return {Words::tr("now"), u"play"_s, Tone::InFlight};
    case LineState::Done:
        return {Words::tr("done"), u"check"_s, Tone::Sent};
    case LineState::Failed:
        return {Words::tr("not so"), u"cross"_s, Tone::Failed};
    }
    return {};
}

QString durationText(qint64 msec)
{
    if (msec < 0)
        return {};
    if (msec < 1000)
        return Words::tr("%1 ms").arg(msec);
    if (msec < 60'000)
        return Words::tr("%1 s").arg(double(msec) / 1000, 0, 'f', 1);
    return Words::tr("%1 min %2 s").arg(msec / 60'000).arg(msec / 1000 % 60);
}

} // namespace sendonce
