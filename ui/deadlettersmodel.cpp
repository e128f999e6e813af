#include "ui/deadlettersmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/rowmerge.h"

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

using ReplayState = ReplayItem::State;

QString messageIdOf(const DeadLetter &letter)
{
    return letter.message.messageId;
}

} // namespace

int DeadLettersModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_letters.size());
}

int DeadLettersModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant DeadLettersModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const DeadLetter &letter = m_letters.at(index.row());
    if (role == EventIdRole)
        return letter.eventId;
    if (role == SearchRole)
        return QString(letter.eventId + u'\n' + letter.eventType + u'\n' + letter.applicationId + u'\n'
                       + verdictText(letter) + u'\n' + letter.reason + u'\n' + messageIdOf(letter) + u'\n'
                       + letter.bodyExcerpt + u'\n' + QString::fromUtf8(letter.message.body));
    switch (index.column()) {
    case Glyph:
        return glyphCell(letter, role);
    case Event:
        if (role == Qt::DisplayRole || role == SortRole)
            return letter.eventId.isEmpty() ? tr("not readable") : compactId(letter.eventId);
        if (role == CopyRole)
            return letter.eventId;
        if (role == FaceRole)
            return int(letter.eventId.isEmpty() ? Face::Body : Face::Monospace);
        if (role == ToneRole && letter.eventId.isEmpty())
            return int(Tone::Muted);
        if (role == ElideRole)
            return int(Qt::ElideMiddle);
        if (role == Qt::ToolTipRole)
            return toolTipText(tr("Event %1\nMessage %2")
                                   .arg(letter.eventId.isEmpty() ? u"–"_s : letter.eventId, messageIdOf(letter)));
        break;
    case Type:
        if (role == Qt::DisplayRole || role == SortRole)
            return letter.eventType.isEmpty() ? u"–"_s : typeText(letter.eventType);
        if (role == CopyRole)
            return letter.eventType;
        if (role == Qt::ToolTipRole)
            return toolTipText(letter.eventType);
        break;
    case Application:
        if (role == Qt::DisplayRole)
            return letter.applicationId.isEmpty() ? u"–"_s : shownText(letter.applicationId);
        if (role == SortRole)
            return letter.applicationId.toLongLong();
        if (role == ToneRole)
            return int(Tone::Muted);
        if (role == FaceRole)
            return int(Face::Figures);
        break;
    case Verdict:
        if (role == Qt::DisplayRole || role == SortRole)
            return verdictText(letter);
        if (role == ToneRole)
            return int(toneOf(letter));
        break;
    case Reason:
        if (role == Qt::DisplayRole || role == SortRole)
            return letter.reason.isEmpty() ? tr("not known: no worker of this console saw it fail")
                                           : shownText(letter.reason);
        if (role == ToneRole && letter.reason.isEmpty())
            return int(Tone::Muted);
        break;
    case Received:
        if (role == Qt::DisplayRole)
            return countText(letter.receiveCount);
        if (role == SortRole)
            return letter.receiveCount;
        if (role == ToneRole)
            return int(Tone::Muted);
        if (role == FaceRole)
            return int(Face::Figures);
        if (role == Qt::ToolTipRole)
            return toolTipText(tr("Received %1 times before it died").arg(letter.receiveCount));
        break;
    case Died:
        if (role == Qt::DisplayRole)
            return letter.diedAt.isValid() ? agoText(letter.diedAt, m_now) : u"–"_s;
        if (role == SortRole)
            return letter.diedAt;
        if (role == CopyRole)
            return utcText(letter.diedAt);
        if (role == ToneRole)
            return int(Tone::Muted);
        if (role == FaceRole)
            return int(Face::Figures);
        if (role == Qt::ToolTipRole)
            return toolTipText(letter.diedAt.isValid()
                                   ? tr("%1 · %2").arg(dayAndTime(letter.diedAt), utcText(letter.diedAt))
                                   : tr("When it died was not recorded"));
        break;
    default:
        break;
    }
    return {};
}

