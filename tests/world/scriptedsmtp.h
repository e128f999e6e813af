#pragma once

#include "tests/world/certificates.h"

#include <QByteArray>
#include <QByteArrayList>
#include <QList>
#include <QString>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

namespace sendonce::world {

/// What a mail server does on one connection, step by step; reads like the conversation. At its end the connection is
/// closed.
class SmtpScript
{
public:
    /// Reads a line; it must begin so, else the script ends and problem() says so.
    SmtpScript &expect(const QByteArray &begin);
    /// Sends these bytes as they are.
    SmtpScript &send(const QByteArray &bytes);
    /// Sends them in pieces of `size` bytes with a pause after each.
    SmtpScript &sendSlowly(const QByteArray &bytes, qsizetype size, std::chrono::milliseconds pause);
    /// Reads up to CRLF.CRLF and keeps it as a mail.
    SmtpScript &readMail();
    SmtpScript &readBytes(qsizetype count);
    SmtpScript &pause(std::chrono::milliseconds time);
    SmtpScript &call(std::function<void()> function);
    /// Goes on once the test has set it; a server that is destroyed earlier does not wait any longer.
    SmtpScript &waitFor(const std::atomic_bool &flag);
    /// TLS from here on, as its server: behind the 220 of STARTTLS, or at once. The script ends where that fails.
    SmtpScript &startTls(const Identity &identity);
    /// Sends these bytes past TLS, which makes garbage of them.
    SmtpScript &sendInClear(const QByteArray &bytes);
    /// Closes (FIN), resets (RST), or says nothing and reads nothing until the client has gone.
    SmtpScript &close();
    SmtpScript &reset();
    SmtpScript &hold();

    /// The usual beginnings: greeting and EHLO, with the extensions given; MAIL to RCPT; DATA and 354 as well.
    static SmtpScript hello(const QByteArrayList &extensions = {});
    SmtpScript &envelope();
    SmtpScript &upTo354();

private:
    friend class ScriptedSmtp;
    struct Step
    {
        enum class Kind {
            Expect,
            Send,
            ReadMail,
            ReadBytes,
            Pause,
            Call,
            WaitFor,
            StartTls,
            SendInClear,
            Close,
            Reset,
            Hold
        };
        Kind kind;
        QByteArray bytes;
        qsizetype number = 0;
        std::chrono::milliseconds time{0};
        std::function<void()> function;
        Identity identity = {};
        const std::atomic_bool *flag = nullptr;
    };
    QList<Step> m_steps;
};

/// A mail server on 127.0.0.1 that follows one script per connection, one after the other, on a thread of its own. A
/// connection without a script is closed at once. For tests of the client: it does what no honest server would.
class ScriptedSmtp
{
public:
    explicit ScriptedSmtp(const QList<SmtpScript> &scripts);
    ~ScriptedSmtp(); ///< ends every step

    quint16 port() const;
    int connections() const; ///< taken so far
    QByteArrayList lines() const; ///< every line read by expect(), without CRLF
    QByteArrayList mails() const; ///< every mail read, without the ending ".CRLF", dots as they came
    QString problem() const; ///< what went otherwise than the script

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace sendonce::world
