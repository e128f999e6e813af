#include "worker/local/localqueues.h"

#include <algorithm>

/// The message move tasks of LocalQueues (sqs.md, section 12).

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

constexpr int ActiveTasksLimit = 100;
constexpr qsizetype TasksKept = 10; // of a queue: as many as ListMessageMoveTasks can show
constexpr qint64 LongestMoveMsec = 36 * 3600 * 1000;

SqsError noSuchQueue(const QString &parameter)
{
    return resourceNotFound(u"The resource that you specified for the %1 parameter doesn't exist."_s.arg(parameter));
}

SqsError notAnArn(const QString &parameter, const QString &value)
{
    return invalidParameterValue(parameter, value,
                                 u"Must have the form arn:<partition>:sqs:<region>:<account-id>:<queue name>."_s);
}

} // namespace

void LocalQueues::restore(const MoveTask &task)
{
    m_lastTask = std::max(m_lastTask, task.number);
    m_lastRow = std::max(m_lastRow, task.lastRow);
    m_moves.emplace(task.number, Move{task, MovePace(task.perSecond, m_now.steady), 0});
}

SqsReply LocalQueues::run(const StartMessageMoveTaskRequest &request)
{
    if (request.sourceArn.isEmpty())
        return missingParameter(u"SourceArn"_s);
    MoveTask task;
    task.source = QueueSettings::nameOfArn(request.sourceArn);
    task.destination = QueueSettings::nameOfArn(request.destinationArn);
    if (task.source.isEmpty())
        return notAnArn(u"SourceArn"_s, request.sourceArn);
    if (!request.destinationArn.isEmpty() && task.destination.isEmpty())
        return notAnArn(u"DestinationArn"_s, request.destinationArn);
    task.perSecond = request.messagesPerSecond.value_or(0);
    if (request.messagesPerSecond && (task.perSecond < 1 || task.perSecond > 500))
        return invalidParameterValue(u"MaxNumberOfMessagesPerSecond"_s, QString::number(task.perSecond),
                                     u"Must be between 1 and 500, if provided."_s);
    const LocalQueue *source = find(task.source);
    if (!source)
        return noSuchQueue(u"SourceArn"_s);
    if (!task.destination.isEmpty() && !find(task.destination))
        return noSuchQueue(u"DestinationArn"_s);
    const auto isFed = [&](const auto &entry) { return entry.second->settings.deadLetterQueue == task.source; };
    if (std::none_of(m_queues.cbegin(), m_queues.cend(), isFed))
        return invalidParameter(u"Source queue must be configured as a Dead Letter Queue."_s);
    if (task.destination == task.source)
        return invalidParameter(u"Source queue and destination queue cannot be the same."_s);
    int active = 0;
    QList<qint64> finished;
    for (const auto &[number, move] : m_moves) {
        active += move.task.isActive();
        if (move.task.source != task.source)
            continue;
        if (move.task.isActive())
            return invalidParameter(u"There is already a task running. Only one active task is allowed for a source "
                                    "queue arn at a given time."_s);
        finished += number;
    }
    if (active >= ActiveTasksLimit)
        return overLimit(u"%1 message movement tasks are running already; there cannot be more."_s.arg(active));
    for (; finished.size() >= TasksKept; finished.removeFirst())
        forgetMove(finished.constFirst());

    task.number = ++m_lastTask;
    task.id = newId();
    task.startedWall = m_now.wall;
    task.lastRow = m_lastRow;
    task.toMove = source->visibleCount();
    m_moves.emplace(task.number, Move{task, MovePace(task.perSecond, m_now.steady), 0});
    onUndo([this, number = task.number] { m_moves.erase(number); });
    m_changes.emplace_back(PutMoveTask{task});
    m_durable = true;
    return MoveTaskStarted{MoveTaskHandle{task.id, QueueSettings::arn(task.source)}.toString()};
}

SqsReply LocalQueues::run(const ListMessageMoveTasksRequest &request)
{
    if (request.sourceArn.isEmpty())
        return missingParameter(u"SourceArn"_s);
    const QString source = QueueSettings::nameOfArn(request.sourceArn);
    if (source.isEmpty())
        return notAnArn(u"SourceArn"_s, request.sourceArn);
    const int most = request.maxResults.value_or(1);
    if (most < 1 || most > 10)
        return invalidParameterValue(u"MaxResults"_s, QString::number(most), u"Must be between 1 and 10."_s);
    if (!find(source))
        return noSuchQueue(u"SourceArn"_s);
    MoveTaskList list;
    for (auto it = m_moves.rbegin(); it != m_moves.rend() && list.tasks.size() < most; ++it) {
        const MoveTask &task = it->second.task;
        if (task.source != source)
            continue;
        MoveTaskReport report;
        if (task.status == MoveTask::Status::Running)
            report.taskHandle = MoveTaskHandle{task.id, QueueSettings::arn(task.source)}.toString();
        report.status = toText(task.status);
        report.sourceArn = QueueSettings::arn(task.source);
        if (!task.destination.isEmpty())
            report.destinationArn = QueueSettings::arn(task.destination);
        report.messagesPerSecond = task.perSecond;
        report.moved = task.moved;
        report.toMove = task.toMove;
        report.failureReason = task.failure;
        report.startedMsec = task.startedWall;
        list.tasks += report;
    }
    return list;
}

