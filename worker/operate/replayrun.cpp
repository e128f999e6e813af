#include "worker/operate/replayrun.h"

#include "worker/operate/letterfile.h"
#include "worker/operate/storytelling.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto LockFor = 300s;
constexpr auto SeekVisibility = 30s;
constexpr auto SeekPatience = 40s; ///< longer than a search that was killed hides what it found
constexpr auto FlushEvery = 50ms;
constexpr auto AliveEvery = 2s;

QList<ReplayMachine::Row> machineRows(const QList<ReplayRun::Letter> &letters)
{
    QList<ReplayMachine::Row> rows;
    rows.reserve(letters.size());
    for (const ReplayRun::Letter &letter : letters) {
        rows.append(
            {letter.letter.sizeBytes, letter.letter.verdict, letter.state, letter.text, letter.place.offset >= 0});
    }
    return rows;
}

} // namespace

ReplayRun::ReplayRun(ReplayServices services, Plan plan, std::shared_ptr<LetterStore> store, QList<Letter> letters,
                     QObject *parent)
    : QObject(parent)
    , m_services(services)
    , m_plan(std::move(plan))
    , m_store(std::move(store))
    , m_letters(std::move(letters))
    , m_machine(m_plan.settings, machineRows(m_letters))
{
    for (int row = 0; row < m_letters.size(); ++row)
        m_rowOf.insert(m_letters[row].letter.message.messageId, row);
    m_clock.start();
    m_flushTimer.setSingleShot(true);
    m_flushTimer.setInterval(FlushEvery);
    connect(&m_flushTimer, &QTimer::timeout, this, &ReplayRun::flush);
    m_aliveTimer.setInterval(AliveEvery);
    connect(&m_aliveTimer, &QTimer::timeout, this,
            [this] { (void)m_services.log.setState(m_run.run, m_machine.state(), m_machine.text()); });
    m_canaryTimer.setSingleShot(true);
    m_canaryTimer.setInterval(m_plan.canaryWithin);
    connect(&m_canaryTimer, &QTimer::timeout, this, [this] {
        carryOut(m_machine.canaryTimedOut(
            u"no outcome of the first one was seen within %1 s; is a worker running? Resume replays the others"_s.arg(
                m_plan.canaryWithin / 1s)));
    });

    m_run.run = nowUsecs();
    m_run.who = m_services.audit.who();
    m_run.host = m_services.audit.host();
    m_run.profile = m_services.profile;
    m_run.pid = QCoreApplication::applicationPid();
    m_run.queueUrl = m_plan.queueUrl.toString();
    m_run.dlqUrl = m_plan.dlqUrl.toString();
    m_run.settings = QJsonDocument(QJsonObject{{u"act"_s, m_plan.act},
                                               {u"canary"_s, m_plan.settings.canary},
                                               {u"stopAfter"_s, m_plan.settings.stopAfter},
                                               {u"perSecond"_s, m_plan.settings.perSecond}})
                         .toJson(QJsonDocument::Compact);
}

Result<void> ReplayRun::start()
{
    QStringList ids;
    for (const Letter &letter : std::as_const(m_letters))
        ids.append(letter.letter.message.messageId);
    if (const auto noted = m_services.audit.note(m_plan.act, ids, m_plan.text); !noted)
        return noted;
    QList<ReplayLog::Row> rows;
    for (int row = 0; row < m_letters.size(); ++row)
        rows.append(rowOf(row));
    if (const auto begun = m_services.log.begin(m_run, rows); !begun)
        return begun;
    m_aliveTimer.start();
    QList<int> all;
    for (int row = 0; row < m_letters.size(); ++row)
        all.append(row);
    told(all);
    carryOut(m_machine.start(now()));
    stateChanged();
    return {};
}

