#include "worker/queue/sqserrors.h"

#include <QHash>
#include <QJsonDocument>
#include <QJsonObject>

using namespace Qt::StringLiterals;

namespace sendonce::sqserrors {

namespace {

constexpr qsizetype MaxTextLength = 300;

ErrorKind kindOfCode(const QString &code, bool *known)
{
    static const QHash<QString, ErrorKind> kinds = {
        {u"QueueDoesNotExist"_s, ErrorKind::NotFound},
        {u"ResourceNotFoundException"_s, ErrorKind::NotFound},
        {u"InvalidAddress"_s, ErrorKind::NotFound},

        {u"QueueNameExists"_s, ErrorKind::Refused},
        {u"MessageNotInflight"_s, ErrorKind::Refused},
        {u"UnsupportedOperation"_s, ErrorKind::Refused},
        {u"InvalidAction"_s, ErrorKind::Refused},
        {u"UnknownOperationException"_s, ErrorKind::Refused},
        {u"InvalidSecurity"_s, ErrorKind::Refused},
        {u"AccessDenied"_s, ErrorKind::Refused},
        {u"AccessDeniedException"_s, ErrorKind::Refused},
        {u"AuthFailure"_s, ErrorKind::Refused},
        {u"ExpiredToken"_s, ErrorKind::Refused},
        {u"ExpiredTokenException"_s, ErrorKind::Refused},
        {u"IncompleteSignature"_s, ErrorKind::Refused},
        {u"InvalidClientTokenId"_s, ErrorKind::Refused},
        {u"InvalidSignatureException"_s, ErrorKind::Refused},
        {u"MissingAuthenticationToken"_s, ErrorKind::Refused},
        {u"NotAuthorized"_s, ErrorKind::Refused},
        {u"OptInRequired"_s, ErrorKind::Refused},
        {u"RequestExpired"_s, ErrorKind::Refused},
        {u"RequestInTheFuture"_s, ErrorKind::Refused},
        {u"RequestTimeTooSkewed"_s, ErrorKind::Refused},
        {u"SignatureDoesNotMatch"_s, ErrorKind::Refused},
        {u"UnrecognizedClientException"_s, ErrorKind::Refused},
        {u"KmsAccessDenied"_s, ErrorKind::Refused},
        {u"KmsDisabled"_s, ErrorKind::Refused},
        {u"KmsInvalidKeyUsage"_s, ErrorKind::Refused},
        {u"KmsInvalidState"_s, ErrorKind::Refused},
        {u"KmsNotFound"_s, ErrorKind::Refused},
        {u"KmsOptInRequired"_s, ErrorKind::Refused},

        {u"OverLimit"_s, ErrorKind::Throttled},
        {u"PurgeQueueInProgress"_s, ErrorKind::Throttled},
        {u"QueueDeletedRecently"_s, ErrorKind::Throttled},
        {u"KmsThrottled"_s, ErrorKind::Throttled},
        {u"RequestThrottled"_s, ErrorKind::Throttled},
        {u"RequestThrottledException"_s, ErrorKind::Throttled},
        {u"Throttling"_s, ErrorKind::Throttled},
        {u"ThrottlingException"_s, ErrorKind::Throttled},
        {u"ThrottledException"_s, ErrorKind::Throttled},
        {u"TooManyRequestsException"_s, ErrorKind::Throttled},
        {u"RequestLimitExceeded"_s, ErrorKind::Throttled},
        {u"SlowDown"_s, ErrorKind::Throttled},
        {u"BandwidthLimitExceeded"_s, ErrorKind::Throttled},
        {u"LimitExceededException"_s, ErrorKind::Throttled},
        {u"PriorRequestNotComplete"_s, ErrorKind::Throttled},
        {u"ProvisionedThroughputExceededException"_s, ErrorKind::Throttled},
        {u"TransactionInProgressException"_s, ErrorKind::Throttled},
        {u"EC2ThrottledException"_s, ErrorKind::Throttled},

        {u"InternalError"_s, ErrorKind::Unreachable},
        {u"InternalFailure"_s, ErrorKind::Unreachable},
        {u"InternalServerError"_s, ErrorKind::Unreachable},
        {u"ServiceUnavailable"_s, ErrorKind::Unreachable},
        {u"RequestTimeout"_s, ErrorKind::Unreachable},

        {u"BatchEntryIdsNotDistinct"_s, ErrorKind::Invalid},
        {u"BatchRequestTooLong"_s, ErrorKind::Invalid},
        {u"EmptyBatchRequest"_s, ErrorKind::Invalid},
        {u"InvalidAttributeName"_s, ErrorKind::Invalid},
        {u"InvalidAttributeValue"_s, ErrorKind::Invalid},
        {u"InvalidBatchEntryId"_s, ErrorKind::Invalid},
        {u"InvalidIdFormat"_s, ErrorKind::Invalid},
        {u"InvalidMessageContents"_s, ErrorKind::Invalid},
        {u"InvalidParameterValue"_s, ErrorKind::Invalid},
        {u"MissingParameter"_s, ErrorKind::Invalid},
        {u"ReceiptHandleIsInvalid"_s, ErrorKind::Invalid},
        {u"TooManyEntriesInBatchRequest"_s, ErrorKind::Invalid},
    };
    const auto kind = kinds.constFind(code);
    *known = kind != kinds.cend();
    return *known ? *kind : ErrorKind::Invalid;
}

ErrorKind kindOfStatus(int status, bool fromSqs)
{
    if (status >= 500 || status == 408)
        return ErrorKind::Unreachable;
    if (status == 429)
        return ErrorKind::Throttled;
    if (status == 401 || status == 403 || status == 407)
        return ErrorKind::Refused;
    if (!fromSqs)
        return ErrorKind::Protocol;
    return status == 404 ? ErrorKind::NotFound : ErrorKind::Invalid;
}

} // namespace

QString oneLine(const QString &text)
{
    QString line = text.trimmed();
    const qsizetype end = line.indexOf(u'\n');
    if (end >= 0)
        line.truncate(end);
    for (QChar &character : line) {
        if (!character.isPrint() && !character.isSurrogate())
            character = u' ';
    }
    line = line.simplified();
    if (line.size() > MaxTextLength)
        line = line.left(MaxTextLength - 1) + u'…';
    return line;
}

bool wantsNewKeys(const QString &code)
{
    static const QStringList codes = {u"ExpiredToken"_s,
                                      u"ExpiredTokenException"_s,
                                      u"InvalidClientTokenId"_s,
                                      u"UnrecognizedClientException"_s,
                                      u"SignatureDoesNotMatch"_s,
                                      u"InvalidSignatureException"_s,
                                      u"IncompleteSignature"_s,
                                      u"MissingAuthenticationToken"_s,
                                      u"AuthFailure"_s};
    return codes.contains(code);
}

bool isDenial(const QString &code)
{
    static const QStringList codes = {u"AccessDenied"_s, u"AccessDeniedException"_s, u"NotAuthorized"_s,
                                      u"KmsAccessDenied"_s};
    return codes.contains(code);
}

QString canonicalCode(const QString &code)
{
    static const QHash<QString, QString> names = {
        {u"NonExistentQueue"_s, u"QueueDoesNotExist"_s},
        {u"QueueAlreadyExists"_s, u"QueueNameExists"_s},
        {u"InvalidParameterValueException"_s, u"InvalidParameterValue"_s},
        {u"MissingRequiredParameterException"_s, u"MissingParameter"_s},
        {u"MissingRequiredParameter"_s, u"MissingParameter"_s},
        {u"KMS.AccessDeniedException"_s, u"KmsAccessDenied"_s},
        {u"KMS.DisabledException"_s, u"KmsDisabled"_s},
        {u"KMS.InvalidKeyUsageException"_s, u"KmsInvalidKeyUsage"_s},
        {u"KMS.InvalidStateException"_s, u"KmsInvalidState"_s},
        {u"KMS.NotFoundException"_s, u"KmsNotFound"_s},
        {u"KMS.OptInRequired"_s, u"KmsOptInRequired"_s},
        {u"KMS.ThrottlingException"_s, u"KmsThrottled"_s},
    };
    // "com.amazonaws.sqs#QueueDoesNotExist:http://…", "AWS.SimpleQueueService.NonExistentQueue;Sender" and all between.
    QString name = code.section(u':', 0, 0).section(u';', 0, 0).section(u'#', -1).trimmed();
    constexpr auto prefix = "AWS.SimpleQueueService."_L1;
    if (name.startsWith(prefix))
        name.remove(0, prefix.size());
    return names.value(name, name);
}

Error readError(const ErrorReply &reply)
{
    const QJsonDocument document = QJsonDocument::fromJson(reply.body);
    const QJsonObject body = document.object();
    QString code = canonicalCode(body.value("__type"_L1).toString());
    if (code.isEmpty())
        code = canonicalCode(QString::fromLatin1(reply.errorType));
    if (code.isEmpty())
        code = canonicalCode(QString::fromLatin1(reply.queryError));
    code = oneLine(code);

    QString message = body.value("message"_L1).toString();
    if (message.isEmpty())
        message = body.value("Message"_L1).toString();
    message = oneLine(message);

    bool known = false;
    ErrorKind kind = kindOfCode(code, &known);
    if (!known)
        kind = kindOfStatus(reply.status, document.isObject() || !code.isEmpty());

    const bool isNamed = !code.isEmpty();
    if (!isNamed)
        code = u"HTTP %1"_s.arg(reply.status);
    QString line = code;
    if (!message.isEmpty())
        line += u": "_s + message;
    else if (!isNamed)
        line += u" without an SQS error"_s;
    return {kind, line, code};
}

} // namespace sendonce::sqserrors
