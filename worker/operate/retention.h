#pragma once

#include "worker/config.h"
#include "worker/queue/sqsclient.h"
#include "worker/store/audit.h"
#include "worker/store/database.h"
#include "worker/store/forgetting.h"
#include "worker/types.h"

#include <QObject>
#include <QTimer>

#include <chrono>
#include <memory>
#include <optional>

namespace sendonce {

/// How long claims are kept (spec.md, rule 10).
struct KeptFor
{
    int days = 0;
    QString warning; ///< more than was asked for, and why
};

/// Never less than the queue keeps a message and its dead letter queue twice: a redrive gives it a fresh retention, and
/// it may die again. \param dlq 0: there is none
KeptFor keptFor(int wantedDays, std::chrono::seconds queue, std::chrono::seconds dlq);

/// Forgets what is too old, batch by batch, with a pause behind each that is longer than the batch was, so that the
/// lanes hardly feel it. Lives in the operator thread: its SQL blocks that thread for a batch at a time.
///
/// By schedule once a day. Such a walk ends where `YoungRowsAtTheEnd` rows in a row were young, for behind them hardly
/// anything is old; what lies there is found when all before it has become old. By hand the whole table is walked, so
/// that what was previewed goes.
class Retention : public QObject
{
    Q_OBJECT
public:
    struct Times
    {
        std::chrono::milliseconds first{std::chrono::minutes(5)}; ///< until the first clean-up, and up to twice of it
        std::chrono::milliseconds every{std::chrono::hours(24)}; ///< a twentieth more or less
        std::chrono::milliseconds shortestPause{20}; ///< between two batches
    };
    static constexpr int YoungRowsAtTheEnd = 10'000;

    /// All of them outlive this.
    Retention(SqsClient &client, Database &database, Database &journal, Audit &audit, const Config &config, Times times,
              QObject *parent = nullptr);
    ~Retention() override;

    void setQueues(const QUrl &queueUrl, const QUrl &dlqUrl);
    void schedule(); ///< once more: nothing
    /// By hand: previewed(), and done(), with `error` set when it could not be. \param spared event ids that stay
    void preview(const QStringList &spared);
    void clean(const QStringList &spared);

Q_SIGNALS:
    void previewed(const sendonce::CleanUp &report);
    void done(const sendonce::CleanUp &report);

private:
    enum class Kind { Preview, ByHand, Scheduled };
    struct Run;
    void begin(Kind kind, const QStringList &spared);
    void askQueue();
    void askDeadLetterQueue();
    void bounded();
    void nextBatch();
    void nextJournalBatch();
    void goOn(void (Retention::*next)());
    void end(const QString &error = {});

    SqsClient &m_client;
    Database &m_database;
    Database &m_journal;
    Audit &m_audit;
    const Config m_config;
    const Times m_times;
    Forgetting m_claims;
    QUrl m_queueUrl, m_dlqUrl;
    QTimer m_due;
    QTimer m_pause;
    std::unique_ptr<Run> m_run; ///< while one runs
};

} // namespace sendonce
