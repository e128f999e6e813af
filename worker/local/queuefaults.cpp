#include "worker/local/queuefaults.h"

#include "worker/local/faultboard.h"
#include "worker/local/queuestore.h"
#include "worker/local/receipthandle.h"

#include <QJsonDocument>
#include <QJsonObject>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

FaultSubject subjectOf(const QByteArray &body, const QString &messageId = {})
{
    const QJsonObject event = QJsonDocument::fromJson(body).object();
    return {event.value("event_id"_L1).toString(), {}, event.value("type"_L1).toString(), messageId};
}

/// What one message of a delete ends with.
SqsError errorOf(FaultEffect effect, const QString &receiptHandle)
{
    return effect == FaultEffect::ExpiredHandle ? receiptHandleIsInvalid(receiptHandle) : armedEntryFailure();
}

} // namespace

bool QueueFaults::isArmedAt(FaultPoint point) const
{
    return m_board && m_board->isArmedAt(point);
}

bool QueueFaults::asksForReceives() const
{
    return isArmedAt(FaultPoint::QueueRequest) || isArmedAt(FaultPoint::QueueReceive);
}

std::optional<FaultEffect> QueueFaults::atRequest()
{
    if (!isArmedAt(FaultPoint::QueueRequest))
        return std::nullopt;
    const auto fault = m_board->ask(FaultPoint::QueueRequest);
    return fault ? std::optional(fault->what) : std::nullopt;
}

QueueFaults::Applied QueueFaults::apply(const SqsRequest &request)
{
    if (const auto *receives = std::get_if<ReceiveMessageRequest>(&request))
        return receive(*receives, true);
    if (isArmedAt(FaultPoint::QueueSend)) {
        if (const auto *one = std::get_if<SendMessageRequest>(&request))
            return {send(*one)};
        if (const auto *batch = std::get_if<SendMessageBatchRequest>(&request))
            return {send(*batch)};
    }
    if (isArmedAt(FaultPoint::QueueDelete)) {
        if (const auto *one = std::get_if<DeleteMessageRequest>(&request))
            return {remove(*one)};
        if (const auto *batch = std::get_if<DeleteMessageBatchRequest>(&request))
            return {remove(*batch)};
    }
    return {m_queues.apply(request)};
}

// ---- whom it strikes --------------------------------------------------------------------------------------

FaultSubject QueueFaults::subjectOfRow(qint64 row, const QString &messageId) const
{
    // What was sent in this turn is not in the store yet.
    for (const QueueChange &change : m_queues.changes()) {
        const auto *insert = std::get_if<InsertMessage>(&change);
        if (insert && insert->message.row == row)
            return subjectOf(insert->content.body, messageId);
    }
    const auto content = m_store.content(row);
    return content ? subjectOf(content->body, messageId) : FaultSubject{{}, {}, {}, messageId};
}

FaultSubject QueueFaults::subjectOfHandle(const QString &receiptHandle, const QString &queue) const
{
    const auto handle = ReceiptHandle::fromString(receiptHandle);
    const LocalQueue *named = m_queues.find(queue);
    const QueuedMessage *message = handle && named ? named->find(handle->row) : nullptr;
    return message ? subjectOfRow(message->row, message->id.toString(QUuid::WithoutBraces)) : FaultSubject();
}

std::optional<SqsError> QueueFaults::struckAsWhole(FaultPoint point, const QList<FaultSubject> &subjects)
{
    for (const FaultSubject &subject : subjects) {
        if (const auto fault = m_board->ask(point, subject, {FaultEffect::Fail, FaultEffect::Throttle}))
            return fault->what == FaultEffect::Throttle ? armedThrottling() : armedFailure();
    }
    return std::nullopt;
}

// ---- sending ----------------------------------------------------------------------------------------------

SqsReply QueueFaults::send(SendMessageRequest request)
{
    const FaultSubject subject = subjectOf(request.message.body.toUtf8());
    if (const auto error = struckAsWhole(FaultPoint::QueueSend, {subject}))
        return *error;
    if (m_board->ask(FaultPoint::QueueSend, subject, {FaultEffect::FailEntry}))
        request.message.struck = armedEntryFailure();
    return m_queues.apply(request);
}

