#include "worker/faults/faultgate.h"

#include <QFile>
#include <QJsonDocument>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto Patience = 1s;
constexpr qsizetype LongestLine = 64 * 1024;

/// What is left of the time bounds the next call on the socket; false: nothing is.
bool bound(int socket, int option, Clock::time_point end)
{
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now()).count();
    const timeval time{left / 1'000'000, left % 1'000'000};
    return left > 0 && ::setsockopt(socket, SOL_SOCKET, option, &time, sizeof time) == 0;
}

/// The first line that a local socket answers to this one; empty when there is none in time. Plain calls: a
/// QLocalSocket would be an object with an owner, and this is asked from any thread.
QByteArray askLocalSocket(const QString &path, const QByteArray &line)
{
    const auto end = Clock::now() + Patience;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const QByteArray name = QFile::encodeName(path);
    if (name.size() >= qsizetype(sizeof address.sun_path))
        return {};
    std::copy(name.cbegin(), name.cend(), address.sun_path);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0)
        return {};
    QByteArray answer;
    if (bound(socket, SO_SNDTIMEO, end) // also of connect()
        && ::connect(socket, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0
        && ::send(socket, line.constData(), size_t(line.size()), MSG_NOSIGNAL) == line.size()) {
        char bytes[4096];
        while (!answer.contains('\n') && answer.size() < LongestLine && bound(socket, SO_RCVTIMEO, end)) {
            const ssize_t got = ::recv(socket, bytes, sizeof bytes, 0);
            if (got > 0)
                answer.append(bytes, got);
            else if (got == 0 || errno != EINTR)
                break;
        }
    }
    ::close(socket);
    const qsizetype whole = answer.indexOf('\n');
    return whole < 0 ? QByteArray() : answer.first(whole);
}

} // namespace

FaultGate::FaultGate(const QString &socketPath, Death death, std::optional<Stage> crashAt)
    : m_socketPath(socketPath)
    , m_death(death)
    , m_crashAt(crashAt)
    , m_armed(socketPath.isEmpty() ? 0 : ~0U)
{ }

void FaultGate::setArmed(const FaultRules &rules)
{
    quint32 armed = 0;
    for (const FaultRule &rule : rules)
        armed |= 1U << int(rule.where);
    m_armed = armed;
}

std::optional<Fault> FaultGate::ask(FaultPoint point, const FaultSubject &subject) const
{
    if (const auto stage = m_crashAt ? faultPointOf(*m_crashAt) : std::nullopt; stage == point)
        return Fault{FaultEffect::Crash, 0, {}, {}};
    if ((m_armed & (1U << int(point))) == 0)
        return std::nullopt;
    const QJsonObject question{{u"ask"_s, faultPointName(point)},
                               {u"event"_s, subject.event},
                               {u"recipient"_s, subject.recipient},
                               {u"type"_s, subject.type},
                               {u"key"_s, subject.key}};
    const QByteArray answer =
        askLocalSocket(m_socketPath, QJsonDocument(question).toJson(QJsonDocument::Compact) + '\n');
    const auto fault = faultFromJson(QJsonDocument::fromJson(answer).object().value("fault"_L1).toObject());
    return fault && faultEffectsAt(point).contains(fault->what) ? fault : std::nullopt;
}

void FaultGate::die() const
{
    if (m_death == Death::Lane)
        return;
    ::kill(::getpid(), SIGKILL);
    std::abort(); // not reached; the compiler does not know
}

std::optional<FaultPoint> faultPointOf(Stage stage)
{
    switch (stage) {
    case Stage::Received:
        return FaultPoint::WorkerReceived;
    case Stage::Claimed:
        return FaultPoint::WorkerClaimed;
    case Stage::LookedUp:
        return FaultPoint::WorkerLookedUp;
    case Stage::HandedOver:
        return FaultPoint::WorkerHandedOver;
    case Stage::Accepted:
        return FaultPoint::WorkerAccepted;
    case Stage::Committed:
        return FaultPoint::WorkerCommitted;
    case Stage::Deleted:
        return FaultPoint::WorkerDeleted;
    case Stage::Validated:
        break;
    }
    return std::nullopt;
}

FaultSubject faultSubject(const DeliveryReport &delivery)
{
    return {delivery.eventId, delivery.recipient, delivery.eventType, delivery.messageId};
}

} // namespace sendonce
