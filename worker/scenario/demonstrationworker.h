#pragma once

#include "worker/result.h"
#include "worker/scenario/demonstrationdelivery.h"
#include "worker/types.h"

#include <QObject>
#include <QString>
#include <QThread>

#include <atomic>
#include <memory>

namespace sendonce {

class DemonstrationLane;
class World;

/// One of the designs that fail.
using DemonstrationDesign = void (*)(DemonstrationDelivery &);

/// A worker that follows a design that fails, one message at a time, in a thread of its own. It takes its services from
/// a World, which has embedded ones alone: there is no way to point it at anything else.
class DemonstrationWorker : public QObject
{
    Q_OBJECT
public:
    /// \param world is open, and outlives this
    /// \param keys of all workers of the world
    DemonstrationWorker(const World &world, DemonstrationDesign design, std::shared_ptr<ExpiringKeys> keys,
                        QObject *parent = nullptr);
    ~DemonstrationWorker() override; ///< stops, and waits

    void start(); ///< once
    void stop(); ///< what is in work ends first, before its mail's final dot without it; then stopped()

Q_SIGNALS:
    void stopped();
    void inHandChanged(int messages); ///< received and not yet settled
    void logged(const sendonce::LogLine &line);

private:
    std::shared_ptr<std::atomic_bool> m_stop = std::make_shared<std::atomic_bool>(false);
    QThread m_thread;
    DemonstrationLane *m_lane = nullptr; ///< lives in m_thread, which deletes it
};

} // namespace sendonce
