#include "ui/matrixpanel.h"

#include "ui/actionbutton.h"
#include "ui/coalescer.h"
#include "ui/consolestyle.h"
#include "ui/displaytext.h"
#include "ui/emptystate.h"
#include "ui/icons.h"
#include "ui/matrixmodel.h"
#include "ui/matrixview.h"
#include "ui/plainlabel.h"

#include <QAction>
#include <QBoxLayout>
#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QGuiApplication>
#include <QPainter>
#include <QPushButton>
#include <QSpinBox>

using namespace Qt::StringLiterals;

namespace sendonce {

/// How much is done, as a line under the bar.
class ProgressLine : public QWidget
{
public:
    ProgressLine() { setFixedHeight(3); }
    void show(double share)
    {
        m_share = share;
        update();
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        const Tokens &tokens = tokensOf(this);
        painter.fillRect(rect(), tokens.header);
        painter.fillRect(QRect(0, 0, qRound(width() * m_share), height()), tokens.accent);
    }

private:
    double m_share = 0;
};

MatrixPanel::MatrixPanel(QWidget *parent)
    : Panel(parent)
    , m_model(new MatrixModel(this))
    , m_view(new MatrixView)
    , m_words(new PlainLabel)
    , m_repeat(new QSpinBox)
    , m_line(new ProgressLine)
    , m_title(new PlainLabel({}, PlainLabel::Role::Strong))
    , m_verdict(new PlainLabel)
    , m_facts(new PlainLabel)
    , m_explanation(new PlainLabel)
    , m_folder(new PlainLabel({}, PlainLabel::Role::Caption))
    , m_copyFolder(new QPushButton(icon(u"copy"_s), tr("Copy path")))
    , m_run(makeAct(tr("Measure the matri&x"), u"matrix"_s, tr("Run every design through everything that goes wrong")))
    , m_stop(makeAct(tr("St&op measuring"), u"stop"_s, tr("What was measured stays")))
    , m_export(makeAct(tr("&Export the matrix…"), u"save"_s, tr("Write the matrix as HTML or JSON lines")))
    , m_updates(new Coalescer(UpdateInterval, this))
{
    m_words->setObjectName(u"matrixWords"_s);
    m_words->setElided(Qt::ElideRight);
    m_words->setTabular(true);
    m_repeat->setObjectName(u"matrixRepeat"_s);
    m_repeat->setRange(1, 1000);
    m_repeat->setSuffix(tr(" ×"));
    m_repeat->setAccessibleName(tr("How often each cell is run"));
    m_repeat->setToolTip(toolTipText(tr("Where timing decides, several runs show a rate: 2 in 37 of 100")));
    m_copyFolder->setObjectName(u"copyMatrixEvidence"_s);
    m_copyFolder->setAccessibleName(tr("Copy the path of the evidence folder"));

    auto *run = new ActionButton(m_run, tr("Measure"), icon(u"play"_s, Tone::OnAccent));
    auto *stop = new ActionButton(m_stop, tr("Stop"), icon(u"stop"_s));
    auto *exportButton = new ActionButton(m_export, tr("Export…"), icon(u"save"_s));
    run->setObjectName(u"measureMatrix"_s);
    stop->setObjectName(u"stopMatrix"_s);
    exportButton->setObjectName(u"exportMatrix"_s);
    setLook(run, Look::Primary);
    auto *bar = new PanelBar;
    auto *barLayout = static_cast<QBoxLayout *>(bar->layout());
    barLayout->addWidget(m_words, 1);
    barLayout->addWidget(exportButton);
    barLayout->addWidget(stop);
    barLayout->addWidget(m_repeat);
    barLayout->addWidget(run);

    m_view->setModel(m_model);
    setFocusProxy(m_view);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar);
    layout->addWidget(m_line);
    layout->addWidget(m_view, 1);
    layout->addWidget(makeDetails());

    connect(m_run, &QAction::triggered, this, &MatrixPanel::run);
    connect(m_stop, &QAction::triggered, this, [this] {
        m_stopping = true;
        follow();
        Q_EMIT stopRequested();
    });
    connect(m_export, &QAction::triggered, this, &MatrixPanel::askWhereToExport);
    connect(m_updates, &Coalescer::due, this, &MatrixPanel::flush);
    connect(m_view, &MatrixView::currentCellChanged, this, &MatrixPanel::showCurrent);
    connect(m_copyFolder, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(m_model->cell(m_view->currentIndex()).folder); });
    showCurrent();
    follow();
}

