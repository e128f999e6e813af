#include "app/config/embedded.h"
#include "app/ctl/commands.h"
#include "app/ctl/terminal.h"
#include "app/process/privacy.h"
#include "app/process/stopsignals.h"

#include <QCoreApplication>
#include <QProcessEnvironment>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

std::optional<quint16> port(const QString &text)
{
    bool ok = false;
    const uint number = text.toUInt(&ok);
    return ok && number <= 65535 ? std::optional(quint16(number)) : std::nullopt;
}

/// For eval in a POSIX shell.
QString exportLine(const QString &name, QString value)
{
    return u"export %1='%2'"_s.arg(name, value.replace(u'\'', u"'\\''"_s));
}

} // namespace

int runLocal(const QStringList &words)
{
    CommandLine line(u"sendoncectl local"_s, u"runs the embedded queue and mailbox with demo data, until Ctrl+C"_s,
                     {u"data-dir"_s},
                     {{u"sqs-port"_s, u"N"_s, u"9324, or a free one"_s, u"port of the queue; 0: any free one"_s},
                      {u"smtp-port"_s, u"N"_s, u"1025, or a free one"_s, u"port of the mailbox; 0: any free one"_s},
                      {u"visibility-timeout"_s, u"SECONDS"_s, u"30"_s, u"of the queue, when it is made: 1 to 43200"_s},
                      {u"max-receive-count"_s, u"N"_s, u"3"_s, u"of the queue, when it is made: 1 to 1000"_s}},
                     {u"sendoncectl local --sqs-port 0 --smtp-port 0 >env & sleep 1; eval \"$(grep ^export env)\""_s});
    if (const auto ended = answered(line, words))
        return *ended;
    const QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    LocalSettings settings;
    for (const auto &[flag, target, explicitly] :
         {std::tuple(u"sqs-port"_s, &settings.sqsPort, &settings.sqsPortExplicit),
          std::tuple(u"smtp-port"_s, &settings.smtpPort, &settings.smtpPortExplicit)}) {
        if (!line.has(flag))
            continue;
        const auto number = port(line.value(flag));
        if (!number) {
            complain(u"--%1 is “%2”; accepted: a port from 0 (any free one) to 65535"_s.arg(flag, line.value(flag)));
            return Usage;
        }
        *target = *number;
        *explicitly = *number != 0;
    }
    for (const auto &[flag, target, max] :
         {std::tuple(u"visibility-timeout"_s, &settings.visibilityTimeoutSeconds, 43200),
          std::tuple(u"max-receive-count"_s, &settings.maxReceiveCount, 1000)}) {
        if (!line.has(flag))
            continue;
        bool ok = false;
        *target = line.value(flag).toInt(&ok);
        if (!ok || *target < 1 || *target > max) {
            complain(
                u"--%1 is “%2”; accepted: a number from 1 to %3"_s.arg(flag, line.value(flag), QString::number(max)));
            return Usage;
        }
    }
    const auto dataDir = prepareDataDir(dataDirOf(gather(line.settingFlags(), environment)));
    if (!dataDir) {
        complain(dataDir.error().text);
        return exitCodeOf(dataDir.error());
    }
    settings.dataDir = dataDir.value();

    LocalServices services;
    const auto started = startEmbedded(services, settings);
    if (!started) {
        complain(started.error().text);
        return exitCodeOf(started.error());
    }
    if (started->pid != QCoreApplication::applicationPid()) {
        complain(u"the embedded services of %1 already run, as process %2"_s.arg(settings.dataDir,
                                                                                 QString::number(started->pid)));
        return Usage;
    }
    StopSignals signals_;
    QObject::connect(&signals_, &StopSignals::asked, qApp, [] { QCoreApplication::quit(); });

    say(exportLine(u"AWS_ENDPOINT_URL_SQS"_s, started->endpoint().toString()));
    say(exportLine(u"SENDONCE_QUEUE_URL"_s, started->queueUrl().toString()));
    say(exportLine(u"SENDONCE_DLQ_URL"_s, started->dlqUrl().toString()));
    say(exportLine(u"SENDONCE_MAIL_URL"_s, started->mailUrl().toString()));
    say(exportLine(u"DATABASE_URL"_s, embeddedDatabaseUrl(settings.dataDir)));
    say(exportLine(u"SENDONCE_DATA_DIR"_s, settings.dataDir));
    for (const auto &[name, dummy] :
         {std::pair(u"AWS_ACCESS_KEY_ID"_s, u"test"_s), std::pair(u"AWS_SECRET_ACCESS_KEY"_s, u"test"_s),
          std::pair(u"AWS_DEFAULT_REGION"_s, u"us-east-1"_s)}) {
        if (environment.value(name).isEmpty())
            say(exportLine(name, dummy));
    }
    say(u"ready"_s);
    QCoreApplication::exec();
    services.stop();
    return Done;
}

} // namespace sendonce
