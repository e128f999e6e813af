#include "worker/queue/sqsmd5.h"

#include <QCryptographicHash>
#include <QtEndian>

namespace sendonce::sqsmd5 {

namespace {

constexpr char TextValue = 1; // String and Number
constexpr char BinaryValue = 2;

void addWithLength(QCryptographicHash *hash, const QByteArray &data)
{
    const quint32 length = qToBigEndian(quint32(data.size()));
    hash->addData(QByteArrayView(reinterpret_cast<const char *>(&length), sizeof length));
    hash->addData(data);
}

} // namespace

QByteArray ofBody(const QByteArray &body)
{
    return QCryptographicHash::hash(body, QCryptographicHash::Md5).toHex();
}

QByteArray ofAttributes(const MessageAttributes &attributes)
{
    if (attributes.isEmpty())
        return {};
    QCryptographicHash hash(QCryptographicHash::Md5);
    // Names are A-Za-z0-9_-. only, so that QMap's UTF-16 order is the code-point order the digest is defined over.
    for (auto attribute = attributes.cbegin(); attribute != attributes.cend(); ++attribute) {
        const bool binary = attribute->dataType.startsWith(QLatin1StringView("Binary"));
        addWithLength(&hash, attribute.key().toUtf8());
        addWithLength(&hash, attribute->dataType.toUtf8());
        hash.addData(QByteArrayView(binary ? &BinaryValue : &TextValue, 1));
        addWithLength(&hash, binary ? attribute->binaryValue : attribute->stringValue.toUtf8());
    }
    return hash.result().toHex();
}

} // namespace sendonce::sqsmd5
