#pragma once

#include "worker/config.h"
#include "worker/operate/deadletters.h"
#include "worker/queue/sqsclient.h"
#include "worker/store/processedevents.h"
#include "worker/types.h"

#include <QObject>

namespace sendonce {

/// What is done to dead letters beside replaying and deleting them. Each act is in the audit before it begins and when
/// it has ended, and ends in one report. Lives in the operator thread.
class LetterActs : public QObject
{
    Q_OBJECT
public:
    /// All outlive this.
    LetterActs(SqsClient &client, Database &database, Journal &journal, DeadLetters &letters, const Config &config,
               QObject *parent = nullptr);

    /// Deleted letters into the DLQ again, as new messages.
    void putBack(const QList<qint64> &keptIds);
    /// Everything in the DLQ, for good and without copies. \param typedName must be the DLQ's name; embedded services
    /// only
    void purge(const QString &typedName);
    /// Letters of the last browse; none named: all of it. Refuses a path that is a link; leaves no half file.
    void exportLetters(const QStringList &messageIds, const QString &path, bool csv);
    /// The lines of a JSON export, as new messages. \param toSource into the source queue, not into the DLQ
    void importLetters(const QString &path, bool toSource);
    /// Takes a claim away: the event can mail again.
    void forgetClaim(const QString &eventId, const QString &reason);
    void exportAudit(const QString &path); ///< JSON lines, oldest first

Q_SIGNALS:
    void done(const sendonce::ActReport &report);
    void lettersChanged(const QStringList &eventIds); ///< what is known of these events is another thing now

private:
    struct Outgoing
    {
        Message message;
        qint64 keptId = 0;
        QString name; ///< for problems: "line 3", "letter …"
    };
    bool begin(const QString &act, const QStringList &ids, const QString &text);
    void end(ActReport report, const QStringList &ids);
    void fail(const QString &act, const QString &text);
    void send(const QUrl &to, QList<Outgoing> letters, ActReport report);

    SqsClient &m_client;
    Journal &m_journal;
    DeadLetters &m_letters;
    ProcessedEvents m_claims;
    const Config &m_config;
};

} // namespace sendonce
