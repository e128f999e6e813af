#include "worker/operate/preflightrun.h"

#include "worker/consume/eventtypecheck.h"
#include "worker/events/eventtype.h"
#include "worker/mail/mimemessage.h"
#include "worker/operate/movetaskprobe.h"

#include <QFileInfo>
#include <QStorageInfo>

#include <algorithm>
#include <unistd.h>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using preflight::Permission;

namespace {

constexpr auto MailPatience = 5s;
constexpr auto DatabasePatience = 2s;
/// No queue ever gave it to anybody.
const QString NoHandle = u"sendonce-check"_s;

QString shown(const QUrl &url)
{
    return url.toString(QUrl::RemoveUserInfo);
}

/// GetQueueUrl has no queue URL to go by: without an endpoint of its own it goes where the queue is.
QUrl originOf(const QUrl &url)
{
    return url.adjusted(QUrl::RemovePath | QUrl::RemoveQuery | QUrl::RemoveFragment);
}

} // namespace

PreflightRun::PreflightRun(Config config, const std::atomic_bool &stop, QObject *parent)
    : QObject(parent)
    , m_config(std::move(config))
    , m_client(std::make_unique<SqsClient>(
          SqsSettings{m_config.endpoint.isEmpty() ? originOf(m_config.queueUrl) : m_config.endpoint, m_config.region,
                      m_config.credentials}))
    , m_stop(stop)
{
    connect(m_client.get(), &SqsClient::warned, this, [this](const QString &text) {
        tell({{u"queue.client"_s, CheckLine::Level::Warning, text, u"set this computer's clock right"_s, false}});
    });
}

PreflightRun::~PreflightRun() = default;

void PreflightRun::start()
{
    if (m_started)
        return;
    m_started = true;
    // One after the other, the event loop in between: each line is on screen while the next is looked for.
    QMetaObject::invokeMethod(
        this, [this] { checkFolder(); }, Qt::QueuedConnection);
    QMetaObject::invokeMethod(
        this, [this] { checkDatabase(); }, Qt::QueuedConnection);
    QMetaObject::invokeMethod(
        this, [this] { checkMail(); }, Qt::QueuedConnection);
    QMetaObject::invokeMethod(
        this, [this] { askForQueue(); }, Qt::QueuedConnection);
}

void PreflightRun::tell(const QList<CheckLine> &lines)
{
    for (const CheckLine &each : lines)
        Q_EMIT line(each);
}

void PreflightRun::checkFolder()
{
    const QFileInfo folder(m_config.dataDir);
    preflight::FolderFacts facts;
    facts.path = m_config.dataDir;
    facts.exists = folder.isDir();
    facts.isOurs = folder.ownerId() == ::geteuid();
    const auto others = QFileDevice::ReadGroup | QFileDevice::WriteGroup | QFileDevice::ExeGroup
        | QFileDevice::ReadOther | QFileDevice::WriteOther | QFileDevice::ExeOther;
    facts.isPrivate = !(folder.permissions() & others);
    const QStorageInfo storage(m_config.dataDir);
    facts.freeBytes = storage.isValid() ? storage.bytesAvailable() : -1;
    tell(preflight::judgeFolder(facts));
}

void PreflightRun::checkDatabase()
{
    preflight::DatabaseFacts facts;
    const auto url = DatabaseUrl::parse(m_config.databaseUrl);
    facts.isServer = url && url->isPostgres();
    facts.lanes = m_config.lanes;
    facts.mailTime = m_config.mailTimeout + m_config.mailFinalTimeout;
    auto database = openExisting(m_config.databaseUrl, DatabasePatience);
    if (database) {
        facts.name = database->displayName();
        const auto inspection = inspect(database.value());
        if (inspection)
            facts.inspection = inspection.value();
        else
            facts.error = inspection.error();
    } else {
        facts.error = database.error();
    }
    const auto types = EventTypes::load(m_config.eventTypesDir);
    const auto checked = types ? checkEventTypes(types.value()) : Result<void>(types.error());
    if (!checked)
        facts.typesError = checked.error();
    if (types && !facts.error) {
        for (const QString &name : types->names()) {
            const auto lookup = tryLookup(database.value(), types->find(name)->lookupSql);
            facts.lookups.append({name, lookup ? std::nullopt : std::optional(lookup.error())});
        }
    }
    tell(preflight::judgeDatabase(facts));
}

void PreflightRun::checkMail()
{
    preflight::MailFacts facts;
    facts.embedded = m_config.embedded;
    facts.from = m_config.mailFrom;
    facts.address = u"%1:%2"_s.arg(m_config.mailUrl.host()).arg(m_config.mailUrl.port(25));
    const auto from = MailAddress::parse(m_config.mailFrom);
    if (from)
        facts.fromDomain = from->domain();
    else
        facts.fromError = from.error();
    auto settings = SmtpSettings::fromConfig(m_config);
    if (settings) {
        facts.address = u"%1:%2"_s.arg(settings->host).arg(settings->port);
        settings->timeout = std::min<std::chrono::milliseconds>(m_config.mailTimeout, MailPatience);
        const auto greeting = probeMailServer(settings.value(), m_stop);
        if (greeting)
            facts.greeting = greeting.value();
        else
            facts.error = greeting.error();
    } else {
        facts.error = settings.error();
    }
    tell(preflight::judgeMail(facts));
}

