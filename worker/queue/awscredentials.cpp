#include "worker/queue/awscredentials.h"

#include "worker/queue/awsendpoint.h"
#include "worker/queue/awsini.h"
#include "worker/queue/awskeyreplies.h"
#include "worker/queue/shellwords.h"

#include <QDir>
#include <QFile>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

using Environment = QMap<QString, QString>;

constexpr qint64 LargestFile = 1 << 20;

Error invalid(const QString &text)
{
    return {ErrorKind::Invalid, text, {}};
}

bool isTrue(const QString &value)
{
    return value.trimmed().compare("true"_L1, Qt::CaseInsensitive) == 0;
}

/// A profile as its two files have it; a pointer is null where a file does not know it.
struct Profile
{
    QString name;
    const AwsIniSection *config = nullptr;
    const AwsIniSection *credentials = nullptr;

    bool exists() const { return config || credentials; }
    bool holdsKeys() const
    {
        return (config && !config->secret(u"aws_access_key_id"_s).isEmpty())
            || (credentials && !credentials->secret(u"aws_access_key_id"_s).isEmpty());
    }
    /// A command line may hold anything, as keys may.
    QString commandLine(const QString &key) const
    {
        for (const AwsIniSection *section : {credentials, config}) {
            if (section && !section->secret(key).isEmpty())
                return section->secret(key);
        }
        return {};
    }
    /// For everything but keys; the credentials file wins.
    QString word(const QString &key) const
    {
        for (const AwsIniSection *section : {credentials, config}) {
            if (section && !section->word(key).isEmpty())
                return section->word(key);
        }
        return {};
    }
};

const AwsIniSection *sectionOf(const AwsIni &ini, const QString &name)
{
    const auto section = ini.constFind(name);
    return section == ini.cend() ? nullptr : &*section;
}

Profile findProfile(const QString &name, const AwsIni &config, const AwsIni &credentials)
{
    // In the config file a plain [NAME] is no profile, only [default] is.
    Profile profile{name, sectionOf(config, u"profile "_s + name), sectionOf(credentials, name)};
    if (!profile.config && name == "default"_L1)
        profile.config = sectionOf(config, name);
    return profile;
}

/// Both keys, neither, or an error that names the one that is missing.
Result<std::optional<AwsCredentials>> keyPair(const QString &id, const QString &secret, const QString &token,
                                              const QString &where, const QString &idName, const QString &secretName)
{
    if (id.isEmpty() && secret.isEmpty())
        return std::optional<AwsCredentials>();
    if (id.isEmpty())
        return invalid(u"%1 has %2 without %3"_s.arg(where, secretName, idName));
    if (secret.isEmpty())
        return invalid(u"%1 has %2 without %3"_s.arg(where, idName, secretName));
    return std::optional(AwsCredentials{id, secret, token});
}

Result<std::optional<AwsCredentials>> environmentKeys(const Environment &environment)
{
    QString token = environment.value(u"AWS_SESSION_TOKEN"_s);
    if (token.isEmpty())
        token = environment.value(u"AWS_SECURITY_TOKEN"_s); // its old name
    return keyPair(environment.value(u"AWS_ACCESS_KEY_ID"_s), environment.value(u"AWS_SECRET_ACCESS_KEY"_s), token,
                   u"the environment"_s, u"AWS_ACCESS_KEY_ID"_s, u"AWS_SECRET_ACCESS_KEY"_s);
}

Result<std::optional<AwsCredentials>> sectionKeys(const AwsIniSection *section, const QString &where)
{
    if (!section)
        return std::optional<AwsCredentials>();
    return keyPair(section->secret(u"aws_access_key_id"_s), section->secret(u"aws_secret_access_key"_s),
                   section->secret(u"aws_session_token"_s), where, u"aws_access_key_id"_s, u"aws_secret_access_key"_s);
}

struct FoundKeys
{
    std::optional<AwsKeyPlan> plan;
    QString source;
};

Result<FoundKeys> planOfEnvironment(const Environment &environment)
{
    const auto keys = environmentKeys(environment);
    if (!keys)
        return keys.error();
    if (!keys.value())
        return FoundKeys();
    AwsKeyPlan plan;
    plan.keys = *keys.value();
    plan.remedy = u"set new keys in the environment and start again"_s;
    if (const QString time = environment.value(u"AWS_CREDENTIAL_EXPIRATION"_s); !time.isEmpty()) {
        plan.expiration = awskeys::readTime(time);
        if (!plan.expiration.isValid())
            return invalid(u"AWS_CREDENTIAL_EXPIRATION is “%1”; accepted: a time such as 2030-01-31T13:00:00Z"_s.arg(
                time.left(40)));
    }
    return FoundKeys{plan, u"environment"_s};
}

