#include "ui/deadletterspanel.h"

#include "ui/deadlettersmodel.h"
#include "ui/displaytext.h"
#include "ui/emptystate.h"
#include "ui/icons.h"
#include "ui/inlineconfirm.h"
#include "ui/letteractbar.h"
#include "ui/letteractions.h"
#include "ui/plainlabel.h"
#include "ui/plaintextview.h"
#include "ui/rowtable.h"
#include "ui/runstrip.h"
#include "ui/searchfield.h"
#include "ui/storyview.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>

using namespace Qt::StringLiterals;

namespace sendonce {

DeadLettersPanel::DeadLettersPanel(QWidget *parent)
    : Panel(parent)
    , m_model(new DeadLettersModel(this))
    , m_search(new SearchField(tr("id, application, reason, body…")))
    , m_progress(new PlainLabel)
    , m_browse(new QPushButton(icon(u"browse"_s), tr("Browse…")))
    , m_acts(new LetterActions(this))
    , m_confirm(new InlineConfirm)
    , m_runStrip(new RunStrip)
    , m_table(new RowTable(tr("Dead letters")))
    , m_replayWay(new PlainLabel({}, PlainLabel::Role::Caption))
{
    m_browse->setObjectName(u"browse"_s);
    m_progress->setTone(Tone::Muted);
    m_progress->setTabular(true);
    auto *bar = new PanelBar;
    auto *barLayout = static_cast<QBoxLayout *>(bar->layout());
    barLayout->addWidget(m_search);
    barLayout->addStretch(1);
    barLayout->addWidget(m_progress);
    barLayout->addSpacing(SpacingUnit / 2);
    barLayout->addWidget(m_browse);
    barLayout->addWidget(new LetterActBar(m_acts));

    m_table->setModel(m_model);
    m_table->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    m_table->setSortingEnabled(true);
    m_table->setGlyphColumn(DeadLettersModel::Glyph);
    m_table->setColumnSample(DeadLettersModel::Event, u"23e48c51-7f0e…9a41"_s, Face::Monospace);
    m_table->setColumnSample(DeadLettersModel::Type, u"status changed"_s);
    m_table->setColumnSample(DeadLettersModel::Application, u"Application"_s);
    m_table->setColumnSample(DeadLettersModel::Verdict, u"handled 14:02:11 · replay is skipped"_s);
    m_table->setColumnSample(DeadLettersModel::Received, u"Received"_s);
    m_table->setColumnSample(DeadLettersModel::Died, u"20 min ago"_s, Face::Figures);
    m_table->setColumnSample(DeadLettersModel::FirstFailed, u"20 min ago"_s, Face::Figures);
    m_table->setColumnSample(DeadLettersModel::Back, u"Back"_s, Face::Figures);
    m_table->setColumnSample(DeadLettersModel::Age, u"23 h 59 min"_s, Face::Figures);
    m_table->setColumnSample(DeadLettersModel::Left, u"23 h 59 min"_s, Face::Figures);
    m_table->setStretchColumn(DeadLettersModel::Reason);

    auto *splitter = new QSplitter(Qt::Vertical);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_table);
    splitter->addWidget(makeDetails());
    splitter->setStretchFactor(0, 1);
    splitter->setSizes({1000, 232});

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar);
    layout->addWidget(m_confirm);
    layout->addWidget(m_runStrip);
    layout->addWidget(splitter, 1);
    layout->addWidget(m_replayWay);
    m_replayWay->setObjectName(u"replayWay"_s);
    m_replayWay->setTone(Tone::Muted);
    m_replayWay->setContentsMargins(2 * SpacingUnit, SpacingUnit / 2, 2 * SpacingUnit, SpacingUnit / 2);
    m_replayWay->hide();

    connect(m_browse, &QPushButton::clicked, this, &DeadLettersPanel::askToBrowse);
    connect(m_acts, &LetterActions::wanted, this, &DeadLettersPanel::wanted);
    connect(m_confirm, &InlineConfirm::confirmed, this, [this] {
        startBrowse();
        m_table->setFocus();
    });
    connect(m_confirm, &InlineConfirm::dismissed, this, [this] {
        updateActs();
        m_table->setFocus();
    });
    connect(m_search, &SearchField::searched, this, [this](const QString &text) {
        LetterFilter filter = m_model->filter();
        filter.text = text;
        m_model->setFilter(filter);
    });
    connect(m_search, &SearchField::left, m_table, [this] { m_table->setFocus(); });
    connect(m_table, &RowTable::currentRowChanged, this, &DeadLettersPanel::showCurrent);
    connect(m_table, &RowTable::currentEventChanged, this, &DeadLettersPanel::eventSelected);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &DeadLettersPanel::updateActs);
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] {
        showCurrent();
        updateActs();
        updateWords();
    });
    connect(m_table->emptyState(), &EmptyState::acted, this, [this] {
        if (!m_model->filter().isEmpty() && m_model->total() > 0)
            m_search->search({});
        else
            askToBrowse();
    });
    showCurrent();
    updateActs();
    updateProgress();
    updateWords();
}

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
        m_shownMessageId.clear(); // a new look has new bodies
    m_model->setList(list);
    m_list = list;
    m_list.letters.clear();
    m_seen = std::max<qint64>(list.seen, list.letters.size());
    m_browsing = !list.finished;
    m_browsed |= list.finished && list.error.isEmpty();
    updateProgress();
    updateActs();
    updateWords();
    showBody();
}

