#pragma once

#include "worker/queue/sqsclient.h"
#include "worker/types.h"

#include <functional>

class QObject;

namespace sendonce {

/// Sends what an operator composes or gives as it is: 1 to 10 messages of one event. `done` runs once with the report,
/// later, and not when `context` or the client is gone by then.
void sendEvent(SqsClient &client, const QUrl &queueUrl, const SendRequest &request, QObject *context,
               std::function<void(const SendReport &)> done);

} // namespace sendonce
