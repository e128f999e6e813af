#include "worker/local/localqueues.h"

#include "worker/local/receipthandle.h"
#include "worker/local/sqsmd5.h"
#include "worker/local/sqsrules.h"

/// The operations of LocalQueues on messages; those on queues are in localqueues.cpp.

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

constexpr qint64 BatchLimitBytes = 1048576;
constexpr qint64 LongestVisibilityMsec = 43200 * 1000;

qint64 msec(seconds value)
{
    return std::chrono::milliseconds(value).count();
}

bool isWithin(const std::optional<int> &value, int least, int most)
{
    return !value || (*value >= least && *value <= most);
}

/// The checks that every batch has in common: 1 to 10 entries, each with an id of its own.
template <typename Entry>
std::optional<SqsError> checkBatch(const QList<Entry> &entries, const QString &entryType)
{
    if (entries.isEmpty())
        return emptyBatchRequest(entryType);
    if (entries.size() > 10)
        return tooManyEntries(entries.size());
    QStringList ids;
    for (const Entry &entry : entries) {
        if (!isEntryId(entry.id))
            return invalidBatchEntryId();
        if (ids.contains(entry.id))
            return batchEntryIdsNotDistinct(entry.id);
        ids += entry.id;
    }
    return {};
}

} // namespace

// ---- sending ----------------------------------------------------------------------------------------------

std::optional<SqsError> LocalQueues::checkOutgoing(const LocalQueue &queue, const OutgoingMessage &message,
                                                   qint64 sizeBytes, bool inBatch) const
{
    if (message.struck)
        return message.struck;
    if (message.body.isEmpty())
        return missingParameter(u"MessageBody"_s);
    if (!isLegalText(message.body))
        return invalidMessageContents(u"Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | "
                                      "#x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF"_s);
    if (!isWithin(message.delaySeconds, 0, 900))
        return invalidParameterValue(u"DelaySeconds"_s, QString::number(*message.delaySeconds),
                                     u"DelaySeconds must be >= 0 and <= 900."_s);
    if (message.groupId && !isGroupId(*message.groupId))
        return invalidParameterValue(
            u"MessageGroupId"_s, *message.groupId,
            u"MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length."_s);
    if (message.deduplicationId)
        return invalidParameterValue(u"MessageDeduplicationId"_s, *message.deduplicationId,
                                     u"The request include parameter that is not valid for this queue type."_s);
    if (auto error = checkMessageAttributes(message.attributes))
        return error;
    if (auto error = checkSystemAttributes(message.systemAttributes))
        return error;
    if (sizeBytes > queue.settings.maximumMessageSizeBytes)
        return invalidParameter(
            (inBatch ? u"One or more parameters cannot be validated. Reason: Message must be shorter than %1 bytes."_s
                     : u"One or more parameters are invalid. Reason: Message must be shorter than %1 bytes."_s)
                .arg(queue.settings.maximumMessageSizeBytes));
    return {};
}

QUuid LocalQueues::newId()
{
    const quint64 high = m_random();
    const quint64 low = m_random();
    // A version 4 UUID: the version in the high nibble of byte 6, the variant in the high bits of byte 8.
    return QUuid(uint(high >> 32), ushort(high >> 16), ushort((high & 0x0FFF) | 0x4000),
                 uchar(((low >> 56) & 0x3F) | 0x80), uchar(low >> 48), uchar(low >> 40), uchar(low >> 32),
                 uchar(low >> 24), uchar(low >> 16), uchar(low >> 8), uchar(low));
}

SentMessage LocalQueues::send(LocalQueue &queue, const OutgoingMessage &outgoing, const QByteArray &body)
{
    const seconds delay = outgoing.delaySeconds ? seconds(*outgoing.delaySeconds) : queue.settings.delay;
    QueuedMessage message;
    message.row = ++m_lastRow;
    message.id = newId();
    message.sentWall = m_now.wall;
    message.sentSteady = m_now.steady;
    message.visibleAt = m_now.steady + msec(delay);
    message.hiddenForMsec = msec(delay);
    queue.insert(message, m_now.steady);
    onUndo([&queue, row = message.row] { queue.take(row); });

    MessageContent content;
    content.body = body;
    content.bodyMd5 = md5OfBody(body);
    content.attributes = outgoing.attributes;
    content.groupId = outgoing.groupId.value_or(QString());
    content.traceHeader = outgoing.systemAttributes.value(u"AWSTraceHeader"_s).stringValue;

    SentMessage sent;
    sent.id = outgoing.id;
    sent.messageId = message.id.toString(QUuid::WithoutBraces);
    sent.bodyMd5 = content.bodyMd5;
    sent.attributesMd5 = md5OfAttributes(outgoing.attributes);
    sent.systemAttributesMd5 = md5OfAttributes(outgoing.systemAttributes);
    m_changes.emplace_back(InsertMessage{stored(queue, message), std::move(content)});
    m_durable = true;
    return sent;
}

