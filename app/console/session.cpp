#include "app/console/session.h"

#include "app/config/embedded.h"
#include "app/process/backstage.h"
#include "worker/mail/mailpassword.h"

#include <QDeadlineTimer>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto KeychainPatience = 10s; ///< then the person is asked; nothing is lost by asking twice

} // namespace

Session::Session(GivenSettings given, QString dataDir) : m_given(std::move(given)), m_dataDir(std::move(dataDir)) { }

void Session::begin()
{
    stepBackstage();
    std::optional<LocalAddresses> local;
    QString note;
    // Named services are somebody's own: then nothing is started here. Services of this folder that already run are
    // used.
    if (m_given.has(u"queue-url"_s) && m_given.has(u"mail-url"_s)) {
        if (auto running = LocalServices::find(m_dataDir))
            local = running.take();
    } else {
        LocalSettings settings;
        settings.dataDir = m_dataDir;
        m_services = std::make_unique<LocalServices>();
        auto started = startEmbedded(*m_services, settings);
        if (!started) {
            Q_EMIT failed(started.error().text);
            return;
        }
        local = started.take();
        if (local->sqsPort != settings.sqsPort || local->smtpPort != settings.smtpPort) {
            note = u"A usual port is taken: the queue listens on 127.0.0.1:%1, the mailbox on 127.0.0.1:%2"_s.arg(
                QString::number(local->sqsPort), QString::number(local->smtpPort));
        }
    }
    const auto config = resolve(m_given, QProcessEnvironment::systemEnvironment(), m_dataDir, local);
    if (!config) {
        Q_EMIT failed(config.error().text);
        return;
    }
    m_config = config.value();
    m_config.crashEndsLane = true;
    m_note = note;
    if (m_config.mailPassword && !m_config.mailPassword->askable().isEmpty()) {
        const QDeadlineTimer end(KeychainPatience);
        const auto kept = m_config.mailPassword->get([&end] { return !end.hasExpired(); });
        if (!kept) {
            Q_EMIT passwordWanted(m_config.mailPassword->askable(), kept.error().text);
            return;
        }
    }
    openWorker();
}

void Session::givePassword(const QString &password)
{
    if (password.isEmpty()) {
        Q_EMIT failed(u"There is no password for %1"_s.arg(m_config.mailPassword->askable()));
        return;
    }
    m_config.mailPassword = std::make_shared<MailPassword>(password);
    openWorker();
}

void Session::openWorker()
{
    m_log = std::make_unique<LogFile>(m_dataDir);
    m_worker = std::make_unique<Worker>(m_config);
    connect(m_worker.get(), &Worker::logged, m_log.get(), &LogFile::write);
    connect(m_worker.get(), &Worker::closed, this, [this] {
        m_services.reset();
        Q_EMIT ended();
    });
    Q_EMIT ready(m_worker.get(), m_config.profile, m_config.embedded, m_note);
}

void Session::end()
{
    if (m_worker)
        m_worker->close();
    else
        Q_EMIT ended();
}

} // namespace sendonce