void PreflightRun::askForQueue()
{
    m_queue.url = shown(m_config.queueUrl);
    m_client->getQueueAttributes(m_config.queueUrl, {u"All"_s}, this,
                                 [this](const Result<QMap<QString, QString>> &attributes) {
                                     if (!attributes) {
                                         m_queue.error = attributes.error();
                                         tell(preflight::judgeQueue(m_queue));
                                         Q_EMIT finished();
                                         return;
                                     }
                                     m_queue.attributes = attributes.value();
                                     tryPermissions();
                                 });
}

void PreflightRun::tryPermissions()
{
    m_client->changeVisibilityBatch(
        m_config.queueUrl, {{u"check"_s, NoHandle, 0s}}, this, [this](const Result<QList<BatchEntryResult>> &changed) {
            m_queue.permissions.append(preflight::permissionFrom(u"ChangeMessageVisibility"_s, changed));
            m_client->deleteBatch(
                m_config.queueUrl, {{u"check"_s, NoHandle}}, this,
                [this](const Result<QList<BatchEntryResult>> &deleted) {
                    m_queue.permissions.append(preflight::permissionFrom(u"DeleteMessage"_s, deleted));
                    m_queue.permissions.append({u"ReceiveMessage"_s, Permission::Answer::Untried, {}});
                    m_queue.permissions.append({u"SendMessage"_s, Permission::Answer::Untried, {}});
                    tell(preflight::judgeQueue(m_queue));
                    askForDeadLetterQueue();
                });
        });
}

void PreflightRun::askForDeadLetterQueue()
{
    m_dlqUrl = m_config.dlqUrl;
    const auto redrive = preflight::readRedrive(m_queue.attributes.value(u"RedrivePolicy"_s));
    if (m_dlqUrl.isEmpty() && !redrive) {
        tellTimeOuts(); // its absence was told
        return;
    }
    if (!m_dlqUrl.isEmpty()) {
        askForDeadLetterAttributes();
        return;
    }
    m_dlq.url = redrive->deadLetterArn.section(u':', -1);
    m_client->getQueueUrl(m_dlq.url, this, [this](const Result<QUrl> &url) {
        if (!url) {
            m_dlq.error = url.error();
            tellDeadLetterQueue();
            return;
        }
        m_dlqUrl = url.value();
        askForDeadLetterAttributes();
    });
}

void PreflightRun::askForDeadLetterAttributes()
{
    m_dlq.url = shown(m_dlqUrl);
    m_client->getQueueAttributes(m_dlqUrl, {u"All"_s}, this, [this](const Result<QMap<QString, QString>> &attributes) {
        if (!attributes) {
            m_dlq.error = attributes.error();
            tellDeadLetterQueue();
            return;
        }
        m_dlq.attributes = attributes.value();
        tryDeadLetterPermissions();
    });
}

void PreflightRun::tryDeadLetterPermissions()
{
    m_client->changeVisibilityBatch(
        m_dlqUrl, {{u"check"_s, NoHandle, 0s}}, this, [this](const Result<QList<BatchEntryResult>> &changed) {
            m_dlq.permissions.append(preflight::permissionFrom(u"ChangeMessageVisibility"_s, changed));
            m_client->deleteBatch(m_dlqUrl, {{u"check"_s, NoHandle}}, this,
                                  [this](const Result<QList<BatchEntryResult>> &deleted) {
                                      m_dlq.permissions.append(preflight::permissionFrom(u"DeleteMessage"_s, deleted));
                                      m_dlq.permissions.append({u"ReceiveMessage"_s, Permission::Answer::Untried, {}});
                                      tellDeadLetterQueue();
                                  });
        });
}

void PreflightRun::tellDeadLetterQueue()
{
    tell(preflight::judgeDeadLetterQueue(m_queue, m_dlq));
    const QString arn = m_dlq.attributes.value(u"QueueArn"_s);
    if (m_dlq.error || arn.isEmpty()) {
        tellTimeOuts();
        return;
    }
    probeMoveTasks(*m_client, m_config.queueUrl, m_dlqUrl, arn, this, [this](const MoveTaskSupport &found) {
        tell(preflight::judgeMoveTasks(found));
        tellTimeOuts();
    });
}

void PreflightRun::tellTimeOuts()
{
    // A worker takes a queue without an answer for one of 30 s, and 0 for 1 s (Worker, askForFacts()).
    const int seconds = std::max(1, m_queue.attributes.value(u"VisibilityTimeout"_s, u"30"_s).toInt());
    tell(preflight::judgeTimeOuts(preflight::timeOutsOf(m_config, std::chrono::seconds(seconds))));
    Q_EMIT finished();
}

} // namespace sendonce
