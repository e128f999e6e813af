#include "app/config/settings.h"

#include "app/config/embedded.h"
#include "app/config/keychainsource.h"
#include "app/config/passwordcommand.h"
#include "worker/faults/crashpoint.h"
#include "worker/mail/certificates.h"
#include "worker/mail/mimemessage.h"
#include "worker/mail/smtpsettings.h"
#include "worker/queue/awscredentials.h"
#include "worker/queue/shellwords.h"
#include "worker/store/database.h"

#include <QDir>
#include <QRegularExpression>
#include <QStandardPaths>

#include <algorithm>
#include <array>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr int MaxLanes = 256;
constexpr int MaxMailRate = 100'000; // mails per second
constexpr int MaxKeepDays = 36'500; // for ever, as far as anybody is concerned
constexpr int PostgresLanes = 32; ///< about as many mails in flight are best on a small machine

QString defaultQueuePath(const QString &name)
{
    return u"/000000000000/"_s + name;
}

/// Everything resolve() needs while it goes through the settings; remembers the first unusable value.
struct Resolver
{
    const GivenSettings &given;
    std::optional<Error> error;

    void refuse(const QString &flag, const QString &shown, const QString &accepted)
    {
        if (!error) {
            error = Error{ErrorKind::Invalid,
                          u"%1 is “%2”; accepted: %3"_s.arg(given.sources.value(flag, u"--"_s + flag), shown, accepted),
                          {}};
        }
    }
    QString text(const QString &flag, const QString &fallback) const { return given.values.value(flag, fallback); }

    QUrl queueUrl(const QString &flag)
    {
        const QString value = given.values.value(flag);
        const QUrl url(value, QUrl::StrictMode);
        const bool usable = url.isValid() && (url.scheme() == "http"_L1 || url.scheme() == "https"_L1)
            && !url.host().isEmpty() && url.path().size() > 1 && url.userInfo().isEmpty();
        if (!usable)
            refuse(flag, QUrl(value).toDisplayString(),
                   u"a queue URL such as http://127.0.0.1:9324/000000000000/job-board-events"_s);
        return url;
    }

    std::chrono::milliseconds duration(const QString &flag, std::chrono::milliseconds fallback)
    {
        if (!given.has(flag))
            return fallback;
        const auto value = parseDuration(given.values.value(flag));
        if (!value || *value < 1ms || *value > 12h) {
            refuse(flag, given.values.value(flag), u"a duration such as 10, 10s or 500ms, up to 12 hours"_s);
            return fallback;
        }
        return *value;
    }

    int number(const QString &flag, int fallback, int min, int max)
    {
        if (!given.has(flag))
            return fallback;
        bool ok = false;
        const int value = given.values.value(flag).toInt(&ok);
        if (!ok || value < min || value > max) {
            refuse(flag, given.values.value(flag),
                   u"a number from %1 to %2"_s.arg(QString::number(min), QString::number(max)));
            return fallback;
        }
        return value;
    }

    /// A switch: given by flag, or by a variable that says so.
    bool isOn(const QString &flag)
    {
        static const QStringList On{u"1"_s, u"true"_s, u"yes"_s, u"on"_s};
        static const QStringList Off{u"0"_s, u"false"_s, u"no"_s, u"off"_s};
        const QString value = given.values.value(flag).toLower();
        if (!given.has(flag) || Off.contains(value))
            return false;
        if (!value.isEmpty() && !On.contains(value))
            refuse(flag, value, (On + Off).join(u", "_s));
        return true;
    }

    /// The index of the name that was given.
    int oneOf(const QString &flag, const QStringList &names, int fallback)
    {
        if (!given.has(flag))
            return fallback;
        const qsizetype index = names.indexOf(given.values.value(flag));
        if (index < 0)
            refuse(flag, given.values.value(flag), names.join(u", "_s));
        return int(std::max<qsizetype>(index, 0));
    }
};

QMap<QString, QString> asMap(const QProcessEnvironment &environment)
{
    QMap<QString, QString> map;
    for (const QString &name : environment.keys())
        map.insert(name, environment.value(name));
    return map;
}

bool isLoopback(const QUrl &url)
{
    return url.host() == "127.0.0.1"_L1 || url.host() == "localhost"_L1 || url.host() == "::1"_L1;
}

bool sameOrigin(const QUrl &one, const QUrl &other)
{
    const auto host = [](const QUrl &url) { return url.host() == "localhost"_L1 ? u"127.0.0.1"_s : url.host(); };
    return host(one) == host(other) && one.port() == other.port();
}

} // namespace

