#include "worker/operate/operator.h"

#include "worker/consume/handover.h"
#include "worker/operate/deadletters.h"
#include "worker/operate/doubts.h"
#include "worker/operate/eventsearch.h"
#include "worker/operate/letteracts.h"
#include "worker/operate/movetaskprobe.h"
#include "worker/operate/movetaskrun.h"
#include "worker/operate/preflightrun.h"
#include "worker/operate/retention.h"
#include "worker/operate/storytelling.h"
#include "worker/store/inspection.h"
#include "worker/store/strategyagreement.h"

#include <QDir>
#include <QSaveFile>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto DatabasePatience = 30s; ///< for SQLite's locks, and for a server's answer
constexpr auto SendsPause = 2s; ///< until a journal that is away is tried again
/// Between two looks at the mailbox.
constexpr std::chrono::milliseconds ShortestLookAgain = 50ms, LongestLookAgain = 1s;
constexpr qsizetype MostSendsKept = 1000;
constexpr std::chrono::milliseconds LongestPause = 10s; ///< between two tries to open the database

} // namespace

Operator::Operator(Config config, SqsSettings sqs, std::shared_ptr<const EventTypes> types)
    : m_config(std::move(config))
    , m_sqs(std::move(sqs))
    , m_types(std::move(types))
{ }

Operator::~Operator() = default;

void Operator::open()
{
    if (const auto opened = openDatabase(); !opened) {
        // A server that is away comes back; everything else is a setting or a file to be put right.
        if (opened.error().kind != ErrorKind::Unreachable) {
            Q_EMIT openFailed(opened.error());
            return;
        }
        Q_EMIT databaseAway(opened.error());
        QTimer::singleShot(m_openPause, this, &Operator::open);
        m_openPause = std::min<std::chrono::milliseconds>(m_openPause * 2, LongestPause);
        return;
    }
    int connections = 0;
    if (m_database->isPostgres()) {
        // One for the journal that is written beside the lanes, one for whoever comes to look.
        connections = std::max(freeConnections(*m_database).value_or(0) - 2, 1);
    }
    if (m_workIsExpected)
        agreeOnStrategy();
    Q_EMIT databaseOpened(m_database->displayName(), connections);
    openForOperators();
}

/// The lanes wait for none of this, and a server takes its time to make the journal's tables.
void Operator::openForOperators()
{
    if (const auto opened = openJournal(); !opened) {
        if (opened.error().kind != ErrorKind::Unreachable) {
            Q_EMIT openFailed(opened.error());
            return;
        }
        Q_EMIT warned(u"The journal cannot be opened, trying again: "_s + opened.error().text);
        QTimer::singleShot(m_openPause, this, &Operator::openForOperators);
        m_openPause = std::min<std::chrono::milliseconds>(m_openPause * 2, LongestPause);
        return;
    }
    tellMissingTables();
    m_claims = std::make_unique<ProcessedEvents>(*m_database);
    m_doubts = std::make_unique<Doubts>(*m_database, *m_journal, doubtSetup(m_config));
    m_client = std::make_unique<SqsClient>(m_sqs);
    connect(m_client.get(), &SqsClient::warned, this,
            [this](const QString &text) { Q_EMIT actFailed(u"queue"_s, text); });
    m_deadLetters = std::make_unique<DeadLetters>(*m_client, *m_database, *m_journal, m_types.get(), m_config);
    connect(m_deadLetters.get(), &DeadLetters::listChanged, this, &Operator::deadLettersChanged);
    connect(m_deadLetters.get(), &DeadLetters::updated, this, &Operator::deadLettersUpdated);
    connect(m_deadLetters.get(), &DeadLetters::itemsChanged, this, &Operator::replayChanged);
    connect(m_deadLetters.get(), &DeadLetters::progressChanged, this, &Operator::replayProgressed);
    connect(m_deadLetters.get(), &DeadLetters::found, this, &Operator::deadLettersFound);
    connect(m_deadLetters.get(), &DeadLetters::failed, this, &Operator::actFailed);
    connect(m_deadLetters.get(), &DeadLetters::left, this, &Operator::left);
    m_acts = std::make_unique<LetterActs>(*m_client, *m_database, *m_journal, *m_deadLetters, m_config);
    connect(m_acts.get(), &LetterActs::done, this, &Operator::actDone);
    connect(m_acts.get(), &LetterActs::lettersChanged, m_deadLetters.get(), &DeadLetters::refresh);
    m_retention = std::make_unique<Retention>(*m_client, *m_database, m_journal->database(), m_deadLetters->audit(),
                                              m_config, Retention::Times{});
    connect(m_retention.get(), &Retention::previewed, this, &Operator::cleanUpPreviewed);
    connect(m_retention.get(), &Retention::done, this, &Operator::cleanUpDone);
    m_retention->setQueues(m_queueUrl, m_dlqUrl);
    m_moveTask = std::make_unique<MoveTaskRun>(*m_client, m_deadLetters->audit());
    connect(m_moveTask.get(), &MoveTaskRun::changed, this, &Operator::moveTaskChanged);
    m_moveTask->setQueue(m_dlqUrl);
    m_deadLetters->setQueues(m_queueUrl, m_dlqUrl, m_maxReceiveCount);
    probeForMoveTasks(); // the queues may have been known before the database could be opened
    collectHandover();
    if (m_config.embedded)
        watchMailbox();
    if (m_cleanUpsWanted)
        scheduleCleanUps();
}

