#include "worker/operate/operator.h"

#include "worker/consume/handover.h"
#include "worker/operate/deadletters.h"
#include "worker/operate/eventsearch.h"
#include "worker/operate/preflightrun.h"

#include <QDir>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

Operator::Operator(Config config, SqsSettings sqs, std::shared_ptr<const EventTypes> types)
    : m_config(std::move(config))
    , m_sqs(std::move(sqs))
    , m_types(std::move(types))
{ }

Operator::~Operator() = default;

void Operator::open()
{
    auto database = Database::open(m_config.databaseUrl);
    if (!database) {
        Q_EMIT openFailed(database.error());
        return;
    }
    auto journal = Journal::open(m_config.dataDir);
    if (!journal) {
        Q_EMIT openFailed(journal.error());
        return;
    }
    m_database.emplace(database.take());
    m_claims = std::make_unique<ProcessedEvents>(*m_database);
    const auto readable = m_claims->page({});
    if (!readable) {
        Q_EMIT openFailed(
            {ErrorKind::Invalid,
             u"%1 is no job board's database: %2; the console and sendoncectl local make one in the data folder"_s.arg(
                 m_database->displayName(), readable.error().text),
             {}});
        return;
    }
    m_journal.emplace(journal.take());
    m_client = std::make_unique<SqsClient>(m_sqs);
    connect(m_client.get(), &SqsClient::warned, this,
            [this](const QString &text) { Q_EMIT actFailed(u"queue"_s, text); });
    m_deadLetters = std::make_unique<DeadLetters>(*m_client, &*m_database, &*m_journal, m_types.get());
    connect(m_deadLetters.get(), &DeadLetters::listChanged, this, &Operator::deadLettersChanged);
    connect(m_deadLetters.get(), &DeadLetters::replayChanged, this, &Operator::replayChanged);
    connect(m_deadLetters.get(), &DeadLetters::failed, this, &Operator::actFailed);
    Q_EMIT databaseOpened(m_database->displayName());
    collectHandover();
    if (m_config.embedded)
        watchMailbox();
}

void Operator::collectHandover()
{
    const auto leftovers = Handover::collect(m_config.dataDir);
    if (!leftovers) {
        Q_EMIT actFailed(u"start"_s, leftovers.error().text);
        return;
    }
    QStringList eventIds;
    for (const auto &leftover : leftovers.value())
        eventIds.append(leftover.eventId);
    const auto standing = m_claims->standing(eventIds);
    for (const auto &leftover : leftovers.value()) {
        // Its own claim stands: the worker died between the COMMIT and the clearing of the slot, and nobody mails
        // again.
        if (standing && standing->contains(leftover.eventId)
            && standing->value(leftover.eventId) == fromDjangoTime(leftover.processedAt)) {
            continue;
        }
        const auto recorded = m_journal->recordPossiblyTwice(
            leftover.eventId, leftover.messageId,
            u"a worker died while it handed the mail over; a redelivery sends it again (SHA-256 of the mail %1)"_s.arg(
                leftover.sha256));
        if (!recorded)
            Q_EMIT actFailed(u"start"_s, u"the journal could not be written: "_s + recorded.error().text);
        Q_EMIT possiblyMailedTwice(leftover.eventId, leftover.messageId);
    }
}

void Operator::setQueues(const QUrl &queueUrl, const QUrl &dlqUrl, int maxReceiveCount)
{
    if (m_deadLetters)
        m_deadLetters->setQueues(queueUrl, dlqUrl, maxReceiveCount);
}

void Operator::queryProcessed(const ProcessedQuery &query)
{
    if (!m_claims) {
        ProcessedPage page;
        page.query = query;
        page.error = u"the database is not open"_s;
        Q_EMIT processedPage(page);
        return;
    }
    Q_EMIT processedPage(searchProcessed(*m_claims, *m_journal, query));
}

void Operator::watchMailbox()
{
    m_mailbox.emplace(m_config.dataDir);
    m_mailbox->refresh();
    m_watcher = std::make_unique<QFileSystemWatcher>();
    m_watcher->addPath(m_mailbox->folder());
    m_mailboxTimer = std::make_unique<QTimer>();
    m_mailboxTimer->setSingleShot(true);
    m_mailboxTimer->setInterval(50ms); // a burst of mails is one look at the folder
    connect(m_mailboxTimer.get(), &QTimer::timeout, this, &Operator::refreshMailbox);
    connect(m_watcher.get(), &QFileSystemWatcher::directoryChanged, this, [this] {
        if (!m_mailboxTimer->isActive())
            m_mailboxTimer->start();
    });
    Q_EMIT mailboxChanged();
}

void Operator::refreshMailbox()
{
    if (m_mailbox->refresh())
        Q_EMIT mailboxChanged();
}

void Operator::queryMailbox(const QString &search, int limit)
{
    if (!m_mailbox) {
        MailboxSnapshot none;
        none.error = u"this profile has no embedded mailbox"_s;
        Q_EMIT mailboxSnapshot(none);
        return;
    }
    m_mailbox->refresh();
    Q_EMIT mailboxSnapshot(m_mailbox->snapshot(search, limit));
}

void Operator::openMail(const QString &id)
{
    if (m_mailbox)
        Q_EMIT mailOpened(m_mailbox->open(id));
}

void Operator::queryStory(const QString &eventId)
{
    EventStory told;
    told.eventId = eventId;
    if (m_journal) {
        auto found = m_journal->story(eventId);
        if (found)
            told = found.take();
        else
            told.error = found.error().text;
    }
    Q_EMIT story(told);
}

void Operator::browseDeadLetters()
{
    if (m_deadLetters)
        m_deadLetters->browse();
    else
        Q_EMIT actFailed(u"browse"_s, u"the database is not open"_s);
}

void Operator::cancelBrowse()
{
    if (m_deadLetters)
        m_deadLetters->cancelBrowse();
}

void Operator::replay(const QStringList &messageIds)
{
    if (m_deadLetters)
        m_deadLetters->replay(messageIds);
    else
        Q_EMIT actFailed(u"replay"_s, u"the database is not open"_s);
}

void Operator::recordSend(const SendReport &report)
{
    if (!m_journal)
        return;
    const auto recorded = m_journal->recordSend(report);
    if (!recorded)
        Q_EMIT actFailed(u"send"_s, u"the journal could not be written: "_s + recorded.error().text);
}

void Operator::check()
{
    if (m_check || m_checkAbandoned)
        return;
    m_check = std::make_unique<PreflightRun>(m_config, m_checkAbandoned);
    connect(m_check.get(), &PreflightRun::line, this, &Operator::checkLine);
    connect(m_check.get(), &PreflightRun::finished, this, [this] {
        m_check.release()->deleteLater(); // it is still telling us
        Q_EMIT checkFinished();
    });
    m_check->start();
}

} // namespace sendonce
