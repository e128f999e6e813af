#pragma once

#include "worker/local/sqserror.h"
#include "worker/types.h"

#include <optional>

/// What SQS allows in names, bodies and attributes (sqs.md, sections 5 and 7). Pure.
namespace sendonce::local {

/// #x9 #xA #xD #x20-#xD7FF #xE000-#xFFFD #x10000-#x10FFFF and nothing else: no NUL, no lone surrogate, no U+FFFE.
bool isLegalText(QStringView text);
/// 1-80 of A-Za-z0-9_-.
bool isQueueName(const QString &name);
/// 1-80 of A-Za-z0-9_-, as the id of a batch entry.
bool isEntryId(const QString &id);
/// 1-128 alphanumeric characters and punctuation, as MessageGroupId is.
bool isGroupId(const QString &id);

/// At most 10, names, types and values as 5.3 says.
std::optional<SqsError> checkMessageAttributes(const MessageAttributes &attributes);
/// Only AWSTraceHeader, a String, can be sent.
std::optional<SqsError> checkSystemAttributes(const MessageAttributes &attributes);
/// Name + type + value of each, in UTF-8 bytes: what attributes add to a message's size.
qint64 sizeOfAttributes(const MessageAttributes &attributes);

/// Whether MessageAttributeNames asks for this attribute: exact name, `All`, `.*`, `*`, or prefix `foo.*`.
bool isAttributeWanted(const QString &name, const QStringList &wanted);
/// A name that AttributeNames or MessageSystemAttributeNames of ReceiveMessage may hold.
bool isSystemAttribute(const QString &name);

} // namespace sendonce::local
