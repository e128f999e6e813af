#pragma once

#include <QByteArray>
#include <QDateTime>
#include <QString>

#include <chrono>
#include <optional>

/// What to do when the server says that a request is too old or too new, pure.
namespace sendonce::clockskew {

/// How far the server's clock is ahead of ours (negative: behind), when `code` says or hints that a signature failed by
/// its time and the clocks indeed differ by 240 s or more from what was assumed; else nothing: the error is about
/// something else.
///
/// `date` and `age` are the reply's headers (Age comes from caches and may be empty), `now` is our clock, `assumed` the
/// offset that the failed request was signed with.
std::optional<std::chrono::seconds> correction(const QString &code, const QByteArray &date, const QByteArray &age,
                                               const QDateTime &now, std::chrono::seconds assumed);

/// "this computer's clock is 10 min 3 s behind"
QString describe(std::chrono::seconds offset);

} // namespace sendonce::clockskew
