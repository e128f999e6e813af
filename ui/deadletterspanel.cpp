#include "ui/deadletterspanel.h"

#include "ui/coalescer.h"
#include "ui/deadlettersmodel.h"
#include "ui/displaytext.h"
#include "ui/emptystate.h"
#include "ui/icons.h"
#include "ui/inlineconfirm.h"
#include "ui/letteractbar.h"
#include "ui/letteractions.h"
#include "ui/letterdetails.h"
#include "ui/letterfacets.h"
#include "ui/letterfiltermenu.h"
#include "ui/letterwords.h"
#include "ui/plainlabel.h"
#include "ui/rowsanddetails.h"
#include "ui/rowtable.h"
#include "ui/runstrip.h"
#include "ui/searchfield.h"

#include <QApplication>
#include <QBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QSettings>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {
namespace {

constexpr int GroupsFrom = 1300; ///< px of the panel's width at the default font that leave room for the groups
constexpr qint64 HeldAtMost = 100'000; ///< by a browse (worker.h)
const QString GroupsKey = u"letterGroupsShown"_s;

/// The widest of the words that a row without a text of the worker's own says.
QString longestVerdict(const QFontMetrics &metrics)
{
    QString longest;
    for (const Verdict verdict :
         {Verdict::NotHandled, Verdict::Handled, Verdict::InDoubt, Verdict::Unknown, Verdict::Invalid}) {
        DeadLetter letter;
        letter.verdict = verdict;
        const QString words = letterText(letter, nullptr);
        if (metrics.horizontalAdvance(words) > metrics.horizontalAdvance(longest))
            longest = words;
    }
    return longest;
}

} // namespace

DeadLettersPanel::DeadLettersPanel(QWidget *parent)
    : Panel(parent)
    , m_model(new DeadLettersModel(this))
    , m_search(new SearchField(tr("id, application, reason, body…")))
    , m_filterMenu(new LetterFilterMenu(this))
    , m_filter(new QPushButton(icon(u"list"_s), tr("Filter")))
    , m_progress(new PlainLabel)
    , m_browse(new QPushButton(icon(u"browse"_s), tr("Browse…")))
    , m_acts(new LetterActions(this))
    , m_confirm(new InlineConfirm)
    , m_runStrip(new RunStrip)
    , m_groups(new LetterFacets)
    , m_table(new RowTable(tr("Dead letters")))
    , m_details(new LetterDetails)
    , m_replayWay(new PlainLabel({}, PlainLabel::Role::Caption))
    , m_groupChanges(new Coalescer(300ms, this))
{
    m_filter->setObjectName(u"letterFilter"_s);
    m_filter->setMenu(m_filterMenu);
    m_filter->setAccessibleName(tr("Filter of dead letters"));
    m_browse->setObjectName(u"browse"_s);
    m_progress->setObjectName(u"browseProgress"_s);
    m_progress->setTabular(true);
    m_progress->setElided(Qt::ElideRight);
    m_progress->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto *bar = new PanelBar;
    auto *barLayout = static_cast<QBoxLayout *>(bar->layout());
    barLayout->addWidget(m_search);
    barLayout->addWidget(m_filter);
    barLayout->addWidget(m_progress, 1);
    barLayout->addWidget(m_browse);
    barLayout->addWidget(new LetterActBar(m_acts));

    using Model = DeadLettersModel;
    m_table->setModel(m_model);
    m_table->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    m_table->setSortingEnabled(true);
    m_table->setGlyphColumn(Model::Glyph);
    m_table->setColumnSample(Model::Event, u"23e48c51-7f0e…9a41"_s, Face::Monospace);
    m_table->setColumnSample(Model::Type, u"status changed"_s);
    m_table->setColumnSample(Model::Application, u"Application"_s);
    m_table->setColumnSample(Model::Verdict, longestVerdict(m_table->fontMetrics()));
    m_table->setColumnSample(Model::Received, u"Received"_s);
    for (const int column : {Model::Died, Model::FirstFailed})
        m_table->setColumnSample(column, u"20 min ago"_s, Face::Figures);
    m_table->setColumnSample(Model::Back, u"Back"_s, Face::Figures);
    for (const int column : {Model::Age, Model::Left})
        m_table->setColumnSample(column, u"23 h 59 min"_s, Face::Figures);
    m_table->setStretchColumn(Model::Reason, u"451 4.3.0 mail server is down"_s);
    m_groups->hide();
    m_rows = new RowsAndDetails(m_table, m_details, m_groups);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar);
    layout->addWidget(m_confirm);
    layout->addWidget(m_runStrip);
    layout->addWidget(m_rows, 1);
    layout->addWidget(m_replayWay);
    m_replayWay->setObjectName(u"replayWay"_s);
    m_replayWay->setTone(Tone::Muted);
    m_replayWay->setContentsMargins(2 * SpacingUnit, SpacingUnit / 2, 2 * SpacingUnit, SpacingUnit / 2);
    m_replayWay->hide();

    connectParts();
    updateActs();
    updateProgress();
    updateWords();
}

