#include "worker/local/receipthandle.h"

#include <QByteArray>
#include <QtEndian>

namespace sendonce::local {

namespace {
constexpr char Version = 1;
constexpr qsizetype PayloadSize = 1 + 4 + 8 + 8;
constexpr auto Encoding = QByteArray::Base64UrlEncoding | QByteArray::OmitTrailingEquals;
} // namespace

QString ReceiptHandle::toString() const
{
    char bytes[PayloadSize + 2];
    bytes[0] = Version;
    qToBigEndian(queue, bytes + 1);
    qToBigEndian(row, bytes + 5);
    qToBigEndian(receipt, bytes + 13);
    qToBigEndian(qChecksum(QByteArrayView(bytes, PayloadSize)), bytes + PayloadSize);
    return QString::fromLatin1(QByteArray::fromRawData(bytes, sizeof bytes).toBase64(Encoding));
}

std::optional<ReceiptHandle> ReceiptHandle::fromString(const QString &text)
{
    const auto decoded =
        QByteArray::fromBase64Encoding(text.toLatin1(), Encoding | QByteArray::AbortOnBase64DecodingErrors);
    if (!decoded || decoded.decoded.size() != PayloadSize + 2)
        return {};
    const char *bytes = decoded.decoded.constData();
    if (bytes[0] != Version
        || qFromBigEndian<quint16>(bytes + PayloadSize) != qChecksum(QByteArrayView(bytes, PayloadSize)))
        return {};
    ReceiptHandle handle;
    handle.queue = qFromBigEndian<quint32>(bytes + 1);
    handle.row = qFromBigEndian<qint64>(bytes + 5);
    handle.receipt = qFromBigEndian<quint64>(bytes + 13);
    return handle;
}

} // namespace sendonce::local