void DeadLettersPanel::showReplays(const QList<ReplayItem> &items)
{
    m_model->setReplays(items);
    updateActs();
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

void DeadLettersPanel::updateLetters(const QList<DeadLetter> &letters)
{
    m_model->update(letters);
    updateActs();
}

void DeadLettersPanel::showLetter(const DeadLetterDetail &detail)
{
    m_whole = detail.letter.message;
    if (!detail.error.isEmpty())
        m_whole.body = detail.error.toUtf8();
    showBody();
}

void DeadLettersPanel::showStory(const EventStory &story)
{
    m_story->show(story);
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

void DeadLettersPanel::askToBrowse()
{
    if (m_browsing) {
        Q_EMIT browseCancelled();
        return;
    }
    if (!m_ready)
        return;
    const QString about = m_about < 0 ? tr("How many there are is not known.")
        : m_about == 1                ? tr("There is about 1.")
                                      : tr("There are about %1.").arg(countText(m_about));
    m_confirm->ask(
        tr("Look into the dead letter queue? Each look counts as a receive of every message it shows and hides "
           "them from other readers while it lasts; at its end they are visible again. Nothing is deleted. %1")
            .arg(about),
        tr("Browse"));
    updateActs();
}

void DeadLettersPanel::setRights(bool readOnly, bool embedded)
{
    m_readOnly = readOnly;
    m_embedded = embedded;
    m_runStrip->setReadOnly(readOnly);
    updateActs();
}

QWidget *DeadLettersPanel::makeDetails()
{
    m_details = new QStackedWidget;
    m_hint = new PlainLabel;
    m_hint->setTone(Tone::Muted);
    m_hint->setAlignment(Qt::AlignCenter);
    m_details->addWidget(m_hint);

    m_body = new PlainTextView(tr("Body"));
    m_message = new PlainLabel({}, PlainLabel::Role::Caption);
    m_message->setElided(Qt::ElideMiddle);
    m_raw = new QPushButton(tr("Raw"));
    m_raw->setObjectName(u"rawBody"_s);
    m_raw->setCheckable(true);
    m_raw->setAccessibleName(tr("Show the body exactly as it was received"));

    auto *head = new QHBoxLayout;
    head->setContentsMargins(0, 0, 0, 0);
    head->addWidget(new PlainLabel(tr("Body"), PlainLabel::Role::Heading));
    head->addSpacing(SpacingUnit);
    head->addWidget(m_message, 1);
    head->addWidget(m_raw);
    auto *left = new QVBoxLayout;
    left->setSpacing(SpacingUnit / 2);
    left->addLayout(head);
    left->addWidget(m_body, 1);

    m_story = new StoryView;
    m_story->layout()->setContentsMargins(0, 6, 0, 0); // its heading on the line of the other one's
    auto *page = new QWidget;
    auto *layout = new QHBoxLayout(page);
    layout->setContentsMargins(2 * SpacingUnit, SpacingUnit - 2, 2 * SpacingUnit, SpacingUnit);
    layout->setSpacing(4 * SpacingUnit);
    layout->addLayout(left, 9);
    layout->addWidget(m_story, 10);
    m_details->addWidget(page);

    connect(m_raw, &QPushButton::toggled, this, &DeadLettersPanel::showBody);
    return m_details;
}

void DeadLettersPanel::startBrowse()
{
    m_browsing = true;
    m_seen = 0;
    m_list = {};
    m_list.about = m_about;
    m_model->forgetOutcomes();
    updateProgress();
    updateActs();
    updateWords();
    Q_EMIT browseRequested();
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

/// Nothing chosen means all that the filter shows, where that is one act; the question before it says how many.
void DeadLettersPanel::wanted(LetterAct act)
{
    QStringList messageIds = chosenIds();
    if (messageIds.isEmpty() && (act == LetterAct::Replay || act == LetterAct::Canary || act == LetterAct::Export))
        messageIds = shownIds();
    Q_EMIT actWanted(act, messageIds);
}

void DeadLettersPanel::showCurrent()
{
    const QModelIndex current = m_table->currentIndex();
    m_details->setCurrentIndex(current.isValid() ? 1 : 0);
    showBody();
    if (!current.isValid())
        return;
    const DeadLetter &letter = m_model->letter(current.row());
    if (letter.eventId.isEmpty()) {
        m_story->expect({}, tr("The body names no event that can be read,\nso the journal has nothing about it."));
    } else if (letter.eventId != m_story->eventId()) {
        m_story->expect(letter.eventId);
        Q_EMIT storyRequested(letter.eventId);
    }
}

void DeadLettersPanel::showBody()
{
    const QModelIndex current = m_table->currentIndex();
    if (!current.isValid())
        return;
    const DeadLetter &letter = m_model->letter(current.row());
    const QString &messageId = letter.message.messageId;
    QByteArray body = letter.message.body;
    if (body.isEmpty() && m_whole.messageId == messageId)
        body = m_whole.body;
    else if (body.isEmpty() && m_shownMessageId != messageId)
        Q_EMIT letterRequested(messageId);
    const QString laidOut = indentedJson(body);
    m_raw->setEnabled(!laidOut.isNull());
    m_body->setPlain(laidOut.isNull() || m_raw->isChecked() ? QString::fromUtf8(body) : laidOut);
    m_message->setPlain(tr("message %1").arg(compactId(messageId)));
    if (m_shownMessageId != messageId)
        m_body->moveCursor(QTextCursor::Start);
    m_shownMessageId = messageId;
}

void DeadLettersPanel::updateActs()
{
    LetterActState state;
    state.chosen = chosenIds().size();
    state.shown = m_model->replayableCount();
    state.ready = m_ready;
    state.browsing = m_browsing;
    state.readOnly = m_readOnly;
    state.embedded = m_embedded;
    state.moveTasks = m_moveTasks;
    m_acts->follow(state);
    m_browse->setText(m_browsing ? tr("Cancel") : tr("Browse…"));
    m_browse->setIcon(icon(m_browsing ? u"close"_s : u"browse"_s));
    m_browse->setEnabled(m_browsing || (m_ready && m_confirm->isHidden()));
}

void DeadLettersPanel::updateProgress()
{
    const QString about =
        m_list.about < 0 ? QString() : tr(" of about %1").arg(countText(std::max<qint64>(m_list.about, m_seen)));
    if (m_browsing)
        m_progress->setPlain(tr("seen %1%2…").arg(countText(m_seen), about));
    else if (!m_list.error.isEmpty())
        m_progress->setPlain(tr("the look ended early: seen %1%2").arg(countText(m_seen), about));
    else if (m_browsed)
        m_progress->setPlain(tr("seen %1%2 · %3").arg(countText(m_seen), about, agoText(m_list.browsedAt, m_now)));
    else
        m_progress->setPlain({});
    m_progress->setToolTip(toolTipText(m_list.error.isEmpty() ? utcText(m_list.browsedAt) : m_list.error));
}

void DeadLettersPanel::updateWords()
{
    EmptyState *words = m_table->emptyState();
    m_hint->setPlain(m_model->total() > 0 ? tr("Choose a dead letter to see its body and its story.")
                                          : QString()); // nothing to choose from: nothing said
    if (!m_unavailable.isEmpty()) {
        words->setWords(u"warning"_s, tr("Nothing can be read"), m_unavailable);
    } else if (m_model->total() > 0) {
        words->setWords(
            u"search"_s, tr("No dead letter matches"),
            tr("The search looks in ids, type, application, verdict, reason and body of those seen by the last look."),
            tr("Clear the search"));
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
