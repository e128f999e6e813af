#include "worker/faults/faultsocket.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <chrono>
#include <utility>

using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr qsizetype LongestLine = 64 * 1024;

QByteArray jsonLine(const QJsonObject &object)
{
    return QJsonDocument(object).toJson(QJsonDocument::Compact) + '\n';
}

} // namespace

FaultSocket::FaultSocket(const QString &socketPath, QObject *parent) : QObject(parent), m_path(socketPath)
{
    m_reconnect.setSingleShot(true);
    m_reconnect.setInterval(1s);
    connect(&m_reconnect, &QTimer::timeout, this, &FaultSocket::connectNow);
    connect(&m_socket, &QLocalSocket::connected, this, &FaultSocket::connected);
    connect(&m_socket, &QLocalSocket::readyRead, this, &FaultSocket::read);
    connect(&m_socket, &QLocalSocket::disconnected, this,
            [this] { lost(u"the embedded services have closed their control socket"_s); });
    // Queued: the socket only then is done with its error, and can be told to connect again.
    connect(
        &m_socket, &QLocalSocket::errorOccurred, this,
        [this] {
            if (m_socket.state() == QLocalSocket::UnconnectedState && !m_reconnect.isActive())
                lost(u"the control socket of the embedded services cannot be reached: "_s + m_socket.errorString());
        },
        Qt::QueuedConnection);
}

FaultSocket::~FaultSocket()
{
    m_socket.disconnect(this);
}

void FaultSocket::open()
{
    if (m_socket.state() == QLocalSocket::UnconnectedState)
        connectNow();
}

void FaultSocket::arm(const FaultRule &rule)
{
    act(jsonLine({{u"arm"_s, toJson(rule)}}));
}

void FaultSocket::disarm(int id)
{
    act(jsonLine({{u"disarm"_s, id}}));
}

void FaultSocket::disarmAll()
{
    act(jsonLine({{u"disarm"_s, u"all"_s}}));
}

void FaultSocket::act(const QByteArray &line)
{
    if (m_socket.state() == QLocalSocket::ConnectedState) {
        ++m_unanswered;
        m_socket.write(line);
        return;
    }
    m_acts.append(line);
    open();
}

void FaultSocket::connectNow()
{
    m_reconnect.stop();
    m_socket.connectToServer(m_path);
}

void FaultSocket::connected()
{
    m_socket.write(jsonLine({{u"status"_s, true}}));
    const QList<QByteArray> acts = std::exchange(m_acts, {});
    for (const QByteArray &line : acts)
        act(line);
}

void FaultSocket::lost(const QString &why)
{
    const bool actLost = m_unanswered > 0 || !m_acts.isEmpty();
    m_unanswered = 0;
    m_acts.clear();
    m_pending.clear();
    m_known = false;
    m_reconnect.start();
    if (!m_armed.isEmpty()) {
        m_armed.clear();
        Q_EMIT armedChanged(m_armed);
    }
    if (actLost)
        Q_EMIT failed(why);
}

void FaultSocket::read()
{
    m_pending += m_socket.readAll();
    for (qsizetype end = m_pending.indexOf('\n'); end >= 0; end = m_pending.indexOf('\n')) {
        const QByteArray line = m_pending.left(end);
        m_pending.remove(0, end + 1);
        readLine(line);
    }
    if (m_pending.size() > LongestLine)
        m_socket.abort(); // whoever that is, it is not our embedded services
}

void FaultSocket::readLine(const QByteArray &line)
{
    const QJsonObject object = QJsonDocument::fromJson(line).object();
    if (const QJsonValue error = object.value("error"_L1); error.isString()) {
        m_unanswered = qMax(0, m_unanswered - 1);
        Q_EMIT failed(error.toString());
        return;
    }
    const QJsonValue armed = object.value("armed"_L1);
    if (!armed.isArray())
        return;
    // Also pushed at each change, so that it answers an act or not: a little early is near enough for `lost`.
    m_unanswered = qMax(0, m_unanswered - 1);
    FaultRules rules;
    const QJsonArray list = armed.toArray();
    for (const QJsonValue item : list) {
        if (auto rule = faultRule(item.toObject()))
            rules.append(rule.take());
    }
    if (m_known && rules == m_armed)
        return;
    m_known = true;
    m_armed = rules;
    Q_EMIT armedChanged(m_armed);
}

} // namespace sendonce
