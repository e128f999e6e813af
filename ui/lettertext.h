#pragma once

#include "worker/types.h"

#include <QString>

/// The parts of a dead letter as text for a monospaced view. Pure; strangers' texts still have to go through a plain
/// view.
namespace sendonce {

/// "trace   Binary   3 bytes" and its bytes as hex below; text and numbers beside their type.
QString attributesText(const MessageAttributes &attributes);
QString systemAttributesText(const QMap<QString, QString> &attributes); ///< times also as local ones
/// Each delivery: when, which receive, by which worker and lane, at which stage it ended and why, what the mail server
/// said.
QString attemptsText(const QList<Attempt> &attempts);
/// The mails that deliveries sent, and what of them lies in the embedded mailbox.
QString mailsText(const DeadLetterDetail &detail);
int mailCount(const DeadLetterDetail &detail); ///< deliveries that mailed, or copies in the mailbox if those are more

} // namespace sendonce
