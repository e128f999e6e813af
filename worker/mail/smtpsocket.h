#pragma once

#include "worker/mail/smtpreply.h"
#include "worker/result.h"

#include <QByteArray>
#include <QDeadlineTimer>
#include <QSslConfiguration>
#include <QString>

#include <atomic>
#include <memory>

class QSslSocket;

namespace sendonce {

/// How long a wait may last, and who may end it.
struct Patience
{
    QDeadlineTimer deadline;
    const std::atomic_bool *stop = nullptr; ///< looked at every 50 ms; null: nobody may

    bool stopped() const { return stop && stop->load(); }
    bool over() const { return stopped() || deadline.hasExpired(); }
    int sliceMsec() const; ///< until the next look, at most 50
    Error ended() const; ///< why it is over
};

/// A TCP connection to a mail server, in clear or under TLS, used blocking and without an event loop, in slices so that
/// a stop is heard. Its errors are Aborted (the patience is at an end), Unreachable (refused, closed or broken) and
/// Protocol (an answer that is no SMTP).
class SmtpSocket
{
public:
    /// \param mayEncrypt encrypt() will be called; without it the system's own calls do, which take less CPU time
    explicit SmtpSocket(bool mayEncrypt);
    ~SmtpSocket();

    Result<void> open(const QString &host, quint16 port, const Patience &patience);

    /// Begins TLS. Protocol when a byte is there that came in clear: it would pass for an answer inside of TLS (the
    /// response injection of NO STARTTLS, 2021). Refused when the certificate is not one for `host`; the text says why.
    Result<void> encrypt(const QString &host, const QSslConfiguration &configuration, const Patience &patience);
    /// The other end is this computer.
    bool staysHere() const;

    /// Waits until the kernel has all of it. \param isBody of a mail: ends early, without an error, when the server
    /// says something meanwhile; and the dot follows, so in clear the kernel may keep the last packet for it (MSG_MORE,
    /// for 200 ms at most): the server is woken once for both.
    Result<void> write(const QByteArray &bytes, const Patience &patience, bool isBody = false);

    Result<SmtpReply> readReply(const Patience &patience);

    /// Whether the server has said something that is not read yet, or has closed; does not wait.
    bool hasNews();
    bool isOpen() const;

private:
    Q_DISABLE_COPY_MOVE(SmtpSocket)

    Error lost() const;
    qint64 unwritten() const;
    Result<void> writeClear(QByteArrayView bytes, const Patience &patience, bool isBody);
    Result<void> writeTls(const QByteArray &bytes, const Patience &patience, bool isBody);
    bool takeWhatCame(); ///< into m_replies; false: nothing was there
    bool waitForMore(const Patience &patience); ///< for a slice at most; whether something came
    bool kernelHasNews() const;

    std::unique_ptr<QSslSocket> m_tls; ///< where there may be TLS
    QString m_tlsFault; ///< what came is no TLS; QSslSocket leaves the connection open then
    int m_descriptor = -1; ///< else
    bool m_closed = false; ///< by the server, or broken
    int m_error = 0; ///< errno of what broke it
    SmtpReplyParser m_replies;
};

} // namespace sendonce
