#include "ui/faultspanel.h"

#include "ui/column.h"
#include "ui/consolestyle.h"
#include "ui/displaytext.h"
#include "ui/emptystate.h"
#include "ui/faultform.h"
#include "ui/faultpresets.h"
#include "ui/faultsmodel.h"
#include "ui/faultwords.h"
#include "ui/flowgrid.h"
#include "ui/icons.h"
#include "ui/plainlabel.h"
#include "ui/rowtable.h"
#include "ui/texttabs.h"

#include <QBoxLayout>
#include <QPushButton>
#include <QShortcut>
#include <QSplitter>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {
namespace {

enum Way { Presets, OwnFault };

} // namespace

FaultsPanel::FaultsPanel(QWidget *parent)
    : Panel(parent)
    , m_model(new FaultsModel(this))
    , m_table(new RowTable(tr("Armed faults")))
    , m_words(new PlainLabel)
    , m_outcome(new PlainLabel)
    , m_disarm(new QPushButton(icon(u"close"_s), tr("Disarm chosen")))
    , m_disarmAll(new QPushButton(icon(u"close"_s), tr("Disarm all")))
    , m_ways(new TextTabs(tr("Ways to arm a fault")))
    , m_form(new FaultForm)
{
    m_words->setTone(Tone::Muted);
    m_words->setTabular(true);
    m_outcome->setObjectName(u"faultOutcome"_s);
    m_outcome->setElided(Qt::ElideRight);
    m_outcome->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_disarm->setObjectName(u"disarmChosen"_s);
    m_disarmAll->setObjectName(u"disarmAll"_s);
    auto *bar = new PanelBar;
    auto *barLayout = static_cast<QBoxLayout *>(bar->layout());
    barLayout->addWidget(m_words);
    barLayout->addStretch(1);
    barLayout->addWidget(m_disarm);
    barLayout->addWidget(m_disarmAll);

    m_table->setModel(m_model);
    m_table->setColumnSample(FaultsModel::Where, u"Worker · between COMMIT and delete"_s, Face::Body, true);
    m_table->setColumnSample(FaultsModel::Often, u"1 in 5, seed 1"_s);
    m_table->setColumnSample(FaultsModel::What, u"refuse with 451 4.3.0 mail server"_s);
    m_table->setColumnSample(FaultsModel::Until, u"59 min 59 s"_s, Face::Figures);
    m_table->setColumnSample(FaultsModel::Struck, u"1,000"_s, Face::Figures);
    m_table->setStretchColumn(FaultsModel::ForWhom, u"event demo-*, recipient"_s);

    m_ways->add(new Column(makePresets()), tr("Ready-made"));
    m_ways->add(new Column(m_form), tr("Of your own"));
    m_ways->setCorner(m_outcome);
    m_ways->setInset(2 * SpacingUnit);
    auto *ways = new QWidget;
    auto *waysLayout = new QVBoxLayout(ways);
    waysLayout->setContentsMargins(0, SpacingUnit / 2, SpacingUnit + 4, 0);
    waysLayout->addWidget(m_ways);

    auto *splitter = new QSplitter(Qt::Vertical);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_table);
    splitter->addWidget(ways);
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({200, 340});
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar);
    layout->addWidget(splitter, 1);

    connect(m_form, &FaultForm::armWanted, this, [this](const FaultRule &rule) { arm(rule); });
    auto *remove = new QShortcut(QKeySequence(Qt::Key_Delete), m_table);
    remove->setContext(Qt::WidgetShortcut);
    connect(remove, &QShortcut::activated, this, &FaultsPanel::disarmChosen);
    connect(m_disarm, &QPushButton::clicked, this, &FaultsPanel::disarmChosen);
    connect(m_disarmAll, &QPushButton::clicked, this, [this] {
        beginAct(tr("Disarming…"), tr("Nothing is armed"));
        Q_EMIT disarmAllRequested();
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &FaultsPanel::follow);
    connect(m_model, &QAbstractItemModel::modelReset, this, &FaultsPanel::follow);
    follow();
}

