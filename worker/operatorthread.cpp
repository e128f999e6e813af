#include "worker/operatorthread.h"

#include "worker/worker.h"

namespace sendonce {

using namespace Qt::StringLiterals;

OperatorThread::OperatorThread(const Config &config, const SqsSettings &sqs, std::shared_ptr<const EventTypes> types,
                               Worker &worker)
    : m_operator(new Operator(config, sqs, std::move(types)))
{
    m_thread.setObjectName(u"operator"_s);
    m_operator->moveToThread(&m_thread);
    QObject::connect(&m_thread, &QThread::started, m_operator, &Operator::open);
    QObject::connect(&m_thread, &QThread::finished, m_operator, &QObject::deleteLater);
    handOnAnswers(worker);
}

OperatorThread::~OperatorThread()
{
    if (!m_thread.isRunning()) {
        delete m_operator; // never started
        return;
    }
    m_operator->abandonCheck();
    m_thread.quit();
    m_thread.wait();
}

void OperatorThread::start()
{
    m_thread.start();
}

void OperatorThread::leave()
{
    m_operator->abandonCheck(); // it may block the thread for as long as a mail server is silent
    ask([](Operator &each) { each.leave(); });
}

void OperatorThread::handOnAnswers(Worker &worker)
{
    const auto handOn = [this, &worker](auto answer, auto handedOn) {
        QObject::connect(m_operator, answer, &worker, handedOn);
    };
    handOn(&Operator::processedPage, &Worker::processedPage);
    handOn(&Operator::mailboxSnapshot, &Worker::mailboxSnapshot);
    handOn(&Operator::mailboxChanged, &Worker::mailboxChanged);
    handOn(&Operator::mailOpened, &Worker::mailOpened);
    handOn(&Operator::story, &Worker::story);
    handOn(&Operator::deadLettersChanged, &Worker::deadLettersChanged);
    handOn(&Operator::moveTasksProbed, &Worker::moveTasksProbed);
    handOn(&Operator::deadLettersUpdated, &Worker::deadLettersUpdated);
    handOn(&Operator::deadLetterOpened, &Worker::deadLetterOpened);
    handOn(&Operator::deadLettersFound, &Worker::deadLettersFound);
    handOn(&Operator::replaysListed, &Worker::replaysListed);
    handOn(&Operator::replayItemsListed, &Worker::replayItemsListed);
    handOn(&Operator::moveTaskChanged, &Worker::moveTaskChanged);
    handOn(&Operator::keptLettersListed, &Worker::keptLettersListed);
    handOn(&Operator::auditListed, &Worker::auditListed);
    handOn(&Operator::cleanUpPreviewed, &Worker::cleanUpPreviewed);
    handOn(&Operator::cleanUpDone, &Worker::cleanUpDone);
    handOn(&Operator::actDone, &Worker::actDone);
    handOn(&Operator::doubtsListed, &Worker::doubtsListed);
    handOn(&Operator::checkLine, &Worker::checkLine);
    handOn(&Operator::checkFinished, &Worker::checkFinished);
}

} // namespace sendonce
