#include "ui/layoutstate.h"

#include <QCryptographicHash>
#include <QDataStream>
#include <QDir>
#include <QFile>
#include <QSaveFile>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

const QByteArray Magic = "sendonce layout 1\n";
constexpr qsizetype ChecksumSize = 32;
constexpr qint64 LargestFile = 1024 * 1024;

QByteArray checksum(const QByteArray &payload)
{
    return QCryptographicHash::hash(payload, QCryptographicHash::Sha256);
}

} // namespace

QByteArray packLayout(const WindowLayout &layout)
{
    QByteArray payload;
    QDataStream stream(&payload, QIODevice::WriteOnly);
    stream.setVersion(QDataStream::Qt_6_4);
    stream << layout.geometry << layout.state;
    return Magic + checksum(payload) + payload;
}

std::optional<WindowLayout> unpackLayout(const QByteArray &bytes)
{
    if (!bytes.startsWith(Magic) || bytes.size() < Magic.size() + ChecksumSize)
        return {};
    const QByteArray payload = bytes.mid(Magic.size() + ChecksumSize);
    if (bytes.mid(Magic.size(), ChecksumSize) != checksum(payload))
        return {};
    QDataStream stream(payload);
    stream.setVersion(QDataStream::Qt_6_4);
    WindowLayout layout;
    stream >> layout.geometry >> layout.state;
    if (stream.status() != QDataStream::Ok || !stream.atEnd())
        return {};
    return layout;
}

LayoutStore::LayoutStore(QString folder) : m_folder(std::move(folder)) { }

std::optional<WindowLayout> LayoutStore::begin()
{
    QDir().mkpath(m_folder);
    if (QFile::exists(markPath())) {
        QFile::remove(layoutPath());
        return {};
    }
    QFile mark(markPath());
    if (!mark.open(QIODevice::WriteOnly))
        return {}; // without the mark a bad layout could not be told from a good one
    mark.close();
    QFile file(layoutPath());
    if (!file.open(QIODevice::ReadOnly) || file.size() > LargestFile)
        return {};
    return unpackLayout(file.readAll());
}

void LayoutStore::finished()
{
    QFile::remove(markPath());
}

bool LayoutStore::save(const WindowLayout &layout) const
{
    QSaveFile file(layoutPath());
    return file.open(QIODevice::WriteOnly) && file.write(packLayout(layout)) >= 0 && file.commit();
}

QString LayoutStore::layoutPath() const
{
    return m_folder + u"/layout"_s;
}

QString LayoutStore::markPath() const
{
    return m_folder + u"/layout.starting"_s;
}

} // namespace sendonce
