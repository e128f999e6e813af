#include "ui/doubtsmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/rowmerge.h"

#include <algorithm>

using namespace Qt::StringLiterals;

namespace sendonce {
namespace {

using State = Doubt::State;
using Ended = DoubtOutcome::State;

QString eventIdOf(const Doubt &doubt)
{
    return doubt.eventId;
}

} // namespace

int DoubtsModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_shown.size());
}

int DoubtsModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant DoubtsModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Doubt &doubt = m_shown.at(index.row());
    if (role == EventIdRole)
        return doubt.eventId;
    if (role == SearchRole)
        return QString(doubt.eventId + u'\n' + doubt.eventType + u'\n' + doubt.applicationId + u'\n' + doubt.reason
                       + u'\n' + doubt.mailReply + u'\n' + doneText(doubt) + u'\n' + doubt.mailMessageId + u'\n'
                       + doubt.messageId + u'\n' + doubt.recipient);
    switch (index.column()) {
    case Glyph:
        return glyphCell(doubt, role);
    case Event:
        if (role == Qt::DisplayRole || role == SortRole)
            return compactId(doubt.eventId);
        if (role == CopyRole)
            return doubt.eventId;
        if (role == FaceRole)
            return int(Face::Monospace);
        if (role == ElideRole)
            return int(Qt::ElideMiddle);
        if (role == Qt::ToolTipRole)
            return toolTipText(tr("Event %1\n%2").arg(doubt.eventId, doubt.eventType));
        break;
    case Application:
        if (role == Qt::DisplayRole)
            return doubt.applicationId.isEmpty() ? u"–"_s : shownText(doubt.applicationId);
        if (role == SortRole)
            return doubt.applicationId.toLongLong();
        if (role == ToneRole)
            return int(Tone::Muted);
        if (role == FaceRole)
            return int(Face::Figures);
        break;
    case Since:
        if (role == Qt::DisplayRole)
            return agoText(doubt.since, m_now);
        if (role == SortRole)
            return doubt.since;
        if (role == CopyRole)
            return utcText(doubt.since);
        if (role == ToneRole)
            return int(Tone::Muted);
        if (role == FaceRole)
            return int(Face::Figures);
        if (role == Qt::ToolTipRole)
            return toolTipText(tr("%1 · %2").arg(dayAndTime(doubt.since), utcText(doubt.since)));
        break;
    case Known:
        if (role == Qt::DisplayRole || role == SortRole)
            return shownText(doubt.reason);
        break;
    case Done:
        if (role == Qt::DisplayRole || role == SortRole)
            return doneText(doubt);
        if (role == ToneRole)
            return int(toneOf(doubt));
        break;
    case MailId:
        if (role == Qt::DisplayRole || role == SortRole)
            return doubt.mailMessageId.isEmpty() ? u"–"_s : shownText(doubt.mailMessageId);
        if (role == CopyRole)
            return doubt.mailMessageId;
        if (role == FaceRole)
            return int(doubt.mailMessageId.isEmpty() ? Face::Body : Face::Monospace);
        if (role == ToneRole)
            return int(Tone::Muted);
        if (role == ElideRole)
            return int(Qt::ElideMiddle);
        break;
    default:
        break;
    }
    return {};
}

QVariant DoubtsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Event:
        return tr("Event");
    case Application:
        return tr("Application");
    case Since:
        return tr("Since");
    case Known:
        return tr("What is known");
    case Done:
        return tr("What was done since");
    case MailId:
        return tr("Message-ID");
    default:
        return QString();
    }
}

void DoubtsModel::setList(const DoubtList &list)
{
    m_all = list.doubts;
    // By age alone: a row does not jump when it is decided.
    std::stable_sort(m_all.begin(), m_all.end(), [](const Doubt &a, const Doubt &b) { return a.since > b.since; });
    QHash<QString, DoubtOutcome> kept;
    for (const Doubt &doubt : std::as_const(m_all)) {
        const auto outcome = m_outcomes.constFind(doubt.eventId);
        if (outcome != m_outcomes.cend())
            kept.insert(outcome.key(), *outcome);
    }
    m_outcomes = kept;
    follow();
}

void DoubtsModel::setShowOver(bool show)
{
    m_showOver = show;
    follow();
}

void DoubtsModel::setOutcomes(const QList<DoubtOutcome> &outcomes)
{
    for (const DoubtOutcome &outcome : outcomes) {
        m_locked.remove(outcome.eventId);
        m_outcomes.insert(outcome.eventId, outcome);
        changed(outcome.eventId);
    }
}

void DoubtsModel::lock(const QStringList &eventIds)
{
    for (const QString &eventId : eventIds) {
        m_outcomes.remove(eventId);
        m_locked.insert(eventId);
        changed(eventId);
    }
}

void DoubtsModel::unlock()
{
    const QSet<QString> locked = std::exchange(m_locked, {});
    for (const QString &eventId : locked)
        changed(eventId);
}

