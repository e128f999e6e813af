#include "app/process/privacy.h"

#include <QDir>
#include <QFile>

#include <cerrno>
#include <cstring>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sendonce {

using namespace Qt::StringLiterals;

void keepPrivate()
{
    ::umask(077);
    const struct rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
}

Result<QString> prepareDataDir(const QString &path)
{
    const QString absolute = QDir::cleanPath(QDir(path).absolutePath());
    const QByteArray name = QFile::encodeName(absolute);
    struct stat status = {};
    if (::lstat(name.constData(), &status) != 0) {
        if (errno != ENOENT || !QDir().mkpath(absolute)) {
            return Error{
                ErrorKind::Io,
                u"data folder %1: cannot be made: %2"_s.arg(absolute, QString::fromLocal8Bit(std::strerror(errno))),
                {}};
        }
        return absolute; // 0700 by the umask
    }
    const auto refused = [&absolute](const QString &why) {
        return Error{ErrorKind::Refused, u"data folder %1: %2"_s.arg(absolute, why), {}};
    };
    if (S_ISLNK(status.st_mode))
        return refused(u"is a link; name the folder itself with --data-dir"_s);
    if (!S_ISDIR(status.st_mode))
        return refused(u"is not a folder"_s);
    if (status.st_uid != ::geteuid())
        return refused(u"belongs to another user; choose one of your own with --data-dir"_s);
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refused(u"can be written by others; chmod 700 it, or choose another with --data-dir"_s);
    if ((status.st_mode & 077) != 0)
        ::chmod(name.constData(), 0700);
    return absolute;
}

} // namespace sendonce
