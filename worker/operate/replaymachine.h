#pragma once

#include "worker/types.h"

#include <QList>
#include <QString>

#include <chrono>

namespace sendonce {

/// What a replay (or a deletion) does next; several may come from one step, in order.
struct ReplayCommand
{
    enum class Kind {
        Lock, ///< hide these rows for 300 s, with their newest handles
        Seek, ///< look for these rows' messages in the DLQ again
        Send, ///< to the source queue, as they are
        Note, ///< replay: write what they were sent as to the journal; deletion: keep their copies
        Delete, ///< the dead ones
        Unlock, ///< these stay in the DLQ: make them visible
        Tell, ///< state and text of these rows are new
        Wait, ///< call waited() after `wait`
        StateChanged, ///< state() and text() are new
    };
    Kind kind = Kind::StateChanged;
    QList<int> rows;
    std::chrono::milliseconds wait{0};

    bool operator==(const ReplayCommand &) const = default;
};
using ReplayCommands = QList<ReplayCommand>;

/// In which order dead letters are replayed: lock, send, note, delete, never another; a crash between send and delete
/// leaves a copy, which the claim absorbs. Batches of up to 10 and 1 MiB, several under way at once; one first as a
/// canary; no more than so many a second; halts when a queue or the journal fails, or after so many failures. No I/O,
/// no clock: the time is a parameter, of any steady clock.
class ReplayMachine
{
public:
    enum class Act { Replay, Delete };
    struct Settings
    {
        Act act = Act::Replay;
        bool canary = false;
        int stopAfter = 0; ///< failures, a copy left is one; 0: never
        double perSecond = 0; ///< 0: as fast as it goes
        int batches = 8; ///< under way at once
    };
    struct Row
    {
        qint64 bytes = 0; ///< body and attributes
        Verdict verdict = Verdict::NotHandled;
        /// Sending: to be done. CopyLeft: was sent before a crash, its dead copy is only to be deleted. Anything else:
        /// over.
        ReplayItem::State state = ReplayItem::State::Sending;
        QString text;
        bool canBeSent = true; ///< its body is at hand; else it is sought first
    };
    using RunState = ReplayProgress::State;

    ReplayMachine(Settings settings, QList<Row> rows);

    ReplayCommands start(std::chrono::milliseconds now);
    ReplayCommands pause();
    ReplayCommands resume(std::chrono::milliseconds now); ///< also after Halted
    ReplayCommands cancel();
    ReplayCommands waited(std::chrono::milliseconds now);

    /// What became of one row in a batch; text: why not.
    struct Entry
    {
        int row = 0;
        bool ok = false;
        QString text;
    };
    using Entries = QList<Entry>;
    /// A refused one is sought again: somebody else has received it since.
    ReplayCommands locked(const Entries &entries, std::chrono::milliseconds now);
    ReplayCommands sent(const Entries &entries, std::chrono::milliseconds now);
    ReplayCommands noted(const QList<int> &rows, const QString &error, std::chrono::milliseconds now);
    ReplayCommands deleted(const Entries &entries, std::chrono::milliseconds now);
    /// The request as a whole failed: nothing is known of any of its rows.
    ReplayCommands lockFailed(const QList<int> &rows, const QString &error);
    ReplayCommands sendFailed(const QList<int> &rows, const QString &error);
    struct Sought
    {
        int row = 0;
        enum class Where {
            Here, ///< found, with a new handle
            Gone, ///< not in the DLQ
            Replayed, ///< not in the DLQ, for another run has replayed it
        };
        Where where = Where::Gone;
        QString text;
        qint64 bytes = 0; ///< when Here
    };
    ReplayCommands sought(const QList<Sought> &rows, const QString &error, std::chrono::milliseconds now);
    /// Seen in journal or claims, after deleted(): Mailed, Skipped or DeadAgain.
    ReplayCommands outcome(int row, ReplayItem::State state, const QString &text, std::chrono::milliseconds now);
    /// No worker has shown an outcome of the canary for too long.
    ReplayCommands canaryTimedOut(const QString &text);

    RunState state() const { return m_state; }
    const QString &text() const { return m_text; } ///< why halted
    const QList<Row> &rows() const { return m_rows; }
    bool isIdle() const { return m_underWay == 0 && !m_seeking; } ///< no request is out
    ReplayProgress progress() const; ///< without run, startedAt and by

private:
    enum class Step { Waiting, ToSeek, Seeking, UnderWay, Over };
    void next(ReplayCommands &commands, std::chrono::milliseconds now);
    void tell(ReplayCommands &commands, const QList<int> &rows, ReplayItem::State state, const QString &text);
    void fail(ReplayCommands &commands, int row, const QString &text);
    void halt(ReplayCommands &commands, const QString &text);
    void setState(ReplayCommands &commands, RunState state, const QString &text = {});
    void seekMore(ReplayCommands &commands);
    void batchOver(ReplayCommands &commands, std::chrono::milliseconds now);
    void finishIfDone(ReplayCommands &commands);
    void countFailure(ReplayCommands &commands);
    bool isExpected(int row) const;

    Settings m_settings;
    QList<Row> m_rows;
    QList<Step> m_steps;
    QList<int> m_seeks; ///< how often each was sought
    QList<int> m_again; ///< to be done before m_next
    int m_next = 0; ///< first row that was never begun
    QList<int> m_toSeek;
    bool m_seeking = false;
    int m_underWay = 0; ///< batches
    int m_failures = 0; ///< since the last resume
    int m_canary = -1; ///< row; -1: none (any more)
    bool m_timerArmed = false;
    std::chrono::duration<double, std::milli> m_nextAt{0};
    RunState m_state = RunState::Running;
    QString m_text;
};

} // namespace sendonce