SqsReply LocalQueues::run(const SendMessageRequest &request)
{
    LocalQueue *queue = queueNamed(request.queue);
    if (!queue)
        return queueDoesNotExist();
    const QByteArray body = request.message.body.toUtf8();
    const qint64 size = body.size() + sizeOfAttributes(request.message.attributes);
    if (const auto error = checkOutgoing(*queue, request.message, size, false))
        return *error;
    return send(*queue, request.message, body);
}

SqsReply LocalQueues::run(const SendMessageBatchRequest &request)
{
    LocalQueue *queue = queueNamed(request.queue);
    if (!queue)
        return queueDoesNotExist();
    if (const auto error = checkBatch(request.entries, u"SendMessageBatchRequestEntry"_s))
        return *error;
    QList<QByteArray> bodies;
    QList<qint64> sizes;
    qint64 total = 0;
    for (const OutgoingMessage &entry : request.entries) {
        bodies += entry.body.toUtf8();
        sizes += bodies.constLast().size() + sizeOfAttributes(entry.attributes);
        total += sizes.constLast();
    }
    if (total > BatchLimitBytes)
        return batchRequestTooLong(total);
    SentBatch batch;
    for (qsizetype i = 0; i < request.entries.size(); ++i) {
        const OutgoingMessage &entry = request.entries.at(i);
        if (const auto error = checkOutgoing(*queue, entry, sizes.at(i), true))
            batch.failed += {entry.id, *error};
        else
            batch.successful += send(*queue, entry, bodies.at(i));
    }
    return batch;
}

// ---- receiving --------------------------------------------------------------------------------------------

seconds LocalQueues::receiveWait(const ReceiveMessageRequest &request) const
{
    if (request.waitTimeSeconds)
        return seconds(*request.waitTimeSeconds);
    const LocalQueue *queue = find(request.queue);
    return queue ? queue->settings.receiveWait : seconds(0);
}

bool LocalQueues::isWorthReceiving(const QString &name) const
{
    const LocalQueue *queue = find(name);
    return !queue || (queue->firstVisible() && queue->inFlightCount() < InFlightLimit);
}

SqsReply LocalQueues::run(const ReceiveMessageRequest &request)
{
    LocalQueue *queue = queueNamed(request.queue);
    if (!queue)
        return queueDoesNotExist();
    if (!isWithin(request.maxNumberOfMessages, 1, 10))
        return invalidParameterValue(u"MaxNumberOfMessages"_s, QString::number(*request.maxNumberOfMessages),
                                     u"Must be between 1 and 10, if provided."_s);
    if (!isWithin(request.waitTimeSeconds, 0, 20))
        return invalidParameterValue(u"WaitTimeSeconds"_s, QString::number(*request.waitTimeSeconds),
                                     u"Must be >= 0 and <= 20, if provided."_s);
    if (!isWithin(request.visibilityTimeout, 0, 43200))
        return invalidParameterValue(u"VisibilityTimeout"_s, QString::number(*request.visibilityTimeout),
                                     u"Must be between 0 and 43200, if provided."_s);
    if (request.attemptId)
        return invalidParameterValue(u"ReceiveRequestAttemptId"_s, *request.attemptId,
                                     u"The request include parameter that is not valid for this queue type."_s);
    for (const QString &name : request.systemAttributeNames) {
        if (!isSystemAttribute(name))
            return unknownAttribute(name);
    }
    ReceivedMessages received;
    received.systemAttributeNames = request.systemAttributeNames;
    received.messageAttributeNames = request.messageAttributeNames;
    if (queue->inFlightCount() >= InFlightLimit) {
        if (receiveWait(request) == seconds(0))
            return overLimit(u"Too many messages in flight: %1 are the most."_s.arg(InFlightLimit));
        return received;
    }
    const seconds timeout =
        request.visibilityTimeout ? seconds(*request.visibilityTimeout) : queue->settings.visibilityTimeout;
    LocalQueue *deadLetters = queueNamed(queue->settings.deadLetterQueue);
    // With a time-out of 0 a message stays visible, at the list's end: nobody gets it twice in one receive.
    qint64 candidates = queue->visibleCount();
    qint64 newestBelow = m_lastRow + 1;
    const qsizetype most = request.maxNumberOfMessages.value_or(1);
    while (candidates-- > 0 && received.messages.size() < most && queue->inFlightCount() < InFlightLimit) {
        const QueuedMessage &message =
            request.newestFirst ? *queue->newestVisible(newestBelow) : *queue->firstVisible();
        newestBelow = message.row;
        if (deadLetters && message.receivesHere() >= quint32(queue->settings.maxReceiveCount))
            moveToDeadLetters(*queue, *deadLetters, message.row);
        else
            received.messages += handOut(*queue, message, timeout);
    }
    return received;
}