void DeadLettersPanel::connectParts()
{
    connect(m_browse, &QPushButton::clicked, this, &DeadLettersPanel::askToBrowse);
    connect(m_acts, &LetterActions::wanted, this, &DeadLettersPanel::wanted);
    connect(m_confirm, &InlineConfirm::confirmed, this, &DeadLettersPanel::answered);
    connect(m_confirm, &InlineConfirm::dismissed, this, [this] {
        m_question = Question::None;
        updateActs();
        m_table->setFocus();
    });
    connect(m_search, &SearchField::searched, this, [this](const QString &text) {
        LetterFilter filter = m_model->filter();
        filter.text = text;
        setFilter(filter);
    });
    connect(m_search, &SearchField::left, m_table, [this] { m_table->setFocus(); });
    connect(m_groups, &LetterFacets::filterChosen, this, &DeadLettersPanel::setFilter);
    connect(m_filterMenu, &LetterFilterMenu::filterChosen, this, &DeadLettersPanel::setFilter);
    connect(m_filterMenu, &LetterFilterMenu::groupsToggled, this, [this](bool shown) {
        m_groupsChosen = true;
        if (m_settings)
            m_settings->setValue(GroupsKey, shown);
        showGroups(shown);
    });
    connect(m_filterMenu, &LetterFilterMenu::saveWanted, this, [this] {
        m_question = Question::FilterName;
        m_confirm->askForText(tr("Keep this search and these groups under which name? One that is there is replaced."),
                              tr("Name of the filter"), tr("Save"));
        updateActs();
    });
    connect(m_table, &RowTable::currentRowChanged, this, &DeadLettersPanel::showCurrent);
    connect(m_table, &RowTable::currentEventChanged, this, &DeadLettersPanel::eventSelected);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &DeadLettersPanel::updateActs);
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] {
        showCurrent();
        updateActs();
    });
    connect(m_model, &DeadLettersModel::arranged, this, [this] {
        updateProgress();
        updateWords();
    });
    connect(m_table->emptyState(), &EmptyState::acted, this, [this] {
        if (m_model->total() > 0)
            setFilter({});
        else
            askToBrowse();
    });
    connect(m_groupChanges, &Coalescer::due, this, &DeadLettersPanel::updateGroups);
    connect(m_details, &LetterDetails::storyWanted, this, &DeadLettersPanel::storyRequested);
    m_groups->setActable([this](const LetterGroups::Group &group) { return m_model->groupIds(group).size(); });
    connect(m_groups, &LetterFacets::actWanted, this, [this](LetterAct act) {
        if (const auto group = m_groups->currentGroup())
            Q_EMIT actWanted(act, m_model->groupIds(*group));
    });
}

void DeadLettersPanel::keepStateIn(QSettings *settings)
{
    m_settings = settings;
    m_filterMenu->keepIn(settings);
    m_groupsChosen = settings->contains(GroupsKey);
    if (m_groupsChosen)
        showGroups(settings->value(GroupsKey).toBool());
}

// ---- what comes ----------------------------------------------------------------------------------------------------

void DeadLettersPanel::showDepth(qint64 deadLetters)
{
    if (m_about == deadLetters)
        return;
    m_about = deadLetters;
    updateWords();
}

