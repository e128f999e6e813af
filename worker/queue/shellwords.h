#pragma once

#include <QString>
#include <QStringList>

#include <optional>

namespace sendonce {

/// The words of a command line as a POSIX shell has them (XCU, 2.2): '…' as it is, "…" with \ before $ ` " \, elsewhere
/// \ before any character. Nothing is expanded and nothing is a comment. Nothing comes back for a quote without its
/// end or a \ at the end.
std::optional<QStringList> splitShellWords(const QString &line);

} // namespace sendonce
