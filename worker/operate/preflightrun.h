#pragma once

#include "worker/config.h"
#include "worker/operate/preflight.h"
#include "worker/queue/sqsclient.h"
#include "worker/types.h"

#include <QObject>

#include <atomic>
#include <memory>

namespace sendonce {

/// Checks the services once: gathers the facts, emits each line as soon as it is known, at last finished(), once. Needs
/// an event loop, and blocks it for the database and for up to 5 s for the mail server, so it belongs to the operator
/// thread or to a program that does nothing else. Receives nothing, sends nothing, makes no file.
class PreflightRun : public QObject
{
    Q_OBJECT
public:
    /// \param stop set from any thread, it ends the wait for the mail server; lives longer than this
    PreflightRun(Config config, const std::atomic_bool &stop, QObject *parent = nullptr);
    ~PreflightRun() override;

    void start(); ///< once

Q_SIGNALS:
    void line(const sendonce::CheckLine &line);
    void finished();

private:
    void tell(const QList<CheckLine> &lines);
    void checkFolder();
    void checkDatabase();
    void checkMail();
    void askForQueue();
    void tryPermissions();
    void askForDeadLetterQueue();
    void askForDeadLetterAttributes();
    void tryDeadLetterPermissions();
    void tellDeadLetterQueue();
    void tellTimeOuts();

    const Config m_config;
    std::unique_ptr<SqsClient> m_client;
    preflight::QueueLook m_queue, m_dlq;
    QUrl m_dlqUrl;
    const std::atomic_bool &m_stop;
    bool m_started = false;
};

} // namespace sendonce
