#include "worker/worker.h"
#include "app/ctl/commands.h"
#include "app/ctl/secret.h"
#include "app/ctl/terminal.h"
#include "app/process/logfile.h"
#include "app/process/stopsignals.h"
#include "worker/faults/crashpoint.h"

#include <QCoreApplication>
#include <QJsonObject>
#include <QTimer>

#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto GiveUpAfter = 30s;

/// Runs a Worker until its bound is reached, a signal comes or a service stays away; knows the exit code.
class HeadlessRun : public QObject
{
public:
    HeadlessRun(Config config, const CommandLine &line)
        : m_worker(config)
        , m_log(config.dataDir, LogFile::Echo::Stderr)
        , m_untilEmpty(line.has(u"until-empty"_s))
        , m_maxMessages(config.maxMessages)
        , m_json(line.has(u"json"_s))
    {
        connect(&m_worker, &Worker::logged, &m_log, &LogFile::write);
        connect(&m_worker, &Worker::openFailed, this, [this](const Error &error) { end(exitCodeOf(error)); });
        connect(&m_worker, &Worker::countersChanged, this, [this](const Counters &counters) { m_counters = counters; });
        connect(&m_worker, &Worker::inHandChanged, this, [this](int messages) {
            m_inHand = messages;
            if (messages > 0)
                m_emptyReadings = 0;
        });
        connect(&m_worker, &Worker::delivered, this, &HeadlessRun::delivered);
        connect(&m_worker, &Worker::depthSampled, this, &HeadlessRun::sampled);
        connect(&m_worker, &Worker::serviceChanged, this, &HeadlessRun::serviceChanged);
        connect(&m_worker, &Worker::closed, this, [this] { QCoreApplication::exit(m_exitCode); });
        m_unreachable.setSingleShot(true);
        m_unreachable.setInterval(GiveUpAfter);
        connect(&m_unreachable, &QTimer::timeout, this, [this] {
            complain(u"%1 for 30 s"_s.arg(m_missing));
            end(Unreachable);
        });
        connect(&m_signals, &StopSignals::asked, this, [this](int signal) {
            if (m_ending && signal == SIGINT) // Ctrl+C again: at once
                ::_exit(128 + signal);
            // A second SIGTERM is no more than the first: service managers repeat it, and have SIGKILL.
            if (!m_ending)
                end(signal == SIGINT ? Interrupted : Done);
        });
    }

    int run(std::optional<std::chrono::milliseconds> bound)
    {
        m_worker.open();
        m_worker.start();
        if (bound)
            QTimer::singleShot(*bound, this, [this] { end(Done); });
        const int code = QCoreApplication::exec();
        if (m_json) {
            sayJson(QJsonObject{{u"sent"_s, m_counters.sent},
                                {u"skipped"_s, m_counters.skipped},
                                {u"failed"_s, m_counters.failed},
                                {u"inDoubt"_s, m_counters.inDoubt},
                                {u"possiblyTwice"_s, m_counters.possiblyTwice}});
        } else {
            say(u"sent %1, skipped %2, failed %3, in doubt %4"_s.arg(m_counters.sent)
                    .arg(m_counters.skipped)
                    .arg(m_counters.failed)
                    .arg(m_counters.inDoubt));
        }
        return code;
    }

private:
    void end(int code)
    {
        if (m_ending)
            return;
        m_ending = true;
        m_exitCode = code;
        m_worker.close();
    }

    void delivered(const DeliveryReport &report)
    {
        if (m_json) {
            static const QStringList Outcomes = {u"sent"_s,   u"duplicate"_s, u"gone"_s,
                                                 u"failed"_s, u"in doubt"_s,  u"given back"_s};
            sayJson(QJsonObject{{u"eventId"_s, report.eventId},
                                {u"messageId"_s, report.messageId},
                                {u"type"_s, report.eventType},
                                {u"outcome"_s, Outcomes[int(report.outcome)]},
                                {u"receiveCount"_s, report.receiveCount},
                                {u"lane"_s, report.lane},
                                {u"reason"_s, report.reason},
                                {u"mailReply"_s, report.mailReply}});
        }
        ++m_settled;
        if (m_maxMessages > 0 && m_settled >= m_maxMessages)
            end(Done);
    }

