#pragma once

#include "worker/result.h"

#include <QByteArray>
#include <QHash>
#include <QList>
#include <QSet>
#include <QString>
#include <QStringList>

#include <chrono>

namespace sendonce {

/// What a browse does next; several may come from one step, in order.
struct BrowseCommand
{
    enum class Kind {
        Receive, ///< ask for at most `count` messages, long poll
        Renew, ///< hide these letters again for the whole visibility time
        Release, ///< make these letters visible
        Wait, ///< call waited() after `wait`
        Missing, ///< all was looked through and `wanted` letters are not there: goOn() or end()
        Finished, ///< nothing is under way any more
    };
    Kind kind = Kind::Finished;
    quint64 receive = 0; ///< its number, for the answer
    int count = 0;
    QList<qsizetype> letters; ///< places in the order in which they were first seen
    std::chrono::milliseconds wait{0};

    bool operator==(const BrowseCommand &) const = default;
};
using BrowseCommands = QList<BrowseCommand>;

/// Looks through a whole DLQ: several receives at once, each message once with its newest handle, hidden for as long as
/// the look lasts, made visible again at the end. Or looks for certain messages only, and keeps those hidden. No I/O,
/// no clock: the time is a parameter, of any steady clock.
class BrowseMachine
{
public:
    struct Limits
    {
        qsizetype held = 100'000; ///< more are not taken
        int receives = 4; ///< at once
        int batches = 4; ///< renewals or releases at once
        std::chrono::milliseconds visibility{600'000};
    };
    /// \param wanted not empty: only these matter; it ends when all are found
    explicit BrowseMachine(Limits limits, QSet<QString> wanted = {});

    BrowseCommands start();
    struct Seen
    {
        QString messageId;
        QString receiptHandle;
    };
    /// The answer to one Receive. `fresh` gets the indexes of those seen for the first time, in the order of their
    /// places.
    BrowseCommands received(quint64 receive, const QList<Seen> &messages, std::chrono::milliseconds now,
                            QList<qsizetype> *fresh);
    /// Three in a row end the browse; what was seen stays.
    BrowseCommands receiveFailed(quint64 receive, const Error &error);
    BrowseCommands waited();
    BrowseCommands tick(std::chrono::milliseconds now); ///< every few seconds: for the renewals
    BrowseCommands cancel();
    BrowseCommands goOn(); ///< after Missing
    BrowseCommands end(); ///< after Missing, or because the disk is full: no more receives
    /// A Renew or Release has ended; \param refused of these letters
    BrowseCommands renewed();
    BrowseCommands released(qsizetype refused);

    qsizetype size() const { return m_held.size(); }
    bool isFull() const { return m_full; }
    bool isCancelled() const { return m_cancelled; }
    bool isReleasing() const { return m_releasing; }
    const QString &error() const { return m_error; } ///< why it ended early
    int lostReceives() const { return m_lost; } ///< answers that never came: each may have hidden up to 10 letters
    qsizetype stillHidden() const { return m_stillHidden; } ///< of those released: refused
    QString handle(qsizetype place) const { return QString::fromLatin1(m_held[place].handle); }
    qsizetype placeOf(const QString &messageId) const { return m_places.value(messageId, -1); }
    QStringList missing() const; ///< wanted, not seen

private:
    struct Held
    {
        QByteArray handle; ///< half of a QString's size; they are many
        std::chrono::milliseconds hiddenSince{0};
        bool isWanted = false;
    };
    void receiveMore(BrowseCommands &commands);
    void endIfIdle(BrowseCommands &commands);
    void releaseMore(BrowseCommands &commands);

    Limits m_limits;
    QSet<QString> m_wanted;
    qsizetype m_found = 0; ///< of the wanted
    QList<Held> m_held;
    QHash<QString, qsizetype> m_places;
    QHash<quint64, int> m_receiving; ///< those under way -> how many messages each may bring
    qsizetype m_asked = 0; ///< sum of those
    quint64 m_started = 0; ///< receives
    quint64 m_lastFull = 0; ///< the newest one started when a message was last seen
    int m_empty = 0; ///< receives begun after that and ended with nothing
    int m_failures = 0; ///< in a row
    int m_lost = 0;
    int m_waiting = 0;
    bool m_asking = false; ///< Missing was said
    bool m_ending = false, m_releasing = false, m_finished = false, m_full = false, m_cancelled = false;
    QString m_error;
    QList<qsizetype> m_toRelease;
    qsizetype m_nextRelease = 0; ///< in m_toRelease
    int m_renewing = 0, m_releasingBatches = 0;
    qsizetype m_stillHidden = 0;
};

} // namespace sendonce
