#include "worker/local/queuesettings.h"

#include "worker/local/sqsrules.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce::local {

namespace {

using std::chrono::seconds;

/// Digits only, within the bounds; nothing otherwise ("30 ", "+30" and "3e1" are no numbers to SQS).
std::optional<qint64> wholeNumber(const QString &text, qint64 least, qint64 most)
{
    const auto isDigit = [](QChar c) { return c >= u'0' && c <= u'9'; };
    if (text.isEmpty() || text.size() > 18 || !std::all_of(text.cbegin(), text.cend(), isDigit))
        return {};
    const qint64 number = text.toLongLong();
    if (number < least || number > most)
        return {};
    return number;
}

std::optional<QJsonObject> jsonObject(const QString &text)
{
    const QJsonDocument document = QJsonDocument::fromJson(text.toUtf8());
    if (!document.isObject())
        return {};
    return document.object();
}

SqsError invalidPolicy(const QString &attribute, const QString &text, const QString &reason)
{
    return invalidParameterValue(attribute, text, reason);
}

QString toText(seconds value)
{
    return QString::number(value.count());
}

} // namespace

QString QueueSettings::arn(const QString &queueName)
{
    return u"arn:aws:sqs:us-east-1:000000000000:"_s + queueName;
}

QString QueueSettings::nameOfArn(const QString &arn)
{
    const QStringList parts = arn.split(u':');
    if (parts.size() != 6 || parts.at(0) != "arn"_L1 || !parts.at(1).startsWith("aws"_L1) || parts.at(2) != "sqs"_L1)
        return {};
    return parts.at(5);
}

std::optional<SqsError> QueueSettings::set(const QString &name, const QString &value)
{
    const auto setSeconds = [&](seconds &target, qint64 least, qint64 most) -> std::optional<SqsError> {
        const auto number = wholeNumber(value, least, most);
        if (!number)
            return invalidAttributeValue(name);
        target = seconds(*number);
        return {};
    };
    if (!isLegalText(value)) // an answer in XML could not say it
        return invalidAttributeValue(name);
    if (name == "VisibilityTimeout"_L1)
        return setSeconds(visibilityTimeout, 0, 43200);
    if (name == "MessageRetentionPeriod"_L1)
        return setSeconds(retention, 60, 1209600);
    if (name == "DelaySeconds"_L1)
        return setSeconds(delay, 0, 900);
    if (name == "ReceiveMessageWaitTimeSeconds"_L1)
        return setSeconds(receiveWait, 0, 20);
    if (name == "KmsDataKeyReusePeriodSeconds"_L1)
        return setSeconds(m_kmsDataKeyReuse, 60, 86400);
    if (name == "MaximumMessageSize"_L1) {
        const auto number = wholeNumber(value, 1024, 1048576);
        if (!number)
            return invalidAttributeValue(name);
        maximumMessageSizeBytes = *number;
        return {};
    }
    if (name == "RedrivePolicy"_L1)
        return setRedrivePolicy(value);
    if (name == "RedriveAllowPolicy"_L1)
        return setRedriveAllowPolicy(value);
    if (name == "Policy"_L1) {
        if (!value.isEmpty() && !jsonObject(value))
            return invalidAttributeValue(name);
        m_policy = value;
        return {};
    }
    if (name == "KmsMasterKeyId"_L1) {
        m_kmsMasterKeyId = value;
        m_sqsManagedSse = value.isEmpty();
        return {};
    }
    if (name == "SqsManagedSseEnabled"_L1) {
        if (value != "true"_L1 && value != "false"_L1)
            return invalidAttributeValue(name);
        m_sqsManagedSse = value == "true"_L1;
        if (m_sqsManagedSse)
            m_kmsMasterKeyId.clear();
        return {};
    }
    return unknownAttribute(name);
}

