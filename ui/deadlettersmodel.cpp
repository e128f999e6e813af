#include "ui/deadlettersmodel.h"

#include "ui/celldelegate.h"
#include "ui/displaytext.h"
#include "ui/letterwords.h"

#include <QThreadPool>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace sendonce {
namespace {

constexpr auto StepBudget = 3ms; ///< of 16 that the window has
constexpr int AtOnce = 500; ///< so few rows are arranged before the call returns

} // namespace

DeadLettersModel::DeadLettersModel(QObject *parent) : QAbstractTableModel(parent)
{
    m_step.setInterval(0);
    connect(&m_step, &QTimer::timeout, this, &DeadLettersModel::arrangeMore);
}

int DeadLettersModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_shown.size());
}

int DeadLettersModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant DeadLettersModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Held &held = letterAt(m_shown.at(index.row()));
    const DeadLetter &letter = held.letter;
    if (role == EventIdRole)
        return letter.eventId;
    if (role == RowKeyRole)
        return letter.message.messageId;
    const auto figures = [role](qint64 count, const QString &toolTip) -> QVariant {
        switch (role) {
        case Qt::DisplayRole:
            return countText(count);
        case ToneRole:
            return int(Tone::Muted);
        case FaceRole:
            return int(Face::Figures);
        case Qt::ToolTipRole:
            return toolTipText(toolTip);
        default:
            return {};
        }
    };
    switch (index.column()) {
    case Glyph:
        return glyphCell(held, role);
    case Event:
        if (role == Qt::DisplayRole)
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
                                   .arg(letter.eventId.isEmpty() ? u"–"_s : letter.eventId, letter.message.messageId));
        break;
    case Type:
        if (role == Qt::DisplayRole)
            return letter.eventType.isEmpty() ? u"–"_s : typeText(letter.eventType);
        if (role == CopyRole)
            return letter.eventType;
        if (role == Qt::ToolTipRole)
            return toolTipText(letter.eventType);
        break;
    case Application:
        if (role == Qt::DisplayRole)
            return letter.applicationId.isEmpty() ? u"–"_s : shownText(letter.applicationId);
        if (role == ToneRole)
            return int(Tone::Muted);
        if (role == FaceRole)
            return int(Face::Figures);
        break;
    case Verdict:
        if (role == Qt::DisplayRole)
            return letterText(letter, replayOf(letter.message.messageId));
        if (role == ToneRole)
            return int(letterTone(letter, replayOf(letter.message.messageId)));
        break;
    case Reason:
        if (role == Qt::DisplayRole)
            return reasonText(letter);
        if (role == ToneRole && letter.reason.isEmpty())
            return int(Tone::Muted);
        break;
    case Received:
        return figures(letter.receiveCount, tr("Received %1 times before this look").arg(letter.receiveCount));
    case Died:
        return timeCell(letter.diedAt, tr("When it last failed was not recorded: no worker of ours saw it"), role);
    case FirstFailed:
        return timeCell(letter.firstFailedAt, tr("When it first failed was not recorded: no worker of ours saw it"),
                        role);
    case Back:
        return figures(letter.timesBack,
                       letter.timesBack == 0 ? tr("It was not replayed before")
                                             : tr("Its event came back here after %1 replays").arg(letter.timesBack));
    case Age:
        return spanCell(letter.sentAt, m_now, role);
    case Left:
        if (role == ToneRole && letter.expiresAt.isValid() && m_now.secsTo(letter.expiresAt) < 24 * 3600)
            return int(Tone::Failed); // SQS drops it without a word
        return spanCell(m_now, letter.expiresAt, role);
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
        return tr("Last failed");
    case FirstFailed:
        return tr("First failed");
    case Back:
        return tr("Back");
    case Age:
        return tr("Age");
    case Left:
        return tr("Time left");
    default:
        return QString();
    }
}

QVariant DeadLettersModel::glyphCell(const Held &held, int role) const
{
    const ReplayItem *item = replayOf(held.letter.message.messageId);
    switch (role) {
    case GlyphRole:
        return letterGlyph(held.letter, item);
    case ToneRole:
        return int(letterTone(held.letter, item));
    case Qt::AccessibleTextRole:
    case CopyRole:
        return letterText(held.letter, item);
    case Qt::ToolTipRole:
        return toolTipText(letterText(held.letter, item));
    default:
        return {};
    }
}

