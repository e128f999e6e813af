#include "ui/deadlettersmodel.h"

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
    const DeadLetter &letter = letterAt(m_shown.at(index.row())).letter;
    const bool tellsOutcome = index.column() == Glyph || index.column() == Verdict;
    return letterCell(letter, tellsOutcome ? replayOf(letter.message.messageId) : nullptr, Column(index.column()), role,
                      m_now);
}

QVariant DeadLettersModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    return orientation == Qt::Horizontal && role == Qt::DisplayRole ? letterHeading(Column(section)) : QVariant();
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
            const ReplayItem *item = replayOf(letter.message.messageId);
            m_locked.push_back(item && isLocked(*item));
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
    std::vector<char> locked;
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
        locked.push_back(m_locked[place]);
    }
    beginResetModel();
    m_order.reset(); // its places are old ones
    m_step.stop();
    m_letters.swap(kept);
    m_locked.swap(locked);
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
        const int row = lockedAsKnown(item.messageId);
        if (row >= 0) {
            first = first < 0 ? row : std::min(first, row);
            last = std::max(last, row);
        }
    }
    changedRows(first, last);
}

void DeadLettersModel::forgetOutcomes()
{
    const QStringList messageIds = m_replays.keys();
    for (const QString &messageId : messageIds) {
        const ReplayItem::State state = m_replays.value(messageId).state;
        if (state == ReplayItem::State::Sending || state == ReplayItem::State::Replayed)
            continue;
        m_replays.remove(messageId);
        lockedAsKnown(messageId);
    }
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
        lockedAsKnown(messageId);
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

/// Its row, or -1 when it is not shown.
int DeadLettersModel::lockedAsKnown(const QString &messageId)
{
    const auto known = m_places.constFind(messageId);
    if (known == m_places.cend())
        return -1;
    const ReplayItem *item = replayOf(messageId);
    m_locked[size_t(*known)] = item && isLocked(*item);
    return letterAt(*known).row;
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
    for (size_t place = 0; place < m_letters.size(); ++place) {
        if (!m_locked[place] && in(m_letters[place].groups))
            ids.append(m_letters[place].letter.message.messageId);
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
    return letterBefore(letterAt(turned ? b : a).letter, letterAt(turned ? a : b).letter, Column(m_sortColumn));
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