void DoubtsModel::setNow(const QDateTime &now)
{
    m_now = now;
    if (!m_shown.isEmpty())
        Q_EMIT dataChanged(index(0, Since), index(int(m_shown.size()) - 1, Since), {Qt::DisplayRole});
}

bool DoubtsModel::canSettle(int row) const
{
    const Doubt &doubt = m_shown.at(row);
    const auto outcome = m_outcomes.constFind(doubt.eventId);
    const bool settled = outcome != m_outcomes.cend() && outcome->state == Ended::Settled;
    return doubt.state != State::Over && !settled && !m_locked.contains(doubt.eventId);
}

int DoubtsModel::overCount() const
{
    return int(
        std::count_if(m_all.cbegin(), m_all.cend(), [](const Doubt &doubt) { return doubt.state == State::Over; }));
}

QVariant DoubtsModel::glyphCell(const Doubt &doubt, int role) const
{
    switch (role) {
    case GlyphRole:
        return glyphOf(doubt);
    case ToneRole:
        return int(toneOf(doubt));
    case SortRole:
        return int(doubt.state);
    case Qt::AccessibleTextRole:
    case CopyRole:
        return doneText(doubt);
    case Qt::ToolTipRole:
        return toolTipText(doneText(doubt));
    default:
        return {};
    }
}

/// What was done about it: here and just now, or else by policy and people.
QString DoubtsModel::doneText(const Doubt &doubt) const
{
    if (m_locked.contains(doubt.eventId))
        return tr("deciding…");
    if (const auto outcome = m_outcomes.constFind(doubt.eventId); outcome != m_outcomes.cend()) {
        const QString text = shownText(outcome->text);
        switch (outcome->state) {
        case Ended::Settled:
            return tr("handled · %1").arg(text);
        case Ended::Released:
            return tr("to be sent again · %1").arg(text);
        case Ended::NotThere:
            return tr("asked · %1").arg(text);
        case Ended::Refused:
            return tr("nothing was changed · %1").arg(text);
        case Ended::Failed:
            return tr("failed · %1").arg(text);
        }
    }
    if (!doubt.done.isEmpty()) {
        return doubt.state == State::SendAgain ? tr("to be sent again · %1").arg(shownText(doubt.done))
                                               : shownText(doubt.done);
    }
    return doubt.state == State::Over ? tr("over") : tr("nothing yet");
}

Tone DoubtsModel::toneOf(const Doubt &doubt) const
{
    if (m_locked.contains(doubt.eventId))
        return Tone::InFlight;
    if (const auto outcome = m_outcomes.constFind(doubt.eventId); outcome != m_outcomes.cend()) {
        switch (outcome->state) {
        case Ended::Settled:
            return Tone::Sent;
        case Ended::Released:
            return Tone::InFlight;
        case Ended::NotThere:
            return Tone::InDoubt;
        case Ended::Refused:
        case Ended::Failed:
            return Tone::Failed;
        }
    }
    switch (doubt.state) {
    case State::Waiting:
        return Tone::InDoubt;
    case State::SendAgain:
        return Tone::InFlight;
    case State::Over:
        return Tone::Skipped;
    }
    return Tone::Text;
}

QString DoubtsModel::glyphOf(const Doubt &doubt) const
{
    if (m_locked.contains(doubt.eventId))
        return u"clock"_s;
    if (const auto outcome = m_outcomes.constFind(doubt.eventId); outcome != m_outcomes.cend()) {
        switch (outcome->state) {
        case Ended::Settled:
            return u"check"_s;
        case Ended::Released:
            return u"replay"_s;
        case Ended::NotThere:
            return u"question"_s;
        case Ended::Refused:
            return u"exclamation"_s;
        case Ended::Failed:
            return u"cross"_s;
        }
    }
    switch (doubt.state) {
    case State::Waiting:
        return u"question"_s;
    case State::SendAgain:
        return u"replay"_s;
    case State::Over:
        return u"check"_s;
    }
    return {};
}

void DoubtsModel::follow()
{
    QList<Doubt> wanted;
    for (const Doubt &doubt : std::as_const(m_all)) {
        if (m_showOver || doubt.state != State::Over || m_outcomes.contains(doubt.eventId)
            || m_locked.contains(doubt.eventId))
            wanted += doubt;
    }
    struct Hooks
    {
        DoubtsModel *model;
        void beginRemove(int first, int last) { model->beginRemoveRows({}, first, last); }
        void endRemove() { model->endRemoveRows(); }
        void beginInsert(int first, int last) { model->beginInsertRows({}, first, last); }
        void endInsert() { model->endInsertRows(); }
        void changed(int row) { Q_EMIT model->dataChanged(model->index(row, 0), model->index(row, ColumnCount - 1)); }
    };
    if (!mergeRows(m_shown, wanted, eventIdOf, Hooks{this})) {
        beginResetModel();
        m_shown = wanted;
        endResetModel();
    }
}

void DoubtsModel::changed(const QString &eventId)
{
    for (int row = 0; row < m_shown.size(); ++row) {
        if (m_shown.at(row).eventId == eventId)
            Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
    }
}

} // namespace sendonce