QVariant DeadLettersModel::timeCell(const QDateTime &at, const QString &unknown, int role) const
{
    switch (role) {
    case Qt::DisplayRole:
        return at.isValid() ? agoText(at, m_now) : u"–"_s;
    case CopyRole:
        return utcText(at);
    case ToneRole:
        return int(Tone::Muted);
    case FaceRole:
        return int(Face::Figures);
    case Qt::ToolTipRole:
        return toolTipText(at.isValid() ? tr("%1 · %2").arg(dayAndTime(at), utcText(at)) : unknown);
    default:
        return {};
    }
}

/// A span of which one end is now.
QVariant DeadLettersModel::spanCell(const QDateTime &from, const QDateTime &to, int role) const
{
    const QDateTime &fixed = from == m_now ? to : from;
    const bool known = from.isValid() && to.isValid();
    switch (role) {
    case Qt::DisplayRole:
        return known ? spanText(from, to) : u"–"_s;
    case CopyRole:
        return utcText(fixed);
    case ToneRole:
        return int(Tone::Muted);
    case FaceRole:
        return int(Face::Figures);
    case Qt::ToolTipRole:
        if (!fixed.isValid())
            return toolTipText(tr("The queue did not say"));
        return toolTipText(&fixed == &from
                               ? tr("Sent %1 · %2").arg(dayAndTime(fixed), utcText(fixed))
                               : tr("The queue drops it, unseen, at %1 · %2").arg(dayAndTime(fixed), utcText(fixed)));
    default:
        return {};
    }
}

// ---- what is held --------------------------------------------------------------------------------------------------

void DeadLettersModel::setList(const DeadLetterList &list)
{
    if (!m_looking || list.browse != m_browse)
        ++m_look;
    m_browse = list.browse;
    m_looking = !list.finished;
    add(list.letters);
    if (!list.finished)
        return;
    if (list.error.isEmpty() && !list.cancelled)
        dropUnseen();
    m_replays.removeIf([this](const QHash<QString, ReplayItem>::iterator &it) { return !m_places.contains(it.key()); });
    if (m_sortColumn >= 0)
        arrange();
}

void DeadLettersModel::add(const QList<DeadLetter> &letters)
{
    const int from = int(m_letters.size());
    int first = -1, last = -1; // rows that changed
    for (const DeadLetter &letter : letters) {
        const auto known = m_places.constFind(letter.message.messageId);
        if (known == m_places.cend()) {
            m_places.insert(letter.message.messageId, int(m_letters.size()));
            m_letters.push_back({letter, m_groups.add(letter), m_look, -1});
            continue;
        }
        Held &held = m_letters[size_t(*known)];
        if (held.look == m_look)
            continue; // told when it was seen; what changed since came by update()
        held.look = m_look;
        replace(*known, letter);
        if (held.row >= 0) {
            first = first < 0 ? held.row : std::min(first, held.row);
            last = std::max(last, held.row);
        }
    }
    changedRows(first, last);
    show(from);
}

void DeadLettersModel::replace(int place, const DeadLetter &letter)
{
    Held &held = m_letters[size_t(place)];
    m_groups.remove(held.groups);
    held.letter = letter;
    held.groups = m_groups.add(letter);
}

void DeadLettersModel::show(int from)
{
    QList<int> places;
    m_groupTest = m_groups.test(m_filter); // groups that came with them have new numbers
    for (int place = from; place < int(m_letters.size()); ++place) {
        if (keeps(place))
            places.append(place);
    }
    if (places.isEmpty())
        return;
    const int row = int(m_shown.size());
    beginInsertRows({}, row, row + int(places.size()) - 1);
    for (const int place : std::as_const(places)) {
        m_letters[size_t(place)].row = int(m_shown.size());
        m_shown.append(place);
    }
    endInsertRows();
}

/// The last look was a whole one: what it did not see is no longer there.
void DeadLettersModel::dropUnseen()
{
    if (std::all_of(m_letters.cbegin(), m_letters.cend(), [this](const Held &held) { return held.look == m_look; }))
        return;
    std::vector<Held> kept;
    kept.reserve(m_letters.size());
    std::vector<int> newPlace(m_letters.size(), -1);
    for (size_t place = 0; place < m_letters.size(); ++place) {
        Held &held = m_letters[place];
        if (held.look != m_look) {
            m_groups.remove(held.groups);
            m_places.remove(held.letter.message.messageId);
            continue;
        }
        newPlace[place] = int(kept.size());
        m_places[held.letter.message.messageId] = int(kept.size());
        kept.push_back(std::move(held));
    }
    beginResetModel();
    m_order.reset(); // its places are old ones
    m_step.stop();
    m_letters.swap(kept);
    QList<int> shown;
    shown.reserve(m_shown.size());
    for (const int place : std::as_const(m_shown)) {
        if (const int now = newPlace[size_t(place)]; now >= 0) {
            m_letters[size_t(now)].row = int(shown.size());
            shown.append(now);
        }
    }
    m_shown = shown;
    endResetModel();
    // A hundred thousand letters take a while to be freed.
    QThreadPool::globalInstance()->start([gone = std::move(kept)] {});
    if (!m_filter.isEmpty())
        arrange();
}

