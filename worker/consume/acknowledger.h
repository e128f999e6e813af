#pragma once

#include "worker/queue/sqsclient.h"

#include <QObject>
#include <QTimer>
#include <QUrl>

#include <chrono>

namespace sendonce {

/// Deletes what is done, in batches of 10: flushed at 10 or after 20 ms, so that a delete never holds a lane up. Walks
/// each batch's Failed list: what the server is to blame for is tried again, the rest is told. Lives in the worker
/// thread.
class Acknowledger : public QObject
{
    Q_OBJECT
public:
    Acknowledger(SqsClient &client, QUrl queueUrl, QObject *parent = nullptr);

    void acknowledge(const QString &messageId, const QString &receiptHandle);
    /// What waits goes now, unless held.
    void flush();
    /// The queue refuses our keys: what is to be deleted waits until release().
    void hold();
    void release();
    /// Nobody is there to wait for the keys: what is held goes once more, and what is refused then is given up on.
    void giveUpHolding();
    bool idle() const { return m_waiting.isEmpty() && m_underWay == 0; }

Q_SIGNALS:
    void deleted(const QStringList &messageIds);
    /// Given up on: the messages come again and are skipped as duplicates.
    void failed(const QStringList &messageIds, const QString &text);
    void keysRefused(const sendonce::Error &error); ///< it holds already
    void becameIdle();

private:
    struct Item
    {
        QString messageId;
        QString receiptHandle;
        int attempts = 0;
    };
    void send(const QList<Item> &batch);
    void settled(const QList<Item> &batch, const Result<QList<BatchEntryResult>> &result);
    bool retry(Item item);
    void holdAgain(const QList<Item> &batch, const Error &error);

    SqsClient &m_client;
    QUrl m_queueUrl;
    QList<Item> m_waiting;
    int m_underWay = 0; ///< batches on the wire and items waiting for their retry
    QTimer m_flushTimer;
    bool m_held = false;
    bool m_givingUp = false;
};

} // namespace sendonce