Result<std::unique_ptr<ReplayRun>> ReplayRun::taken(ReplayServices services, const ReplayLog::Run &run,
                                                    std::shared_ptr<LetterStore> store)
{
    const auto rows = services.log.rows(run.run);
    if (!rows)
        return rows.error();
    const QJsonObject settings = QJsonDocument::fromJson(run.settings).object();
    Plan plan;
    plan.act = settings.value("act"_L1).toString();
    plan.queueUrl = QUrl(run.queueUrl);
    plan.dlqUrl = QUrl(run.dlqUrl);
    plan.settings.act = plan.act == "delete"_L1 ? ReplayMachine::Act::Delete : ReplayMachine::Act::Replay;
    plan.settings.stopAfter = settings.value("stopAfter"_L1).toInt();
    plan.settings.perSecond = settings.value("perSecond"_L1).toDouble();
    const bool begun = std::any_of(rows->cbegin(), rows->cend(),
                                   [](const ReplayLog::Row &row) { return row.state != ReplayItem::State::Sending; });
    plan.settings.canary = settings.value("canary"_L1).toBool() && !begun;
    QList<Letter> letters;
    for (const ReplayLog::Row &row : rows.value()) {
        Letter letter;
        letter.letter.message.messageId = row.messageId;
        letter.letter.eventId = row.eventId;
        letter.letter.verdict = row.verdict;
        letter.handle = row.receiptHandle;
        letter.replayedAs = row.replayedAs;
        letter.state = row.state;
        letter.text = row.text;
        if (row.state == ReplayItem::State::Left)
            letter.state = ReplayItem::State::Sending;
        if (plan.act == "edit"_L1 && row.state == ReplayItem::State::Sending) {
            letter.state = ReplayItem::State::Failed;
            letter.text = u"nothing was sent: the edited text went with its process"_s;
        }
        letters.append(letter);
    }
    auto taken = std::make_unique<ReplayRun>(services, plan, std::move(store), std::move(letters));
    const qint64 pid = taken->m_run.pid;
    const QString who = taken->m_run.who;
    const QString host = taken->m_run.host;
    taken->m_run = run;
    taken->m_run.pid = pid;
    taken->m_run.who = who;
    taken->m_run.host = host;
    taken->m_run.state = ReplayProgress::State::Running;
    taken->m_isTaken = true;
    if (const auto adopted = services.log.adopt(taken->m_run); !adopted)
        return adopted.error();
    return taken;
}

void ReplayRun::goOn()
{
    (void)m_services.audit.note(m_plan.act, {}, u"resumed: run %1"_s.arg(m_run.run));
    m_aliveTimer.start();
    QList<OutcomeWatch::Watched> waiting;
    QList<int> all;
    for (int row = 0; row < m_letters.size(); ++row) {
        all.append(row);
        const Letter &letter = m_letters[row];
        if (!letter.replayedAs.isEmpty() && m_machine.rows()[row].state == ReplayItem::State::Replayed) {
            waiting.append({m_run.run, row, letter.replayedAs, letter.letter.eventId,
                            QDateTime::fromMSecsSinceEpoch(m_run.run / 1000, Qt::UTC),
                            letter.letter.verdict == Verdict::Handled});
        }
    }
    told(all);
    m_services.watch.watch(waiting);
    makeVisible();
}

/// What the dead process had locked stays hidden for up to 300 s; its handles are still good.
void ReplayRun::makeVisible()
{
    QList<int> rows;
    for (int row = 0; row < m_letters.size(); ++row) {
        const ReplayItem::State state = m_machine.rows()[row].state;
        if ((state == ReplayItem::State::Sending || state == ReplayItem::State::CopyLeft)
            && !m_letters[row].handle.isEmpty())
            rows.append(row);
    }
    const auto begin = [this] {
        if (m_leaving)
            return;
        carryOut(m_machine.start(now()));
        stateChanged();
    };
    for (qsizetype from = 0; from < rows.size(); from += 10) {
        // Refused: received by somebody since, and sought like the others.
        unlockBatch(rows.mid(from, 10), [this, begin] {
            if (m_unlocking == 0)
                begin();
        });
    }
    if (rows.isEmpty())
        begin();
}

void ReplayRun::pause()
{
    carryOut(m_machine.pause());
}

void ReplayRun::resume()
{
    carryOut(m_machine.resume(now()));
}

void ReplayRun::cancel()
{
    if (m_seek)
        m_seek->cancel();
    carryOut(m_machine.cancel());
    stateChanged();
}

