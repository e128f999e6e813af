#include "app/ctl/secret.h"

#include "worker/mail/mailpassword.h"

#include <QDeadlineTimer>
#include <QScopeGuard>

#include <cstdio>
#include <iostream>
#include <string>

#include <termios.h>
#include <unistd.h>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

Result<QString> readSecret(const QString &prompt)
{
    termios before{};
    const bool isTerminal = ::tcgetattr(STDIN_FILENO, &before) == 0;
    const auto restore = qScopeGuard([&] {
        if (isTerminal) {
            ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
            std::fputc('\n', stderr);
        }
    });
    if (isTerminal) {
        termios silent = before;
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG); // Ctrl+C would leave a terminal that shows nothing
        if (::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) != 0)
            return Error{ErrorKind::Io, u"the terminal shows what is typed, so nothing is asked"_s, {}};
        std::fputs(prompt.toUtf8().constData(), stderr);
    }
    std::string line;
    std::getline(std::cin, line);
    if (!line.empty() && line.back() == '\r')
        line.pop_back();
    if (line.empty())
        return Error{ErrorKind::Invalid, u"no password was given"_s, {}};
    return QString::fromStdString(line);
}

Result<void> askForMailPassword(Config &config)
{
    if (!config.mailPassword || config.mailPassword->askable().isEmpty())
        return {};
    const QDeadlineTimer end(60s);
    const auto kept = config.mailPassword->get([&end] { return !end.hasExpired(); });
    if (kept)
        return {};
    if (!::isatty(STDIN_FILENO))
        return kept.error();
    const auto typed = readSecret(u"Password of %1: "_s.arg(config.mailPassword->askable()));
    if (!typed)
        return typed.error();
    config.mailPassword = std::make_shared<MailPassword>(typed.value());
    return {};
}

} // namespace sendonce
