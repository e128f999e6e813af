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
/// endpoint's turns; costs a look at the board where nothing is armed. It decides how a request is carried out before
/// it is, or changes what was handed out within the same turn, so what it does is written and undone with the turn.
///
/// Whom a fault strikes: `event` and `type` are those of a message's body where it is a JSON object that has them, its
/// key is the MessageId. Of a batch each message is asked for until one is struck. A receive as a whole has no subject,
/// so that what has a glob strikes only by Duplicate and ShortVisibility, which are asked for each message.
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
    /// A receive that has waited, once more. \param whole ask also for what strikes it as a whole
    Applied receive(ReceiveMessageRequest request, bool whole);
    /// Whether a receive is asked for as a whole at all: what has been asked for once is not again.
    bool asksForReceives() const;

private:
    bool isArmedAt(FaultPoint point) const;
    FaultSubject subjectOfRow(qint64 row, const QString &messageId) const;
    FaultSubject subjectOfHandle(const QString &receiptHandle, const QString &queue) const;
    std::optional<SqsError> struckAsWhole(FaultPoint point, const QList<FaultSubject> &subjects);
    SqsReply send(SendMessageRequest request);
    SqsReply send(SendMessageBatchRequest request);
    SqsReply remove(DeleteMessageRequest request);
    SqsReply remove(DeleteMessageBatchRequest request);

    LocalQueues &m_queues;
    QueueStore &m_store;
    FaultBoard *m_board = nullptr;
};

} // namespace sendonce::local
