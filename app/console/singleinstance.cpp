#include "app/console/singleinstance.h"

#include <QCryptographicHash>
#include <QLocalSocket>
#include <QStandardPaths>

namespace sendonce {

using namespace Qt::StringLiterals;

SingleInstance::SingleInstance(const QString &dataDir, QObject *parent)
    : QObject(parent)
    , m_lock(dataDir + u"/console.lock"_s)
{
    // Never in /tmp: a socket there could be anybody's. A path in the data folder may be too long for a socket.
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::RuntimeLocation);
    const QByteArray hash = QCryptographicHash::hash(dataDir.toUtf8(), QCryptographicHash::Sha256).toHex().first(16);
    m_socketPath = u"%1/sendonce-console-%2.sock"_s.arg(folder, QString::fromLatin1(hash));
    m_lock.setStaleLockTime(0); // stale only when its process is dead
}

bool SingleInstance::take()
{
    if (!m_lock.tryLock())
        return false;
    QLocalServer::removeServer(m_socketPath);
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    connect(&m_server, &QLocalServer::newConnection, this, [this] {
        while (QLocalSocket *socket = m_server.nextPendingConnection()) {
            connect(socket, &QLocalSocket::disconnected, socket, &QObject::deleteLater);
            Q_EMIT raiseAsked();
            socket->disconnectFromServer();
        }
    });
    m_server.listen(m_socketPath); // without it a second start just says who has the folder
    return true;
}

bool SingleInstance::raiseOther() const
{
    QLocalSocket socket;
    socket.connectToServer(m_socketPath);
    return socket.waitForConnected(1000);
}

qint64 SingleInstance::otherPid() const
{
    qint64 pid = 0;
    QString host, name;
    return m_lock.getLockInfo(&pid, &host, &name) ? pid : 0;
}

} // namespace sendonce
