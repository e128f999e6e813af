#pragma once

#include "worker/faults/fault.h"
#include "worker/local/maildir.h"
#include "worker/local/smtpdata.h"

#include <QByteArray>
#include <QByteArrayView>

#include <chrono>
#include <functional>
#include <optional>

namespace sendonce {

/// The server's side of one SMTP connection, without the socket: bytes in, replies out, a call for each complete mail.
/// Split-invariant; what is pipelined is read in its order. RFC 5321 and smtp-and-mail.md, section 11.
class SmtpSession
{
public:
    static constexpr int MaxCommandLine = 512; ///< with CRLF
    static constexpr int MaxAuthLine = 1024; ///< of AUTH and of what is sent after it
    static constexpr int MaxRecipients = 100;

    /// Takes or refuses a complete mail; returns the reply to its end of data, without CRLF. After a 421 the session
    /// ends.
    using Accept = std::function<QByteArray(const ReceivedMail &mail)>;

    /// Finds out whom a fault would strike; costs a look at addresses or headers.
    using Subject = std::function<FaultSubject()>;
    /// What fault strikes at that point of the dialogue; it is used up by that. Calls `subject` if anything is armed
    /// there.
    using Ask = std::function<std::optional<Fault>(FaultPoint point, const Subject &subject)>;

    /// What is to be done when the replies of begin(), feed() or resume() are written.
    enum class Next {
        Read, ///< feed() what comes
        Wait, ///< nothing is read for wait(), then resume()
        Close, ///< QUIT was answered, the session ended with 421, or a fault
        Reset, ///< the same, with a TCP reset
    };

    explicit SmtpSession(Accept accept, Ask ask = {});

    QByteArray begin(); ///< the greeting
    /// Reads commands and data; returns all replies to them. Only while next() is Read.
    QByteArray feed(QByteArrayView bytes);
    QByteArray resume();
    Next next() const { return m_next; }
    std::chrono::milliseconds wait() const { return m_wait; }

private:
    enum class Hello { None, Helo, Ehlo };
    enum class Auth { None, PlainAnswer, LoginUser, LoginPassword };
    struct Parameters
    {
        bool smtpUtf8 = false;
        QByteArray refusal; ///< reply line; empty: accepted
    };

    QByteArray goOn(QByteArrayView bytes);
    void at(FaultPoint point, const QByteArray &rcpt, const std::function<void()> &answer);
    void betweenMails();
    FaultSubject subject(const QByteArray &rcpt) const;
    void readCommandByte(char byte);
    void endCommandLine();
    void command(const QByteArray &line);
    void hello(Hello kind, const QByteArray &argument);
    void mail(const QByteArray &argument);
    void recipient(const QByteArray &argument);
    void data(const QByteArray &argument);
    void auth(const QByteArray &argument);
    void authLine(const QByteArray &line);
    void authStep(const QByteArray &base64);
    void endOfData();
    void resetTransaction();
    void reply(const QByteArray &line);
    static Parameters mailParameters(QByteArrayView text, bool extended);

    Accept m_accept;
    QByteArray m_replies;
    QByteArray m_line; ///< of the command being read: at most MaxAuthLine bytes of it
    qint64 m_lineLength = 0;
    Hello m_hello = Hello::None;
    Auth m_auth = Auth::None;
    bool m_authenticated = false;
    bool m_inData = false;
    bool m_haveSender = false;
    bool m_smtpUtf8 = false;
    bool m_amidText = false; ///< that point of this mail is behind us
    bool m_answered = false; ///< a mail, and it has not been asked yet what happens between it and the next
    Ask m_ask;
    Next m_next = Next::Read;
    std::chrono::milliseconds m_wait{0};
    QByteArray m_later; ///< replies that come after the wait
    Next m_afterWait = Next::Read;
    QByteArray m_unread; ///< came before the wait
    ReceivedMail m_mail;
    SmtpData m_data;
};

} // namespace sendonce