void MatrixPanel::setReady()
{
    m_ready = true;
    follow();
    Q_EMIT shapeQueried();
}

void MatrixPanel::setRefused(const QString &why)
{
    m_refusal = why;
    follow();
}

void MatrixPanel::showShape(const MatrixShape &shape)
{
    m_model->setShape(shape);
    showCurrent();
    follow();
}

void MatrixPanel::takeCell(const MatrixCell &cell)
{
    m_newCells += cell;
    m_updates->schedule();
}

void MatrixPanel::showProgress(const MatrixProgress &progress)
{
    m_progress = progress;
    if (progress.finished) {
        m_running = m_stopping = false;
        flush();
    } else {
        m_running = true; // also when somebody else began it
        m_updates->schedule();
    }
}

void MatrixPanel::showExported(const QString &path)
{
    if (path != m_exporting)
        return;
    m_exporting.clear();
    m_said = tr("Matrix written: %1").arg(path);
    m_saidFailed = false;
    follow();
}

void MatrixPanel::showActFailed(const QString &act, const QString &text)
{
    const bool isMine = act == "matrix"_L1 || (act.startsWith("export"_L1) && !m_exporting.isEmpty());
    if (!isMine)
        return;
    m_exporting.clear();
    if (act == "matrix"_L1)
        m_running = m_stopping = false;
    m_said = text;
    m_saidFailed = true;
    follow();
}

QAction *MatrixPanel::makeAct(const QString &text, const QString &iconName, const QString &tip)
{
    auto *act = new QAction(icon(iconName), text, this);
    act->setStatusTip(tip);
    act->setIconVisibleInMenu(true);
    return act;
}

QWidget *MatrixPanel::makeDetails()
{
    /// In the panel's colour, with a hairline above.
    class Sheet : public QWidget
    {
    protected:
        void paintEvent(QPaintEvent *) override
        {
            QPainter(this).fillRect(QRect(0, 0, width(), 1), tokensOf(this).line);
        }
    };
    m_title->setObjectName(u"cellTitle"_s);
    m_verdict->setObjectName(u"cellVerdict"_s);
    m_facts->setObjectName(u"cellFacts"_s);
    m_folder->setObjectName(u"cellFolder"_s);
    m_facts->setTone(Tone::Muted);
    m_explanation->setTone(Tone::Muted);
    for (PlainLabel *label : {m_title, m_verdict, m_facts, m_explanation})
        label->setElided(Qt::ElideRight);
    m_folder->setElided(Qt::ElideMiddle);
    auto *head = new QHBoxLayout;
    head->setSpacing(2 * SpacingUnit);
    head->addWidget(m_verdict);
    head->addWidget(m_facts, 1);
    auto *foot = new QHBoxLayout;
    foot->setSpacing(SpacingUnit);
    foot->addWidget(m_folder, 1);
    foot->addWidget(m_copyFolder);
    auto *details = new Sheet;
    auto *layout = new QVBoxLayout(details);
    layout->setContentsMargins(SpacingUnit + 4, SpacingUnit, SpacingUnit + 4, SpacingUnit);
    layout->setSpacing(SpacingUnit / 2);
    layout->addWidget(m_title);
    layout->addWidget(m_explanation);
    layout->addLayout(head);
    layout->addLayout(foot);
    return details;
}

void MatrixPanel::run()
{
    m_model->clear();
    m_newCells.clear();
    m_progress.reset();
    m_said.clear();
    m_running = true;
    showCurrent();
    follow();
    Q_EMIT runRequested(m_repeat->value());
}

void MatrixPanel::askWhereToExport()
{
    auto *dialog = new QFileDialog(this, tr("Export the matrix"), QDir::homePath());
    dialog->setObjectName(u"matrixFile"_s);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({tr("HTML, for people (*.html)"), tr("JSON lines (*.jsonl)"), tr("All files (*)")});
    dialog->setDefaultSuffix(u"html"_s);
    dialog->selectFile(u"guarantee-matrix.html"_s);
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString &filter) {
        dialog->setDefaultSuffix(filter.contains("jsonl"_L1) ? u"jsonl"_s : u"html"_s);
    });
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &path) {
        m_exporting = path;
        m_said = tr("Writing the matrix…");
        m_saidFailed = false;
        follow();
        Q_EMIT exportRequested(path);
    });
    dialog->open();
}

