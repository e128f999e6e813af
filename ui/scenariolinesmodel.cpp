#include "ui/scenariolinesmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/scenariowords.h"

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

bool sameTexts(const QList<ScenarioLine> &a, const QList<ScenarioLine> &b)
{
    return std::equal(a.cbegin(), a.cend(), b.cbegin(), b.cend(),
                      [](const ScenarioLine &one, const ScenarioLine &other) { return one.text == other.text; });
}

} // namespace

int ScenarioLinesModel::rowCount(const QModelIndex &parent) const
{
    if (parent.isValid() || (m_steps.isEmpty() && m_expectations.isEmpty()))
        return 0;
    return int(m_steps.size() + m_expectations.size()) + 2;
}

int ScenarioLinesModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ScenarioLinesModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    if (isHeading(index.row())) {
        if (index.column() != Text)
            return {};
        if (role == Qt::DisplayRole)
            return index.row() == 0 ? tr("Steps") : tr("Expected in the end");
        if (role == FaceRole)
            return int(Face::Strong);
        if (role == ToneRole)
            return int(Tone::Muted);
        return {};
    }
    const ScenarioLine &line = this->line(index.row());
    const StateLook look = lookOf(line.state);
    switch (index.column()) {
    case Text:
        if (role == Qt::DisplayRole)
            return shownText(line.text);
        if (role == CopyRole)
            return line.text;
        if (role == GlyphRole)
            return m_ran ? look.glyph : u"dash"_s;
        if (role == ToneRole && m_ran)
            return int(line.state == ScenarioLine::State::Done ? Tone::Text : look.tone);
        if (role == Qt::AccessibleTextRole)
            return m_ran ? u"%1: %2"_s.arg(look.word, line.text) : line.text;
        break;
    case Seen:
        if (role == Qt::DisplayRole)
            return !m_ran ? QString() : line.seen.isEmpty() ? look.word : shownText(line.seen);
        if (role == CopyRole)
            return line.seen.isEmpty() ? look.word : line.seen;
        if (role == ToneRole)
            return int(look.tone);
        break;
    default:
        if (role == Qt::DisplayRole)
            return durationText(line.msec);
        if (role == ToneRole)
            return int(Tone::Muted);
        if (role == FaceRole)
            return int(Face::Figures);
        break;
    }
    return {};
}

QVariant ScenarioLinesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Text:
        return tr("What");
    case Seen:
        return tr("Seen");
    default:
        return tr("Time");
    }
}

Qt::ItemFlags ScenarioLinesModel::flags(const QModelIndex &index) const
{
    return index.isValid() && isHeading(index.row()) ? Qt::ItemIsEnabled : QAbstractTableModel::flags(index);
}

void ScenarioLinesModel::setLines(const QList<ScenarioLine> &steps, const QList<ScenarioLine> &expectations, bool ran)
{
    const bool sameRows = sameTexts(steps, m_steps) && sameTexts(expectations, m_expectations);
    if (!sameRows)
        beginResetModel();
    m_steps = steps;
    m_expectations = expectations;
    m_ran = ran;
    if (!sameRows)
        endResetModel();
    else if (rowCount() > 0)
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int ScenarioLinesModel::runningRow() const
{
    for (int row = 0; row < rowCount(); ++row) {
        if (!isHeading(row) && line(row).state == ScenarioLine::State::Running)
            return row;
    }
    return -1;
}

bool ScenarioLinesModel::isHeading(int row) const
{
    return row == 0 || row == int(m_steps.size()) + 1;
}

const ScenarioLine &ScenarioLinesModel::line(int row) const
{
    return row <= int(m_steps.size()) ? m_steps.at(row - 1) : m_expectations.at(row - int(m_steps.size()) - 2);
}

} // namespace sendonce
