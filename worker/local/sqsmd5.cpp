#include "worker/local/sqsmd5.h"

#include <QCryptographicHash>
#include <QtEndian>

using namespace Qt::StringLiterals;

namespace sendonce::local {

QByteArray md5OfBody(const QByteArray &body)
{
    return QCryptographicHash::hash(body, QCryptographicHash::Md5).toHex();
}

QByteArray md5OfAttributes(const MessageAttributes &attributes)
{
    if (attributes.isEmpty())
        return {};
    QCryptographicHash hash(QCryptographicHash::Md5);
    const auto addCounted = [&hash](const QByteArray &bytes) {
        char length[4];
        qToBigEndian(quint32(bytes.size()), length);
        hash.addData(QByteArrayView(length, 4));
        hash.addData(bytes);
    };
    // Names are ASCII, so QMap's order is the code-point order that is asked for.
    for (auto it = attributes.cbegin(); it != attributes.cend(); ++it) {
        const bool binary = it->dataType.startsWith("Binary"_L1);
        addCounted(it.key().toUtf8());
        addCounted(it->dataType.toUtf8());
        hash.addData(QByteArrayView(binary ? "\2" : "\1", 1));
        addCounted(binary ? it->binaryValue : it->stringValue.toUtf8());
    }
    return hash.result().toHex();
}

} // namespace sendonce::local
