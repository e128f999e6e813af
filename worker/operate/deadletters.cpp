#include "worker/operate/deadletters.h"

#include "worker/events/event.h"
#include "worker/operate/storytelling.h"
#include "worker/operate/verdict.h"
#include "worker/store/processedevents.h"

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto BrowseVisibility = 600s;
constexpr auto ReplayLock = 300s;
constexpr qsizetype BatchSize = 10;
// SQS asks all its servers in a long poll, yet may still answer with nothing: one empty answer is no proof.
constexpr int EmptyPassesAtTheEnd = 2;
constexpr auto WatchInterval = 500ms;
constexpr qint64 WatchForSeconds = 3600;

const BatchEntryResult *entryOf(const QList<BatchEntryResult> &entries, qsizetype place)
{
    const QString id = QString::number(place);
    const auto found =
        std::find_if(entries.cbegin(), entries.cend(), [&id](const auto &entry) { return entry.id == id; });
    return found == entries.cend() ? nullptr : &*found;
}

QString whyNot(const Result<QList<BatchEntryResult>> &result, const BatchEntryResult *entry)
{
    if (!result)
        return result.error().text;
    return entry ? entry->text : u"the queue's answer leaves it out"_s;
}

} // namespace

DeadLetters::DeadLetters(SqsClient &client, Database *database, Journal *journal, const EventTypes *types,
                         QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_database(database)
    , m_journal(journal)
    , m_types(types)
{
    m_watchTimer.setInterval(WatchInterval);
    connect(&m_watchTimer, &QTimer::timeout, this, &DeadLetters::lookForOutcomes);
}

void DeadLetters::setQueues(const QUrl &queueUrl, const QUrl &dlqUrl, int maxReceiveCount)
{
    m_queueUrl = queueUrl;
    m_dlqUrl = dlqUrl;
    m_maxReceiveCount = maxReceiveCount;
}

// ---- browse --------------------------------------------------------------------------------------------------------

void DeadLetters::browse()
{
    if (m_browsing || m_replaying) {
        Q_EMIT failed(u"browse"_s, m_browsing ? u"a browse is already running"_s : u"a replay is running"_s);
        return;
    }
    if (m_dlqUrl.isEmpty()) {
        m_list = {};
        m_list.finished = true;
        m_list.error = u"the queue has no redrive policy, so it has no dead letter queue; set one or give --dlq-url"_s;
        Q_EMIT listChanged(m_list);
        return;
    }
    m_browsing = true;
    m_cancelled = false;
    m_emptyPasses = 0;
    m_list = {};
    m_list.browsedAt = QDateTime::currentDateTimeUtc();
    m_index.clear();
    m_client.getQueueAttributes(m_dlqUrl, {u"ApproximateNumberOfMessages"_s}, this,
                                [this](const Result<QMap<QString, QString>> &attributes) {
                                    if (!attributes) {
                                        endBrowse(attributes.error().text);
                                        return;
                                    }
                                    m_list.about = attributes->value(u"ApproximateNumberOfMessages"_s).toLongLong();
                                    Q_EMIT listChanged(m_list);
                                    pass();
                                });
}

void DeadLetters::cancelBrowse()
{
    m_cancelled = m_browsing;
}

void DeadLetters::pass()
{
    ReceiveRequest request;
    request.queueUrl = m_dlqUrl;
    request.wait = 1s;
    request.visibilityTimeout = BrowseVisibility;
    m_client.receive(request, this, [this](const Result<QList<Message>> &messages) {
        if (messages)
            passed(messages.value());
        else
            endBrowse(messages.error().text);
    });
}

void DeadLetters::passed(const QList<Message> &messages)
{
    QList<DeadLetter> fresh;
    for (const Message &message : messages) {
        const auto known = m_index.constFind(message.messageId);
        if (known != m_index.cend()) {
            m_list.letters[known.value()].message.receiptHandle = message.receiptHandle;
            continue;
        }
        DeadLetter letter;
        letter.message = message;
        letter.receiveCount = std::max(0, message.receiveCount() - 1); // this look was one
        m_index.insert(message.messageId, m_list.letters.size() + fresh.size());
        fresh.append(letter);
    }
    judgeAll(fresh);
    m_list.letters += fresh;
    m_emptyPasses = messages.isEmpty() ? m_emptyPasses + 1 : 0;
    if (m_cancelled || m_emptyPasses >= EmptyPassesAtTheEnd || m_list.letters.size() >= 100'000) {
        endBrowse({});
        return;
    }
    if (!fresh.isEmpty())
        Q_EMIT listChanged(m_list);
    pass();
}

void DeadLetters::judgeAll(QList<DeadLetter> &letters)
{
    if (letters.isEmpty())
        return;
    QStringList eventIds, messageIds;
    for (DeadLetter &letter : letters) {
        eventIds.append(glimpse(letter.message.body).eventId);
        messageIds.append(letter.message.messageId);
    }
    eventIds.removeAll(QString());
    ProcessedEvents claims(*m_database);
    const auto standing = claims.standing(eventIds);
    const auto byEvent = m_journal->about(eventIds);
    const auto byMessage = m_journal->aboutMessages(messageIds);
    for (DeadLetter &letter : letters) {
        const QString eventId = glimpse(letter.message.body).eventId;
        DeadLetterFacts facts;
        facts.databaseRead = standing.ok();
        if (standing && standing->contains(eventId))
            facts.processedAt = standing->value(eventId);
        if (byEvent && byEvent->contains(eventId))
            facts.journal = byEvent->value(eventId);
        else if (byMessage && byMessage->contains(letter.message.messageId))
            facts.journal = byMessage->value(letter.message.messageId);
        judge(letter, *m_types, facts);
    }
}

void DeadLetters::endBrowse(const QString &error)
{
    m_list.error = error;
    if (m_list.letters.isEmpty()) {
        m_browsing = false;
        m_list.finished = true;
        Q_EMIT listChanged(m_list);
        return;
    }
    releaseBatch(0);
}

void DeadLetters::releaseBatch(qsizetype from)
{
    QList<VisibilityEntry> entries;
    for (qsizetype i = from; i < std::min(from + BatchSize, m_list.letters.size()); ++i)
        entries.append({QString::number(i), m_list.letters[i].message.receiptHandle, 0s});
    m_client.changeVisibilityBatch(
        m_dlqUrl, entries, this, [this, from](const Result<QList<BatchEntryResult>> &result) {
            qsizetype hidden = 0;
            if (result) {
                hidden = std::count_if(result->cbegin(), result->cend(), [](const auto &entry) { return !entry.ok; });
            }
            if (!result || hidden > 0) {
                Q_EMIT failed(u"browse"_s,
                              u"some dead letters stay hidden for at most 10 minutes: %1"_s.arg(
                                  result ? u"%1 refused"_s.arg(hidden) : result.error().text));
            }
            if (from + BatchSize < m_list.letters.size()) {
                releaseBatch(from + BatchSize);
                return;
            }
            m_browsing = false;
            m_list.finished = true;
            Q_EMIT listChanged(m_list);
        });
}

// ---- replay --------------------------------------------------------------------------------------------------------

void DeadLetters::tell(ReplayItem item, ReplayItem::State state, const QString &text)
{
    item.state = state;
    item.text = text;
    const bool under = state == ReplayItem::State::Sending || state == ReplayItem::State::Replayed
        || state == ReplayItem::State::CopyLeft;
    if (!under)
        m_underWay.remove(item.messageId);
    Q_EMIT replayChanged(item);
}

void DeadLetters::replay(const QStringList &messageIds)
{
    if (m_browsing) {
        Q_EMIT failed(u"replay"_s, u"a browse is running; wait for its end or cancel it"_s);
        return;
    }
    for (const QString &messageId : messageIds) {
        ReplayItem item;
        item.messageId = messageId;
        const auto known = m_index.constFind(messageId);
        if (known == m_index.cend()) {
            tell(item, ReplayItem::State::Failed, u"not in the last browse: browse again"_s);
            continue;
        }
        const DeadLetter &letter = m_list.letters[known.value()];
        if (m_underWay.contains(messageId))
            continue; // from click to outcome a second click does nothing
        m_underWay.insert(messageId);
        item.eventId = letter.eventId;
        tell(item, ReplayItem::State::Sending, u"waiting for its turn"_s);
        m_toReplay.append(letter);
    }
    if (!m_replaying)
        replayNextBatch();
}

void DeadLetters::replayNextBatch()
{
    const QList<DeadLetter> batch = m_toReplay.mid(0, BatchSize);
    m_toReplay.remove(0, batch.size());
    m_replaying = !batch.isEmpty();
    if (m_replaying)
        lockBatch(batch);
}

void DeadLetters::lockBatch(const QList<DeadLetter> &batch)
{
    QList<VisibilityEntry> entries;
    for (qsizetype i = 0; i < batch.size(); ++i)
        entries.append({QString::number(i), batch[i].message.receiptHandle, ReplayLock});
    m_client.changeVisibilityBatch(
        m_dlqUrl, entries, this, [this, batch](const Result<QList<BatchEntryResult>> &result) {
            QList<DeadLetter> locked;
            for (qsizetype i = 0; i < batch.size(); ++i) {
                const BatchEntryResult *entry = result ? entryOf(result.value(), i) : nullptr;
                if (entry && entry->ok) {
                    locked.append(batch[i]);
                } else {
                    tell({batch[i].message.messageId, batch[i].eventId, {}, {}}, ReplayItem::State::Failed,
                         u"could not be locked, nothing was sent: %1; browse again"_s.arg(whyNot(result, entry)));
                }
            }
            if (locked.isEmpty())
                replayNextBatch();
            else
                sendBatch(locked);
        });
}

void DeadLetters::sendBatch(const QList<DeadLetter> &batch)
{
    QList<SendEntry> entries;
    for (qsizetype i = 0; i < batch.size(); ++i) {
        SendEntry entry;
        entry.id = QString::number(i);
        entry.body = batch[i].message.body;
        entry.attributes = batch[i].message.attributes;
        entry.traceHeader = batch[i].message.systemAttributes.value(u"AWSTraceHeader"_s);
        entries.append(entry);
        note(batch[i], BeingReplayed);
    }
    m_client.sendBatch(m_queueUrl, entries, this, [this, batch](const Result<QList<BatchEntryResult>> &result) {
        QList<DeadLetter> sent;
        QStringList replayedAs;
        for (qsizetype i = 0; i < batch.size(); ++i) {
            const DeadLetter &letter = batch[i];
            const BatchEntryResult *entry = result ? entryOf(result.value(), i) : nullptr;
            if (entry && entry->ok) {
                sent.append(letter);
                replayedAs.append(entry->messageId);
                note(letter, replayedAsMessage(entry->messageId));
            } else {
                unlock(letter);
                note(letter, u"the replay failed: %1"_s.arg(whyNot(result, entry)));
                tell({letter.message.messageId, letter.eventId, {}, {}}, ReplayItem::State::Failed,
                     u"could not be sent, it stays a dead letter: %1"_s.arg(whyNot(result, entry)));
            }
        }
        if (sent.isEmpty())
            replayNextBatch();
        else
            deleteBatch(sent, replayedAs);
    });
}

void DeadLetters::note(const DeadLetter &letter, const QString &text)
{
    const auto noted = m_journal->recordReplay(letter.eventId, letter.message.messageId, text);
    if (!noted)
        Q_EMIT failed(u"replay"_s, u"the journal could not be written: "_s + noted.error().text);
}

void DeadLetters::unlock(const DeadLetter &letter)
{
    m_client.changeVisibilityBatch(m_dlqUrl, {{u"0"_s, letter.message.receiptHandle, 0s}}, this,
                                   [](const Result<QList<BatchEntryResult>> &) {
                                       // Refused: the lock ends by itself after 300 s.
                                   });
}

void DeadLetters::deleteBatch(const QList<DeadLetter> &batch, const QStringList &replayedAs)
{
    QList<DeleteEntry> entries;
    for (qsizetype i = 0; i < batch.size(); ++i)
        entries.append({QString::number(i), batch[i].message.receiptHandle});
    const QDateTime since = QDateTime::currentDateTimeUtc().addSecs(-60);
    m_client.deleteBatch(
        m_dlqUrl, entries, this, [this, batch, replayedAs, since](const Result<QList<BatchEntryResult>> &result) {
            for (qsizetype i = 0; i < batch.size(); ++i) {
                const BatchEntryResult *entry = result ? entryOf(result.value(), i) : nullptr;
                Watched watched;
                watched.item.messageId = batch[i].message.messageId;
                watched.item.eventId = batch[i].eventId;
                watched.replayedAs = replayedAs[i];
                watched.since = since;
                if (entry && entry->ok) {
                    tell(watched.item, ReplayItem::State::Replayed, u"replayed, waiting for its outcome"_s);
                } else {
                    tell(watched.item, ReplayItem::State::CopyLeft,
                         u"replayed, but the dead copy could not be deleted: %1"_s.arg(whyNot(result, entry)));
                }
                m_watched.append(watched);
            }
            m_watchTimer.start();
            replayNextBatch();
        });
}

void DeadLetters::lookForOutcomes()
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    m_watched.removeIf([&now](const Watched &watched) { return watched.since.secsTo(now) > WatchForSeconds; });
    if (m_watched.isEmpty()) {
        m_watchTimer.stop();
        return;
    }
    QStringList eventIds;
    for (const Watched &watched : std::as_const(m_watched))
        eventIds.append(watched.item.eventId);
    eventIds.removeDuplicates();
    const auto deliveries = m_journal->deliveriesSince(eventIds, m_watched.first().since);
    if (!deliveries)
        return; // looked for again at the next tick
    for (const DeliveryReport &report : deliveries.value()) {
        const auto watched = std::find_if(m_watched.begin(), m_watched.end(), [&report](const Watched &each) {
            return each.replayedAs == report.messageId;
        });
        if (watched == m_watched.end())
            continue;
        std::optional<ReplayItem::State> state;
        QString text;
        switch (report.outcome) {
        case Outcome::Sent:
            state = ReplayItem::State::Mailed;
            text = u"mailed"_s;
            break;
        case Outcome::Duplicate:
        case Outcome::Gone:
            state = ReplayItem::State::Skipped;
            text = report.outcome == Outcome::Gone ? u"skipped: application gone"_s : u"skipped: already processed"_s;
            break;
        case Outcome::Failed:
        case Outcome::InDoubt:
            if (m_maxReceiveCount > 0 && report.receiveCount >= m_maxReceiveCount) {
                state = ReplayItem::State::DeadAgain;
                text = u"dead again: %1"_s.arg(report.reason);
            } else {
                const QString again = u"failed %1 of %2, comes back: %3"_s.arg(
                    QString::number(report.receiveCount), QString::number(m_maxReceiveCount), report.reason);
                if (watched->item.text != again) {
                    watched->item.text = again;
                    tell(watched->item, ReplayItem::State::Replayed, again);
                }
            }
            break;
        case Outcome::GivenBack:
            break;
        }
        if (!state)
            continue;
        tell(watched->item, *state, text);
        m_watched.erase(watched);
    }
}

} // namespace sendonce
