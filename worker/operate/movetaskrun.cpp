#include "worker/operate/movetaskrun.h"

namespace sendonce {

using namespace Qt::StringLiterals;
using State = MoveTaskProgress::State;

namespace {

const QString Act = u"move task"_s;

State stateOf(MoveTask::State state)
{
    switch (state) {
    case MoveTask::State::Running:
        return State::Running;
    case MoveTask::State::Completed:
        return State::Completed;
    case MoveTask::State::Failed:
        return State::Failed;
    case MoveTask::State::Cancelling:
        return State::Cancelling;
    case MoveTask::State::Cancelled:
        return State::Cancelled;
    case MoveTask::State::Unknown:
        break;
    }
    return State::Unknown;
}

QString endText(const MoveTaskProgress &progress)
{
    const QString moved = u"about %1 moved"_s.arg(progress.moved);
    switch (progress.state) {
    case State::Completed:
        return u"completed, %1"_s.arg(moved);
    case State::Cancelled:
        return u"cancelled, %1"_s.arg(moved);
    case State::Failed:
        return u"failed, %1: %2"_s.arg(moved, progress.text);
    default:
        return u"nobody knows how it ended, %1"_s.arg(moved);
    }
}

} // namespace

MoveTaskRun::MoveTaskRun(SqsClient &client, Audit &audit, std::chrono::milliseconds interval, QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_audit(audit)
{
    m_timer.setSingleShot(true);
    m_timer.setInterval(interval);
    connect(&m_timer, &QTimer::timeout, this, &MoveTaskRun::look);
}

void MoveTaskRun::setQueue(const QUrl &dlqUrl)
{
    if (dlqUrl == m_dlqUrl)
        return;
    m_dlqUrl = dlqUrl;
    m_arn.clear();
    m_handle.clear();
}

void MoveTaskRun::start(int perSecond)
{
    if (m_progress.isUnderWay()) {
        tell(m_progress); // a second click
        return;
    }
    if (perSecond < 0 || perSecond > 500) {
        fail(u"the speed is %1 messages a second; 1 to 500 are accepted, 0 leaves it to the service"_s.arg(perSecond));
        return;
    }
    const QString text = u"everything in %1 back to where it came from%2"_s.arg(
        m_dlqUrl.toString(), perSecond > 0 ? u"; at most %1/s"_s.arg(perSecond) : QString());
    if (const auto noted = m_audit.note(Act, {}, text); !noted) {
        fail(noted.error().text); // what cannot be noted is not done
        return;
    }
    m_isOurs = true;
    MoveTaskProgress progress;
    progress.state = State::Starting;
    progress.perSecond = perSecond;
    tell(progress);
    withArn([this, perSecond] {
        MoveRequest request;
        request.sourceArn = m_arn;
        request.perSecond = perSecond;
        m_client.startMessageMoveTask(m_dlqUrl, request, this, [this](const Result<QString> &handle) {
            if (!handle) {
                fail(handle.error().text);
                return;
            }
            m_handle = handle.value();
            look();
        });
    });
}

void MoveTaskRun::query()
{
    withArn([this] { look(); });
}

void MoveTaskRun::cancel()
{
    if (m_handle.isEmpty()) {
        MoveTaskProgress progress = m_progress;
        progress.text = u"no move task is under way that could be cancelled"_s;
        tell(progress);
        return;
    }
    m_client.cancelMessageMoveTask(m_dlqUrl, m_handle, this, [this](const Result<qint64> &moved) {
        if (!moved)
            m_progress.text = moved.error().text;
        else
            m_progress.text.clear();
        look();
    });
}

/// Move tasks name queues by ARN, which the endpoint tells.
void MoveTaskRun::withArn(std::function<void()> then)
{
    if (m_dlqUrl.isEmpty()) {
        fail(u"there is no dead letter queue"_s, m_isOurs ? State::Failed : State::Unknown);
        return;
    }
    if (!m_arn.isEmpty()) {
        then();
        return;
    }
    m_client.getQueueAttributes(m_dlqUrl, {u"QueueArn"_s}, this,
                                [this, then = std::move(then)](const Result<QMap<QString, QString>> &attributes) {
                                    m_arn = attributes ? attributes->value(u"QueueArn"_s) : QString();
                                    if (!m_arn.isEmpty()) {
                                        then();
                                        return;
                                    }
                                    fail(attributes ? u"the endpoint does not tell the queue's ARN"_s
                                                    : attributes.error().text,
                                         m_isOurs ? State::Failed : State::Unknown);
                                });
}

void MoveTaskRun::look()
{
    if (m_isAsking)
        return;
    m_isAsking = true;
    m_client.listMessageMoveTasks(m_dlqUrl, m_arn, 1, this, [this](const Result<QList<MoveTask>> &tasks) {
        m_isAsking = false;
        take(tasks);
    });
}

void MoveTaskRun::take(const Result<QList<MoveTask>> &tasks)
{
    MoveTaskProgress progress = m_progress;
    if (!tasks) {
        progress.text = tasks.error().text; // it goes on without us; asked again
        tell(progress);
        if (progress.isUnderWay())
            m_timer.start();
        return;
    }
    if (tasks->isEmpty()) {
        if (progress.state == State::Starting) {
            m_timer.start(); // not listed yet
            return;
        }
        tell({});
        return;
    }
    const MoveTask &task = tasks->first();
    progress.state = stateOf(task.state);
    progress.moved = task.moved;
    progress.toMove = task.toMove;
    progress.perSecond = task.perSecond;
    progress.startedAt = task.startedAt;
    progress.text = task.failureReason;
    if (!task.handle.isEmpty())
        m_handle = task.handle;
    if (!progress.isUnderWay())
        m_handle.clear();
    progress.canCancel = progress.state == State::Running && !m_handle.isEmpty();
    tell(progress);
    if (progress.isUnderWay())
        m_timer.start();
}

void MoveTaskRun::tell(const MoveTaskProgress &progress)
{
    m_progress = progress;
    if (m_isOurs && !progress.isUnderWay()) {
        m_isOurs = false;
        if (const auto noted = m_audit.note(Act, {}, {}, endText(progress)); !noted)
            m_progress.text = noted.error().text;
    }
    Q_EMIT changed(m_progress);
}

void MoveTaskRun::fail(const QString &text, State state)
{
    MoveTaskProgress progress = m_progress;
    progress.state = state;
    progress.text = text;
    progress.canCancel = false;
    tell(progress);
}

} // namespace sendonce
