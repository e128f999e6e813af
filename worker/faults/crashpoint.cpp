#include "worker/faults/crashpoint.h"

#include <QtGlobal>

#include <array>
#include <cstdlib>
#include <utility>

#ifdef Q_OS_WIN
#include <windows.h>
#else
#include <csignal>
#include <unistd.h>
#endif

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

[[noreturn]] void die()
{
#ifdef Q_OS_WIN
    TerminateProcess(GetCurrentProcess(), 137);
#else
    ::kill(::getpid(), SIGKILL);
#endif
    std::abort(); // not reached; the compiler does not know
}

} // namespace

void CrashPoints::reached(Stage stage) const
{
    if (m_armed == stage)
        die();
}

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
