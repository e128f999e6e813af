#pragma once

#include <QObject>
#include <QSocketNotifier>

#include <memory>

namespace sendonce {

/// Turns SIGINT, SIGTERM and SIGHUP into a Qt signal. One per process, made in the main thread.
class StopSignals : public QObject
{
    Q_OBJECT
public:
    explicit StopSignals(QObject *parent = nullptr);

Q_SIGNALS:
    void asked(int signal);

private:
    std::unique_ptr<QSocketNotifier> m_notifier;
};

} // namespace sendonce
