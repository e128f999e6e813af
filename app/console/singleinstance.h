#pragma once

#include <QLocalServer>
#include <QLockFile>
#include <QObject>

#include <memory>

namespace sendonce {

/// One console per data folder: `console.lock` in it says who. A second start asks the first to raise its window.
class SingleInstance : public QObject
{
    Q_OBJECT
public:
    explicit SingleInstance(const QString &dataDir, QObject *parent = nullptr);

    /// True: we are the first, and hear of others by raiseAsked().
    bool take();
    /// Asks the first one to come forward; false when it does not answer within a second.
    bool raiseOther() const;
    qint64 otherPid() const; ///< 0: not known

Q_SIGNALS:
    void raiseAsked();

private:
    QString m_socketPath;
    QLockFile m_lock;
    QLocalServer m_server;
};

} // namespace sendonce