void ReplayRun::leave()
{
    m_leaving = true;
    carryOut(m_machine.pause());
    if (m_seek)
        m_seek->cancel();
    restIfIdle();
}

ReplayRun::Hidden ReplayRun::hidden() const
{
    Hidden hidden;
    for (const std::chrono::milliseconds until : m_locks) {
        if (until <= now())
            continue;
        ++hidden.letters;
        hidden.longest = std::max(hidden.longest, std::chrono::ceil<std::chrono::seconds>(until - now()));
    }
    return hidden;
}

void ReplayRun::restIfIdle()
{
    if (!m_leaving || !isAtRest())
        return;
    flush();
    Q_EMIT rested();
}

void ReplayRun::outcome(int row, const ReplayOutcome &outcome)
{
    if (outcome.isFinal) {
        carryOut(m_machine.outcome(row, outcome.state, outcome.text, now()));
        return;
    }
    ReplayItem item{m_letters[row].letter.message.messageId, m_letters[row].letter.eventId, outcome.state, outcome.text,
                    m_run.run};
    m_items.append(item);
    if (!m_flushTimer.isActive())
        m_flushTimer.start();
}

ReplayProgress ReplayRun::progress() const
{
    ReplayProgress progress = m_machine.progress();
    progress.run = m_run.run;
    progress.act = m_plan.act;
    progress.startedAt = QDateTime::fromMSecsSinceEpoch(m_run.run / 1000, Qt::UTC);
    progress.by = u"%1 on %2"_s.arg(m_run.who, m_run.host);
    return progress;
}

ReplayItem ReplayRun::itemOf(int row) const
{
    const ReplayMachine::Row &each = m_machine.rows()[row];
    return {m_letters[row].letter.message.messageId, m_letters[row].letter.eventId, each.state, each.text, m_run.run};
}

QList<ReplayItem> ReplayRun::items() const
{
    QList<ReplayItem> items;
    for (int row = 0; row < m_letters.size(); ++row)
        items.append(itemOf(row));
    return items;
}

void ReplayRun::carryOut(const ReplayCommands &commands)
{
    for (const ReplayCommand &command : commands) {
        switch (command.kind) {
        case ReplayCommand::Kind::Lock:
            lock(command.rows);
            break;
        case ReplayCommand::Kind::Seek:
            seek(command.rows);
            break;
        case ReplayCommand::Kind::Send:
            send(command.rows);
            break;
        case ReplayCommand::Kind::Note:
            note(command.rows);
            break;
        case ReplayCommand::Kind::Delete:
            remove(command.rows);
            break;
        case ReplayCommand::Kind::Unlock:
            unlock(command.rows);
            break;
        case ReplayCommand::Kind::Tell:
            save(command.rows);
            told(command.rows);
            break;
        case ReplayCommand::Kind::Wait:
            QTimer::singleShot(command.wait, Qt::PreciseTimer, this, [this] { carryOut(m_machine.waited(now())); });
            break;
        case ReplayCommand::Kind::StateChanged:
            break;
        }
    }
    if (std::any_of(commands.cbegin(), commands.cend(),
                    [](const ReplayCommand &command) { return command.kind == ReplayCommand::Kind::StateChanged; }))
        stateChanged();
    else if ((m_machine.state() == ReplayProgress::State::Cancelled) && m_machine.isIdle())
        stateChanged();
    restIfIdle();
}

ReplayMachine::Entries ReplayRun::entriesOf(const QList<int> &rows, const QList<BatchEntryResult> &results) const
{
    ReplayMachine::Entries entries;
    for (const int row : rows) {
        const QString id = QString::number(row);
        const auto found =
            std::find_if(results.cbegin(), results.cend(), [&id](const auto &result) { return result.id == id; });
        if (found == results.cend())
            entries.append({row, false, u"the queue's answer leaves it out"_s});
        else
            entries.append({row, found->ok, found->text});
    }
    return entries;
}

