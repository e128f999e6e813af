#pragma once

#include "ui/theme.h"
#include "worker/types.h"

/// How replays and what became of their letters are told. Pure functions.
namespace sendonce {

QString runName(const ReplayProgress &run); ///< "Replay of 49", "Deletion of 3"
QString runStateWords(const ReplayProgress &run); ///< "running", "halted: …"
QString runCountWords(const ReplayProgress &run); ///< "12 done · 36 left · 1 failed"
QString runOutcomeWords(const ReplayProgress &run); ///< "10 mailed · 1 skipped · 1 waiting"; empty: nothing to tell
Tone runTone(const ReplayProgress &run);

bool canPause(const ReplayProgress &run);
bool canResume(const ReplayProgress &run);
bool canCancel(const ReplayProgress &run);

QString itemStateWords(ReplayItem::State state); ///< "mailed", "dead again" …
QString itemGlyph(ReplayItem::State state);
Tone itemTone(ReplayItem::State state);

} // namespace sendonce
