#include "ui/logmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/theme.h"

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

Tone toneOf(LogLevel level)
{
    switch (level) {
    case LogLevel::Debug:
    case LogLevel::Info:
        return Tone::Muted;
    case LogLevel::Warning:
        return Tone::InDoubt;
    case LogLevel::Error:
        return Tone::Failed;
    }
    return Tone::Text;
}

QString glyphOf(LogLevel level)
{
    switch (level) {
    case LogLevel::Debug:
        return u"dash"_s;
    case LogLevel::Info:
        return u"info"_s;
    case LogLevel::Warning:
        return u"warning"_s;
    case LogLevel::Error:
        return u"cross"_s;
    }
    return {};
}

} // namespace

int LogModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_lines.size());
}

int LogModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant LogModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const LogLine &line = m_lines.at(size_t(index.row()));
    if (role == EventIdRole)
        return line.eventId;
    switch (index.column()) {
    case Time:
        if (role == Qt::DisplayRole)
            return clockTimeMsec(line.at);
        if (role == Qt::ToolTipRole)
            return toolTipText(utcText(line.at));
        if (role == CopyRole)
            return utcText(line.at);
        if (role == ToneRole)
            return int(Tone::Muted);
        if (role == FaceRole)
            return int(Face::Monospace);
        break;
    case Level:
        if (role == Qt::DisplayRole) {
            switch (line.level) {
            case LogLevel::Debug:
                return tr("debug");
            case LogLevel::Info:
                return tr("info");
            case LogLevel::Warning:
                return tr("warning");
            case LogLevel::Error:
                return tr("error");
            }
        }
        if (role == GlyphRole)
            return glyphOf(line.level);
        if (role == ToneRole)
            return int(toneOf(line.level));
        break;
    case Text:
        if (role == Qt::DisplayRole)
            return shownText(line.text);
        if (role == CopyRole)
            return line.text;
        if (role == ElideRole)
            return int(Qt::ElideMiddle); // what happened stands first, the reason last, ids between
        if (role == ToneRole)
            return int(line.level == LogLevel::Debug ? Tone::Muted : Tone::Text);
        break;
    default:
        break;
    }
    return {};
}

QVariant LogModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Time:
        return tr("Time");
    case Level:
        return tr("Level");
    default:
        return tr("Message");
    }
}

void LogModel::append(const QList<LogLine> &lines)
{
    const qsizetype count = std::min<qsizetype>(lines.size(), Bound);
    if (count == 0)
        return;
    const int excess = int(m_lines.size() + size_t(count)) - Bound;
    if (excess > 0) {
        beginRemoveRows({}, 0, excess - 1);
        m_lines.erase(m_lines.begin(), m_lines.begin() + excess);
        endRemoveRows();
    }
    const int first = int(m_lines.size());
    beginInsertRows({}, first, first + int(count) - 1);
    m_lines.insert(m_lines.end(), lines.end() - count, lines.end());
    endInsertRows();
}

void LogFilter::setMinimumLevel(LogLevel level)
{
    m_level = level;
    invalidateFilter();
}

void LogFilter::setText(const QString &text)
{
    m_text = text;
    invalidateFilter();
}

bool LogFilter::filterAcceptsRow(int row, const QModelIndex &) const
{
    const LogLine &line = static_cast<const LogModel *>(sourceModel())->line(row);
    return line.level >= m_level
        && (m_text.isEmpty() || line.text.contains(m_text, Qt::CaseInsensitive)
            || line.eventId.contains(m_text, Qt::CaseInsensitive));
}

} // namespace sendonce
