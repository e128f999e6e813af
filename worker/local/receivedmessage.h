#pragma once

#include "worker/local/sqsoperations.h"

namespace sendonce::local {

/// One message of a ReceiveMessage answer, with what was asked for and nothing else; the same in both protocols.
struct ReceivedMessage
{
    QString messageId;
    QString receiptHandle;
    QByteArray body;
    QByteArray bodyMd5;
    QMap<QString, QString> systemAttributes;
    MessageAttributes attributes;
    QByteArray attributesMd5; ///< over the attributes above only, as Amazon does it; empty: there are none
};

/// Joins what the queue remembered with what the store kept, filtered by the names the request asked for.
ReceivedMessage assemble(const HandedOut &handedOut, const MessageContent &content, const ReceivedMessages &asked);

} // namespace sendonce::local
