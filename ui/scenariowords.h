#pragma once

#include "ui/theme.h"
#include "worker/scenario/scenariotypes.h"

#include <QString>

/// How runs of scenarios are told to people. Pure functions.
namespace sendonce {

/// A state as every table and heading shows it: never by colour alone.
struct StateLook
{
    QString word;
    QString glyph; ///< name of an icon
    Tone tone = Tone::Muted;
};
StateLook lookOf(const ScenarioRun &run); ///< while it goes on "step 3 of 7"
StateLook lookOf(ScenarioLine::State state);

QString durationText(qint64 msec); ///< "340 ms", "3.4 s", "2 min 5 s"; empty when not known (negative)

} // namespace sendonce