HandedOut LocalQueues::handOut(LocalQueue &queue, QueuedMessage message, seconds timeout)
{
    onUndo([this, &queue, before = message] { queue.update(before, m_now.steady); });
    ++message.receiveCount;
    if (message.firstReceivedWall == 0)
        message.firstReceivedWall = m_now.wall;
    message.receivedSteady = m_now.steady;
    message.visibleAt = m_now.steady + msec(timeout);
    message.hiddenForMsec = msec(timeout);
    message.receipt = newReceipt();
    queue.update(message, m_now.steady);
    m_changes.emplace_back(UpdateMessage{stored(queue, message)});

    HandedOut out;
    out.row = message.row;
    out.messageId = message.id.toString(QUuid::WithoutBraces);
    out.receiptHandle = ReceiptHandle{queue.number, message.row, message.receipt}.toString();
    out.sentMsec = message.sentWall;
    out.firstReceivedMsec = message.firstReceivedWall;
    out.receiveCount = message.receiveCount;
    if (message.source >= 0)
        out.deadLetterSourceArn = QueueSettings::arn(m_names.at(message.source));
    return out;
}

quint64 LocalQueues::newReceipt()
{
    quint64 receipt = 0; // which means none
    while (receipt == 0)
        receipt = m_random();
    return receipt;
}

void LocalQueues::moveToDeadLetters(LocalQueue &from, LocalQueue &to, qint64 row)
{
    LocalQueue::Node node = from.take(row);
    QueuedMessage &message = LocalQueue::messageOf(node);
    onUndo([this, &from, &to, before = message] {
        LocalQueue::Node back = to.take(before.row);
        LocalQueue::messageOf(back) = before;
        from.insert(std::move(back), m_now.steady);
    });
    message.receipt = 0; // handles of the source queue are no good here
    message.visibleAt = m_now.steady;
    message.hiddenForMsec = 0;
    message.countAtArrival = message.receiveCount;
    message.source = indexOfName(from.name);
    m_changes.emplace_back(UpdateMessage{stored(to, message)});
    to.insert(std::move(node), m_now.steady);
}

// ---- with a receipt handle --------------------------------------------------------------------------------

std::optional<SqsError> LocalQueues::remove(LocalQueue &queue, const QString &receiptHandle)
{
    if (receiptHandle.isEmpty())
        return missingParameter(u"ReceiptHandle"_s);
    const auto handle = ReceiptHandle::fromString(receiptHandle);
    if (!handle || handle->queue != queue.number)
        return receiptHandleIsInvalid(receiptHandle);
    const QueuedMessage *message = queue.find(handle->row);
    // Deleted before, purged, expired, or received again since: nothing happens, and that is no error.
    if (!message || handle->receipt == 0 || message->receipt != handle->receipt)
        return {};
    onUndo([this, &queue, before = *message] { queue.insert(before, m_now.steady); });
    queue.take(handle->row);
    m_changes.emplace_back(RemoveMessage{handle->row});
    m_durable = true;
    return {};
}

