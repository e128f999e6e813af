#include "ui/processedmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/theme.h"

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

constexpr int MaxHints = 5000;

bool isMailed(const ProcessedRow &row)
{
    return row.result == "mailed"_L1;
}

Tone resultTone(const ProcessedRow &row)
{
    return isMailed(row) ? Tone::Sent : row.result.isEmpty() ? Tone::Muted : Tone::Skipped;
}

QString resultGlyph(const ProcessedRow &row)
{
    return isMailed(row) ? u"check"_s : row.result.isEmpty() ? u"dash"_s : u"gone"_s;
}

} // namespace

int ProcessedModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int ProcessedModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ProcessedModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const ProcessedRow &row = m_rows.at(index.row());
    const QString result = row.result.isEmpty() ? tr("unknown") : shownText(row.result);
    if (role == EventIdRole)
        return row.eventId;
    switch (index.column()) {
    case Glyph:
        if (role == GlyphRole)
            return resultGlyph(row);
        if (role == ToneRole)
            return int(resultTone(row));
        if (role == Qt::AccessibleTextRole || role == CopyRole)
            return result;
        if (role == Qt::ToolTipRole)
            return toolTipText(row.result.isEmpty() ? tr("Not in the journal: no worker of this console saw it")
                                                    : result);
        break;
    case Event:
        if (role == Qt::DisplayRole)
            return shownText(row.eventId);
        if (role == CopyRole)
            return row.eventId;
        if (role == FaceRole)
            return int(Face::Monospace);
        if (role == ElideRole)
            return int(Qt::ElideMiddle);
        break;
    case Type:
        if (role == Qt::DisplayRole)
            return typeText(row.eventType);
        if (role == CopyRole)
            return row.eventType;
        if (role == Qt::ToolTipRole)
            return toolTipText(row.eventType);
        break;
    case Application:
        if (role == Qt::DisplayRole)
            return row.applicationId.isEmpty() ? u"–"_s : shownText(row.applicationId);
        if (role == ToneRole)
            return int(Tone::Muted);
        if (role == FaceRole)
            return int(Face::Figures);
        break;
    case Result:
        if (role == Qt::DisplayRole)
            return result;
        if (role == ToneRole)
            return int(resultTone(row));
        break;
    case Duplicates:
        if (role == Qt::DisplayRole)
            return row.duplicates == 0 && row.result.isEmpty() ? u"–"_s : countText(row.duplicates);
        if (role == ToneRole)
            return int(row.duplicates > 0 ? Tone::Text : Tone::Muted);
        if (role == FaceRole)
            return int(Face::Figures);
        break;
    case ProcessedAt:
        if (role == Qt::DisplayRole)
            return dayAndTime(row.processedAt);
        if (role == CopyRole)
            return utcText(row.processedAt);
        if (role == Qt::ToolTipRole)
            return toolTipText(utcText(row.processedAt));
        if (role == ToneRole)
            return int(Tone::Muted);
        if (role == FaceRole)
            return int(Face::Figures);
        break;
    default:
        break;
    }
    return {};
}

QVariant ProcessedModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Event:
        return tr("Event");
    case Type:
        return tr("Type");
    case Application:
        return tr("Application");
    case Result:
        return tr("Result");
    case Duplicates:
        return tr("Duplicates skipped");
    case ProcessedAt:
        return tr("Processed at");
    default:
        return QString();
    }
}

bool ProcessedModel::canFetchMore(const QModelIndex &parent) const
{
    return !parent.isValid() && m_more && !m_rows.isEmpty()
        && std::none_of(m_open.cbegin(), m_open.cend(),
                        [](Kind kind) { return kind == Kind::Restart || kind == Kind::Older; });
}

void ProcessedModel::fetchMore(const QModelIndex &parent)
{
    if (canFetchMore(parent))
        ask(Kind::Older);
}

void ProcessedModel::read(const QString &search)
{
    m_search = search;
    m_open.clear(); // answers to older questions are dropped
    m_newerWanted = false;
    m_state = m_rows.isEmpty() ? State::Loading : m_state;
    ask(Kind::Restart);
    Q_EMIT stateChanged();
}

void ProcessedModel::readNewer()
{
    if (m_state == State::Idle)
        return;
    if (!m_open.isEmpty()) {
        m_newerWanted = true;
        return;
    }
    ask(m_rows.isEmpty() ? Kind::Restart : Kind::Newer);
}

void ProcessedModel::settle()
{
    if (m_state != State::Idle && m_open.isEmpty())
        ask(m_rows.isEmpty() ? Kind::Restart : Kind::Settle);
}

