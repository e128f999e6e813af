#pragma once

#include "worker/queue/awscredentials.h"
#include "worker/queue/awskeyreplies.h"
#include "worker/result.h"

#include <QByteArray>
#include <QObject>
#include <QTimer>

#include <chrono>
#include <functional>

class QProcess;

namespace sendonce {

class HttpClient;
class HttpExchange;

/// Carries out one plan: runs its program, without a shell, then assumes its roles one after another. Asynchronous;
/// owned by whoever wants the keys. Destroyed before its end it kills the program and drops the request.
///
/// Errors: Refused (the program failed, or STS said no), Unreachable, Throttled, Protocol.
class KeyFetch final : public QObject
{
    Q_OBJECT
public:
    using Done = std::function<void(Result<awskeys::TimedKeys>)>;

    /// \param http must outlive the fetch
    /// \param limit of each step
    KeyFetch(AwsKeyPlan plan, HttpClient *http, std::chrono::milliseconds limit, QObject *parent);
    ~KeyFetch() override;

    /// `done` runs once, never before start() has returned, and may call deleteLater().
    void start(Done done);

private:
    void runProcess();
    void processEnded(bool crashed, int exitCode);
    void next();
    void assumeRole();
    void replied();
    void end(const Result<awskeys::TimedKeys> &result);
    QString processName() const;

    AwsKeyPlan m_plan;
    HttpClient *m_http;
    std::chrono::milliseconds m_limit;
    Done m_done; ///< empty after the end
    awskeys::TimedKeys m_keys; ///< so far
    qsizetype m_role = 0; ///< the next one
    QProcess *m_process = nullptr;
    HttpExchange *m_exchange = nullptr; ///< a child
    QTimer m_timer;
    QByteArray m_received; ///< from the program; secret
};

} // namespace sendonce
