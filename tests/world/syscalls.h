#pragma once

#include <QList>

/// System calls of the libraries under this test program (SQLite, QtNetwork), seen and made to fail. A program that
/// includes this file once defines these functions itself; exported (ENABLE_EXPORTS), they come before the C library's.

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace syscalls {

enum class Event { Write, Sync, Reply };

inline QList<Event> log; ///< writes and syncs of files, and first bytes of HTTP replies, in their order
inline int failWrites = 0; ///< not 0: this errno for every write to a file
inline int failSyncs = 0;
inline int acceptsWithoutDescriptor = 0; ///< connections that could not be accepted for want of one

} // namespace syscalls

extern "C" {

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset)
{
    syscalls::log += syscalls::Event::Write;
    if (syscalls::failWrites != 0) {
        errno = syscalls::failWrites;
        return -1;
    }
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}

int fdatasync(int)
{
    syscalls::log += syscalls::Event::Sync;
    if (syscalls::failSyncs != 0) {
        errno = syscalls::failSyncs;
        return -1;
    }
    return 0; // it is the order that is looked at, not the disk
}

int fsync(int file)
{
    return fdatasync(file);
}

ssize_t write(int file, const void *bytes, size_t size)
{
    if (size > 5 && std::memcmp(bytes, "HTTP/", 5) == 0)
        syscalls::log += syscalls::Event::Reply;
    return syscall(SYS_write, file, bytes, size);
}

int accept4(int socket, sockaddr *address, socklen_t *length, int flags)
{
    const int descriptor = int(syscall(SYS_accept4, socket, address, length, flags));
    if (descriptor < 0 && errno == EMFILE)
        ++syscalls::acceptsWithoutDescriptor;
    return descriptor;
}

} // extern "C"
