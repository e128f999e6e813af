#include "app/config/keychainsource.h"
#include "app/ctl/commands.h"
#include "app/ctl/keychain.h"
#include "app/ctl/listing.h"
#include "app/ctl/secret.h"
#include "app/ctl/terminal.h"

#include <QFile>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

/// For whom; the password of the URL itself, if it has one, is nobody's business here.
Result<QString> accountOf(const CommandLine &line)
{
    const GivenSettings given = gather(line.settingFlags(), QProcessEnvironment::systemEnvironment());
    const QUrl url(given.values.value(u"mail-url"_s), QUrl::StrictMode);
    if (url.host().isEmpty() || url.userName().isEmpty())
        return Error{ErrorKind::Invalid,
                     u"--mail-url is “%1”; accepted: a URL with a user, such as smtps://me@mail.example"_s.arg(
                         inert(url.toDisplayString())),
                     {}};
    return mailAccount(url);
}

int print(const QString &secret)
{
    QFile out;
    const QByteArray text = secret.toUtf8() + '\n';
    return out.open(stdout, QIODevice::WriteOnly) && out.write(text) == text.size() && out.flush() ? Done : Failed;
}

} // namespace

int runMailPassword(const QStringList &words)
{
    CommandLine line(u"sendoncectl mail password"_s,
                     u"keeps the mail server's password in the keychain, for the user of --mail-url"_s, {u"mail-url"_s},
                     {{u"set"_s, {}, {}, u"ask for it (without echo), or read a line of stdin, and store it"_s},
                      {u"forget"_s, {}, {}, u"take it out of the keychain"_s},
                      {u"print"_s, {}, {}, u"print it; what worker and console run to get it"_s}},
                     {u"sendoncectl mail password --set --mail-url smtps://me@mail.example"_s});
    if (const auto ended = answered(line, words))
        return *ended;
    if (int(line.has(u"set"_s)) + int(line.has(u"forget"_s)) + int(line.has(u"print"_s)) != 1) {
        complain(u"one of --set, --forget and --print is needed"_s);
        return Usage;
    }
    const auto account = accountOf(line);
    if (!account) {
        complain(account.error().text);
        return exitCodeOf(account.error());
    }
    Result<void> done;
    if (line.has(u"print"_s)) {
        const auto secret = keychain::read(account.value());
        if (secret)
            return print(secret.value());
        done = secret.error();
    } else if (line.has(u"forget"_s)) {
        done = keychain::forget(account.value());
    } else {
        const auto secret = readSecret(u"Password of %1: "_s.arg(account.value()));
        done = secret ? keychain::store(account.value(), secret.value()) : secret.error();
    }
    if (!done) {
        complain(done.error().text);
        return exitCodeOf(done.error());
    }
    say(line.has(u"set"_s) ? u"the keychain has the password of %1"_s.arg(inert(account.value()))
                           : u"the keychain has no password of %1 any more"_s.arg(inert(account.value())));
    return Done;
}

} // namespace sendonce
