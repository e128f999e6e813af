#include "worker/local/localservices.h"

#include "worker/local/controlserver.h"
#include "worker/local/faultboard.h"
#include "worker/local/locallock.h"
#include "worker/local/localmailbox.h"
#include "worker/local/localsqsserver.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QTcpSocket>
#include <QThread>
#include <QUuid>

#include <signal.h>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

constexpr auto QueueName = "job-board-events"_L1;
constexpr auto DlqName = "job-board-events-dlq"_L1;

QString localJson(const QString &dataDir)
{
    return dataDir + u"/local.json"_s;
}

QUrl loopback(const QString &scheme, quint16 port, const QString &path = QString())
{
    QUrl url;
    url.setScheme(scheme);
    url.setHost(u"127.0.0.1"_s);
    url.setPort(port);
    url.setPath(path);
    return url;
}

QByteArray toJson(const LocalAddresses &addresses)
{
    return QJsonDocument(QJsonObject{{u"id"_s, addresses.id},
                                     {u"pid"_s, addresses.pid},
                                     {u"sqsPort"_s, addresses.sqsPort},
                                     {u"smtpPort"_s, addresses.smtpPort},
                                     {u"controlSocket"_s, addresses.controlSocket}})
        .toJson();
}

Result<void> writeLocalJson(const QString &dataDir, const LocalAddresses &addresses)
{
    const QString name = localJson(dataDir);
    if (QFileInfo(name).isSymLink()) // QSaveFile would write to where it points
        QFile::remove(name);
    QSaveFile file(name);
    if (!file.open(QIODevice::WriteOnly) || !file.setPermissions(QFile::ReadOwner | QFile::WriteOwner)
        || file.write(toJson(addresses)) < 0 || !file.commit())
        return Error{ErrorKind::Io, u"cannot write %1: %2"_s.arg(name, file.errorString()), {}};
    return {};
}

/// The id that whoever listens on this port answers with; empty when it is not one of ours. Blocks for a second at
/// most.
QString askForId(quint16 port)
{
    const QDeadlineTimer deadline(1000);
    QTcpSocket socket;
    socket.connectToHost(QHostAddress(QHostAddress::LocalHost), port);
    if (!socket.waitForConnected(int(deadline.remainingTime())))
        return {};
    socket.write("GET /_sendonce/id HTTP/1.1\r\nHost: 127.0.0.1:" + QByteArray::number(port)
                 + "\r\nConnection: close\r\n\r\n");
    QByteArray reply;
    while (reply.size() < 4096 && socket.waitForReadyRead(int(deadline.remainingTime())))
        reply += socket.readAll();
    const qsizetype body = reply.indexOf("\r\n\r\n"_ba);
    if (!reply.startsWith("HTTP/1.1 200 "_ba) || body < 0)
        return {};
    return QJsonDocument::fromJson(reply.sliced(body + 4)).object().value("id"_L1).toString();
}

/// The port asked for; when it is taken and nobody insisted on it, any free one.
template <typename Server>
Result<quint16> listen(Server &server, quint16 port, bool insisted)
{
    Result<quint16> listening = server.listen(port);
    if (!listening && !insisted && listening.error().kind == ErrorKind::Unreachable)
        return server.listen(0);
    return listening;
}

Result<void> createQueues(local::LocalSqsServer &sqs, const LocalSettings &settings)
{
    const QString redrive =
        u"{\"deadLetterTargetArn\":\"%1\",\"maxReceiveCount\":%2}"_s.arg(local::QueueSettings::arn(DlqName))
            .arg(settings.maxReceiveCount);
    const local::CreateQueueRequest queues[] = {
        // Longer than the queue's own: a dead letter keeps its age (sqs.md, section 11).
        {DlqName, {{u"MessageRetentionPeriod"_s, u"1209600"_s}}, {}},
        {QueueName,
         {{u"VisibilityTimeout"_s, QString::number(settings.visibilityTimeoutSeconds)}, {u"RedrivePolicy"_s, redrive}},
         {}},
    };
    for (const auto &queue : queues) {
        const local::SqsReply existing = sqs.execute(local::GetQueueUrlRequest{queue.name, {}});
        if (std::holds_alternative<local::SqsResult>(existing))
            continue; // whatever its attributes are now
        const local::SqsReply created = sqs.execute(queue);
        if (const auto *error = std::get_if<local::SqsError>(&created))
            return Error{ErrorKind::Io, u"cannot create the queue %1: %2"_s.arg(queue.name, error->message),
                         error->queryCode};
    }
    return {};
}

/// Visible, in flight and delayed ones together.
int countMessages(local::LocalSqsServer &sqs, const QString &queue)
{
    const QStringList names = {u"ApproximateNumberOfMessages"_s, u"ApproximateNumberOfMessagesNotVisible"_s,
                               u"ApproximateNumberOfMessagesDelayed"_s};
    const local::SqsReply reply = sqs.execute(local::GetQueueAttributesRequest{queue, names});
    const auto *result = std::get_if<local::SqsResult>(&reply);
    const auto *attributes = result ? std::get_if<local::QueueAttributes>(result) : nullptr;
    int sum = 0;
    for (const QString &name : names)
        sum += attributes ? attributes->attributes.value(name).toInt() : 0;
    return sum;
}

} // namespace

QUrl LocalAddresses::endpoint() const
{
    return loopback(u"http"_s, sqsPort);
}

