#include "ui/scenariodetails.h"

#include "ui/displaytext.h"
#include "ui/emptystate.h"
#include "ui/icons.h"
#include "ui/plainlabel.h"
#include "ui/plaintextview.h"
#include "ui/rowtable.h"
#include "ui/scenariolinesmodel.h"
#include "ui/scenariowords.h"
#include "ui/texttabs.h"

#include <QBoxLayout>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QPushButton>
#include <QScrollBar>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

QList<ScenarioLine> waiting(const QStringList &texts)
{
    QList<ScenarioLine> lines;
    for (const QString &text : texts) {
        ScenarioLine line;
        line.text = text;
        lines += line;
    }
    return lines;
}

QString verdictWords(const ScenarioRun &run)
{
    QString words = lookOf(run).word;
    if (run.state != ScenarioRun::State::Running)
        words = u"%1 · %2"_s.arg(words, durationText(run.msec));
    return run.error.isEmpty() ? words : u"%1: %2"_s.arg(words, run.error);
}

} // namespace

ScenarioDetails::ScenarioDetails(QWidget *parent)
    : QWidget(parent)
    , m_title(new PlainLabel({}, PlainLabel::Role::Strong))
    , m_verdict(new PlainLabel)
    , m_explanation(new PlainLabel)
    , m_lines(new ScenarioLinesModel(this))
    , m_table(new RowTable(tr("Steps and expectations")))
    , m_log(new PlainTextView(tr("The worker's log of this run")))
    , m_folder(new PlainLabel({}, PlainLabel::Role::Caption))
    , m_copyFolder(new QPushButton(icon(u"copy"_s), tr("Copy path")))
{
    m_title->setObjectName(u"scenarioTitle"_s);
    m_title->setElided(Qt::ElideRight);
    m_verdict->setObjectName(u"scenarioVerdict"_s);
    m_verdict->setElided(Qt::ElideRight);
    m_verdict->setTabular(true);
    m_explanation->setObjectName(u"scenarioExplanation"_s);
    m_explanation->setTone(Tone::Muted);
    m_explanation->setWordWrap(true);
    m_explanation->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_folder->setObjectName(u"scenarioFolder"_s);
    m_folder->setElided(Qt::ElideMiddle);
    m_copyFolder->setObjectName(u"copyEvidence"_s);
    m_copyFolder->setAccessibleName(tr("Copy the path of the evidence folder"));

    m_table->setModel(m_lines);
    m_table->setColumnSample(ScenarioLinesModel::Seen, u"2 e-mails instead of 1"_s);
    m_table->setColumnSample(ScenarioLinesModel::Time, u"59 min 59"_s, Face::Figures);
    m_table->setStretchColumn(ScenarioLinesModel::Text, u"the worker is started and works"_s);
    m_table->emptyState()->setWords(u"scenario"_s, tr("No scenario is chosen"),
                                    tr("Choose one: its steps stand here, and are ticked off while it runs."));

    auto *tabs = new TextTabs(tr("Parts of the run"));
    tabs->add(m_table, tr("Steps"));
    tabs->add(m_log, tr("Log"));
    tabs->setInset(2 * SpacingUnit);
    auto *head = new QVBoxLayout;
    head->setContentsMargins(2 * SpacingUnit, SpacingUnit, 2 * SpacingUnit, 0);
    head->setSpacing(SpacingUnit / 2);
    head->addWidget(m_title);
    head->addWidget(m_verdict);
    head->addWidget(m_explanation);
    auto *foot = new QHBoxLayout;
    foot->setContentsMargins(2 * SpacingUnit, SpacingUnit / 2, SpacingUnit + 4, SpacingUnit);
    foot->setSpacing(SpacingUnit);
    foot->addWidget(m_folder, 1);
    foot->addWidget(m_copyFolder);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(SpacingUnit / 2);
    layout->addLayout(head);
    layout->addWidget(tabs, 1);
    layout->addLayout(foot);

    connect(m_copyFolder, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(m_folderPath); });
    show(nullptr, nullptr);
}

void ScenarioDetails::show(const ScenarioInfo *info, const ScenarioRun *run)
{
    m_title->setPlain(info ? info->title : run ? run->title : QString());
    m_explanation->setPlain(info ? info->explanation.join(u' ') : QString());
    m_explanation->setVisible(info && !info->explanation.isEmpty());
    m_verdict->setTone(run ? lookOf(*run).tone : Tone::Muted);
    m_verdict->setPlain(run ? verdictWords(*run) : info ? tr("not run yet") : QString());
    if (run)
        m_lines->setLines(run->steps, run->expectations, true);
    else
        m_lines->setLines(info ? waiting(info->steps) : QList<ScenarioLine>(),
                          info ? waiting(info->expectations) : QList<ScenarioLine>(), false);
    if (const int row = m_lines->runningRow(); row >= 0)
        m_table->scrollTo(m_lines->index(row, 0));
    m_log->setPlain(run ? run->log.join(u'\n') : QString());
    m_log->verticalScrollBar()->setValue(m_log->verticalScrollBar()->maximum());
    showFolder(run ? run->folder : QString());
}

void ScenarioDetails::showFolder(const QString &folder)
{
    m_folderPath = folder;
    m_folder->setPlain(folder.isEmpty() ? tr("Evidence: none yet") : tr("Evidence: %1").arg(folder));
    m_copyFolder->setEnabled(!folder.isEmpty());
}

} // namespace sendonce
