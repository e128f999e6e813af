#pragma once

#include "worker/result.h"
#include "worker/scenario/scenariotypes.h"
#include "worker/types.h"

#include <QByteArray>
#include <QJsonObject>
#include <QList>
#include <QString>
#include <QStringList>

namespace sendonce {

/// An e-mail that a run has left in the mailbox.
struct ReportedMail
{
    QString event; ///< its label; its id when it has none
    QString to, subject, messageId;
    QString text; ///< the text part

    bool operator==(const ReportedMail &) const = default;
};

/// A run with all that is kept of it as evidence.
struct ScenarioReport
{
    ScenarioRun run;
    ScenarioInfo info;
    QStringList log; ///< all lines, oldest first: "12:00:00.123 WARNING worker 1: …"
    QList<ReportedMail> mails; ///< oldest first

    bool operator==(const ScenarioReport &) const = default;
};

/// JUnit XML: one test suite with a case for each run. \param suite its name
QByteArray junitXml(const QList<ScenarioReport> &reports, const QString &suite);
/// One self-contained page, light and dark as the reader's system is, all text escaped.
QByteArray htmlPage(const QList<ScenarioReport> &reports, const QString &title);
/// A line for each run.
QByteArray jsonLines(const QList<ScenarioReport> &reports);
QJsonObject toJson(const ScenarioRun &run);
/// What did not hold, a line each: steps and expectations that failed, and why it did not come to its end.
QStringList faultsOf(const ScenarioRun &run);

/// As one file, its form by the ending of its name: .html, .xml (JUnit), .json or .jsonl (lines). Invalid for another
/// ending, Io when it cannot be written: then what was there before is still there.
Result<void> writeReports(const QList<ScenarioReport> &reports, const QString &path);
/// Beside the journal and the mailbox of its world: log.txt, run.json and report.html.
Result<void> writeEvidence(const ScenarioReport &report, const QString &folder);

/// "12:00:00.123 WARNING worker 1: text", UTC.
QString logText(int worker, const LogLine &line);

} // namespace sendonce