void DeadLettersPanel::showList(const DeadLetterList &list)
{
    if (list.browse != m_list.browse)
        m_details->forgetWhole(); // a new look has new bodies
    m_browsing = !list.finished;
    if (list.needsYes) {
        m_list.about = -1;
        m_question = Question::TypedBrowse;
        m_confirm->askForWord(
            tr("This dead letter queue has a redrive policy of its own: each look brings its letters nearer to yet "
               "another queue, where nobody looks for them. Type yes to look all the same."),
            tr("yes"), tr("Browse"));
    } else {
        m_model->setList(list);
        m_list = list;
        m_list.letters.clear();
        m_seen = std::max<qint64>(list.seen, list.letters.size());
        m_browsed |= list.finished && list.error.isEmpty();
        if (list.finished)
            searchBodies();
        m_groupChanges->schedule();
    }
    updateProgress();
    updateActs();
    updateWords();
    showCurrent();
}

void DeadLettersPanel::showReplays(const QList<ReplayItem> &items)
{
    m_model->setReplays(items);
    updateActs();
    showCurrent();
}

void DeadLettersPanel::showMoveTasks(const MoveTaskSupport &support)
{
    using Answer = MoveTaskSupport::Answer;
    m_moveTasks = support;
    updateActs();
    m_replayWay->setVisible(support.answer == Answer::No || support.answer == Answer::NotPermitted);
    m_replayWay->setPlain(support.answer == Answer::No
                              ? tr("This endpoint has no message move tasks: a replay sends, verifies, deletes.")
                              : tr("Message move tasks are not permitted here: a replay sends, verifies, deletes."));
    m_replayWay->setToolTip(toolTipText(support.reason));
}

void DeadLettersPanel::showMatches(const DeadLetterMatches &matches)
{
    if (matches.ticket != m_ticket)
        return; // somebody typed on
    m_searching = false;
    m_model->setBodyMatches(matches.messageIds);
    updateProgress();
    updateWords();
}

void DeadLettersPanel::updateLetters(const QList<DeadLetter> &letters)
{
    m_model->update(letters);
    m_groupChanges->schedule();
    updateActs();
    showCurrent();
}

void DeadLettersPanel::showLetter(const DeadLetterDetail &detail)
{
    m_details->showWhole(detail);
}

void DeadLettersPanel::showStory(const EventStory &story)
{
    m_details->showStory(story);
}

void DeadLettersPanel::setNow(const QDateTime &now)
{
    m_now = now;
    m_model->setNow(now);
    updateProgress();
}

void DeadLettersPanel::setReady()
{
    m_ready = true;
    m_unavailable.clear();
    updateActs();
    updateWords();
}

void DeadLettersPanel::setUnavailable(const QString &text)
{
    m_unavailable = text;
    m_ready = false;
    updateActs();
    updateWords();
}

void DeadLettersPanel::setRights(bool readOnly, bool embedded)
{
    m_readOnly = readOnly;
    m_embedded = embedded;
    m_runStrip->setReadOnly(readOnly);
    updateActs();
}

void DeadLettersPanel::setQueueNames(const QueueNames &names)
{
    m_hasQueue = !names.deadLetters.isEmpty();
    updateActs();
}

bool DeadLettersPanel::revealEvent(const QString &eventId)
{
    if (eventId.isEmpty())
        return false;
    if (m_table->currentEventId() == eventId)
        return true;
    const int row = m_model->rowOfEvent(eventId);
    if (row >= 0)
        m_table->revealRow(row);
    return row >= 0;
}

// ---- what a person wants -------------------------------------------------------------------------------------------

void DeadLettersPanel::askToBrowse()
{
    if (m_browsing) {
        Q_EMIT browseCancelled();
        return;
    }
    if (!m_ready)
        return;
    m_question = Question::Browse;
    const QString about = m_about < 0 ? tr("How many there are is not known.")
        : m_about == 1                ? tr("There is about 1.")
        : m_about <= HeldAtMost
        ? tr("There are about %1.").arg(countText(m_about))
        : tr("There are about %1, of which a look takes %2.").arg(countText(m_about), countText(HeldAtMost));
    m_confirm->ask(
        tr("Look into the dead letter queue? Each look counts as a receive of every message it shows and hides "
           "them from other readers while it lasts; at its end they are visible again, or after 10 minutes if this "
           "console is killed. Nothing is deleted. %1")
            .arg(about),
        tr("Browse"));
    updateActs();
}

void DeadLettersPanel::answered()
{
    const Question question = std::exchange(m_question, Question::None);
    if (question == Question::Browse || question == Question::TypedBrowse)
        startBrowse(question == Question::TypedBrowse);
    else if (question == Question::FilterName)
        m_filterMenu->save(m_confirm->typed());
    updateActs();
    m_table->setFocus();
}

