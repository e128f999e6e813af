#include "app/config/passwordcommand.h"

#include <QProcess>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr int SliceMsec = 50;
constexpr int KillWaitMsec = 1000;
constexpr qsizetype MaxOutput = 64 * 1024;

} // namespace

Result<QString> runPasswordCommand(const QStringList &words, const std::function<bool()> &goOn,
                                   PasswordComplaint complaint)
{
    const bool isOurs = complaint == PasswordComplaint::IsTheError;
    const QString name = isOurs ? u"the program that asks the keychain "_s : u"--mail-password-command "_s;
    const auto failed = [&name](ErrorKind kind, const QString &text) { return Error{kind, name + text, {}}; };
    QProcess process;
    process.setStandardInputFile(QProcess::nullDevice());
    process.setProcessChannelMode(isOurs ? QProcess::SeparateChannels : QProcess::ForwardedErrorChannel);
    process.start(words.value(0), words.mid(1), QIODevice::ReadOnly);
    while (!process.waitForFinished(SliceMsec)) {
        if (process.error() == QProcess::FailedToStart)
            return failed(ErrorKind::Invalid, u"could not be started: %1"_s.arg(process.errorString()));
        if (process.state() == QProcess::NotRunning)
            break;
        const bool late = !goOn();
        if (late || process.bytesAvailable() > MaxOutput) {
            process.kill();
            process.waitForFinished(KillWaitMsec);
            return late ? failed(ErrorKind::Aborted, u"did not end in time"_s)
                        : failed(ErrorKind::Invalid, u"printed more than 64 KiB"_s);
        }
    }
    if (process.exitStatus() == QProcess::CrashExit)
        return failed(ErrorKind::Refused, u"crashed"_s);
    if (const QString said = QString::fromUtf8(process.readAllStandardError()).trimmed();
        isOurs && process.exitCode() != 0 && !said.isEmpty())
        return Error{ErrorKind::Refused, said.section(u'\n', -1).remove(u"sendoncectl: "_s), {}};
    if (process.exitCode() != 0)
        return failed(ErrorKind::Refused, u"ended with exit code %1"_s.arg(process.exitCode()));
    QByteArray line = process.readAllStandardOutput();
    line = line.first(line.indexOf('\n') < 0 ? line.size() : line.indexOf('\n'));
    if (line.endsWith('\r'))
        line.chop(1);
    return QString::fromUtf8(line);
}

} // namespace sendonce