/// Finds out how a profile gets its keys, over the profiles that it refers to.
class ProfilePlanner
{
public:
    ProfilePlanner(const Environment &environment, const AwsFiles &files, const AwsIni &config,
                   const AwsIni &credentials)
        : m_environment(environment)
        , m_files(files)
        , m_config(config)
        , m_credentials(credentials)
    { }

    /// In the order of botocore: role, web identity, SSO, keys of the credentials file, process, keys of the config
    /// file; the first that is configured decides, and its failure is an error. A source profile that holds keys is
    /// taken for them, whatever role it has. \param chain profiles that led here, the first one first
    Result<FoundKeys> plan(const Profile &profile, const QStringList &chain = {}) const
    {
        const bool asSource = !chain.isEmpty();
        if (!(asSource && profile.holdsKeys())) {
            if (!profile.word(u"web_identity_token_file"_s).isEmpty())
                return unsupported(profile, u"web_identity_token_file"_s);
            if (!profile.word(u"role_arn"_s).isEmpty())
                return role(profile, chain + QStringList{profile.name});
            for (const QString &key : {u"sso_session"_s, u"sso_start_url"_s}) {
                if (!profile.word(key).isEmpty())
                    return unsupported(profile, key);
            }
        }
        auto own = fixed(profile, profile.credentials, m_files.credentialsName);
        if (!own || own->plan)
            return own;
        if (const QString line = profile.commandLine(u"credential_process"_s); !line.isEmpty())
            return process(profile, line);
        return fixed(profile, profile.config, m_files.configName);
    }

private:
    static Result<FoundKeys> unsupported(const Profile &profile, const QString &method)
    {
        return invalid(
            u"profile “%1” gets its keys by %2, which this version cannot do; give it aws_access_key_id and "
            "aws_secret_access_key, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"_s.arg(profile.name, method));
    }

    static Result<FoundKeys> fixed(const Profile &profile, const AwsIniSection *section, const QString &file)
    {
        const QString place = u"profile “%1” (%2)"_s.arg(profile.name, file);
        const auto keys = sectionKeys(section, place);
        if (!keys)
            return keys.error();
        if (!keys.value())
            return FoundKeys();
        AwsKeyPlan plan;
        plan.keys = *keys.value();
        plan.remedy = u"put new keys into "_s + place;
        return FoundKeys{plan, place};
    }

    static Result<FoundKeys> process(const Profile &profile, const QString &line)
    {
        const auto words = splitShellWords(line);
        if (!words || words->isEmpty() || words->first().isEmpty())
            return invalid(
                u"credential_process of profile “%1” is no command line: a quote without its end, or no program"_s.arg(
                    profile.name));
        AwsKeyPlan plan;
        plan.process = *words;
        plan.processProfile = profile.name;
        plan.remedy =
            u"see to it that the credential_process of profile “%1” prints keys that are good"_s.arg(profile.name);
        return FoundKeys{plan, u"credential_process of profile “%1”"_s.arg(profile.name)};
    }

