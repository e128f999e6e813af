#include "worker/local/movetask.h"

#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <array>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

/// How late a timer may be without the task growing slower.
constexpr qint64 LateUsec = 20000;

constexpr std::array Statuses{
    std::pair{MoveTask::Status::Running, "RUNNING"_L1},     std::pair{MoveTask::Status::Completed, "COMPLETED"_L1},
    std::pair{MoveTask::Status::Failed, "FAILED"_L1},       std::pair{MoveTask::Status::Cancelling, "CANCELLING"_L1},
    std::pair{MoveTask::Status::Cancelled, "CANCELLED"_L1},
};

} // namespace

QString toText(MoveTask::Status status)
{
    const auto it =
        std::find_if(Statuses.begin(), Statuses.end(), [status](const auto &pair) { return pair.first == status; });
    return it->second;
}

std::optional<MoveTask::Status> moveStatusOf(const QString &text)
{
    const auto it =
        std::find_if(Statuses.begin(), Statuses.end(), [&text](const auto &pair) { return pair.second == text; });
    if (it == Statuses.end())
        return {};
    return it->first;
}

QString MoveTaskHandle::toString() const
{
    const QJsonObject object{{u"taskId"_s, id.toString(QUuid::WithoutBraces)}, {u"sourceArn"_s, sourceArn}};
    return QString::fromLatin1(QJsonDocument(object).toJson(QJsonDocument::Compact).toBase64());
}

std::optional<MoveTaskHandle> MoveTaskHandle::fromString(const QString &text)
{
    const auto json = QByteArray::fromBase64Encoding(text.toLatin1(), QByteArray::AbortOnBase64DecodingErrors);
    if (!json)
        return {};
    const QJsonObject object = QJsonDocument::fromJson(*json).object();
    MoveTaskHandle handle;
    handle.id = QUuid::fromString(object.value("taskId"_L1).toString());
    handle.sourceArn = object.value("sourceArn"_L1).toString();
    if (handle.id.isNull() || handle.sourceArn.isEmpty())
        return {};
    return handle;
}

qint64 MovePace::dueUsec(qint64 now) const
{
    return std::max(m_dueUsec, now * 1000 - LateUsec);
}

int MovePace::due(qint64 now) const
{
    if (m_perSecond == 0)
        return Slice;
    const qint64 late = now * 1000 - dueUsec(now);
    return late < 0 ? 0 : int(std::min<qint64>(late / periodUsec() + 1, Slice));
}

void MovePace::moved(int messages, qint64 now)
{
    m_dueUsec = dueUsec(now) + messages * periodUsec();
}

} // namespace sendonce::local
