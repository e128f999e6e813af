#include "worker/local/maildir.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

Error ioError(int number, const QString &what)
{
    return {ErrorKind::Io, u"%1: %2"_s.arg(what, QString::fromLocal8Bit(std::strerror(number))), {}};
}

/// A descriptor that is closed on every way out.
class File
{
public:
    File(const QString &path, int flags)
        : m_descriptor(::open(QFile::encodeName(path).constData(), flags | O_CLOEXEC, 0600))
        , m_error(m_descriptor < 0 ? errno : 0)
    { }
    ~File() { close(); }
    Q_DISABLE_COPY_MOVE(File)

    bool isOpen() const { return m_descriptor >= 0; }
    int error() const { return m_error; } ///< errno of what failed last
    bool sync() { return note(::fsync(m_descriptor) == 0); }
    bool write(const QByteArray &bytes)
    {
        qsizetype done = 0;
        while (done < bytes.size()) {
            const ssize_t n = ::write(m_descriptor, bytes.constData() + done, size_t(bytes.size() - done));
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return note(false);
            done += n;
        }
        return true;
    }
    /// A network file system may report a failed write only here.
    bool close()
    {
        const int descriptor = m_descriptor;
        m_descriptor = -1;
        return note(descriptor < 0 || ::close(descriptor) == 0);
    }

private:
    bool note(bool ok)
    {
        if (!ok)
            m_error = errno;
        return ok;
    }

    int m_descriptor;
    int m_error;
};

Result<void> syncFolder(const QString &path)
{
    File folder(path, O_RDONLY | O_DIRECTORY);
    if (!folder.isOpen() || !folder.sync())
        return ioError(folder.error(), u"cannot make the folder %1 durable"_s.arg(path));
    return {};
}

Result<void> makeFolder(const QString &path)
{
    const QByteArray name = QFile::encodeName(path);
    struct stat status = {};
    const bool made = ::mkdir(name.constData(), 0700) == 0 || errno == EEXIST;
    if (!made || ::lstat(name.constData(), &status) != 0) {
        const int number = errno;
        return ioError(number, u"cannot make the folder %1"_s.arg(path));
    }
    if (!S_ISDIR(status.st_mode))
        return Error{ErrorKind::Io, u"%1 is no folder"_s.arg(path), {}};
    if (status.st_uid != ::geteuid())
        return Error{ErrorKind::Io, u"the folder %1 belongs to somebody else"_s.arg(path), {}};
    if ((status.st_mode & 077) != 0 && ::chmod(name.constData(), 0700) != 0) {
        const int number = errno;
        return ioError(number, u"cannot close the folder %1 to others"_s.arg(path));
    }
    return {};
}

qint64 usecOf(const QString &name)
{
    static const QRegularExpression pattern(u"^(\\d{10,})\\.M(\\d{6})P"_s);
    const QRegularExpressionMatch match = pattern.match(name);
    return match.hasMatch() ? match.capturedView(1).toLongLong() * 1'000'000 + match.capturedView(2).toLongLong() : 0;
}

} // namespace

Maildir::Maildir(const QString &path) : m_path(path) { }

Result<void> Maildir::open()
{
    for (const QString &folder : {m_path, m_path + "/tmp"_L1, m_path + "/new"_L1, m_path + "/cur"_L1}) {
        if (const Result<void> made = makeFolder(folder); !made)
            return made;
    }
    for (const QString &folder : {m_path, QFileInfo(m_path).absolutePath()}) {
        if (const Result<void> synced = syncFolder(folder); !synced)
            return synced;
    }

    // What is left in tmp/ was never answered with 250: its sender still owns it.
    QDir unfinished(m_path + "/tmp"_L1);
    const QStringList leftovers = unfinished.entryList(QDir::Files | QDir::System | QDir::Hidden);
    for (const QString &name : leftovers) {
        if (!unfinished.remove(name))
            return Error{ErrorKind::Io, u"cannot remove %1"_s.arg(unfinished.filePath(name)), {}};
    }

    // A clock set back must not sort new mails before old ones, nor use a name twice.
    m_lastUsec = 0;
    const QStringList names =
        QDir(m_path + "/new"_L1).entryList(QDir::Files | QDir::System | QDir::Hidden, QDir::Unsorted);
    for (const QString &name : names)
        m_lastUsec = std::max(m_lastUsec, usecOf(name));
    return {};
}

QString Maildir::nextName()
{
    using namespace std::chrono;
    const qint64 now = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
    m_lastUsec = std::max(now, m_lastUsec + 1);
    return u"%1.M%2P%3.sendonce"_s.arg(m_lastUsec / 1'000'000, 10, 10, '0'_L1)
        .arg(m_lastUsec % 1'000'000, 6, 10, '0'_L1)
        .arg(::getpid());
}

Result<QString> Maildir::store(const ReceivedMail &mail)
{
    const QString name = nextName();
    const QString unfinished = m_path + "/tmp/"_L1 + name;
    const QString finished = m_path + "/new/"_L1 + name;

    QByteArray bytes = "Return-Path: <" + mail.sender + ">\r\n";
    for (const QByteArray &recipient : mail.recipients)
        bytes += "Delivered-To: " + recipient + "\r\n";
    bytes += mail.bytes;

    const auto failed = [&](int number, const QString &what) {
        ::unlink(QFile::encodeName(unfinished).constData());
        return ioError(number, what.arg(unfinished));
    };
    {
        File file(unfinished, O_WRONLY | O_CREAT | O_EXCL);
        if (!file.isOpen())
            return ioError(file.error(), u"cannot make %1"_s.arg(unfinished));
        if (!file.write(bytes))
            return failed(file.error(), u"cannot write %1"_s);
        // Never tried again: after a failed fsync the kernel may have dropped the pages and a second one would succeed.
        if (!file.sync())
            return failed(file.error(), u"cannot make %1 durable"_s);
        if (!file.close())
            return failed(file.error(), u"cannot close %1"_s);
    }
    if (::rename(QFile::encodeName(unfinished).constData(), QFile::encodeName(finished).constData()) != 0)
        return failed(errno, u"cannot move %1 to new/"_s);
    if (const Result<void> synced = syncFolder(m_path + "/new"_L1); !synced) {
        ::unlink(QFile::encodeName(finished).constData());
        return synced.error();
    }
    return name;
}

} // namespace sendonce
