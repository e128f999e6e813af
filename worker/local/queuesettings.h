#pragma once

#include "worker/local/sqserror.h"

#include <QMap>
#include <QStringList>

#include <chrono>
#include <optional>

namespace sendonce::local {

/// The attributes of a queue that can be set (sqs.md, 5.1), checked and typed. Pure.
///
/// Policy and the Kms attributes are kept and given back, as every emulator does: the endpoint is loopback only and
/// asks for no permission, and the file is as safe as its folder.
class QueueSettings
{
public:
    enum class RedrivePermission { AllowAll, DenyAll, ByQueue };

    std::chrono::seconds visibilityTimeout{30};
    std::chrono::seconds retention{345600};
    std::chrono::seconds delay{0};
    std::chrono::seconds receiveWait{0};
    qint64 maximumMessageSizeBytes = 1048576;
    QString deadLetterQueue; ///< name, from RedrivePolicy; empty: none
    int maxReceiveCount = 0; ///< with deadLetterQueue
    RedrivePermission redrivePermission = RedrivePermission::AllowAll;
    QStringList redriveSources; ///< queue names, for ByQueue

    /// Sets one attribute from its text. Whether a dead-letter queue exists is not known here. On an error nothing has
    /// changed.
    std::optional<SqsError> set(const QString &name, const QString &value);
    /// The attributes in GetQueueAttributes' words: always the ones with a default, the others where they are set.
    QMap<QString, QString> toAttributes() const;
    /// What CreateQueue asks of an existing queue: whether `value` means what the attribute has now (policies as JSON
    /// values, numbers as numbers).
    bool matches(const QString &name, const QString &value) const;

    static QString arn(const QString &queueName);
    /// The queue name of "arn:aws:sqs:<region>:<account>:<name>"; empty when it is none. Any region and account go:
    /// clients build ARNs from what they are configured with, and there is only one of each here.
    static QString nameOfArn(const QString &arn);

    bool operator==(const QueueSettings &) const = default;

private:
    std::optional<SqsError> setRedrivePolicy(const QString &text);
    std::optional<SqsError> setRedriveAllowPolicy(const QString &text);

    QString m_redrivePolicy;
    QString m_redriveAllowPolicy;
    QString m_policy;
    QString m_kmsMasterKeyId;
    std::chrono::seconds m_kmsDataKeyReuse{300};
    bool m_sqsManagedSse = true;
};

} // namespace sendonce::local
