#include "ui/scenariospanel.h"

#include "ui/actionbutton.h"
#include "ui/coalescer.h"
#include "ui/consolestyle.h"
#include "ui/displaytext.h"
#include "ui/emptystate.h"
#include "ui/icons.h"
#include "ui/plainlabel.h"
#include "ui/rowtable.h"
#include "ui/scenariodetails.h"
#include "ui/scenariorunsmodel.h"
#include "ui/scenariosmodel.h"
#include "ui/searchfield.h"
#include "ui/texttabs.h"

#include <QAction>
#include <QBoxLayout>
#include <QCheckBox>
#include <QDir>
#include <QFileDialog>
#include <QScopedValueRollback>
#include <QSortFilterProxyModel>
#include <QSplitter>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

enum Lists { Catalogue, History };

} // namespace

ScenariosPanel::ScenariosPanel(QWidget *parent)
    : Panel(parent)
    , m_model(new ScenariosModel(this))
    , m_filter(new QSortFilterProxyModel(this))
    , m_runs(new ScenarioRunsModel(this))
    , m_search(new SearchField(tr("name, title, explanation…")))
    , m_words(new PlainLabel)
    , m_problems(new PlainLabel)
    , m_lists(new TextTabs(tr("Catalogue and runs")))
    , m_table(new RowTable(tr("Scenarios")))
    , m_history(new RowTable(tr("Runs of scenarios")))
    , m_details(new ScenarioDetails)
    , m_run(makeAct(tr("&Run chosen scenarios"), u"play"_s, tr("Run the chosen scenarios, one after the other")))
    , m_runAll(makeAct(tr("Run a&ll scenarios"), u"scenario"_s, tr("Run the whole catalogue")))
    , m_stop(makeAct(tr("S&top scenarios"), u"stop"_s, tr("Stop the run under way; those behind it are not begun")))
    , m_slow(makeAct(tr("Slow &motion"), u"clock"_s, tr("Pause behind each step and each stage, for an audience")))
    , m_report(makeAct(tr("Re&port of the runs…"), u"save"_s, tr("Write the runs as HTML, JUnit XML or JSON")))
    , m_updates(new Coalescer(UpdateInterval, this))
{
    m_run->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_T));
    m_runAll->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_T));
    m_slow->setCheckable(true);
    m_words->setObjectName(u"scenarioWords"_s);
    m_words->setElided(Qt::ElideRight);
    m_words->setTabular(true);
    m_words->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_problems->setObjectName(u"scenarioProblems"_s);
    m_problems->setTone(Tone::Failed);
    m_problems->setWordWrap(true);
    m_problems->setContentsMargins(SpacingUnit + 4, SpacingUnit / 2, SpacingUnit, SpacingUnit / 2);
    m_problems->hide();

    auto *run = new ActionButton(m_run, tr("Run"), icon(u"play"_s, Tone::OnAccent));
    auto *runAll = new ActionButton(m_runAll, tr("Run all"), {});
    auto *stop = new ActionButton(m_stop, tr("Stop"), icon(u"stop"_s));
    auto *report = new ActionButton(m_report, tr("Report…"), icon(u"save"_s));
    auto *slow = new QCheckBox(tr("Slow motion"));
    run->setObjectName(u"runChosen"_s);
    runAll->setObjectName(u"runAllScenarios"_s);
    stop->setObjectName(u"stopScenarios"_s);
    report->setObjectName(u"reportScenarios"_s);
    slow->setObjectName(u"slowMotion"_s);
    slow->setToolTip(toolTipText(m_slow->statusTip()));
    setLook(run, Look::Primary);
    connect(slow, &QCheckBox::toggled, m_slow, &QAction::setChecked);
    connect(m_slow, &QAction::toggled, slow, &QCheckBox::setChecked);
    auto *bar = new PanelBar;
    auto *barLayout = static_cast<QBoxLayout *>(bar->layout());
    m_search->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed); // gives way to the words
    barLayout->addWidget(m_search);
    barLayout->addWidget(m_words, 1);
    barLayout->addWidget(slow);
    barLayout->addWidget(stop);
    barLayout->addWidget(runAll);
    barLayout->addWidget(run);

    m_filter->setSourceModel(m_model);
    m_filter->setFilterRole(SearchRole);
    m_filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_table->setModel(m_filter);
    m_table->setColumnSample(ScenariosModel::Verdict, u"guarantee broken"_s, Face::Figures, true);
    m_table->setColumnSample(ScenariosModel::Time, u"59.9 s"_s, Face::Figures);
    m_table->setStretchColumn(ScenariosModel::Title, u"A duplicate delivery"_s);
    m_history->setModel(m_runs);
    m_history->setColumnSample(ScenarioRunsModel::At, u"14:05:41"_s, Face::Figures);
    m_history->setColumnSample(ScenarioRunsModel::Verdict, u"guarantee broken"_s, Face::Figures, true);
    m_history->setColumnSample(ScenarioRunsModel::Time, u"59.9 s"_s, Face::Figures);
    m_history->setStretchColumn(ScenarioRunsModel::Title, u"A duplicate"_s);
    m_history->setSelectionMode(QAbstractItemView::SingleSelection);
    m_history->emptyState()->setWords(u"clock"_s, tr("Nothing was run yet"),
                                      tr("Each run since this window was opened stands here, the newest first."));

    m_lists->add(m_table, tr("Catalogue"));
    m_lists->add(m_history, tr("Runs"));
    m_lists->setInset(SpacingUnit);
    auto *corner = new QWidget;
    auto *cornerLayout = new QHBoxLayout(corner);
    cornerLayout->setContentsMargins(0, 0, SpacingUnit, 0);
    cornerLayout->addWidget(report);
    m_lists->setCorner(corner);
    auto *left = new QWidget;
    auto *leftLayout = new QVBoxLayout(left);
    leftLayout->setContentsMargins(0, SpacingUnit / 2, 0, 0);
    leftLayout->setSpacing(0);
    leftLayout->addWidget(m_lists, 1);
    leftLayout->addWidget(m_problems);
    auto *splitter = new QSplitter(Qt::Horizontal);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(left);
    splitter->addWidget(m_details);
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({460, 560});
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar);
    layout->addWidget(splitter, 1);

    connect(m_run, &QAction::triggered, this, &ScenariosPanel::runChosen);
    connect(m_runAll, &QAction::triggered, this, [this] { this->run({}, m_model->rowCount()); });
    connect(m_stop, &QAction::triggered, this, [this] {
        m_stopping = true;
        follow();
        Q_EMIT stopRequested();
    });
    connect(m_report, &QAction::triggered, this, &ScenariosPanel::askWhereToExport);
    connect(m_updates, &Coalescer::due, this, &ScenariosPanel::flush);
    connect(m_search, &SearchField::searched, m_filter, &QSortFilterProxyModel::setFilterFixedString);
    connect(m_search, &SearchField::searched, this, &ScenariosPanel::follow);
    connect(m_search, &SearchField::left, m_table, [this] { m_table->setFocus(); });
    connect(m_lists->bar(), &QTabBar::currentChanged, this, &ScenariosPanel::showCurrent);
    for (RowTable *table : {m_table, m_history}) {
        connect(table, &RowTable::currentRowChanged, this, [this] {
            if (!m_moving)
                m_following = false;
            showCurrent();
        });
    }
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &ScenariosPanel::follow);
    connect(m_table, &QAbstractItemView::doubleClicked, m_run, &QAction::trigger);
    connect(m_table->emptyState(), &EmptyState::acted, this, [this] {
        if (m_model->rowCount() > 0)
            m_search->search({});
        else
            refresh();
    });
    follow();
}

