#include "worker/mail/smtpsettings.h"

#include "worker/mail/certificates.h"
#include "worker/mail/hostlookup.h"

#include <QUrlQuery>

#include <algorithm>
#include <optional>

using namespace Qt::StringLiterals;

namespace sendonce {

namespace {

Error invalid(const QString &text)
{
    return {ErrorKind::Invalid, text, {}};
}

struct Scheme
{
    QLatin1StringView name;
    SmtpSecurity security;
    quint16 port;
};

/// smtp+tls and smtp+ssl are what dj-email-url calls the other two.
constexpr Scheme Schemes[] = {
    {"smtp"_L1, SmtpSecurity::Clear, 25},         {"smtp+starttls"_L1, SmtpSecurity::StartTls, 587},
    {"smtp+tls"_L1, SmtpSecurity::StartTls, 587}, {"smtps"_L1, SmtpSecurity::Tls, 465},
    {"smtp+ssl"_L1, SmtpSecurity::Tls, 465},
};

constexpr std::pair<QLatin1StringView, SmtpMechanism> Mechanisms[] = {
    {"plain"_L1, SmtpMechanism::Plain},
    {"login"_L1, SmtpMechanism::Login},
    {"xoauth2"_L1, SmtpMechanism::XOAuth2},
};

/// `auth=…` and nothing else.
std::optional<SmtpMechanism> mechanismOf(const QUrl &url)
{
    if (!url.hasQuery())
        return SmtpMechanism::Any;
    const auto items = QUrlQuery(url).queryItems();
    if (items.size() != 1 || items.first().first != "auth"_L1)
        return std::nullopt;
    const auto found = std::find_if(std::begin(Mechanisms), std::end(Mechanisms), [&](const auto &each) {
        return items.first().second.compare(each.first, Qt::CaseInsensitive) == 0;
    });
    return found == std::end(Mechanisms) ? std::nullopt : std::optional(found->second);
}

bool hasControl(const QString &text)
{
    return std::any_of(text.cbegin(), text.cend(), [](QChar c) { return c.category() == QChar::Other_Control; });
}

} // namespace

Result<SmtpSettings> SmtpSettings::fromUrl(const QUrl &url)
{
    const QString form = u"smtp://host[:port], smtp+starttls:// and smtps:// are accepted, with user:password@ before "
                         "the host and ?auth=plain, login or xoauth2 behind it"_s;
    if (url.isEmpty() || !url.isValid())
        return invalid(u"that is no mail URL; "_s + form);
    const auto scheme = std::find_if(std::begin(Schemes), std::end(Schemes),
                                     [&](const Scheme &each) { return url.scheme() == each.name; });
    if (scheme == std::end(Schemes))
        return invalid(u"the scheme “%1” is not known; "_s.arg(url.scheme()) + form);
    if (url.host().isEmpty())
        return invalid(u"the mail URL names no host; "_s + form);
    if (url.port(scheme->port) < 1)
        return invalid(u"the port of the mail URL must be 1 to 65535; "_s + form);
    const std::optional<SmtpMechanism> mechanism = mechanismOf(url);
    if ((!url.path().isEmpty() && url.path() != "/"_L1) || !mechanism || url.hasFragment())
        return invalid(u"what stands behind host and port of the mail URL is not known; "_s + form);

    SmtpSettings settings;
    settings.host = QString::fromLatin1(QUrl::toAce(url.host()));
    if (settings.host.isEmpty())
        settings.host = url.host();
    settings.port = quint16(url.port(scheme->port));
    settings.security = scheme->security;
    settings.mechanism = *mechanism;
    settings.user = url.userName(QUrl::FullyDecoded);
    const QString password = url.password(QUrl::FullyDecoded);
    if (hasControl(settings.user) || hasControl(password))
        return invalid(u"user and password of the mail URL must not hold control characters; "_s + form);
    if (settings.user.isEmpty() && (!password.isEmpty() || *mechanism != SmtpMechanism::Any))
        return invalid(u"the mail URL says how to log in, but not as whom; "_s + form);
    if (!password.isEmpty())
        settings.password = std::make_shared<MailPassword>(password);
    return settings;
}

Result<SmtpSettings> SmtpSettings::fromConfig(const Config &config)
{
    Result<SmtpSettings> found = fromUrl(config.mailUrl);
    if (!found)
        return found;
    SmtpSettings &settings = found.value();
    settings.timeout = config.mailTimeout;
    settings.finalTimeout = config.mailFinalTimeout;
    settings.allowPlain = config.allowPlainMail;
    if (!settings.password)
        settings.password = config.mailPassword;
    if (settings.security == SmtpSecurity::Clear && !settings.allowPlain && !namesThisComputer(settings.host))
        return invalid(u"smtp:// sends every mail to %1 in clear; smtp+starttls:// and smtps:// are accepted, smtp:// "
                       "with --allow-plain-mail alone"_s.arg(settings.host));
    if (!settings.user.isEmpty() && !settings.password)
        return invalid(u"the mail URL names the user %1, but there is no password; it is accepted in "
                       "SENDONCE_MAIL_PASSWORD, from --mail-password-command, or in the URL"_s.arg(settings.user));
    if (!config.mailCaFile.isEmpty()) {
        const Result<QList<QSslCertificate>> authorities = readCertificates(config.mailCaFile);
        if (!authorities)
            return Error{authorities.error().kind, u"the file of --mail-ca-file: "_s + authorities.error().text, {}};
        settings.authorities = authorities.value();
    }
    return found;
}

} // namespace sendonce