QVariant DeadLettersModel::headerData(int section, Qt::Orientation orientation, int role) const
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
    case Verdict:
        return tr("Verdict");
    case Reason:
        return tr("Reason");
    case Received:
        return tr("Received");
    case Died:
        return tr("Died");
    default:
        return QString();
    }
}

void DeadLettersModel::setList(const DeadLetterList &list)
{
    QList<DeadLetter> wanted = list.letters;
    if (!list.finished || !list.error.isEmpty()) {
        QSet<QString> seen;
        for (const DeadLetter &letter : list.letters)
            seen.insert(messageIdOf(letter));
        for (const DeadLetter &letter : std::as_const(m_letters)) {
            if (!seen.contains(messageIdOf(letter)))
                wanted += letter;
        }
    }
    struct Hooks
    {
        DeadLettersModel *model;
        void beginRemove(int first, int last) { model->beginRemoveRows({}, first, last); }
        void endRemove() { model->endRemoveRows(); }
        void beginInsert(int first, int last) { model->beginInsertRows({}, first, last); }
        void endInsert() { model->endInsertRows(); }
        void changed(int row) { Q_EMIT model->dataChanged(model->index(row, 0), model->index(row, ColumnCount - 1)); }
    };
    if (!mergeRows(m_letters, wanted, messageIdOf, Hooks{this})) {
        beginResetModel();
        m_letters = wanted;
        endResetModel();
    }
    if (list.finished) {
        QHash<QString, ReplayItem> kept;
        for (const DeadLetter &letter : std::as_const(m_letters)) {
            if (const auto item = m_replays.constFind(messageIdOf(letter)); item != m_replays.cend())
                kept.insert(item.key(), *item);
        }
        m_replays = kept;
    }
}

void DeadLettersModel::setReplay(const ReplayItem &item)
{
    m_replays.insert(item.messageId, item);
    for (int row = 0; row < m_letters.size(); ++row) {
        if (messageIdOf(m_letters.at(row)) == item.messageId)
            Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
    }
}

void DeadLettersModel::update(const QList<DeadLetter> &letters)
{
    QHash<QString, const DeadLetter *> byId;
    for (const DeadLetter &letter : letters)
        byId.insert(messageIdOf(letter), &letter);
    for (int row = 0; row < m_letters.size(); ++row) {
        if (const DeadLetter *const judged = byId.value(messageIdOf(m_letters.at(row)))) {
            m_letters[row] = *judged;
            Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
        }
    }
}

void DeadLettersModel::forgetOutcomes()
{
    m_replays.removeIf([](const QHash<QString, ReplayItem>::iterator &it) {
        return it->state != ReplayState::Sending && it->state != ReplayState::Replayed;
    });
    if (!m_letters.isEmpty())
        Q_EMIT dataChanged(index(0, 0), index(int(m_letters.size()) - 1, ColumnCount - 1));
}

void DeadLettersModel::lock(const QStringList &messageIds)
{
    for (const QString &messageId : messageIds)
        setReplay({.messageId = messageId, .eventId = {}, .state = ReplayState::Sending, .text = {}});
}

void DeadLettersModel::setNow(const QDateTime &now)
{
    m_now = now;
    if (!m_letters.isEmpty())
        Q_EMIT dataChanged(index(0, Died), index(int(m_letters.size()) - 1, Died), {Qt::DisplayRole});
}

bool DeadLettersModel::canReplay(int row) const
{
    const auto item = m_replays.constFind(messageIdOf(m_letters.at(row)));
    return item == m_replays.cend() || item->state == ReplayState::Failed || item->state == ReplayState::Left;
}

QVariant DeadLettersModel::glyphCell(const DeadLetter &letter, int role) const
{
    switch (role) {
    case GlyphRole:
        return glyphOf(letter);
    case ToneRole:
        return int(toneOf(letter));
    case SortRole:
        return int(letter.verdict);
    case Qt::AccessibleTextRole:
    case CopyRole:
        return verdictText(letter);
    case Qt::ToolTipRole:
        return toolTipText(verdictText(letter));
    default:
        return {};
    }
}

