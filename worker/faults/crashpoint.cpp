#include "worker/faults/crashpoint.h"

#include <array>
#include <utility>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr std::array<std::pair<Stage, QLatin1StringView>, 7> Names = {{
    {Stage::Received, "received"_L1},
    {Stage::Claimed, "claimed"_L1},
    {Stage::LookedUp, "looked-up"_L1},
    {Stage::HandedOver, "handed-over"_L1},
    {Stage::Accepted, "accepted"_L1},
    {Stage::Committed, "committed"_L1},
    {Stage::Deleted, "deleted"_L1},
}};

} // namespace

std::optional<Stage> crashStage(const QString &name)
{
    for (const auto &[stage, known] : Names) {
        if (name == known)
            return stage;
    }
    return std::nullopt;
}

QString crashName(Stage stage)
{
    for (const auto &[known, name] : Names) {
        if (stage == known)
            return name;
    }
    return {};
}

QStringList crashNames()
{
    QStringList names;
    for (const auto &[stage, name] : Names)
        names.append(name);
    return names;
}

} // namespace sendonce
