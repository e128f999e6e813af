#pragma once

#include "worker/store/journal.h"
#include "worker/types.h"

#include <QList>
#include <QObject>
#include <QTimer>

#include <optional>

namespace sendonce {

/// Writes what the lanes report into the journal, on a thread of its own, so that no lane waits for it: what has come
/// in meanwhile goes in one transaction. Idle it writes at once; under load every 50 ms.
class JournalWriter : public QObject
{
    Q_OBJECT
public:
    explicit JournalWriter(QString dataDir);
    ~JournalWriter() override; ///< writes the rest

public Q_SLOTS:
    void record(const QList<sendonce::DeliveryReport> &reports);
    void flush();
    void close(); ///< the rest, then the connection

Q_SIGNALS:
    /// They are in the journal, or warned() has said why not.
    void recorded(const QList<sendonce::DeliveryReport> &reports);
    void warned(const QString &text);

private:
    Result<void> write();

    const QString m_dataDir;
    std::optional<Journal> m_journal;
    QList<DeliveryReport> m_waiting;
    QTimer m_timer;
    bool m_failing = false; ///< told already
};

} // namespace sendonce
