#pragma once

#include "worker/result.h"

#include <QObject>
#include <QString>
#include <QUrl>

#include <memory>

namespace sendonce {

struct LocalSettings
{
    QString dataDir; ///< absolute; exists, 0700
    quint16 sqsPort = 9324; ///< 0: any free one
    bool sqsPortExplicit = false; ///< asked for by the user: taken is an error (Unreachable), else a free one is used
    quint16 smtpPort = 1025;
    bool smtpPortExplicit = false;
    int visibilityTimeoutSeconds = 30; ///< of job-board-events when it is created
    int maxReceiveCount = 3;
};

/// Where the embedded services listen; what local.json says and `sendoncectl local` prints.
struct LocalAddresses
{
    QString id; ///< random, answered by GET /_sendonce/id
    qint64 pid = 0;
    quint16 sqsPort = 0;
    quint16 smtpPort = 0;
    QString controlSocket; ///< where faults are armed
    QUrl endpoint() const; ///< http://127.0.0.1:9324
    QUrl queueUrl() const; ///< …/000000000000/job-board-events
    QUrl dlqUrl() const;
    QUrl mailUrl() const; ///< smtp://127.0.0.1:1025
    bool operator==(const LocalAddresses &) const = default;
};

/// The embedded queue and mailbox of one data folder, on a thread of their own. Takes local.lock, writes local.json
/// (0600).
class LocalServices : public QObject
{
    Q_OBJECT
public:
    explicit LocalServices(QObject *parent = nullptr);
    ~LocalServices() override; ///< stops

    /// Blocks until both listen (or not). Refused: another process has local.lock (the text names its pid).
    Result<LocalAddresses> start(const LocalSettings &settings);
    /// Closes both ports, waits for the thread. Twice is fine.
    void stop();

    /// How many messages lie in the queue and in its dead letter queue, visible or not: counted(), a little later.
    /// Asked beside the wire, so that no fault strikes it. Nothing while they do not run.
    void count();

    /// What local.json of a folder says, if its process is alive and answers with the same id within 1 s (blocking,
    /// plain socket); NotFound otherwise.
    static Result<LocalAddresses> find(const QString &dataDir);

Q_SIGNALS:
    void counted(int queue, int deadLetters);

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace sendonce
