#include "worker/store/turn.h"

#include <QFile>
#include <QFileInfo>
#include <QHash>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto ShortestPause = 1ms;
constexpr auto LongestPause = 20ms; ///< also the longest time until `stop` is seen

/// The waiting threads of this process, first come first; one line for each database file. Lives for ever: it is tiny.
struct Line
{
    std::mutex mutex;
    std::condition_variable moved;
    std::deque<quint64> tickets; ///< the first one has the turn, or is the one to try for the file lock
    quint64 lastTicket = 0;
};

std::shared_ptr<Line> lineFor(const QString &path)
{
    static std::mutex mutex;
    static QHash<QString, std::shared_ptr<Line>> lines;
    const std::lock_guard lock(mutex);
    std::shared_ptr<Line> &line = lines[path];
    if (!line)
        line = std::make_shared<Line>();
    return line;
}

/// One name for one file, whatever link it was reached by; the file itself need not exist yet.
QString canonicalName(const QString &path)
{
    const QFileInfo file(path);
    if (const QString whole = file.canonicalFilePath(); !whole.isEmpty())
        return whole;
    const QString folder = QFileInfo(file.absolutePath()).canonicalFilePath();
    return (folder.isEmpty() ? file.absolutePath() : folder) + u'/' + file.fileName();
}

/// A place in the line, given up when it is destroyed.
class Place
{
public:
    explicit Place(std::shared_ptr<Line> line) : m_line(std::move(line))
    {
        const std::lock_guard lock(m_line->mutex);
        m_ticket = ++m_line->lastTicket;
        m_line->tickets.push_back(m_ticket);
    }
    ~Place()
    {
        const std::lock_guard lock(m_line->mutex);
        std::erase(m_line->tickets, m_ticket);
        m_line->moved.notify_all();
    }
    Place(const Place &) = delete;
    Place &operator=(const Place &) = delete;

    /// Waits at most `pause` for being the first.
    bool isFirst(Clock::duration pause)
    {
        std::unique_lock lock(m_line->mutex);
        return m_line->moved.wait_for(lock, pause, [this] { return m_line->tickets.front() == m_ticket; });
    }

private:
    const std::shared_ptr<Line> m_line;
    quint64 m_ticket = 0;
};

/// An flock(2), which the kernel lets go of when the process dies.
class FileLock
{
public:
    FileLock() = default;
    ~FileLock() { release(); }
    FileLock(const FileLock &) = delete;
    FileLock &operator=(const FileLock &) = delete;

    /// 0 or errno. O_CLOEXEC: a child must not keep the turn; O_NOFOLLOW: the name can be foreseen by others.
    int open(const QString &path)
    {
        m_fd = ::open(QFile::encodeName(path).constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        return m_fd < 0 ? errno : 0;
    }
    /// 0, EWOULDBLOCK when somebody else has it, or another errno.
    int tryLock()
    {
        while (::flock(m_fd, LOCK_EX | LOCK_NB) != 0) {
            if (errno != EINTR)
                return errno;
        }
        return 0;
    }
    void release()
    {
        if (m_fd < 0)
            return;
        // Said, not left to close(): a child between fork and exec holds the same open file for a moment.
        ::flock(m_fd, LOCK_UN);
        ::close(m_fd);
        m_fd = -1;
    }

private:
    int m_fd = -1;
};

} // namespace

struct Turn::Held
{
    explicit Held(std::shared_ptr<Line> line) : place(std::move(line)) { }
    Place place;
    FileLock lock; ///< released before the place: the next thread finds it free
};

Result<Turn> Turn::take(const QString &databasePath, std::chrono::milliseconds timeout, const std::atomic_bool &stop)
{
    const QString name = canonicalName(databasePath);
    const auto start = Clock::now();
    const auto ended = [&]() -> std::optional<Error> {
        if (stop)
            return Error{ErrorKind::Aborted, u"stopped while waiting for its turn"_s, {}};
        if (Clock::now() - start >= timeout)
            return Error{ErrorKind::Busy,
                         u"another lane has had %1 for %2 ms"_s.arg(QFileInfo(name).fileName()).arg(timeout.count()),
                         {}};
        return std::nullopt;
    };
    // Nothing that lasts: the end of the time-out is kept, `stop` is seen in time.
    const auto pause = [&](Clock::duration wanted) {
        const auto left = start + timeout - Clock::now();
        return std::clamp<Clock::duration>(left, 0ms, wanted);
    };

    if (stop)
        return *ended();
    auto held = std::make_unique<Held>(lineFor(name));
    while (!held->place.isFirst(pause(LongestPause))) {
        if (const auto error = ended())
            return *error;
    }

    // Two files: who waits for the turn holds the door meanwhile. Without the door a busy process would take the turn
    // again before a waiting one looked.
    FileLock door;
    const auto lockOf = [&](FileLock &lock, const QString &path) -> std::optional<Error> {
        if (const int error = lock.open(path))
            return Error{ErrorKind::Io,
                         u"%1 cannot be opened: %2"_s.arg(path, QString::fromLocal8Bit(std::strerror(error))),
                         {}};
        for (const auto since = Clock::now();;) {
            const int error = lock.tryLock();
            if (error == 0)
                return std::nullopt;
            if (error != EWOULDBLOCK)
                return Error{ErrorKind::Io,
                             u"%1 cannot be locked: %2"_s.arg(path, QString::fromLocal8Bit(std::strerror(error))),
                             {}};
            if (const auto over = ended())
                return over;
            // Grows with the time already waited, so that short turns follow one another quickly.
            const auto wanted = std::clamp<Clock::duration>((Clock::now() - since) / 8, ShortestPause, LongestPause);
            std::this_thread::sleep_for(pause(wanted));
        }
    };
    if (const auto error = lockOf(door, name + u".turn-next"_s))
        return *error;
    if (const auto error = lockOf(held->lock, name + u".turn"_s))
        return *error;
    return Turn(std::move(held));
}

int Turn::waiting(const QString &databasePath)
{
    const std::shared_ptr<Line> line = lineFor(canonicalName(databasePath));
    const std::lock_guard lock(line->mutex);
    return int(line->tickets.size());
}

Turn::Turn(std::unique_ptr<Held> held) : m_held(std::move(held)) { }

Turn::Turn(Turn &&other) noexcept = default;
Turn &Turn::operator=(Turn &&other) noexcept = default;
Turn::~Turn() = default;

} // namespace sendonce
