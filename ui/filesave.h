#pragma once

#include <QByteArray>
#include <QString>

#include <functional>

class QObject;

namespace sendonce {

/// Writes a file on a thread of the pool, whole or not at all, and calls `done` in context's thread with an empty text
/// or with what failed; not at all when context is gone by then.
void saveFile(const QString &path, const QByteArray &bytes, QObject *context,
              std::function<void(const QString &error)> done);

} // namespace sendonce
