#pragma once

#include "worker/config.h"
#include "worker/faults/fault.h"
#include "worker/result.h"
#include "worker/types.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <QVariant>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace sendonce {

class SqsClient;
class Worker;

struct WorldSettings
{
    QString folder; ///< absolute; made when missing (0700); a new one, or one that a world has left
    std::chrono::seconds visibility{1}; ///< of the queue
    int maxReceiveCount = 3;
    int workers = 1; ///< that share the folder, as processes would; 0: whoever else takes the messages
    Strategy strategy = Strategy::Transaction;
    std::optional<DoubtPolicy> inDoubt; ///< nothing: the strategy's default
    bool heartbeat = true;
    std::chrono::milliseconds mailTimeout{2'000}; ///< before the final dot
    std::chrono::milliseconds mailFinalTimeout{2'000}; ///< after it
    double mailRate = 0; ///< mails per second; 0: no limit
    int keepDays = 45;

    bool operator==(const WorldSettings &) const = default;
};

/// What lies in the queues: visible, in flight and delayed together.
struct WorldQueues
{
    int queue = 0;
    int deadLetters = 0;

    bool operator==(const WorldQueues &) const = default;
};

struct WorldLogLine
{
    int worker = 0; ///< 1…n, who wrote it
    LogLine line;

    bool operator==(const WorldLogLine &) const = default;
};

/// SQL with `?` for each value.
struct BoardStatement
{
    QString sql;
    QVariantList values = {};
};

/// One folder with everything that a delivery needs: the embedded services on free ports, SQLite with the demo data,
/// and true workers on them, not started yet. What is armed, sent and changed goes the ways that people use; what is
/// seen is read from the files, beside the wire, so that looking uses up no fault. Lives in one thread with an event
/// loop; never blocks it for longer than opening takes (about 20 ms). Functions with a `done` call it once, later, in
/// that thread, and not any more when the world is gone.
class World : public QObject
{
    Q_OBJECT
public:
    template <typename T>
    using Done = std::function<void(Result<T>)>;
    using Condition = std::function<bool()>;

    explicit World(WorldSettings settings, QObject *parent = nullptr);
    ~World() override; ///< ends what still runs, which may block for as long as a mail's final reply may take

    // ---- its life
    /// opened() when each worker knows its queue, its database and what is armed; or failed().
    void open();
    void close(); ///< each worker settles what it has begun, then closed(); files stay
    bool isOpen() const;

    const WorldSettings &settings() const;
    const Config &config() const; ///< as its workers have it; behind opened()
    SqsClient &client(); ///< of the world's own, behind opened()
    int workerCount() const;
    Worker *worker(int number) const; ///< 1…n

    // ---- acts
    void start(int number, Done<void> done); ///< done when it runs; 0: all
    void stop(int number, Done<void> done); ///< done when it has stopped; 0: all
    /// As Worker::send(), with as many copies as wanted; the report has all MessageIds.
    void send(const SendRequest &request, Done<SendReport> done);
    void arm(const FaultRule &rule, Done<int> done); ///< done, with its id, when each worker knows it
    void disarmAll(Done<void> done); ///< done when each worker knows it
    /// Through the first worker; counts as a receive of each letter.
    void browse(Done<DeadLetterList> done);
    /// Browses, then replays those of these events (none: all). Done when each was sent or refused, whatever becomes of
    /// it: one item for each letter, as it was then.
    void replay(const QStringList &eventIds, const ReplayOrder &how, Done<QList<ReplayItem>> done);
    void cleanUp(Done<CleanUp> done); ///< through the first worker
    /// Of sendonce.db, in one transaction; tried again while a delivery writes, for 10 s.
    void change(const QList<BoardStatement> &statements, Done<void> done);

    // ---- waiting
    /// Done with true as soon as the condition holds, with false when it does not in that time. It is looked at after
    /// each thing that happens, and every 25 ms.
    void await(Condition condition, std::chrono::milliseconds timeout, std::function<void(bool)> done);

    // ---- what can be seen
    const QList<MailRow> &mails() const; ///< oldest first, as the Maildir has them now
    int mailsOf(const QString &eventId) const;
    int claimsOf(const QString &eventId) const; ///< rows in jobs_processedevent; -1: it cannot be read
    int claims() const; ///< of all events
    WorldQueues queues() const; ///< -1 each: not looked at since the last act on them
    const QList<DeliveryReport> &deliveries() const; ///< finished ones of all workers, oldest first
    QList<Outcome> outcomesOf(const QString &eventId) const; ///< in their order
    int crashes() const; ///< lanes that ended as if killed
    const QList<WorldLogLine> &log() const;
    /// Somebody was told that this event may have been mailed, or mailed twice: in doubt, or a warning in the log.
    bool isAnnounced(const QString &eventId) const;
    const FaultRules &armed() const;
    /// All that were ever armed, those that are over too, with how often they struck. For one that its time ended it is
    /// known to 50 ms.
    FaultRules everArmed() const;
    QList<ReplayItem> replayItems() const; ///< of all replays, one for each letter, as they are now

Q_SIGNALS:
    void opened();
    void failed(const QString &text); ///< it cannot be opened
    void closed();
    void changed(); ///< something can be seen that was not before
    void delivered(const sendonce::DeliveryReport &report);
    void logged(const sendonce::WorldLogLine &line);

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace sendonce
