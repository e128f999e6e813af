#pragma once

#include <QString>
#include <QUuid>

#include <optional>

namespace sendonce::local {

/// One message move task (sqs.md, section 12) as it is remembered, also over a restart.
struct MoveTask
{
    enum class Status { Running, Completed, Failed, Cancelling, Cancelled };

    qint64 number = 0; ///< grows with every task
    QUuid id;
    Status status = Status::Running;
    QString source; ///< name of the dead-letter queue
    QString destination; ///< name; empty: each message back to the queue it came from
    int perSecond = 0; ///< 0: as fast as it goes
    qint64 startedWall = 0; ///< msec since the epoch
    qint64 lastRow = 0; ///< what came into the world later is not moved: so a task ends, whatever happens meanwhile
    qint64 toMove = 0; ///< known at the start
    qint64 moved = 0;
    QString failure; ///< with Failed

    bool isActive() const { return status == Status::Running || status == Status::Cancelling; }
    bool operator==(const MoveTask &) const = default;
};

/// RUNNING …, as the API says it.
QString toText(MoveTask::Status status);
/// Nothing when it is no status.
std::optional<MoveTask::Status> moveStatusOf(const QString &text);

/// What a TaskHandle says. Base64 of JSON, as Amazon's is.
struct MoveTaskHandle
{
    QUuid id;
    QString sourceArn;

    QString toString() const;
    /// Nothing when the text is no handle.
    static std::optional<MoveTaskHandle> fromString(const QString &text);

    bool operator==(const MoveTaskHandle &) const = default;
};

/// When how many messages may be moved: evenly spread, and what was missed is not made up for. Pure.
class MovePace
{
public:
    /// At most this many at once: a batch, as other clients would move them, so that nobody waits long for his turn.
    static constexpr int Slice = 10;

    /// \param perSecond 0: no limit
    /// \param now steady, msec
    MovePace(int perSecond, qint64 now) : m_perSecond(perSecond), m_dueUsec(now * 1000) { }

    /// How many may go now.
    int due(qint64 now) const;
    void moved(int messages, qint64 now);
    /// When the next one may go.
    qint64 nextAt() const { return (m_dueUsec + 999) / 1000; }

private:
    qint64 periodUsec() const { return m_perSecond == 0 ? 0 : 1000000 / m_perSecond; }
    qint64 dueUsec(qint64 now) const;

    int m_perSecond;
    qint64 m_dueUsec; ///< of the next message
};

} // namespace sendonce::local
