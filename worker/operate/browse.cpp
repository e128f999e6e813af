#include "worker/operate/browse.h"

#include <QJsonDocument>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto SearchPause = 250ms; ///< between two looks for what somebody else hides

} // namespace

Browse::Browse(SqsClient &client, LetterStore &store, Where where, BrowseMachine::Limits limits, QSet<QString> wanted,
               QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_store(store)
    , m_where(std::move(where))
    , m_limits(limits)
    , m_machine(limits, std::move(wanted))
{
    m_clock.start();
    connect(&m_renewTimer, &QTimer::timeout, this,
            [this] { carryOut(m_machine.tick(std::chrono::milliseconds(m_clock.elapsed()))); });
    m_renewTimer.start(std::clamp<std::chrono::milliseconds>(limits.visibility / 20, 100ms, 10s));
}

void Browse::setPatience(std::chrono::milliseconds patience, std::function<QStringList(const QStringList &)> notNeeded)
{
    m_patience = patience;
    m_notNeeded = std::move(notNeeded);
}

void Browse::start(bool yes)
{
    m_client.getQueueAttributes(
        m_where.dlqUrl,
        {u"ApproximateNumberOfMessages"_s, u"ApproximateNumberOfMessagesNotVisible"_s, u"MessageRetentionPeriod"_s,
         u"RedrivePolicy"_s},
        this, [this, yes](const Result<QMap<QString, QString>> &attributes) {
            if (!attributes) {
                m_error = attributes.error().text;
                Q_EMIT finished();
                return;
            }
            m_facts.about = attributes->value(u"ApproximateNumberOfMessages"_s).toLongLong();
            m_facts.elsewhere = attributes->value(u"ApproximateNumberOfMessagesNotVisible"_s).toLongLong();
            if (const qint64 seconds = attributes->value(u"MessageRetentionPeriod"_s).toLongLong(); seconds > 0)
                m_facts.retention = std::chrono::seconds(seconds);
            m_facts.diesFurther = !attributes->value(u"RedrivePolicy"_s).isEmpty();
            Q_EMIT factsKnown();
            if (m_facts.diesFurther && !yes) {
                m_needsYes = true;
                m_error =
                    u"this dead letter queue has a redrive policy of its own: each look counts as a receive and brings its letters nearer to yet another queue; only a typed yes begins it"_s;
                Q_EMIT finished();
                return;
            }
            carryOut(m_cancelled ? m_machine.cancel() : m_machine.start());
        });
}

void Browse::cancel()
{
    m_cancelled = true;
    if (m_machine.size() > 0 || m_facts.about >= 0)
        carryOut(m_machine.cancel());
}

void Browse::carryOut(const BrowseCommands &commands)
{
    for (const BrowseCommand &command : commands) {
        switch (command.kind) {
        case BrowseCommand::Kind::Receive:
            receive(command.receive, command.count);
            break;
        case BrowseCommand::Kind::Renew:
        case BrowseCommand::Kind::Release:
            changeVisibility(command);
            break;
        case BrowseCommand::Kind::Wait:
            QTimer::singleShot(command.wait, this, [this] { carryOut(m_machine.waited()); });
            break;
        case BrowseCommand::Kind::Missing:
            missing();
            break;
        case BrowseCommand::Kind::Finished:
            m_renewTimer.stop();
            if (m_error.isEmpty())
                m_error = m_machine.error();
            Q_EMIT finished();
            break;
        }
    }
}

void Browse::receive(quint64 number, int count)
{
    ReceiveRequest request;
    request.queueUrl = m_where.dlqUrl;
    request.maxMessages = count;
    request.wait = m_where.longPoll;
    request.visibilityTimeout = std::chrono::duration_cast<std::chrono::seconds>(m_limits.visibility);
    m_client.receive(request, this, [this, number](const Result<QList<Message>> &messages) {
        if (messages)
            received(number, messages.value());
        else
            carryOut(m_machine.receiveFailed(number, messages.error()));
    });
}

void Browse::received(quint64 number, const QList<Message> &messages)
{
    QList<BrowseMachine::Seen> ids;
    QList<QPair<QString, QString>> handles;
    for (const Message &message : messages) {
        ids.append({message.messageId, message.receiptHandle});
        handles.append({message.messageId, message.receiptHandle});
    }
    if (!handles.isEmpty())
        Q_EMIT handlesChanged(handles);
    QList<qsizetype> fresh;
    const BrowseCommands commands =
        m_machine.received(number, ids, std::chrono::milliseconds(m_clock.elapsed()), &fresh);
    QList<Message> whole;
    for (const qsizetype i : fresh) {
        const auto place = m_store.put(messages[i]);
        if (!place && m_error.isEmpty())
            m_error = place.error().text;
        m_places.append(place ? place.value() : LetterStore::Place{});
        whole.append(messages[i]);
    }
    if (!whole.isEmpty())
        Q_EMIT seen(whole);
    carryOut(commands);
    if (!m_error.isEmpty())
        carryOut(m_machine.end());
}

void Browse::changeVisibility(const BrowseCommand &command)
{
    const bool renews = command.kind == BrowseCommand::Kind::Renew;
    const auto timeout = renews ? std::chrono::duration_cast<std::chrono::seconds>(m_limits.visibility) : 0s;
    QList<VisibilityEntry> entries;
    for (const qsizetype place : command.letters)
        entries.append({QString::number(place), m_machine.handle(place), timeout});
    const qsizetype count = entries.size();
    m_client.changeVisibilityBatch(
        m_where.dlqUrl, entries, this, [this, renews, count](const Result<QList<BatchEntryResult>> &result) {
            const qsizetype refused = result
                ? std::count_if(result->cbegin(), result->cend(), [](const auto &entry) { return !entry.ok; })
                : count;
            carryOut(renews ? m_machine.renewed() : m_machine.released(refused));
        });
}

void Browse::missing()
{
    const QStringList missing = m_machine.missing();
    const QStringList notNeeded = m_notNeeded ? m_notNeeded(missing) : QStringList();
    if (notNeeded.size() >= missing.size() || m_clock.elapsed() >= m_patience.count()) {
        carryOut(m_machine.end());
        return;
    }
    // Hidden by somebody else, they come back when that ends; where nothing is hidden there is nothing to wait for.
    m_client.getQueueAttributes(m_where.dlqUrl, {u"ApproximateNumberOfMessagesNotVisible"_s}, this,
                                [this](const Result<QMap<QString, QString>> &attributes) {
                                    const qint64 hidden = attributes
                                        ? attributes->value(u"ApproximateNumberOfMessagesNotVisible"_s).toLongLong()
                                        : 0;
                                    if (hidden <= m_machine.size()) {
                                        carryOut(m_machine.end());
                                        return;
                                    }
                                    QTimer::singleShot(SearchPause, this, [this] { carryOut(m_machine.goOn()); });
                                });
}

} // namespace sendonce
