#include "ui/processedpanel.h"

#include "ui/coalescer.h"
#include "ui/column.h"
#include "ui/displaytext.h"
#include "ui/emptystate.h"
#include "ui/factlist.h"
#include "ui/icons.h"
#include "ui/plainlabel.h"
#include "ui/processedmodel.h"
#include "ui/rowtable.h"
#include "ui/searchfield.h"
#include "ui/storyview.h"

#include <QBoxLayout>
#include <QClipboard>
#include <QGuiApplication>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {
namespace {

enum Fact { EventFact, TypeFact, ApplicationFact, ResultFact, DuplicatesFact, ProcessedFact };

constexpr auto LiveInterval = 250ms; // a query each; the list follows, the operator thread stays free
constexpr auto SettleInterval = 1500ms;

} // namespace

ProcessedPanel::ProcessedPanel(QWidget *parent)
    : Panel(parent)
    , m_model(new ProcessedModel(this))
    , m_search(new SearchField(tr("id, type, application…")))
    , m_count(new PlainLabel)
    , m_table(new RowTable(tr("Processed events")))
    , m_live(new Coalescer(LiveInterval, this))
    , m_settle(new Coalescer(SettleInterval, this))
{
    auto *bar = new PanelBar;
    auto *barLayout = static_cast<QBoxLayout *>(bar->layout());
    m_count->setTone(Tone::Muted);
    barLayout->addWidget(m_search);
    barLayout->addStretch(1);
    barLayout->addWidget(m_count);
    auto *cleanUp = new QPushButton(tr("Clean up…"));
    cleanUp->setObjectName(u"cleanUp"_s);
    cleanUp->setToolTip(toolTipText(tr("Forget old events that no message can bring back, after a look at how many")));
    barLayout->addWidget(cleanUp);
    connect(cleanUp, &QPushButton::clicked, this, &ProcessedPanel::cleanUpRequested);

    m_table->setModel(m_model);
    m_table->setGlyphColumn(ProcessedModel::Glyph);
    m_table->setColumnSample(ProcessedModel::Event, u"23e48c51-7f0e-4b7e-8c55-1f0e6a5d9a41"_s, Face::Monospace);
    m_table->setColumnSample(ProcessedModel::Type, u"status changed  "_s);
    m_table->setColumnSample(ProcessedModel::Application, u"Application"_s);
    m_table->setColumnSample(ProcessedModel::Result, u"application gone  "_s);
    m_table->setColumnSample(ProcessedModel::Duplicates, u"Duplicates skipped"_s);
    m_table->setColumnSample(ProcessedModel::ProcessedAt, u"2026-03-01 14:05:41"_s, Face::Figures);

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
    layout->addWidget(splitter, 1);

    connect(m_model, &ProcessedModel::queried, this, &ProcessedPanel::queried);
    connect(m_model, &ProcessedModel::stateChanged, this, &ProcessedPanel::updateWords);
    connect(m_model, &ProcessedModel::modelReset, this, &ProcessedPanel::showCurrent);
    connect(m_model, &ProcessedModel::dataChanged, this, &ProcessedPanel::showCurrent);
    connect(m_search, &SearchField::searched, m_model, &ProcessedModel::read);
    connect(m_search, &SearchField::left, m_table, [this] { m_table->setFocus(); });
    connect(m_table, &RowTable::currentRowChanged, this, &ProcessedPanel::showCurrent);
    connect(m_table, &RowTable::currentEventChanged, this, &ProcessedPanel::eventSelected);
    connect(m_live, &Coalescer::due, m_model, &ProcessedModel::readNewer);
    connect(m_settle, &Coalescer::due, m_model, &ProcessedModel::settle);
    connect(m_table->emptyState(), &EmptyState::acted, this, [this] {
        if (m_model->state() == ProcessedModel::State::Failed)
            refresh();
        else if (!m_model->search().isEmpty())
            m_search->search({});
        else
            Q_EMIT sendRequested();
    });
    updateWords();
    showCurrent();
}

void ProcessedPanel::refresh()
{
    if (m_ready)
        m_model->read(m_model->search());
}

void ProcessedPanel::showPage(const ProcessedPage &page)
{
    m_model->takePage(page);
}

void ProcessedPanel::addDeliveries(const QList<DeliveryReport> &reports)
{
    bool rows = false;
    bool duplicates = false;
    for (const DeliveryReport &report : reports) {
        m_model->note(report);
        rows |= report.outcome == Outcome::Sent || report.outcome == Outcome::Gone;
        duplicates |= report.outcome == Outcome::Duplicate;
    }
    if (rows)
        m_live->schedule();
    if (rows || duplicates)
        m_settle->schedule();
}

void ProcessedPanel::showStory(const EventStory &story)
{
    m_story->show(story);
}

void ProcessedPanel::setReady()
{
    m_ready = true;
    m_unavailable.clear();
    if (isVisible() || m_model->state() != ProcessedModel::State::Idle)
        refresh();
    updateWords();
}

