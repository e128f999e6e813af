#pragma once

#include "worker/result.h"

#include <QByteArray>
#include <QHash>
#include <QLocalServer>
#include <QObject>
#include <QSet>
#include <QString>
#include <QTimer>

class QLocalSocket;

namespace sendonce {

class FaultBoard;

/// Where faults are armed, watched and, by workers, asked for: a local socket for the owner of the data folder alone,
/// JSON lines as in worker/faults/faultsocket.h. Every request gets one answer. Every other client that has asked for
/// what is armed hears of each change: at once when something is armed or disarmed, of strikes at most 20 times a
/// second.
class ControlServer : public QObject
{
    Q_OBJECT
public:
    /// \param faults not owned, must live longer
    explicit ControlServer(FaultBoard *faults, QObject *parent = nullptr);
    ~ControlServer() override;

    /// Listens and returns the socket's path (see socketPath()). A socket left by a dead process is replaced; one that
    /// still answers is Refused.
    Result<QString> listen(const QString &dataDir);
    void close();

    /// $XDG_RUNTIME_DIR/sendonce-<first 16 hex digits of SHA-256 of the absolute folder>.sock; without a runtime
    /// folder, or when that path is too long for a socket, control.sock in the data folder; when that is too long as
    /// well, a folder of ours (0700) in /run/user/<uid>; else Invalid. `runtimeDir` is what the environment says and
    /// may be empty.
    static Result<QString> socketPath(const QString &dataDir, const QString &runtimeDir);

private:
    void accept();
    void read(QLocalSocket *client);
    QByteArray answer(const QByteArray &request);
    QByteArray arm(const QJsonValue &rule);
    QByteArray disarm(const QJsonValue &which);
    QByteArray ask(const QJsonObject &question);
    QByteArray armedLine(int newId = 0) const;
    void changed();
    void pushChange();
    void write(QLocalSocket *client, const QByteArray &line);

    FaultBoard *m_faults;
    QLocalServer m_server;
    QHash<QLocalSocket *, QByteArray> m_pending; ///< what each client has sent of an unfinished line
    QSet<QLocalSocket *> m_watching; ///< who hears of changes
    QTimer m_push; ///< a change was not told yet
    QLocalSocket *m_answering = nullptr; ///< whose request is being carried out: it gets an answer, not a push
};

} // namespace sendonce
