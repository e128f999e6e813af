#pragma once

#include "worker/mail/smtpreply.h"
#include "worker/result.h"

#include <QByteArray>
#include <QDeadlineTimer>
#include <QString>
#include <QTcpSocket>

#include <atomic>

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

/// A TCP connection to a mail server, used blocking and without an event loop, in slices so that a stop is heard. Its
/// errors are Aborted (the patience is at an end), Unreachable (refused, closed or broken) and Protocol (an answer that
/// is no SMTP).
class SmtpSocket
{
public:
    SmtpSocket();

    Result<void> open(const QString &host, quint16 port, const Patience &patience);

    /// Waits until the kernel has all of it. Ends early, without an error, when the server says something meanwhile and
    /// `untilAnswered`.
    Result<void> write(const QByteArray &bytes, const Patience &patience, bool untilAnswered = false);

    Result<SmtpReply> readReply(const Patience &patience);

    /// Whether the server has said something that is not read yet, or has closed; does not wait.
    bool hasNews();
    bool isOpen() const { return m_socket.state() == QAbstractSocket::ConnectedState; }
    void abort() { m_socket.abort(); }

private:
    Error lost() const;

    QTcpSocket m_socket;
    SmtpReplyParser m_replies;
};

} // namespace sendonce
