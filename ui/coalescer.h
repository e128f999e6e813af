#pragma once

#include <QObject>
#include <QTimer>

#include <chrono>

namespace sendonce {

/// Turns a burst of calls into at most one signal per interval. 50 ms is the 20 updates a second of console.md.
class Coalescer : public QObject
{
    Q_OBJECT
public:
    explicit Coalescer(std::chrono::milliseconds interval, QObject *parent) : QObject(parent)
    {
        m_timer.setSingleShot(true);
        m_timer.setInterval(interval);
        connect(&m_timer, &QTimer::timeout, this, &Coalescer::due);
    }
    void schedule()
    {
        if (!m_timer.isActive())
            m_timer.start();
    }

Q_SIGNALS:
    void due();

private:
    QTimer m_timer;
};

constexpr std::chrono::milliseconds UpdateInterval{50};

} // namespace sendonce
