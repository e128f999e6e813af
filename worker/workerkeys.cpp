#include "worker/workerprivate.h"

#include "worker/queue/sqserrors.h"

#include <utility>

/// What the worker does while the queue refuses its keys.
namespace sendonce {

using namespace Qt::StringLiterals;

void Worker::Private::keysRefused(const Error &error)
{
    const bool first = !keyPause.isPaused();
    keyPause.refused();
    queueStatus.nextTry = keyPause.nextTry();
    queueStatus.health = ServiceStatus::Health::Paused;
    queueStatus.detail = error.text;
    Q_EMIT q->serviceChanged(queueStatus);
    if (!first)
        return; // one line, however long it lasts
    log(LogLevel::Error,
        u"Paused: the queue does not accept the keys, so nothing is received. They are tried again every 60 s, when "
        "AWS's files change, and at Retry in the console. "_s
            + error.text);
    monitor->pause();
    if (consumer)
        consumer->pause();
}

/// One request, whose end is triedKeys().
void Worker::Private::tryKeys()
{
    queueStatus.nextTry = {};
    Q_EMIT q->serviceChanged(queueStatus);
    client->renewKeys();
    if (!facts) {
        inquiry->ask();
    } else if (!consumer || !consumer->tryKeys()) {
        samplingKeys = true;
        monitor->sample();
    }
}

/// Anything but a refusal of the keys ends the pause: what is wrong besides is found out and told in the usual way.
void Worker::Private::triedKeys(const std::optional<Error> &error)
{
    if (!keyPause.isPaused())
        return;
    if (error && SqsClient::refusesKeys(*error, true)) {
        keysRefused(*error);
        return;
    }
    if (error && error->kind == ErrorKind::Aborted) { // by Stop: not an answer
        keysRefused({error->kind, queueStatus.detail, {}});
        return;
    }
    keyPause.end();
    queueStatus.nextTry = {};
    if (!error)
        log(LogLevel::Info, u"The queue accepts the keys again"_s);
    setHealth(queueStatus, error ? ServiceStatus::Health::Failing : ServiceStatus::Health::Ok,
              error ? error->text : QString());
    monitor->resume();
    if (consumer)
        consumer->resume();
}

void Worker::Private::sampleEnded(const std::optional<Error> &error)
{
    const bool tried = std::exchange(samplingKeys, false);
    if (error && SqsClient::refusesKeys(*error, false)) {
        keysRefused(*error);
    } else if (tried) {
        triedKeys(error);
    } else if (!keyPause.isPaused()) { // else it was asked before the pause began
        const bool denied = error && sqserrors::isDenial(error->code);
        setHealth(queueStatus, error ? ServiceStatus::Health::Failing : ServiceStatus::Health::Ok,
                  denied      ? u"its depth is unknown, allow sqs:GetQueueAttributes: "_s + error->text
                      : error ? error->text
                              : QString());
    }
}

} // namespace sendonce
