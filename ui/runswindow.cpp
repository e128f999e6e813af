#include "ui/runswindow.h"

#include "ui/displaytext.h"
#include "ui/emptystate.h"
#include "ui/plainlabel.h"
#include "ui/rights.h"
#include "ui/rowtable.h"
#include "ui/runsmodel.h"
#include "ui/runwords.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace sendonce {

RunsWindow::RunsWindow(QWidget *parent)
    : QDialog(parent)
    , m_runs(new RunsModel(this))
    , m_items(new RunItemsModel(this))
    , m_table(new RowTable(tr("Replays")))
    , m_letters(new RowTable(tr("Letters of the chosen replay")))
    , m_error(new PlainLabel({}, PlainLabel::Role::Caption))
    , m_pause(new QPushButton(tr("&Pause")))
    , m_resume(new QPushButton(tr("&Resume")))
    , m_cancel(new QPushButton(tr("&Cancel run")))
{
    setObjectName(u"runsWindow"_s);
    setWindowTitle(tr("Replays"));
    m_table->setModel(m_runs);
    m_table->setGlyphColumn(RunsModel::Glyph);
    m_table->setColumnSample(RunsModel::Started, u"2026-03-01 14:05:41"_s, Face::Figures);
    m_table->setColumnSample(RunsModel::What, u"Replay of 1,204"_s);
    m_table->setColumnSample(RunsModel::Done, u"1,204"_s, Face::Figures);
    m_table->setColumnSample(RunsModel::Left, u"1,204"_s, Face::Figures);
    m_table->setColumnSample(RunsModel::Failed, u"Failed"_s, Face::Figures);
    m_table->setColumnSample(RunsModel::Outcome, u"1,204 mailed · 12 skipped · 3 dead again"_s);
    m_table->setColumnSample(RunsModel::By, u"someone on mailhost"_s);
    m_table->setStretchColumn(RunsModel::State);
    m_letters->setModel(m_items);
    m_letters->setGlyphColumn(RunItemsModel::Glyph);
    m_letters->setColumnSample(RunItemsModel::Event, u"23e48c51-7f0e…9a41"_s, Face::Monospace);
    m_letters->setColumnSample(RunItemsModel::MessageId, u"23e48c51-7f0e…9a41"_s, Face::Monospace);
    m_letters->setColumnSample(RunItemsModel::Outcome, u"sent, copy left"_s);
    m_letters->setStretchColumn(RunItemsModel::Text);
    m_table->emptyState()->setWords(u"replay"_s, tr("Nothing was replayed yet"),
                                    tr("Each replay, deletion and edited letter is listed here, with what became of "
                                       "it, also after a restart."));
    m_error->setTone(Tone::Failed);
    m_error->setWordWrap(true);
    m_error->hide();
    auto *close = new QPushButton(tr("Close"));

    auto *splitter = new QSplitter(Qt::Vertical);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_table);
    splitter->addWidget(m_letters);
    splitter->setSizes({200, 260});
    auto *buttons = new QHBoxLayout;
    buttons->setContentsMargins(2 * SpacingUnit, SpacingUnit, 2 * SpacingUnit, SpacingUnit);
    buttons->setSpacing(SpacingUnit);
    for (QPushButton *button : {m_pause, m_resume, m_cancel})
        buttons->addWidget(button);
    buttons->addWidget(m_error, 1);
    buttons->addStretch(0);
    buttons->addWidget(close);
    for (QPushButton *button : {m_pause, m_resume, m_cancel, close})
        button->setAutoDefault(false);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(splitter, 1);
    layout->addLayout(buttons);
    const int unit = fontMetrics().height();
    resize(72 * unit, 34 * unit);

    connect(close, &QPushButton::clicked, this, &QDialog::close);
    connect(m_table, &RowTable::currentRowChanged, this, &RunsWindow::showCurrent);
    connect(m_runs, &QAbstractItemModel::dataChanged, this, &RunsWindow::follow);
    connect(m_runs, &QAbstractItemModel::modelReset, this, &RunsWindow::follow);
    const auto asks = [this](QPushButton *button, void (RunsWindow::*wanted)(qint64)) {
        connect(button, &QPushButton::clicked, this, [this, wanted] {
            if (const ReplayProgress *run = chosen())
                Q_EMIT(this->*wanted)(run->run);
        });
    };
    asks(m_pause, &RunsWindow::pauseRequested);
    asks(m_resume, &RunsWindow::resumeRequested);
    asks(m_cancel, &RunsWindow::cancelRequested);
    follow();
}

void RunsWindow::setReadOnly(bool readOnly)
{
    m_readOnly = readOnly;
    follow();
}

void RunsWindow::showRuns(const QList<ReplayProgress> &runs)
{
    const ReplayProgress *before = chosen();
    const qint64 run = before ? before->run : 0;
    m_runs->setRuns(runs);
    const int row = std::max(0, m_runs->rowOf(run));
    if (!m_table->currentIndex().isValid() && m_runs->rowCount() > 0)
        m_table->selectRow(row);
}

void RunsWindow::showProgress(const ReplayProgress &run)
{
    m_runs->setProgress(run);
}

void RunsWindow::showItems(const ReplayItems &items)
{
    if (items.run != m_shown)
        return; // another one was chosen meanwhile
    m_error->setPlain(items.error);
    m_error->setVisible(!items.error.isEmpty());
    m_items->setItems(items);
}

void RunsWindow::updateItems(const QList<ReplayItem> &items)
{
    m_items->update(items);
}

const ReplayProgress *RunsWindow::chosen() const
{
    const QModelIndex current = m_table->currentIndex();
    return current.isValid() ? &m_runs->run(current.row()) : nullptr;
}

void RunsWindow::showCurrent()
{
    const ReplayProgress *run = chosen();
    const qint64 number = run ? run->run : 0;
    if (std::exchange(m_shown, number) != number) {
        m_items->setItems({});
        if (number != 0)
            Q_EMIT itemsQueried(number);
    }
    follow();
}

void RunsWindow::follow()
{
    const ReplayProgress *run = chosen();
    m_pause->setEnabled(run && canPause(*run) && !m_readOnly);
    m_resume->setEnabled(run && canResume(*run) && !m_readOnly);
    m_cancel->setEnabled(run && canCancel(*run) && !m_readOnly);
    const QString why = m_readOnly ? readOnlyReason() : QString();
    for (QPushButton *button : {m_pause, m_resume, m_cancel})
        button->setToolTip(why.isEmpty() ? QString() : toolTipText(why));
}

} // namespace sendonce
