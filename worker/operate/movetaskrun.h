#pragma once

#include "worker/queue/sqsclient.h"
#include "worker/store/audit.h"
#include "worker/types.h"

#include <QObject>
#include <QTimer>
#include <QUrl>

#include <chrono>
#include <functional>

namespace sendonce {

/// The message move task of the dead letter queue: starts one, follows it to its end, cancels it. The endpoint does the
/// work; this asks how far it is once a second, and never while an answer is outstanding. Lives in the operator thread.
class MoveTaskRun : public QObject
{
    Q_OBJECT
public:
    /// Both outlive this.
    MoveTaskRun(SqsClient &client, Audit &audit, std::chrono::milliseconds interval = std::chrono::seconds(1),
                QObject *parent = nullptr);

    void setQueue(const QUrl &dlqUrl);
    /// \param perSecond 1 to 500; 0: as the service sees fit. It is in the audit before it begins and when it has
    /// ended.
    void start(int perSecond);
    void query(); ///< the newest one; while it is under way, until it is over
    void cancel(); ///< the one under way

Q_SIGNALS:
    void changed(const sendonce::MoveTaskProgress &progress);

private:
    void withArn(std::function<void()> then);
    void look();
    void take(const Result<QList<MoveTask>> &tasks);
    void tell(const MoveTaskProgress &progress);
    void fail(const QString &text, MoveTaskProgress::State state = MoveTaskProgress::State::Failed);

    SqsClient &m_client;
    Audit &m_audit;
    QUrl m_dlqUrl;
    QString m_arn; ///< of the DLQ, once asked
    QTimer m_timer;
    MoveTaskProgress m_progress;
    QString m_handle; ///< of the one under way
    bool m_isOurs = false; ///< started by this, and its end not yet in the audit
    bool m_isAsking = false;
};

} // namespace sendonce