    void sampled(const QueueDepth &depth)
    {
        // Nothing in hand and nothing anywhere in two readings in a row: a single one may have been taken between two
        // states.
        const bool empty = m_inHand == 0 && depth.visible == 0 && depth.inFlight == 0 && depth.delayed == 0;
        m_emptyReadings = empty ? m_emptyReadings + 1 : 0;
        if (m_untilEmpty && m_emptyReadings >= 2)
            end(Done);
    }

    void serviceChanged(const ServiceStatus &status)
    {
        const bool paused = status.health == ServiceStatus::Health::Paused;
        m_failing[int(status.service)] = paused || status.health == ServiceStatus::Health::Failing;
        if (paused) {
            m_missing = u"the queue %1 did not accept the keys"_s.arg(status.address);
        } else if (status.health == ServiceStatus::Health::Failing) {
            static const QStringList Names = {u"the queue"_s, u"the database"_s, u"the mail server"_s};
            m_missing = u"%1 %2 could not be reached"_s.arg(Names[int(status.service)], status.address);
        }
        const bool any = m_failing[0] || m_failing[1] || m_failing[2];
        if (!any)
            m_unreachable.stop();
        else if (m_untilEmpty && !m_unreachable.isActive())
            m_unreachable.start();
    }

    Worker m_worker;
    LogFile m_log;
    StopSignals m_signals;
    QTimer m_unreachable;
    QString m_missing;
    std::array<bool, 3> m_failing = {false, false, false};
    Counters m_counters;
    bool m_untilEmpty = false;
    qint64 m_maxMessages = 0;
    qint64 m_settled = 0;
    bool m_json = false;
    int m_inHand = 0;
    int m_emptyReadings = 0;
    bool m_ending = false;
    int m_exitCode = Done;
};

} // namespace

int runWorker(const QStringList &words)
{
    CommandLine line(
        u"sendoncectl worker"_s, u"takes events from the queue and sends one e-mail for each"_s, allFlags(),
        {{u"until-empty"_s, {}, {}, u"end when the queue is empty and nothing is in hand"_s},
         {u"max-messages"_s, u"N"_s, {}, u"end after N deliveries"_s},
         {u"run-for"_s, u"SECONDS"_s, {}, u"end after this time"_s},
         {u"crash-at"_s,
          u"POINT"_s,
          {},
          u"kill itself (SIGKILL) at "_s + crashNames().join(u", "_s) + u"; embedded services only"_s},
         {u"json"_s, {}, {}, u"JSON lines on stdout"_s}},
        {u"sendoncectl worker --until-empty"_s, u"sendoncectl worker --max-messages 1 --crash-at committed"_s});
    if (const auto ended = answered(line, words))
        return *ended;
    bool ok = true;
    if (line.has(u"max-messages"_s) && (line.value(u"max-messages"_s).toLongLong(&ok) < 1 || !ok)) {
        complain(u"--max-messages is “%1”; accepted: a number from 1"_s.arg(line.value(u"max-messages"_s)));
        return Usage;
    }
    std::optional<std::chrono::milliseconds> bound;
    if (line.has(u"run-for"_s)) {
        bound = parseDuration(line.value(u"run-for"_s));
        if (!bound) {
            complain(u"--run-for is “%1”; accepted: a time such as 10, 10s or 500ms"_s.arg(line.value(u"run-for"_s)));
            return Usage;
        }
    }
    auto prepared = prepare(line);
    if (!prepared) {
        complain(prepared.error().text);
        return exitCodeOf(prepared.error());
    }
    Config config = prepared->config;
    if (config.readOnly) {
        complain(u"--read-only (SENDONCE_READ_ONLY) is set: a read-only profile works on no event"_s);
        return Usage;
    }
    if (line.has(u"crash-at"_s)) {
        config.crashAt = crashStage(line.value(u"crash-at"_s));
        if (!config.crashAt) {
            complain(u"--crash-at is “%1”; accepted: %2"_s.arg(line.value(u"crash-at"_s), crashNames().join(u", "_s)));
            return Usage;
        }
        if (!config.embedded) {
            complain(
                u"--crash-at works on the embedded services only; queue, database and mail are not all this data folder's"_s);
            return Usage;
        }
    }
    if (line.has(u"until-empty"_s))
        config.depthInterval = 1s;
    if (const auto known = askForMailPassword(config); !known) {
        complain(u"no password for the mail server: "_s + known.error().text);
        return exitCodeOf(known.error());
    }
    config.maxMessages = line.value(u"max-messages"_s, u"0"_s).toLongLong();
    HeadlessRun run(config, line);
    return run.run(bound);
}

} // namespace sendonce