void ScenariosPanel::setReady()
{
    m_ready = true;
    refresh();
    follow();
}

void ScenariosPanel::setRefused(const QString &why)
{
    m_refusal = why;
    follow();
}

void ScenariosPanel::refresh()
{
    if (m_ready)
        Q_EMIT listQueried();
}

void ScenariosPanel::showList(const ScenarioList &list)
{
    m_listed = true;
    m_model->setScenarios(list.scenarios);
    m_problems->setPlainLines(list.problems.join(u'\n'));
    m_problems->setVisible(!list.problems.isEmpty());
    if (!m_table->currentIndex().isValid() && m_filter->rowCount() > 0) {
        const QScopedValueRollback moving(m_moving, true);
        m_table->revealRow(0);
    }
    showCurrent();
    follow();
}

void ScenariosPanel::takeRun(const ScenarioRun &run)
{
    const auto same = std::find_if(m_newRuns.begin(), m_newRuns.end(),
                                   [&run](const ScenarioRun &other) { return other.id == run.id; });
    if (same == m_newRuns.end())
        m_newRuns += run;
    else
        *same = run;
    m_updates->schedule();
}

void ScenariosPanel::showFinished()
{
    flush();
    m_running = m_stopping = false;
    follow();
}

void ScenariosPanel::showExported(const QString &path)
{
    if (path != m_exporting)
        return;
    m_exporting.clear();
    m_said = tr("Report written: %1").arg(path);
    m_saidFailed = false;
    follow();
}