std::optional<SqsError> QueueSettings::setRedrivePolicy(const QString &text)
{
    const QString name = u"RedrivePolicy"_s;
    if (text.isEmpty()) { // the recorded way to take it off
        m_redrivePolicy.clear();
        deadLetterQueue.clear();
        maxReceiveCount = 0;
        return {};
    }
    const auto policy = jsonObject(text);
    if (!policy)
        return invalidPolicy(name, text, u"Redrive policy is not a valid JSON map."_s);
    for (const QString &key : policy->keys()) {
        if (key != "deadLetterTargetArn"_L1 && key != "maxReceiveCount"_L1)
            return invalidPolicy(name, text, u"Unknown key in the redrive policy: %1."_s.arg(key));
    }
    const QJsonValue target = policy->value("deadLetterTargetArn"_L1);
    const QJsonValue count = policy->value("maxReceiveCount"_L1);
    if (target.isUndefined())
        return invalidPolicy(name, text,
                             u"Redrive policy does not contain mandatory attribute: deadLetterTargetArn."_s);
    if (count.isUndefined())
        return invalidPolicy(name, text, u"Redrive policy does not contain mandatory attribute: maxReceiveCount."_s);
    const QString queue = nameOfArn(target.toString());
    if (queue.isEmpty())
        return invalidPolicy(name, text, u"Invalid value for deadLetterTargetArn."_s);
    // Amazon takes the count as a number and as text.
    const QString countText = count.isString() ? count.toString() : QString::number(count.toDouble(-1));
    const auto number = wholeNumber(countText, 1, 1000);
    if (!number)
        return invalidPolicy(
            name, text,
            u"Invalid value for maxReceiveCount: %1, valid values are from 1 to 1000 both inclusive."_s.arg(countText));
    m_redrivePolicy = text;
    deadLetterQueue = queue;
    maxReceiveCount = int(*number);
    return {};
}

std::optional<SqsError> QueueSettings::setRedriveAllowPolicy(const QString &text)
{
    const QString name = u"RedriveAllowPolicy"_s;
    if (text.isEmpty()) {
        m_redriveAllowPolicy.clear();
        redrivePermission = RedrivePermission::AllowAll;
        redriveSources.clear();
        return {};
    }
    const auto policy = jsonObject(text);
    if (!policy)
        return invalidPolicy(name, text, u"Redrive allow policy is not a valid JSON map."_s);
    for (const QString &key : policy->keys()) {
        if (key != "redrivePermission"_L1 && key != "sourceQueueArns"_L1)
            return invalidPolicy(name, text, u"Unknown key in the redrive allow policy: %1."_s.arg(key));
    }
    const QString word = policy->value("redrivePermission"_L1).toString();
    const QJsonArray arns = policy->value("sourceQueueArns"_L1).toArray();
    QStringList sources;
    for (const QJsonValue &arn : arns) {
        const QString source = nameOfArn(arn.toString());
        if (source.isEmpty())
            return invalidPolicy(name, text, u"Invalid value in sourceQueueArns."_s);
        sources += source;
    }
    RedrivePermission permission;
    if (word == "allowAll"_L1)
        permission = RedrivePermission::AllowAll;
    else if (word == "denyAll"_L1)
        permission = RedrivePermission::DenyAll;
    else if (word == "byQueue"_L1)
        permission = RedrivePermission::ByQueue;
    else
        return invalidPolicy(name, text, u"Invalid value for redrivePermission."_s);
    if (permission == RedrivePermission::ByQueue ? (sources.isEmpty() || sources.size() > 10) : !sources.isEmpty())
        return invalidPolicy(name, text, u"sourceQueueArns goes with byQueue, with 1 to 10 entries."_s);
    m_redriveAllowPolicy = text;
    redrivePermission = permission;
    redriveSources = sources;
    return {};
}

QMap<QString, QString> QueueSettings::toAttributes() const
{
    QMap<QString, QString> all{
        {u"VisibilityTimeout"_s, toText(visibilityTimeout)},
        {u"MessageRetentionPeriod"_s, toText(retention)},
        {u"DelaySeconds"_s, toText(delay)},
        {u"ReceiveMessageWaitTimeSeconds"_s, toText(receiveWait)},
        {u"MaximumMessageSize"_s, QString::number(maximumMessageSizeBytes)},
        {u"SqsManagedSseEnabled"_s, m_sqsManagedSse ? u"true"_s : u"false"_s},
    };
    const auto addIfSet = [&all](const QString &name, const QString &value) {
        if (!value.isEmpty())
            all.insert(name, value);
    };
    addIfSet(u"RedrivePolicy"_s, m_redrivePolicy);
    addIfSet(u"RedriveAllowPolicy"_s, m_redriveAllowPolicy);
    addIfSet(u"Policy"_s, m_policy);
    addIfSet(u"KmsMasterKeyId"_s, m_kmsMasterKeyId);
    if (!m_kmsMasterKeyId.isEmpty())
        all.insert(u"KmsDataKeyReusePeriodSeconds"_s, toText(m_kmsDataKeyReuse));
    return all;
}

bool QueueSettings::matches(const QString &name, const QString &value) const
{
    QueueSettings changed = *this;
    if (changed.set(name, value))
        return false;
    if (name == "Policy"_L1)
        return jsonObject(m_policy) == jsonObject(value);
    // Two spellings of one policy ({"maxReceiveCount":3} and "3") are the same setting.
    changed.m_redrivePolicy = m_redrivePolicy;
    changed.m_redriveAllowPolicy = m_redriveAllowPolicy;
    return changed == *this;
}

} // namespace sendonce::local
