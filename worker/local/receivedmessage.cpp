#include "worker/local/receivedmessage.h"

#include "worker/local/sqsmd5.h"
#include "worker/local/sqsrules.h"

using namespace Qt::StringLiterals;

namespace sendonce::local {

ReceivedMessage assemble(const HandedOut &handedOut, const MessageContent &content, const ReceivedMessages &asked)
{
    ReceivedMessage message;
    message.messageId = handedOut.messageId;
    message.receiptHandle = handedOut.receiptHandle;
    message.body = content.body;
    message.bodyMd5 = content.bodyMd5;

    const QStringList &wanted = asked.systemAttributeNames;
    const bool all = wanted.contains("All"_L1);
    const auto add = [&](const QString &name, const QString &value) {
        if (!value.isEmpty() && (all || wanted.contains(name)))
            message.systemAttributes.insert(name, value);
    };
    if (!wanted.isEmpty()) {
        add(u"ApproximateReceiveCount"_s, QString::number(handedOut.receiveCount));
        add(u"ApproximateFirstReceiveTimestamp"_s, QString::number(handedOut.firstReceivedMsec));
        add(u"SentTimestamp"_s, QString::number(handedOut.sentMsec));
        add(u"SenderId"_s, u"000000000000"_s); // nobody is asked who they are
        add(u"MessageGroupId"_s, content.groupId);
        add(u"AWSTraceHeader"_s, content.traceHeader);
        add(u"DeadLetterQueueSourceArn"_s, handedOut.deadLetterSourceArn);
    }
    for (auto it = content.attributes.cbegin(); it != content.attributes.cend(); ++it) {
        if (isAttributeWanted(it.key(), asked.messageAttributeNames))
            message.attributes.insert(it.key(), *it);
    }
    message.attributesMd5 = md5OfAttributes(message.attributes);
    return message;
}

} // namespace sendonce::local