void ProcessedModel::takePage(const ProcessedPage &page)
{
    const auto open = m_open.constFind(page.query.ticket);
    if (open == m_open.cend())
        return;
    const Kind kind = *open;
    m_open.erase(open);
    if (!page.error.isEmpty()) {
        m_error = page.error;
        m_state = State::Failed;
    } else {
        m_error.clear();
        m_state = State::Ready;
        switch (kind) {
        case Kind::Restart:
            replaceAll(page);
            break;
        case Kind::Older:
            if (!page.rows.isEmpty()) {
                beginInsertRows({}, int(m_rows.size()), int(m_rows.size() + page.rows.size() - 1));
                m_rows += page.rows;
                endInsertRows();
            }
            m_more = page.more;
            break;
        case Kind::Newer:
            // More newer rows than one page: what lies between is not known, so begin again.
            if (page.more)
                ask(Kind::Restart);
            else
                putOnTop(page.rows);
            break;
        case Kind::Settle:
            trueUp(page.rows);
            break;
        }
    }
    Q_EMIT stateChanged();
    if (m_newerWanted && m_open.isEmpty()) {
        m_newerWanted = false;
        readNewer();
    }
}

void ProcessedModel::note(const DeliveryReport &report)
{
    const int at = rowOf(report.eventId);
    switch (report.outcome) {
    case Outcome::Sent:
    case Outcome::Gone: {
        if (m_hints.size() >= MaxHints)
            m_hints.clear();
        ProcessedRow &hint = m_hints[report.eventId];
        hint.applicationId = report.applicationId;
        hint.result = report.outcome == Outcome::Sent ? u"mailed"_s : u"application gone"_s;
        if (at >= 0) {
            applyHint(m_rows[at]);
            Q_EMIT dataChanged(index(at, 0), index(at, ColumnCount - 1));
        }
        break;
    }
    case Outcome::Duplicate:
        if (at >= 0) {
            ++m_rows[at].duplicates; // settle() brings the database's own figure
            Q_EMIT dataChanged(index(at, Duplicates), index(at, Duplicates));
        }
        break;
    default:
        break;
    }
}

void ProcessedModel::ask(Kind kind)
{
    ProcessedQuery query;
    query.search = m_search;
    query.ticket = ++m_lastTicket;
    if (kind == Kind::Older)
        query.beforeId = m_rows.last().id;
    if (kind == Kind::Newer)
        query.afterId = m_rows.first().id;
    m_open.insert(query.ticket, kind);
    Q_EMIT queried(query);
}

void ProcessedModel::replaceAll(const ProcessedPage &page)
{
    beginResetModel();
    m_rows = page.rows;
    for (ProcessedRow &row : m_rows)
        applyHint(row);
    m_more = page.more;
    endResetModel();
}

void ProcessedModel::putOnTop(QList<ProcessedRow> rows)
{
    const qint64 top = m_rows.isEmpty() ? 0 : m_rows.first().id;
    rows.removeIf([top](const ProcessedRow &row) { return row.id <= top; });
    if (rows.isEmpty())
        return;
    for (ProcessedRow &row : rows)
        applyHint(row);
    beginInsertRows({}, 0, int(rows.size() - 1));
    m_rows = rows + m_rows;
    endInsertRows();
}

void ProcessedModel::trueUp(const QList<ProcessedRow> &rows)
{
    QHash<qint64, const ProcessedRow *> fresh;
    for (const ProcessedRow &row : rows)
        fresh.insert(row.id, &row);
    const qsizetype known = std::min(m_rows.size(), rows.size());
    for (qsizetype i = 0; i < known; ++i) {
        const ProcessedRow *row = fresh.value(m_rows.at(i).id);
        if (!row || *row == m_rows.at(i))
            continue;
        m_rows[i] = *row;
        applyHint(m_rows[i]);
        Q_EMIT dataChanged(index(int(i), 0), index(int(i), ColumnCount - 1));
    }
}

/// The journal is written after the outcome was told: until then what was told stands in for it.
void ProcessedModel::applyHint(ProcessedRow &row) const
{
    const auto hint = m_hints.constFind(row.eventId);
    if (hint == m_hints.cend())
        return;
    if (row.result.isEmpty())
        row.result = hint->result;
    if (row.applicationId.isEmpty())
        row.applicationId = hint->applicationId;
}

int ProcessedModel::rowOf(const QString &eventId) const
{
    // Duplicates come soon after their event as a rule: the newest pages are enough.
    const qsizetype end = std::min<qsizetype>(m_rows.size(), 2000);
    for (qsizetype i = 0; i < end; ++i) {
        if (m_rows.at(i).eventId == eventId)
            return int(i);
    }
    return -1;
}

} // namespace sendonce
