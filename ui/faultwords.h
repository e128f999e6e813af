#pragma once

#include "worker/faults/fault.h"

#include <QString>

#include <chrono>

/// How faults are told to people. Pure functions.
namespace sendonce {

/// The part of the work that a fault strikes.
enum class FaultPlace { Mail, Queue, Database, Worker };
FaultPlace faultPlaceOf(FaultPoint point);
QString faultPlaceTitle(FaultPlace place); ///< "Mail server"

QString faultPointTitle(FaultPoint point); ///< "After the final dot"
QString faultPointText(FaultPoint point); ///< one line: when that is
QString faultEffectTitle(FaultEffect effect); ///< "Refuse with a code"
QString faultEffectText(FaultEffect effect); ///< one line: what happens

QString faultWhereText(const FaultRule &rule); ///< "Mail server · after the final dot"
QString faultWhatText(const FaultRule &rule); ///< "refuse with 451 4.3.0 down", "answer 3 s late"
QString faultOftenText(const FaultRule &rule); ///< "next 2 of 3", "every time", "1 in 5, seed 7"
QString faultForText(const FaultRule &rule); ///< "event demo-*, recipient *@example.com"; "everyone"
/// All of it in one line. \param left of its time; negative: it has no end
QString faultLine(const FaultRule &rule, std::chrono::milliseconds left);

/// What of the rule's time is left so long after it was told; never below 0. Negative: it has no end.
std::chrono::milliseconds faultLeft(const FaultRule &rule, std::chrono::milliseconds since);
QString secondsText(std::chrono::milliseconds time); ///< "0.5 s", "12 s", "2 min 5 s"
QString countdownText(std::chrono::milliseconds left); ///< whole seconds, rounded up

/// What is armed, in the few words of the notice over the window: one simple fault in words, else how many, and when
/// all of it will be over by itself. \param since they were told. Empty when nothing is armed
QString armedWords(const FaultRules &rules, std::chrono::milliseconds since);

} // namespace sendonce
