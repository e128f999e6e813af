#include "worker/local/localqueues.h"

#include "worker/local/sqsrules.h"

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

constexpr qint64 OncePerMinuteMsec = 60000;

/// A page of queue names. A token is the last name of the page before.
struct Page
{
    qsizetype most = 1000;
    bool hasToken = false;
    QString after;
    std::optional<SqsError> error;

    /// False when the page is full; then it says where to go on, if it was asked for in pages.
    bool add(const QString &name, QueueList *list) const
    {
        if (list->names.size() < most) {
            list->names += name;
            return true;
        }
        if (hasToken)
            list->nextToken = QString::fromLatin1(list->names.constLast().toUtf8().toBase64(
                QByteArray::Base64UrlEncoding | QByteArray::OmitTrailingEquals));
        return false;
    }
};

Page readPage(const std::optional<int> &maxResults, const QString &nextToken)
{
    Page page;
    page.most = maxResults.value_or(1000);
    page.hasToken = maxResults.has_value();
    if (page.most < 1 || page.most > 1000)
        page.error = invalidParameterValue(u"MaxResults"_s, QString::number(*maxResults),
                                           u"MaxResults must be an integer between 1 and 1000."_s);
    else if (!nextToken.isEmpty() && !maxResults)
        page.error = invalidParameter(u"MaxResults is a mandatory parameter when you provide a value for NextToken."_s);
    else if (!nextToken.isEmpty()) {
        const auto token = QByteArray::fromBase64Encoding(
            nextToken.toLatin1(), QByteArray::Base64UrlEncoding | QByteArray::AbortOnBase64DecodingErrors);
        page.after = token ? QString::fromUtf8(*token) : QString();
        if (!isQueueName(page.after))
            page.error = invalidParameter(u"Invalid or expired next token."_s);
    }
    return page;
}

} // namespace

LocalQueues::LocalQueues(std::function<quint64()> random) : m_random(std::move(random)) { }

// ---- the start --------------------------------------------------------------------------------------------

void LocalQueues::restore(const StoredQueue &stored)
{
    auto queue = std::make_shared<LocalQueue>();
    queue->name = stored.name;
    queue->number = stored.number;
    queue->bucket = stored.bucket;
    queue->createdWall = stored.created;
    queue->modifiedWall = stored.modified;
    for (auto it = stored.attributes.cbegin(); it != stored.attributes.cend(); ++it)
        queue->settings.set(it.key(), *it);
    m_lastNumber = std::max(m_lastNumber, stored.number);
    m_lastBucket = std::max(m_lastBucket, stored.bucket);
    m_restoring.insert(stored.bucket, queue.get());
    m_queues.insert_or_assign(stored.name, std::move(queue));
}

bool LocalQueues::restore(const StoredMessage &stored)
{
    m_lastRow = std::max(m_lastRow, stored.row);
    m_lastBucket = std::max(m_lastBucket, stored.bucket);
    LocalQueue *queue = m_restoring.value(stored.bucket);
    if (!queue)
        return false;
    QueuedMessage message;
    message.row = stored.row;
    message.id = stored.id;
    message.sentWall = stored.sent;
    // A clock that was set back since, or that jumped between two sends, makes messages younger here, never older.
    message.sentSteady = std::min(m_now.steady, std::max(m_lastSentSteady, stored.sent));
    m_lastSentSteady = message.sentSteady;
    message.firstReceivedWall = stored.firstReceived;
    message.receivedSteady = std::min(m_now.steady, stored.received);
    message.visibleAt = std::min(stored.visible, m_now.steady + stored.hiddenForMsec);
    message.hiddenForMsec = stored.hiddenForMsec;
    message.receipt = stored.receipt;
    message.receiveCount = stored.receiveCount;
    message.countAtArrival = stored.countAtArrival;
    message.source = stored.source.isEmpty() ? -1 : indexOfName(stored.source);
    queue->insert(message, m_now.steady);
    return true;
}

// ---- turns ------------------------------------------------------------------------------------------------

