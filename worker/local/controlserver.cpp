#include "worker/local/controlserver.h"

#include "worker/local/faultboard.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocalSocket>

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

// sun_path holds 107 bytes and a NUL; QLocalServer of Qt 6.4.2 fails with all 107 (measured). It binds in a temporary
// folder beside the path first ("/.XXXXXX/s"), so that nobody connects before the mode is set; that is shorter than our
// names.
constexpr qsizetype MaxSocketPath = 106;
constexpr qsizetype MaxRequest = 64 * 1024;
constexpr qint64 MaxUnsent = 1 << 20;
constexpr int MaxClients = 500; ///< each lane of each worker may ask at once, and would go unstruck without an answer
constexpr int PushInterval = 50; ///< ms

bool fits(const QString &path)
{
    return QFile::encodeName(path).size() <= MaxSocketPath;
}

bool isOwnFolder(const QString &path)
{
    struct stat status = {};
    return ::lstat(QFile::encodeName(path).constData(), &status) == 0 && S_ISDIR(status.st_mode)
        && status.st_uid == ::geteuid();
}

QByteArray jsonLine(const QJsonObject &object)
{
    return QJsonDocument(object).toJson(QJsonDocument::Compact) + '\n';
}

QByteArray errorLine(const QString &text)
{
    return jsonLine({{u"error"_s, text}});
}

/// A value as an error shows it: JSON, cut.
QString shown(const QJsonValue &value)
{
    if (value.isUndefined())
        return u"nothing"_s;
    const QByteArray json = QJsonDocument(QJsonArray{value}).toJson(QJsonDocument::Compact);
    const QString text = QString::fromUtf8(json.sliced(1, json.size() - 2));
    return text.size() > 60 ? text.first(60) + u"…"_s : text;
}

} // namespace

ControlServer::ControlServer(FaultBoard *faults, QObject *parent) : QObject(parent), m_faults(faults)
{
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    connect(&m_server, &QLocalServer::newConnection, this, &ControlServer::accept);
    connect(m_faults, &FaultBoard::changed, this, &ControlServer::changed);
    m_push.setSingleShot(true);
    connect(&m_push, &QTimer::timeout, this, &ControlServer::pushChange);
}

ControlServer::~ControlServer()
{
    close();
}

Result<QString> ControlServer::socketPath(const QString &dataDir, const QString &runtimeDir)
{
    const QString folder = QDir::cleanPath(QFileInfo(dataDir).absoluteFilePath());
    const QByteArray hash = QCryptographicHash::hash(folder.toUtf8(), QCryptographicHash::Sha256).toHex().first(16);
    const QString name = u"sendonce-%1.sock"_s.arg(QLatin1StringView(hash));

    if (!runtimeDir.isEmpty() && isOwnFolder(runtimeDir)) {
        const QString path = QDir(runtimeDir).absoluteFilePath(name);
        if (fits(path))
            return path;
    }
    const QString inFolder = folder + "/control.sock"_L1;
    if (fits(inFolder))
        return inFolder;

    const QString userDir = u"/run/user/%1"_s.arg(::geteuid());
    const QString ours = userDir + "/sendonce"_L1;
    if (isOwnFolder(userDir)) {
        ::mkdir(QFile::encodeName(ours).constData(), 0700);
        if (isOwnFolder(ours) && ::chmod(QFile::encodeName(ours).constData(), 0700) == 0)
            return QString(ours + u'/' + name);
    }
    return Error{
        ErrorKind::Invalid,
        u"no place for the control socket: the path of the data folder is too long for one (at most %1 octets), and "
        "neither XDG_RUNTIME_DIR nor %2 is a folder of ours; use a shorter --data-dir"_s
            .arg(MaxSocketPath - qsizetype(qstrlen("/control.sock")))
            .arg(userDir),
        {}};
}

Result<QString> ControlServer::listen(const QString &dataDir)
{
    const Result<QString> path = socketPath(dataDir, qEnvironmentVariable("XDG_RUNTIME_DIR"));
    if (!path)
        return path;
    // QLocalServer renames its new socket over whatever has the name, a living server's socket too.
    QLocalSocket probe;
    probe.connectToServer(path.value());
    if (probe.waitForConnected(200))
        return Error{ErrorKind::Refused, u"the control socket %1 is in use"_s.arg(path.value()), {}};
    QLocalServer::removeServer(path.value());
    m_server.listen(path.value());
    if (!m_server.isListening())
        return Error{
            ErrorKind::Io, u"cannot make the control socket %1: %2"_s.arg(path.value(), m_server.errorString()), {}};
    return path;
}

void ControlServer::close()
{
    m_server.close();
    const QList<QLocalSocket *> clients = m_pending.keys();
    m_pending.clear();
    m_watching.clear();
    for (QLocalSocket *client : clients) {
        client->disconnect(this);
        client->abort();
        client->deleteLater();
    }
}

void ControlServer::accept()
{
    while (QLocalSocket *client = m_server.nextPendingConnection()) {
        if (m_pending.size() >= MaxClients) {
            client->write(errorLine(u"too many clients; %1 are accepted"_s.arg(MaxClients)));
            connect(client, &QLocalSocket::disconnected, client, &QObject::deleteLater);
            client->disconnectFromServer();
            continue;
        }
        m_pending.insert(client, {});
        connect(client, &QLocalSocket::readyRead, this, [this, client] { read(client); });
        connect(client, &QLocalSocket::disconnected, this, [this, client] {
            m_pending.remove(client);
            m_watching.remove(client);
            client->deleteLater();
        });
        if (client->bytesAvailable() > 0)
            read(client);
    }
}

