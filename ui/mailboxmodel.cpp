#include "ui/mailboxmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/rowmerge.h"
#include "ui/theme.h"

using namespace Qt::StringLiterals;

namespace sendonce {

int MailboxModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int MailboxModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant MailboxModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const MailRow &row = m_rows.at(index.row());
    if (role == EventIdRole)
        return row.eventId;
    switch (index.column()) {
    case To:
        if (role == Qt::DisplayRole || role == SortRole)
            return shownText(row.to);
        break;
    case Subject:
        if (role == Qt::DisplayRole || role == SortRole)
            return row.subject.isEmpty() ? tr("(no subject)") : shownText(row.subject);
        break;
    case Event:
        if (role == Qt::DisplayRole || role == SortRole)
            return row.eventId.isEmpty() ? u"–"_s : compactId(row.eventId);
        if (role == CopyRole)
            return row.eventId;
        if (role == FaceRole)
            return int(Face::Monospace);
        if (role == ElideRole)
            return int(Qt::ElideMiddle);
        if (role == Qt::ToolTipRole)
            return toolTipText(row.eventId.isEmpty() ? tr("The mail has no header X-Sendonce-Event") : row.eventId);
        break;
    case Copies:
        if (role == Qt::DisplayRole)
            return row.copies > 1 ? tr("%1 copies").arg(row.copies) : countText(row.copies);
        if (role == SortRole || role == CopyRole)
            return row.copies;
        if (role == GlyphRole && row.copies > 1)
            return u"warning"_s;
        if (role == ToneRole)
            return int(row.copies > 1 ? Tone::Failed : Tone::Muted);
        if (role == FaceRole)
            return int(row.copies > 1 ? Face::Strong : Face::Figures);
        if (role == Qt::ToolTipRole)
            return toolTipText(row.copies > 1 ? tr("This event was mailed %1 times").arg(row.copies)
                                              : tr("One e-mail for this event"));
        break;
    case Received:
        if (role == Qt::DisplayRole)
            return dayAndTime(row.receivedAt);
        if (role == SortRole)
            return row.receivedAt;
        if (role == CopyRole)
            return utcText(row.receivedAt);
        if (role == Qt::ToolTipRole)
            return toolTipText(utcText(row.receivedAt));
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

QVariant MailboxModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case To:
        return tr("To");
    case Subject:
        return tr("Subject");
    case Event:
        return tr("Event");
    case Copies:
        return tr("Copies");
    case Received:
        return tr("Received");
    default:
        return QString();
    }
}

void MailboxModel::setRows(const QList<MailRow> &rows)
{
    struct Hooks
    {
        MailboxModel *model;
        void beginRemove(int first, int last) { model->beginRemoveRows({}, first, last); }
        void endRemove() { model->endRemoveRows(); }
        void beginInsert(int first, int last) { model->beginInsertRows({}, first, last); }
        void endInsert() { model->endInsertRows(); }
        void changed(int row) { Q_EMIT model->dataChanged(model->index(row, 0), model->index(row, ColumnCount - 1)); }
    };
    if (!mergeRows(
            m_rows, rows, [](const MailRow &row) { return row.id; }, Hooks{this})) {
        beginResetModel();
        m_rows = rows;
        endResetModel();
    }
}

} // namespace sendonce
