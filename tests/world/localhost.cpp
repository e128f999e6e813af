/// The embedded services as a program of their own, for tests that need a process to talk to, or to kill.
///   world_local DATA_DIR [SQS_PORT]
/// prints "endpoint http://127.0.0.1:PORT", then "ready", and runs until SIGTERM. Port 0: any free one.

#include "worker/local/localservices.h"

#include <QCoreApplication>
#include <QSocketNotifier>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

using namespace Qt::StringLiterals;

namespace {
int stopPipe[2];
}

int main(int argc, char **argv)
{
    ::umask(077);
    QCoreApplication app(argc, argv);
    const QStringList arguments = app.arguments();
    if (arguments.size() < 2 || arguments.size() > 3) {
        std::fprintf(stderr, "usage: world_local DATA_DIR [SQS_PORT]\n");
        return 2;
    }
    // A handler may only write a byte; the event loop does the rest.
    if (::pipe(stopPipe) != 0)
        return 1;
    QSocketNotifier stopAsked(stopPipe[0], QSocketNotifier::Read);
    QObject::connect(&stopAsked, &QSocketNotifier::activated, &app, &QCoreApplication::quit);
    const auto onSignal = [](int) {
        const char byte = 0;
        [[maybe_unused]] const ssize_t written = ::write(stopPipe[1], &byte, 1);
    };
    ::signal(SIGTERM, onSignal);
    ::signal(SIGINT, onSignal);

    sendonce::LocalSettings settings;
    settings.dataDir = arguments.at(1);
    settings.sqsPort = arguments.value(2, u"0"_s).toUShort();
    settings.sqsPortExplicit = settings.sqsPort != 0;
    settings.smtpPort = 0;
    sendonce::LocalServices services;
    const auto started = services.start(settings);
    if (!started) {
        std::fprintf(stderr, "%s\n", qPrintable(started.error().text));
        return 4;
    }
    std::printf("endpoint %s\nready\n", qPrintable(started->endpoint().toString()));
    std::fflush(stdout);
    return app.exec();
}