void ControlServer::read(QLocalSocket *client)
{
    if (!m_pending.contains(client))
        return;
    QByteArray pending = m_pending.value(client) + client->readAll();
    for (qsizetype end = pending.indexOf('\n'); end >= 0; end = pending.indexOf('\n')) {
        const QByteArray request = pending.first(end).trimmed();
        pending = pending.sliced(end + 1);
        if (request.isEmpty())
            continue;
        m_answering = client;
        const QByteArray line = answer(request);
        m_answering = nullptr;
        write(client, line);
        if (!m_pending.contains(client))
            return;
    }
    m_pending[client] = pending;
    if (pending.size() > MaxRequest) {
        write(client, errorLine(u"a request is one line of at most %1 octets"_s.arg(MaxRequest)));
        client->disconnectFromServer();
    }
}

QByteArray ControlServer::answer(const QByteArray &request)
{
    QJsonParseError parsing;
    const QJsonDocument document = QJsonDocument::fromJson(request, &parsing);
    if (!document.isObject()) {
        const QString why = parsing.error == QJsonParseError::NoError ? u"that is no object"_s : parsing.errorString();
        return errorLine(u"a request is one JSON object on a line: %1"_s.arg(why));
    }
    const QJsonObject object = document.object();
    static const QStringList acts = {u"arm"_s, u"disarm"_s, u"status"_s, u"ask"_s};
    QStringList wanted;
    for (const QString &act : acts) {
        if (object.contains(act))
            wanted.append(act);
    }
    if (wanted.size() != 1)
        return errorLine(u"exactly one of %1 is expected"_s.arg(acts.join(u", "_s)));
    const QStringList members =
        wanted.first() == "ask"_L1 ? QStringList{u"ask"_s, u"event"_s, u"recipient"_s, u"type"_s, u"key"_s} : wanted;
    for (const QString &member : object.keys()) {
        if (!members.contains(member))
            return errorLine(u"%1 is not known here; accepted are %2"_s.arg(shown(member), members.join(u", "_s)));
    }
    const QJsonValue value = object.value(wanted.first());
    if (wanted.first() == "ask"_L1) {
        m_answering = nullptr; // the answer does not say what is armed
        return ask(object);
    }
    m_watching.insert(m_answering);
    if (wanted.first() == "arm"_L1)
        return arm(value);
    if (wanted.first() == "disarm"_L1)
        return disarm(value);
    if (value != true)
        return errorLine(u"status must be true, not %1"_s.arg(shown(value)));
    return armedLine();
}

QByteArray ControlServer::arm(const QJsonValue &rule)
{
    if (!rule.isObject())
        return errorLine(u"arm must be an object that says where and what, not %1"_s.arg(shown(rule)));
    const auto wanted = faultRule(rule.toObject());
    if (!wanted)
        return errorLine(wanted.error().text);
    const auto id = m_faults->arm(wanted.value());
    return id ? armedLine(id.value()) : errorLine(id.error().text);
}

QByteArray ControlServer::disarm(const QJsonValue &which)
{
    if (which == u"all"_s) {
        m_faults->disarmAll();
        return armedLine();
    }
    const int id = which.toInt();
    if (id <= 0)
        return errorLine(u"disarm must be \"all\" or the id of an armed fault, not %1"_s.arg(shown(which)));
    if (!m_faults->disarm(id))
        return errorLine(u"no fault with the id %1 is armed (any more)"_s.arg(id));
    return armedLine();
}

QByteArray ControlServer::ask(const QJsonObject &question)
{
    const auto point = faultPoint(question.value("ask"_L1).toString());
    if (!point)
        return errorLine(
            u"ask is %1; accepted: %2"_s.arg(shown(question.value("ask"_L1)), faultPointNames().join(u", "_s)));
    for (const QString &member : question.keys()) {
        if (!question.value(member).isString())
            return errorLine(u"%1 must be a text, not %2"_s.arg(member, shown(question.value(member))));
    }
    const auto text = [&question](QLatin1StringView member) { return question.value(member).toString(); };
    const auto fault =
        m_faults->ask(point.value(), {text("event"_L1), text("recipient"_L1), text("type"_L1), text("key"_L1)});
    return jsonLine({{u"fault"_s, fault ? QJsonValue(toJson(*fault)) : QJsonValue()}});
}

QByteArray ControlServer::armedLine(int newId) const
{
    QJsonArray list;
    const FaultRules armed = m_faults->armed();
    for (const FaultRule &rule : armed)
        list.append(toJson(rule));
    QJsonObject object{{u"armed"_s, list}};
    if (newId > 0)
        object.insert(u"id"_s, newId);
    return jsonLine(object);
}

/// Somebody who is being answered has armed or disarmed: the others hear of it at once. A fault that strikes is used
/// up, perhaps a thousand times a second.
void ControlServer::changed()
{
    if (m_answering)
        pushChange();
    else if (!m_push.isActive())
        m_push.start(PushInterval);
}

void ControlServer::pushChange()
{
    m_push.stop();
    const QByteArray line = armedLine();
    const QList<QLocalSocket *> clients = m_watching.values();
    for (QLocalSocket *client : clients) {
        if (client != m_answering)
            write(client, line);
    }
}

void ControlServer::write(QLocalSocket *client, const QByteArray &line)
{
    if (client->state() != QLocalSocket::ConnectedState)
        return;
    client->write(line);
    if (client->bytesToWrite() > MaxUnsent)
        client->abort(); // it does not read; it may connect again
}

} // namespace sendonce
