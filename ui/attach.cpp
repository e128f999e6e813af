#include "ui/attach.h"

#include "ui/deadletteracts.h"
#include "ui/mainwindow.h"
#include "worker/worker.h"

namespace sendonce {
namespace {

void attachActs(DeadLetterActs &acts, Worker &worker)
{
    const auto queued = Qt::QueuedConnection;
    using W = Worker;
    using A = DeadLetterActs;
    QObject::connect(&acts, &A::replayOrdered, &worker, &W::replay, queued);
    QObject::connect(&acts, &A::pauseRequested, &worker, &W::pauseReplay, queued);
    QObject::connect(&acts, &A::resumeRequested, &worker, &W::resumeReplay, queued);
    QObject::connect(&acts, &A::cancelRequested, &worker, &W::cancelReplay, queued);
    QObject::connect(&acts, &A::runsQueried, &worker, &W::queryReplays, queued);
    QObject::connect(&acts, &A::runItemsQueried, &worker, &W::queryReplayItems, queued);
    QObject::connect(&acts, &A::editOrdered, &worker, &W::editAndReplay, queued);
    QObject::connect(&acts, &A::deleteRequested, &worker, &W::deleteDeadLetters, queued);
    QObject::connect(&acts, &A::purgeRequested, &worker, &W::purgeDeadLetters, queued);
    QObject::connect(&acts, &A::exportRequested, &worker, &W::exportDeadLetters, queued);
    QObject::connect(&acts, &A::importRequested, &worker, &W::importDeadLetters, queued);
    QObject::connect(&acts, &A::forgetRequested, &worker, &W::forgetClaim, queued);
    QObject::connect(&acts, &A::keptQueried, &worker, &W::queryKeptLetters, queued);
    QObject::connect(&acts, &A::putBackRequested, &worker, &W::putBackLetters, queued);
    QObject::connect(&acts, &A::moveTaskQueried, &worker, &W::queryMoveTask, queued);
    QObject::connect(&acts, &A::moveTaskStarted, &worker, &W::startMoveTask, queued);
    QObject::connect(&acts, &A::moveTaskCancelled, &worker, &W::cancelMoveTask, queued);

    QObject::connect(&worker, &W::queuesKnown, &acts, &A::setQueueNames, queued);
    QObject::connect(&worker, &W::keptLettersListed, &acts, &A::showKeptLetters, queued);
    QObject::connect(&worker, &W::moveTaskChanged, &acts, &A::showMoveTask, queued);
    QObject::connect(&worker, &W::replayProgressed, &acts, &A::showProgress, queued);
    QObject::connect(&worker, &W::replaysListed, &acts, &A::showRuns, queued);
    QObject::connect(&worker, &W::replayItemsListed, &acts, &A::showRunItems, queued);
}

} // namespace

void attach(MainWindow &window, Worker &worker)
{
    const auto queued = Qt::QueuedConnection;
    using W = Worker;
    using M = MainWindow;

    // What the person wants.
    QObject::connect(&window, &M::startRequested, &worker, &W::start, queued);
    QObject::connect(&window, &M::stopRequested, &worker, &W::stop, queued);
    QObject::connect(&window, &M::closeRequested, &worker, &W::close, queued);
    QObject::connect(&window, &M::sendRequested, &worker, &W::send, queued);
    QObject::connect(&window, &M::injectDuplicateRequested, &worker, &W::injectDuplicate, queued);
    QObject::connect(&window, &M::failNextMailsRequested, &worker, &W::failNextMails, queued);
    QObject::connect(&window, &M::disarmRequested, &worker, &W::disarmAll, queued);
    QObject::connect(&window, &M::armRequested, &worker, &W::arm, queued);
    QObject::connect(&window, &M::disarmOneRequested, &worker, &W::disarm, queued);
    QObject::connect(&window, &M::processedQueried, &worker, &W::queryProcessed, queued);
    QObject::connect(&window, &M::mailboxQueried, &worker, &W::queryMailbox, queued);
    QObject::connect(&window, &M::mailOpenRequested, &worker, &W::openMail, queued);
    QObject::connect(&window, &M::storyRequested, &worker, &W::queryStory, queued);
    QObject::connect(&window, &M::browseRequested, &worker, &W::browseDeadLetters, queued);
    QObject::connect(&window, &M::deadLetterSearchRequested, &worker, &W::findInDeadLetters, queued);
    QObject::connect(&window, &M::deadLetterRequested, &worker, &W::openDeadLetter, queued);
    QObject::connect(&window, &M::browseCancelled, &worker, &W::cancelBrowse, queued);
    QObject::connect(&window, &M::retryKeysRequested, &worker, &W::retryKeys, queued);
    QObject::connect(&window, &M::auditQueried, &worker, &W::queryAudit, queued);
    QObject::connect(&window, &M::auditExportRequested, &worker, &W::exportAudit, queued);
    QObject::connect(&window, &M::cleanUpPreviewQueried, &worker, &W::previewCleanUp, queued);
    QObject::connect(&window, &M::cleanUpRequested, &worker, &W::cleanUp, queued);
    QObject::connect(&window, &M::doubtsQueried, &worker, &W::queryDoubts, queued);
    QObject::connect(&window, &M::settleDoubtsRequested, &worker, &W::settleDoubts, queued);
    QObject::connect(&window, &M::checkRequested, &worker, &W::check, queued);

    attachActs(*window.letterActs(), worker);

    // What happened.
    QObject::connect(&worker, &W::opened, &window, &M::showOpened, queued);
    QObject::connect(
        &worker, &W::openFailed, &window, [&window](const Error &error) { window.showOpenFailed(error.text); }, queued);
    QObject::connect(&worker, &W::stateChanged, &window, &M::showState, queued);
    QObject::connect(&worker, &W::closed, &window, &M::workerClosed, queued);
    QObject::connect(&worker, &W::inHandChanged, &window, &M::showInHand, queued);
    QObject::connect(&worker, &W::countersChanged, &window, &M::showCounters, queued);
    QObject::connect(&worker, &W::depthSampled, &window, &M::showDepth, queued);
    QObject::connect(&worker, &W::serviceChanged, &window, &M::showService, queued);
    QObject::connect(&worker, &W::armedChanged, &window, &M::showArmed, queued);
    QObject::connect(&worker, &W::logged, &window, &M::addLogLine, queued);
    QObject::connect(&worker, &W::noted, &window, &M::showNote, queued);
    QObject::connect(&worker, &W::delivered, &window, &M::addDelivery, queued);
    QObject::connect(&worker, &W::sendFinished, &window, &M::showSendReport, queued);
    QObject::connect(&worker, &W::actFailed, &window, &M::showActFailed, queued);
    QObject::connect(&worker, &W::processedPage, &window, &M::showProcessedPage, queued);
    QObject::connect(&worker, &W::mailboxSnapshot, &window, &M::showMailbox, queued);
    QObject::connect(&worker, &W::mailboxChanged, &window, &M::noteMailboxChange, queued);
    QObject::connect(&worker, &W::mailOpened, &window, &M::showMail, queued);
    QObject::connect(&worker, &W::story, &window, &M::showStory, queued);
    QObject::connect(&worker, &W::deadLettersChanged, &window, &M::showDeadLetters, queued);
    QObject::connect(&worker, &W::moveTasksProbed, &window, &M::showMoveTasks, queued);
    QObject::connect(&worker, &W::deadLettersUpdated, &window, &M::updateDeadLetters, queued);
    QObject::connect(&worker, &W::deadLettersFound, &window, &M::showDeadLetterMatches, queued);
    QObject::connect(&worker, &W::deadLetterOpened, &window, &M::showDeadLetter, queued);
    QObject::connect(&worker, &W::replayChanged, &window, &M::showReplays, queued);
    QObject::connect(&worker, &W::eventRulesKnown, &window, &M::showEventRules, queued);
    QObject::connect(&worker, &W::actDone, &window, &M::showActDone, queued);
    QObject::connect(&worker, &W::auditListed, &window, &M::showAudit, queued);
    QObject::connect(&worker, &W::cleanUpPreviewed, &window, &M::showCleanUpPreview, queued);
    QObject::connect(&worker, &W::cleanUpDone, &window, &M::showCleanUpDone, queued);
    QObject::connect(&worker, &W::doubtsListed, &window, &M::showDoubts, queued);
    QObject::connect(&worker, &W::doubtsSettled, &window, &M::showDoubtsSettled, queued);
    QObject::connect(&worker, &W::checkLine, &window, &M::showCheckLine, queued);
    QObject::connect(&worker, &W::checkFinished, &window, &M::showCheckFinished, queued);
}

} // namespace sendonce