std::optional<SqsError> LocalQueues::changeVisibility(LocalQueue &queue, const VisibilityEntry &change)
{
    if (change.receiptHandle.isEmpty())
        return missingParameter(u"ReceiptHandle"_s);
    if (!change.visibilityTimeout)
        return missingParameter(u"VisibilityTimeout"_s);
    if (!isWithin(change.visibilityTimeout, 0, 43200))
        return invalidParameterValue(u"VisibilityTimeout"_s, QString::number(*change.visibilityTimeout),
                                     u"Must be between 0 and 43200, if provided."_s);
    const auto handle = ReceiptHandle::fromString(change.receiptHandle);
    if (!handle || handle->queue != queue.number)
        return receiptHandleIsInvalid(change.receiptHandle);
    const QueuedMessage *found = queue.find(handle->row);
    if (!found || handle->receipt == 0 || found->receipt != handle->receipt)
        return invalidParameterValue(u"ReceiptHandle"_s, change.receiptHandle,
                                     u"Message does not exist or is not available for visibility timeout change."_s);
    const qint64 timeoutMsec = msec(seconds(*change.visibilityTimeout));
    if (m_now.steady + timeoutMsec - found->receivedSteady > LongestVisibilityMsec)
        return invalidParameter(u"Total VisibilityTimeout for the message is beyond the limit [43200 seconds]"_s);
    hide(queue, *found, timeoutMsec);
    return {};
}

void LocalQueues::hide(LocalQueue &queue, QueuedMessage message, qint64 timeoutMsec)
{
    onUndo([this, &queue, before = *queue.find(message.row)] { queue.update(before, m_now.steady); });
    message.visibleAt = m_now.steady + timeoutMsec;
    message.hiddenForMsec = timeoutMsec;
    queue.update(message, m_now.steady);
    m_changes.emplace_back(UpdateMessage{stored(queue, message)});
}

void LocalQueues::hide(const QString &name, qint64 row, std::chrono::milliseconds timeout)
{
    LocalQueue *queue = queueNamed(name);
    if (const QueuedMessage *message = queue ? queue->find(row) : nullptr)
        hide(*queue, *message, timeout.count());
}

void LocalQueues::forgetReceive(const QString &name, qint64 row)
{
    LocalQueue *queue = queueNamed(name);
    const QueuedMessage *found = queue ? queue->find(row) : nullptr;
    if (!found)
        return;
    QueuedMessage message = *found;
    message.receipt = newReceipt();
    hide(*queue, message, 0);
}

SqsReply LocalQueues::run(const DeleteMessageRequest &request)
{
    LocalQueue *queue = queueNamed(request.queue);
    if (!queue)
        return queueDoesNotExist();
    if (const auto error = request.struck ? request.struck : remove(*queue, request.receiptHandle))
        return *error;
    return Nothing{};
}

SqsReply LocalQueues::run(const DeleteMessageBatchRequest &request)
{
    LocalQueue *queue = queueNamed(request.queue);
    if (!queue)
        return queueDoesNotExist();
    if (const auto error = checkBatch(request.entries, u"DeleteMessageBatchRequestEntry"_s))
        return *error;
    DoneBatch batch;
    for (const DeleteEntry &entry : request.entries) {
        if (const auto error = entry.struck ? entry.struck : remove(*queue, entry.receiptHandle))
            batch.failed += {entry.id, *error};
        else
            batch.successful += entry.id;
    }
    return batch;
}

SqsReply LocalQueues::run(const ChangeMessageVisibilityRequest &request)
{
    LocalQueue *queue = queueNamed(request.queue);
    if (!queue)
        return queueDoesNotExist();
    if (const auto error = changeVisibility(*queue, request.change))
        return *error;
    return Nothing{};
}

SqsReply LocalQueues::run(const ChangeMessageVisibilityBatchRequest &request)
{
    LocalQueue *queue = queueNamed(request.queue);
    if (!queue)
        return queueDoesNotExist();
    if (const auto error = checkBatch(request.entries, u"ChangeMessageVisibilityBatchRequestEntry"_s))
        return *error;
    DoneBatch batch;
    for (const VisibilityEntry &entry : request.entries) {
        if (const auto error = changeVisibility(*queue, entry))
            batch.failed += {entry.id, *error};
        else
            batch.successful += entry.id;
    }
    return batch;
}

} // namespace sendonce::local
