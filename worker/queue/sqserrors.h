#pragma once

#include "worker/result.h"

#include <QByteArray>
#include <QString>

/// What SQS says when it says no, pure: the two spellings of every code, their kinds, their texts. sqs.md, section 6.
namespace sendonce::sqserrors {

/// An HTTP reply that is not 2xx, as far as SQS puts an error into it.
struct ErrorReply
{
    int status = 0;
    QByteArray body; ///< JSON with __type and message; HTML from proxies and crashed emulators
    QByteArray queryError; ///< header x-amzn-query-error, "AWS.SimpleQueueService.NonExistentQueue;Sender"
    QByteArray errorType; ///< header x-amzn-errortype
};

/// Kind by code first, by status only where there is no known code (throttling comes as 403). `code` is the JSON name
/// whatever spelling came ("QueueDoesNotExist", never "AWS.SimpleQueueService.NonExistentQueue"); "HTTP 500" when there
/// was none. The text completes "the endpoint answered …". Only the first line of what the server says goes into it:
/// SignatureDoesNotMatch repeats the signed headers, with the session token, in the lines after it.
Error readError(const ErrorReply &reply);

/// The keys are worn out, unknown, or sign wrongly, so that new ones may help.
bool wantsNewKeys(const QString &code);

/// What these keys may do is refused, not the keys.
bool isDenial(const QString &code);

/// Our own code, in the JavaScript SDK's spelling: there are no keys to sign with, and the text says why.
inline constexpr QLatin1StringView NoKeys("CredentialsProviderError");

/// One spelling for the two that each error has (sqs.md, 6.3).
QString canonicalCode(const QString &code);

/// A text of the server's for logs and screens: its first line, without control characters, of bearable length.
QString oneLine(const QString &text);

} // namespace sendonce::sqserrors
