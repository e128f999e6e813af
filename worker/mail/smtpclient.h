#pragma once

#include "worker/mail/mimemessage.h"
#include "worker/mail/smtpsettings.h"

#include <QString>

#include <atomic>
#include <functional>
#include <memory>

namespace sendonce {

/// smtp-and-mail.md, section 2: exactly these three.
struct SendResult
{
    enum class Status { Sent, NotSent, InDoubt };
    Status status = Status::NotSent;
    QString reply; ///< the server's last line ("451 4.3.0 busy"); empty when none was read
    QString text; ///< for people: the reply, or what the socket said
    bool permanent = false; ///< 5yz
    bool aborted = false; ///< we were told to stop, before the dot

    bool operator==(const SendResult &) const = default;
};

/// What the caller wants to do at the edge of doubt, in the thread of send().
struct SendHooks
{
    /// DATA was answered 354 and everything but the final ".CRLF" is written; false abandons the mail there (not sent).
    std::function<bool()> beforeDot;
    /// The terminator is with the kernel (flushed), its reply is not read yet.
    std::function<void()> afterDot;
};

class SmtpConnection;

/// Sends mails, blocking its lane's thread until the outcome is known; one connection, kept open between mails; no
/// event loop. Never retries a mail: a kept connection that the server closed *between two mails* (nothing of this one
/// was answered but by 421) is opened anew, once, nothing else.
class SmtpClient
{
public:
    explicit SmtpClient(SmtpSettings settings);
    ~SmtpClient();

    /// The terminator leaves in a write of its own, between the two hooks (either may be empty; spec.md, rule 6).
    /// \param stop abandons the send before the dot, is ignored behind it; looked at at least every 50 ms.
    /// `message.bytes` is dot-stuffed here. RFC 5321, 4.2.5 and 6.1.
    SendResult send(const MimeMessage &message, const SendHooks &hooks, const std::atomic_bool &stop);

    /// QUIT if connected, without waiting for the answer longer than 200 ms.
    void close();

private:
    SmtpSettings m_settings;
    std::unique_ptr<SmtpConnection> m_connection;
};

} // namespace sendonce
