#include "ui/keptmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/theme.h"

using namespace Qt::StringLiterals;

namespace sendonce {

int KeptModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_letters.size());
}

int KeptModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant KeptModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const KeptLetter &letter = m_letters.at(index.row());
    if (role == EventIdRole)
        return letter.eventId;
    if (role == SearchRole)
        return QString(letter.eventId + u'\n' + letter.messageId + u'\n' + letter.by);
    switch (index.column()) {
    case KeptAt:
        if (role == Qt::DisplayRole)
            return dayAndTime(letter.keptAt);
        if (role == Qt::ToolTipRole)
            return toolTipText(utcText(letter.keptAt));
        if (role == FaceRole)
            return int(Face::Figures);
        break;
    case By:
        if (role == Qt::DisplayRole)
            return shownText(letter.by);
        break;
    case Event:
    case MessageId: {
        const QString &id = index.column() == Event ? letter.eventId : letter.messageId;
        if (role == Qt::DisplayRole)
            return id.isEmpty() ? u"–"_s : compactId(id);
        if (role == CopyRole)
            return id;
        if (role == Qt::ToolTipRole)
            return toolTipText(id);
        if (role == FaceRole)
            return int(Face::Monospace);
        break;
    }
    case PutBack:
        if (role == Qt::DisplayRole)
            return letter.putBackAs.isEmpty() ? u"–"_s : tr("put back as %1").arg(compactId(letter.putBackAs));
        if (role == CopyRole)
            return letter.putBackAs;
        if (role == ToneRole)
            return int(letter.putBackAs.isEmpty() ? Tone::Muted : Tone::Sent);
        break;
    default:
        break;
    }
    return {};
}

QVariant KeptModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case KeptAt:
        return tr("Kept at");
    case By:
        return tr("By");
    case Event:
        return tr("Event");
    case MessageId:
        return tr("Message");
    case PutBack:
        return tr("Put back");
    default:
        return QString();
    }
}

void KeptModel::setLetters(const QList<KeptLetter> &letters)
{
    beginResetModel();
    m_letters = letters;
    endResetModel();
}

} // namespace sendonce
