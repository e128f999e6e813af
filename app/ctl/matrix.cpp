#include "app/ctl/commands.h"
#include "app/ctl/terminal.h"
#include "app/process/privacy.h"
#include "app/process/stopsignals.h"
#include "worker/scenario/guaranteematrix.h"
#include "worker/scenario/matrixreport.h"

#include <QCoreApplication>
#include <QTemporaryDir>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

/// Runs the matrix, tells of it, and knows the exit code.
class MatrixCommand : public QObject
{
public:
    MatrixCommand(const QString &workDir, const CommandLine &line)
        : m_matrix(workDir)
        , m_isJson(line.has(u"json"_s))
        , m_html(line.value(u"html"_s))
        , m_isWatched(::isatty(STDERR_FILENO) == 1)
    {
        connect(&m_matrix, &GuaranteeMatrix::progressed, this, &MatrixCommand::progressed);
        connect(&m_signals, &StopSignals::asked, this, [this](int signal) {
            if (m_interrupted && signal == SIGINT) // Ctrl+C again: at once
                ::_exit(128 + signal);
            m_interrupted = true;
            m_matrix.stop();
        });
    }

    int run(const GuaranteeMatrix::Choice &choice)
    {
        QMetaObject::invokeMethod(
            this, [this, choice] { m_matrix.run(choice); }, Qt::QueuedConnection);
        return QCoreApplication::exec();
    }

private:
    void progressed(const MatrixProgress &progress)
    {
        if (m_isWatched) {
            std::fprintf(stderr, "\r%d of %d, %.0f s%s", progress.done, progress.total, progress.seconds,
                         progress.finished ? "\n" : " ");
            std::fflush(stderr);
        }
        if (progress.finished)
            finish();
    }

    /// Lines come when all are known: a repeated cell changes with each of its runs.
    void finish()
    {
        const QList<MatrixCell> cells = m_matrix.cells();
        if (m_isJson) {
            for (const MatrixCell &cell : cells)
                sayJson(toJson(cell));
        } else {
            say(matrixText(GuaranteeMatrix::shape(), cells));
        }
        for (const MatrixCell &cell : cells) {
            if (isGuaranteeBroken(cell))
                complain(
                    u"a guarantee is broken: %1, %2: %3 (%4)"_s.arg(cell.design, cell.hazard, cell.text, cell.folder));
            else if (cell.mails < 0)
                complain(u"not measured: %1, %2: %3"_s.arg(cell.design, cell.hazard, cell.text));
        }
        QCoreApplication::exit(exitCode(cells));
    }

    int exitCode(const QList<MatrixCell> &cells)
    {
        bool hasFailed =
            std::any_of(cells.cbegin(), cells.cend(), [](const MatrixCell &cell) { return cell.mails < 0; });
        if (!m_html.isEmpty()) {
            if (const auto written = writeMatrix(GuaranteeMatrix::shape(), cells, m_html); !written) {
                complain(written.error().text);
                hasFailed = true;
            }
        }
        if (std::any_of(cells.cbegin(), cells.cend(), isGuaranteeBroken))
            return GuaranteeBroken;
        return m_interrupted ? Interrupted : hasFailed ? Failed : Done;
    }

    GuaranteeMatrix m_matrix;
    StopSignals m_signals;
    const bool m_isJson;
    const QString m_html;
    const bool m_isWatched;
    bool m_interrupted = false;
};

} // namespace

int runMatrix(const QStringList &words)
{
    CommandLine line(
        u"sendoncectl matrix"_s,
        u"runs each design under each hazard, on embedded services of its own, and counts the e-mails; 3 when a "
        "production design lost one or doubled one without announcing it, else 0"_s,
        {},
        {{u"repeat"_s, u"N"_s, u"1"_s, u"each cell so often, the timing left to chance: shows rates"_s},
         {u"design"_s, u"ID"_s, u"all"_s, u"only this one (may be given several times)"_s},
         {u"hazard"_s, u"ID"_s, u"all"_s, u"only this one (may be given several times)"_s},
         {u"json"_s, {}, {}, u"a JSON line for each cell"_s},
         {u"html"_s, u"FILE"_s, {}, u"write a report (.html), one self-contained file"_s},
         {u"data-dir"_s, u"DIR"_s, u"a temporary one"_s, u"keep each cell's journal, log and e-mails there"_s}},
        {u"sendoncectl matrix"_s, u"sendoncectl matrix --design check-then-insert --hazard race --repeat 100"_s,
         u"sendoncectl matrix --html matrix.html --data-dir evidence"_s});
    if (const auto ended = answered(line, words))
        return *ended;
    bool isNumber = true;
    GuaranteeMatrix::Choice choice{line.values(u"design"_s), line.values(u"hazard"_s),
                                   line.value(u"repeat"_s, u"1"_s).toInt(&isNumber)};
    QString problem = isNumber ? GuaranteeMatrix::problemOf(choice)
                               : u"repeat is “%1”; accepted: a number"_s.arg(line.value(u"repeat"_s));
    if (problem.isEmpty() && line.has(u"html"_s) && !line.value(u"html"_s).endsWith(".html"_L1))
        problem = u"html is “%1”; accepted: a file that ends in .html"_s.arg(line.value(u"html"_s));
    if (!problem.isEmpty()) {
        complain(u"--"_s + problem);
        return Usage;
    }
    QTemporaryDir temporary;
    const auto dataDir = prepareDataDir(line.value(u"data-dir"_s, temporary.path()));
    if (!dataDir) {
        complain(dataDir.error().text);
        return exitCodeOf(dataDir.error());
    }
    MatrixCommand command(dataDir.value() + u"/matrix"_s, line);
    return command.run(choice);
}

} // namespace sendonce
