#include "worker/queue/awscredentials.h"

#include "worker/queue/awsini.h"

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

/// How a profile gets keys other than by holding them; the first that is configured decides, and its failure is an
/// error.
QString indirectMethod(const Profile &profile)
{
    if (!profile.word(u"role_arn"_s).isEmpty())
        return profile.word(u"web_identity_token_file"_s).isEmpty() ? u"role_arn"_s : u"web_identity_token_file"_s;
    for (const QString &key : {u"sso_session"_s, u"sso_start_url"_s}) {
        if (!profile.word(key).isEmpty())
            return key;
    }
    return {};
}

struct FoundKeys
{
    std::optional<AwsCredentials> credentials;
    QString source;
};

/// In the order of botocore: role, web identity, SSO, keys of the credentials file, process, keys of the config file.
Result<FoundKeys> profileKeys(const Profile &profile, const AwsFiles &files)
{
    const auto inFile = [&profile](const QString &file) { return u"profile “%1” (%2)"_s.arg(profile.name, file); };
    const auto unsupported = [&profile](const QString &method) {
        return invalid(
            u"profile “%1” gets its keys by %2, which this version cannot do; give it aws_access_key_id and "
            "aws_secret_access_key, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"_s.arg(profile.name, method));
    };
    if (const QString method = indirectMethod(profile); !method.isEmpty())
        return unsupported(method);
    const QString credentialsPlace = inFile(files.credentialsName);
    const auto own = sectionKeys(profile.credentials, credentialsPlace);
    if (!own)
        return own.error();
    if (own.value())
        return FoundKeys{own.value(), credentialsPlace};
    if (!profile.word(u"credential_process"_s).isEmpty())
        return unsupported(u"credential_process"_s);
    const QString configPlace = inFile(files.configName);
    const auto last = sectionKeys(profile.config, configPlace);
    if (!last)
        return last.error();
    return FoundKeys{last.value(), last.value() ? configPlace : QString()};
}

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

Result<QUrl> resolveEndpoint(const Environment &environment, const Profile &profile, const AwsIni &config)
{
    if (isTrue(environment.value(u"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"_s))
        || isTrue(profile.word(u"ignore_configured_endpoint_urls"_s)))
        return QUrl();
    for (const QString &name : {u"AWS_ENDPOINT_URL_SQS"_s, u"AWS_ENDPOINT_URL"_s}) {
        if (const QString value = environment.value(name); !value.isEmpty())
            return checkedEndpoint(value, name);
    }
    if (const QString services = profile.word(u"services"_s); !services.isEmpty()) {
        const AwsIniSection *section = sectionOf(config, u"services "_s + services);
        const QString value =
            section ? withoutComment(section->nested.value(u"sqs"_s).value(u"endpoint_url"_s)) : QString();
        if (!value.isEmpty())
            return checkedEndpoint(value, u"endpoint_url of sqs in [services %1]"_s.arg(services));
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

} // namespace

AwsFiles readAwsFiles(const QMap<QString, QString> &environment)
{
    const QString home = homeOf(environment);
    const auto place = [&environment, &home](const QString &variable, const QString &fallback) {
        const QString given = environment.value(variable);
        return given.isEmpty() ? fallback : given;
    };
    const auto content = [&home](const QString &path) {
        const bool inHome = path.startsWith("~/"_L1);
        if (inHome && home.isEmpty())
            return QByteArray();
        QFile file(inHome ? home + path.mid(1) : path);
        return file.open(QIODevice::ReadOnly) ? file.read(LargestFile) : QByteArray();
    };
    AwsFiles files;
    files.configName = place(u"AWS_CONFIG_FILE"_s, files.configName);
    files.credentialsName = place(u"AWS_SHARED_CREDENTIALS_FILE"_s, files.credentialsName);
    files.config = content(files.configName);
    files.credentials = content(files.credentialsName);
    return files;
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
        const auto keys = environmentKeys(environment);
        if (!keys)
            return keys.error();
        settings.credentials = keys.value();
        if (settings.credentials) {
            settings.credentialsSource = u"environment"_s;
            if (!fromEnvironment.isEmpty())
                settings.warnings.append(u"the keys of the environment are used, not those of profile “%1”, although "
                                         "AWS_PROFILE names it"_s.arg(fromEnvironment));
        }
    }
    if (!settings.credentials) {
        const bool named = chosen || !fromEnvironment.isEmpty();
        const auto keys = named && !used.exists() ? noProfile(name, chosen, files) : profileKeys(used, files);
        if (keys) {
            settings.credentials = keys->credentials;
            settings.credentialsSource = keys->source;
        } else if (chosen) {
            return keys.error();
        } else {
            settings.credentialsProblem = keys.error().text;
        }
    }

    settings.region = firstOf(environment, {u"AWS_REGION"_s, u"AWS_DEFAULT_REGION"_s});
    if (settings.region.isEmpty())
        settings.region = used.word(u"region"_s);

    const auto endpoint = resolveEndpoint(environment, used, config);
    if (!endpoint)
        return endpoint.error();
    settings.endpoint = endpoint.value();
    return settings;
}

} // namespace sendonce
