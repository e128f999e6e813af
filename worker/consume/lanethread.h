#pragma once

#include "worker/consume/backlog.h"
#include "worker/consume/lane.h"
#include "worker/wait/fibers.h"

#include <QList>
#include <QThread>

#include <memory>
#include <mutex>
#include <vector>

namespace sendonce {

/// A thread and the lanes that share it. While one of them waits for a server the others work, so that a thread is
/// enough for dozens; where waiting blocks the thread (SQLite, TLS), it has one lane only. A lane is given its first
/// message; further ones it takes from the Backlog, where its reports lie.
class LaneThread : public QThread
{
    Q_OBJECT
public:
    struct Order
    {
        int lane = 0;
        LaneOrder order;
    };

    /// How many lanes one thread may carry under these settings.
    static int lanesOfOne(const LaneSettings &settings);

    /// \param first the number of its first lane; they count on from there
    LaneThread(const LaneSettings &settings, std::shared_ptr<Backlog> backlog, int first, int lanes,
               QObject *parent = nullptr);
    ~LaneThread() override; ///< waits for what its lanes have in work

    // From any thread.
    void end(); ///< once what is in work has ended; the destructor waits for it
    void deliver(QList<Order> orders); ///< their lanes are free
    /// An order is likely to come: who sleeps wakes up now, and stays awake for a moment.
    void rouse();
    void awaitDatabase(int lane); ///< with that lane, which is free, until databaseBack() or a stop

Q_SIGNALS:
    void reported(); ///< there is something in the Backlog to look at; not for each report
    void databaseBack();

protected:
    void run() override;

private:
    Lane &lane(int number) { return *m_lanes[size_t(number - m_first)]; }
    bool takeOrders(); ///< false: there were none
    void stayAwake();
    void work(int number, LaneOrder order);
    void tell();
    void rest();
    void close();
    std::optional<Fibers::Clock::time_point> nextDue() const; ///< for rest() or tell()

    const LaneSettings m_settings;
    const std::shared_ptr<Backlog> m_backlog;
    const int m_first;
    const int m_count;

    std::mutex m_mutex;
    QList<Order> m_orders; ///< new ones
    int m_awaits = 0; ///< the lane that is to await the database; 0: none
    bool m_roused = false; ///< and no order has come since
    bool m_ending = false;

    Fibers m_fibers;
    // Of the thread alone.
    std::vector<std::unique_ptr<Lane>> m_lanes;
    std::optional<Fibers::Clock::time_point> m_tellBy; ///< of reports: at the latest
    bool m_isBack = false; ///< the database, not told yet
};

} // namespace sendonce
