#include "ui/matrixmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

const QString SuppressingSuffix = u"+suppressing"_s;

bool isMeasured(const MatrixCell &cell)
{
    return cell.mails >= 0;
}

bool isOff(const MatrixCell &cell)
{
    return isMeasured(cell) && cell.expected >= 0 && cell.mails != cell.expected;
}

QString wordOf(const MatrixCell &cell)
{
    if (isOff(cell))
        return MatrixModel::tr("expected %1").arg(countText(cell.expected));
    if (cell.runs > 1 && cell.other > 0)
        return MatrixModel::tr("%1 of %2").arg(countText(cell.other), countText(cell.runs));
    if (cell.held)
        return MatrixModel::tr("held");
    if (cell.mails == 0)
        return MatrixModel::tr("lost");
    if (cell.mails == 1) // told: perhaps it was two
        return cell.announced > 0 ? MatrixModel::tr("once, told") : MatrixModel::tr("once");
    const QString times =
        cell.mails == 2 ? MatrixModel::tr("twice") : MatrixModel::tr("%1 times").arg(countText(cell.mails));
    return cell.announced > 0 ? MatrixModel::tr("%1, told").arg(times) : times;
}

QStringList factsOf(const MatrixCell &cell)
{
    if (!isMeasured(cell))
        return {cell.text.isEmpty() ? MatrixModel::tr("not measured yet") : cell.text};
    QStringList facts{cell.text};
    if (isOff(cell))
        facts += MatrixModel::tr("expected: %1").arg(countText(cell.expected));
    if (cell.runs > 1)
        facts += MatrixModel::tr("%1 of %2 runs had not one e-mail").arg(countText(cell.other), countText(cell.runs));
    facts.removeAll(QString());
    return facts;
}

} // namespace

MatrixLook lookOf(const MatrixCell &cell)
{
    if (!isMeasured(cell)) {
        const bool failed = !cell.text.isEmpty();
        return {u"–"_s, failed ? MatrixModel::tr("not known") : QString(), failed ? u"dash"_s : QString(), Tone::Muted,
                false};
    }
    MatrixLook look{countText(cell.mails), wordOf(cell), {}, Tone::Muted, isOff(cell)};
    switch (cell.mark) {
    case MatrixCell::Mark::Calm:
        look.glyph = cell.held ? u"question"_s : u"check"_s;
        look.tone = cell.held ? Tone::InDoubt : Tone::Sent;
        break;
    case MatrixCell::Mark::Warning:
        look.glyph = u"warning"_s;
        look.tone = Tone::InDoubt;
        break;
    case MatrixCell::Mark::Alarm:
        look.glyph = u"cross"_s;
        look.tone = Tone::Failed;
        break;
    case MatrixCell::Mark::Unknown:
        look.glyph = u"dash"_s;
        look.word = MatrixModel::tr("not known");
        break;
    }
    return look;
}

int MatrixModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_shape.designs.size());
}

int MatrixModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_shape.hazards.size());
}

QVariant MatrixModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const MatrixCell cell = this->cell(index);
    const MatrixLook look = lookOf(cell);
    switch (role) {
    case Qt::DisplayRole:
        return look.figure;
    case GlyphRole:
        return look.glyph;
    case ToneRole:
        return int(look.tone);
    case CopyRole:
        return look.word.isEmpty() ? look.figure : u"%1 %2"_s.arg(look.figure, look.word);
    case Qt::ToolTipRole:
        return toolTipText(u"%1\n%2\n%3"_s.arg(headerData(index.row(), Qt::Vertical, Qt::AccessibleTextRole).toString(),
                                               hazard(index.column()).title, factsOf(cell).join(u'\n')));
    case Qt::AccessibleTextRole:
        return u"%1, %2: %3"_s.arg(headerData(index.row(), Qt::Vertical, Qt::AccessibleTextRole).toString(),
                                   hazard(index.column()).title, factsOf(cell).join(u", "_s));
    default:
        return {};
    }
}

QVariant MatrixModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation == Qt::Horizontal) {
        if (section < 0 || section >= columnCount())
            return {};
        const MatrixHazard &wrong = hazard(section);
        return role == Qt::DisplayRole ? QVariant(shownText(wrong.title))
            : role == Qt::ToolTipRole  ? QVariant(toolTipText(u"%1\n%2"_s.arg(wrong.title, wrong.explanation)))
                                       : QVariant();
    }
    if (section < 0 || section >= rowCount())
        return {};
    const MatrixDesign &row = design(section);
    if (role == Qt::DisplayRole)
        return shownText(row.title);
    if (role == Qt::AccessibleTextRole || role == Qt::ToolTipRole) {
        QStringList parts{row.title};
        if (row.production)
            parts += tr("for production");
        if (row.suppressing)
            parts += tr("the receiving side drops copies");
        return role == Qt::ToolTipRole ? toolTipText(parts.join(u'\n')) : parts.join(u", "_s);
    }
    return {};
}

void MatrixModel::setShape(const MatrixShape &shape)
{
    if (shape == m_shape)
        return;
    beginResetModel();
    m_shape = shape;
    endResetModel();
}

void MatrixModel::clear()
{
    m_cells.clear();
    if (rowCount() > 0 && columnCount() > 0)
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

void MatrixModel::takeCells(const QList<MatrixCell> &cells)
{
    for (const MatrixCell &cell : cells)
        m_cells.insert(cell.design + u'|' + cell.hazard, cell);
    if (rowCount() > 0 && columnCount() > 0)
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

MatrixCell MatrixModel::cell(const QModelIndex &index) const
{
    return m_cells.value(keyOf(index.row(), index.column()));
}

int MatrixModel::count(MatrixCell::Mark mark) const
{
    return int(std::count_if(m_cells.cbegin(), m_cells.cend(), [mark](const MatrixCell &cell) {
        return cell.mark == mark && (isMeasured(cell) || mark == MatrixCell::Mark::Unknown);
    }));
}

int MatrixModel::countOff() const
{
    return int(std::count_if(m_cells.cbegin(), m_cells.cend(), isOff));
}

QString MatrixModel::keyOf(const MatrixDesign &design)
{
    return design.suppressing && !design.id.endsWith(SuppressingSuffix) ? design.id + SuppressingSuffix : design.id;
}

QString MatrixModel::keyOf(int row, int column) const
{
    return keyOf(design(row)) + u'|' + hazard(column).id;
}

} // namespace sendonce
