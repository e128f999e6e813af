#pragma once

#include "worker/config.h"
#include "worker/queue/awscredentials.h"
#include "worker/result.h"

#include <QByteArray>
#include <QDateTime>

/// What a credential_process prints and what STS is asked and answers, pure. sigv4.md, 4.3 and 4.4. No text of an error
/// holds what may be a secret.
namespace sendonce::awskeys {

struct TimedKeys
{
    AwsCredentials keys;
    QDateTime expiration; ///< invalid: none is known
};

/// The standard output of a credential_process: JSON, Version 1. Refused, with a text that completes
/// "credential_process of profile … ".
Result<TimedKeys> readProcessOutput(const QByteArray &json);

QByteArray assumeRoleForm(const AwsRole &role); ///< application/x-www-form-urlencoded

/// The XML of AssumeRole, or the error in it; a text that completes "the endpoint … answered AssumeRole with …".
Result<TimedKeys> readAssumedRole(int status, const QByteArray &xml);

/// ISO 8601, as AWS writes it: UTC unless it says otherwise. Invalid for anything else.
QDateTime readTime(const QString &text);

} // namespace sendonce::awskeys
