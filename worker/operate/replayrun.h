#pragma once

#include "worker/operate/browse.h"
#include "worker/operate/letterstore.h"
#include "worker/operate/outcomewatch.h"
#include "worker/operate/replaymachine.h"
#include "worker/queue/sqsclient.h"
#include "worker/store/audit.h"
#include "worker/store/journal.h"
#include "worker/store/keptletters.h"
#include "worker/store/replaylog.h"

#include <QObject>
#include <QTimer>

#include <functional>
#include <memory>

namespace sendonce {

/// What every replay stands on; all of it outlives the runs.
struct ReplayServices
{
    SqsClient &client;
    Journal &journal;
    ReplayLog &log;
    KeptLetterTable &kept;
    OutcomeWatch &watch;
    Audit &audit;
    QString profile;
    std::chrono::seconds longPoll{1}; ///< of a search
};

/// One replay (or deletion) of a frozen set: carries out what ReplayMachine decides, and keeps every step in the
/// journal, so that it can be gone on with after its process died. Lives in the operator thread.
class ReplayRun : public QObject
{
    Q_OBJECT
public:
    struct Letter
    {
        DeadLetter letter; ///< without body and attributes
        QString handle; ///< the newest one
        LetterStore::Place place; ///< of what is to be sent
        bool isEdited = false; ///< what is to be sent is not what lies in the DLQ
        QString replayedAs;
        ReplayItem::State state = ReplayItem::State::Sending;
        QString text;
    };
    struct Plan
    {
        QString act; ///< as in the audit: "replay", "delete", "edit"
        ReplayMachine::Settings settings;
        std::chrono::milliseconds canaryWithin{60'000}; ///< then it halts
        QUrl queueUrl, dlqUrl;
        QString text; ///< for the audit: what was asked, with which settings
    };
    ReplayRun(ReplayServices services, Plan plan, std::shared_ptr<LetterStore> store, QList<Letter> letters,
              QObject *parent = nullptr);

    /// Writes the set to the journal and begins. An error: nothing was begun.
    Result<void> start();
    /// Goes on with a run of the journal whose process has died.
    static Result<std::unique_ptr<ReplayRun>> taken(ReplayServices services, const ReplayLog::Run &run,
                                                    std::shared_ptr<LetterStore> store);
    void goOn(); ///< after taken()

    void pause();
    void resume();
    void cancel();
    void outcome(int row, const ReplayOutcome &outcome); ///< of a message of ours
    /// For the end of the process: begins nothing any more; rested() follows when all that is out is answered.
    void leave();
    struct Hidden
    {
        qsizetype letters = 0;
        std::chrono::seconds longest{0}; ///< then they are all visible again
    };
    /// What our locks hide, as far as is known.
    Hidden hidden() const;

    qint64 run() const { return m_run.run; }
    const Plan &plan() const { return m_plan; }
    const QList<Letter> &letters() const { return m_letters; }
    ReplayProgress progress() const;
    QList<ReplayItem> items() const; ///< as they are now
    /// Requests are out, or rows are left that will be begun without anybody's doing.
    bool isActive() const
    {
        const auto state = m_machine.state();
        return !m_machine.isIdle()
            || (!m_ended
                && (state == ReplayProgress::State::Running || state == ReplayProgress::State::AwaitingCanary));
    }
    bool isOver() const { return m_ended; } ///< outcomes may still be open
    bool isAtRest() const { return m_machine.isIdle() && m_unlocking == 0; } ///< no request is out

Q_SIGNALS:
    void itemsChanged(const QList<sendonce::ReplayItem> &items); ///< every step, in order, at most 20 times a second
    void progressChanged(const sendonce::ReplayProgress &progress);
    void ended(); ///< once: nothing more will be sent or deleted by this run
    void rested(); ///< after leave(), with everything told
    void failed(const QString &text); ///< the journal

private:
    void carryOut(const ReplayCommands &commands);
    void lock(const QList<int> &rows);
    void seek(const QList<int> &rows);
    void sought(const QList<int> &rows);
    void send(const QList<int> &rows);
    void note(const QList<int> &rows);
    Result<void> keepCopies(const QList<int> &rows);
    void remove(const QList<int> &rows);
    void unlock(const QList<int> &rows);
    void unlockBatch(const QList<int> &rows, const std::function<void()> &answered);
    void makeVisible();
    void restIfIdle();
    void told(const QList<int> &rows);
    void stateChanged();
    void save(const QList<int> &rows);
    void flush();
    ReplayItem itemOf(int row) const;
    ReplayLog::Row rowOf(int row) const;
    std::chrono::milliseconds now() const { return std::chrono::milliseconds(m_clock.elapsed()); }
    ReplayMachine::Entries entriesOf(const QList<int> &rows, const QList<BatchEntryResult> &results) const;

    ReplayServices m_services;
    Plan m_plan;
    std::shared_ptr<LetterStore> m_store;
    QList<Letter> m_letters;
    QHash<QString, int> m_rowOf; ///< MessageId -> row
    ReplayMachine m_machine;
    ReplayLog::Run m_run;
    std::unique_ptr<Browse> m_seek;
    QList<ReplayItem> m_items; ///< not emitted yet
    QTimer m_flushTimer, m_aliveTimer, m_canaryTimer;
    QElapsedTimer m_clock;
    QHash<int, std::chrono::milliseconds> m_locks; ///< row -> when its lock ends by itself
    int m_unlocking = 0; ///< batches
    bool m_leaving = false;
    bool m_ended = false;
    bool m_isTaken = false;
};

} // namespace sendonce
