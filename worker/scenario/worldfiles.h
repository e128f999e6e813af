#pragma once

#include "worker/operate/mailboxindex.h"
#include "worker/result.h"
#include "worker/scenario/world.h"
#include "worker/types.h"

#include <QList>
#include <QString>

#include <optional>

namespace sendonce {

/// The files of a world, read beside the wire: the database by a connection that cannot write, the Maildir by listing
/// it. Lives in one thread. Short look-ups; what somebody else locks is left alone.
class WorldFiles
{
public:
    WorldFiles() = default;
    ~WorldFiles();
    WorldFiles(const WorldFiles &) = delete;
    WorldFiles &operator=(const WorldFiles &) = delete;

    /// Makes the folder (0700) and sendonce.db with the job board's tables and demo data, where they are missing.
    static Result<void> prepare(const QString &folder);

    Result<void> open(const QString &folder); ///< behind prepare()

    /// Looks at the mailbox again; oldest first.
    const QList<MailRow> &mails();
    int claims(const std::optional<QString> &eventId) const; ///< nothing: of all events; -1: cannot be read

    /// One after the other, in one transaction. Busy while somebody else writes.
    Result<void> change(const QList<BoardStatement> &statements);

private:
    QString m_folder;
    std::optional<MailboxIndex> m_mailbox;
    QList<MailRow> m_mails;
    QString m_board; ///< connection to sendonce.db, read only
};

} // namespace sendonce
