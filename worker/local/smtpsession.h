#pragma once

#include "worker/local/maildir.h"
#include "worker/local/smtpdata.h"

#include <QByteArray>
#include <QByteArrayView>

#include <functional>

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

    explicit SmtpSession(Accept accept);

    static QByteArray greeting();

    /// Reads commands and data; returns all replies to them. Nothing is read any more once finished().
    QByteArray feed(QByteArrayView bytes);

    /// QUIT was answered, or the session ended with 421: close when the replies are written.
    bool finished() const { return m_finished; }

private:
    enum class Hello { None, Helo, Ehlo };
    enum class Auth { None, PlainAnswer, LoginUser, LoginPassword };
    struct Parameters
    {
        bool smtpUtf8 = false;
        QByteArray refusal; ///< reply line; empty: accepted
    };

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
    bool m_finished = false;
    ReceivedMail m_mail;
    SmtpData m_data;
};

} // namespace sendonce
