#include "app/config/embedded.h"
#include "app/ctl/commands.h"
#include "app/ctl/listing.h"
#include "app/ctl/terminal.h"
#include "app/process/privacy.h"
#include "app/process/stopsignals.h"
#include "worker/operate/mailboxindex.h"
#include "worker/worker.h"

#include <QCoreApplication>
#include <QTemporaryDir>
#include <QTimer>

#include <csignal>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto DemoBound = 60s;

/// One event, two messages: shows one e-mail and one skip, and checks that it was so.
class DemoRun : public QObject
{
public:
    explicit DemoRun(const Config &config) : m_worker(config), m_dataDir(config.dataDir)
    {
        connect(&m_worker, &Worker::opened, this, [this] {
            say(u"1. Sending one event as two messages with the same event_id."_s);
            m_worker.injectDuplicate({});
        });
        connect(&m_worker, &Worker::openFailed, this, [this](const Error &error) {
            complain(error.text);
            finish(exitCodeOf(error));
        });
        connect(&m_worker, &Worker::logged, this, [](const LogLine &line) {
            if (line.level >= LogLevel::Warning)
                complain(line.text);
        });
        connect(&m_worker, &Worker::sendFinished, this, &DemoRun::sent);
        connect(&m_worker, &Worker::delivered, this, &DemoRun::delivered);
        connect(&m_worker, &Worker::deleted, this, &DemoRun::deleted);
        connect(&m_worker, &Worker::closed, this, [this] { QCoreApplication::exit(m_code); });
        connect(&m_signals, &StopSignals::asked, this,
                [this](int signal) { finish(signal == SIGINT ? Interrupted : Done); });
        QTimer::singleShot(DemoBound, this, [this] {
            complain(u"the demo did not end within 60 s"_s);
            finish(Failed);
        });
    }

    int run()
    {
        m_worker.open();
        return QCoreApplication::exec();
    }

private:
    void finish(int code)
    {
        m_code = code;
        m_worker.close();
    }

    void sent(const SendReport &report)
    {
        if (!report.error.isEmpty()) {
            complain(report.error);
            finish(Failed);
            return;
        }
        m_eventId = report.eventId;
        say(u"     event   %1"_s.arg(report.eventId));
        for (const QString &messageId : report.messageIds)
            say(u"     message %1"_s.arg(messageId));
        say(u"2. Starting the worker."_s);
        m_worker.start();
    }

    void delivered(const DeliveryReport &report)
    {
        say(u"     %1 %2"_s.arg(report.outcome == Outcome::Sent            ? u"✓"_s
                                    : report.outcome == Outcome::Duplicate ? u"·"_s
                                                                           : u"✕"_s,
                                inert(report.logLine)));
        m_skips += report.outcome == Outcome::Duplicate ? 1 : 0;
    }

    void deleted(const QStringList &messageIds)
    {
        m_deleted += messageIds.size();
        if (m_deleted < 2)
            return;
        say(u"3. Both messages are deleted. In the mailbox:"_s);
        MailboxIndex mailbox(m_dataDir);
        mailbox.refresh();
        const MailboxSnapshot mails = mailbox.snapshot(m_eventId, 100);
        for (const MailRow &mail : mails.rows)
            say(u"     to %1: %2"_s.arg(inert(mail.to), inert(mail.subject)));
        const bool kept = mails.total == 1 && m_skips == 1;
        say(u"%1 one event, delivered twice: %2 e-mail, %3 skip"_s.arg(kept ? u"OK:"_s : u"BROKEN:"_s)
                .arg(mails.total)
                .arg(m_skips));
        finish(kept ? Done : GuaranteeBroken);
    }

    Worker m_worker;
    QString m_dataDir;
    StopSignals m_signals;
    QString m_eventId;
    qsizetype m_deleted = 0;
    int m_skips = 0;
    int m_code = Done;
};

} // namespace

int runDemo(const QStringList &words)
{
    CommandLine line(u"sendoncectl demo"_s, u"sends one event, delivers it twice, shows one e-mail and one skip"_s, {},
                     {{u"data-dir"_s, u"DIR"_s, u"a temporary one"_s, u"keep the files there"_s}});
    if (const auto ended = answered(line, words))
        return *ended;
    QTemporaryDir temporary;
    const auto dataDir = prepareDataDir(line.value(u"data-dir"_s, temporary.path()));
    if (!dataDir) {
        complain(dataDir.error().text);
        return exitCodeOf(dataDir.error());
    }
    LocalSettings settings;
    settings.dataDir = dataDir.value();
    settings.sqsPort = 0;
    settings.smtpPort = 0;
    LocalServices services;
    const auto started = startEmbedded(services, settings);
    if (!started) {
        complain(started.error().text);
        return exitCodeOf(started.error());
    }
    // The demo is about its own services: what the environment names does not count here.
    const auto config = resolve({}, QProcessEnvironment(), settings.dataDir, started.value());
    if (!config) {
        complain(config.error().text);
        return exitCodeOf(config.error());
    }
    DemoRun run(config.value());
    return run.run();
}

} // namespace sendonce