void DeadLettersModel::update(const QList<DeadLetter> &letters)
{
    int first = -1, last = -1;
    for (const DeadLetter &letter : letters) {
        const auto known = m_places.constFind(letter.message.messageId);
        if (known == m_places.cend())
            continue;
        replace(*known, letter);
        if (const int row = letterAt(*known).row; row >= 0) {
            first = first < 0 ? row : std::min(first, row);
            last = std::max(last, row);
        }
    }
    changedRows(first, last);
}

// ---- what became of them -------------------------------------------------------------------------------------------

void DeadLettersModel::setReplays(const QList<ReplayItem> &items)
{
    int first = -1, last = -1;
    for (const ReplayItem &item : items) {
        m_replays.insert(item.messageId, item);
        const auto known = m_places.constFind(item.messageId);
        const int row = known == m_places.cend() ? -1 : letterAt(*known).row;
        if (row >= 0) {
            first = first < 0 ? row : std::min(first, row);
            last = std::max(last, row);
        }
    }
    changedRows(first, last);
}

void DeadLettersModel::forgetOutcomes()
{
    m_replays.removeIf([](const QHash<QString, ReplayItem>::iterator &it) {
        return it->state != ReplayItem::State::Sending && it->state != ReplayItem::State::Replayed;
    });
    changedRows(0, int(m_shown.size()) - 1);
}

void DeadLettersModel::lock(const QStringList &messageIds)
{
    QList<ReplayItem> items;
    items.reserve(messageIds.size());
    for (const QString &messageId : messageIds)
        items.append({.messageId = messageId, .eventId = {}, .state = ReplayItem::State::Sending, .text = {}});
    setReplays(items);
}

void DeadLettersModel::unlock(const QStringList &messageIds)
{
    for (const QString &messageId : messageIds) {
        const auto item = m_replays.constFind(messageId);
        if (item != m_replays.cend() && item->state == ReplayItem::State::Sending && item->run == 0)
            m_replays.erase(item);
    }
    changedRows(0, int(m_shown.size()) - 1);
}

const DeadLetter *DeadLettersModel::letterOf(const QString &messageId) const
{
    const auto known = m_places.constFind(messageId);
    return known == m_places.cend() ? nullptr : &letterAt(*known).letter;
}

const ReplayItem *DeadLettersModel::replayOf(const QString &messageId) const
{
    const auto item = m_replays.constFind(messageId);
    return item == m_replays.cend() ? nullptr : &*item;
}

bool DeadLettersModel::canReplay(int row) const
{
    const ReplayItem *item = replayOf(letter(row).message.messageId);
    return !item || !isLocked(*item);
}

int DeadLettersModel::replayableCount() const
{
    int locked = 0; // only what was acted on can be
    for (const ReplayItem &item : m_replays) {
        const int place = isLocked(item) ? m_places.value(item.messageId, -1) : -1;
        if (place >= 0 && letterAt(place).row >= 0)
            ++locked;
    }
    return int(m_shown.size()) - locked;
}

int DeadLettersModel::rowOfEvent(const QString &eventId) const
{
    for (qsizetype row = 0; row < m_shown.size(); ++row) {
        if (letterAt(m_shown.at(row)).letter.eventId == eventId)
            return int(row);
    }
    return -1;
}

QStringList DeadLettersModel::shownIds() const
{
    QStringList ids;
    ids.reserve(m_shown.size());
    for (const int place : m_shown)
        ids.append(letterAt(place).letter.message.messageId);
    return ids;
}

QStringList DeadLettersModel::groupIds(const LetterGroups::Group &group) const
{
    LetterFilter filter;
    if (group.kind == LetterGroups::Kind::Verdict)
        filter.verdicts.append(group.verdict);
    else
        (group.kind == LetterGroups::Kind::Reason ? filter.reasons : filter.types).append(group.name);
    const LetterGroups::Test in = m_groups.test(filter);
    QStringList ids;
    for (const Held &held : m_letters) {
        if (in(held.groups))
            ids.append(held.letter.message.messageId);
    }
    return ids;
}

