#include "ui/runwords.h"

#include "ui/displaytext.h"

#include <QCoreApplication>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(RunWords)
};

using RunState = ReplayProgress::State;
using ItemState = ReplayItem::State;

QString joined(const QList<std::pair<qint64, QString>> &parts)
{
    QStringList texts;
    for (const auto &[count, words] : parts) {
        if (count > 0)
            texts += words.arg(countText(count));
    }
    return texts.join(u" · "_s);
}

} // namespace

QString runName(const ReplayProgress &run)
{
    const QString count = countText(run.total);
    if (run.act == "delete"_L1)
        return Words::tr("Deletion of %1").arg(count);
    if (run.act == "edit"_L1)
        return Words::tr("Edited letter");
    return Words::tr("Replay of %1").arg(count);
}

QString runStateWords(const ReplayProgress &run)
{
    switch (run.state) {
    case RunState::Running:
        return Words::tr("running");
    case RunState::AwaitingCanary:
        return Words::tr("waiting for the canary's outcome");
    case RunState::Paused:
        return Words::tr("paused");
    case RunState::Halted:
        return run.text.isEmpty() ? Words::tr("halted") : Words::tr("halted: %1").arg(shownText(run.text));
    case RunState::Cancelled:
        return Words::tr("cancelled");
    case RunState::Finished:
        return run.waiting > 0 ? Words::tr("sent; outcomes are awaited") : Words::tr("finished");
    case RunState::Interrupted:
        return Words::tr("interrupted: its process ended before it did");
    }
    return {};
}

QString runCountWords(const ReplayProgress &run)
{
    return Words::tr("%1 done · %2 left · %3 failed")
        .arg(countText(run.done), countText(run.left), countText(run.failed));
}

QString runOutcomeWords(const ReplayProgress &run)
{
    return joined({{run.mailed, Words::tr("%1 mailed")},
                   {run.skipped, Words::tr("%1 skipped")},
                   {run.deadAgain, Words::tr("%1 dead again")},
                   {run.waiting, Words::tr("%1 still waiting")}});
}

Tone runTone(const ReplayProgress &run)
{
    switch (run.state) {
    case RunState::Running:
    case RunState::AwaitingCanary:
        return Tone::InFlight;
    case RunState::Paused:
    case RunState::Interrupted:
        return Tone::InDoubt;
    case RunState::Halted:
        return Tone::Failed;
    case RunState::Cancelled:
        return Tone::Skipped;
    case RunState::Finished:
        return run.failed + run.deadAgain > 0 ? Tone::Failed : run.waiting > 0 ? Tone::InFlight : Tone::Sent;
    }
    return Tone::Text;
}

bool canPause(const ReplayProgress &run)
{
    return run.state == RunState::Running || run.state == RunState::AwaitingCanary;
}

bool canResume(const ReplayProgress &run)
{
    return run.state == RunState::Paused || run.state == RunState::Halted || run.state == RunState::Interrupted;
}

bool canCancel(const ReplayProgress &run)
{
    return !run.isOver();
}

QString itemStateWords(ItemState state)
{
    switch (state) {
    case ItemState::Sending:
        return Words::tr("not sent yet");
    case ItemState::Replayed:
        return Words::tr("still waiting");
    case ItemState::CopyLeft:
        return Words::tr("sent, copy left");
    case ItemState::Failed:
        return Words::tr("failed");
    case ItemState::Mailed:
        return Words::tr("mailed");
    case ItemState::Skipped:
        return Words::tr("skipped");
    case ItemState::DeadAgain:
        return Words::tr("dead again");
    case ItemState::Left:
        return Words::tr("left alone");
    case ItemState::Deleted:
        return Words::tr("deleted");
    }
    return {};
}

QString itemGlyph(ItemState state)
{
    switch (state) {
    case ItemState::Sending:
    case ItemState::Replayed:
        return u"clock"_s;
    case ItemState::CopyLeft:
        return u"exclamation"_s;
    case ItemState::Failed:
        return u"cross"_s;
    case ItemState::Mailed:
    case ItemState::Deleted:
        return u"check"_s;
    case ItemState::Skipped:
    case ItemState::Left:
        return u"dash"_s;
    case ItemState::DeadAgain:
        return u"deadletter"_s;
    }
    return {};
}

Tone itemTone(ItemState state)
{
    switch (state) {
    case ItemState::Sending:
    case ItemState::Replayed:
        return Tone::InFlight;
    case ItemState::CopyLeft:
        return Tone::InDoubt;
    case ItemState::Failed:
        return Tone::Failed;
    case ItemState::Mailed:
        return Tone::Sent;
    case ItemState::Skipped:
    case ItemState::Left:
    case ItemState::Deleted:
        return Tone::Skipped;
    case ItemState::DeadAgain:
        return Tone::Dead;
    }
    return Tone::Text;
}

} // namespace sendonce
