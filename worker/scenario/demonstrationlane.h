#pragma once

#include "worker/queue/sqsclient.h"
#include "worker/scenario/demonstrationdelivery.h"
#include "worker/scenario/demonstrationworker.h"
#include "worker/types.h"

#include <QObject>
#include <QPointer>
#include <QUrl>

#include <memory>

namespace sendonce {

/// What a DemonstrationWorker does in its thread: receive one message, handle it, delete it, and again. Blocks the
/// thread while it handles.
class DemonstrationLane : public QObject
{
    Q_OBJECT
public:
    DemonstrationLane(const QUrl &queueUrl, SqsSettings queue, DemonstrationServices services,
                      DemonstrationDesign design);

    void start();
    void stop(); ///< stopped()

Q_SIGNALS:
    void stopped();
    void inHandChanged(int messages);
    void logged(const sendonce::LogLine &line);

private:
    void receive();
    void handle(const Message &message);
    bool handled(const Message &message);
    void remove(const Message &message);
    void diedAt(FaultPoint point, const Message &message);
    void log(LogLevel level, const QString &text, const Message &message);
    bool isStopped() const { return *m_services.stop; }

    const QUrl m_queueUrl;
    const SqsSettings m_queue;
    DemonstrationServices m_services;
    const DemonstrationDesign m_design;
    std::unique_ptr<SqsClient> m_client; ///< from start() on
    QPointer<SqsCall> m_receive;
};

} // namespace sendonce
