#pragma once

#include "ui/theme.h"
#include "worker/types.h"

#include <QString>

/// How a dead letter is said and marked: its verdict, and once it was acted on what became of it. Pure functions.
namespace sendonce {

QString verdictName(Verdict verdict); ///< "not handled"
Tone verdictTone(Verdict verdict);
QString verdictGlyph(Verdict verdict); ///< name of an icon

/// What a replay would do, or what was done. \param item what became of it; null: nothing was done
QString letterText(const DeadLetter &letter, const ReplayItem *item);
Tone letterTone(const DeadLetter &letter, const ReplayItem *item);
QString letterGlyph(const DeadLetter &letter, const ReplayItem *item);
/// On its way, or gone from the queue already: no act of ours may touch it.
bool isLocked(const ReplayItem &item);

/// "no worker of ours saw it", in words for people, when the journal has nothing.
QString reasonText(const DeadLetter &letter);

} // namespace sendonce