void Operator::agreeOnStrategy()
{
    if (!m_database)
        return; // told at the opening
    if (const auto agreed = sendonce::agreeOnStrategy(*m_database, m_config.strategy); !agreed)
        Q_EMIT strategyRefused(agreed.error());
    else
        Q_EMIT strategyAgreed();
}

Result<void> Operator::openDatabase()
{
    auto database = Database::open(m_config.databaseUrl, DatabasePatience);
    if (!database)
        return database.error();
    ProcessedEvents claims(database.value());
    const auto readable = claims.page({});
    if (!readable) {
        if (readable.error().kind == ErrorKind::Unreachable)
            return readable.error();
        const QString remedy = database->isPostgres()
            ? u"run the job board's migrations (manage.py migrate), and see that this role may use its tables"_s
            : u"the console and sendoncectl local make one in the data folder"_s;
        return Error{
            ErrorKind::Invalid,
            u"%1 is no job board's database: %2; %3"_s.arg(database->displayName(), readable.error().text, remedy),
            {}};
    }
    const bool isServer = database->isPostgres();
    m_database.emplace(database.take());
    if (!isServer)
        return openJournal();
    if (const auto migrated = m_database->migrate(u"postgres"_s); !migrated) {
        m_lacksTables = migrated.error().code == "42501"_L1;
        if (!m_lacksTables)
            Q_EMIT warned(u"%1: %2"_s.arg(m_database->displayName(), migrated.error().text));
    }
    const auto journal = m_database->versionOf(u"postgres-journal"_s); // a newer one is refused before anybody works
    return journal ? Result<void>() : journal.error();
}

Result<void> Operator::openJournal()
{
    if (m_journal)
        return {};
    auto journal = Journal::open(m_config.dataDir, *m_database);
    if (!journal)
        return journal.error();
    m_journal.emplace(journal.take());
    return {};
}

/// Our own tables beside Django's: without them a worker works, and knows less.
void Operator::tellMissingTables()
{
    QStringList sets, withoutThem;
    if (m_lacksTables) {
        sets.append(u"postgres"_s);
        withoutThem.append(u"a reused event_id is not noticed"_s);
    }
    if (!m_journal->whyNotOnServer().isEmpty()) {
        sets.append(u"postgres-journal"_s);
        withoutThem.append(u"the journal is kept in %1, which no other worker sees"_s.arg(
            QDir(m_config.dataDir).filePath(u"journal.db"_s)));
    }
    if (sets.isEmpty())
        return;
    const QString path = QDir(m_config.dataDir).filePath(u"sendonce-tables.sql"_s);
    const auto script = m_database->migrationScript(sets);
    QSaveFile file(path);
    const QByteArray text = script ? script->toUtf8() : QByteArray();
    const bool written = script && file.open(QIODevice::WriteOnly) && file.write(text) == text.size() && file.commit();
    Q_EMIT tablesMissing(u"%1: this role may not create tables, so %2; %3"_s.arg(
        m_database->displayName(), withoutThem.join(u", and "_s),
        written      ? u"let your DBA run %1 with psql, then start again"_s.arg(path)
            : script ? u"%1 cannot be written"_s.arg(path)
                     : script.error().text));
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
    m_queueUrl = queueUrl;
    m_dlqUrl = dlqUrl;
    m_maxReceiveCount = maxReceiveCount;
    if (!m_deadLetters)
        return;
    m_deadLetters->setQueues(queueUrl, dlqUrl, maxReceiveCount);
    m_retention->setQueues(queueUrl, dlqUrl);
    m_moveTask->setQueue(dlqUrl);
    probeForMoveTasks();
}

