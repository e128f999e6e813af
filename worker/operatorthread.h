#pragma once

#include "worker/operate/operator.h"

#include <QThread>

#include <memory>

namespace sendonce {

class Worker;

/// The operator with the thread it lives in: what panels and subcommands ask of it, and its answers that the worker
/// hands on as they are. Owned by Worker, in the worker's thread.
class OperatorThread
{
public:
    /// \param worker emits the answers as its own
    OperatorThread(const Config &config, const SqsSettings &sqs, std::shared_ptr<const EventTypes> types,
                   Worker &worker);
    ~OperatorThread(); ///< waits for the thread; a check under way does not hold it up

    OperatorThread(const OperatorThread &) = delete;
    OperatorThread &operator=(const OperatorThread &) = delete;

    /// To connect its signals to, before start().
    Operator *operations() const { return m_operator; }
    void start();
    /// Comes to rest: Operator::left() when what it hides is shown again, 10 s at most. A check under way is abandoned.
    void leave();
    void expectWork(bool isExpected) { m_operator->expectWork(isExpected); }

    /// Runs `act` with the operator, in its thread, later.
    template <typename Act>
    void ask(Act act)
    {
        QMetaObject::invokeMethod(m_operator, [operations = m_operator, act] { act(*operations); });
    }

private:
    void handOnAnswers(Worker &worker);

    QThread m_thread;
    Operator *m_operator; ///< lives in m_thread, and goes with it
};

} // namespace sendonce