/// What a replay would do, or, once it was replayed, what it did.
QString DeadLettersModel::verdictText(const DeadLetter &letter) const
{
    if (const auto item = m_replays.constFind(messageIdOf(letter)); item != m_replays.cend()) {
        QString word;
        switch (item->state) {
        case ReplayState::Sending:
            word = tr("sending…");
            break;
        case ReplayState::Replayed:
            word = tr("replayed · outcome not known yet");
            break;
        case ReplayState::CopyLeft:
            word = tr("replayed · its dead copy is still here");
            break;
        case ReplayState::Failed:
            word = tr("not replayed");
            break;
        case ReplayState::Mailed:
            word = tr("mailed");
            break;
        case ReplayState::Skipped:
            word = tr("skipped · handled before");
            break;
        case ReplayState::DeadAgain:
            word = tr("failed again");
            break;
        case ReplayState::Left:
            word = tr("not replayed");
            break;
        case ReplayState::Deleted:
            word = tr("deleted · a copy is kept");
            break;
        }
        const QString text = shownText(item->text);
        if (text.isEmpty() || word.startsWith(text))
            return word;
        const QString first = word.section(u' ', 0, 0);
        return text.startsWith(first, Qt::CaseInsensitive) ? text
                                                           : tr("%1 · %2").arg(word.section(u" · "_s, 0, 0), text);
    }
    if (!letter.verdictText.isEmpty())
        return shownText(letter.verdictText);
    switch (letter.verdict) {
    case sendonce::Verdict::NotHandled:
        return tr("not handled · replay sends");
    case sendonce::Verdict::Handled:
        return tr("handled · replay is skipped");
    case sendonce::Verdict::InDoubt:
        return tr("in doubt · a person decides");
    case sendonce::Verdict::Unknown:
        return tr("unknown · replay may send again");
    case sendonce::Verdict::Invalid:
        return tr("invalid · replay fails again");
    }
    return {};
}

Tone DeadLettersModel::toneOf(const DeadLetter &letter) const
{
    if (const auto item = m_replays.constFind(messageIdOf(letter)); item != m_replays.cend()) {
        switch (item->state) {
        case ReplayState::Sending:
        case ReplayState::Replayed:
            return Tone::InFlight;
        case ReplayState::CopyLeft:
            return Tone::InDoubt;
        case ReplayState::Failed:
        case ReplayState::DeadAgain:
            return Tone::Failed;
        case ReplayState::Mailed:
            return Tone::Sent;
        case ReplayState::Skipped:
        case ReplayState::Left:
        case ReplayState::Deleted:
            return Tone::Skipped;
        }
    }
    switch (letter.verdict) {
    case sendonce::Verdict::NotHandled:
        return Tone::Failed;
    case sendonce::Verdict::Handled:
        return Tone::Sent;
    case sendonce::Verdict::InDoubt:
        return Tone::InDoubt;
    case sendonce::Verdict::Unknown:
        return Tone::Muted;
    case sendonce::Verdict::Invalid:
        return Tone::Dead;
    }
    return Tone::Text;
}

QString DeadLettersModel::glyphOf(const DeadLetter &letter) const
{
    if (const auto item = m_replays.constFind(messageIdOf(letter)); item != m_replays.cend()) {
        switch (item->state) {
        case ReplayState::Sending:
            return u"clock"_s;
        case ReplayState::Replayed:
            return u"replay"_s;
        case ReplayState::CopyLeft:
            return u"exclamation"_s;
        case ReplayState::Failed:
        case ReplayState::DeadAgain:
            return u"cross"_s;
        case ReplayState::Mailed:
            return u"check"_s;
        case ReplayState::Skipped:
            return u"duplicate"_s;
        case ReplayState::Left:
        case ReplayState::Deleted:
            return u"cross"_s;
        }
    }
    switch (letter.verdict) {
    case sendonce::Verdict::NotHandled:
        return u"cross"_s;
    case sendonce::Verdict::Handled:
        return u"check"_s;
    case sendonce::Verdict::InDoubt:
    case sendonce::Verdict::Unknown:
        return u"question"_s;
    case sendonce::Verdict::Invalid:
        return u"exclamation"_s;
    }
    return {};
}

} // namespace sendonce
