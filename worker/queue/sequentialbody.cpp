#include "worker/queue/sequentialbody.h"

#include <algorithm>
#include <cstring>

namespace sendonce {

SequentialBody::SequentialBody(QByteArray data, QObject *parent) : QIODevice(parent), m_data(std::move(data))
{
    // Unbuffered: QIODevice would copy everything once more.
    open(QIODevice::ReadOnly | QIODevice::Unbuffered);
}

qint64 SequentialBody::readData(char *data, qint64 maxSize)
{
    const qint64 size = std::min<qint64>(maxSize, m_data.size() - m_read);
    if (size <= 0)
        return maxSize > 0 ? -1 : 0;
    std::memcpy(data, m_data.constData() + m_read, std::size_t(size));
    m_read += size;
    return size;
}

qint64 SequentialBody::writeData(const char *, qint64)
{
    return -1;
}

} // namespace sendonce
