#pragma once

#include "worker/queue/sqsclient.h"

#include <QHash>
#include <QObject>
#include <QTimer>
#include <QUrl>

#include <chrono>

namespace sendonce {

/// Keeps the messages in hand hidden: at half the visibility timeout V, then again each V/2, ChangeMessageVisibility to
/// the full V; at most until `bound` after the receive (0: never), or a hung lane would hide its message for 12 hours.
/// Also keeps the newest receipt handle of each message in hand. Lives in the worker thread.
class Heartbeat : public QObject
{
    Q_OBJECT
public:
    Heartbeat(SqsClient &client, QUrl queueUrl, std::chrono::seconds visibility, std::chrono::milliseconds bound,
              QObject *parent = nullptr);

    void hold(const QString &messageId, const QString &receiptHandle);
    /// The newest handle per message is the one that counts.
    void renew(const QString &messageId, const QString &receiptHandle);
    /// The queue refuses our keys: nothing is extended until resume().
    void pause() { m_paused = true; }
    void resume();
    /// The handle to settle the message with; it is not extended any more.
    QString release(const QString &messageId);

Q_SIGNALS:
    void failed(const QString &messageId, const QString &text);
    void keysRefused(const sendonce::Error &error); ///< it pauses already

private:
    struct Held
    {
        QString receiptHandle;
        qint64 sinceMsec = 0;
        qint64 extendedMsec = 0;
    };
    void beat();
    static qint64 nowMsec();

    SqsClient &m_client;
    QUrl m_queueUrl;
    std::chrono::seconds m_visibility;
    std::chrono::milliseconds m_bound;
    QHash<QString, Held> m_held;
    QTimer m_timer;
    bool m_paused = false;
};

} // namespace sendonce
