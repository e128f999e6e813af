#pragma once

#include "worker/local/localqueues.h"

#include <QTest>

#include <map>
#include <random>

/// LocalQueues with a clock and a die of the test's own, and what a store would hold of them.
class QueueWorld
{
public:
    explicit QueueWorld(quint64 seed = 1) : m_random(seed) { restart(); }

    sendonce::local::LocalQueues &queues() { return *m_queues; }
    qint64 now() const { return m_now.steady; }

    void advance(std::chrono::milliseconds by)
    {
        m_now.steady += by.count();
        m_now.wall += by.count();
        m_queues->advance(m_now);
    }
    void setWallOffset(std::chrono::milliseconds offset)
    {
        m_now.wall = m_now.steady + offset.count();
        m_queues->advance(m_now);
    }

    /// One operation, one turn.
    sendonce::local::SqsReply apply(const sendonce::local::SqsRequest &request)
    {
        sendonce::local::SqsReply reply = m_queues->apply(request);
        commit();
        return reply;
    }
    void commit()
    {
        for (const sendonce::local::QueueChange &change : m_queues->changes())
            keep(change);
        m_queues->commit();
        // The process always ends before it has thrown anything away.
        m_queues->takeGarbage();
    }

    /// The result of an operation that must succeed.
    template <typename Result>
    Result ok(const sendonce::local::SqsRequest &request)
    {
        const sendonce::local::SqsReply reply = apply(request);
        if (const auto *error = std::get_if<sendonce::local::SqsError>(&reply)) {
            QTest::qFail(qPrintable((error->shape + QStringLiteral(": ") + error->message)), __FILE__, __LINE__);
            return {};
        }
        const auto *result = std::get_if<Result>(&std::get<sendonce::local::SqsResult>(reply));
        if (!result) {
            QTest::qFail("another kind of result", __FILE__, __LINE__);
            return {};
        }
        return *result;
    }
    /// The error of an operation that must fail; it must have changed nothing.
    sendonce::local::SqsError error(const sendonce::local::SqsRequest &request)
    {
        const sendonce::local::SqsReply reply = m_queues->apply(request);
        if (!m_queues->changes().empty())
            QTest::qFail("a failed operation has changed something", __FILE__, __LINE__);
        commit();
        const auto *error = std::get_if<sendonce::local::SqsError>(&reply);
        if (!error) {
            QTest::qFail("the operation has succeeded", __FILE__, __LINE__);
            return {};
        }
        return *error;
    }

    /// A new process on what the store holds; the steady clock starts at the wall's time again.
    void restart()
    {
        m_now.steady = m_now.wall;
        m_queues.emplace([this] { return m_random(); });
        m_queues->advance(m_now);
        for (const auto &[number, queue] : m_storedQueues)
            m_queues->restore(queue);
        for (const auto &[row, message] : m_messages)
            m_queues->restore(message);
        for (const auto &[number, task] : m_tasks)
            m_queues->restore(task);
        m_queues->advance(m_now);
    }

private:
    void keep(const sendonce::local::QueueChange &change)
    {
        using namespace sendonce::local;
        if (const auto *put = std::get_if<PutQueue>(&change))
            m_storedQueues.insert_or_assign(put->queue.number, put->queue);
        else if (const auto *removedQueue = std::get_if<RemoveQueue>(&change))
            m_storedQueues.erase(removedQueue->number);
        else if (const auto *insert = std::get_if<InsertMessage>(&change))
            m_messages.insert_or_assign(insert->message.row, insert->message);
        else if (const auto *update = std::get_if<UpdateMessage>(&change))
            m_messages.at(update->message.row) = update->message;
        else if (const auto *removed = std::get_if<RemoveMessage>(&change))
            m_messages.erase(removed->row);
        else if (const auto *renew = std::get_if<RenewMessage>(&change)) {
            m_messages.erase(renew->oldRow);
            m_messages.insert_or_assign(renew->message.row, renew->message);
        } else if (const auto *task = std::get_if<PutMoveTask>(&change))
            m_tasks.insert_or_assign(task->task.number, task->task);
        else if (const auto *removedTask = std::get_if<RemoveMoveTask>(&change))
            m_tasks.erase(removedTask->number);
    }

    std::mt19937_64 m_random;
    sendonce::local::QueueTime m_now{1'700'000'000'000, 1'700'000'000'000};
    std::optional<sendonce::local::LocalQueues> m_queues;
    std::map<quint32, sendonce::local::StoredQueue> m_storedQueues;
    std::map<qint64, sendonce::local::StoredMessage> m_messages;
    std::map<qint64, sendonce::local::MoveTask> m_tasks;
};