void ReplayRun::lock(const QList<int> &rows)
{
    QList<VisibilityEntry> entries;
    for (const int row : rows) {
        entries.append({QString::number(row), m_letters[row].handle, LockFor});
        m_locks.insert(row, now() + LockFor);
    }
    m_services.client.changeVisibilityBatch(
        m_plan.dlqUrl, entries, this, [this, rows](const Result<QList<BatchEntryResult>> &result) {
            for (const BatchEntryResult &each : result ? result.value() : QList<BatchEntryResult>()) {
                if (!each.ok)
                    m_locks.remove(each.id.toInt());
            }
            carryOut(result ? m_machine.locked(entriesOf(rows, result.value()), now())
                            : m_machine.lockFailed(rows, result.error().text));
        });
}

void ReplayRun::send(const QList<int> &rows)
{
    QList<SendEntry> entries;
    ReplayMachine::Entries unreadable;
    for (const int row : rows) {
        Message message = m_letters[row].letter.message;
        if (const auto filled = m_store->fill(message, m_letters[row].place); !filled) {
            unreadable.append({row, false, filled.error().text});
            continue;
        }
        SendEntry entry;
        entry.id = QString::number(row);
        entry.body = message.body;
        entry.attributes = message.attributes;
        entry.traceHeader = message.systemAttributes.value(u"AWSTraceHeader"_s);
        entry.groupId = message.systemAttributes.value(u"MessageGroupId"_s);
        entries.append(entry);
    }
    if (entries.isEmpty()) {
        carryOut(m_machine.sent(unreadable, now()));
        return;
    }
    // In the story a replay stands where it began: a worker may have mailed before the answer to the send is here.
    QList<Journal::Note> begun;
    for (const SendEntry &entry : std::as_const(entries)) {
        const DeadLetter &letter = m_letters[entry.id.toInt()].letter;
        begun.append({letter.eventId, letter.message.messageId, BeingReplayed});
    }
    if (const auto noted = m_services.journal.recordReplays(begun); !noted)
        Q_EMIT failed(noted.error().text);
    m_services.client.sendBatch(m_plan.queueUrl, entries, this,
                                [this, rows, unreadable](const Result<QList<BatchEntryResult>> &result) {
                                    if (!result) {
                                        carryOut(m_machine.sendFailed(rows, result.error().text));
                                        return;
                                    }
                                    for (const BatchEntryResult &each : result.value()) {
                                        if (each.ok)
                                            m_letters[each.id.toInt()].replayedAs = each.messageId;
                                    }
                                    QList<int> asked;
                                    for (const int row : rows) {
                                        if (std::none_of(unreadable.cbegin(), unreadable.cend(),
                                                         [row](const auto &entry) { return entry.row == row; }))
                                            asked.append(row);
                                    }
                                    carryOut(m_machine.sent(entriesOf(asked, result.value()) + unreadable, now()));
                                });
}

void ReplayRun::note(const QList<int> &rows)
{
    if (m_plan.settings.act == ReplayMachine::Act::Delete) {
        const auto kept = keepCopies(rows);
        carryOut(m_machine.noted(rows, kept ? QString() : kept.error().text, now()));
        return;
    }
    QList<ReplayLog::Row> written;
    QList<Journal::Note> replays;
    for (const int row : rows) {
        const Letter &letter = m_letters[row];
        ReplayLog::Row each = rowOf(row);
        each.state = ReplayItem::State::CopyLeft; // true until the delete is answered
        written.append(each);
        replays.append({letter.letter.eventId, letter.letter.message.messageId, replayedAsMessage(letter.replayedAs)});
    }
    auto noted = m_services.log.update(m_run.run, written);
    if (noted)
        noted = m_services.journal.recordReplays(replays);
    carryOut(m_machine.noted(rows, noted ? QString() : noted.error().text, now()));
}

Result<void> ReplayRun::keepCopies(const QList<int> &rows)
{
    QList<KeptLetter> copies;
    for (const int row : rows) {
        DeadLetter letter = m_letters[row].letter;
        if (const auto filled = m_store->fill(letter.message, m_letters[row].place); !filled)
            return filled;
        KeptLetter copy;
        copy.by = m_run.who;
        copy.messageId = letter.message.messageId;
        copy.eventId = letter.eventId;
        copy.json = letterfile::jsonLine(letter);
        copies.append(copy);
    }
    return m_services.kept.keep(m_run.dlqUrl, copies);
}

