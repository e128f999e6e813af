#pragma once

#include "worker/consume/lane.h"

#include <QHash>
#include <QList>

#include <mutex>
#include <optional>

namespace sendonce {

/// Where a consumer and its lanes meet: what waits for a lane, and what lanes have finished. A lane that is through
/// with a message takes the next one by itself and its report stays here until the consumer looks, so that a busy lane
/// waits for nobody and one wake-up is good for several deliveries. From any thread; both halves change under one
/// mutex, so that whoever looks finds each message with a lane or waiting, never both.
class Backlog
{
public:
    // The consumer's.
    /// In that order, until withdraw().
    /// \param tellAt the consumer wants to know, once, when only so many are left; less than none: that is no news
    void offer(QList<LaneOrder> items, int tellAt);
    struct Reservation
    {
        int lane = 0;
        QString messageId;
    };
    struct News
    {
        QList<LaneReport> reports; ///< oldest first; `next` says what its lane has taken instead
        QList<Reservation> reservations; ///< beside what their lanes still have in work; after the reports
    };
    /// Nothing can be taken any more.
    /// \return what has happened since the last time
    News withdraw();

    // A lane's.
    /// What it will do next, before it has finished. It is the `next` of finish(), or waits for any lane again.
    std::optional<LaneOrder> reserve(int lane);
    struct Finished
    {
        std::optional<LaneOrder> next; ///< the lane's now
        bool isUrgent = false; ///< the consumer should look at once
    };
    Finished finish(LaneReport report);
    /// False: the consumer knows of everything here.
    bool hasNews() const;

private:
    std::optional<LaneOrder> take();

    mutable std::mutex m_mutex;
    QList<LaneOrder> m_items;
    qsizetype m_taken = 0; ///< of them
    int m_tellAt = 0;
    QList<LaneReport> m_reports;
    struct Reserved
    {
        LaneOrder item;
        bool isTold = false;
    };
    QHash<int, Reserved> m_reserved; ///< by lane
};

} // namespace sendonce
