#include "ui/attach.h"

#include "ui/mainwindow.h"
#include "worker/worker.h"

namespace sendonce {

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
    QObject::connect(&window, &M::disarmRequested, &worker, &W::disarm, queued);
    QObject::connect(&window, &M::processedQueried, &worker, &W::queryProcessed, queued);
    QObject::connect(&window, &M::mailboxQueried, &worker, &W::queryMailbox, queued);
    QObject::connect(&window, &M::mailOpenRequested, &worker, &W::openMail, queued);
    QObject::connect(&window, &M::storyRequested, &worker, &W::queryStory, queued);
    QObject::connect(
        &window, &M::browseRequested, &worker, [&worker] { worker.browseDeadLetters(); }, queued);
    QObject::connect(&window, &M::deadLetterRequested, &worker, &W::openDeadLetter, queued);
    QObject::connect(&window, &M::browseCancelled, &worker, &W::cancelBrowse, queued);
    QObject::connect(&window, &M::retryKeysRequested, &worker, &W::retryKeys, queued);
    QObject::connect(
        &window, &M::replayRequested, &worker,
        [&worker](const QStringList &messageIds) {
            ReplayOrder order;
            order.messageIds = messageIds;
            worker.replay(order);
        },
        queued);
    QObject::connect(&window, &M::doubtsQueried, &worker, &W::queryDoubts, queued);
    QObject::connect(&window, &M::settleDoubtsRequested, &worker, &W::settleDoubts, queued);
    QObject::connect(&window, &M::checkRequested, &worker, &W::check, queued);

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
    QObject::connect(&worker, &W::deadLetterOpened, &window, &M::showDeadLetter, queued);
    QObject::connect(&worker, &W::replayChanged, &window, &M::showReplays, queued);
    QObject::connect(&worker, &W::doubtsListed, &window, &M::showDoubts, queued);
    QObject::connect(&worker, &W::doubtsSettled, &window, &M::showDoubtsSettled, queued);
    QObject::connect(&worker, &W::checkLine, &window, &M::showCheckLine, queued);
    QObject::connect(&worker, &W::checkFinished, &window, &M::showCheckFinished, queued);
}

} // namespace sendonce
