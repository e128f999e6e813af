#pragma once

#include "worker/faults/fault.h"
#include "worker/local/localqueues.h"

#include <optional>

namespace sendonce {
class FaultBoard;
}

namespace sendonce::local {

class QueueStore;

/// What the faults that are armed make of the queues' operations. Stands between the endpoint and LocalQueues, in the
/// endpoint's turns; costs a look at the board where nothing is armed.
class QueueFaults
{
public:
    /// Both must live longer.
    QueueFaults(LocalQueues &queues, QueueStore &store) : m_queues(queues), m_store(store) { }
    /// Not owned; must live longer. Null: nothing is armed.
    void setBoard(FaultBoard *board) { m_board = board; }

    /// What strikes a request before anything is looked at: Fail, Throttle, or Close for no answer at all.
    std::optional<FaultEffect> atRequest();

    struct Applied
    {
        SqsReply reply;
        bool atOnce = false; ///< an empty receive that must not wait
    };
    /// As LocalQueues::apply().
    Applied apply(const SqsRequest &request);

private:
    bool isArmedAt(FaultPoint point) const;
    FaultSubject subjectOf(const QString &body, const QString &messageId) const;
    FaultSubject subjectOfRow(qint64 row, const QString &messageId) const;
    FaultSubject subjectOfHandle(const QString &receiptHandle, const QString &queue) const;
    std::optional<SqsError> struckWhole(FaultPoint point, const FaultSubject &subject);
    SqsReply send(const SendMessageRequest &request);
    SqsReply send(SendMessageBatchRequest request);
    Applied receive(const ReceiveMessageRequest &request);
    SqsReply remove(const DeleteMessageRequest &request);
    SqsReply remove(DeleteMessageBatchRequest request);
    std::optional<SqsError> struckEntry(const DeleteEntry &entry, const QString &queue, bool mayFail);

    LocalQueues &m_queues;
    QueueStore &m_store;
    FaultBoard *m_board = nullptr;
};

} // namespace sendonce::local
