#pragma once

#include "app/ctl/terminal.h"
#include "app/process/stopsignals.h"
#include "worker/worker.h"

#include <QObject>
#include <QTimer>

namespace sendonce {

/// What the dlq subcommands share: a worker that is opened, asked, and closed; Ctrl+C; the exit code.
class DlqRun : public QObject
{
public:
    explicit DlqRun(const Config &config);

    int run(); ///< the exit code

protected:
    /// The worker is open: ask it. Each way must lead to finish().
    virtual void opened() = 0;
    /// The worker refused or failed at something; as it stands here it is told, and the run fails.
    virtual void failed(const QString &act, const QString &text);
    /// SIGTERM or Ctrl+C: at once, unless something must be put right first.
    virtual void interrupted(int code) { finish(code); }
    void finish(int code);
    /// All that was under way has been answered: the exit code, which was to be `code`.
    virtual int closed(int code) { return code; }

    const Config m_config;
    Worker m_worker;

private:
    StopSignals m_signals;
    QTimer m_openBound;
    int m_code = Done;
};

/// Looks through the DLQ once; then browsed().
class BrowseRun : public DlqRun
{
public:
    BrowseRun(const Config &config, const CommandLine &line);

protected:
    virtual void browsed(const DeadLetterList &list) = 0;
    void opened() override;
    void failed(const QString &act, const QString &text) override;
    void interrupted(int code) override;

    const CommandLine &m_line;

private:
    bool m_browsing = false;
    int m_stopCode = -1;
};

/// Settings and options of `dlq NAME`.
CommandLine dlqLine(const QString &name, const QString &summary, QList<CommandOption> options,
                    const QStringList &examples = {});
/// --all, --message-id, --event-id, --reason, --verdict, for dlqLine().
QList<CommandOption> selectionOptions();
bool namesSelection(const CommandLine &line);
/// Which letters those options choose; --all: all. Several of one option widen, different options narrow.
QList<DeadLetter> chosenOf(const QList<DeadLetter> &letters, const CommandLine &line);
/// "41 will send, 6 will be skipped, 2 will fail again".
QString forecastText(const ReplayForecast &forecast);
/// Embedded services: always. Others: --yes, or "yes" typed at a terminal.
bool confirmed(const Config &config, const CommandLine &line, const QString &question);

/// Resolves the settings of a line that was parsed, and runs `Run(config, line)`.
template <typename Run>
int runDlq(const CommandLine &line)
{
    const auto prepared = prepare(line);
    if (!prepared) {
        complain(prepared.error().text);
        return exitCodeOf(prepared.error());
    }
    Run run(prepared->config, line);
    return run.run();
}

} // namespace sendonce
