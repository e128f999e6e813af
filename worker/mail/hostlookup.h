#pragma once

#include "worker/result.h"

#include <QHostAddress>
#include <QList>
#include <QString>

#include <chrono>
#include <functional>

namespace sendonce {

/// The addresses of a host, blocking, but never longer than `goOn` allows: it is asked every `slice` and ends the wait
/// by false (Aborted). The system's resolver cannot be interrupted, so it runs on another thread and is left to itself
/// then. An address literal needs no look-up.
Result<QList<QHostAddress>> lookUpHost(const QString &host, std::chrono::milliseconds slice,
                                       const std::function<bool()> &goOn);

/// A loopback address, or localhost and what lies below it (RFC 6761, 6.3): by its name alone this computer.
bool namesThisComputer(const QString &host);

} // namespace sendonce
