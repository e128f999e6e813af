#include "worker/consume/handover.h"

#include "worker/digest/sha256.h"

#include <QFile>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

// Room for an event_id of 64 code points (256 bytes), a MessageId of 100, a hash of 64 and a time of 26.
constexpr qint64 SlotBytes = 512;

Error ioError(const QString &doing)
{
    return {
        ErrorKind::Io, u"handover file: cannot %1: %2"_s.arg(doing, QString::fromLocal8Bit(std::strerror(errno))), {}};
}

int openFile(const QString &dataDir)
{
    return ::open(QFile::encodeName(dataDir + u"/handover"_s).constData(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

/// Sets the lock on the slot's bytes for this open file description, so that two lanes of one process exclude each
/// other as well.
bool setLock(int descriptor, qint64 slot, short type)
{
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = slot * SlotBytes;
    lock.l_len = SlotBytes;
    return ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

bool lockSlot(int descriptor, qint64 slot)
{
    return setLock(descriptor, slot, F_WRLCK);
}

QByteArray readSlot(int descriptor, qint64 slot)
{
    QByteArray bytes(SlotBytes, '\0');
    const ssize_t got = ::pread(descriptor, bytes.data(), size_t(SlotBytes), slot * SlotBytes);
    return got > 0 ? bytes.first(got) : QByteArray();
}

bool writeSlot(int descriptor, qint64 slot, QByteArray bytes)
{
    bytes.resize(SlotBytes, '\0');
    return ::pwrite(descriptor, bytes.constData(), size_t(SlotBytes), slot * SlotBytes) == SlotBytes;
}

bool isEmpty(const QByteArray &bytes)
{
    return bytes.isEmpty() || bytes.front() == '\0';
}

qint64 slotCount(int descriptor)
{
    struct stat status = {};
    return ::fstat(descriptor, &status) == 0 ? (status.st_size + SlotBytes - 1) / SlotBytes : 0;
}

} // namespace

Handover::Handover(int descriptor, qint64 slot) : m_descriptor(descriptor), m_slot(slot) { }

Handover::Handover(Handover &&other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_slot(other.m_slot)
    , m_filled(other.m_filled)
{ }

Handover &Handover::operator=(Handover &&other) noexcept
{
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_slot, other.m_slot);
    std::swap(m_filled, other.m_filled);
    return *this;
}

Handover::~Handover()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

Result<Handover> Handover::open(const QString &dataDir)
{
    const int descriptor = openFile(dataDir);
    if (descriptor < 0)
        return ioError(u"open it in "_s + dataDir);
    // A filled slot that nobody holds waits for collect(): it is passed over, not overwritten.
    for (qint64 slot = 0;; ++slot) {
        if (!lockSlot(descriptor, slot))
            continue;
        if (isEmpty(readSlot(descriptor, slot)))
            return Handover(descriptor, slot);
        setLock(descriptor, slot, F_UNLCK);
    }
}

Result<QList<Handover::Leftover>> Handover::collect(const QString &dataDir)
{
    const int descriptor = openFile(dataDir);
    if (descriptor < 0)
        return ioError(u"open it in "_s + dataDir);
    QList<Leftover> leftovers;
    for (qint64 slot = 0; slot < slotCount(descriptor); ++slot) {
        if (!lockSlot(descriptor, slot))
            continue; // a living lane's
        const QByteArray bytes = readSlot(descriptor, slot);
        if (isEmpty(bytes))
            continue;
        const QList<QByteArray> parts = bytes.first(bytes.indexOf('\n') < 0 ? 0 : bytes.indexOf('\n')).split('\t');
        if (parts.size() == 4) {
            leftovers.append({QString::fromUtf8(parts[3]), QString::fromUtf8(parts[0]), QString::fromUtf8(parts[1]),
                              QString::fromUtf8(parts[2])});
        }
        writeSlot(descriptor, slot, {});
    }
    ::close(descriptor);
    return leftovers;
}

Result<void> Handover::fill(const QString &eventId, const QString &messageId, const QString &processedAt,
                            const QByteArray &mail)
{
    const QByteArray hash = sha256(mail).toHex();
    // An event_id holds no control character, a MessageId no blank: the parts can be told apart again.
    const QByteArray record =
        messageId.left(100).toUtf8() + '\t' + hash + '\t' + processedAt.toUtf8() + '\t' + eventId.toUtf8() + '\n';
    if (!writeSlot(m_descriptor, m_slot, record))
        return ioError(u"write it"_s);
    m_filled = true;
    return {};
}

void Handover::clear()
{
    if (!m_filled)
        return;
    writeSlot(m_descriptor, m_slot, {});
    m_filled = false;
}

} // namespace sendonce
