#pragma once

#include "worker/local/loopbacklistener.h"
#include "worker/local/maildir.h"
#include "worker/result.h"

#include <QHash>
#include <QList>
#include <QObject>
#include <QSet>
#include <QString>

#include <chrono>
#include <memory>

class QTcpSocket;

namespace sendonce {

class FaultBoard;
class SmtpSession;

/// The embedded mail server: SMTP on 127.0.0.1 in front of a Maildir. A 250 is given only after the mail is durable.
/// Several connections at once, each an SmtpSession; storing blocks this thread for its fsync. smtp-and-mail.md,
/// section 11.
class LocalMailbox : public QObject
{
    Q_OBJECT
public:
    static constexpr int MaxConnections = 200;

    /// \param maildirPath made (0700) by listen() when it is missing
    /// \param faults asked at each point of the dialogue; not owned, must live longer
    LocalMailbox(const QString &maildirPath, FaultBoard *faults, QObject *parent = nullptr);
    ~LocalMailbox() override;

    /// Opens the Maildir, then listens on 127.0.0.1 only; returns the port in use. Port 0: any free one. A taken port
    /// is Unreachable, a Maildir that cannot be made or written is Io.
    Result<quint16> listen(quint16 port);

    /// Stops listening, says 421 to every connection and closes it. A mail without its end of data is dropped. Twice is
    /// fine.
    void close();

    int connectionCount() const { return int(m_connections.size()); }

    /// How long a connection may say nothing; 5 minutes (RFC 5321, 4.5.3.2.7). Tests shorten it. For connections made
    /// later.
    void setIdleTimeout(std::chrono::milliseconds timeout) { m_idleTimeout = timeout; }

Q_SIGNALS:
    /// A mail is durable under this name in new/; its 250 is about to be written.
    void stored(const QString &id);

private:
    struct Connection;

    void accept(QTcpSocket *socket);
    void read(QTcpSocket *socket);
    bool goOn(QTcpSocket *socket, const QByteArray &replies);
    void remember(const QString &key);
    void drop(QTcpSocket *socket);
    QByteArray take(const ReceivedMail &mail);

    Maildir m_maildir;
    FaultBoard *m_faults;
    LoopbackListener m_listener;
    QHash<QTcpSocket *, std::shared_ptr<Connection>> m_connections;
    QSet<QString> m_stored; ///< Message-ID and Date of each mail
    QList<QString> m_storedInOrder;
    std::chrono::milliseconds m_idleTimeout = std::chrono::minutes(5);
};

} // namespace sendonce
