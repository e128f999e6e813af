#pragma once

#include "worker/store/journal.h"

#include <QMutex>

#include <vector>

namespace sendonce {

/// What lanes write down of doubts before they roll back, and ask before they send. All lanes share its few connections
/// to a server, for it happens seldom, and one for each lane would double what the server has to bear. Any thread.
class DoubtJournal
{
public:
    DoubtJournal(QString dataDir, QString databaseUrl);

    /// What cannot be written, because the database went with the very COMMIT that is in doubt, is kept and written by
    /// the next call that reaches the journal.
    Result<void> record(const DeliveryReport &doubt);
    /// The event is in doubt and nobody has decided to send it again. An error while there are doubts to be written
    /// yet.
    Result<bool> isOpen(const QString &eventId);

private:
    Result<Journal> take();
    void giveBack(Journal journal);
    Result<void> writeKept(Journal &journal);

    const QString m_dataDir, m_databaseUrl;
    QMutex m_mutex; ///< of what follows; never held while anything is waited for
    std::vector<Journal> m_idle;
    QList<DeliveryReport> m_kept; ///< doubts that are not written yet
};

} // namespace sendonce
