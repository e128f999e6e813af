#pragma once

#include "worker/result.h"
#include "worker/types.h"

#include <QTemporaryFile>

namespace sendonce {

/// Bodies and all attributes of dead letters, in a file of the data folder: however big they are, memory stays flat.
/// The file has no name where the system can do that, and goes with its process, killed or not; what an old system left
/// is removed at the next start.
class LetterStore
{
public:
    struct Place
    {
        qint64 offset = -1; ///< -1: nothing is there
        qint64 size = 0;
    };

    explicit LetterStore(QString dataDir);

    /// Empties it; opens the file. Io when that cannot be written.
    Result<void> begin();
    Result<Place> put(const Message &message); ///< body, attributes, system attributes
    /// The same into `message`; Io when the disk fails.
    Result<void> fill(Message &message, const Place &place);
    Result<QByteArray> body(const Place &place);

    /// Removes files of processes that were killed, where they had names.
    static void removeLeftovers(const QString &dataDir);

private:
    Result<QByteArray> read(const Place &place);
    Error unreadable() const;

    QString m_dataDir;
    std::unique_ptr<QTemporaryFile> m_file;
    qint64 m_end = 0;
};

} // namespace sendonce
