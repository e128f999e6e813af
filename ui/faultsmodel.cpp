#include "ui/faultsmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/faultwords.h"
#include "ui/theme.h"

#include <algorithm>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {
namespace {

bool sameRules(const FaultRules &a, const FaultRules &b)
{
    return std::equal(a.cbegin(), a.cend(), b.cbegin(), b.cend(),
                      [](const FaultRule &one, const FaultRule &other) { return one.id == other.id; });
}

} // namespace

int FaultsModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rules.size());
}

int FaultsModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant FaultsModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const FaultRule &rule = m_rules.at(index.row());
    if (role == RowKeyRole)
        return QString::number(rule.id);
    if (role == Qt::ToolTipRole)
        return toolTipText(faultLine(rule, left(index.row())));
    if (role != Qt::DisplayRole) {
        if (index.column() == Where && role == GlyphRole)
            return u"warning"_s;
        if (index.column() == Where && role == ToneRole)
            return int(Tone::InDoubt);
        if (role == FaceRole && (index.column() == Until || index.column() == Struck))
            return int(Face::Figures);
        return {};
    }
    switch (index.column()) {
    case Where:
        return faultWhereText(rule);
    case What:
        return shownText(faultWhatText(rule));
    case Often:
        return faultOftenText(rule);
    case ForWhom:
        return shownText(faultForText(rule));
    case Until:
        return left(index.row()) < 0ms ? tr("disarmed") : countdownText(left(index.row()));
    default:
        return countText(rule.struck);
    }
}

QVariant FaultsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Where:
        return tr("Where");
    case What:
        return tr("What");
    case Often:
        return tr("How often");
    case ForWhom:
        return tr("For whom");
    case Until:
        return tr("Until");
    default:
        return tr("Struck");
    }
}

void FaultsModel::setRules(const FaultRules &rules, const QDateTime &now)
{
    const bool sameRows = sameRules(m_rules, rules);
    if (!sameRows)
        beginResetModel();
    m_rules = rules;
    m_toldAt = m_now = now;
    if (!sameRows)
        endResetModel();
    else if (!m_rules.isEmpty())
        Q_EMIT dataChanged(index(0, 0), index(int(m_rules.size()) - 1, ColumnCount - 1));
}

void FaultsModel::setNow(const QDateTime &now)
{
    m_now = now;
    if (!m_rules.isEmpty())
        Q_EMIT dataChanged(index(0, Until), index(int(m_rules.size()) - 1, Until), {Qt::DisplayRole});
}

std::chrono::milliseconds FaultsModel::left(int row) const
{
    return faultLeft(m_rules.at(row), std::chrono::milliseconds(m_toldAt.msecsTo(m_now)));
}

} // namespace sendonce
