#pragma once

#include "worker/types.h"

#include <QByteArray>
#include <QHash>
#include <QList>
#include <QSet>
#include <QString>

namespace sendonce {

/// What lies in the embedded mailbox (`<dataDir>/mailbox/new`, a Maildir), for the mailbox panel and `sendoncectl
/// mail`. Reads files, so it belongs to the operator thread. Only the headers of new files are read; a mail never
/// changes.
class MailboxIndex
{
public:
    explicit MailboxIndex(const QString &dataDir);

    QString folder() const { return m_folder; }
    /// Looks at the folder again; true when something came or went.
    bool refresh();
    /// Newest first. \param search in recipient, subject, event id; empty: all
    MailboxSnapshot snapshot(const QString &search, int limit) const;
    QList<MailRow> about(const QString &eventId) const; ///< newest first, all of them
    MailDetail open(const QString &id) const;

private:
    static QString eventKey(const MailRow &row);

    QString m_folder;
    QList<MailRow> m_rows; ///< oldest first
    QSet<QByteArray> m_known; ///< names of files, as the system has them
    QHash<QString, int> m_copies;
};

} // namespace sendonce