const QList<Setting> &allSettings()
{
    static const QList<Setting> Settings = {
        {u"queue-url"_s, {u"SENDONCE_QUEUE_URL"_s}, u"URL"_s, u"the embedded queue"_s, u"queue to take events from"_s},
        {u"dlq-url"_s,
         {u"SENDONCE_DLQ_URL"_s},
         u"URL"_s,
         u"from the queue's RedrivePolicy"_s,
         u"its dead letter queue"_s},
        {u"endpoint-url"_s,
         {u"AWS_ENDPOINT_URL_SQS"_s, u"AWS_ENDPOINT_URL"_s},
         u"URL"_s,
         u"the queue URL's own"_s,
         u"SQS endpoint that requests go to"_s},
        {u"region"_s,
         {u"AWS_REGION"_s, u"AWS_DEFAULT_REGION"_s},
         u"REGION"_s,
         u"us-east-1"_s,
         u"AWS region to sign for"_s},
        {u"aws-profile"_s, {u"AWS_PROFILE"_s}, u"NAME"_s, u"default"_s, u"profile in AWS's files"_s},
        {u"database-url"_s,
         {u"DATABASE_URL"_s},
         u"URL"_s,
         u"sendonce.db in the data folder"_s,
         u"sqlite:///path or postgresql://user@host:port/database"_s},
        {u"mail-url"_s,
         {u"SENDONCE_MAIL_URL"_s},
         u"URL"_s,
         u"the embedded mailbox"_s,
         u"smtp://, smtp+starttls:// or smtps://, then user@host:port; the password may stand in SENDONCE_MAIL_PASSWORD"_s},
        {u"mail-password-command"_s,
         {u"SENDONCE_MAIL_PASSWORD_COMMAND"_s},
         u"COMMAND"_s,
         {},
         u"prints the mail server's password, or a token for ?auth=xoauth2"_s},
        {u"mail-ca-file"_s,
         {u"SENDONCE_MAIL_CA_FILE"_s},
         u"FILE"_s,
         u"the system's"_s,
         u"certificates (PEM) to trust beside the system's"_s},
        {u"allow-plain-mail"_s,
         {u"SENDONCE_ALLOW_PLAIN_MAIL"_s},
         {},
         {},
         u"let smtp:// send mails to another computer in clear"_s},
        {u"mail-idempotency-header"_s,
         {u"SENDONCE_MAIL_IDEMPOTENCY_HEADER"_s},
         u"NAME"_s,
         {},
         u"header with the event id for a mail service that drops copies, such as Resend-Idempotency-Key"_s},
        {u"mail-from"_s,
         {u"SENDONCE_MAIL_FROM"_s},
         u"ADDRESS"_s,
         u"Job Board <no-reply@jobboard.example>"_s,
         u"sender"_s},
        {u"message-id-domain"_s,
         {u"SENDONCE_MESSAGE_ID_DOMAIN"_s},
         u"DOMAIN"_s,
         u"the sender's"_s,
         u"domain of Message-IDs"_s},
        {u"lanes"_s,
         {u"SENDONCE_LANES"_s},
         u"N"_s,
         u"32 with PostgreSQL, 1 with SQLite"_s,
         u"messages in work at once"_s},
        {u"strategy"_s,
         {u"SENDONCE_STRATEGY"_s},
         u"NAME"_s,
         u"transaction"_s,
         u"how an event is claimed: transaction or claim-send-mark"_s},
        {u"in-doubt"_s,
         {u"SENDONCE_IN_DOUBT"_s},
         u"POLICY"_s,
         u"resend; hold with claim-send-mark"_s,
         u"what to do when the final reply is lost: resend, hold or ask"_s},
        {u"ask-maildir"_s,
         {u"SENDONCE_ASK_MAILDIR"_s},
         u"DIR"_s,
         u"the embedded mailbox"_s,
         u"Maildir of the receiving side, for --in-doubt ask"_s},
        {u"db-connections"_s,
         {u"SENDONCE_DB_CONNECTIONS"_s},
         u"N"_s,
         u"8"_s,
         u"connections that the lanes share, with claim-send-mark on PostgreSQL"_s},
        {u"mail-timeout"_s, {u"SENDONCE_MAIL_TIMEOUT"_s}, u"TIME"_s, u"10s"_s, u"for a mail, before its final dot"_s},
        {u"mail-final-timeout"_s,
         {u"SENDONCE_MAIL_FINAL_TIMEOUT"_s},
         u"TIME"_s,
         u"60s"_s,
         u"for the reply after the final dot"_s},
        {u"mail-rate"_s,
         {u"SENDONCE_MAIL_RATE"_s},
         u"N"_s,
         u"no limit"_s,
         u"mails per second at most, all lanes together"_s},
        {u"lock-timeout"_s,
         {u"SENDONCE_LOCK_TIMEOUT"_s},
         u"TIME"_s,
         u"0.8 of the visibility timeout"_s,
         u"to wait for the database's locks"_s},
        {u"no-heartbeat"_s,
         {u"SENDONCE_NO_HEARTBEAT"_s},
         {},
         {},
         u"do not extend the visibility of messages in work"_s},
        {u"keep-days"_s,
         {u"SENDONCE_KEEP_DAYS"_s},
         u"DAYS"_s,
         u"45"_s,
         u"remember handled events for so long; at least for as long as the queue and its dead letter queue can bring them back"_s},
        {u"read-only"_s, {u"SENDONCE_READ_ONLY"_s}, {}, {}, u"look, but receive, send, replay and delete nothing"_s},
        {u"event-types-dir"_s,
         {u"SENDONCE_EVENT_TYPES_DIR"_s},
         u"DIR"_s,
         u"the configuration folder's event-types"_s,
         u"your own event types"_s},
        {u"data-dir"_s,
         {u"SENDONCE_DATA_DIR"_s},
         u"DIR"_s,
         u"the platform's data location"_s,
         u"folder for all files"_s},
    };
    return Settings;
}

