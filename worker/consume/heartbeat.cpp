#include "worker/consume/heartbeat.h"

#include <algorithm>

namespace sendonce {

using namespace std::chrono_literals;

Heartbeat::Heartbeat(SqsClient &client, QUrl queueUrl, std::chrono::seconds visibility, std::chrono::milliseconds bound,
                     QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_queueUrl(std::move(queueUrl))
    , m_visibility(visibility)
    , m_bound(bound)
{
    // Looks four times in each half: a message is extended between V/2 and 5/8 V after its receive.
    m_timer.setInterval(std::max<std::chrono::milliseconds>(50ms, visibility / 8));
    connect(&m_timer, &QTimer::timeout, this, &Heartbeat::beat);
}

qint64 Heartbeat::nowMsec()
{
    return std::chrono::steady_clock::now().time_since_epoch() / 1ms;
}

void Heartbeat::hold(const QString &messageId, const QString &receiptHandle)
{
    m_held.insert(messageId, {receiptHandle, nowMsec(), nowMsec()});
    if (!m_timer.isActive() && m_visibility > 0s && m_bound > 0ms)
        m_timer.start();
}

void Heartbeat::renew(const QString &messageId, const QString &receiptHandle)
{
    const auto held = m_held.find(messageId);
    if (held == m_held.end())
        return;
    held->receiptHandle = receiptHandle;
    held->extendedMsec = nowMsec();
}

QString Heartbeat::release(const QString &messageId)
{
    const QString handle = m_held.take(messageId).receiptHandle;
    if (m_held.isEmpty())
        m_timer.stop();
    return handle;
}

void Heartbeat::resume()
{
    m_paused = false;
    beat();
}

void Heartbeat::beat()
{
    if (m_paused)
        return;
    const qint64 now = nowMsec();
    const qint64 half = m_visibility / 2ms;
    QList<VisibilityEntry> due;
    QStringList ids;
    for (auto held = m_held.begin(); held != m_held.end() && due.size() < 10; ++held) {
        if (now - held->extendedMsec < half || now - held->sinceMsec > m_bound.count())
            continue;
        held->extendedMsec = now;
        due.append({QString::number(due.size()), held->receiptHandle, m_visibility});
        ids.append(held.key());
    }
    if (due.isEmpty())
        return;
    m_client.changeVisibilityBatch(m_queueUrl, due, this, [this, ids](const Result<QList<BatchEntryResult>> &result) {
        if (!result && SqsClient::refusesKeys(result.error(), false)) {
            for (const QString &id : ids) {
                if (const auto held = m_held.find(id); held != m_held.end())
                    held->extendedMsec = held->sinceMsec; // due again at once
            }
            m_paused = true;
            Q_EMIT keysRefused(result.error());
            return;
        }
        for (qsizetype i = 0; i < ids.size(); ++i) {
            if (!result) {
                Q_EMIT failed(ids[i], result.error().text);
                continue;
            }
            for (const auto &entry : result.value()) {
                if (entry.id == QString::number(i) && !entry.ok)
                    Q_EMIT failed(ids[i], entry.text);
            }
        }
    });
    if (due.size() == 10)
        QMetaObject::invokeMethod(this, &Heartbeat::beat, Qt::QueuedConnection);
}

} // namespace sendonce
