#pragma once

#include "worker/faults/fault.h"

#include <QList>
#include <QString>

namespace sendonce {

/// A fault that is armed by one click.
struct FaultPreset
{
    QString name; ///< never shown: of the button, for tests
    QString title; ///< "Next mail refused"
    QString text; ///< one line: what there is to see
    FaultRule rule;
};

/// In the order of the parts they strike: mail server, queue, database, worker.
QList<FaultPreset> faultPresets();

} // namespace sendonce