void FaultsPanel::showArmed(const FaultRules &rules, const QDateTime &now)
{
    m_model->setRules(rules, now);
    if (m_acting) {
        m_acting = false;
        say(m_done, Tone::Sent);
    }
    follow();
}

void FaultsPanel::setNow(const QDateTime &now)
{
    m_model->setNow(now);
}

void FaultsPanel::setReady()
{
    m_ready = true;
    follow();
}

void FaultsPanel::setRefused(const QString &why)
{
    m_refusal = why;
    follow();
}

void FaultsPanel::showActFailed(const QString &text)
{
    m_acting = false;
    say(text, Tone::Failed);
}

void FaultsPanel::disarmChosen()
{
    if (!m_disarm->isEnabled())
        return;
    const QList<int> rows = m_table->selectedRows();
    beginAct(tr("Disarming…"), rows.size() == 1 ? tr("Disarmed") : tr("%1 disarmed").arg(countText(rows.size())));
    for (const int row : rows)
        Q_EMIT disarmRequested(m_model->rules().at(row).id);
}

QWidget *FaultsPanel::makePresets()
{
    auto *grid = new FlowGrid(3);
    for (const FaultPreset &preset : faultPresets()) {
        auto *button = new QPushButton(icon(u"faults"_s, Tone::Accent), preset.title);
        button->setObjectName(u"preset."_s + preset.name);
        button->setToolTip(toolTipText(
            u"%1\n%2"_s.arg(preset.text, faultLine(preset.rule, preset.rule.lasts > 0ms ? preset.rule.lasts : -1ms))));
        button->setAccessibleDescription(preset.text);
        button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        setLook(button, Look::Leading);
        auto *text = new PlainLabel(preset.text, PlainLabel::Role::Caption);
        text->setElided(Qt::ElideRight);
        text->setIndent(SpacingUnit);
        auto *cell = new QWidget;
        auto *layout = new QVBoxLayout(cell);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(2);
        layout->addWidget(button);
        layout->addWidget(text);
        grid->add(cell);
        m_presets += button;
        connect(button, &QPushButton::clicked, this, [this, rule = preset.rule] { arm(rule); });
    }
    return grid;
}

void FaultsPanel::arm(const FaultRule &rule)
{
    beginAct(tr("Arming…"), tr("Armed: %1").arg(faultLine(rule, -1ms)));
    Q_EMIT armRequested(rule);
}

/// \param done what is said once the answer has come
void FaultsPanel::beginAct(const QString &words, const QString &done)
{
    m_acting = true;
    m_done = done;
    say(words, Tone::Muted);
}

void FaultsPanel::say(const QString &text, Tone tone)
{
    m_outcome->setTone(tone);
    m_outcome->setPlain(text);
}

void FaultsPanel::follow()
{
    const int armed = m_model->rowCount();
    const bool can = m_ready && m_refusal.isEmpty();
    for (QPushButton *button : std::as_const(m_presets))
        button->setEnabled(can);
    m_form->setOffered(can);
    m_disarm->setEnabled(can && m_table->selectedCount() > 0);
    m_disarmAll->setEnabled(can && armed > 0);
    m_words->setPlain(armed == 0       ? QString()
                          : armed == 1 ? tr("1 armed; over when this window closes")
                                       : tr("%1 armed; over when this window closes").arg(countText(armed)));
    EmptyState *words = m_table->emptyState();
    if (!m_refusal.isEmpty())
        words->setWords(u"faults"_s, tr("Nothing can be made to fail here"), m_refusal);
    else
        words->setWords(u"faults"_s, tr("Nothing is armed"),
                        tr("Arm a fault below, then send an event, and see what the worker makes of it."));
}

} // namespace sendonce