void DeadLettersPanel::startBrowse(bool yes)
{
    m_browsing = true;
    m_seen = 0;
    m_list = {};
    m_list.about = m_about;
    m_model->forgetOutcomes();
    updateProgress();
    updateActs();
    updateWords();
    Q_EMIT browseRequested(yes);
}

/// Nothing chosen means all that the filter shows, where that is one act; the question before it says how many.
void DeadLettersPanel::wanted(LetterAct act)
{
    QStringList messageIds = chosenIds();
    if (messageIds.isEmpty() && (act == LetterAct::Replay || act == LetterAct::Canary || act == LetterAct::Export))
        messageIds = shownIds();
    Q_EMIT actWanted(act, messageIds);
}

QStringList DeadLettersPanel::chosenIds() const
{
    QStringList messageIds;
    for (const int row : m_table->selectedRows()) {
        if (m_model->canReplay(row))
            messageIds += m_model->letter(row).message.messageId;
    }
    return messageIds;
}

QStringList DeadLettersPanel::shownIds() const
{
    QStringList messageIds;
    for (int row = 0; row < m_model->rowCount(); ++row) {
        if (m_model->canReplay(row))
            messageIds += m_model->letter(row).message.messageId;
    }
    return messageIds;
}

int DeadLettersPanel::chosenCount() const
{
    const QList<int> rows = m_table->selectedRows();
    return int(std::count_if(rows.cbegin(), rows.cend(), [this](int row) { return m_model->canReplay(row); }));
}

int DeadLettersPanel::shownCount() const
{
    int count = 0;
    for (int row = 0; row < m_model->rowCount(); ++row)
        count += m_model->canReplay(row);
    return count;
}

QList<DeadLetter> DeadLettersPanel::letters(const QStringList &messageIds) const
{
    QList<DeadLetter> letters;
    letters.reserve(messageIds.size());
    for (const QString &messageId : messageIds) {
        if (const DeadLetter *letter = m_model->letterOf(messageId))
            letters += *letter;
    }
    return letters;
}

void DeadLettersPanel::lockLetters(const QStringList &messageIds)
{
    m_model->lock(messageIds);
    updateActs();
}

void DeadLettersPanel::unlockLetters(const QStringList &messageIds)
{
    m_model->unlock(messageIds);
    updateActs();
}

// ---- filter --------------------------------------------------------------------------------------------------------

void DeadLettersPanel::setFilter(const LetterFilter &filter)
{
    const bool otherText = filter.text != m_model->filter().text;
    m_model->setFilter(filter);
    m_search->search(filter.text); // says nothing when it stands there
    m_filterMenu->setFilter(filter);
    const qsizetype groups = filter.verdicts.size() + filter.reasons.size() + filter.types.size();
    m_filter->setText(groups == 0 ? tr("Filter") : tr("Filter · %1").arg(groups));
    updateGroups();
    if (otherText)
        searchBodies();
    updateProgress();
    updateWords();
}

/// The rows are searched at once, here; the bodies are on disk, and their answer adds to it.
void DeadLettersPanel::searchBodies()
{
    ++m_ticket; // what is under way is about another text, or another look
    m_searching = !m_model->filter().text.isEmpty() && m_browsed && !m_browsing && m_model->total() > 0;
    if (m_searching)
        Q_EMIT searchRequested(m_model->filter().text, m_ticket);
}

void DeadLettersPanel::showGroups(bool shown)
{
    m_groupsWanted = shown;
    m_filterMenu->setGroupsShown(shown);
    updateGroups();
}

void DeadLettersPanel::updateGroups()
{
    m_groups->setVisible(m_groupsWanted && m_model->total() > 0);
    m_groups->show(m_model->groups(), m_model->filter());
}

void DeadLettersPanel::resizeEvent(QResizeEvent *event)
{
    Panel::resizeEvent(event);
    if (!m_groupsChosen)
        showGroups(width() >= GroupsFrom * QApplication::font().pixelSize() / 13);
}

// ---- what is said --------------------------------------------------------------------------------------------------

void DeadLettersPanel::showCurrent()
{
    const QModelIndex current = m_table->currentIndex();
    if (!current.isValid())
        return;
    const DeadLetter &letter = m_model->letter(current.row());
    const bool other = letter.message.messageId != m_details->messageId();
    m_details->showRow(letter, m_model->replayOf(letter.message.messageId));
    if (other)
        Q_EMIT letterRequested(letter.message.messageId);
}

