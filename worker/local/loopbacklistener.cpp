#include "worker/local/loopbacklistener.h"

#include <QHostAddress>
#include <QNetworkProxy>
#include <QPointer>
#include <QTcpSocket>

#include <cerrno>
#include <cstring>
#include <sys/socket.h>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr std::chrono::seconds Pause(1);
constexpr int MaxPerTurn = 64; ///< others on this thread have their turn after so many

} // namespace

LoopbackListener::LoopbackListener(QObject *parent) : QObject(parent)
{
    m_server.setProxy(QNetworkProxy::NoProxy);
    m_pause.setSingleShot(true);
    m_pause.setInterval(Pause);
    connect(&m_pause, &QTimer::timeout, this, [this] {
        if (m_notifier)
            m_notifier->setEnabled(true);
    });
}

LoopbackListener::~LoopbackListener()
{
    close();
}

Result<quint16> LoopbackListener::listen(quint16 port, int backlog)
{
    close();
    m_server.setListenBacklogSize(backlog);
    if (!m_server.listen(QHostAddress::LocalHost, port))
        return Error{
            ErrorKind::Unreachable, u"cannot listen on 127.0.0.1:%1: %2"_s.arg(port).arg(m_server.errorString()), {}};
    m_server.pauseAccepting();
    m_notifier = std::make_unique<QSocketNotifier>(m_server.socketDescriptor(), QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, &LoopbackListener::accept);
    return m_server.serverPort();
}

void LoopbackListener::close()
{
    m_pause.stop();
    m_starving = false;
    if (m_notifier) {
        m_notifier->setEnabled(false);
        m_notifier.release()->deleteLater(); // we may be called from its signal
    }
    m_server.close();
}

void LoopbackListener::accept()
{
    const QPointer<QSocketNotifier> notifier = m_notifier.get();
    for (int i = 0; i < MaxPerTurn; ++i) {
        // Whoever hears of a connection may have closed us.
        if (!notifier || !notifier->isEnabled())
            return;
        const int descriptor =
            ::accept4(int(m_server.socketDescriptor()), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        const int error = errno;
        if (descriptor < 0) {
            if (error == EINTR || error == ECONNABORTED)
                continue;
            if (error == EAGAIN)
                return;
            notifier->setEnabled(false);
            m_pause.start();
            if (!m_starving)
                Q_EMIT starved(QString::fromLocal8Bit(std::strerror(error)));
            m_starving = true;
            return;
        }
        m_starving = false;
        auto *socket = new QTcpSocket(this);
        socket->setProxy(QNetworkProxy::NoProxy);
        socket->setSocketDescriptor(descriptor);
        Q_EMIT connected(socket);
    }
}

} // namespace sendonce
