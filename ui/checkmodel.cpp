#include "ui/checkmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/theme.h"

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

struct Look
{
    QString word;
    QString glyph;
    Tone tone;
};

Look lookOf(CheckLine::Level level)
{
    switch (level) {
    case CheckLine::Level::Ok:
        return {CheckModel::tr("ok"), u"check"_s, Tone::Sent};
    case CheckLine::Level::Warning:
        return {CheckModel::tr("warning"), u"warning"_s, Tone::InDoubt};
    case CheckLine::Level::Error:
        return {CheckModel::tr("error"), u"cross"_s, Tone::Failed};
    }
    return {};
}

} // namespace

int CheckModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_lines.size());
}

int CheckModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant CheckModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const CheckLine &line = m_lines.at(index.row());
    switch (index.column()) {
    case Level:
        if (role == Qt::DisplayRole)
            return lookOf(line.level).word;
        if (role == GlyphRole)
            return lookOf(line.level).glyph;
        if (role == ToneRole)
            return int(lookOf(line.level).tone);
        break;
    case Text:
        if (role == Qt::DisplayRole)
            return shownText(line.text);
        if (role == CopyRole)
            return line.text;
        break;
    case Remedy:
        if (role == Qt::DisplayRole)
            return shownText(line.remedy);
        if (role == CopyRole)
            return line.remedy;
        break;
    default:
        break;
    }
    return {};
}

QVariant CheckModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Level:
        return tr("State");
    case Text:
        return tr("Found");
    default:
        return tr("What to do");
    }
}

void CheckModel::clear()
{
    beginResetModel();
    m_lines.clear();
    endResetModel();
}

void CheckModel::append(const CheckLine &line)
{
    const int row = int(m_lines.size());
    beginInsertRows({}, row, row);
    m_lines += line;
    endInsertRows();
}

int CheckModel::count(CheckLine::Level level) const
{
    return int(std::count_if(m_lines.cbegin(), m_lines.cend(),
                             [level](const CheckLine &line) { return line.level == level; }));
}

int CheckModel::firstOf(CheckLine::Level level) const
{
    for (int row = 0; row < int(m_lines.size()); ++row) {
        if (m_lines.at(row).level == level)
            return row;
    }
    return -1;
}

} // namespace sendonce