SqsReply LocalQueues::run(const CancelMessageMoveTaskRequest &request)
{
    if (request.taskHandle.isEmpty())
        return missingParameter(u"TaskHandle"_s);
    const auto handle = MoveTaskHandle::fromString(request.taskHandle);
    if (!handle)
        return invalidParameter(u"Value for parameter TaskHandle is invalid."_s);
    const auto it = std::find_if(m_moves.begin(), m_moves.end(),
                                 [&](const auto &entry) { return entry.second.task.id == handle->id; });
    if (it == m_moves.end() || it->second.task.source != QueueSettings::nameOfArn(handle->sourceArn))
        return resourceNotFound(u"Task does not exist."_s);
    MoveTask &task = it->second.task;
    if (task.status != MoveTask::Status::Running)
        return invalidParameter(
            u"Only a running message movement task can be cancelled; this one is %1."_s.arg(toText(task.status)));
    onUndo([&task] { task.status = MoveTask::Status::Running; });
    task.status = MoveTask::Status::Cancelling; // the next step ends it
    m_changes.emplace_back(PutMoveTask{task});
    m_durable = true;
    return MoveTaskCancelled{task.moved};
}

// ---- the moving -------------------------------------------------------------------------------------------

std::optional<qint64> LocalQueues::nextMoveAt() const
{
    std::optional<qint64> next;
    for (const auto &[number, move] : m_moves) {
        if (!move.task.isActive())
            continue;
        const qint64 at = move.task.status == MoveTask::Status::Running ? move.pace.nextAt() : m_now.steady;
        next = std::min(next.value_or(at), at);
    }
    return next;
}

void LocalQueues::moveMessages()
{
    for (auto &[number, move] : m_moves) {
        if (!move.task.isActive())
            continue;
        const Move before = move;
        step(move);
        if (move.task == before.task)
            continue;
        onUndo([&move = move, before] { move = before; });
        // Not synced: if the machine dies, the move and the memory of it are lost together.
        m_changes.emplace_back(PutMoveTask{move.task});
    }
}

void LocalQueues::step(Move &move)
{
    MoveTask &task = move.task;
    if (task.status == MoveTask::Status::Cancelling) {
        task.status = MoveTask::Status::Cancelled;
        return;
    }
    const auto fail = [&task](const QString &reason) {
        task.status = MoveTask::Status::Failed;
        task.failure = reason;
    };
    LocalQueue *source = queueNamed(task.source);
    // The codes are Amazon's (SQS Developer Guide, "Troubleshooting dead-letter queue redrive"), but for the time-out.
    if (!source || (!task.destination.isEmpty() && !find(task.destination)))
        return fail(u"AWS.SimpleQueueService.NonExistentQueue"_s);
    if (m_now.wall - task.startedWall > LongestMoveMsec)
        return fail(u"TimedOut"_s);
    int due = move.pace.due(m_now.steady);
    int moved = 0;
    const QueuedMessage *message = source->nextVisible(move.cursor, task.lastRow);
    for (; message && moved < due; ++moved) {
        if (task.destination.isEmpty() && message->source < 0)
            return fail(u"CouldNotDetermineMessageSource"_s); // it was sent here, not moved here
        LocalQueue *destination =
            queueNamed(task.destination.isEmpty() ? m_names.at(message->source) : task.destination);
        if (!destination)
            return fail(u"AWS.SimpleQueueService.NonExistentQueue"_s);
        move.cursor = message->row;
        ++task.moved;
        renew(*source, *destination, message->row);
        message = source->nextVisible(move.cursor, task.lastRow);
    }
    move.pace.moved(moved, m_now.steady);
    if (!message)
        task.status = MoveTask::Status::Completed;
}

/// Unlike the move to a dead-letter queue, this makes a new message: with a new id, age and count.
void LocalQueues::renew(LocalQueue &from, LocalQueue &to, qint64 row)
{
    const QueuedMessage before = *from.find(row);
    from.take(row);
    QueuedMessage message;
    message.row = ++m_lastRow;
    message.id = newId();
    message.sentWall = m_now.wall;
    message.sentSteady = m_now.steady;
    message.visibleAt = m_now.steady;
    to.insert(message, m_now.steady);
    onUndo([this, &from, &to, before, renewed = message.row] {
        to.take(renewed);
        from.insert(before, m_now.steady);
    });
    m_changes.emplace_back(RenewMessage{row, stored(to, message)});
}

void LocalQueues::forgetMove(qint64 number)
{
    auto node = std::make_shared<Moves::node_type>(m_moves.extract(number));
    onUndo([this, node] { m_moves.insert(std::move(*node)); });
    m_changes.emplace_back(RemoveMoveTask{number});
}

} // namespace sendonce::local
