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
    if (m_held)
        return;
    while (!m_waiting.isEmpty()) {
        const QList<Item> batch = m_waiting.mid(0, BatchSize);
        m_waiting.remove(0, batch.size());
        send(batch);
    }
}

void Acknowledger::hold()
{
    m_held = true;
    m_givingUp = false;
}

void Acknowledger::release()
{
    m_held = false;
    m_givingUp = false;
    flush();
}

void Acknowledger::giveUpHolding()
{
    m_givingUp = true;
    m_held = false;
    flush();
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
    --m_underWay;
    if (!result && !m_givingUp && SqsClient::refusesKeys(result.error(), false)) {
        holdAgain(batch, result.error());
        return;
    }
    QStringList done;
    QMap<QString, QStringList> givenUp; // by what the queue says
    for (qsizetype i = 0; i < batch.size(); ++i) {
        const Item &item = batch[i];
        if (!result) {
            if ((m_givingUp && SqsClient::refusesKeys(result.error(), false)) || !retry(item))
                givenUp[result.error().text].append(item.messageId);
            continue;
        }
        const QString id = QString::number(i);
        const auto entry =
            std::find_if(result->cbegin(), result->cend(), [&id](const auto &each) { return each.id == id; });
        const bool answered = entry != result->cend();
        if (answered && entry->ok)
            done.append(item.messageId);
        else if ((answered && entry->senderFault) || !retry(item))
            givenUp[answered ? entry->text : QStringLiteral("the queue's answer leaves it out")].append(item.messageId);
    }
    for (auto each = givenUp.cbegin(); each != givenUp.cend(); ++each)
        Q_EMIT failed(each.value(), each.key());
    if (!done.isEmpty())
        Q_EMIT deleted(done);
    if (idle())
        Q_EMIT becameIdle();
}

void Acknowledger::holdAgain(const QList<Item> &batch, const Error &error)
{
    m_waiting = batch + m_waiting;
    m_held = true;
    Q_EMIT keysRefused(error);
}

/// False when it was tried often enough.
bool Acknowledger::retry(Item item)
{
    if (++item.attempts >= MaxAttempts)
        return false;
    ++m_underWay;
    QTimer::singleShot(RetryAfter * item.attempts, this, [this, item] {
        --m_underWay;
        m_waiting.append(item);
        flush();
    });
    return true;
}

} // namespace sendonce
