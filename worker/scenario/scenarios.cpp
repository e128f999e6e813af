#include "worker/scenario/scenarios.h"

#include "worker/scenario/guaranteematrix.h"
#include "worker/scenario/matrixreport.h"
#include "worker/scenario/scenariofile.h"
#include "worker/scenario/scenarioreport.h"
#include "worker/scenario/scenariorunner.h"

#include <QDateTime>
#include <QDir>
#include <QFile>

#include <algorithm>
#include <vector>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr qsizetype MostReports = 500; ///< kept for an export

} // namespace

struct Scenarios::Private
{
    struct Order
    {
        Scenario scenario;
        bool slowMotion = false;
    };

    Private(Scenarios *scenarios, QString work, QString user)
        : q(scenarios)
        , workDir(std::move(work))
        , userDir(std::move(user))
        , matrix(workDir + u"/matrix"_s, scenarios)
    { }

    void startNext();
    void ended(ScenarioRunner *runner);
    QString newFolder(const QString &name) const;

    Scenarios *const q;
    const QString workDir, userDir;
    int atOnce = 1;
    qint64 lastId = 0;
    QList<Order> waiting;
    std::vector<ScenarioRunner *> running; ///< children of q
    QList<ScenarioReport> reports; ///< of the runs that are over
    GuaranteeMatrix matrix; ///< a child of q, to follow it into its thread
};

Scenarios::Scenarios(const QString &workDir, const QString &userDir, QObject *parent)
    : QObject(parent)
    , d(std::make_unique<Private>(this, workDir, userDir))
{
    qRegisterMetaType<ScenarioList>();
    qRegisterMetaType<MatrixShape>();
    qRegisterMetaType<MatrixProgress>();
    connect(&d->matrix, &GuaranteeMatrix::cellChanged, this, &Scenarios::cellChanged);
    connect(&d->matrix, &GuaranteeMatrix::progressed, this, &Scenarios::matrixProgressed);
}

Scenarios::~Scenarios()
{
    // Before what they tell of themselves to.
    for (ScenarioRunner *runner : d->running)
        delete runner;
}

void Scenarios::setAtOnce(int runs)
{
    d->atOnce = std::max(1, runs);
}

void Scenarios::list()
{
    const Catalogue catalogue = loadCatalogue(d->userDir);
    ScenarioList list;
    for (const Scenario &scenario : catalogue.scenarios)
        list.scenarios.append(infoOf(scenario));
    list.problems = catalogue.problems;
    Q_EMIT listed(list);
}

void Scenarios::run(const QStringList &names, bool slowMotion)
{
    const Catalogue catalogue = loadCatalogue(d->userDir);
    const auto find = [&catalogue](const QString &name) {
        return std::find_if(catalogue.scenarios.cbegin(), catalogue.scenarios.cend(),
                            [&name](const Scenario &scenario) { return scenario.name == name; });
    };
    for (const QString &name : names) {
        if (find(name) == catalogue.scenarios.cend())
            Q_EMIT actFailed(u"run"_s, u"there is no scenario “%1”"_s.arg(name));
        else
            d->waiting.append({*find(name), slowMotion});
    }
    if (names.isEmpty()) {
        for (const Scenario &scenario : catalogue.scenarios)
            d->waiting.append({scenario, slowMotion});
    }
    // Queued, like every answer: whoever asks may not be connected yet.
    QMetaObject::invokeMethod(
        this, [this] { d->startNext(); }, Qt::QueuedConnection);
}

void Scenarios::stop()
{
    d->waiting.clear();
    const auto running = d->running;
    for (ScenarioRunner *runner : running)
        runner->stop();
}

QString Scenarios::Private::newFolder(const QString &name) const
{
    const QString base =
        u"%1/%2-%3"_s.arg(workDir, QDateTime::currentDateTimeUtc().toString(u"yyyyMMdd-HHmmss"_s), name);
    QString folder = base;
    for (int more = 2; QFile::exists(folder); ++more)
        folder = u"%1-%2"_s.arg(base).arg(more);
    return folder;
}

void Scenarios::Private::startNext()
{
    while (int(running.size()) < atOnce && !waiting.isEmpty()) {
        const Order order = waiting.takeFirst();
        const QString folder = newFolder(order.scenario.name);
        if (!QDir().mkpath(folder)) { // taken before another one looks for a free name
            waiting.clear();
            Q_EMIT q->actFailed(u"run"_s, u"the folder %1 cannot be made"_s.arg(folder));
            break;
        }
        QFile::setPermissions(workDir, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        auto *const runner = new ScenarioRunner(order.scenario, {++lastId, folder, order.slowMotion, {}}, q);
        running.push_back(runner);
        connect(runner, &ScenarioRunner::changed, q, &Scenarios::runChanged);
        connect(runner, &ScenarioRunner::finished, q, [this, runner] { ended(runner); });
        runner->start();
    }
    if (running.empty() && waiting.isEmpty())
        Q_EMIT q->runsFinished();
}

void Scenarios::Private::ended(ScenarioRunner *runner)
{
    reports.append(runner->report());
    if (reports.size() > MostReports)
        reports.removeFirst();
    std::erase(running, runner);
    runner->deleteLater();
    startNext();
}

void Scenarios::exportRuns(const QString &path)
{
    if (const auto written = writeReports(d->reports, path); !written)
        Q_EMIT actFailed(u"export"_s, written.error().text);
    else
        Q_EMIT exported(path);
}

// ---- the matrix

void Scenarios::queryMatrix()
{
    Q_EMIT matrixKnown(GuaranteeMatrix::shape());
}

void Scenarios::runMatrix(int repeat)
{
    const GuaranteeMatrix::Choice choice{{}, {}, repeat};
    if (const QString problem = GuaranteeMatrix::problemOf(choice); !problem.isEmpty())
        Q_EMIT actFailed(u"matrix"_s, problem);
    else
        d->matrix.run(choice);
}

void Scenarios::stopMatrix()
{
    d->matrix.stop();
}

void Scenarios::exportMatrix(const QString &path)
{
    if (const auto written = writeMatrix(GuaranteeMatrix::shape(), d->matrix.cells(), path); !written)
        Q_EMIT actFailed(u"export"_s, written.error().text);
    else
        Q_EMIT exported(path);
}

} // namespace sendonce
