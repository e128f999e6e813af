#pragma once

#include "worker/mail/mimemessage.h"
#include "worker/mail/smtpauth.h"
#include "worker/mail/smtpclient.h"
#include "worker/mail/smtpreply.h"

#include <QByteArray>
#include <QString>
#include <QStringList>

#include <optional>

namespace sendonce {

/// What has to be true of a connection before a mail goes over it.
struct SmtpTerms
{
    bool startTls = false; ///< TLS by STARTTLS, or no mail
    bool confidential = false; ///< nobody listens as it is: it is TLS from its first byte, or stays in this computer
    std::optional<SmtpCredentials> login; ///< logged in, or no mail
};

/// The client's side of one SMTP connection, without the socket: replies in, bytes to write and at last an outcome out.
/// Knows how far a mail has got, and so what a loss means (smtp-and-mail.md, section 2). One mail after the other.
class SmtpConversation
{
public:
    /// What to do next.
    struct Step
    {
        enum class Kind {
            Read, ///< write `bytes` (may be empty), then read one reply
            Encrypt, ///< begin TLS, unless something is left to be read; then encrypted()
            Body, ///< write the message, dot-stuffed; then ask, then handOver()
            Done, ///< outcome() is known
            Reopen, ///< the server had closed between two mails and nothing of this one was accepted: once, on a new
                    ///< connection
        };
        Kind kind = Kind::Read;
        QByteArray bytes;
    };

    explicit SmtpConversation(const QString &heloName, const SmtpTerms &terms = {});

    /// Begins without a mail: as far as one could be begun, then Done.
    Step greet();

    /// Begins a mail; not while another is under way. On a new connection the server speaks first.
    Step begin(const MimeMessage &message);

    /// A complete reply was read.
    Step reply(const SmtpReply &received);

    /// TLS stands, the certificate is the right one. What was said in clear is forgotten. RFC 3207, 4.2.
    Step encrypted();

    /// The message but for its end is written and may be ended: from the return of this on, silence means *in doubt*.
    Step handOver();

    /// The server closed the connection, or broke it: Reopen or Done. `why` is a whole sentence.
    Step lost(const QString &why);

    /// We give up: out of time, told to stop (`aborted`), or the server does not speak SMTP. Done.
    Step giveUp(const QString &why, bool aborted = false);

    const SendResult &outcome() const { return m_outcome; }
    bool handedOver() const { return m_state == State::Final; }
    /// Another mail may begin on this connection.
    bool isUsable() const { return m_state == State::Idle; }
    /// The server took the password for wrong.
    bool logInRefused() const { return m_logInRefused; }
    /// What the server is to answer, for texts: "MAIL".
    QString stage() const;
    QString greeting() const { return m_greeting; } ///< "220 mail.example ESMTP"
    QStringList extensions() const { return m_extensions; } ///< of the last EHLO, "SIZE 10240000"

    /// `message` as it goes behind 354, without the ending ".CRLF". RFC 5321, 4.5.2.
    static QByteArray dotStuffed(const QByteArray &message);

private:
    enum class State {
        Greeting,
        Ehlo,
        Helo,
        StartTls,
        Encrypt,
        Auth,
        Idle,
        Reset,
        Mail,
        Rcpt,
        Data,
        Body,
        EmptyEnd,
        Final,
        Closed
    };
    /// As EHLO told them.
    struct Offers
    {
        bool pipelining = false;
        bool eightBitMime = false;
        bool smtpUtf8 = false;
        bool startTls = false;
        bool size = false;
        qint64 sizeLimit = 0; ///< 0: none told
        QStringList logIns;
    };

    Step hello(const SmtpReply &reply);
    void readOffers(const QStringList &lines);
    Step greeted();
    Step logIn();
    Step logInAnswered(const SmtpReply &reply);
    Step unfit(const QString &text);
    Step startMail();
    Step sendEnvelope();
    Step mailAnswered(const SmtpReply &reply);
    Step rcptAnswered(const SmtpReply &reply);
    Step dataAnswered(const SmtpReply &reply);
    Step finalAnswered(const SmtpReply &reply);
    Step read(State state, const QByteArray &bytes = {});
    void refuse(const SmtpReply &reply);
    Step refused(const SmtpReply &reply, State next);
    Step reopen();
    Step done(const SendResult &outcome, State next);
    QByteArray mailCommand() const;
    bool nothingAnswered() const { return m_reused && (m_state == State::Reset || m_state == State::Mail); }

    QByteArray m_heloName;
    SmtpTerms m_terms;
    std::optional<SmtpAuth> m_auth;
    State m_state = State::Greeting;
    MimeMessage m_message;
    SendResult m_outcome;
    bool m_isRefused = false; ///< m_outcome holds a refusal; replies to what was pipelined are still to come
    bool m_reused = false;
    bool m_needsReset = false;
    bool m_isEncrypted = false; ///< by STARTTLS
    bool m_isLoggedIn = false;
    bool m_logInRefused = false;
    bool m_hasMail = false;
    QString m_greeting;
    QStringList m_extensions;
    Offers m_offers;
};

} // namespace sendonce
