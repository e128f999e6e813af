#include "ui/auditpanel.h"

#include "ui/auditmodel.h"
#include "ui/coalescer.h"
#include "ui/displaytext.h"
#include "ui/emptystate.h"
#include "ui/icons.h"
#include "ui/plainlabel.h"
#include "ui/plaintextview.h"
#include "ui/rowtable.h"
#include "ui/searchfield.h"

#include <QBoxLayout>
#include <QDir>
#include <QFileDialog>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QSplitter>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {

AuditPanel::AuditPanel(QWidget *parent)
    : Panel(parent)
    , m_model(new AuditModel(this))
    , m_filter(new QSortFilterProxyModel(this))
    , m_search(new SearchField(tr("who, act, id, text, outcome…")))
    , m_outcome(new PlainLabel)
    , m_export(new QPushButton(icon(u"save"_s), tr("Export…")))
    , m_table(new RowTable(tr("Audit")))
    , m_details(new PlainTextView(tr("The chosen line of the audit")))
    , m_soon(new Coalescer(300ms, this))
{
    m_export->setObjectName(u"exportAudit"_s);
    m_outcome->setObjectName(u"auditOutcome"_s);
    m_outcome->setElided(Qt::ElideMiddle);
    m_outcome->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_details->setObjectName(u"auditDetails"_s);
    auto *bar = new PanelBar;
    auto *barLayout = static_cast<QBoxLayout *>(bar->layout());
    barLayout->addWidget(m_search);
    barLayout->addWidget(m_outcome, 1);
    barLayout->addWidget(m_export);
    m_filter->setSourceModel(m_model);
    m_filter->setFilterRole(SearchRole);
    m_filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_table->setModel(m_filter);
    m_table->setColumnSample(AuditModel::At, u"2026-03-01 14:05:41"_s, Face::Figures);
    m_table->setColumnSample(AuditModel::Who, u"someone on mailhost"_s);
    m_table->setColumnSample(AuditModel::Profile, u"Environment"_s);
    m_table->setColumnSample(AuditModel::Act, u"move task"_s, Face::Strong);
    m_table->setColumnSample(AuditModel::Ids, u"23e48c51-7f0e…9a41"_s, Face::Monospace);
    m_table->setColumnSample(AuditModel::Outcome, u"2 deleted, 0 failed, 0 left"_s);
    m_table->setStretchColumn(AuditModel::Text, u"replayed 12 of 13 letters"_s);

    auto *holder = new QWidget;
    auto *holderLayout = new QVBoxLayout(holder);
    holderLayout->setContentsMargins(2 * SpacingUnit, SpacingUnit, 2 * SpacingUnit, SpacingUnit);
    holderLayout->addWidget(m_details);
    auto *splitter = new QSplitter(Qt::Vertical);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_table);
    splitter->addWidget(holder);
    splitter->setStretchFactor(0, 1);
    splitter->setSizes({1000, 160});
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar);
    layout->addWidget(splitter, 1);

    connect(m_model, &AuditModel::queried, this, &AuditPanel::queried);
    connect(m_search, &SearchField::searched, this, [this](const QString &text) {
        m_filter->setFilterFixedString(text);
        updateWords();
    });
    connect(m_search, &SearchField::left, m_table, [this] { m_table->setFocus(); });
    connect(m_table, &RowTable::currentRowChanged, this, &AuditPanel::showCurrent);
    connect(m_filter, &QAbstractItemModel::modelReset, this, &AuditPanel::showCurrent);
    connect(m_export, &QPushButton::clicked, this, &AuditPanel::askWhereToExport);
    connect(m_table->emptyState(), &EmptyState::acted, this, [this] {
        if (m_model->rowCount() > 0)
            m_search->search({});
        else
            refresh();
    });
    connect(m_soon, &Coalescer::due, this, [this] {
        m_isStale = true;
        if (isVisible())
            refresh();
    });
    m_export->setEnabled(false);
    updateWords();
}

void AuditPanel::refresh()
{
    if (!m_ready)
        return;
    m_isStale = false;
    m_model->read();
}

void AuditPanel::noteAct()
{
    m_soon->schedule();
}

void AuditPanel::showPage(const AuditPage &page)
{
    m_read = true;
    m_error = page.error;
    m_model->takePage(page);
    updateWords();
}

void AuditPanel::showExported(const ActReport &report)
{
    m_outcome->setTone(report.failed > 0 ? Tone::Failed : Tone::Sent);
    m_outcome->setPlain(report.text);
    m_export->setEnabled(m_ready);
}

void AuditPanel::setReady()
{
    m_ready = true;
    m_unavailable.clear();
    m_export->setEnabled(true);
    if (isVisible())
        refresh();
    updateWords();
}

void AuditPanel::setUnavailable(const QString &text)
{
    m_ready = false;
    m_unavailable = text;
    m_export->setEnabled(false);
    updateWords();
}

void AuditPanel::askWhereToExport()
{
    if (!m_export->isEnabled())
        return;
    auto *dialog = new QFileDialog(this, tr("Export the audit"), QDir::homePath());
    dialog->setObjectName(u"auditFile"_s);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({tr("JSON lines (*.jsonl)"), tr("All files (*)")});
    dialog->setDefaultSuffix(u"jsonl"_s);
    dialog->selectFile(u"audit.jsonl"_s);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &path) {
        m_export->setEnabled(false);
        m_outcome->setTone(Tone::Muted);
        m_outcome->setPlain(tr("writing…"));
        Q_EMIT exportWanted(path);
    });
    dialog->open();
}

void AuditPanel::showEvent(QShowEvent *event)
{
    Panel::showEvent(event);
    if (m_isStale)
        refresh();
}

void AuditPanel::showCurrent()
{
    const QModelIndex current = m_filter->mapToSource(m_table->currentIndex());
    if (!current.isValid()) {
        m_details->setPlain({});
        return;
    }
    const AuditEntry &entry = m_model->entry(current.row());
    QStringList lines{tr("%1 · %2 on %3 · profile %4").arg(utcText(entry.at), entry.who, entry.host, entry.profile),
                      entry.outcome.isEmpty() ? tr("%1: %2").arg(entry.act, entry.text)
                                              : tr("%1, outcome: %2").arg(entry.act, entry.outcome)};
    lines += entry.ids;
    m_details->setPlain(lines.join(u'\n'));
}

void AuditPanel::updateWords()
{
    EmptyState *words = m_table->emptyState();
    if (!m_unavailable.isEmpty())
        words->setWords(u"warning"_s, tr("Nothing can be read"), m_unavailable);
    else if (m_model->rowCount() > 0)
        words->setWords(u"search"_s, tr("No line of the audit matches"),
                        tr("The search looks in who, act, ids, text and outcome of the lines that were read."),
                        tr("Clear the search"));
    else if (!m_error.isEmpty())
        words->setWords(u"warning"_s, tr("The audit could not be read"), m_error, tr("Try again"));
    else if (!m_read)
        words->setWords(u"list"_s, tr("Reading the audit…"), tr("Newest first."));
    else
        words->setWords(u"list"_s, tr("Nothing was done yet"),
                        tr("Each replay, edit, deletion, purge, import, export and clean-up is written down here: a "
                           "line before it and one after it. No line is ever changed."));
}

} // namespace sendonce