QStringList allFlags()
{
    QStringList flags;
    for (const Setting &setting : allSettings())
        flags.append(setting.flag);
    return flags;
}

bool GivenSettings::namesServices() const
{
    return has(u"queue-url"_s) || has(u"database-url"_s) || has(u"mail-url"_s);
}

GivenSettings gather(const QMap<QString, QString> &flags, const QProcessEnvironment &environment)
{
    GivenSettings given;
    const bool ignoreEndpoints = environment.value(u"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"_s).toLower() == "true"_L1;
    for (const Setting &setting : allSettings()) {
        if (flags.contains(setting.flag)) {
            given.values.insert(setting.flag, flags.value(setting.flag));
            given.sources.insert(setting.flag, u"--"_s + setting.flag);
            continue;
        }
        if (setting.flag == "endpoint-url"_L1 && ignoreEndpoints)
            continue;
        for (const QString &name : setting.environment) {
            if (!environment.value(name).isEmpty()) {
                given.values.insert(setting.flag, environment.value(name));
                given.sources.insert(setting.flag, name);
                break;
            }
        }
    }
    return given;
}

QString visiblePassword(const QMap<QString, QString> &flags)
{
    const auto database = DatabaseUrl::parse(flags.value(u"database-url"_s));
    if (database && !database->password.isEmpty()) {
        return u"the password in --database-url can be seen by everybody with ps; give the URL in DATABASE_URL, or the "
               "password in ~/.pgpass or PGPASSWORD"_s;
    }
    if (QUrl(flags.value(u"mail-url"_s)).password().isEmpty())
        return {};
    return u"the password in --mail-url can be seen by everybody with ps; name the user alone there, and give the "
           "password in SENDONCE_MAIL_PASSWORD or by --mail-password-command"_s;
}

QString dataDirOf(const GivenSettings &given)
{
    if (given.has(u"data-dir"_s))
        return given.values.value(u"data-dir"_s);
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + u"/sendonce"_s;
}

std::optional<std::chrono::milliseconds> parseDuration(const QString &text)
{
    static const QRegularExpression Form(u"^([0-9]{1,9})(ms|s|)$"_s);
    const auto match = Form.match(text);
    if (!match.hasMatch())
        return std::nullopt;
    const qint64 number = match.captured(1).toLongLong();
    return std::chrono::milliseconds(match.captured(2) == "ms"_L1 ? number : number * 1000);
}

