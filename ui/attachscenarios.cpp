#include "ui/attach.h"
#include "ui/mainwindow.h"
#include "ui/matrixpanel.h"
#include "ui/scenariospanel.h"
#include "worker/scenario/scenarios.h"

namespace sendonce {

// In a file of its own: a program that runs no scenarios does not link them.
void attach(MainWindow &window, Scenarios &scenarios)
{
    const auto queued = Qt::QueuedConnection;
    using S = Scenarios;
    using P = ScenariosPanel;
    using M = MatrixPanel;
    ScenariosPanel *panel = window.scenariosPanel();
    MatrixPanel *matrix = window.matrixPanel();

    QObject::connect(panel, &P::listQueried, &scenarios, &S::list, queued);
    QObject::connect(panel, &P::runRequested, &scenarios, &S::run, queued);
    QObject::connect(panel, &P::stopRequested, &scenarios, &S::stop, queued);
    QObject::connect(panel, &P::exportRequested, &scenarios, &S::exportRuns, queued);
    QObject::connect(matrix, &M::shapeQueried, &scenarios, &S::queryMatrix, queued);
    QObject::connect(matrix, &M::runRequested, &scenarios, &S::runMatrix, queued);
    QObject::connect(matrix, &M::stopRequested, &scenarios, &S::stopMatrix, queued);
    QObject::connect(matrix, &M::exportRequested, &scenarios, &S::exportMatrix, queued);

    QObject::connect(&scenarios, &S::listed, panel, &P::showList, queued);
    QObject::connect(&scenarios, &S::runChanged, panel, &P::takeRun, queued);
    QObject::connect(&scenarios, &S::runsFinished, panel, &P::showFinished, queued);
    QObject::connect(&scenarios, &S::exported, panel, &P::showExported, queued);
    QObject::connect(&scenarios, &S::actFailed, panel, &P::showActFailed, queued);
    QObject::connect(&scenarios, &S::matrixKnown, matrix, &M::showShape, queued);
    QObject::connect(&scenarios, &S::cellChanged, matrix, &M::takeCell, queued);
    QObject::connect(&scenarios, &S::matrixProgressed, matrix, &M::showProgress, queued);
    QObject::connect(&scenarios, &S::exported, matrix, &M::showExported, queued);
    QObject::connect(&scenarios, &S::actFailed, matrix, &M::showActFailed, queued);

    panel->setReady();
    matrix->setReady();
}

} // namespace sendonce