void Operator::probeForMoveTasks()
{
    m_moveTasks.reset();
    if (m_dlqUrl.isEmpty())
        return;
    probeMoveTasks(*m_client, m_queueUrl, m_dlqUrl, {}, this, [this, dlqUrl = m_dlqUrl](const MoveTaskSupport &found) {
        if (dlqUrl != m_dlqUrl)
            return;
        m_moveTasks = found;
        Q_EMIT moveTasksProbed(found);
    });
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
    m_mailbox.emplace(m_config.dataDir); // read when somebody asks: most workers have nobody who looks
    m_watcher = std::make_unique<QFileSystemWatcher>();
    m_watcher->addPath(m_mailbox->folder());
    m_mailboxTimer = std::make_unique<QTimer>();
    m_mailboxTimer->setSingleShot(true);
    m_mailboxTimer->setInterval(ShortestLookAgain); // a burst of mails is told once
    connect(m_mailboxTimer.get(), &QTimer::timeout, this, &Operator::mailboxChanged);
    connect(m_watcher.get(), &QFileSystemWatcher::directoryChanged, this, [this] {
        if (!m_mailboxTimer->isActive())
            m_mailboxTimer->start();
    });
    Q_EMIT mailboxChanged();
}

/// The more letters there are, the longer a look takes: about a tenth of the time is spent on it.
void Operator::lookIntoMailbox()
{
    const auto began = std::chrono::steady_clock::now();
    m_mailbox->refresh();
    const auto took = std::chrono::steady_clock::now() - began;
    m_mailboxTimer->setInterval(
        std::clamp(std::chrono::ceil<std::chrono::milliseconds>(took * 10), ShortestLookAgain, LongestLookAgain));
}

void Operator::queryMailbox(const QString &search, int limit)
{
    if (!m_mailbox) {
        MailboxSnapshot none;
        none.error = u"this profile has no embedded mailbox"_s;
        Q_EMIT mailboxSnapshot(none);
        return;
    }
    lookIntoMailbox();
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
            told = tellable(found.take(), m_maxReceiveCount);
        else
            told.error = found.error().text;
    }
    Q_EMIT story(told);
}

DeadLetters *Operator::lettersFor(const QString &act, Right right)
{
    if (!m_deadLetters) {
        Q_EMIT actFailed(act, u"the database is not open"_s);
        return nullptr;
    }
    if (right == Right::Act && m_config.readOnly) {
        Q_EMIT actFailed(act, u"this profile is read-only: it looks, but does not act"_s);
        return nullptr;
    }
    return m_deadLetters.get();
}

void Operator::browseDeadLetters(bool yes)
{
    auto *const letters = lettersFor(u"browse"_s, Right::Look);
    if (!letters)
        return;
    if (m_moveTasks && m_moveTasks->answer == MoveTaskSupport::Answer::Unknown)
        probeForMoveTasks();
    letters->browse(yes);
}

void Operator::scheduleCleanUps()
{
    m_cleanUpsWanted = true;
    if (m_retention && !m_config.readOnly)
        m_retention->schedule();
}

void Operator::previewCleanUp()
{
    if (const auto *const letters = lettersFor(u"clean up"_s, Right::Look))
        m_retention->preview(letters->eventIds());
}

void Operator::cleanUp()
{
    if (const auto *const letters = lettersFor(u"clean up"_s, Right::Act))
        m_retention->clean(letters->eventIds());
}

void Operator::cancelBrowse()
{
    if (m_deadLetters)
        m_deadLetters->cancelBrowse();
}

void Operator::openDeadLetter(const QString &messageId)
{
    if (auto *const letters = lettersFor(u"open"_s, Right::Look)) {
        DeadLetterDetail detail = letters->open(messageId);
        const auto attempts = m_journal->attempts(detail.letter.eventId, messageId);
        if (attempts)
            detail.attempts = attempts.value();
        else if (detail.error.isEmpty())
            detail.error = attempts.error().text;
        detail.hasMailbox = m_mailbox.has_value();
        if (m_mailbox && !detail.letter.eventId.isEmpty()) {
            lookIntoMailbox();
            detail.mails = m_mailbox->about(detail.letter.eventId);
        }
        Q_EMIT deadLetterOpened(detail);
    }
}

void Operator::findInDeadLetters(const QString &text, quint64 ticket)
{
    if (auto *const letters = lettersFor(u"find"_s, Right::Look))
        letters->find(text, ticket);
}

void Operator::replay(const ReplayOrder &order)
{
    if (auto *const letters = lettersFor(u"replay"_s, Right::Act))
        letters->replay(order);
}

void Operator::pauseReplay(qint64 run)
{
    if (auto *const letters = lettersFor(u"pause"_s, Right::Act))
        letters->pauseRun(run);
}

void Operator::resumeReplay(qint64 run)
{
    if (auto *const letters = lettersFor(u"resume"_s, Right::Act))
        letters->resumeRun(run);
}

void Operator::cancelReplay(qint64 run)
{
    if (auto *const letters = lettersFor(u"cancel"_s, Right::Act))
        letters->cancelRun(run);
}

