#pragma once

#include "worker/faults/fault.h"

#include <QByteArray>
#include <QList>
#include <QLocalSocket>
#include <QObject>
#include <QTimer>

namespace sendonce {

/// Arms faults on the embedded services' board over their control socket and hears what is armed: JSON lines.
///   -> {"arm":{"where":"mail.end","what":"reply","code":451,"times":3}}   (worker/faults/fault.h)
///   -> {"disarm":"all"}   -> {"disarm":7}     by id
///   -> {"status":true}
///   <- {"armed":[{"id":7,"where":"mail.end",…}]}   after each of these and, a little later, at each change; after an
///      "arm" also "id":7, the new one's
///   -> {"ask":"worker.claimed","event":"…","recipient":"…","type":"…","key":"…"}   what strikes there; it is used up
///   <- {"fault":{"what":"crash",…}}    or {"fault":null}
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
    void arm(const FaultRule &rule);
    void disarm(int id);
    void disarmAll();

Q_SIGNALS:
    /// At the first answer, and whenever it is something else than before; nothing is armed when the connection is
    /// lost.
    void armedChanged(const sendonce::FaultRules &rules);
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
    FaultRules m_armed;
    int m_unanswered = 0; ///< acts that were sent and have not been answered
    bool m_known = false; ///< m_armed was heard on this connection
};

} // namespace sendonce
