#pragma once

#include "worker/operate/browsemachine.h"
#include "worker/operate/letterstore.h"
#include "worker/queue/sqsclient.h"
#include "worker/types.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <functional>
#include <optional>

namespace sendonce {

/// One look through a DLQ, or one search for certain messages of it: carries out what BrowseMachine decides. Bodies go
/// to the store as they come. Lives in the operator thread.
class Browse : public QObject
{
    Q_OBJECT
public:
    struct Facts
    {
        qint64 about = -1, elsewhere = -1;
        std::optional<std::chrono::seconds> retention;
        bool diesFurther = false; ///< the DLQ has a redrive policy of its own
    };
    struct Where
    {
        QUrl dlqUrl;
        std::chrono::seconds longPoll{1}; ///< 0 only where one server has everything: the embedded one
    };
    /// `client` and `store` outlive this.
    Browse(SqsClient &client, LetterStore &store, Where where, BrowseMachine::Limits limits, QSet<QString> wanted = {},
           QObject *parent = nullptr);

    /// \param yes also when each look of ours brings the letters nearer to another DLQ
    void start(bool yes);
    void cancel();
    /// For a search: goes on until `patience` is over while somebody else hides messages; `found elsewhere` is asked at
    /// each empty pass which of the missing ones need not be waited for.
    void setPatience(std::chrono::milliseconds patience, std::function<QStringList(const QStringList &)> notNeeded);

    const BrowseMachine &machine() const { return m_machine; }
    const Facts &facts() const { return m_facts; }
    /// Where a letter's body lies, by its place in the machine's order.
    LetterStore::Place placeInStore(qsizetype place) const { return m_places[place]; }
    const QString &error() const { return m_error; }
    bool needsYes() const { return m_needsYes; }

Q_SIGNALS:
    void factsKnown();
    /// Letters seen for the first time, in the order of their places, whole.
    void seen(const QList<sendonce::Message> &messages);
    /// Newer handles, also of letters seen before: MessageId, handle.
    void handlesChanged(const QList<QPair<QString, QString>> &handles);
    void finished();

private:
    void carryOut(const BrowseCommands &commands);
    void receive(quint64 number, int count);
    void received(quint64 number, const QList<Message> &messages);
    void changeVisibility(const BrowseCommand &command);
    void missing();

    SqsClient &m_client;
    LetterStore &m_store;
    const Where m_where;
    const BrowseMachine::Limits m_limits;
    BrowseMachine m_machine;
    Facts m_facts;
    QList<LetterStore::Place> m_places;
    QString m_error;
    bool m_needsYes = false;
    bool m_cancelled = false; ///< before the first receive
    QElapsedTimer m_clock;
    QTimer m_renewTimer;
    std::chrono::milliseconds m_patience{0};
    std::function<QStringList(const QStringList &)> m_notNeeded;
};

} // namespace sendonce
