#pragma once

#include "worker/result.h"

#include <QObject>
#include <QSocketNotifier>
#include <QTcpServer>
#include <QTimer>

#include <memory>

class QTcpSocket;

namespace sendonce {

/// Listens on 127.0.0.1 and hands out connections. Stands in for QTcpServer's own accepting, which spins when the
/// process runs out of descriptors (Qt 6.4.2, measured: an earlier EAGAIN hides the EMFILE, acceptError is never
/// emitted, and each turn of the event loop tries again at once). Here it pauses for a second.
class LoopbackListener : public QObject
{
    Q_OBJECT
public:
    explicit LoopbackListener(QObject *parent = nullptr);
    ~LoopbackListener() override;

    /// Port 0: any free one; returns the one in use. A taken port is Unreachable. `backlog` is how many may wait to be
    /// accepted.
    Result<quint16> listen(quint16 port, int backlog);
    /// Twice is fine.
    void close();

Q_SIGNALS:
    /// A connection, already open; a child of this object until somebody else takes it.
    void connected(QTcpSocket *socket);
    /// No connection can be taken just now (descriptors, memory); it is tried again every second. Once per spell.
    void starved(const QString &reason);

private:
    void accept();

    QTcpServer m_server; ///< for binding; it does not accept
    std::unique_ptr<QSocketNotifier> m_notifier;
    QTimer m_pause;
    bool m_starving = false;
};

} // namespace sendonce
