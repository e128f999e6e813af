#pragma once

#include "worker/config.h"
#include "worker/events/eventtype.h"
#include "worker/operate/browse.h"
#include "worker/operate/outcomewatch.h"
#include "worker/operate/replayrun.h"
#include "worker/queue/sqsclient.h"
#include "worker/store/audit.h"
#include "worker/store/database.h"
#include "worker/store/journal.h"
#include "worker/store/keptletters.h"
#include "worker/store/replaylog.h"
#include "worker/types.h"

#include <QHash>
#include <QObject>
#include <QSet>
#include <QTimer>

#include <memory>
#include <vector>

namespace sendonce {

/// The dead letters of the last browse with what is known of them, and the replays of them. Lives in the operator
/// thread: its requests are asynchronous, its SQL blocks that thread alone. What it does in which order is decided by
/// BrowseMachine and ReplayMachine; this joins them to the journal and the claims.
class DeadLetters : public QObject
{
    Q_OBJECT
public:
    DeadLetters(SqsClient &client, Database &database, Journal &journal, const EventTypes *types, const Config &config,
                QObject *parent = nullptr);
    ~DeadLetters() override;

    void setQueues(const QUrl &queueUrl, const QUrl &dlqUrl, int maxReceiveCount);
    const QUrl &queueUrl() const { return m_queueUrl; }
    const QUrl &dlqUrl() const { return m_dlqUrl; }

    void browse(bool yes);
    void cancelBrowse(); ///< keeps what was seen, makes it visible again
    DeadLetterDetail open(const QString &messageId); ///< of the last browse, whole
    /// In rows and bodies, in parts between other work; found() comes once for the newest search.
    void find(const QString &text, quint64 ticket);
    QStringList messageIds() const; ///< of the last browse
    QStringList eventIds() const; ///< of the last browse

    void replay(const ReplayOrder &order);
    void remove(const QStringList &messageIds);
    void editAndReplay(const EditOrder &order);
    void pauseRun(qint64 run);
    void resumeRun(qint64 run); ///< of this process, or of a dead one; 0: the newest that was interrupted
    void cancelRun(qint64 run); ///< also of a dead one: it is over then
    QList<ReplayProgress> runs(); ///< newest first; of dead processes Interrupted
    ReplayItems itemsOf(qint64 run);
    /// For the end of the process: begins nothing any more, and lets what is hidden for a replay or a look be seen
    /// again. left() follows within 10 s; what stays hidden all the same is told by failed() before it.
    void leave();
    /// Looks at these again in journal and claims; emits updated() when something changed.
    void refresh(const QStringList &eventIds);

    KeptLetterTable &kept() { return m_kept; }
    Audit &audit() { return m_audit; }

Q_SIGNALS:
    void listChanged(const sendonce::DeadLetterList &list);
    void updated(const QList<sendonce::DeadLetter> &letters); ///< rows whose verdict or reason is another one now
    void itemsChanged(const QList<sendonce::ReplayItem> &items);
    void progressChanged(const sendonce::ReplayProgress &progress);
    void found(const sendonce::DeadLetterMatches &matches);
    void failed(const QString &act, const QString &text);
    void left(); ///< once

private:
    void seen(const QList<Message> &messages);
    void flush();
    void browsed();
    void judgePages(QList<DeadLetter> &letters);
    void judgePage(QList<DeadLetter> &letters, qsizetype from, qsizetype to);
    void refreshDue();
    void findMore();
    QString shared(const QString &text);
    std::optional<ReplayRun::Letter> take(const QString &messageId);
    void begin(std::unique_ptr<ReplayRun> run, bool taken);
    ReplayRun *runOf(qint64 run) const;
    ReplayServices services();
    bool isAnyActive() const;
    void leaveIfAtRest();
    void tellHidden();
    void settle(const QList<ReplayItem> &items);

    SqsClient &m_client;
    Database &m_database;
    Journal &m_journal;
    const EventTypes *m_types;
    const Config &m_config;
    ProcessedEvents m_claims;
    ReplayLog m_log;
    KeptLetterTable m_kept;
    Audit m_audit;
    OutcomeWatch m_watch;
    const std::chrono::seconds m_longPoll; ///< of a browse
    QUrl m_queueUrl, m_dlqUrl;

    DeadLetterList m_list; ///< letters in the order of the browse's places
    QMultiHash<QString, qsizetype> m_byEvent; ///< -> place
    QList<DeadLetter> m_fresh; ///< seen, not judged yet
    QTimer m_flushTimer;
    std::shared_ptr<LetterStore> m_store;
    std::unique_ptr<Browse> m_browse; ///< kept after its end: it has the handles
    bool m_browsing = false;
    QDateTime m_memoryBegins; ///< of the claims, at the last browse
    QDateTime m_forgottenBefore; ///< by clean-ups, at the last browse

    QSet<QString> m_texts; ///< what many letters have in common, held once

    QString m_soughtText;
    DeadLetterMatches m_matches; ///< so far
    qsizetype m_nextSought = 0; ///< place
    QTimer m_searchTimer;

    QSet<QString> m_underWay; ///< MessageIds, from click to outcome
    QSet<QString> m_toRefresh; ///< event ids
    QTimer m_refreshTimer;
    std::vector<std::unique_ptr<ReplayRun>> m_runs;
    QTimer m_leaveTimer; ///< active while the requests that are out are waited for
};

} // namespace sendonce
