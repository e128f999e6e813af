#include "ui/scenariosmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/scenariowords.h"

using namespace Qt::StringLiterals;

namespace sendonce {

int ScenariosModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_scenarios.size());
}

int ScenariosModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ScenariosModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const ScenarioInfo &scenario = m_scenarios.at(index.row());
    if (role == RowKeyRole)
        return scenario.name;
    if (role == SearchRole)
        return QStringList{scenario.name, scenario.title, scenario.explanation.join(u' ')}.join(u'\n');
    if (index.column() == Title) {
        if (role == Qt::DisplayRole)
            return shownText(scenario.title);
        if (role == Qt::ToolTipRole && !scenario.file.isEmpty())
            return toolTipText(tr("%1\nYour own: %2").arg(scenario.title, scenario.file));
        if (role == CopyRole)
            return u"%1: %2"_s.arg(scenario.name, scenario.title);
        return {};
    }
    const auto run = m_lastRuns.constFind(scenario.name);
    if (run == m_lastRuns.cend())
        return {};
    const StateLook look = lookOf(*run);
    switch (role) {
    case Qt::DisplayRole:
        return index.column() == Verdict                ? look.word
            : run->state == ScenarioRun::State::Running ? QString()
                                                        : durationText(run->msec);
    case GlyphRole:
        return index.column() == Verdict ? look.glyph : QVariant();
    case ToneRole:
        return int(index.column() == Verdict ? look.tone : Tone::Muted);
    case FaceRole:
        return int(Face::Figures);
    default:
        return {};
    }
}

QVariant ScenariosModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Title:
        return tr("Scenario");
    case Verdict:
        return tr("Last run");
    default:
        return tr("Time");
    }
}

void ScenariosModel::setScenarios(const QList<ScenarioInfo> &scenarios)
{
    if (scenarios == m_scenarios)
        return;
    beginResetModel();
    m_scenarios = scenarios;
    endResetModel();
}

void ScenariosModel::takeRun(const ScenarioRun &run)
{
    ScenarioRun &last = m_lastRuns[run.scenario];
    if (run.id < last.id)
        return;
    last = run;
    if (const int row = rowOf(run.scenario); row >= 0)
        Q_EMIT dataChanged(index(row, Verdict), index(row, Time));
}

int ScenariosModel::rowOf(const QString &name) const
{
    for (int row = 0; row < int(m_scenarios.size()); ++row) {
        if (m_scenarios.at(row).name == name)
            return row;
    }
    return -1;
}

} // namespace sendonce