void ReplayRun::remove(const QList<int> &rows)
{
    QList<DeleteEntry> entries;
    for (const int row : rows)
        entries.append({QString::number(row), m_letters[row].handle});
    m_services.client.deleteBatch(
        m_plan.dlqUrl, entries, this, [this, rows](const Result<QList<BatchEntryResult>> &result) {
            ReplayMachine::Entries outcomes;
            if (result) {
                outcomes = entriesOf(rows, result.value());
            } else {
                for (const int row : rows)
                    outcomes.append({row, false, result.error().text});
            }
            for (const ReplayMachine::Entry &each : std::as_const(outcomes)) {
                if (each.ok)
                    m_locks.remove(each.row);
            }
            carryOut(m_machine.deleted(outcomes, now()));
            if (m_plan.settings.act == ReplayMachine::Act::Delete)
                return;
            QList<OutcomeWatch::Watched> sent;
            for (const int row : rows) {
                sent.append({m_run.run, row, m_letters[row].replayedAs, m_letters[row].letter.eventId,
                             QDateTime::currentDateTimeUtc().addSecs(-60),
                             m_letters[row].letter.verdict == Verdict::Handled});
            }
            m_services.watch.watch(sent);
        });
}

void ReplayRun::unlock(const QList<int> &rows)
{
    for (qsizetype from = 0; from < rows.size(); from += 10)
        unlockBatch(rows.mid(from, 10), [this] { restIfIdle(); });
}

/// Up to ten. A refused one is not hidden by us; without an answer the locks end by themselves after 300 s.
void ReplayRun::unlockBatch(const QList<int> &rows, const std::function<void()> &answered)
{
    QList<VisibilityEntry> entries;
    for (const int row : rows)
        entries.append({QString::number(row), m_letters[row].handle, 0s});
    ++m_unlocking;
    m_services.client.changeVisibilityBatch(m_plan.dlqUrl, entries, this,
                                            [this, rows, answered](const Result<QList<BatchEntryResult>> &result) {
                                                --m_unlocking;
                                                for (const int row : result ? rows : QList<int>())
                                                    m_locks.remove(row);
                                                answered();
                                            });
}

void ReplayRun::seek(const QList<int> &rows)
{
    QSet<QString> wanted;
    for (const int row : rows)
        wanted.insert(m_letters[row].letter.message.messageId);
    BrowseMachine::Limits limits;
    limits.visibility = SeekVisibility;
    limits.held = std::numeric_limits<int>::max();
    m_seek = std::make_unique<Browse>(m_services.client, *m_store, Browse::Where{m_plan.dlqUrl, m_services.longPoll},
                                      limits, wanted);
    m_seek->setPatience(SeekPatience, [this](const QStringList &missing) {
        const auto replayed = m_services.log.replayedAs(missing);
        return replayed ? QStringList(replayed->keys()) : QStringList();
    });
    connect(m_seek.get(), &Browse::handlesChanged, this, [this](const QList<QPair<QString, QString>> &handles) {
        // At once: killed in the search, the next process makes visible again what is hidden under these.
        QList<int> known;
        for (const auto &[messageId, handle] : handles) {
            const auto row = m_rowOf.constFind(messageId);
            if (row == m_rowOf.cend())
                continue;
            m_letters[row.value()].handle = handle;
            known.append(row.value());
        }
        save(known);
    });
    connect(m_seek.get(), &Browse::finished, this, [this, rows] { sought(rows); });
    m_seek->start(true);
}

