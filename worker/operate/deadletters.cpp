#include "worker/operate/deadletters.h"

#include "worker/events/event.h"
#include "worker/operate/letterfile.h"
#include "worker/operate/verdict.h"
#include "worker/store/forgetting.h"
#include "worker/store/processedevents.h"

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr qsizetype PageSize = 500; ///< one query each of claims and journal
constexpr auto FlushEvery = 50ms;
constexpr auto LeaveWithin = 10s; ///< what is out is waited for no longer
constexpr auto RefreshAfter = 200ms;
constexpr auto SearchSlice = 10ms; ///< a replay goes on between two
constexpr int RunsShown = 100;

bool isOpen(ReplayItem::State state)
{
    return state == ReplayItem::State::Sending || state == ReplayItem::State::Replayed
        || state == ReplayItem::State::CopyLeft;
}

/// What goes to lists: the body is on disk, the handle is nobody else's.
DeadLetter withoutBody(DeadLetter letter)
{
    letter.message.body.clear();
    letter.message.attributes.clear();
    letter.message.systemAttributes.clear();
    letter.message.receiptHandle.clear();
    return letter;
}

} // namespace

DeadLetters::DeadLetters(SqsClient &client, Database &database, Journal &journal, const EventTypes *types,
                         const Config &config, QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_database(database)
    , m_journal(journal)
    , m_types(types)
    , m_config(config)
    , m_claims(m_database)
    , m_log(journal.database())
    , m_kept(journal.database())
    , m_audit(journal.database(), config.profile)
    , m_watch(m_log, m_claims)
    , m_longPoll(config.embedded ? 0s : 1s)
    , m_store(std::make_shared<LetterStore>(config.dataDir))
{
    m_flushTimer.setSingleShot(true);
    m_flushTimer.setInterval(FlushEvery);
    connect(&m_flushTimer, &QTimer::timeout, this, &DeadLetters::flush);
    m_refreshTimer.setSingleShot(true);
    m_refreshTimer.setInterval(RefreshAfter);
    connect(&m_refreshTimer, &QTimer::timeout, this, &DeadLetters::refreshDue);
    m_searchTimer.setInterval(0);
    connect(&m_searchTimer, &QTimer::timeout, this, &DeadLetters::findMore);
    connect(&m_watch, &OutcomeWatch::outcome, this, [this](qint64 run, int row, const ReplayOutcome &outcome) {
        if (ReplayRun *const found = runOf(run))
            found->outcome(row, outcome);
    });
    m_leaveTimer.setSingleShot(true);
    m_leaveTimer.setInterval(LeaveWithin);
    connect(&m_leaveTimer, &QTimer::timeout, this, [this] {
        tellHidden();
        Q_EMIT left();
    });
    LetterStore::removeLeftovers(config.dataDir);
}

DeadLetters::~DeadLetters() = default;

void DeadLetters::setQueues(const QUrl &queueUrl, const QUrl &dlqUrl, int maxReceiveCount)
{
    m_queueUrl = queueUrl;
    m_dlqUrl = dlqUrl;
    m_watch.setMaxReceiveCount(maxReceiveCount);
}

// ---- browse --------------------------------------------------------------------------------------------------------

void DeadLetters::browse(bool yes)
{
    if (m_browsing || isAnyActive()) {
        Q_EMIT failed(u"browse"_s, m_browsing ? u"a browse is already running"_s : u"a replay is running"_s);
        return;
    }
    const quint64 number = m_list.browse + 1;
    m_list = {};
    m_list.browse = number;
    m_list.browsedAt = QDateTime::currentDateTimeUtc();
    m_byEvent.clear();
    m_fresh.clear();
    m_texts.clear();
    m_searchTimer.stop(); // what it looked in is gone
    if (m_dlqUrl.isEmpty()) {
        m_list.finished = true;
        m_list.noQueue = true;
        m_list.error = u"the queue has no redrive policy, so it has no dead letter queue; set one or give --dlq-url"_s;
        Q_EMIT listChanged(m_list);
        return;
    }
    m_store = std::make_shared<LetterStore>(m_config.dataDir);
    if (const auto begun = m_store->begin(); !begun) {
        m_list.finished = true;
        m_list.error = begun.error().text;
        Q_EMIT listChanged(m_list);
        return;
    }
    const auto begins = m_claims.begins();
    m_memoryBegins = begins ? begins.value() : QDateTime();
    const auto forgotten = Forgetting(m_database).forgottenBefore();
    m_forgottenBefore = forgotten ? forgotten.value() : QDateTime();
    m_browsing = true;
    m_browse =
        std::make_unique<Browse>(m_client, *m_store, Browse::Where{m_dlqUrl, m_longPoll}, BrowseMachine::Limits{});
    connect(m_browse.get(), &Browse::factsKnown, this, [this] {
        m_list.about = m_browse->facts().about;
        m_list.elsewhere = m_browse->facts().elsewhere;
        flush();
    });
    connect(m_browse.get(), &Browse::seen, this, &DeadLetters::seen);
    connect(m_browse.get(), &Browse::finished, this, &DeadLetters::browsed);
    m_browse->start(yes);
}

void DeadLetters::cancelBrowse()
{
    if (m_browsing)
        m_browse->cancel();
}

void DeadLetters::seen(const QList<Message> &messages)
{
    QStringList messageIds;
    for (const Message &message : messages) {
        DeadLetter letter;
        letter.message = message;
        letter.receiveCount = std::max(0, message.receiveCount() - 1); // this look was one
        describe(letter, *m_types);
        letter.eventType = shared(letter.eventType);
        letter.bodyProblem = shared(letter.bodyProblem);
        if (const auto retention = m_browse->facts().retention; retention && letter.sentAt.isValid())
            letter.expiresAt = letter.sentAt.addSecs(retention->count());
        messageIds.append(message.messageId);
        m_fresh.append(withoutBody(std::move(letter)));
    }
    m_watch.foundDead(messageIds);
    if (m_fresh.size() >= PageSize)
        flush();
    else if (!m_flushTimer.isActive())
        m_flushTimer.start();
}

void DeadLetters::flush()
{
    if (!m_browsing)
        return;
    m_flushTimer.stop();
    judgePages(m_fresh);
    for (const DeadLetter &letter : std::as_const(m_fresh)) {
        if (!letter.eventId.isEmpty())
            m_byEvent.insert(letter.eventId, m_list.letters.size());
        m_list.letters.append(letter);
    }
    m_list.seen = m_list.letters.size();
    DeadLetterList part = m_list;
    part.letters = std::exchange(m_fresh, {});
    Q_EMIT listChanged(part);
}

void DeadLetters::browsed()
{
    flush();
    m_browsing = false;
    m_list.finished = true;
    m_list.needsYes = m_browse->needsYes();
    m_list.error = m_browse->error();
    m_list.cancelled = m_browse->machine().isCancelled();
    m_list.full = m_browse->machine().isFull();
    QStringList notices;
    if (m_list.full)
        notices.append(u"stopped at %1 letters; there are more"_s.arg(m_list.seen));
    if (const qsizetype hidden = m_browse->machine().stillHidden(); hidden > 0)
        notices.append(
            u"%1 letters stay hidden for at most 10 minutes, for the queue refused to show them"_s.arg(hidden));
    if (const int lost = m_browse->machine().lostReceives(); lost > 0)
        notices.append(u"%1 answers were lost: up to %2 letters may stay hidden for at most 10 minutes"_s.arg(
            QString::number(lost), QString::number(lost * 10)));
    m_list.notice = notices.join(u"; "_s);
    if (!m_list.notice.isEmpty())
        Q_EMIT failed(u"browse"_s, m_list.notice);
    Q_EMIT listChanged(m_list);
    leaveIfAtRest();
}

void DeadLetters::judgePages(QList<DeadLetter> &letters)
{
    for (qsizetype from = 0; from < letters.size(); from += PageSize)
        judgePage(letters, from, std::min(from + PageSize, letters.size()));
}

void DeadLetters::judgePage(QList<DeadLetter> &letters, qsizetype from, qsizetype to)
{
    QStringList eventIds, messageIds;
    for (qsizetype i = from; i < to; ++i) {
        if (!letters[i].eventId.isEmpty())
            eventIds.append(letters[i].eventId);
        messageIds.append(letters[i].message.messageId);
    }
    const auto standing = m_claims.standing(eventIds);
    const auto byEvent = m_journal.about(eventIds);
    const auto byMessage = m_journal.aboutMessages(messageIds);
    const auto replayedAs = m_log.replayedAs(messageIds);
    const auto timesBack = m_log.timesReplayed(eventIds);
    for (qsizetype i = from; i < to; ++i) {
        DeadLetter &letter = letters[i];
        DeadLetterFacts facts;
        facts.databaseRead = standing.ok();
        facts.inDoubt = m_config.inDoubt;
        facts.memoryBegins = m_memoryBegins;
        facts.forgottenBefore = m_forgottenBefore;
        if (standing && standing->contains(letter.eventId))
            facts.processedAt = standing->value(letter.eventId);
        if (byEvent && byEvent->contains(letter.eventId))
            facts.journal = byEvent->value(letter.eventId);
        else if (byMessage && byMessage->contains(letter.message.messageId))
            facts.journal = byMessage->value(letter.message.messageId);
        if (replayedAs)
            facts.replayedAs = replayedAs->value(letter.message.messageId);
        if (timesBack)
            facts.timesBack = timesBack->value(letter.eventId);
        judge(letter, facts);
        letter.verdictText = shared(letter.verdictText);
        letter.reason = shared(letter.reason);
    }
}

/// The same characters as an equal text before it: of tens of thousands of letters most fail for the same few reasons.
QString DeadLetters::shared(const QString &text)
{
    return *m_texts.insert(text);
}

void DeadLetters::refresh(const QStringList &eventIds)
{
    for (const QString &eventId : eventIds) {
        if (m_byEvent.contains(eventId))
            m_toRefresh.insert(eventId);
    }
    if (!m_toRefresh.isEmpty() && !m_refreshTimer.isActive())
        m_refreshTimer.start();
}

void DeadLetters::refreshDue()
{
    QList<qsizetype> places;
    QList<DeadLetter> letters;
    for (const QString &eventId : std::exchange(m_toRefresh, {})) {
        for (const qsizetype place : m_byEvent.values(eventId)) {
            places.append(place);
            letters.append(m_list.letters[place]);
        }
    }
    judgePages(letters);
    QList<DeadLetter> changed;
    for (qsizetype i = 0; i < places.size(); ++i) {
        if (m_list.letters[places[i]] == letters[i])
            continue;
        m_list.letters[places[i]] = letters[i];
        changed.append(letters[i]);
    }
    if (!changed.isEmpty())
        Q_EMIT updated(changed);
}

QStringList DeadLetters::eventIds() const
{
    QStringList ids;
    for (const DeadLetter &letter : m_list.letters) {
        if (!letter.eventId.isEmpty())
            ids.append(letter.eventId);
    }
    ids.removeDuplicates();
    return ids;
}

QStringList DeadLetters::messageIds() const
{
    QStringList ids;
    for (const DeadLetter &letter : m_list.letters)
        ids.append(letter.message.messageId);
    return ids;
}

DeadLetterDetail DeadLetters::open(const QString &messageId)
{
    DeadLetterDetail detail;
    const qsizetype place = m_browse ? m_browse->machine().placeOf(messageId) : -1;
    if (place < 0 || place >= m_list.letters.size()) {
        detail.letter.message.messageId = messageId;
        detail.error = u"not in the last browse: browse again"_s;
        return detail;
    }
    detail.letter = m_list.letters[place];
    if (const auto filled = m_store->fill(detail.letter.message, m_browse->placeInStore(place)); !filled)
        detail.error = filled.error().text;
    return detail;
}

void DeadLetters::find(const QString &text, quint64 ticket)
{
    m_soughtText = text;
    m_matches = {};
    m_matches.ticket = ticket;
    m_nextSought = 0;
    m_searchTimer.start();
}

void DeadLetters::findMore()
{
    QElapsedTimer clock;
    clock.start();
    for (; m_nextSought < m_list.letters.size() && clock.elapsed() < SearchSlice.count(); ++m_nextSought) {
        const DeadLetter &letter = m_list.letters[m_nextSought];
        bool matches = false;
        for (const QString *field : {&letter.eventId, &letter.message.messageId, &letter.eventType,
                                     &letter.applicationId, &letter.reason, &letter.bodyExcerpt})
            matches = matches || field->contains(m_soughtText, Qt::CaseInsensitive);
        if (!matches && letter.sizeBytes > letter.bodyExcerpt.size()) {
            const auto body = m_store->body(m_browse->placeInStore(m_nextSought));
            if (!body)
                m_matches.error = body.error().text;
            matches = body && QString::fromUtf8(body.value()).contains(m_soughtText, Qt::CaseInsensitive);
        }
        if (matches)
            m_matches.messageIds.append(letter.message.messageId);
    }
    if (m_nextSought < m_list.letters.size())
        return;
    m_searchTimer.stop();
    Q_EMIT found(std::exchange(m_matches, {}));
}

// ---- replay --------------------------------------------------------------------------------------------------------

ReplayServices DeadLetters::services()
{
    return {m_client, m_journal, m_log, m_kept, m_watch, m_audit, m_config.profile, m_longPoll};
}

ReplayRun *DeadLetters::runOf(qint64 run) const
{
    const auto found =
        std::find_if(m_runs.cbegin(), m_runs.cend(), [run](const auto &each) { return each->run() == run; });
    return found == m_runs.cend() ? nullptr : found->get();
}

bool DeadLetters::isAnyActive() const
{
    return std::any_of(m_runs.cbegin(), m_runs.cend(), [](const auto &run) { return run->isActive(); });
}

/// Locks it from the click to its outcome; nothing when it is locked or not there (which is told).
std::optional<ReplayRun::Letter> DeadLetters::take(const QString &messageId)
{
    const qsizetype place = m_browse ? m_browse->machine().placeOf(messageId) : -1;
    if (place < 0 || place >= m_list.letters.size()) {
        Q_EMIT itemsChanged({{messageId, {}, ReplayItem::State::Failed, u"not in the last browse: browse again"_s, 0}});
        return std::nullopt;
    }
    if (m_underWay.contains(messageId))
        return std::nullopt;
    m_underWay.insert(messageId);
    ReplayRun::Letter letter;
    letter.letter = m_list.letters[place];
    letter.handle = m_browse->machine().handle(place);
    letter.place = m_browse->placeInStore(place);
    return letter;
}

void DeadLetters::replay(const ReplayOrder &order)
{
    if (m_browsing) {
        Q_EMIT failed(u"replay"_s, u"a browse is running; wait for its end or cancel it"_s);
        return;
    }
    QList<ReplayRun::Letter> letters;
    ReplayForecast forecast;
    for (const QString &messageId : order.messageIds) {
        auto letter = take(messageId);
        if (!letter)
            continue;
        if (letter->letter.forgotten && order.overrideReason.trimmed().isEmpty()) {
            m_underWay.remove(messageId);
            Q_EMIT itemsChanged(
                {{messageId, letter->letter.eventId, ReplayItem::State::Failed,
                  u"stopped: claims of its time were cleaned up, so it may mail a second time; give a reason to replay it"_s,
                  0}});
            continue;
        }
        forecast.add(letter->letter);
        letters.append(*letter);
    }
    if (letters.isEmpty())
        return;
    ReplayRun::Plan plan;
    plan.act = u"replay"_s;
    plan.queueUrl = m_queueUrl;
    plan.dlqUrl = m_dlqUrl;
    plan.settings.canary = order.canary;
    plan.settings.stopAfter = order.stopAfter;
    plan.settings.perSecond = order.perSecond;
    plan.text = u"%1 letters: %2 not handled, %3 handled, %4 in doubt, %5 unknown, %6 invalid"_s.arg(
        QString::number(letters.size()), QString::number(forecast.send), QString::number(forecast.skip),
        QString::number(forecast.doubt), QString::number(forecast.unknown + forecast.forgotten),
        QString::number(forecast.fail));
    if (order.canary)
        plan.text += u"; canary first"_s;
    if (order.stopAfter > 0)
        plan.text += u"; stop after %1 failures"_s.arg(order.stopAfter);
    if (order.perSecond > 0)
        plan.text += u"; at most %1/s"_s.arg(order.perSecond);
    if (!order.overrideReason.isEmpty())
        plan.text += u"; forgotten ones too, because: %1"_s.arg(order.overrideReason);
    begin(std::make_unique<ReplayRun>(services(), plan, m_store, letters), false);
}

void DeadLetters::remove(const QStringList &messageIds)
{
    if (m_browsing) {
        Q_EMIT failed(u"delete"_s, u"a browse is running; wait for its end or cancel it"_s);
        return;
    }
    QList<ReplayRun::Letter> letters;
    for (const QString &messageId : messageIds) {
        if (const auto letter = take(messageId))
            letters.append(*letter);
    }
    if (letters.isEmpty())
        return;
    ReplayRun::Plan plan;
    plan.act = u"delete"_s;
    plan.queueUrl = m_queueUrl;
    plan.dlqUrl = m_dlqUrl;
    plan.settings.act = ReplayMachine::Act::Delete;
    plan.text = u"%1 letters, a copy of each is kept"_s.arg(letters.size());
    begin(std::make_unique<ReplayRun>(services(), plan, m_store, letters), false);
}

void DeadLetters::editAndReplay(const EditOrder &order)
{
    const auto refuse = [this, &order](const QString &why) {
        m_underWay.remove(order.messageId);
        Q_EMIT failed(u"edit"_s, why);
    };
    if (m_browsing) {
        Q_EMIT failed(u"edit"_s, u"a browse is running; wait for its end or cancel it"_s);
        return;
    }
    const auto event = parseEvent(order.body, *m_types);
    if (!event) {
        Q_EMIT failed(u"edit"_s, event.error().text);
        return;
    }
    DeadLetterDetail original = open(order.messageId);
    auto letter = original.error.isEmpty() ? take(order.messageId) : std::nullopt;
    if (!letter) {
        Q_EMIT failed(u"edit"_s, original.error.isEmpty() ? u"it is already on its way"_s : original.error);
        return;
    }
    const QString before = original.letter.eventId;
    if (!order.newEvent && !before.isEmpty() && event->eventId != before) {
        refuse(u"the event id was changed to %1: that is a new event; choose so, or put %2 back"_s.arg(event->eventId,
                                                                                                       before));
        return;
    }
    if (order.newEvent && event->eventId == before) {
        refuse(u"a new event needs an event_id of its own"_s);
        return;
    }
    const auto standing = m_claims.standing({event->eventId});
    if (!standing) {
        refuse(standing.error().text);
        return;
    }
    if (standing->contains(event->eventId)) {
        refuse(
            order.newEvent
                ? u"event %1 was handled already; a new event needs an event_id that nobody has used"_s.arg(
                    event->eventId)
                : u"event %1 was handled already, so what was corrected would be skipped; make it a new event to mail again"_s
                      .arg(event->eventId));
        return;
    }
    KeptLetter copy;
    copy.by = m_audit.who();
    copy.messageId = order.messageId;
    copy.eventId = before;
    copy.json = letterfile::jsonLine(original.letter);
    if (const auto kept = m_kept.keep(m_dlqUrl.toString(), {copy}); !kept) {
        refuse(kept.error().text);
        return;
    }
    Message edited = original.letter.message;
    edited.body = order.body;
    const auto place = m_store->put(edited);
    if (!place) {
        refuse(place.error().text);
        return;
    }
    if (order.newEvent) {
        (void)m_journal.recordReplay(before, order.messageId, u"edited into the new event %1"_s.arg(event->eventId));
        (void)m_journal.recordReplay(event->eventId, order.messageId,
                                     u"made from the dead letter %1 of event %2"_s.arg(order.messageId, before));
    } else {
        (void)m_journal.recordReplay(before, order.messageId, u"edited"_s);
    }
    letter->isEdited = true;
    letter->place = place.value();
    letter->letter.eventId = event->eventId;
    letter->letter.sizeBytes = order.body.size() + original.letter.sizeBytes - original.letter.message.body.size();
    letter->letter.verdict = Verdict::NotHandled;
    ReplayRun::Plan plan;
    plan.act = u"edit"_s;
    plan.queueUrl = m_queueUrl;
    plan.dlqUrl = m_dlqUrl;
    plan.text = order.newEvent ? u"replayed as the new event %1"_s.arg(event->eventId)
                               : u"corrected, the same event %1"_s.arg(event->eventId);
    begin(std::make_unique<ReplayRun>(services(), plan, m_store, QList{*letter}), false);
}

void DeadLetters::begin(std::unique_ptr<ReplayRun> run, bool taken)
{
    ReplayRun *const begun = run.get();
    connect(begun, &ReplayRun::itemsChanged, this, &DeadLetters::settle);
    connect(begun, &ReplayRun::progressChanged, this, &DeadLetters::progressChanged);
    connect(begun, &ReplayRun::rested, this, &DeadLetters::leaveIfAtRest);
    connect(begun, &ReplayRun::failed, this, [this, act = begun->plan().act](const QString &text) {
        Q_EMIT failed(act, u"the journal could not be written: "_s + text);
    });
    // Those that are over and have no outcome to wait for.
    std::erase_if(m_runs, [](const auto &each) { return each->isOver() && each->progress().waiting == 0; });
    m_runs.push_back(std::move(run));
    if (taken) {
        begun->goOn();
        return;
    }
    const auto started = begun->start();
    if (started)
        return;
    QList<ReplayItem> items;
    for (const ReplayRun::Letter &letter : begun->letters())
        items.append({letter.letter.message.messageId, letter.letter.eventId, ReplayItem::State::Failed,
                      u"nothing was done: %1"_s.arg(started.error().text), 0});
    m_runs.pop_back();
    settle(items);
}

void DeadLetters::settle(const QList<ReplayItem> &items)
{
    QStringList eventIds;
    for (const ReplayItem &item : items) {
        if (isOpen(item.state)) {
            m_underWay.insert(item.messageId);
            continue;
        }
        m_underWay.remove(item.messageId);
        eventIds.append(item.eventId);
    }
    Q_EMIT itemsChanged(items);
    refresh(eventIds);
}

void DeadLetters::pauseRun(qint64 run)
{
    if (ReplayRun *const found = runOf(run))
        found->pause();
    else
        Q_EMIT failed(u"pause"_s, u"there is no such replay in this process"_s);
}

void DeadLetters::resumeRun(qint64 run)
{
    if (ReplayRun *const found = runOf(run)) {
        found->resume();
        return;
    }
    if (m_browsing) {
        Q_EMIT failed(u"resume"_s, u"a browse is running; wait for its end or cancel it"_s);
        return;
    }
    const auto runs = m_log.runs(RunsShown);
    if (!runs) {
        Q_EMIT failed(u"resume"_s, runs.error().text);
        return;
    }
    const QDateTime now = QDateTime::currentDateTimeUtc();
    const auto wanted = std::find_if(runs->cbegin(), runs->cend(), [&](const ReplayLog::Run &each) {
        return run == 0 ? !runOf(each.run) && isInterrupted(each, m_audit.host(), now) : each.run == run;
    });
    if (wanted == runs->cend()) {
        Q_EMIT failed(u"resume"_s, run == 0 ? u"no replay was interrupted"_s : u"there is no such replay"_s);
        return;
    }
    if (!isInterrupted(*wanted, m_audit.host(), now)) {
        Q_EMIT failed(u"resume"_s,
                      wanted->state == ReplayProgress::State::Finished
                              || wanted->state == ReplayProgress::State::Cancelled
                          ? u"that replay is over"_s
                          : u"another process (pid %1 on %2) is at it"_s.arg(wanted->pid).arg(wanted->host));
        return;
    }
    auto store = std::make_shared<LetterStore>(m_config.dataDir);
    if (const auto begun = store->begin(); !begun) {
        Q_EMIT failed(u"resume"_s, begun.error().text);
        return;
    }
    auto taken = ReplayRun::taken(services(), *wanted, store);
    if (!taken) {
        Q_EMIT failed(u"resume"_s, taken.error().text);
        return;
    }
    begin(taken.take(), true);
}

void DeadLetters::cancelRun(qint64 run)
{
    if (ReplayRun *const found = runOf(run)) {
        found->cancel();
        return;
    }
    const auto runs = m_log.runs(RunsShown);
    const QDateTime now = QDateTime::currentDateTimeUtc();
    for (const ReplayLog::Run &each : runs ? runs.value() : QList<ReplayLog::Run>()) {
        if (each.run != run)
            continue;
        if (!isInterrupted(each, m_audit.host(), now)) {
            Q_EMIT failed(u"cancel"_s, u"it is over, or another process is at it"_s);
            return;
        }
        const auto written = m_log.setState(run, ReplayProgress::State::Cancelled, {});
        if (!written) {
            Q_EMIT failed(u"cancel"_s, written.error().text);
            return;
        }
        ReplayLog::Run cancelled = each;
        cancelled.state = ReplayProgress::State::Cancelled;
        if (const auto progress = m_log.progress(cancelled))
            Q_EMIT progressChanged(progress.value());
        return;
    }
    Q_EMIT failed(u"cancel"_s, u"there is no such replay"_s);
}

QList<ReplayProgress> DeadLetters::runs()
{
    QList<ReplayProgress> all;
    const auto runs = m_log.runs(RunsShown);
    if (!runs) {
        Q_EMIT failed(u"replays"_s, runs.error().text);
        return all;
    }
    const QDateTime now = QDateTime::currentDateTimeUtc();
    for (ReplayLog::Run run : runs.value()) {
        if (const ReplayRun *const ours = runOf(run.run)) {
            all.append(ours->progress());
            continue;
        }
        if (isInterrupted(run, m_audit.host(), now))
            run.state = ReplayProgress::State::Interrupted;
        if (const auto progress = m_log.progress(run))
            all.append(progress.value());
    }
    return all;
}

ReplayItems DeadLetters::itemsOf(qint64 run)
{
    ReplayItems listed;
    listed.run = run;
    if (const ReplayRun *const ours = runOf(run)) {
        listed.items = ours->items();
        return listed;
    }
    const auto rows = m_log.rows(run);
    if (!rows) {
        listed.error = rows.error().text;
        return listed;
    }
    for (const ReplayLog::Row &row : rows.value())
        listed.items.append({row.messageId, row.eventId, row.state, row.text, run});
    return listed;
}

// ---- the end -------------------------------------------------------------------------------------------------------

void DeadLetters::leave()
{
    m_leaveTimer.start();
    cancelBrowse();
    for (const auto &run : m_runs)
        run->leave();
    leaveIfAtRest();
}

void DeadLetters::leaveIfAtRest()
{
    const bool allRest =
        !m_browsing && std::all_of(m_runs.cbegin(), m_runs.cend(), [](const auto &run) { return run->isAtRest(); });
    if (!allRest || !m_leaveTimer.isActive())
        return;
    m_leaveTimer.stop();
    tellHidden();
    Q_EMIT left();
}

void DeadLetters::tellHidden()
{
    if (m_browsing)
        Q_EMIT failed(u"browse"_s, u"letters it has seen stay hidden for at most 10 minutes"_s);
    ReplayRun::Hidden hidden;
    for (const auto &run : m_runs) {
        const ReplayRun::Hidden more = run->hidden();
        hidden.letters += more.letters;
        hidden.longest = std::max(hidden.longest, more.longest);
    }
    if (hidden.letters > 0)
        Q_EMIT failed(u"replay"_s,
                      u"%1 letters may stay hidden for at most %2 s, for the queue did not answer"_s.arg(
                          QString::number(hidden.letters), QString::number(hidden.longest.count())));
}

} // namespace sendonce