void LocalQueues::advance(QueueTime now)
{
    Q_ASSERT(m_changes.empty() && m_undo.empty());
    m_now.wall = now.wall;
    m_now.steady = std::max(m_now.steady, now.steady);
    for (const auto &[name, queue] : m_queues) {
        queue->advance(m_now.steady);
        m_garbage += queue->expire(m_now.steady);
    }
}

SqsReply LocalQueues::apply(const SqsRequest &request)
{
    return std::visit([this](const auto &typed) { return run(typed); }, request);
}

void LocalQueues::commit()
{
    m_changes.clear();
    m_undo.clear();
    m_durable = false;
    for (const auto &act : std::exchange(m_onCommit, {}))
        act();
}

void LocalQueues::rollback()
{
    m_changes.clear();
    m_onCommit.clear();
    m_durable = false;
    const auto undo = std::exchange(m_undo, {});
    for (auto it = undo.rbegin(); it != undo.rend(); ++it)
        (*it)();
}

// ---- queues -----------------------------------------------------------------------------------------------

SqsReply LocalQueues::run(const CreateQueueRequest &request)
{
    if (request.name.isEmpty())
        return missingParameter(u"QueueName"_s);
    if (request.name.endsWith(".fifo"_L1) || request.attributes.value(u"FifoQueue"_s) == "true"_L1)
        return unsupportedOperation(u"FIFO queues are not supported by this endpoint."_s);
    if (!isQueueName(request.name))
        return invalidParameter(
            u"Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"_s);
    if (!request.tags.isEmpty())
        return unsupportedOperation(u"Tags are not supported by this endpoint."_s);

    QueueSettings settings;
    for (auto it = request.attributes.cbegin(); it != request.attributes.cend(); ++it) {
        if (const auto error = settings.set(it.key(), *it))
            return *error;
    }
    if (const LocalQueue *existing = find(request.name)) {
        for (auto it = request.attributes.cbegin(); it != request.attributes.cend(); ++it) {
            if (!existing->settings.matches(it.key(), *it))
                return queueNameExists(it.key());
        }
        return QueueNamed{request.name};
    }
    if (const auto error = checkRedrive(request.name, settings, request.attributes.value(u"RedrivePolicy"_s)))
        return *error;
    if (const auto it = m_deletedAt.constFind(request.name); it != m_deletedAt.cend()) {
        if (m_now.steady - *it < OncePerMinuteMsec)
            return queueDeletedRecently();
        m_deletedAt.erase(it);
    }
    const auto queue = std::make_shared<LocalQueue>();
    queue->name = request.name;
    queue->number = ++m_lastNumber;
    queue->bucket = ++m_lastBucket;
    queue->createdWall = queue->modifiedWall = m_now.wall;
    queue->settings = settings;
    m_queues.emplace(request.name, queue);
    onUndo([this, name = request.name] { m_queues.erase(name); });
    m_changes.emplace_back(PutQueue{stored(*queue)});
    m_durable = true;
    return QueueNamed{request.name};
}

SqsReply LocalQueues::run(const GetQueueUrlRequest &request)
{
    if (request.name.isEmpty())
        return missingParameter(u"QueueName"_s);
    const bool foreign = !request.ownerAccountId.isEmpty() && request.ownerAccountId != "000000000000"_L1;
    if (foreign || !find(request.name))
        return queueDoesNotExist();
    return QueueNamed{request.name};
}

SqsReply LocalQueues::run(const ListQueuesRequest &request)
{
    const Page page = readPage(request.maxResults, request.nextToken);
    if (page.error)
        return *page.error;
    QueueList list;
    // The names with a prefix lie together, from the prefix on.
    for (auto it = page.after < request.prefix ? m_queues.lower_bound(request.prefix)
                                               : m_queues.upper_bound(page.after);
         it != m_queues.end() && it->first.startsWith(request.prefix); ++it) {
        if (!page.add(it->first, &list))
            break;
    }
    return list;
}