void DeadLettersPanel::updateActs()
{
    LetterActState state;
    state.chosen = chosenCount();
    state.shown = shownCount();
    state.ready = m_ready;
    state.browsing = m_browsing;
    state.readOnly = m_readOnly;
    state.embedded = m_embedded;
    state.hasQueue = m_hasQueue;
    state.moveTasks = m_moveTasks;
    m_acts->follow(state);
    m_groups->follow(state);
    m_browse->setText(m_browsing ? tr("Cancel") : tr("Browse…"));
    m_browse->setIcon(icon(m_browsing ? u"close"_s : u"browse"_s));
    m_browse->setEnabled(m_browsing || (m_ready && m_question == Question::None));
}

void DeadLettersPanel::updateProgress()
{
    QString seen = m_list.about < 0
        ? tr("seen %1").arg(countText(m_seen))
        : tr("seen %1 of about %2").arg(countText(m_seen), countText(std::max<qint64>(m_list.about, m_seen)));
    Tone tone = Tone::Muted;
    QString text;
    if (m_browsing) {
        text = seen + u'…';
    } else if (!m_list.error.isEmpty()) {
        text = tr("the look ended early: %1").arg(seen);
        tone = Tone::Failed;
    } else if (m_list.full) {
        text = tr("%1 · no more are taken at once, there are more").arg(seen);
        tone = Tone::InDoubt;
    } else if (m_browsed) {
        text = tr("%1 · %2").arg(m_list.cancelled ? tr("cancelled: %1").arg(seen) : seen,
                                 agoText(m_list.browsedAt, m_now));
    }
    if (!text.isEmpty() && m_model->rowCount() < m_model->total())
        text.prepend(tr("%1 shown · ").arg(countText(m_model->rowCount())));
    if (m_searching)
        text = tr("searching the bodies…");
    m_progress->setPlain(text);
    m_progress->setTone(tone);
    QStringList more;
    if (m_list.browsedAt.isValid())
        more += utcText(m_list.browsedAt);
    if (m_list.elsewhere > 0)
        more += tr("About %1 were hidden by other readers before the look and may be missing.")
                    .arg(countText(m_list.elsewhere));
    for (const QString &each : {m_list.notice, m_list.error}) {
        if (!each.isEmpty())
            more += each;
    }
    m_progress->setToolTip(toolTipText(more.join(u'\n')));
}

void DeadLettersPanel::updateWords()
{
    EmptyState *words = m_table->emptyState();
    m_rows->setHint(m_model->total() > 0 ? tr("Choose a dead letter to see its body and its story.")
                                         : QString()); // nothing to choose from: nothing said
    if (!m_unavailable.isEmpty()) {
        words->setWords(u"warning"_s, tr("Nothing can be read"), m_unavailable);
    } else if (m_model->total() > 0) {
        words->setWords(u"search"_s, m_searching ? tr("Searching the bodies…") : tr("No dead letter matches"),
                        tr("The search looks in ids, type, application, verdict, reason and body of those seen by the "
                           "last look, within the chosen groups."),
                        tr("Show all"));
    } else if (m_browsing) {
        words->setWords(u"browse"_s, tr("Looking into the dead letter queue…"),
                        tr("It takes several passes until every message has been seen."));
    } else if (!m_list.error.isEmpty()) {
        words->setWords(u"warning"_s, tr("The dead letters could not be read"), m_list.error, tr("Browse…"));
    } else if (m_browsed) {
        words->setWords(u"check"_s, tr("No dead letters"), tr("The last look found the dead letter queue empty."),
                        tr("Browse…"));
    } else if (m_about == 0) {
        words->setWords(u"check"_s, tr("No dead letters"),
                        tr("The queue counts none. A message that failed three times gets here, with its reason."));
    } else {
        words->setWords(u"deadletter"_s,
                        m_about < 0        ? tr("The dead letters have not been looked at")
                            : m_about == 1 ? tr("About 1 dead letter")
                                           : tr("About %1 dead letters").arg(countText(m_about)),
                        tr("They are read only when you ask, because each look counts as a receive of every message."),
                        m_ready ? tr("Browse…") : QString());
    }
}

} // namespace sendonce
