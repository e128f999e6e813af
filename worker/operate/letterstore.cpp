#include "worker/operate/letterstore.h"

#include <QDataStream>
#include <QDateTime>
#include <QDir>
#include <QFileInfo>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

const QString Pattern = u"dead-letters-XXXXXX.tmp"_s;
constexpr qint64 LeftoverAfterSeconds = 24 * 3600; // another console may be browsing at this very moment

QByteArray packed(const Message &message)
{
    QByteArray bytes;
    QDataStream stream(&bytes, QIODevice::WriteOnly);
    stream << message.body << qint32(message.attributes.size());
    for (auto it = message.attributes.cbegin(); it != message.attributes.cend(); ++it)
        stream << it.key() << it->dataType << it->stringValue << it->binaryValue;
    stream << message.systemAttributes;
    return bytes;
}

} // namespace

LetterStore::LetterStore(QString dataDir) : m_dataDir(std::move(dataDir)) { }

Result<void> LetterStore::begin()
{
    m_end = 0;
    m_file = std::make_unique<QTemporaryFile>(QDir(m_dataDir).filePath(Pattern));
    if (!m_file->open()) // never asked for its name, so on Linux it never gets one
        return Error{ErrorKind::Io, u"the bodies cannot be kept in %1: %2"_s.arg(m_dataDir, m_file->errorString()), {}};
    return {};
}

Result<LetterStore::Place> LetterStore::put(const Message &message)
{
    const QByteArray bytes = packed(message);
    const Place place{m_end, bytes.size()};
    if (!m_file || !m_file->seek(m_end) || m_file->write(bytes) != bytes.size() || !m_file->flush())
        return Error{
            ErrorKind::Io,
            u"the bodies cannot be kept in %1: %2"_s.arg(m_dataDir, m_file ? m_file->errorString() : u"no file"_s),
            {}};
    m_end += bytes.size();
    return place;
}

Result<QByteArray> LetterStore::read(const Place &place)
{
    if (m_file && place.offset >= 0 && m_file->seek(place.offset)) {
        QByteArray bytes = m_file->read(place.size);
        if (bytes.size() == place.size)
            return bytes;
    }
    return unreadable();
}

Result<void> LetterStore::fill(Message &message, const Place &place)
{
    const auto bytes = read(place);
    if (!bytes)
        return bytes.error();
    QDataStream stream(bytes.value());
    qint32 count = 0;
    stream >> message.body >> count;
    message.attributes.clear();
    for (qint32 i = 0; i < count && stream.status() == QDataStream::Ok; ++i) {
        QString name;
        MessageAttribute attribute;
        stream >> name >> attribute.dataType >> attribute.stringValue >> attribute.binaryValue;
        message.attributes.insert(name, attribute);
    }
    stream >> message.systemAttributes;
    if (stream.status() != QDataStream::Ok)
        return unreadable();
    return {};
}

Result<QByteArray> LetterStore::body(const Place &place)
{
    const auto bytes = read(place);
    if (!bytes)
        return bytes.error();
    QDataStream stream(bytes.value());
    QByteArray body;
    stream >> body;
    if (stream.status() != QDataStream::Ok)
        return unreadable();
    return body;
}

Error LetterStore::unreadable() const
{
    return {ErrorKind::Io, u"the body cannot be read from the file of this browse in %1"_s.arg(m_dataDir), {}};
}

void LetterStore::removeLeftovers(const QString &dataDir)
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    const QFileInfoList found = QDir(dataDir).entryInfoList({u"dead-letters-*.tmp"_s}, QDir::Files);
    for (const QFileInfo &file : found) {
        if (file.lastModified().secsTo(now) > LeftoverAfterSeconds)
            QFile::remove(file.filePath());
    }
}

} // namespace sendonce