// ---- what is shown, and where --------------------------------------------------------------------------------------

void DeadLettersModel::setFilter(const LetterFilter &filter)
{
    if (filter.text != m_filter.text)
        m_bodyMatches.clear();
    m_filter = filter;
    arrange();
}

void DeadLettersModel::setBodyMatches(const QStringList &messageIds)
{
    m_bodyMatches = QSet<QString>(messageIds.cbegin(), messageIds.cend());
    arrange();
}

void DeadLettersModel::setNow(const QDateTime &now)
{
    m_now = now;
    if (!m_shown.isEmpty())
        Q_EMIT dataChanged(index(0, Died), index(int(m_shown.size()) - 1, Left), {Qt::DisplayRole});
}

void DeadLettersModel::sort(int column, Qt::SortOrder order)
{
    if (column == m_sortColumn && order == m_sortOrder)
        return;
    m_sortColumn = column;
    m_sortOrder = order;
    arrange();
}

bool DeadLettersModel::keeps(int place) const
{
    const Held &held = letterAt(place);
    return m_groupTest(held.groups)
        && (m_filter.text.isEmpty() || rowHolds(held.letter, m_filter.text)
            || m_bodyMatches.contains(held.letter.message.messageId));
}

bool DeadLettersModel::before(int a, int b) const
{
    const bool turned = m_sortOrder == Qt::DescendingOrder;
    const DeadLetter &x = letterAt(turned ? b : a).letter;
    const DeadLetter &y = letterAt(turned ? a : b).letter;
    const auto text = [](const QString &left, const QString &right) {
        return left.compare(right, Qt::CaseInsensitive) < 0;
    };
    switch (m_sortColumn) {
    case Event:
        return text(x.eventId, y.eventId);
    case Type:
        return text(x.eventType, y.eventType);
    case Application: // numbers as a rule
        return x.applicationId.size() != y.applicationId.size() ? x.applicationId.size() < y.applicationId.size()
                                                                : x.applicationId < y.applicationId;
    case Glyph:
    case Verdict:
        return x.verdict != y.verdict ? x.verdict < y.verdict : text(x.verdictText, y.verdictText);
    case Reason:
        return text(x.reason, y.reason);
    case Received:
        return x.receiveCount < y.receiveCount;
    case Died:
        return x.diedAt < y.diedAt;
    case FirstFailed:
        return x.firstFailedAt < y.firstFailedAt;
    case Back:
        return x.timesBack < y.timesBack;
    case Age: // the youngest first
        return y.sentAt < x.sentAt;
    case Left:
        return x.expiresAt < y.expiresAt;
    default:
        return false;
    }
}

/// Begins to look which letters are shown in which order; few are done at once.
void DeadLettersModel::arrange()
{
    m_groupTest = m_groups.test(m_filter);
    const int count = int(m_letters.size());
    const StepwiseOrder::Before before =
        m_sortColumn < 0 ? StepwiseOrder::Before() : [this](int a, int b) { return this->before(a, b); };
    m_order.emplace(
        count, [this](int place) { return keeps(place); }, before);
    if (count <= AtOnce)
        m_order->goOn(1h);
    else
        m_step.start();
    if (count <= AtOnce)
        arrangeMore();
}

void DeadLettersModel::arrangeMore()
{
    if (!m_order || !m_order->goOn(StepBudget))
        return;
    m_step.stop();
    QList<int> shown = m_order->take();
    m_groupTest = m_groups.test(m_filter);
    for (int place = m_order->count(); place < int(m_letters.size()); ++place) { // came meanwhile
        if (keeps(place))
            shown.append(place);
    }
    m_order.reset();
    if (shown != m_shown) {
        beginResetModel();
        for (const int place : std::as_const(m_shown))
            m_letters[size_t(place)].row = -1;
        m_shown = std::move(shown);
        for (qsizetype row = 0; row < m_shown.size(); ++row)
            m_letters[size_t(m_shown.at(row))].row = int(row);
        endResetModel();
    }
    Q_EMIT arranged();
}

void DeadLettersModel::changedRows(int first, int last)
{
    if (first >= 0 && last >= first)
        Q_EMIT dataChanged(index(first, 0), index(last, ColumnCount - 1));
}

} // namespace sendonce
