#pragma once

#include "worker/types.h"

#include <QByteArray>
#include <QList>
#include <QLocalSocket>
#include <QObject>
#include <QTimer>

namespace sendonce {

/// Arms faults of the embedded services over their control socket and hears what is armed: JSON lines.
///   -> {"arm":"mail","times":3,"code":451}     -> {"disarm":"all"}     -> {"status":true}
///   <- {"armed":[{"where":"mail","remaining":3,"code":451,"text":"4.3.0 …"}]}   after each request and at each change
///   <- {"error":"…"}
/// Asynchronous; connects by itself and again after a loss (every second while wanted).
class FaultSocket : public QObject
{
    Q_OBJECT
public:
    explicit FaultSocket(const QString &socketPath, QObject *parent = nullptr);
    ~FaultSocket() override;

    void open();
    /// An act goes out when there is a connection; if there is none and none can be made just now, it fails.
    void failNextMails(int times, int replyCode);
    void disarm();

Q_SIGNALS:
    /// At the first answer, and whenever it is something else than before; nothing is armed when the connection is
    /// lost.
    void armedChanged(const sendonce::ArmedFaults &faults);
    void failed(const QString &text); ///< an act could not be carried out; says why

private:
    void act(const QByteArray &line);
    void connectNow();
    void connected();
    void lost(const QString &why);
    void read();
    void readLine(const QByteArray &line);

    QString m_path;
    QLocalSocket m_socket;
    QTimer m_reconnect;
    QList<QByteArray> m_acts; ///< waiting for the connection
    QByteArray m_pending; ///< of a line that is not whole yet
    ArmedFaults m_armed;
    int m_unanswered = 0; ///< acts that were sent and have not been answered
    bool m_known = false; ///< m_armed was heard on this connection
};

} // namespace sendonce
