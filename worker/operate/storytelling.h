#pragma once

#include "worker/types.h"

#include <QString>

namespace sendonce {

/// Noted before a replay is sent; followed by replayedAsMessage(), which is known only when the reply is there.
extern const QString BeingReplayed;
QString replayedAsMessage(const QString &messageId);

/// A story of the journal for people. Pure. The journal does not know how often the queue lets a message be received,
/// so "received 2" becomes "received 2 of 3" here; and a replay stands where it began: the worker may have mailed
/// before the reply to the send was noted. \param maxReceiveCount 0: not known
EventStory tellable(EventStory story, int maxReceiveCount);

} // namespace sendonce