void ScenariosPanel::showActFailed(const QString &act, const QString &text)
{
    if (act == "export"_L1 && m_exporting.isEmpty())
        return;
    if (act != "export"_L1 && act != "run"_L1)
        return;
    m_exporting.clear();
    m_said = text;
    m_saidFailed = true;
    follow();
}

QAction *ScenariosPanel::makeAct(const QString &text, const QString &iconName, const QString &tip)
{
    auto *act = new QAction(icon(iconName), text, this);
    act->setStatusTip(tip);
    act->setIconVisibleInMenu(true);
    return act;
}

void ScenariosPanel::runChosen()
{
    const QStringList names = chosen();
    if (!names.isEmpty())
        run(names, int(names.size()));
}

/// \param names none: all
void ScenariosPanel::run(const QStringList &names, int count)
{
    if (!m_running)
        m_ordered = m_passed = m_failed = m_stopped = 0;
    m_ordered += count;
    m_running = m_following = true;
    m_said.clear();
    m_runningName.clear();
    m_lists->bar()->setCurrentIndex(Catalogue);
    follow();
    Q_EMIT runRequested(names, m_slow->isChecked());
}

void ScenariosPanel::askWhereToExport()
{
    auto *dialog = new QFileDialog(this, tr("Write a report of the runs"), QDir::homePath());
    dialog->setObjectName(u"reportFile"_s);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({tr("HTML, for people (*.html)"), tr("JUnit XML, for CI (*.xml)"),
                            tr("JSON lines (*.jsonl)"), tr("All files (*)")});
    dialog->setDefaultSuffix(u"html"_s);
    dialog->selectFile(u"scenarios.html"_s);
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString &filter) {
        dialog->setDefaultSuffix(filter.contains("xml"_L1)         ? u"xml"_s
                                     : filter.contains("jsonl"_L1) ? u"jsonl"_s
                                                                   : u"html"_s);
    });
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &path) {
        m_exporting = path;
        m_said = tr("Writing the report…");
        m_saidFailed = false;
        follow();
        Q_EMIT exportRequested(path);
    });
    dialog->open();
}

/// At most 20 times a second, however quickly the steps follow one another.
void ScenariosPanel::flush()
{
    for (const ScenarioRun &run : std::exchange(m_newRuns, {}))
        showRun(run);
    showCurrent();
    follow();
}

