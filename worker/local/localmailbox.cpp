#include "worker/local/localmailbox.h"

#include "worker/local/faultboard.h"
#include "worker/local/mailsubject.h"
#include "worker/local/smtpsession.h"

#include <QLoggingCategory>
#include <QTcpSocket>
#include <QTimer>

#include <sys/socket.h>

using namespace Qt::StringLiterals;

namespace sendonce {

Q_LOGGING_CATEGORY(lcMailbox, "sendonce.local.mailbox")

namespace {

constexpr qint64 MaxUnread = 1 << 20; ///< bytes taken from a socket before they are worked on
constexpr qsizetype MaxRemembered = 100'000; ///< mails, for faults that suppress copies
constexpr qint64 MaxUnsent = 1 << 20; ///< replies that a client may leave unread

} // namespace

struct LocalMailbox::Connection
{
    Connection(SmtpSession::Accept accept, SmtpSession::Ask ask) : session(std::move(accept), std::move(ask)) { }

    SmtpSession session;
    QTimer idle;
    QTimer wait; ///< SmtpSession::Next::Wait
};

LocalMailbox::LocalMailbox(const QString &maildirPath, FaultBoard *faults, QObject *parent)
    : QObject(parent)
    , m_maildir(maildirPath)
    , m_faults(faults)
{
    connect(&m_listener, &LoopbackListener::connected, this, &LocalMailbox::accept);
    connect(&m_listener, &LoopbackListener::starved, this,
            [](const QString &reason) { qCWarning(lcMailbox).noquote() << "cannot take a connection:" << reason; });
}

LocalMailbox::~LocalMailbox()
{
    close();
}

Result<quint16> LocalMailbox::listen(quint16 port)
{
    if (const Result<void> opened = m_maildir.open(); !opened)
        return opened.error();
    // Enough for all to come at once: whoever finds the queue full waits a second for TCP's next try.
    const Result<quint16> listening = m_listener.listen(port, MaxConnections);
    if (!listening)
        return Error{listening.error().kind, u"the mailbox "_s + listening.error().text, {}};
    return listening;
}

void LocalMailbox::close()
{
    m_listener.close();
    const QList<QTcpSocket *> sockets = m_connections.keys();
    m_connections.clear();
    for (QTcpSocket *socket : sockets) {
        socket->disconnect(this);
        socket->write("421 4.3.2 the mailbox closes\r\n");
        socket->flush();
        socket->abort();
        socket->deleteLater();
    }
}

void LocalMailbox::accept(QTcpSocket *socket)
{
    if (m_connections.size() >= MaxConnections) {
        socket->write("421 4.3.2 too many connections, 200 are taken\r\n");
        connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
        socket->disconnectFromHost();
        return;
    }
    socket->setSocketOption(QAbstractSocket::LowDelayOption, 1);
    socket->setReadBufferSize(MaxUnread);
    const auto ask = [this](FaultPoint point, const SmtpSession::Subject &subject) {
        return m_faults->isArmedAt(point) ? m_faults->ask(point, subject()) : std::nullopt;
    };
    const auto connection = std::make_shared<Connection>([this](const ReceivedMail &mail) { return take(mail); }, ask);
    m_connections.insert(socket, connection);
    connect(socket, &QTcpSocket::readyRead, this, [this, socket] { read(socket); });
    connect(socket, &QTcpSocket::disconnected, this, [this, socket] { drop(socket); });
    connection->idle.setSingleShot(true);
    connection->idle.setInterval(m_idleTimeout);
    connect(&connection->idle, &QTimer::timeout, socket, [socket] {
        socket->write("421 4.4.2 idle for too long\r\n");
        socket->disconnectFromHost();
    });
    connection->idle.start();
    connection->wait.setSingleShot(true);
    connection->wait.setTimerType(Qt::PreciseTimer);
    connect(&connection->wait, &QTimer::timeout, socket, [this, socket] {
        // Storing emits a signal; whoever hears it may close us.
        const std::shared_ptr<Connection> waited = m_connections.value(socket);
        if (!waited)
            return;
        waited->idle.start();
        if (goOn(socket, waited->session.resume()))
            read(socket); // what came meanwhile
    });
    goOn(socket, connection->session.begin());
}

void LocalMailbox::read(QTcpSocket *socket)
{
    const std::shared_ptr<Connection> connection = m_connections.value(socket);
    if (!connection || connection->session.next() != SmtpSession::Next::Read)
        return;
    connection->idle.start();
    goOn(socket, connection->session.feed(socket->readAll()));
}

/// Writes the replies and does what is next; true: more can be read.
bool LocalMailbox::goOn(QTcpSocket *socket, const QByteArray &replies)
{
    const std::shared_ptr<Connection> connection = m_connections.value(socket);
    if (!connection)
        return false;
    socket->write(replies);
    switch (connection->session.next()) {
    case SmtpSession::Next::Read:
        if (socket->bytesToWrite() <= MaxUnsent)
            return true;
        socket->abort();
        break;
    case SmtpSession::Next::Wait:
        connection->idle.stop(); // it is we who say nothing
        connection->wait.start(connection->session.wait());
        break;
    case SmtpSession::Next::Close:
        socket->disconnectFromHost();
        break;
    case SmtpSession::Next::Reset: {
        socket->flush();
        const linger atOnce{1, 0}; // closing then sends RST
        ::setsockopt(int(socket->socketDescriptor()), SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
        socket->abort();
        break;
    }
    }
    return false;
}

QByteArray LocalMailbox::take(const ReceivedMail &mail)
{
    FaultSubject subject = mailSubject(mail.bytes);
    if (!mail.recipients.isEmpty())
        subject.recipient = QString::fromUtf8(mail.recipients.first());
    const bool isCopy = !subject.key.isEmpty() && m_stored.contains(subject.key);
    const auto possible = isCopy ? faultEffectsAt(FaultPoint::MailStore) : QList{FaultEffect::Reply};
    if (const std::optional<Fault> fault = m_faults->ask(FaultPoint::MailStore, subject, possible)) {
        if (fault->what == FaultEffect::Suppress)
            return "250 2.0.0 Ok: a copy, dropped (armed fault)";
        return QByteArray::number(fault->code) + ' ' + fault->text.toLatin1();
    }
    const Result<QString> id = m_maildir.store(mail);
    if (!id) {
        qCWarning(lcMailbox).noquote() << "a mail was not stored:" << id.error().text;
        return "451 4.3.0 the mail could not be stored";
    }
    remember(subject.key);
    Q_EMIT stored(id.value());
    return "250 2.0.0 Ok: queued as " + id->toLatin1();
}

/// For receivers that suppress copies: the newest ones, since this process began.
void LocalMailbox::remember(const QString &key)
{
    if (key.isEmpty() || m_stored.contains(key))
        return;
    if (m_storedInOrder.size() >= MaxRemembered)
        m_stored.remove(m_storedInOrder.takeFirst());
    m_stored.insert(key);
    m_storedInOrder.append(key);
}

void LocalMailbox::drop(QTcpSocket *socket)
{
    m_connections.remove(socket);
    socket->deleteLater();
}

} // namespace sendonce
