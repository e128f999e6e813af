#include "worker/operate/movetaskprobe.h"

#include "worker/queue/sqserrors.h"

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using Answer = MoveTaskSupport::Answer;

namespace {

/// An endpoint without an operation says so in many ways: by a code, by a page that is not there, by falling over it
/// (sqs.md, section 17). Being busy, away or not convinced of our keys is none of them.
Answer answerOf(const Error &error)
{
    if (sqserrors::isDenial(error.code))
        return Answer::NotPermitted;
    if (SqsClient::refusesKeys(error, false))
        return Answer::Unknown;
    switch (error.kind) {
    case ErrorKind::Refused:
    case ErrorKind::Protocol:
    case ErrorKind::Invalid:
    case ErrorKind::NotFound:
        return Answer::No;
    case ErrorKind::Unreachable:
        return error.code == "HTTP 500"_L1 || error.code == "HTTP 501"_L1 ? Answer::No : Answer::Unknown;
    default:
        return Answer::Unknown;
    }
}

} // namespace

MoveTaskSupport judgeMoveTasks(const Result<QList<MoveTask>> &tasks, const std::optional<Result<QList<QUrl>>> &sources,
                               const QUrl &queueUrl)
{
    if (!tasks)
        return {answerOf(tasks.error()), tasks.error().text};
    if (sources && sources->ok()) {
        // By name: hosts and ports differ with the way to the endpoint.
        const auto isOurs = [&queueUrl](const QUrl &each) { return each.fileName() == queueUrl.fileName(); };
        if (std::none_of(sources->value().cbegin(), sources->value().cend(), isOurs)) {
            return {Answer::No,
                    u"the redrive policy of queue %1 does not name this dead letter queue"_s.arg(queueUrl.fileName())};
        }
    }
    return {Answer::Yes, {}};
}

void probeMoveTasks(SqsClient &client, const QUrl &queueUrl, const QUrl &dlqUrl, const QString &dlqArn,
                    QObject *context, std::function<void(const MoveTaskSupport &)> done)
{
    if (dlqArn.isEmpty()) {
        client.getQueueAttributes(
            dlqUrl, {u"QueueArn"_s}, context,
            [&client, queueUrl, dlqUrl, context, done](const Result<QMap<QString, QString>> &attributes) {
                const QString arn = attributes ? attributes->value(u"QueueArn"_s) : QString();
                if (arn.isEmpty()) {
                    done({Answer::Unknown,
                          attributes ? u"the endpoint does not tell the ARN of %1"_s.arg(dlqUrl.fileName())
                                     : attributes.error().text});
                    return;
                }
                probeMoveTasks(client, queueUrl, dlqUrl, arn, context, done);
            });
        return;
    }
    client.listMessageMoveTasks(dlqUrl, dlqArn, 1, context,
                                [&client, queueUrl, dlqUrl, context, done](const Result<QList<MoveTask>> &tasks) {
                                    if (!tasks) {
                                        done(judgeMoveTasks(tasks, std::nullopt, queueUrl));
                                        return;
                                    }
                                    client.listDeadLetterSourceQueues(
                                        dlqUrl, context, [tasks, queueUrl, done](const Result<QList<QUrl>> &sources) {
                                            done(judgeMoveTasks(tasks, sources, queueUrl));
                                        });
                                });
}

} // namespace sendonce
