#include "worker/consume/acknowledger.h"

#include <algorithm>

namespace sendonce {

using namespace std::chrono_literals;

namespace {

constexpr qsizetype BatchSize = 10; // DeleteMessageBatch takes no more
constexpr auto FlushAfter = 20ms;
constexpr int MaxAttempts = 3;
constexpr auto RetryAfter = 500ms;

} // namespace

Acknowledger::Acknowledger(SqsClient &client, QUrl queueUrl, QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_queueUrl(std::move(queueUrl))
{
    m_flushTimer.setSingleShot(true);
    m_flushTimer.setInterval(FlushAfter);
    connect(&m_flushTimer, &QTimer::timeout, this, &Acknowledger::flush);
}

void Acknowledger::acknowledge(const QString &messageId, const QString &receiptHandle)
{
    m_waiting.append({messageId, receiptHandle, 0});
    if (m_waiting.size() >= BatchSize)
        flush();
    else if (!m_flushTimer.isActive())
        m_flushTimer.start();
}

void Acknowledger::flush()
{
    m_flushTimer.stop();
    while (!m_waiting.isEmpty()) {
        const QList<Item> batch = m_waiting.mid(0, BatchSize);
        m_waiting.remove(0, batch.size());
        send(batch);
    }
}

void Acknowledger::send(const QList<Item> &batch)
{
    QList<DeleteEntry> entries;
    for (qsizetype i = 0; i < batch.size(); ++i)
        entries.append({QString::number(i), batch[i].receiptHandle});
    ++m_underWay;
    m_client.deleteBatch(m_queueUrl, entries, this,
                         [this, batch](const Result<QList<BatchEntryResult>> &result) { settled(batch, result); });
}

void Acknowledger::settled(const QList<Item> &batch, const Result<QList<BatchEntryResult>> &result)
{
    QStringList done;
    for (qsizetype i = 0; i < batch.size(); ++i) {
        if (!result) {
            retry(batch[i], result.error().text);
            continue;
        }
        const QString id = QString::number(i);
        const auto entry =
            std::find_if(result->cbegin(), result->cend(), [&id](const auto &each) { return each.id == id; });
        if (entry != result->cend() && entry->ok)
            done.append(batch[i].messageId);
        else if (entry != result->cend() && entry->senderFault)
            Q_EMIT failed(batch[i].messageId, entry->text);
        else
            retry(batch[i], entry != result->cend() ? entry->text : QStringLiteral("the queue's answer leaves it out"));
    }
    if (!done.isEmpty())
        Q_EMIT deleted(done);
    --m_underWay;
    if (idle())
        Q_EMIT becameIdle();
}

void Acknowledger::retry(Item item, const QString &text)
{
    if (++item.attempts >= MaxAttempts) {
        Q_EMIT failed(item.messageId, text);
        return;
    }
    ++m_underWay;
    QTimer::singleShot(RetryAfter * item.attempts, this, [this, item] {
        --m_underWay;
        m_waiting.append(item);
        flush();
    });
}

} // namespace sendonce
