#include "ui/letterwords.h"

#include "ui/displaytext.h"

#include <QCoreApplication>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

using State = ReplayItem::State;

struct LetterWords
{
    Q_DECLARE_TR_FUNCTIONS(LetterWords)
};

QString stateText(State state)
{
    switch (state) {
    case State::Sending:
        return LetterWords::tr("locked · on its way…");
    case State::Replayed:
        return LetterWords::tr("replayed · outcome not known yet");
    case State::CopyLeft:
        return LetterWords::tr("replayed · its dead copy is still here");
    case State::Failed:
    case State::Left:
        return LetterWords::tr("not replayed");
    case State::Mailed:
        return LetterWords::tr("mailed");
    case State::Skipped:
        return LetterWords::tr("skipped · handled before");
    case State::DeadAgain:
        return LetterWords::tr("failed again");
    case State::Deleted:
        return LetterWords::tr("deleted · a copy is kept");
    }
    return {};
}

} // namespace

QString verdictName(Verdict verdict)
{
    switch (verdict) {
    case Verdict::NotHandled:
        return LetterWords::tr("not handled");
    case Verdict::Handled:
        return LetterWords::tr("handled");
    case Verdict::InDoubt:
        return LetterWords::tr("in doubt");
    case Verdict::Unknown:
        return LetterWords::tr("unknown");
    case Verdict::Invalid:
        return LetterWords::tr("invalid");
    }
    return {};
}

Tone verdictTone(Verdict verdict)
{
    switch (verdict) {
    case Verdict::NotHandled:
        return Tone::Failed;
    case Verdict::Handled:
        return Tone::Sent;
    case Verdict::InDoubt:
        return Tone::InDoubt;
    case Verdict::Unknown:
        return Tone::Muted;
    case Verdict::Invalid:
        return Tone::Dead;
    }
    return Tone::Text;
}

QString verdictGlyph(Verdict verdict)
{
    switch (verdict) {
    case Verdict::NotHandled:
        return u"cross"_s;
    case Verdict::Handled:
        return u"check"_s;
    case Verdict::InDoubt:
    case Verdict::Unknown:
        return u"question"_s;
    case Verdict::Invalid:
        return u"exclamation"_s;
    }
    return {};
}

QString letterText(const DeadLetter &letter, const ReplayItem *item)
{
    if (item) {
        const QString word = stateText(item->state);
        const QString text = shownText(item->text);
        if (text.isEmpty() || word.startsWith(text))
            return word;
        const QString first = word.section(u' ', 0, 0);
        return text.startsWith(first, Qt::CaseInsensitive)
            ? text
            : LetterWords::tr("%1 · %2").arg(word.section(u" · "_s, 0, 0), text);
    }
    if (!letter.verdictText.isEmpty())
        return shownText(letter.verdictText);
    switch (letter.verdict) {
    case Verdict::NotHandled:
        return LetterWords::tr("not handled · a replay sends");
    case Verdict::Handled:
        return LetterWords::tr("handled · a replay is skipped");
    case Verdict::InDoubt:
        return LetterWords::tr("in doubt · perhaps mailed");
    case Verdict::Unknown:
        return LetterWords::tr("unknown · a replay may mail again");
    case Verdict::Invalid:
        return LetterWords::tr("invalid · a replay will fail again");
    }
    return {};
}

Tone letterTone(const DeadLetter &letter, const ReplayItem *item)
{
    if (!item)
        return verdictTone(letter.verdict);
    switch (item->state) {
    case State::Sending:
    case State::Replayed:
        return Tone::InFlight;
    case State::CopyLeft:
        return Tone::InDoubt;
    case State::Failed:
    case State::DeadAgain:
        return Tone::Failed;
    case State::Mailed:
        return Tone::Sent;
    case State::Skipped:
    case State::Left:
    case State::Deleted:
        return Tone::Skipped;
    }
    return Tone::Text;
}

QString letterGlyph(const DeadLetter &letter, const ReplayItem *item)
{
    if (!item)
        return letter.replayedAs.isEmpty() ? verdictGlyph(letter.verdict) : u"duplicate"_s;
    switch (item->state) {
    case State::Sending:
        return u"clock"_s;
    case State::Replayed:
        return u"replay"_s;
    case State::CopyLeft:
        return u"exclamation"_s;
    case State::Failed:
    case State::DeadAgain:
        return u"cross"_s;
    case State::Mailed:
        return u"check"_s;
    case State::Skipped:
        return u"duplicate"_s;
    case State::Left:
    case State::Deleted:
        return u"cross"_s;
    }
    return {};
}

bool isLocked(const ReplayItem &item)
{
    return item.state != State::Failed && item.state != State::Left;
}

QString reasonText(const DeadLetter &letter)
{
    return letter.reason.isEmpty() ? LetterWords::tr("no worker of ours saw it") : shownText(letter.reason);
}

} // namespace sendonce
