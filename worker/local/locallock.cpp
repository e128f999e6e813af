#include "worker/local/locallock.h"

#include <QByteArray>
#include <QFile>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

Error systemError(const QString &file)
{
    return {ErrorKind::Io, u"cannot lock %1: %2"_s.arg(file, qt_error_string(errno)), {}};
}

} // namespace

Result<void> LocalLock::acquire(const QString &file)
{
    release();
    const int descriptor = ::open(QFile::encodeName(file).constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0)
        return systemError(file);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        const bool taken = errno == EWOULDBLOCK;
        const Error error = systemError(file);
        char text[32] = {};
        const ssize_t length = ::read(descriptor, text, sizeof text - 1);
        ::close(descriptor);
        if (!taken)
            return error;
        const QString pid = QString::fromLatin1(text, length > 0 ? length : 0).trimmed();
        return Error{ErrorKind::Refused,
                     u"the embedded services of this folder already run in process %1 (%2)"_s.arg(
                         pid.isEmpty() ? u"unknown"_s : pid, file),
                     {}};
    }
    const QByteArray pid = QByteArray::number(qint64(::getpid())) + '\n';
    if (::ftruncate(descriptor, 0) != 0 || ::write(descriptor, pid.constData(), size_t(pid.size())) != pid.size()) {
        const Error error = systemError(file);
        ::close(descriptor);
        return error;
    }
    m_descriptor = descriptor;
    return {};
}

void LocalLock::release()
{
    if (m_descriptor >= 0)
        ::close(std::exchange(m_descriptor, -1)); // and the kernel's lock with it
}

} // namespace sendonce::local