SqsReply LocalQueues::run(const ListDeadLetterSourceQueuesRequest &request)
{
    if (!find(request.queue))
        return queueDoesNotExist();
    const Page page = readPage(request.maxResults, request.nextToken);
    if (page.error)
        return *page.error;
    QueueList list;
    for (auto it = m_queues.upper_bound(page.after); it != m_queues.end(); ++it) {
        if (it->second->settings.deadLetterQueue == request.queue && !page.add(it->first, &list))
            break;
    }
    return SourceQueueList{list};
}

SqsReply LocalQueues::run(const GetQueueAttributesRequest &request)
{
    const LocalQueue *queue = find(request.queue);
    if (!queue)
        return queueDoesNotExist();
    QMap<QString, QString> all = queue->settings.toAttributes();
    all.insert(u"ApproximateNumberOfMessages"_s, QString::number(queue->visibleCount()));
    all.insert(u"ApproximateNumberOfMessagesNotVisible"_s, QString::number(queue->inFlightCount()));
    all.insert(u"ApproximateNumberOfMessagesDelayed"_s, QString::number(queue->delayedCount()));
    all.insert(u"CreatedTimestamp"_s, QString::number(queue->createdWall / 1000));
    all.insert(u"LastModifiedTimestamp"_s, QString::number(queue->modifiedWall / 1000));
    all.insert(u"QueueArn"_s, QueueSettings::arn(queue->name));

    static const QStringList onlyWhereSet{u"Policy"_s,
                                          u"RedrivePolicy"_s,
                                          u"RedriveAllowPolicy"_s,
                                          u"KmsMasterKeyId"_s,
                                          u"FifoQueue"_s,
                                          u"DeduplicationScope"_s,
                                          u"ContentBasedDeduplication"_s,
                                          u"FifoThroughputLimit"_s,
                                          u"KmsDataKeyReusePeriodSeconds"_s};
    QueueAttributes asked;
    for (const QString &name : request.names) {
        if (name == "All"_L1)
            asked.attributes.insert(all);
        else if (const auto it = all.constFind(name); it != all.cend())
            asked.attributes.insert(name, *it);
        else if (!onlyWhereSet.contains(name))
            return unknownAttribute(name);
    }
    return asked;
}

SqsReply LocalQueues::run(const SetQueueAttributesRequest &request)
{
    LocalQueue *queue = queueNamed(request.queue);
    if (!queue)
        return queueDoesNotExist();
    if (request.attributes.isEmpty())
        return missingParameter(u"Attribute.Name"_s);
    if (request.attributes.contains(u"FifoQueue"_s))
        return invalidAttributeValue(u"FifoQueue"_s, u"Modifying queue type is not supported."_s);
    QueueSettings settings = queue->settings;
    for (auto it = request.attributes.cbegin(); it != request.attributes.cend(); ++it) {
        if (const auto error = settings.set(it.key(), *it))
            return *error;
    }
    const QString redrive = request.attributes.value(u"RedrivePolicy"_s);
    if (!redrive.isEmpty()) {
        if (const auto error = checkRedrive(queue->name, settings, redrive))
            return *error;
    }
    onUndo([queue, before = queue->settings, modified = queue->modifiedWall] {
        queue->settings = before;
        queue->modifiedWall = modified;
    });
    queue->settings = settings;
    queue->modifiedWall = m_now.wall;
    m_changes.emplace_back(PutQueue{stored(*queue)});
    m_durable = true;
    return Nothing{};
}

SqsReply LocalQueues::run(const DeleteQueueRequest &request)
{
    auto node = m_queues.extract(request.queue);
    if (!node)
        return queueDoesNotExist();
    const std::shared_ptr<LocalQueue> queue = node.mapped();
    QList<qint64> moves;
    for (const auto &[number, move] : m_moves) {
        if (move.task.source == queue->name)
            moves += number;
    }
    for (const qint64 number : moves)
        forgetMove(number);
    m_deletedAt.insert(queue->name, m_now.steady);
    onUndo([this, queue] { m_queues.emplace(queue->name, queue); });
    onCommit([this, queue] { m_garbage += queue->clear(); });
    m_changes.emplace_back(RemoveQueue{queue->number});
    m_durable = true;
    return Nothing{};
}