void ProcessedPanel::setUnavailable(const QString &text)
{
    m_unavailable = text;
    updateWords();
}

void ProcessedPanel::showEvent(QShowEvent *event)
{
    Panel::showEvent(event);
    if (m_ready && m_model->state() == ProcessedModel::State::Idle)
        refresh();
}

QWidget *ProcessedPanel::makeDetails()
{
    m_details = new QStackedWidget;
    m_hint = new PlainLabel;
    m_hint->setTone(Tone::Muted);
    m_hint->setAlignment(Qt::AlignCenter);
    m_details->addWidget(m_hint);

    auto *page = new QWidget;
    auto *left = new QVBoxLayout;
    left->setSpacing(SpacingUnit);
    left->addWidget(new PlainLabel(tr("Event"), PlainLabel::Role::Heading));
    m_facts = new FactList;
    m_facts->add(tr("Id"), true);
    m_facts->add(tr("Type"));
    m_facts->add(tr("Application"));
    m_facts->add(tr("Result"));
    m_facts->add(tr("Duplicates skipped"));
    m_facts->add(tr("Processed at"));
    left->addWidget(m_facts);
    left->addStretch(1);

    m_duplicate = new QPushButton(icon(u"duplicate"_s, Tone::Accent), tr("Inject duplicate of this event"));
    m_duplicate->setObjectName(u"injectDuplicateOfThis"_s);
    m_copy = new QPushButton(icon(u"copy"_s), tr("Copy id"));
    auto *acts = new QHBoxLayout;
    acts->addWidget(m_duplicate);
    acts->addWidget(m_copy);
    acts->addStretch(1);
    left->addLayout(acts);

    m_story = new StoryView;
    auto *layout = new QHBoxLayout(page);
    layout->setContentsMargins(2 * SpacingUnit, SpacingUnit + 4, 2 * SpacingUnit, SpacingUnit + 4);
    layout->setSpacing(4 * SpacingUnit);
    layout->addLayout(left, 9);
    layout->addWidget(m_story, 10);
    m_details->addWidget(new Column(page));

    connect(m_duplicate, &QPushButton::clicked, this, [this] { Q_EMIT duplicateRequested(m_table->currentEventId()); });
    connect(m_copy, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(m_table->currentEventId()); });
    return m_details;
}

void ProcessedPanel::showCurrent()
{
    const QModelIndex current = m_table->currentIndex();
    m_details->setCurrentIndex(current.isValid() ? 1 : 0);
    if (!current.isValid())
        return;
    const ProcessedRow row = m_model->row(current.row());
    m_facts->setValue(EventFact, row.eventId);
    m_facts->setValue(TypeFact, row.eventType);
    m_facts->setValue(ApplicationFact, row.applicationId.isEmpty() ? u"–"_s : row.applicationId);
    m_facts->setValue(ResultFact, row.result.isEmpty() ? tr("unknown: no worker of this console saw it") : row.result);
    m_facts->setValue(DuplicatesFact, countText(row.duplicates));
    m_facts->setValue(ProcessedFact, dayAndTime(row.processedAt), utcText(row.processedAt));
    if (m_story->eventId() != row.eventId) {
        m_story->expect(row.eventId);
        Q_EMIT storyRequested(row.eventId);
    }
}

void ProcessedPanel::updateWords()
{
    EmptyState *words = m_table->emptyState();
    m_hint->setPlain(m_model->rowCount() > 0 ? tr("Choose an event to see what happened to it.")
                                             : QString()); // nothing to choose from: nothing said
    const int rows = m_model->rowCount();
    m_count->setPlain(rows == 0                ? QString()
                          : m_model->hasMore() ? tr("newest %1, older ones below").arg(countText(rows))
                          : rows == 1          ? tr("1 event")
                                               : tr("%1 events").arg(countText(rows)));
    if (!m_unavailable.isEmpty()) {
        words->setWords(u"warning"_s, tr("Nothing can be read"), m_unavailable);
        return;
    }
    switch (m_model->state()) {
    case ProcessedModel::State::Idle:
        words->setWords(u"list"_s, tr("Opening the database…"), tr("The processed events appear here in a moment."));
        break;
    case ProcessedModel::State::Loading:
        words->setWords(u"list"_s, tr("Reading the processed events…"), tr("Newest first."));
        break;
    case ProcessedModel::State::Failed:
        words->setWords(u"warning"_s, tr("The processed events could not be read"), m_model->error(), tr("Try again"));
        break;
    case ProcessedModel::State::Ready:
        if (m_model->search().isEmpty())
            words->setWords(u"list"_s, tr("No event has been processed yet"),
                            tr("Press Start, then send an event: it appears here once its e-mail has been sent."),
                            tr("Send one event"));
        else
            words->setWords(
                u"search"_s, tr("No processed event matches"),
                tr("The search looks in event id, type and application. An event that failed is not here: look in "
                   "Dead letters or Log."),
                tr("Clear the search"));
        break;
    }
}

} // namespace sendonce
