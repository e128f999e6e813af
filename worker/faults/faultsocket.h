#pragma once

#include "worker/types.h"

#include <QObject>

class QLocalSocket;

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

    void open();
    void failNextMails(int times, int replyCode);
    void disarm();

Q_SIGNALS:
    void armedChanged(const sendonce::ArmedFaults &faults);
    void failed(const QString &text); ///< an act could not be carried out; says why

private:
    void send(const QByteArray &line);
    void read();

    QLocalSocket *m_socket = nullptr;
    QString m_path;
    QByteArray m_pending;
    ArmedFaults m_armed;
};

} // namespace sendonce
