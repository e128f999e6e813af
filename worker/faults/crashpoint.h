#pragma once

#include "worker/types.h"

#include <QString>
#include <QStringList>

#include <optional>

namespace sendonce {

/// The named point of a delivery at which this process is to die (`--crash-at`), if any. Always compiled in: the
/// delivery that is killed in a test is the one that runs in production.
class CrashPoints
{
public:
    explicit CrashPoints(std::optional<Stage> armed = std::nullopt) : m_armed(armed) { }

    /// Called where `stage` has just been done. Kills the process as kill -9 does, if that stage is armed: nothing is
    /// flushed, closed or rolled back. From any thread.
    void reached(Stage stage) const;

private:
    std::optional<Stage> m_armed;
};

/// The stage of a name as `--crash-at` takes it; nothing for other text.
std::optional<Stage> crashStage(const QString &name);
/// "looked-up"; empty for Validated, which is no crash point.
QString crashName(Stage stage);
/// All names in the order of a delivery: received, claimed, looked-up, handed-over, accepted, committed, deleted.
QStringList crashNames();

} // namespace sendonce