void Operator::queryReplays()
{
    if (auto *const letters = lettersFor(u"replays"_s, Right::Look))
        Q_EMIT replaysListed(letters->runs());
}

void Operator::queryReplayItems(qint64 run)
{
    if (auto *const letters = lettersFor(u"replays"_s, Right::Look))
        Q_EMIT replayItemsListed(letters->itemsOf(run));
}

void Operator::startMoveTask(int perSecond)
{
    if (lettersFor(u"move task"_s, Right::Act))
        m_moveTask->start(perSecond);
}

void Operator::queryMoveTask()
{
    if (lettersFor(u"move task"_s, Right::Look))
        m_moveTask->query();
}

void Operator::cancelMoveTask()
{
    if (lettersFor(u"move task"_s, Right::Act))
        m_moveTask->cancel();
}

void Operator::deleteDeadLetters(const QStringList &messageIds)
{
    if (auto *const letters = lettersFor(u"delete"_s, Right::Act))
        letters->remove(messageIds);
}

void Operator::editAndReplay(const EditOrder &order)
{
    if (auto *const letters = lettersFor(u"edit"_s, Right::Act))
        letters->editAndReplay(order);
}

void Operator::queryKeptLetters(int limit)
{
    auto *const letters = lettersFor(u"kept letters"_s, Right::Look);
    if (!letters)
        return;
    KeptLetters listed;
    if (auto kept = letters->kept().newest(limit))
        listed.letters = kept.take();
    else
        listed.error = kept.error().text;
    Q_EMIT keptLettersListed(listed);
}

void Operator::putBackLetters(const QList<qint64> &keptIds)
{
    if (lettersFor(u"put back"_s, Right::Act))
        m_acts->putBack(keptIds);
}

void Operator::purgeDeadLetters(const QString &typedName)
{
    if (lettersFor(u"purge"_s, Right::Act))
        m_acts->purge(typedName);
}

void Operator::exportDeadLetters(const QStringList &messageIds, const QString &path, bool csv)
{
    if (lettersFor(u"export"_s, Right::Look))
        m_acts->exportLetters(messageIds, path, csv);
}

void Operator::importDeadLetters(const QString &path, bool toSource)
{
    if (lettersFor(u"import"_s, Right::Act))
        m_acts->importLetters(path, toSource);
}

void Operator::forgetClaim(const QString &eventId, const QString &reason)
{
    if (lettersFor(u"forget"_s, Right::Act))
        m_acts->forgetClaim(eventId, reason);
}

void Operator::queryAudit(qint64 beforeId, int limit)
{
    auto *const letters = lettersFor(u"audit"_s, Right::Look);
    if (!letters)
        return;
    auto page = letters->audit().page(beforeId, limit);
    if (page) {
        Q_EMIT auditListed(page.value());
        return;
    }
    AuditPage failed;
    failed.beforeId = beforeId;
    failed.error = page.error().text;
    Q_EMIT auditListed(failed);
}

void Operator::exportAudit(const QString &path)
{
    if (lettersFor(u"export"_s, Right::Look))
        m_acts->exportAudit(path);
}

void Operator::queryDoubts(int limit)
{
    DoubtList none;
    none.error = u"the database is not open"_s;
    Q_EMIT doubtsListed(m_doubts ? m_doubts->list(limit) : none);
}

void Operator::settleDoubts(const QStringList &eventIds, DoubtAct act)
{
    if (!m_doubts) {
        Q_EMIT actFailed(u"settle"_s, u"the database is not open"_s);
        return;
    }
    Q_EMIT doubtsSettled(m_doubts->settle(eventIds, act));
    if (m_deadLetters)
        m_deadLetters->refresh(eventIds);
}

void Operator::recordSend(const SendReport &report)
{
    if (!m_journal)
        return;
    m_sends.append(report);
    if (!m_sendsTriedAgain)
        writeSends();
}

void Operator::writeSends()
{
    m_sendsTriedAgain = false;
    while (!m_sends.isEmpty()) {
        const auto recorded = m_journal->recordSend(m_sends.constFirst());
        if (!recorded && recorded.error().kind == ErrorKind::Unreachable && m_sends.size() < MostSendsKept) {
            m_sendsTriedAgain = true; // the outage is told already
            QTimer::singleShot(SendsPause, this, &Operator::writeSends);
            return;
        }
        m_sends.removeFirst();
        if (!recorded)
            Q_EMIT actFailed(u"send"_s, u"the journal could not be written: "_s + recorded.error().text);
    }
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

void Operator::leave()
{
    if (m_deadLetters)
        m_deadLetters->leave();
    else
        Q_EMIT left();
}

} // namespace sendonce
