#pragma once

#include "worker/config.h"
#include "worker/events/eventtype.h"
#include "worker/queue/sqsclient.h"
#include "worker/store/database.h"
#include "worker/store/journal.h"
#include "worker/types.h"

#include <QHash>
#include <QObject>
#include <QSet>
#include <QTimer>

#include <memory>
#include <optional>

namespace sendonce {

/// Browses the dead letter queue and replays from it. Lives in the operator thread: its requests are asynchronous, its
/// SQL blocks that thread alone.
///
/// Browse: several long-polled passes with VisibilityTimeout 600 s, deduplicated by MessageId with the newest handle;
/// at the end every letter is made visible again. Replay, per batch of up to 10: lock (ChangeMessageVisibility 300 s),
/// note it in the journal, send the exact body and attributes to the source queue, note the new message, delete the
/// dead ones; never another order: a crash between leaves a duplicate, which the claim absorbs. Then the outcome is
/// looked for in the journal, not assumed.
class DeadLetters : public QObject
{
    Q_OBJECT
public:
    DeadLetters(SqsClient &client, Database *database, Journal *journal, const EventTypes *types,
                QObject *parent = nullptr);

    void setQueues(const QUrl &queueUrl, const QUrl &dlqUrl, int maxReceiveCount);
    void browse();
    void cancelBrowse(); ///< keeps what was seen, makes it visible again
    void replay(const QStringList &messageIds);

Q_SIGNALS:
    void listChanged(const sendonce::DeadLetterList &list);
    void replayChanged(const sendonce::ReplayItem &item);
    void failed(const QString &act, const QString &text);

private:
    struct Watched
    {
        ReplayItem item;
        QString replayedAs; ///< MessageId of the new message
        QDateTime since;
    };
    void pass();
    void passed(const QList<Message> &messages);
    void judgeAll(QList<DeadLetter> &letters);
    void endBrowse(const QString &error);
    void releaseBatch(qsizetype from);
    void tell(ReplayItem item, ReplayItem::State state, const QString &text);
    void replayNextBatch();
    void lockBatch(const QList<DeadLetter> &batch);
    void sendBatch(const QList<DeadLetter> &batch);
    void note(const DeadLetter &letter, const QString &text);
    void deleteBatch(const QList<DeadLetter> &batch, const QStringList &replayedAs);
    void lookForOutcomes();
    void unlock(const DeadLetter &letter);

    SqsClient &m_client;
    Database *m_database;
    Journal *m_journal;
    const EventTypes *m_types;
    QUrl m_queueUrl, m_dlqUrl;
    int m_maxReceiveCount = 0;

    DeadLetterList m_list;
    QHash<QString, qsizetype> m_index; ///< MessageId -> place in m_list
    bool m_browsing = false;
    bool m_cancelled = false;
    int m_emptyPasses = 0;

    QList<DeadLetter> m_toReplay;
    QSet<QString> m_underWay; ///< MessageIds, from click to outcome
    bool m_replaying = false;
    QList<Watched> m_watched;
    QTimer m_watchTimer;
};

} // namespace sendonce
