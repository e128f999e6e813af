#include "ui/auditmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/theme.h"

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

constexpr int PageSize = 200;

} // namespace

int AuditModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_entries.size());
}

int AuditModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant AuditModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const AuditEntry &entry = m_entries.at(index.row());
    if (role == SearchRole)
        return QString(entry.who + u'\n' + entry.host + u'\n' + entry.profile + u'\n' + entry.act + u'\n'
                       + entry.ids.join(u'\n') + u'\n' + entry.text + u'\n' + entry.outcome);
    switch (index.column()) {
    case At:
        if (role == Qt::DisplayRole)
            return dayAndTime(entry.at);
        if (role == CopyRole)
            return utcText(entry.at);
        if (role == Qt::ToolTipRole)
            return toolTipText(utcText(entry.at));
        if (role == FaceRole)
            return int(Face::Figures);
        break;
    case Who:
        if (role == Qt::DisplayRole)
            return shownText(tr("%1 on %2").arg(entry.who, entry.host));
        break;
    case Profile:
        if (role == Qt::DisplayRole)
            return shownText(entry.profile);
        if (role == ToneRole)
            return int(Tone::Muted);
        break;
    case Act:
        if (role == Qt::DisplayRole)
            return shownText(entry.act);
        if (role == FaceRole)
            return int(Face::Strong);
        break;
    case Ids:
        if (role == Qt::DisplayRole)
            return entry.ids.isEmpty()  ? u"–"_s
                : entry.ids.size() == 1 ? compactId(entry.ids.first())
                                        : tr("%1 ids").arg(countText(entry.ids.size()));
        if (role == CopyRole)
            return entry.ids.join(u' ');
        if (role == FaceRole && entry.ids.size() == 1)
            return int(Face::Monospace);
        break;
    case Text:
        if (role == Qt::DisplayRole)
            return shownText(entry.text);
        break;
    case Outcome:
        if (role == Qt::DisplayRole)
            return entry.outcome.isEmpty() ? tr("begun") : shownText(entry.outcome);
        if (role == ToneRole && entry.outcome.isEmpty())
            return int(Tone::Muted);
        break;
    default:
        break;
    }
    return {};
}

QVariant AuditModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case At:
        return tr("At");
    case Who:
        return tr("Who");
    case Profile:
        return tr("Profile");
    case Act:
        return tr("Act");
    case Ids:
        return tr("Ids");
    case Text:
        return tr("What was asked");
    case Outcome:
        return tr("Outcome");
    default:
        return QString();
    }
}

bool AuditModel::canFetchMore(const QModelIndex &parent) const
{
    return !parent.isValid() && m_more && m_asked < 0;
}

void AuditModel::fetchMore(const QModelIndex &parent)
{
    if (!canFetchMore(parent) || m_entries.isEmpty())
        return;
    m_asked = m_entries.last().id;
    Q_EMIT queried(m_asked, PageSize);
}

void AuditModel::read()
{
    m_asked = 0;
    Q_EMIT queried(0, PageSize);
}

void AuditModel::takePage(const AuditPage &page)
{
    if (page.beforeId != m_asked)
        return; // an older question's
    m_asked = -1;
    if (!page.error.isEmpty())
        return; // what was read stays
    if (page.beforeId == 0) {
        beginResetModel();
        m_entries = page.entries;
        m_more = page.more;
        endResetModel();
        return;
    }
    m_more = page.more;
    if (page.entries.isEmpty())
        return;
    beginInsertRows({}, int(m_entries.size()), int(m_entries.size() + page.entries.size()) - 1);
    m_entries += page.entries;
    endInsertRows();
}

} // namespace sendonce
