#include "app/config/commandline.h"
#include "app/config/settings.h"
#include "app/console/session.h"
#include "app/console/singleinstance.h"
#include "app/process/backstage.h"
#include "app/process/privacy.h"
#include "app/process/stopsignals.h"
#include "ui/attach.h"
#include "ui/mainwindow.h"
#include "ui/passworddialog.h"
#include "worker/scenario/scenarios.h"

#include <QApplication>
#include <QDir>
#include <QStandardPaths>
#include <QThread>

#include <csignal>
#include <cstdio>
#include <unistd.h>

using namespace sendonce;
using namespace Qt::StringLiterals;

namespace {

constexpr int UsageError = 2;

int complain(const QString &text)
{
    std::fprintf(stderr, "sendonce: %s\n", text.toUtf8().constData());
    return UsageError;
}

/// Layout and theme: XDG Base Directory 0.8; Qt 6.4 knows no state location.
QString stateFolder()
{
    const QString state = qEnvironmentVariable("XDG_STATE_HOME");
    const QString folder =
        (QDir::isAbsolutePath(state) ? state : QDir::homePath() + u"/.local/state"_s) + u"/sendonce"_s;
    QDir().mkpath(folder);
    return folder;
}

} // namespace

int main(int argc, char **argv)
{
    keepPrivate();
    QApplication application(argc, argv);
    QApplication::setApplicationName(u"sendonce"_s);
    QApplication::setApplicationDisplayName(u"Sendonce"_s);
    QApplication::setApplicationVersion(QStringLiteral(SENDONCE_VERSION));
    QApplication::setDesktopFileName(u"io.github.sendonce.Sendonce"_s);

    CommandLine line(u"sendonce"_s, u"the console; its worker runs inside it"_s, allFlags(),
                     {{u"version"_s, {}, {}, u"name and version"_s}});
    const auto parsed = line.parse(QApplication::arguments().mid(1));
    if (!parsed)
        return complain(parsed.error().text);
    if (line.helpAsked() || line.has(u"version"_s)) {
        const QString text =
            line.helpAsked() ? line.help().trimmed() : u"sendonce "_s + QStringLiteral(SENDONCE_VERSION);
        std::printf("%s\n", text.toUtf8().constData());
        return 0;
    }
    const QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    if (const QString warning = visiblePassword(line.settingFlags()); !warning.isEmpty())
        complain(u"warning: "_s + warning);
    const GivenSettings given = gather(line.settingFlags(), environment);
    const auto dataDir = prepareDataDir(dataDirOf(given));
    if (!dataDir)
        return complain(dataDir.error().text);
    // Unusable values stop the program before there is a window; what only the running services know is resolved in the
    // session.
    const auto checked = resolve(given, environment, dataDir.value(), {});
    if (!checked)
        return complain(checked.error().text);

    SingleInstance instance(dataDir.value());
    if (!instance.take()) {
        const bool raised = instance.raiseOther();
        complain(u"%1 is in use by process %2%3"_s.arg(dataDir.value(), QString::number(instance.otherPid()),
                                                       raised ? u"; its window was raised"_s
                                                              : u", which does not answer"_s));
        return raised ? 0 : 1;
    }

    WindowSetup setup;
    setup.profile = checked->profile;
    setup.readOnly = checked->readOnly;
    setup.queueName = checked->queueUrl.path().section(u'/', -1);
    if (!given.namesServices()) {
        setup.profile = u"Local"_s; // its services are about to start
    } else {
        setup.embedded = false;
        setup.profileTone = Tone::InDoubt;
    }
    MainWindow window(setup);
    window.keepStateIn(stateFolder());

    QThread workerThread;
    workerThread.setObjectName(u"worker"_s);
    auto *session = new Session(given, dataDir.value());
    session->moveToThread(&workerThread);
    QObject::connect(&workerThread, &QThread::started, session, &Session::begin);
    QObject::connect(&workerThread, &QThread::finished, session, &QObject::deleteLater);
    QObject::connect(session, &Session::ready, &window,
                     [&](Worker *worker, const QString &profile, bool embedded, const QString &note) {
                         setup.profile = profile;
                         setup.embedded = embedded;
                         setup.profileTone = embedded ? Tone::Sent : Tone::InDoubt;
                         window.showProfile(setup);
                         attach(window, *worker);
                         if (!note.isEmpty())
                             window.showNote(note);
                         QMetaObject::invokeMethod(worker, &Worker::open);
                     });
    QObject::connect(session, &Session::passwordWanted, &window, [&](const QString &account, const QString &why) {
        auto *dialog = new PasswordDialog(account, why, &window);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        QObject::connect(dialog, &QDialog::accepted, &window, [dialog, session] {
            QMetaObject::invokeMethod(session, [session, text = dialog->password()] { session->givePassword(text); });
        });
        QObject::connect(dialog, &QDialog::rejected, &window,
                         [session] { QMetaObject::invokeMethod(session, [session] { session->givePassword({}); }); });
        dialog->open();
    });
    QObject::connect(session, &Session::failed, &window, &MainWindow::showOpenFailed);
    QObject::connect(session, &Session::ended, &window, &MainWindow::workerClosed);
    QObject::connect(&window, &MainWindow::closeRequested, session, &Session::end);

    // Worlds of their own, so they live as long as the window, whatever becomes of the worker.
    QThread scenariosThread;
    scenariosThread.setObjectName(u"scenarios"_s);
    auto *scenarios = new Scenarios(dataDir.value() + u"/scenarios"_s,
                                    QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation)
                                        + u"/sendonce/scenarios"_s);
    scenarios->moveToThread(&scenariosThread);
    QObject::connect(&scenariosThread, &QThread::started, scenarios, [] { stepBackstage(); });
    QObject::connect(&scenariosThread, &QThread::finished, scenarios, &QObject::deleteLater);
    QObject::connect(&window, &MainWindow::closeRequested, scenarios, &Scenarios::stop);
    QObject::connect(&window, &MainWindow::closeRequested, scenarios, &Scenarios::stopMatrix);

    StopSignals stopSignals;
    bool asked = false;
    QObject::connect(&stopSignals, &StopSignals::asked, &window, [&](int signal) {
        if (asked && signal == SIGINT) // Ctrl+C again: at once
            ::_exit(128 + signal);
        asked = true;
        window.close();
    });
    QObject::connect(&instance, &SingleInstance::raiseAsked, &window, [&window] {
        window.setWindowState(window.windowState() & ~Qt::WindowMinimized);
        window.show();
        window.raise();
        window.activateWindow();
    });

    window.show();
    workerThread.start();
    scenariosThread.start();
    attach(window, *scenarios);
    const int code = QApplication::exec();
    scenariosThread.quit();
    scenariosThread.wait();
    workerThread.quit();
    workerThread.wait();
    return code;
}
