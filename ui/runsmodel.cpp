#include "ui/runsmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/runwords.h"

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

QString glyphOf(const ReplayProgress &run)
{
    switch (run.state) {
    case ReplayProgress::State::Running:
    case ReplayProgress::State::AwaitingCanary:
        return u"clock"_s;
    case ReplayProgress::State::Paused:
        return u"pause"_s;
    case ReplayProgress::State::Halted:
        return u"exclamation"_s;
    case ReplayProgress::State::Interrupted:
        return u"question"_s;
    case ReplayProgress::State::Cancelled:
        return u"dash"_s;
    case ReplayProgress::State::Finished:
        return run.failed + run.deadAgain > 0 ? u"cross"_s : u"check"_s;
    }
    return {};
}

} // namespace

int RunsModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_runs.size());
}

int RunsModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant RunsModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const ReplayProgress &run = m_runs.at(index.row());
    const auto figure = [role](qint64 count) -> QVariant {
        if (role == Qt::DisplayRole)
            return countText(count);
        if (role == FaceRole)
            return int(Face::Figures);
        return {};
    };
    switch (index.column()) {
    case Glyph:
        if (role == GlyphRole)
            return glyphOf(run);
        if (role == ToneRole)
            return int(runTone(run));
        if (role == Qt::AccessibleTextRole)
            return runStateWords(run);
        break;
    case Started:
        if (role == Qt::DisplayRole)
            return dayAndTime(run.startedAt);
        if (role == Qt::ToolTipRole)
            return toolTipText(utcText(run.startedAt));
        if (role == FaceRole)
            return int(Face::Figures);
        break;
    case What:
        if (role == Qt::DisplayRole)
            return runName(run);
        break;
    case State:
        if (role == Qt::DisplayRole)
            return runStateWords(run);
        if (role == ToneRole)
            return int(runTone(run));
        break;
    case Done:
        return figure(run.done);
    case Left:
        return figure(run.left);
    case Failed:
        return figure(run.failed);
    case Outcome:
        if (role == Qt::DisplayRole)
            return runOutcomeWords(run);
        break;
    case By:
        if (role == Qt::DisplayRole)
            return shownText(run.by);
        if (role == ToneRole)
            return int(Tone::Muted);
        break;
    default:
        break;
    }
    return {};
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Started:
        return tr("Started");
    case What:
        return tr("What");
    case State:
        return tr("State");
    case Done:
        return tr("Done");
    case Left:
        return tr("Left");
    case Failed:
        return tr("Failed");
    case Outcome:
        return tr("Became");
    case By:
        return tr("By");
    default:
        return QString();
    }
}

void RunsModel::setRuns(const QList<ReplayProgress> &runs)
{
    if (runs == m_runs)
        return;
    if (runs.size() == m_runs.size()
        && std::equal(runs.cbegin(), runs.cend(), m_runs.cbegin(),
                      [](const ReplayProgress &a, const ReplayProgress &b) { return a.run == b.run; })) {
        m_runs = runs; // the chosen row stays chosen
        if (!runs.isEmpty())
            Q_EMIT dataChanged(index(0, 0), index(int(runs.size()) - 1, ColumnCount - 1));
        return;
    }
    beginResetModel();
    m_runs = runs;
    endResetModel();
}

void RunsModel::setProgress(const ReplayProgress &run)
{
    const int row = rowOf(run.run);
    if (row >= 0) {
        m_runs[row] = run;
        Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
        return;
    }
    beginInsertRows({}, 0, 0);
    m_runs.prepend(run);
    endInsertRows();
}

int RunsModel::rowOf(qint64 run) const
{
    for (int row = 0; row < m_runs.size(); ++row) {
        if (m_runs.at(row).run == run)
            return row;
    }
    return -1;
}

int RunItemsModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_items.size());
}

int RunItemsModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant RunItemsModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const ReplayItem &item = m_items.at(index.row());
    if (role == EventIdRole)
        return item.eventId;
    switch (index.column()) {
    case Glyph:
        if (role == GlyphRole)
            return itemGlyph(item.state);
        if (role == ToneRole)
            return int(itemTone(item.state));
        if (role == Qt::AccessibleTextRole)
            return itemStateWords(item.state);
        break;
    case Event:
    case MessageId: {
        const QString &id = index.column() == Event ? item.eventId : item.messageId;
        if (role == Qt::DisplayRole)
            return id.isEmpty() ? u"–"_s : compactId(id);
        if (role == CopyRole)
            return id;
        if (role == FaceRole)
            return int(Face::Monospace);
        if (role == Qt::ToolTipRole)
            return toolTipText(id);
        break;
    }
    case Outcome:
        if (role == Qt::DisplayRole)
            return itemStateWords(item.state);
        if (role == ToneRole)
            return int(itemTone(item.state));
        break;
    case Text:
        if (role == Qt::DisplayRole)
            return shownText(item.text);
        break;
    default:
        break;
    }
    return {};
}

QVariant RunItemsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Event:
        return tr("Event");
    case MessageId:
        return tr("Message");
    case Outcome:
        return tr("Outcome");
    case Text:
        return tr("In words");
    default:
        return QString();
    }
}

void RunItemsModel::setItems(const ReplayItems &items)
{
    beginResetModel();
    m_run = items.run;
    m_items = items.items;
    m_rows.clear();
    for (int row = 0; row < m_items.size(); ++row)
        m_rows.insert(m_items.at(row).messageId, row);
    endResetModel();
}

void RunItemsModel::update(const QList<ReplayItem> &items)
{
    for (const ReplayItem &item : items) {
        const auto row = m_rows.constFind(item.messageId);
        if (item.run != m_run || row == m_rows.cend())
            continue;
        m_items[*row] = item;
        Q_EMIT dataChanged(index(*row, 0), index(*row, ColumnCount - 1));
    }
}

} // namespace sendonce
