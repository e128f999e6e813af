#pragma once

#include "worker/queue/sqsclient.h"
#include "worker/types.h"

#include <functional>
#include <optional>

namespace sendonce {

/// What the answers say. Pure. \param sources nothing: not asked for; an error there hinders no task
MoveTaskSupport judgeMoveTasks(const Result<QList<MoveTask>> &tasks, const std::optional<Result<QList<QUrl>>> &sources,
                               const QUrl &queueUrl);

/// Looks, without starting anything, whether the endpoint can move the dead letters back to the queue by itself. `done`
/// runs once, later, and not when `context` or the client is gone by then.
/// \param dlqArn empty: asked for first
void probeMoveTasks(SqsClient &client, const QUrl &queueUrl, const QUrl &dlqUrl, const QString &dlqArn,
                    QObject *context, std::function<void(const MoveTaskSupport &)> done);

} // namespace sendonce
