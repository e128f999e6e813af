#include "worker/local/queuefaults.h"

#include "worker/local/faultboard.h"
#include "worker/local/queuestore.h"
#include "worker/local/receipthandle.h"

#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <chrono>

using namespace Qt::StringLiterals;

namespace sendonce::local {

bool QueueFaults::isArmedAt(FaultPoint point) const
{
    return m_board && m_board->isArmedAt(point);
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
    if (isArmedAt(FaultPoint::QueueSend)) {
        if (const auto *one = std::get_if<SendMessageRequest>(&request))
            return {send(*one)};
        if (const auto *batch = std::get_if<SendMessageBatchRequest>(&request))
            return {send(*batch)};
    }
    if (isArmedAt(FaultPoint::QueueReceive)) {
        if (const auto *receives = std::get_if<ReceiveMessageRequest>(&request))
            return receive(*receives);
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

FaultSubject QueueFaults::subjectOf(const QString &body, const QString &messageId) const
{
    const QJsonObject event = QJsonDocument::fromJson(body.toUtf8()).object();
    return {event.value("event_id"_L1).toString(), {}, event.value("type"_L1).toString(), messageId};
}

FaultSubject QueueFaults::subjectOfRow(qint64 row, const QString &messageId) const
{
    // What was sent in this turn is not in the store yet.
    for (const QueueChange &change : m_queues.changes()) {
        const auto *insert = std::get_if<InsertMessage>(&change);
        if (insert && insert->message.row == row)
            return subjectOf(QString::fromUtf8(insert->content.body), messageId);
    }
    const auto content = m_store.content(row);
    return content ? subjectOf(QString::fromUtf8(content->body), messageId) : FaultSubject{{}, {}, {}, messageId};
}

FaultSubject QueueFaults::subjectOfHandle(const QString &receiptHandle, const QString &queue) const
{
    const auto handle = ReceiptHandle::fromString(receiptHandle);
    const LocalQueue *named = m_queues.find(queue);
    const QueuedMessage *message = handle && named ? named->find(handle->row) : nullptr;
    return message ? subjectOfRow(message->row, message->id.toString(QUuid::WithoutBraces)) : FaultSubject();
}

std::optional<SqsError> QueueFaults::struckWhole(FaultPoint point, const FaultSubject &subject)
{
    const auto fault = m_board->ask(point, subject, {FaultEffect::Fail, FaultEffect::Throttle});
    if (!fault)
        return std::nullopt;
    return fault->what == FaultEffect::Throttle ? armedThrottling() : armedFailure();
}

// ---- sending ----------------------------------------------------------------------------------------------

SqsReply QueueFaults::send(const SendMessageRequest &request)
{
    const FaultSubject subject = subjectOf(request.message.body, {});
    if (const auto error = struckWhole(FaultPoint::QueueSend, subject))
        return *error;
    if (m_board->ask(FaultPoint::QueueSend, subject, {FaultEffect::FailEntry}))
        return armedFailure();
    return m_queues.apply(request);
}

SqsReply QueueFaults::send(SendMessageBatchRequest request)
{
    if (request.entries.isEmpty())
        return m_queues.apply(request);
    const OutgoingMessage first = request.entries.first();
    const FaultSubject subject = subjectOf(first.body, {});
    if (const auto error = struckWhole(FaultPoint::QueueSend, subject))
        return *error;
    if (!m_board->ask(FaultPoint::QueueSend, subject, {FaultEffect::FailEntry}))
        return m_queues.apply(request);
    request.entries.removeFirst();
    SqsReply reply = request.entries.isEmpty() ? SqsReply(SqsResult(SentBatch())) : m_queues.apply(request);
    if (auto *result = std::get_if<SqsResult>(&reply)) {
        if (auto *batch = std::get_if<SentBatch>(result))
            batch->failed.prepend({first.id, armedFailure()});
    }
    return reply;
}

// ---- receiving --------------------------------------------------------------------------------------------

QueueFaults::Applied QueueFaults::receive(const ReceiveMessageRequest &request)
{
    constexpr auto Point = FaultPoint::QueueReceive;
    if (const auto error = struckWhole(Point, {}))
        return {*error};
    if (!m_queues.isWorthReceiving(request.queue)) // there is nothing to be kept back, doubled or shuffled
        return {m_queues.apply(request)};
    if (m_board->ask(Point, {}, {FaultEffect::Empty}))
        return {SqsResult(ReceivedMessages()), true};
    if (m_board->ask(Point, {}, {FaultEffect::Disorder}))
        m_queues.turnAround(request.queue);
    SqsReply reply = m_queues.apply(request);
    const auto *result = std::get_if<SqsResult>(&reply);
    const auto *received = result ? std::get_if<ReceivedMessages>(result) : nullptr;
    if (!received)
        return {reply};
    for (const HandedOut &message : received->messages) {
        const auto fault = m_board->ask(Point, subjectOfRow(message.row, message.messageId),
                                        {FaultEffect::Duplicate, FaultEffect::ShortVisibility});
        if (!fault)
            continue;
        // Whatever time-out was asked for. The handle stays good until the next receive.
        const auto hidden =
            fault->what == FaultEffect::Duplicate ? seconds(0) : std::chrono::ceil<seconds>(fault->delay);
        m_queues.apply(ChangeMessageVisibilityRequest{request.queue, {{}, message.receiptHandle, int(hidden.count())}});
    }
    return {reply};
}

// ---- deleting ---------------------------------------------------------------------------------------------

std::optional<SqsError> QueueFaults::struckEntry(const DeleteEntry &entry, const QString &queue, bool mayFail)
{
    const auto possible =
        mayFail ? QList{FaultEffect::FailEntry, FaultEffect::ExpiredHandle} : QList{FaultEffect::ExpiredHandle};
    const auto fault = m_board->ask(FaultPoint::QueueDelete, subjectOfHandle(entry.receiptHandle, queue), possible);
    if (!fault)
        return std::nullopt;
    return fault->what == FaultEffect::ExpiredHandle ? receiptHandleIsInvalid(entry.receiptHandle) : armedFailure();
}

SqsReply QueueFaults::remove(const DeleteMessageRequest &request)
{
    if (const auto error = struckWhole(FaultPoint::QueueDelete, subjectOfHandle(request.receiptHandle, request.queue)))
        return *error;
    if (const auto error = struckEntry({{}, request.receiptHandle}, request.queue, true))
        return *error;
    return m_queues.apply(request);
}

SqsReply QueueFaults::remove(DeleteMessageBatchRequest request)
{
    if (request.entries.isEmpty())
        return m_queues.apply(request);
    const FaultSubject first = subjectOfHandle(request.entries.first().receiptHandle, request.queue);
    if (const auto error = struckWhole(FaultPoint::QueueDelete, first))
        return *error;
    QList<BatchFailure> struck;
    bool mayFail = true;
    for (const DeleteEntry &entry : std::as_const(request.entries)) {
        if (const auto error = struckEntry(entry, request.queue, mayFail)) {
            mayFail = mayFail && *error != armedFailure(); // one entry of a batch
            struck.append({entry.id, *error});
        }
    }
    request.entries.removeIf([&struck](const DeleteEntry &entry) {
        return std::any_of(struck.cbegin(), struck.cend(),
                           [&entry](const BatchFailure &failure) { return failure.id == entry.id; });
    });
    SqsReply reply = request.entries.isEmpty() ? SqsReply(SqsResult(DoneBatch())) : m_queues.apply(request);
    if (auto *result = std::get_if<SqsResult>(&reply)) {
        if (auto *batch = std::get_if<DoneBatch>(result))
            batch->failed = struck + batch->failed;
    }
    return reply;
}

} // namespace sendonce::local