SqsReply QueueFaults::send(SendMessageBatchRequest request)
{
    QList<FaultSubject> subjects;
    for (const OutgoingMessage &entry : std::as_const(request.entries))
        subjects += subjectOf(entry.body.toUtf8());
    if (const auto error = struckAsWhole(FaultPoint::QueueSend, subjects))
        return *error;
    for (qsizetype i = 0; i < subjects.size(); ++i) {
        if (m_board->ask(FaultPoint::QueueSend, subjects.at(i), {FaultEffect::FailEntry})) {
            request.entries[i].struck = armedEntryFailure();
            break; // one of a batch
        }
    }
    return m_queues.apply(request);
}

// ---- receiving --------------------------------------------------------------------------------------------

QueueFaults::Applied QueueFaults::receive(ReceiveMessageRequest request, bool whole)
{
    constexpr auto Point = FaultPoint::QueueReceive;
    if (!isArmedAt(Point))
        return {m_queues.apply(request)};
    if (whole) {
        if (const auto error = struckAsWhole(Point, {FaultSubject()}))
            return {*error};
    }
    // What could show no effect uses nothing up.
    const LocalQueue *queue = m_queues.find(request.queue);
    if (queue && queue->visibleCount() > 0 && m_board->ask(Point, {}, {FaultEffect::Empty}))
        return {SqsResult(ReceivedMessages()), true};
    if (queue && queue->visibleCount() > 1)
        request.newestFirst = m_board->ask(Point, {}, {FaultEffect::Disorder}).has_value();
    SqsReply reply = m_queues.apply(request);
    const auto *result = std::get_if<SqsResult>(&reply);
    const auto *received = result ? std::get_if<ReceivedMessages>(result) : nullptr;
    if (!received)
        return {reply};
    for (const HandedOut &message : received->messages) {
        const auto fault = m_board->ask(Point, subjectOfRow(message.row, message.messageId),
                                        {FaultEffect::Duplicate, FaultEffect::ShortVisibility});
        if (fault && fault->what == FaultEffect::Duplicate)
            m_queues.forgetReceive(request.queue, message.row);
        else if (fault)
            m_queues.hide(request.queue, message.row, fault->delay);
    }
    return {reply};
}

// ---- deleting ---------------------------------------------------------------------------------------------

SqsReply QueueFaults::remove(DeleteMessageRequest request)
{
    const FaultSubject subject = subjectOfHandle(request.receiptHandle, request.queue);
    if (const auto error = struckAsWhole(FaultPoint::QueueDelete, {subject}))
        return *error;
    const QList<FaultEffect> possible{FaultEffect::FailEntry, FaultEffect::ExpiredHandle};
    if (const auto fault = m_board->ask(FaultPoint::QueueDelete, subject, possible))
        request.struck = errorOf(fault->what, request.receiptHandle);
    return m_queues.apply(request);
}

SqsReply QueueFaults::remove(DeleteMessageBatchRequest request)
{
    QList<FaultSubject> subjects;
    for (const DeleteEntry &entry : std::as_const(request.entries))
        subjects += subjectOfHandle(entry.receiptHandle, request.queue);
    if (const auto error = struckAsWhole(FaultPoint::QueueDelete, subjects))
        return *error;
    QList<FaultEffect> possible{FaultEffect::FailEntry, FaultEffect::ExpiredHandle};
    for (qsizetype i = 0; i < subjects.size(); ++i) {
        const auto fault = m_board->ask(FaultPoint::QueueDelete, subjects.at(i), possible);
        if (!fault)
            continue;
        request.entries[i].struck = errorOf(fault->what, request.entries.at(i).receiptHandle);
        if (fault->what == FaultEffect::FailEntry)
            possible.removeOne(FaultEffect::FailEntry); // one of a batch; handles expire each for itself
    }
    return m_queues.apply(request);
}

} // namespace sendonce::local