QUrl LocalAddresses::queueUrl() const
{
    return loopback(u"http"_s, sqsPort, u"/000000000000/"_s + QueueName);
}

QUrl LocalAddresses::dlqUrl() const
{
    return loopback(u"http"_s, sqsPort, u"/000000000000/"_s + DlqName);
}

QUrl LocalAddresses::mailUrl() const
{
    return loopback(u"smtp"_s, smtpPort);
}

/// The services themselves: made, used and destroyed in their thread.
struct LocalServices::Private
{
    struct Services
    {
        explicit Services(const QString &id, const QString &dataDir)
            : sqs(id)
            , mailbox(dataDir + u"/mailbox"_s, &faults)
            , control(&faults)
        {
            sqs.setFaults(&faults);
        }
        ~Services()
        {
            control.close();
            mailbox.close();
            sqs.close();
        }
        FaultBoard faults;
        local::LocalSqsServer sqs;
        LocalMailbox mailbox;
        ControlServer control;
    };

    Result<LocalAddresses> build(const LocalSettings &settings);

    QString dataDir;
    local::LocalLock lock;
    QThread thread;
    QObject *inThread = nullptr; ///< what is invoked on it runs in the thread
    std::unique_ptr<Services> services;
};

Result<LocalAddresses> LocalServices::Private::build(const LocalSettings &settings)
{
    LocalAddresses addresses;
    addresses.id = QUuid::createUuid().toString(QUuid::WithoutBraces);
    addresses.pid = QCoreApplication::applicationPid();
    services = std::make_unique<Services>(addresses.id, settings.dataDir);
    if (const auto opened = services->sqs.open(settings.dataDir + u"/queue.db"_s); !opened)
        return opened.error();
    if (const auto created = createQueues(services->sqs, settings); !created)
        return created.error();
    const auto control = services->control.listen(settings.dataDir);
    if (!control)
        return control.error();
    addresses.controlSocket = control.value();
    const auto smtpPort = listen(services->mailbox, settings.smtpPort, settings.smtpPortExplicit);
    if (!smtpPort)
        return smtpPort.error();
    addresses.smtpPort = smtpPort.value();
    const auto sqsPort = listen(services->sqs, settings.sqsPort, settings.sqsPortExplicit);
    if (!sqsPort)
        return sqsPort.error();
    addresses.sqsPort = sqsPort.value();
    if (const auto written = writeLocalJson(settings.dataDir, addresses); !written)
        return written.error();
    return addresses;
}

LocalServices::LocalServices(QObject *parent) : QObject(parent), d(std::make_unique<Private>())
{
    d->thread.setObjectName(u"local"_s);
}

LocalServices::~LocalServices()
{
    stop();
}

Result<LocalAddresses> LocalServices::start(const LocalSettings &settings)
{
    if (d->thread.isRunning())
        return Error{ErrorKind::Invalid, u"the embedded services run already"_s, {}};
    if (const auto locked = d->lock.acquire(settings.dataDir + u"/local.lock"_s); !locked)
        return locked.error();
    d->dataDir = settings.dataDir;
    d->thread.start();
    d->inThread = new QObject;
    d->inThread->moveToThread(&d->thread);
    connect(&d->thread, &QThread::finished, d->inThread, &QObject::deleteLater);
    std::optional<Result<LocalAddresses>> built;
    QMetaObject::invokeMethod(
        d->inThread, [&] { built = d->build(settings); }, Qt::BlockingQueuedConnection);
    if (!*built)
        stop();
    return *built;
}

void LocalServices::stop()
{
    if (!d->thread.isRunning())
        return;
    // First the file: whoever reads it from now on must not come to us.
    QFile::remove(localJson(d->dataDir));
    QMetaObject::invokeMethod(
        d->inThread, [this] { d->services.reset(); }, Qt::BlockingQueuedConnection);
    d->thread.quit();
    d->thread.wait();
    d->inThread = nullptr;
    d->lock.release();
}

void LocalServices::count()
{
    if (!d->thread.isRunning())
        return;
    QMetaObject::invokeMethod(d->inThread, [this] {
        if (d->services)
            Q_EMIT counted(countMessages(d->services->sqs, QueueName), countMessages(d->services->sqs, DlqName));
    });
}

Result<LocalAddresses> LocalServices::find(const QString &dataDir)
{
    const Error none{ErrorKind::NotFound, u"no embedded services run for %1"_s.arg(dataDir), {}};
    QFile file(localJson(dataDir));
    if (!file.open(QIODevice::ReadOnly))
        return none;
    const QJsonObject object = QJsonDocument::fromJson(file.readAll()).object();
    LocalAddresses addresses;
    addresses.id = object.value("id"_L1).toString();
    addresses.pid = object.value("pid"_L1).toInteger();
    addresses.sqsPort = quint16(object.value("sqsPort"_L1).toInt());
    addresses.smtpPort = quint16(object.value("smtpPort"_L1).toInt());
    addresses.controlSocket = object.value("controlSocket"_L1).toString();
    if (addresses.id.isEmpty() || addresses.pid <= 0 || addresses.sqsPort == 0)
        return none;
    if (::kill(pid_t(addresses.pid), 0) != 0 && errno == ESRCH)
        return none;
    if (askForId(addresses.sqsPort) != addresses.id)
        return none;
    return addresses;
}

} // namespace sendonce
