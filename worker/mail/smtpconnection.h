#pragma once

#include "worker/mail/smtpclient.h"
#include "worker/mail/smtpconversation.h"
#include "worker/mail/smtpsocket.h"
#include "worker/result.h"

#include <QString>
#include <QStringList>

#include <chrono>
#include <memory>
#include <optional>

namespace sendonce {

/// One connection to a mail server: a socket, and the conversation whose commands it carries out. Blocking; of one
/// thread.
class SmtpConnection
{
public:
    enum class End { Done, Reopen };

    /// Has the password ready, connects, and begins TLS where that comes first. The error ("no connection: …", "no
    /// TLS: …", "no password: …") has the kinds of SmtpSocket, or those of the password's source.
    static Result<std::unique_ptr<SmtpConnection>> open(const SmtpSettings &settings, const Patience &patience);

    /// Greets and logs in, without a mail; then isUsable(), or outcome() says why not.
    void greet(const Patience &patience);
    End send(const MimeMessage &message, const SendHooks &hooks, const Patience &patience,
             std::chrono::milliseconds finalTimeout);
    /// QUIT; does not wait for the answer longer than 200 ms.
    void quit();

    bool hasNews() { return m_socket.hasNews(); }
    bool isUsable() const { return m_conversation->isUsable(); }
    const SendResult &outcome() const { return m_conversation->outcome(); }
    QString greeting() const { return m_conversation->greeting(); }
    QStringList extensions() const { return m_conversation->extensions(); }
    /// What ended the last greet() or send() beside an answer of the server.
    const std::optional<Error> &fault() const { return m_fault; }

private:
    using Step = SmtpConversation::Step;

    explicit SmtpConnection(const SmtpSettings &settings);
    Result<void> reach(const Patience &patience);
    Result<void> encrypt(const Patience &patience);
    Step carryOut(Step step, const Patience &patience);
    Step giveUp(const Error &error, const Patience &patience);
    Step readReply(const Patience &patience);
    Step ask(const QByteArray &bytes, const Patience &patience);
    Step body(const QByteArray &message, const SendHooks &hooks, const Patience &patience,
              std::chrono::milliseconds finalTimeout);
    void tellRefusedPassword() const;

    const SmtpSettings m_settings;
    SmtpTerms m_terms;
    SmtpSocket m_socket;
    std::optional<SmtpConversation> m_conversation; ///< from the connection on
    std::optional<Error> m_fault;
};

} // namespace sendonce