    Result<FoundKeys> role(const Profile &profile, const QStringList &chain) const
    {
        if (!profile.word(u"mfa_serial"_s).isEmpty())
            return invalid(
                u"profile “%1” has mfa_serial: its role wants a code of an MFA device, for which a worker "
                "cannot ask; give it a role without, or set keys got with “aws sts assume-role”"_s.arg(profile.name));
        AwsRole role{profile.name, profile.word(u"role_arn"_s), profile.word(u"role_session_name"_s),
                     profile.word(u"external_id"_s), 0};
        if (const QString duration = profile.word(u"duration_seconds"_s); !duration.isEmpty()) {
            role.durationSeconds = duration.toInt();
            if (role.durationSeconds < 900 || role.durationSeconds > 43'200)
                return invalid(u"duration_seconds of profile “%1” is “%2”; accepted: 900 to 43200"_s.arg(
                    profile.name, duration.left(40)));
        }
        auto found = keysForRole(profile, chain);
        if (!found)
            return found;
        found.value().plan->roles.append(role);
        found.value().plan->remedy =
            u"look at the role %1 of profile “%2” and at the keys that assume it"_s.arg(role.arn, profile.name);
        found.value().source = u"role %1 of profile “%2”"_s.arg(role.arn, profile.name);
        return found;
    }

    Result<FoundKeys> keysForRole(const Profile &profile, const QStringList &chain) const
    {
        const QString source = profile.word(u"source_profile"_s);
        const QString other = profile.word(u"credential_source"_s);
        if (source.isEmpty() == other.isEmpty())
            return invalid(
                u"profile “%1” has role_arn and %2 of source_profile and credential_source; accepted: one"_s.arg(
                    profile.name, source.isEmpty() ? u"none"_s : u"both"_s));
        if (!other.isEmpty()) {
            if (other != "Environment"_L1)
                return unsupported(profile, u"credential_source = "_s + other.left(40));
            auto found = planOfEnvironment(m_environment);
            if (found && !found->plan)
                return invalid(u"profile “%1” assumes its role with the keys of the environment, where "
                               "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"_s.arg(profile.name));
            return found;
        }
        const Profile next = findProfile(source, m_config, m_credentials);
        if (!next.exists())
            return invalid(u"profile “%1” has source_profile = %2, which is neither in %3 nor in %4"_s.arg(
                profile.name, source, m_files.configName, m_files.credentialsName));
        if (chain.contains(source) && !next.holdsKeys())
            return invalid(u"the source_profile of profile “%1” leads round in a circle: %2"_s.arg(
                chain.first(), (chain + QStringList{source}).join(u" → "_s)));
        auto found = plan(next, chain);
        if (found && !found->plan)
            return invalid(u"profile “%1” has source_profile = %2, which has no keys"_s.arg(profile.name, source));
        return found;
    }

    const Environment &m_environment;
    const AwsFiles &m_files;
    const AwsIni &m_config;
    const AwsIni &m_credentials;
};

Result<FoundKeys> noProfile(const QString &name, bool chosen, const AwsFiles &files)
{
    return invalid(u"profile “%1”%2 is neither in %3 (as [profile %1]) nor in %4"_s.arg(
        name, chosen ? QString() : u" (AWS_PROFILE)"_s, files.configName, files.credentialsName));
}

Result<QUrl> checkedEndpoint(const QString &text, const QString &where)
{
    const QUrl url(text, QUrl::StrictMode);
    if (url.isValid() && (url.scheme() == "http"_L1 || url.scheme() == "https"_L1) && !url.host().isEmpty())
        return url;
    const QString shown = url.isValid() ? url.toDisplayString(QUrl::RemoveUserInfo) : u"not a URL"_s;
    return invalid(u"%1 is “%2”; accepted: an http:// or https:// URL"_s.arg(where, shown));
}

/// \param service "sqs", "sts"
Result<QUrl> resolveEndpoint(const QString &service, const Environment &environment, const Profile &profile,
                             const AwsIni &config)
{
    if (isTrue(environment.value(u"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"_s))
        || isTrue(profile.word(u"ignore_configured_endpoint_urls"_s)))
        return QUrl();
    for (const QString &name : {u"AWS_ENDPOINT_URL_"_s + service.toUpper(), u"AWS_ENDPOINT_URL"_s}) {
        if (const QString value = environment.value(name); !value.isEmpty())
            return checkedEndpoint(value, name);
    }
    if (const QString services = profile.word(u"services"_s); !services.isEmpty()) {
        const AwsIniSection *section = sectionOf(config, u"services "_s + services);
        const QString value =
            section ? withoutComment(section->nested.value(service).value(u"endpoint_url"_s)) : QString();
        if (!value.isEmpty())
            return checkedEndpoint(value, u"endpoint_url of %1 in [services %2]"_s.arg(service, services));
    }
    if (const QString value = profile.word(u"endpoint_url"_s); !value.isEmpty())
        return checkedEndpoint(value, u"endpoint_url of profile “%1”"_s.arg(profile.name));
    return QUrl();
}

QString firstOf(const Environment &environment, const QStringList &names)
{
    for (const QString &name : names) {
        if (const QString value = environment.value(name); !value.isEmpty())
            return value;
    }
    return {};
}

QString homeOf(const Environment &environment)
{
#ifdef Q_OS_WIN
    return environment.value(u"USERPROFILE"_s);
#else
    return environment.value(u"HOME"_s);
#endif
}

/// Without their content.
AwsFiles namedFiles(const Environment &environment)
{
    AwsFiles files;
    if (const QString given = environment.value(u"AWS_CONFIG_FILE"_s); !given.isEmpty())
        files.configName = given;
    if (const QString given = environment.value(u"AWS_SHARED_CREDENTIALS_FILE"_s); !given.isEmpty())
        files.credentialsName = given;
    return files;
}

/// Empty when it is in a home that is not known.
QString pathOf(const QString &name, const Environment &environment)
{
    if (!name.startsWith("~/"_L1))
        return name;
    const QString home = homeOf(environment);
    return home.isEmpty() ? QString() : home + name.mid(1);
}

} // namespace

