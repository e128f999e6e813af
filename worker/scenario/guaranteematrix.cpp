#include "worker/scenario/guaranteematrix.h"

#include <QDir>
#include <QTimer>

#include <algorithm>

namespace sendonce {

using namespace Qt::StringLiterals;

namespace {

constexpr int MostRepeats = 10'000;
constexpr int MostTries = 5; ///< of a run in which what was to go wrong did not

QString keyOf(const QString &row, const QString &hazard)
{
    return row + u'/' + hazard;
}

/// Those that wait for a lease to end take longest, and go first.
bool isSlow(const MatrixOrder &order)
{
    static const QStringList Slow = {u"race"_s,
                                     u"crash-claimed"_s,
                                     u"crash-looked-up"_s,
                                     u"crash-mid-mail"_s,
                                     u"crash-handed-over"_s,
                                     u"crash-accepted"_s,
                                     u"commit-fails-duplicate"_s};
    return order.design.strategy == Strategy::ClaimSendMark && Slow.contains(order.hazard.about.id);
}

bool isChosen(const GuaranteeMatrix::Choice &choice, const Design &design, bool suppressing)
{
    return choice.designs.isEmpty() || choice.designs.contains(design.id)
        || choice.designs.contains(rowId(design, suppressing));
}

bool isChosen(const GuaranteeMatrix::Choice &choice, const Hazard &hazard)
{
    return choice.hazards.isEmpty() || choice.hazards.contains(hazard.about.id);
}

/// "2 in 37 of 100", the most telling first.
QString rates(const QMap<int, int> &mails, int runs)
{
    QStringList parts;
    for (auto it = mails.cbegin(); it != mails.cend(); ++it) {
        if (it.key() != 1)
            parts.append(u"%1 in %2"_s.arg(it.key()).arg(it.value()));
    }
    return parts.isEmpty() ? u"1 in all of %1"_s.arg(runs) : u"%1 of %2"_s.arg(parts.join(u", "_s)).arg(runs);
}

} // namespace

GuaranteeMatrix::GuaranteeMatrix(const QString &workDir, QObject *parent)
    : QObject(parent)
    , m_workDir(QDir(workDir).absolutePath())
{ }

GuaranteeMatrix::~GuaranteeMatrix() = default;

MatrixShape GuaranteeMatrix::shape()
{
    MatrixShape shape;
    for (const Design &design : matrixDesigns()) {
        for (const bool suppressing : {false, true})
            shape.designs.append({rowId(design, suppressing), design.title, design.isProduction(), suppressing});
    }
    for (const Hazard &hazard : matrixHazards())
        shape.hazards.append(hazard.about);
    return shape;
}

QString GuaranteeMatrix::problemOf(const Choice &choice)
{
    QStringList designs, rows, hazards;
    for (const Design &design : matrixDesigns()) {
        designs.append(design.id);
        rows += {design.id, rowId(design, true)};
    }
    for (const Hazard &hazard : matrixHazards())
        hazards.append(hazard.about.id);
    for (const QString &design : choice.designs) {
        if (!rows.contains(design))
            return u"design is “%1”; accepted: %2, each also with +suppressing"_s.arg(design, designs.join(u", "_s));
    }
    for (const QString &hazard : choice.hazards) {
        if (!hazards.contains(hazard))
            return u"hazard is “%1”; accepted: %2"_s.arg(hazard, hazards.join(u", "_s));
    }
    if (choice.repeat < 1 || choice.repeat > MostRepeats)
        return u"repeat is %1; accepted: 1 to %2"_s.arg(choice.repeat).arg(MostRepeats);
    return {};
}

void GuaranteeMatrix::run(const Choice &choice)
{
    if (isRunning())
        return;
    m_counted.clear();
    m_round = ordersOf(choice);
    m_waiting.clear();
    m_roundsLeft = choice.repeat;
    const qsizetype total = m_round.size() * choice.repeat;
    m_progress = {0, int(total), total == 0, false, 0};
    m_time.start();
    fillSoon();
    tell();
}

QList<MatrixOrder> GuaranteeMatrix::ordersOf(const Choice &choice) const
{
    QList<MatrixOrder> orders;
    for (const Design &design : matrixDesigns()) {
        for (const Hazard &hazard : matrixHazards()) {
            for (const bool suppressing : {false, true}) {
                if (!isChosen(choice, design, suppressing) || !isChosen(choice, hazard))
                    continue;
                const QString folder = m_workDir + u'/' + keyOf(rowId(design, suppressing), hazard.about.id);
                orders.append({design, hazard, suppressing, choice.repeat > 1, folder});
            }
        }
    }
    std::stable_partition(orders.begin(), orders.end(), isSlow);
    return orders;
}

void GuaranteeMatrix::stop()
{
    if (!isRunning() || m_progress.stopped)
        return;
    m_progress.stopped = true;
    m_roundsLeft = 0;
    m_waiting.clear();
    for (MatrixCellRun *run : std::vector(m_running))
        run->stop();
    m_progress.finished = m_running.empty();
    if (m_progress.finished)
        tell();
}

/// Opens at most one world, for it blocks: what is under way is not to wait for all of them. The same cell runs once at
/// a time: its runs share a folder.
void GuaranteeMatrix::fill()
{
    if (m_running.size() >= size_t(WorldsAtOnce))
        return;
    for (; m_roundsLeft > 0 && m_waiting.size() <= m_round.size(); --m_roundsLeft)
        m_waiting += m_round;
    const auto next = std::find_if(m_waiting.begin(), m_waiting.end(), [this](const MatrixOrder &order) {
        return std::none_of(m_running.cbegin(), m_running.cend(),
                            [&order](const MatrixCellRun *run) { return run->order().folder == order.folder; });
    });
    if (next == m_waiting.end())
        return;
    auto *const run = new MatrixCellRun(*next, this);
    m_waiting.erase(next);
    m_running.push_back(run);
    connect(run, &MatrixCellRun::finished, this, [this, run] { ended(run); });
    run->start();
    fillSoon();
}

void GuaranteeMatrix::fillSoon()
{
    QTimer::singleShot(0, this, &GuaranteeMatrix::fill);
}

void GuaranteeMatrix::ended(MatrixCellRun *run)
{
    std::erase(m_running, run);
    run->deleteLater();
    // Only on a very busy machine: a second worker that starts too late.
    if (run->hasMissed() && !m_progress.stopped && ++m_missed[run->order().folder] < MostTries) {
        m_waiting.prepend(run->order());
        fillSoon();
        return;
    }
    m_missed.remove(run->order().folder);
    if (!m_progress.stopped)
        count(run->cell());
    ++m_progress.done;
    m_progress.finished = m_running.empty() && m_waiting.isEmpty() && m_roundsLeft == 0;
    fillSoon();
    tell();
}

/// A rate is made of runs that were measured; the figure shown is the worst.
void GuaranteeMatrix::count(const MatrixCell &measured)
{
    Counted &counted = m_counted[keyOf(measured.design, measured.hazard)];
    MatrixCell cell = measured;
    const MatrixCell &before = counted.cell;
    if (measured.mails >= 0)
        ++counted.mails[measured.mails];
    if (before.runs > 0) {
        const bool worse = measured.mails >= 0 && measured.mails != 1
            && (before.mails == 1 || measured.mails == 0 || (before.mails > 1 && measured.mails > before.mails));
        if (!worse) {
            cell = before;
            cell.folder = measured.folder;
            cell.seconds = measured.seconds;
        }
        cell.runs = before.runs + measured.runs;
        cell.other = before.other + measured.other;
        cell.text = rates(counted.mails, cell.runs);
    }
    counted.cell = cell;
    Q_EMIT cellChanged(cell);
}

void GuaranteeMatrix::tell()
{
    m_progress.seconds = double(m_time.elapsed()) / 1000;
    Q_EMIT progressed(m_progress);
}

QList<MatrixCell> GuaranteeMatrix::cells() const
{
    QList<MatrixCell> cells;
    const MatrixShape all = shape();
    for (const MatrixDesign &design : all.designs) {
        for (const MatrixHazard &hazard : all.hazards) {
            if (const auto found = m_counted.constFind(keyOf(design.id, hazard.id)); found != m_counted.cend())
                cells.append(found->cell);
        }
    }
    return cells;
}

bool isGuaranteeBroken(const MatrixCell &cell)
{
    const QList<Design> &designs = matrixDesigns();
    const bool isProduction = std::any_of(designs.cbegin(), designs.cend(), [&cell](const Design &design) {
        return design.isProduction() && (cell.design == design.id || cell.design == rowId(design, true));
    });
    return isProduction && ((cell.mails == 0 && !cell.held) || (cell.mails > 1 && cell.announced == 0));
}

} // namespace sendonce
