#include "worker/queue/sqsmovetasks.h"

#include "worker/queue/jsonreply.h"
#include "worker/queue/sqserrors.h"

using namespace Qt::StringLiterals;

namespace sendonce::sqsmovetasks {

using namespace jsonreply;

namespace {

MoveTask::State stateOf(const QString &status)
{
    static const QMap<QString, MoveTask::State> States = {{u"RUNNING"_s, MoveTask::State::Running},
                                                          {u"COMPLETED"_s, MoveTask::State::Completed},
                                                          {u"FAILED"_s, MoveTask::State::Failed},
                                                          {u"CANCELLING"_s, MoveTask::State::Cancelling},
                                                          {u"CANCELLED"_s, MoveTask::State::Cancelled}};
    return States.value(status.toUpper(), MoveTask::State::Unknown);
}

MoveTask readTask(const QJsonValue &item)
{
    MoveTask task;
    task.state = stateOf(text(item["Status"_L1]));
    task.handle = text(item["TaskHandle"_L1]);
    task.sourceArn = text(item["SourceArn"_L1]);
    task.destinationArn = text(item["DestinationArn"_L1]);
    task.perSecond = int(number(item["MaxNumberOfMessagesPerSecond"_L1]).value_or(0));
    task.moved = number(item["ApproximateNumberOfMessagesMoved"_L1]).value_or(0);
    task.toMove = number(item["ApproximateNumberOfMessagesToMove"_L1]).value_or(-1);
    if (const auto msec = number(item["StartedTimestamp"_L1]); msec && *msec > 0)
        task.startedAt = QDateTime::fromMSecsSinceEpoch(*msec, Qt::UTC);
    task.failureReason = sqserrors::oneLine(text(item["FailureReason"_L1]));
    return task;
}

} // namespace

QByteArray startMessageMoveTask(const MoveRequest &request)
{
    QJsonObject body{{u"SourceArn"_s, request.sourceArn}};
    if (!request.destinationArn.isEmpty())
        body.insert(u"DestinationArn"_s, request.destinationArn);
    if (request.perSecond > 0)
        body.insert(u"MaxNumberOfMessagesPerSecond"_s, request.perSecond);
    return compact(body);
}

QByteArray listMessageMoveTasks(const QString &sourceArn, int maxResults)
{
    return compact({{u"SourceArn"_s, sourceArn}, {u"MaxResults"_s, maxResults}});
}

QByteArray cancelMessageMoveTask(const QString &taskHandle)
{
    return compact({{u"TaskHandle"_s, taskHandle}});
}

QByteArray listDeadLetterSourceQueues(const QUrl &deadLetterQueueUrl, const QString &nextToken)
{
    QJsonObject body = forQueue(deadLetterQueueUrl);
    body.insert(u"MaxResults"_s, 1000); // without it there is no NextToken, and no telling whether that was all
    if (!nextToken.isEmpty())
        body.insert(u"NextToken"_s, nextToken);
    return compact(body);
}

Result<QString> readTaskHandle(const QByteArray &body)
{
    const Result<QJsonObject> object = readObject(body);
    if (!object)
        return object.error();
    const QString handle = text(object->value("TaskHandle"_L1));
    if (handle.isEmpty())
        return notSqs(u"no TaskHandle in it"_s);
    return handle;
}

Result<QList<MoveTask>> readTasks(const QByteArray &body)
{
    const Result<QJsonObject> object = readObject(body);
    if (!object)
        return object.error();
    const Result<QJsonArray> list = readList(object.value(), u"Results"_s);
    if (!list)
        return list.error();
    QList<MoveTask> tasks;
    for (const QJsonValue item : list.value())
        tasks.append(readTask(item));
    return tasks;
}

Result<qint64> readMoved(const QByteArray &body)
{
    const Result<QJsonObject> object = readObject(body);
    if (!object)
        return object.error();
    return number(object->value("ApproximateNumberOfMessagesMoved"_L1)).value_or(-1);
}

Result<SourcePage> readSources(const QByteArray &body)
{
    const Result<QJsonObject> object = readObject(body);
    if (!object)
        return object.error();
    // A small q, unlike everything else; emulators may not know.
    const bool isSmall = object->contains("queueUrls"_L1);
    const Result<QJsonArray> list = readList(object.value(), isSmall ? u"queueUrls"_s : u"QueueUrls"_s);
    if (!list)
        return list.error();
    SourcePage page;
    for (const QJsonValue item : list.value())
        page.queueUrls.append(QUrl(text(item)));
    page.nextToken = text(object->value("NextToken"_L1));
    return page;
}

} // namespace sendonce::sqsmovetasks
