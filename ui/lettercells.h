#pragma once

#include "worker/types.h"

#include <QVariant>

namespace sendonce {

/// The columns of the table of dead letters.
struct LetterColumns
{
    enum Column {
        Glyph,
        Event,
        Type,
        Application,
        Verdict,
        Reason,
        Received,
        Died,
        FirstFailed,
        Back,
        Age,
        Left,
        ColumnCount
    };
};

/// What a cell shows, by the roles of celldelegate.h. Pure. \param item what became of it, for Glyph and Verdict; null:
/// nothing was done \param now for the ages
QVariant letterCell(const DeadLetter &letter, const ReplayItem *item, LetterColumns::Column column, int role,
                    const QDateTime &now);
QString letterHeading(LetterColumns::Column column);

/// Whether `a` stands before `b` when they are sorted by a column, upwards. A strict weak order, pure.
bool letterBefore(const DeadLetter &a, const DeadLetter &b, LetterColumns::Column column);

} // namespace sendonce