void ScenariosPanel::showRun(const ScenarioRun &run)
{
    const ScenarioRun *known = m_runs->byId(run.id);
    const bool wasOver = known && known->state != ScenarioRun::State::Running;
    const bool isNew = !known;
    m_runs->takeRun(run);
    m_model->takeRun(run);
    m_lists->setCount(History, m_runs->rowCount());
    if (!wasOver) {
        m_passed += run.state == ScenarioRun::State::Passed;
        m_failed += run.state == ScenarioRun::State::Failed;
        m_stopped += run.state == ScenarioRun::State::Stopped;
    }
    if (!isNew || !m_following)
        return;
    m_runningName = run.scenario;
    const QModelIndex index = m_filter->mapFromSource(m_model->index(m_model->rowOf(run.scenario), 0));
    if (!index.isValid() || m_table->selectedCount() > 1)
        return; // what was chosen to be run stays chosen
    const QScopedValueRollback moving(m_moving, true);
    m_table->revealRow(index.row());
}

void ScenariosPanel::showCurrent()
{
    const ScenarioInfo *info = nullptr;
    const ScenarioRun *run = nullptr;
    if (m_lists->bar()->currentIndex() == History) {
        if (const int row = m_history->currentIndex().row(); row >= 0) {
            run = &m_runs->run(row);
            if (const int known = m_model->rowOf(run->scenario); known >= 0)
                info = &m_model->scenario(known);
        }
    } else if (const int row = m_following ? m_model->rowOf(m_runningName) : -1; row >= 0) {
        info = &m_model->scenario(row);
        run = m_runs->newestOf(m_runningName);
    } else if (const QModelIndex current = m_filter->mapToSource(m_table->currentIndex()); current.isValid()) {
        info = &m_model->scenario(current.row());
        run = m_runs->newestOf(info->name);
    }
    m_details->show(info, run);
}

void ScenariosPanel::follow()
{
    const bool can = m_ready && m_refusal.isEmpty();
    const int chosenCount = m_table->selectedCount();
    m_run->setEnabled(can && chosenCount > 0);
    m_runAll->setEnabled(can && m_model->rowCount() > 0);
    m_stop->setEnabled(m_running && !m_stopping);
    m_report->setEnabled(m_runs->rowCount() > 0 && m_exporting.isEmpty());
    QStringList counts;
    for (const auto &[words, count] : {std::pair(tr("passed %1"), m_passed), std::pair(tr("failed %1"), m_failed),
                                       std::pair(tr("stopped %1"), m_stopped)}) {
        if (count > 0)
            counts += words.arg(countText(count));
    }
    if (!m_refusal.isEmpty()) {
        m_words->setTone(Tone::Muted);
        m_words->setPlain(m_refusal);
    } else if (!m_said.isEmpty()) {
        m_words->setTone(m_saidFailed ? Tone::Failed : Tone::Muted);
        m_words->setPlain(m_said);
    } else {
        const int left = m_ordered - m_passed - m_failed - m_stopped;
        if (m_running && left > 0)
            counts.append(tr("%1 to go").arg(countText(left)));
        if (m_stopping)
            counts.prepend(tr("stopping…"));
        m_words->setTone(m_failed > 0       ? Tone::Failed
                             : m_running    ? Tone::InFlight
                             : m_passed > 0 ? Tone::Sent
                                            : Tone::Muted);
        m_words->setPlain(counts.join(u" · "_s));
    }
    EmptyState *words = m_table->emptyState();
    if (m_model->rowCount() > 0)
        words->setWords(u"search"_s, tr("No scenario matches"),
                        tr("The search looks in names, titles and explanations."), tr("Clear the search"));
    else if (m_listed)
        words->setWords(u"scenario"_s, tr("There are no scenarios"), {}, tr("Look again"));
    else
        words->setWords(u"scenario"_s, tr("Reading the catalogue…"), {});
}

QStringList ScenariosPanel::chosen() const
{
    QStringList names;
    for (const QModelIndex &index : m_table->selectedRowIndexes())
        names += m_model->scenario(m_filter->mapToSource(index).row()).name;
    return names;
}

} // namespace sendonce
