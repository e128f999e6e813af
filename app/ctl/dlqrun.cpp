#include "app/ctl/dlqrun.h"

#include "worker/operate/letterfile.h"

#include <QCoreApplication>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include <unistd.h>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto OpenWithin = 30s;

} // namespace

DlqRun::DlqRun(const Config &config) : m_config(config), m_worker(config)
{
    connect(&m_worker, &Worker::openFailed, this, [this](const Error &error) {
        complain(error.text);
        finish(exitCodeOf(error));
    });
    connect(&m_worker, &Worker::opened, this, [this] {
        m_openBound.stop();
        opened();
    });
    connect(&m_worker, &Worker::serviceChanged, this, [this](const ServiceStatus &status) {
        if (status.health != ServiceStatus::Health::Paused)
            return;
        complain(status.detail); // a worker waits for keys; whoever asked for a list does not
        finish(exitCodeOf({ErrorKind::Refused, {}, {}}));
    });
    connect(&m_worker, &Worker::actFailed, this,
            [this](const QString &act, const QString &text) { failed(act, text); });
    connect(&m_worker, &Worker::closed, this, [this] { QCoreApplication::exit(closed(m_code)); });
    connect(&m_signals, &StopSignals::asked, this,
            [this](int signal) { interrupted(signal == SIGINT ? Interrupted : Done); });
    m_openBound.setSingleShot(true);
    connect(&m_openBound, &QTimer::timeout, this, [this] {
        complain(u"the queue could not be reached for 30 s"_s);
        finish(Unreachable);
    });
    m_openBound.start(OpenWithin);
}

int DlqRun::run()
{
    m_worker.open();
    return QCoreApplication::exec();
}

void DlqRun::failed(const QString &act, const QString &text)
{
    complain(u"%1: %2"_s.arg(act, text));
    finish(Failed);
}

void DlqRun::finish(int code)
{
    m_code = code;
    m_worker.close();
}

BrowseRun::BrowseRun(const Config &config, const CommandLine &line) : DlqRun(config), m_line(line)
{
    connect(&m_worker, &Worker::deadLettersChanged, this, [this](const DeadLetterList &list) {
        if (!list.finished || !m_browsing)
            return;
        m_browsing = false;
        if (m_stopCode >= 0) {
            finish(m_stopCode);
            return;
        }
        if (!list.error.isEmpty()) {
            complain(list.needsYes ? list.error + u"; with --yes it begins"_s : list.error);
            finish(list.needsYes ? Usage : Failed);
            return;
        }
        browsed(list);
    });
}

void BrowseRun::opened()
{
    m_browsing = true;
    m_worker.browseDeadLetters(m_line.has(u"yes"_s));
}

void BrowseRun::failed(const QString &act, const QString &text)
{
    complain(u"%1: %2"_s.arg(act, text));
    if (!m_browsing) // a browse tells the rest itself
        finish(Failed);
}

void BrowseRun::interrupted(int code)
{
    if (!m_browsing) {
        finish(code);
        return;
    }
    m_stopCode = code; // what was seen is made visible first
    m_worker.cancelBrowse();
}

CommandLine dlqLine(const QString &name, const QString &summary, QList<CommandOption> options,
                    const QStringList &examples)
{
    options.append({u"json"_s, {}, {}, u"JSON lines"_s});
    return CommandLine(u"sendoncectl dlq "_s + name, summary,
                       {u"queue-url"_s, u"dlq-url"_s, u"endpoint-url"_s, u"region"_s, u"aws-profile"_s,
                        u"database-url"_s, u"data-dir"_s, u"read-only"_s},
                       options, examples);
}

QList<CommandOption> selectionOptions()
{
    return {{u"all"_s, {}, {}, u"every dead letter"_s},
            {u"message-id"_s, u"ID"_s, {}, u"this one; may be repeated"_s},
            {u"event-id"_s, u"ID"_s, {}, u"those of this event; may be repeated"_s},
            {u"reason"_s, u"TEXT"_s, {}, u"those whose reason holds this text; may be repeated"_s},
            {u"verdict"_s, u"NAME"_s, {}, u"not handled, handled, in doubt, unknown or invalid; may be repeated"_s},
            {u"yes"_s, {}, {}, u"do not ask; for scripts"_s}};
}

bool namesSelection(const CommandLine &line)
{
    return line.has(u"all"_s) || line.has(u"message-id"_s) || line.has(u"event-id"_s) || line.has(u"reason"_s)
        || line.has(u"verdict"_s);
}

QList<DeadLetter> chosenOf(const QList<DeadLetter> &letters, const CommandLine &line)
{
    const QStringList messages = line.values(u"message-id"_s);
    const QStringList events = line.values(u"event-id"_s);
    const QStringList reasons = line.values(u"reason"_s);
    const QStringList verdicts = line.values(u"verdict"_s);
    QList<DeadLetter> chosen;
    for (const DeadLetter &letter : letters) {
        const bool byId = (messages.isEmpty() && events.isEmpty()) || messages.contains(letter.message.messageId)
            || (!letter.eventId.isEmpty() && events.contains(letter.eventId));
        const bool byReason =
            reasons.isEmpty() || std::any_of(reasons.cbegin(), reasons.cend(), [&letter](const QString &text) {
                return letter.reason.contains(text, Qt::CaseInsensitive);
            });
        const bool byVerdict = verdicts.isEmpty() || verdicts.contains(letterfile::verdictName(letter.verdict));
        if (byId && byReason && byVerdict)
            chosen.append(letter);
    }
    return chosen;
}

QString forecastText(const ReplayForecast &forecast)
{
    QStringList parts;
    const auto add = [&parts](qint64 count, const QString &text) {
        if (count > 0)
            parts.append(u"%1 %2"_s.arg(QString::number(count), text));
    };
    add(forecast.send, u"will send"_s);
    add(forecast.skip, u"will be skipped"_s);
    add(forecast.doubt, u"in doubt, will send perhaps a second time"_s);
    add(forecast.unknown, u"unknown, may send a second time"_s);
    add(forecast.fail, u"will fail again"_s);
    add(forecast.forgotten, u"stopped, for claims of their time were cleaned up"_s);
    return parts.join(u", "_s);
}

bool confirmed(const Config &config, const CommandLine &line, const QString &question)
{
    if (config.embedded || line.has(u"yes"_s))
        return true;
    if (isatty(STDIN_FILENO) == 0) {
        complain(u"%1 Give --yes to do it without being asked"_s.arg(question));
        return false;
    }
    std::fprintf(stderr, "%s Type yes: ", question.toUtf8().constData());
    char answer[16] = {};
    return std::fgets(answer, sizeof answer, stdin) && QByteArray(answer).trimmed() == "yes";
}

} // namespace sendonce
