#include "app/ctl/keychain.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QTimer>

#include <qt6keychain/keychain.h>

#include <chrono>

namespace sendonce::keychain {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto Patience = 60s; ///< somebody may have to unlock it

const QString Service = u"sendonce"_s;
const QString Remedy =
    u"set SENDONCE_MAIL_PASSWORD or --mail-password-command, or start a Secret Service (gnome-keyring, KWallet)"_s;

/// Without a session bus nobody can answer, and looking for one may start a server of its own.
bool hasSessionBus()
{
    const QString runtime = qEnvironmentVariable("XDG_RUNTIME_DIR");
    return qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS")
        || (!runtime.isEmpty() && QFileInfo::exists(runtime + u"/bus"_s));
}

Result<void> run(QKeychain::Job &job, const QString &account)
{
    if (!hasSessionBus())
        return Error{
            ErrorKind::Unreachable,
            u"the keychain cannot be asked for the password of %1: there is no session bus; %2"_s.arg(account, Remedy),
            {}};
    bool isAnswered = false;
    job.setAutoDelete(false);
    job.setInsecureFallback(false); // never into a settings file
    job.setKey(account);
    QObject::connect(&job, &QKeychain::Job::finished, qApp, [&] {
        isAnswered = true;
        QCoreApplication::quit();
    });
    QTimer::singleShot(Patience, qApp, &QCoreApplication::quit);
    job.start();
    QCoreApplication::exec();
    if (!isAnswered)
        return Error{ErrorKind::Unreachable, u"the keychain did not answer within a minute; "_s + Remedy, {}};
    switch (job.error()) {
    case QKeychain::NoError:
        return {};
    case QKeychain::EntryNotFound:
        return Error{ErrorKind::NotFound,
                     u"the keychain has no password of %1: store it with sendoncectl mail password --set, or set "
                     "SENDONCE_MAIL_PASSWORD or --mail-password-command"_s.arg(account),
                     {}};
    case QKeychain::AccessDenied:
    case QKeychain::AccessDeniedByUser:
        return Error{
            ErrorKind::Refused, u"the keychain does not give the password of %1: access was denied"_s.arg(account), {}};
    case QKeychain::NoBackendAvailable:
    case QKeychain::NotImplemented:
        return Error{ErrorKind::Unreachable, u"there is no keychain here; "_s + Remedy, {}};
    case QKeychain::CouldNotDeleteEntry:
    case QKeychain::OtherError:
        break;
    }
    return Error{ErrorKind::Unreachable, u"the keychain failed: %1; %2"_s.arg(job.errorString(), Remedy), {}};
}

} // namespace

Result<QString> read(const QString &account)
{
    QKeychain::ReadPasswordJob job(Service);
    if (const auto done = run(job, account); !done)
        return done.error();
    return job.textData();
}

Result<void> store(const QString &account, const QString &secret)
{
    QKeychain::WritePasswordJob job(Service);
    job.setTextData(secret);
    return run(job, account);
}

Result<void> forget(const QString &account)
{
    QKeychain::DeletePasswordJob job(Service);
    return run(job, account);
}

} // namespace sendonce::keychain