void ReplayRun::sought(const QList<int> &rows)
{
    Browse *const seek = m_seek.release();
    seek->deleteLater(); // it is still telling us
    const QStringList missing = seek->machine().missing();
    const auto replayed = m_services.log.replayedAs(missing);
    QList<ReplayMachine::Sought> found;
    QList<OutcomeWatch::Watched> elsewhere;
    for (const int row : rows) {
        Letter &letter = m_letters[row];
        const QString &messageId = letter.letter.message.messageId;
        using Where = ReplayMachine::Sought::Where;
        const qsizetype place = seek->machine().placeOf(messageId);
        if (place >= 0 && seek->placeInStore(place).offset >= 0) {
            letter.handle = seek->machine().handle(place);
            if (!letter.isEdited)
                letter.place = seek->placeInStore(place);
            found.append({row, Where::Here, {}, letter.place.size});
        } else if (replayed && replayed->contains(messageId) && letter.replayedAs.isEmpty()) {
            letter.replayedAs = replayed->value(messageId);
            found.append({row, Where::Replayed,
                          u"replayed by another run as message %1, waiting for its outcome"_s.arg(letter.replayedAs),
                          0});
            elsewhere.append({m_run.run, row, letter.replayedAs, letter.letter.eventId,
                              QDateTime::currentDateTimeUtc().addSecs(-60), letter.letter.verdict == Verdict::Handled});
        } else {
            if (!letter.replayedAs.isEmpty())
                elsewhere.append({m_run.run, row, letter.replayedAs, letter.letter.eventId,
                                  QDateTime::fromMSecsSinceEpoch(m_run.run / 1000, Qt::UTC),
                                  letter.letter.verdict == Verdict::Handled});
            found.append(
                {row, Where::Gone,
                 u"not in the dead letter queue any more, nothing was sent: deleted, expired, or hidden by somebody else"_s,
                 0});
        }
    }
    const bool cutShort = m_leaving && seek->error().isEmpty(); // what it did not see may be there
    carryOut(m_machine.sought(found, cutShort ? u"the search was cut short"_s : seek->error(), now()));
    m_services.watch.watch(elsewhere);
}

ReplayLog::Row ReplayRun::rowOf(int row) const
{
    const Letter &letter = m_letters[row];
    ReplayLog::Row written;
    written.place = row;
    written.messageId = letter.letter.message.messageId;
    written.eventId = letter.letter.eventId;
    written.verdict = letter.letter.verdict;
    written.receiptHandle = letter.handle;
    written.state = m_machine.rows()[row].state;
    written.replayedAs = letter.replayedAs;
    written.text = m_machine.rows()[row].text;
    return written;
}

void ReplayRun::save(const QList<int> &rows)
{
    QList<ReplayLog::Row> written;
    for (const int row : rows)
        written.append(rowOf(row));
    if (const auto saved = m_services.log.update(m_run.run, written); !saved)
        Q_EMIT failed(saved.error().text);
}

void ReplayRun::told(const QList<int> &rows)
{
    for (const int row : rows)
        m_items.append(itemOf(row));
    if (!m_flushTimer.isActive())
        m_flushTimer.start();
}

void ReplayRun::flush()
{
    if (!m_items.isEmpty())
        Q_EMIT itemsChanged(std::exchange(m_items, {}));
    Q_EMIT progressChanged(progress());
}

void ReplayRun::stateChanged()
{
    const ReplayProgress::State state = m_machine.state();
    if (const auto saved = m_services.log.setState(m_run.run, state, m_machine.text()); !saved)
        Q_EMIT failed(saved.error().text);
    if (state == ReplayProgress::State::AwaitingCanary)
        m_canaryTimer.start();
    else
        m_canaryTimer.stop();
    const bool over =
        state == ReplayProgress::State::Finished || (state == ReplayProgress::State::Cancelled && m_machine.isIdle());
    if (over && !m_ended) {
        m_ended = true;
        m_aliveTimer.stop();
        const ReplayProgress counts = progress();
        (void)m_services.audit.note(m_plan.act, {}, u"run %1"_s.arg(m_run.run),
                                    u"%1: %2 done, %3 failed, %4 left"_s.arg(
                                        state == ReplayProgress::State::Finished ? u"finished"_s : u"cancelled"_s,
                                        QString::number(counts.done), QString::number(counts.failed),
                                        QString::number(counts.left)));
        flush();
        Q_EMIT ended();
        return;
    }
    if (!m_flushTimer.isActive())
        m_flushTimer.start();
}

} // namespace sendonce
