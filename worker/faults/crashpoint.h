#pragma once

#include "worker/types.h"

#include <QString>
#include <QStringList>

#include <optional>

namespace sendonce {

/// The stage of a name as `--crash-at` takes it; nothing for other text.
std::optional<Stage> crashStage(const QString &name);
/// "looked-up"; empty for Validated, which is no crash point.
QString crashName(Stage stage);
/// All names in the order of a delivery: received, claimed, looked-up, handed-over, accepted, committed, deleted.
QStringList crashNames();

} // namespace sendonce