SqsReply LocalQueues::run(const PurgeQueueRequest &request)
{
    LocalQueue *queue = queueNamed(request.queue);
    if (!queue)
        return queueDoesNotExist();
    if (queue->purgedSteady != 0 && m_now.steady - queue->purgedSteady < OncePerMinuteMsec)
        return purgeQueueInProgress(queue->name);
    // A new bucket empties the queue in one small write, however much it holds; the old rows are thrown away at
    // leisure.
    const auto purged = std::make_shared<LocalQueue>();
    purged->swapMessages(*queue);
    onUndo([queue, purged, bucket = queue->bucket, before = queue->purgedSteady] {
        queue->swapMessages(*purged);
        queue->bucket = bucket;
        queue->purgedSteady = before;
    });
    onCommit([this, purged] { m_garbage += purged->clear(); });
    queue->bucket = ++m_lastBucket;
    queue->purgedSteady = m_now.steady;
    m_changes.emplace_back(PutQueue{stored(*queue)});
    m_durable = true;
    return Nothing{};
}

std::optional<SqsError> LocalQueues::checkRedrive(const QString &queue, const QueueSettings &settings,
                                                  const QString &text) const
{
    if (settings.deadLetterQueue.isEmpty())
        return {};
    const auto refuse = [&text](const QString &reason) {
        return invalidParameterValue(u"RedrivePolicy"_s, text, reason);
    };
    const LocalQueue *target = find(settings.deadLetterQueue);
    if (!target)
        return refuse(u"Dead letter target does not exist."_s);
    if (settings.deadLetterQueue == queue)
        return refuse(u"A queue cannot be its own dead letter target."_s);
    using Permission = QueueSettings::RedrivePermission;
    const Permission permission = target->settings.redrivePermission;
    if (permission == Permission::DenyAll
        || (permission == Permission::ByQueue && !target->settings.redriveSources.contains(queue)))
        return refuse(u"The dead letter target's redrive allow policy does not admit this queue."_s);
    return {};
}

// ---- inside -----------------------------------------------------------------------------------------------

LocalQueue *LocalQueues::queueNamed(const QString &name) const
{
    const auto it = m_queues.find(name);
    return it == m_queues.end() ? nullptr : it->second.get();
}

const LocalQueue *LocalQueues::find(const QString &name) const
{
    return queueNamed(name);
}

std::optional<qint64> LocalQueues::nextVisibleAt(const QString &name) const
{
    const LocalQueue *queue = find(name);
    return queue ? queue->nextVisibleAt() : std::nullopt;
}

StoredMessage LocalQueues::stored(const LocalQueue &queue, const QueuedMessage &message) const
{
    const qint64 wallMinusSteady = m_now.wall - m_now.steady;
    StoredMessage stored;
    stored.row = message.row;
    stored.bucket = queue.bucket;
    stored.id = message.id;
    stored.sent = message.sentWall;
    stored.visible = message.visibleAt + wallMinusSteady;
    stored.hiddenForMsec = message.hiddenForMsec;
    stored.firstReceived = message.firstReceivedWall;
    stored.received = message.receiveCount == 0 ? 0 : message.receivedSteady + wallMinusSteady;
    stored.receipt = message.receipt;
    stored.receiveCount = message.receiveCount;
    stored.countAtArrival = message.countAtArrival;
    if (message.source >= 0)
        stored.source = m_names.at(message.source);
    return stored;
}

StoredQueue LocalQueues::stored(const LocalQueue &queue) const
{
    return {queue.number,      queue.bucket,       queue.name,
            queue.createdWall, queue.modifiedWall, queue.settings.toAttributes()};
}

qint32 LocalQueues::indexOfName(const QString &name)
{
    qsizetype index = m_names.indexOf(name);
    if (index < 0) {
        index = m_names.size();
        m_names += name;
    }
    return qint32(index);
}

} // namespace sendonce::local
