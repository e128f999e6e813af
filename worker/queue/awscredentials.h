#pragma once

#include "worker/config.h"
#include "worker/result.h"

#include <QByteArray>
#include <QDateTime>
#include <QList>
#include <QMap>
#include <QString>
#include <QStringList>
#include <QUrl>

#include <optional>

namespace sendonce {

/// A role to assume with the keys at hand (AssumeRole of STS).
struct AwsRole
{
    QString profile; ///< that asks for it, for people
    QString arn;
    QString sessionName; ///< empty: ours
    QString externalId;
    int durationSeconds = 0; ///< 0: the service's default

    bool operator==(const AwsRole &) const = default;
};

/// How keys are come by, as it is configured: they are written down or a program prints them; with them a role may be
/// assumed, with that one's keys another. Holds secrets.
struct AwsKeyPlan
{
    AwsCredentials keys; ///< empty: the program's
    QDateTime expiration; ///< of `keys`; invalid: none is known
    QStringList process; ///< program and arguments
    QString processProfile; ///< that names it, for people
    QList<AwsRole> roles; ///< in the order to assume them
    QUrl stsEndpoint; ///< for the roles
    QString stsRegion; ///< to sign for there
    QString remedy; ///< what a person can do when these keys are not accepted: "put new keys into …"

    bool isFixed() const { return process.isEmpty() && roles.isEmpty(); }
    bool operator==(const AwsKeyPlan &) const = default;
};

/// Where keys were found, to look there again when they are worn out. Shared by the clients of a worker; does not
/// change. Holds secrets.
struct AwsKeyOrigin
{
    QMap<QString, QString> environment;
    QString profile; ///< as for resolveAws()
    QDateTime expiration; ///< of the keys that were found; invalid: none is known
    QString remedy; ///< as AwsKeyPlan has it
};

/// What AWS's own settings say about how to reach a queue: sigv4.md, sections 4, 6 and 7. Holds secrets.
struct AwsSettings
{
    /// Nothing: no keys are configured, in no way; dummies are right for an emulator.
    std::optional<AwsKeyPlan> plan;
    std::optional<AwsCredentials> credentials; ///< those of the plan, when it needs no program and no role
    /// For people: "environment", "profile “work” (~/.aws/credentials)"; empty when there are none.
    QString credentialsSource;
    /// Why there are no credentials although AWS_PROFILE or the profile "default" should give some. An error for an
    /// endpoint that checks signatures; of no matter for the embedded queue, which must run beside any setting of
    /// AWS's.
    QString credentialsProblem;
    QString region; ///< empty: none is configured
    QUrl endpoint; ///< empty: none is configured
    QStringList warnings; ///< one line each: that something is set and not used
};

/// The content of AWS's two files; a missing one is empty.
struct AwsFiles
{
    QByteArray config;
    QByteArray credentials;
    QString configName = QStringLiteral("~/.aws/config"); ///< for people
    QString credentialsName = QStringLiteral("~/.aws/credentials");
};

/// Reads ~/.aws/config and ~/.aws/credentials, or what AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name instead. A
/// file that is not there or cannot be read counts as empty, as in AWS's SDKs.
AwsFiles readAwsFiles(const QMap<QString, QString> &environment);

/// Where readAwsFiles() looks, absolute; also for files that are not there.
QStringList awsFilePaths(const QMap<QString, QString> &environment);

/// Pure. Credentials: `profile` if given, else the environment, else the profile AWS_PROFILE, else the profile
/// "default". Region: AWS_REGION, AWS_DEFAULT_REGION, then the profile's. Endpoint: AWS_ENDPOINT_URL_SQS,
/// AWS_ENDPOINT_URL, the profile's services section, then its endpoint_url; none of them when
/// AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is true.
///
/// Invalid, with a text that names the setting: half a pair of keys in the environment, an endpoint that is no http(s)
/// URL, or a chosen profile that does not exist, goes round in a circle or gets its keys in a way that is not supported
/// here (SSO, web identity, MFA, roles of containers and of EC2).
///
/// \param profile chosen by flag or on screen; empty: none was, so that AWS_PROFILE counts
Result<AwsSettings> resolveAws(const QMap<QString, QString> &environment, const QString &profile,
                               const AwsFiles &files);

} // namespace sendonce
