#pragma once

#include "worker/store/journal.h"
#include "worker/types.h"

#include <QList>
#include <QObject>
#include <QTimer>

#include <chrono>
#include <mutex>
#include <optional>

namespace sendonce {

/// Writes what the lanes report into the journal, on a thread of its own, so that no lane waits for it: what has come
/// in meanwhile goes in one transaction. Idle it writes at once; under load every 50 ms. While the journal is away the
/// newest reports are kept and tried again; nobody waits for them.
class JournalWriter : public QObject
{
    Q_OBJECT
public:
    static constexpr qsizetype MostKept = 20'000; ///< reports, of about 1 kB each

    JournalWriter(QString dataDir, QString databaseUrl);
    ~JournalWriter() override; ///< writes the rest

    /// From any thread. Wakes the writer's only when it would not look by itself soon.
    void record(const QList<sendonce::DeliveryReport> &reports);

public Q_SLOTS:
    void flush();
    void close(); ///< the rest, if that can be had now, then the connection

Q_SIGNALS:
    /// They are in the journal, or warned() has said why they are not yet.
    void recorded(const QList<sendonce::DeliveryReport> &reports);
    void warned(const QString &text);

private:
    QList<DeliveryReport> takeWaiting();
    void lookAgain();
    void keep(const QList<DeliveryReport> &reports);
    Result<void> write(const QList<DeliveryReport> &reports);
    Result<void> writeEach(const QList<DeliveryReport> &reports);

    const QString m_dataDir, m_databaseUrl;
    std::optional<Journal> m_journal;
    std::mutex m_mutex;
    QList<DeliveryReport> m_waiting; ///< not told yet; under the mutex
    bool m_willLook = false; ///< flush() will come without a wake-up; under the mutex
    QList<DeliveryReport> m_unwritten; ///< told, and to be tried again
    QTimer m_timer;
    std::chrono::milliseconds m_pause{0}; ///< before the next try; 0: it works
    qint64 m_lost = 0; ///< since it went away
};

} // namespace sendonce