AwsFiles readAwsFiles(const QMap<QString, QString> &environment)
{
    const auto content = [&environment](const QString &name) {
        const QString path = pathOf(name, environment);
        QFile file(path);
        return !path.isEmpty() && file.open(QIODevice::ReadOnly) ? file.read(LargestFile) : QByteArray();
    };
    AwsFiles files = namedFiles(environment);
    files.config = content(files.configName);
    files.credentials = content(files.credentialsName);
    return files;
}

QStringList awsFilePaths(const QMap<QString, QString> &environment)
{
    const AwsFiles files = namedFiles(environment);
    QStringList paths = {pathOf(files.configName, environment), pathOf(files.credentialsName, environment)};
    paths.removeAll(QString());
    return paths;
}

Result<AwsSettings> resolveAws(const QMap<QString, QString> &environment, const QString &profile, const AwsFiles &files)
{
    const AwsIni config = parseAwsIni(files.config);
    const AwsIni credentials = parseAwsIni(files.credentials);
    const QString fromEnvironment = firstOf(environment, {u"AWS_PROFILE"_s, u"AWS_DEFAULT_PROFILE"_s});
    const bool chosen = !profile.isEmpty();
    const QString name = chosen ? profile : (fromEnvironment.isEmpty() ? u"default"_s : fromEnvironment);
    const Profile used = findProfile(name, config, credentials);
    AwsSettings settings;
    if (!chosen) {
        const auto keys = planOfEnvironment(environment);
        if (!keys)
            return keys.error();
        settings.plan = keys->plan;
        settings.credentialsSource = keys->source;
        if (settings.plan && !fromEnvironment.isEmpty())
            settings.warnings.append(u"the keys of the environment are used, not those of profile “%1”, although "
                                     "AWS_PROFILE names it"_s.arg(fromEnvironment));
    }
    if (!settings.plan) {
        const bool named = chosen || !fromEnvironment.isEmpty();
        const auto keys = named && !used.exists() ? noProfile(name, chosen, files)
                                                  : ProfilePlanner(environment, files, config, credentials).plan(used);
        if (keys) {
            settings.plan = keys->plan;
            settings.credentialsSource = keys->source;
        } else if (chosen) {
            return keys.error();
        } else {
            settings.credentialsProblem = keys.error().text;
        }
    }
    if (settings.plan && settings.plan->isFixed())
        settings.credentials = settings.plan->keys;

    settings.region = firstOf(environment, {u"AWS_REGION"_s, u"AWS_DEFAULT_REGION"_s});
    if (settings.region.isEmpty())
        settings.region = used.word(u"region"_s);

    const auto endpoint = resolveEndpoint(u"sqs"_s, environment, used, config);
    if (!endpoint)
        return endpoint.error();
    settings.endpoint = endpoint.value();

    if (settings.plan && !settings.plan->roles.isEmpty()) {
        const auto sts = resolveEndpoint(u"sts"_s, environment, used, config);
        if (!sts)
            return sts.error();
        settings.plan->stsRegion = settings.region.isEmpty() ? u"us-east-1"_s : settings.region;
        settings.plan->stsEndpoint =
            sts->isEmpty() ? awsendpoint::regional(settings.plan->stsRegion, u"sts"_s) : sts.value();
        if (settings.plan->stsEndpoint.isEmpty())
            return invalid(u"“%1” is no AWS region, so there is no STS endpoint for %2"_s.arg(
                settings.plan->stsRegion.left(40), settings.credentialsSource));
    }
    return settings;
}

} // namespace sendonce
