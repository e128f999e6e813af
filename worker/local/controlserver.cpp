#include "worker/local/controlserver.h"

#include "worker/local/mailfaults.h"

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
constexpr int MaxClients = 32;
constexpr qsizetype MaxText = 400; ///< of a fault: a reply line has 512 octets

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

QString numberError(const QJsonObject &request, const QString &member, int least, int most)
{
    const QJsonValue value = request.value(member);
    const double number = value.toDouble(-1);
    if (value.isDouble() && number >= least && number <= most && number == int(number))
        return {};
    return u"%1 must be a whole number from %2 to %3, not %4"_s.arg(member).arg(least).arg(most).arg(shown(value));
}

QString textError(const QJsonValue &value)
{
    if (value.isUndefined())
        return {};
    const QString text = value.toString();
    const bool printable = std::all_of(text.cbegin(), text.cend(), [](QChar c) { return c >= u' ' && c <= u'~'; });
    if (value.isString() && printable && !text.isEmpty() && text.size() <= MaxText)
        return {};
    return u"text must be 1 to %1 printable ASCII characters, not %2"_s.arg(MaxText).arg(shown(value));
}

} // namespace

ControlServer::ControlServer(MailFaults *faults, QObject *parent) : QObject(parent), m_faults(faults)
{
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    connect(&m_server, &QLocalServer::newConnection, this, &ControlServer::accept);
    connect(m_faults, &MailFaults::changed, this, &ControlServer::pushChange);
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
    const int asked =
        int(object.contains("arm"_L1)) + int(object.contains("disarm"_L1)) + int(object.contains("status"_L1));
    if (asked != 1)
        return errorLine(u"exactly one of arm, disarm and status is expected"_s);

    const QStringList members = object.contains("arm"_L1) ? QStringList{u"arm"_s, u"times"_s, u"code"_s, u"text"_s}
                                                          : QStringList{u"disarm"_s, u"status"_s};
    for (const QString &member : object.keys()) {
        if (!members.contains(member))
            return errorLine(u"%1 is not known here; accepted are %2"_s.arg(shown(member), members.join(u", "_s)));
    }

    if (const QJsonValue what = object.value("arm"_L1); !what.isUndefined()) {
        if (what != u"mail"_s)
            return errorLine(u"arm must be \"mail\", not %1"_s.arg(shown(what)));
        for (const QString &error : {numberError(object, u"times"_s, 1, MailFaults::MaxTimes),
                                     numberError(object, u"code"_s, MailFaults::MinReplyCode, MailFaults::MaxReplyCode),
                                     textError(object.value("text"_L1))}) {
            if (!error.isEmpty())
                return errorLine(error);
        }
        m_faults->failNext(object.value("times"_L1).toInt(), object.value("code"_L1).toInt(),
                           object.value("text"_L1).toString());
    } else if (const QJsonValue which = object.value("disarm"_L1); !which.isUndefined()) {
        if (which != u"all"_s && which != u"mail"_s)
            return errorLine(u"disarm must be \"all\" or \"mail\", not %1"_s.arg(shown(which)));
        m_faults->disarm();
    } else if (object.value("status"_L1) != true) {
        return errorLine(u"status must be true, not %1"_s.arg(shown(object.value("status"_L1))));
    }
    return armedLine();
}

QByteArray ControlServer::armedLine() const
{
    QJsonArray list;
    const ArmedFaults armed = m_faults->armed();
    for (const ArmedFault &fault : armed)
        list.append(QJsonObject{{u"where"_s, fault.where},
                                {u"remaining"_s, fault.remaining},
                                {u"code"_s, fault.replyCode},
                                {u"text"_s, fault.text}});
    return jsonLine({{u"armed"_s, list}});
}

void ControlServer::pushChange()
{
    const QByteArray line = armedLine();
    const QList<QLocalSocket *> clients = m_pending.keys();
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
