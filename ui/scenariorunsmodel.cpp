#include "ui/scenariorunsmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/scenariowords.h"

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {

int ScenarioRunsModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_runs.size());
}

int ScenarioRunsModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ScenarioRunsModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const ScenarioRun &run = m_runs.at(index.row());
    const StateLook look = lookOf(run);
    if (role == RowKeyRole)
        return QString::number(run.id);
    if (role == FaceRole && index.column() != Title)
        return int(Face::Figures);
    switch (index.column()) {
    case At:
        if (role == Qt::DisplayRole)
            return clockTime(run.startedAt);
        if (role == Qt::ToolTipRole)
            return toolTipText(utcText(run.startedAt));
        if (role == CopyRole)
            return utcText(run.startedAt);
        break;
    case Title:
        if (role == Qt::DisplayRole)
            return shownText(run.title);
        break;
    case Verdict:
        if (role == Qt::DisplayRole)
            return look.word;
        if (role == GlyphRole)
            return look.glyph;
        if (role == ToneRole)
            return int(look.tone);
        break;
    default:
        if (role == Qt::DisplayRole && run.state != ScenarioRun::State::Running)
            return durationText(run.msec);
        if (role == ToneRole)
            return int(Tone::Muted);
        break;
    }
    return {};
}

QVariant ScenarioRunsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case At:
        return tr("Started");
    case Title:
        return tr("Scenario");
    case Verdict:
        return tr("Verdict");
    default:
        return tr("Time");
    }
}

void ScenarioRunsModel::takeRun(const ScenarioRun &run)
{
    if (const int row = rowOf(run.id); row >= 0) {
        m_runs[row] = run;
        Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
        return;
    }
    beginInsertRows({}, 0, 0);
    m_runs.prepend(run);
    endInsertRows();
    if (m_runs.size() > Bound) {
        beginRemoveRows({}, Bound, int(m_runs.size()) - 1);
        m_runs.resize(Bound);
        endRemoveRows();
    }
}

const ScenarioRun *ScenarioRunsModel::newestOf(const QString &scenario) const
{
    const auto found = std::find_if(m_runs.cbegin(), m_runs.cend(),
                                    [&scenario](const ScenarioRun &run) { return run.scenario == scenario; });
    return found == m_runs.cend() ? nullptr : &*found;
}

const ScenarioRun *ScenarioRunsModel::byId(qint64 id) const
{
    const int row = rowOf(id);
    return row < 0 ? nullptr : &m_runs.at(row);
}

int ScenarioRunsModel::rowOf(qint64 id) const
{
    for (int row = 0; row < int(m_runs.size()); ++row) {
        if (m_runs.at(row).id == id)
            return row;
    }
    return -1;
}

int ScenarioRunsModel::count(ScenarioRun::State state) const
{
    return int(
        std::count_if(m_runs.cbegin(), m_runs.cend(), [state](const ScenarioRun &run) { return run.state == state; }));
}

} // namespace sendonce