/// At most 20 times a second: several worlds at once finish their cells.
void MatrixPanel::flush()
{
    if (!m_newCells.isEmpty())
        m_model->takeCells(std::exchange(m_newCells, {}));
    showCurrent();
    follow();
}

void MatrixPanel::showCurrent()
{
    const QModelIndex current = m_view->currentIndex();
    if (!current.isValid()) {
        m_title->setPlain(tr("Choose a cell to see what went wrong and what came of it"));
        for (PlainLabel *label : {m_verdict, m_facts, m_explanation})
            label->setPlain({});
        m_folder->setPlain(
            tr("✓ one e-mail   ⚠ two or more   ✕ none, and nobody is told   ? held for a person, who is told"));
        m_copyFolder->setVisible(false);
        return;
    }
    const MatrixCell cell = m_model->cell(current);
    const MatrixLook look = lookOf(cell);
    const MatrixHazard &hazard = m_model->hazard(current.column());
    m_title->setPlain(u"%1 · %2"_s.arg(
        m_model->headerData(current.row(), Qt::Vertical, Qt::AccessibleTextRole).toString(), hazard.title));
    m_explanation->setPlain(hazard.explanation);
    m_verdict->setTone(look.isOff ? Tone::Failed : look.tone);
    m_verdict->setPlain(cell.text.isEmpty() ? tr("not measured yet") : cell.text);
    QStringList facts;
    if (cell.expected >= 0)
        facts += look.isOff ? tr("expected %1: not as designed").arg(countText(cell.expected))
                            : tr("as expected: %1").arg(countText(cell.expected));
    if (cell.runs > 1)
        facts += tr("%1 of %2 runs had not one e-mail").arg(countText(cell.other), countText(cell.runs));
    if (cell.seconds > 0)
        facts += durationText(qRound64(cell.seconds * 1000));
    m_facts->setPlain(facts.join(u" · "_s));
    m_folder->setPlain(cell.folder.isEmpty() ? tr("Evidence: none yet") : tr("Evidence: %1").arg(cell.folder));
    m_copyFolder->setVisible(true);
    m_copyFolder->setEnabled(!cell.folder.isEmpty());
}

void MatrixPanel::follow()
{
    const bool can = m_ready && m_refusal.isEmpty();
    const bool any = m_model->rowCount() > 0;
    m_run->setEnabled(can && any && !m_running);
    m_repeat->setEnabled(can && any && !m_running);
    m_stop->setEnabled(m_running && !m_stopping);
    m_export->setEnabled(m_progress && m_exporting.isEmpty());
    const double share = m_progress && m_progress->total > 0 ? double(m_progress->done) / m_progress->total : 0;
    m_line->show(m_running ? share : 0);
    if (!m_refusal.isEmpty()) {
        m_words->setTone(Tone::Muted);
        m_words->setPlain(m_refusal);
    } else if (!m_said.isEmpty()) {
        m_words->setTone(m_saidFailed ? Tone::Failed : Tone::Muted);
        m_words->setPlain(m_said);
    } else {
        m_words->setTone(m_model->countOff() > 0 ? Tone::Failed : Tone::Muted);
        m_words->setPlain(progressWords());
    }
    m_view->emptyState()->setWords(u"matrix"_s, tr("Reading the designs…"), {});
}

QString MatrixPanel::progressWords() const
{
    if (!m_progress)
        return m_running ? tr("beginning…") : tr("E-mails the candidate gets, by design and by what goes wrong");
    QStringList parts;
    if (m_stopping)
        parts += tr("stopping…");
    parts += m_progress->stopped
        ? tr("stopped after %1 of %2").arg(countText(m_progress->done), countText(m_progress->total))
        : m_progress->finished ? tr("measured %1").arg(countText(m_progress->done))
                               : tr("%1 of %2").arg(countText(m_progress->done), countText(m_progress->total));
    parts += durationText(qRound64(m_progress->seconds * 1000));
    using Mark = MatrixCell::Mark;
    for (const auto &[words, count] : {std::pair(tr("calm %1"), m_model->count(Mark::Calm)),
                                       std::pair(tr("twice %1"), m_model->count(Mark::Warning)),
                                       std::pair(tr("lost %1"), m_model->count(Mark::Alarm)),
                                       std::pair(tr("not known %1"), m_model->count(Mark::Unknown)),
                                       std::pair(tr("not as expected %1"), m_model->countOff())}) {
        if (count > 0)
            parts += words.arg(countText(count));
    }
    return parts.join(u" · "_s);
}

} // namespace sendonce