Result<Config> resolve(const GivenSettings &given, const QProcessEnvironment &environment, const QString &dataDir,
                       const std::optional<LocalAddresses> &local)
{
    Resolver settings{given, {}};
    Config config;
    config.dataDir = dataDir;
    config.eventTypesDir = settings.text(u"event-types-dir"_s,
                                         QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation)
                                             + u"/sendonce/event-types"_s);

    // Queue.
    LocalAddresses defaults;
    defaults.sqsPort = 9324;
    defaults.smtpPort = 1025;
    const LocalAddresses &embedded = local ? *local : defaults;
    if (given.has(u"endpoint-url"_s)) {
        config.endpoint = QUrl(given.values.value(u"endpoint-url"_s), QUrl::StrictMode);
        if (!config.endpoint.isValid() || config.endpoint.host().isEmpty()
            || (config.endpoint.scheme() != "http"_L1 && config.endpoint.scheme() != "https"_L1)) {
            settings.refuse(u"endpoint-url"_s, given.values.value(u"endpoint-url"_s), u"an http:// or https:// URL"_s);
        }
    }
    if (given.has(u"queue-url"_s)) {
        config.queueUrl = settings.queueUrl(u"queue-url"_s);
    } else if (!config.endpoint.isEmpty()) {
        config.queueUrl = config.endpoint;
        config.queueUrl.setPath(defaultQueuePath(u"job-board-events"_s));
    } else {
        config.queueUrl = embedded.queueUrl();
    }
    if (given.has(u"dlq-url"_s))
        config.dlqUrl = settings.queueUrl(u"dlq-url"_s);

    // A profile that was chosen by flag beats keys in the environment; AWS_PROFILE does not (sigv4.md, section 4).
    const bool chosen = given.sources.value(u"aws-profile"_s) == "--aws-profile"_L1;
    const auto aws = resolveAws(asMap(environment), chosen ? given.values.value(u"aws-profile"_s) : QString(),
                                readAwsFiles(asMap(environment)));
    if (!aws)
        return aws.error();
    if (config.endpoint.isEmpty() && given.has(u"queue-url"_s) && !aws->endpoint.isEmpty())
        config.endpoint = aws->endpoint;
    config.region = settings.text(u"region"_s, aws->region.isEmpty() ? u"us-east-1"_s : aws->region);
    const QUrl &where = config.endpoint.isEmpty() ? config.queueUrl : config.endpoint;
    // On loopback nobody checks signatures: no program is run, no role assumed and nothing expires there, unless that
    // profile was chosen.
    const bool keysMatter = chosen || !isLoopback(where);
    if (aws->plan && (keysMatter || aws->credentials)) {
        config.credentials = aws->credentials.value_or(AwsCredentials{});
        if (keysMatter) {
            config.credentials.origin = std::make_shared<const AwsKeyOrigin>(
                AwsKeyOrigin{asMap(environment), chosen ? given.values.value(u"aws-profile"_s) : QString(),
                             aws->plan->expiration, aws->plan->remedy});
        }
    } else if (where.host().endsWith(".amazonaws.com"_L1) || where.host().endsWith(".amazonaws.com.cn"_L1)) {
        return Error{
            ErrorKind::Invalid,
            u"no AWS credentials for %1: %2set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile with "
            "--aws-profile"_s.arg(where.host(),
                                  aws->credentialsProblem.isEmpty() ? QString() : aws->credentialsProblem + u"; "_s),
            {}};
    } else {
        config.credentials = {u"test"_s, u"test"_s, {}}; // emulators take anything, but want a well-formed signature
    }

    // Database.
    config.databaseUrl = settings.text(u"database-url"_s, embeddedDatabaseUrl(dataDir));
    const auto database = DatabaseUrl::parse(config.databaseUrl);
    if (!database)
        return Error{database.error().kind,
                     given.sources.value(u"database-url"_s, u"--database-url"_s) + u": "_s + database.error().text,
                     {}};

    // Mail.
    config.mailUrl =
        given.has(u"mail-url"_s) ? QUrl(given.values.value(u"mail-url"_s), QUrl::StrictMode) : embedded.mailUrl();
    const auto mailFault = [&given](const QString &flag, const Error &error) {
        return Error{error.kind, given.sources.value(flag, u"--"_s + flag) + u": "_s + error.text, {}};
    };
    const auto smtp = SmtpSettings::fromUrl(config.mailUrl);
    if (!smtp)
        return mailFault(u"mail-url"_s, smtp.error());
    config.mailUrl.setPassword({}); // from here on it can be shown
    config.mailUrl.setPort(smtp->port);
    config.mailPassword = smtp->password;
    if (!config.mailPassword && given.has(u"mail-password-command"_s)) {
        const auto words = splitShellWords(given.values.value(u"mail-password-command"_s));
        if (!words || words->isEmpty())
            settings.refuse(u"mail-password-command"_s, given.values.value(u"mail-password-command"_s),
                            u"a command line whose quotes are closed"_s);
        else
            config.mailPassword = std::make_shared<MailPassword>(
                [words = *words](const std::function<bool()> &goOn) { return runPasswordCommand(words, goOn); });
    } else if (!config.mailPassword && !environment.value(u"SENDONCE_MAIL_PASSWORD"_s).isEmpty()) {
        config.mailPassword = std::make_shared<MailPassword>(environment.value(u"SENDONCE_MAIL_PASSWORD"_s));
    } else if (!config.mailPassword && !config.mailUrl.userName().isEmpty()) {
        config.mailPassword = std::make_shared<MailPassword>(keychainSource(config.mailUrl));
        config.mailPassword->setAskable(mailAccount(config.mailUrl));
    }
    config.allowPlainMail = settings.isOn(u"allow-plain-mail"_s);
    config.mailCaFile = settings.text(u"mail-ca-file"_s, {});
    if (!config.mailCaFile.isEmpty()) {
        if (const auto authorities = readCertificates(config.mailCaFile); !authorities)
            return mailFault(u"mail-ca-file"_s, authorities.error());
    }
    if (const auto whole = SmtpSettings::fromConfig(config); !whole)
        return mailFault(u"mail-url"_s, whole.error());
    config.mailIdempotencyHeader = settings.text(u"mail-idempotency-header"_s, {});
    if (!config.mailIdempotencyHeader.isEmpty() && !isFreeHeaderName(config.mailIdempotencyHeader))
        settings.refuse(u"mail-idempotency-header"_s, config.mailIdempotencyHeader,
                        u"a header's name that no mail has yet, such as Resend-Idempotency-Key"_s);
    config.mailFrom = settings.text(u"mail-from"_s, config.mailFrom);
    const auto from = MailAddress::parse(config.mailFrom);
    if (!from)
        settings.refuse(u"mail-from"_s, config.mailFrom,
                        u"one address such as Job Board <no-reply@jobboard.example>; "_s + from.error().text);
    config.messageIdDomain = settings.text(u"message-id-domain"_s, {});
    static const QRegularExpression Domain(u"^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$"_s);
    if (!config.messageIdDomain.isEmpty() && !Domain.match(config.messageIdDomain).hasMatch())
        settings.refuse(u"message-id-domain"_s, config.messageIdDomain, u"a domain such as jobboard.example"_s);

    // Work.
    config.lanes = settings.number(u"lanes"_s, PostgresLanes, 1, MaxLanes);
    if (!database->isPostgres())
        config.lanes = 1; // one writer: one delivery in work at a time per file, whatever --lanes says (spec.md)
    config.strategy = settings.oneOf(u"strategy"_s, {u"transaction"_s, u"claim-send-mark"_s}, 0) == 1
        ? Strategy::ClaimSendMark
        : Strategy::Transaction;
    static constexpr std::array Policies{DoubtPolicy::Resend, DoubtPolicy::Hold, DoubtPolicy::Ask};
    config.inDoubt = Policies[size_t(settings.oneOf(u"in-doubt"_s, {u"resend"_s, u"hold"_s, u"ask"_s},
                                                    config.strategy == Strategy::ClaimSendMark ? 1 : 0))];
    config.askMaildir = settings.text(u"ask-maildir"_s, {});
    config.databaseConnections = settings.number(u"db-connections"_s, config.databaseConnections, 1, MaxLanes);
    config.mailTimeout = settings.duration(u"mail-timeout"_s, config.mailTimeout);
    config.mailFinalTimeout = settings.duration(u"mail-final-timeout"_s, config.mailFinalTimeout);
    config.lockTimeout = settings.duration(u"lock-timeout"_s, 0ms);
    config.keepDays = settings.number(u"keep-days"_s, config.keepDays, 1, MaxKeepDays);
    config.heartbeat = !given.has(u"no-heartbeat"_s);
    config.mailRate = settings.number(u"mail-rate"_s, 0, 1, MaxMailRate);
    config.readOnly = given.has(u"read-only"_s);

    if (local) {
        config.controlSocket = local->controlSocket;
        const bool sameQueue = isLoopback(where) && sameOrigin(where, local->endpoint());
        const bool sameMail = isLoopback(config.mailUrl) && sameOrigin(config.mailUrl, local->mailUrl());
        config.embedded =
            sameQueue && sameMail && database.value() == DatabaseUrl::parse(embeddedDatabaseUrl(dataDir)).value();
    }
    if (config.askMaildir.isEmpty() && config.embedded)
        config.askMaildir = dataDir + u"/mailbox"_s;
    if (config.inDoubt == DoubtPolicy::Ask && config.askMaildir.isEmpty())
        settings.refuse(u"in-doubt"_s, u"ask"_s, u"--ask-maildir DIR beside it, or the embedded mailbox"_s);
    config.depthInterval = config.embedded ? 1s : 5s; // each sample of a real queue is a request somebody pays for
    config.profile = config.embedded ? u"Local"_s : u"Environment"_s;
    if (settings.error)
        return *settings.error;
    return config;
}

} // namespace sendonce
